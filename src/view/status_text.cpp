// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/status_text.hpp"

#include <algorithm>

#include "view/status_parts.hpp"

namespace ttmem::view {

bool is_empty(const ledger::Snapshot& snapshot) {
  return snapshot.processes.empty() && snapshot.devices.empty();
}

std::string empty_text() {
  return "Nothing is tracked yet. Start a program with `ttmem run CMD`, or see what it looks like "
         "with `ttmem demo`.\n";
}

std::string status_text(const ledger::Snapshot& snapshot, const Style& style) {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (part.empty()) return;
    if (!text.empty()) text += "\n";
    text += part;
  };
  if (is_empty(snapshot)) add(empty_text());
  for (const ledger::DeviceView& device : snapshot.devices) {
    add(device_tree(device, trust(snapshot, device.unique_id), style));
  }
  add(process_table(snapshot, style));
  add(ended_list(snapshot, style));
  add(notices(snapshot, style));
  return text;
}

}  // namespace ttmem::view
