// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include <fmt/format.h>

#include "view/printable.hpp"
#include "view/status_sections.hpp"
#include "view/text.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

enum class Rank : std::uint8_t { kExact, kNotAudited, kIncomplete, kDiffers };

Rank rank(const ledger::Tracking& tracking) {
  if (tracking.exact == false) return Rank::kDiffers;
  if (tracking.unrecorded > 0 || tracking.partial || tracking.growth_stopped ||
      tracking.unreached || !tracking.hooks_missing.empty()) {
    return Rank::kIncomplete;
  }
  return tracking.exact == true ? Rank::kExact : Rank::kNotAudited;
}

}  // namespace

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
  if (is_empty(snapshot)) {
    add(snapshot.unreadable.empty()
            ? empty_text()
            : "Nothing that can be read is tracked. What cannot be read is named below.\n");
  }
  for (const ledger::DeviceView& device : snapshot.devices) {
    add(device_tree(device, trust(snapshot, device.unique_id), style));
  }
  add(process_table(snapshot, style));
  add(ended_list(snapshot, style));
  add(notices(snapshot, style));
  return text;
}

Trust trust(const ledger::Tracking& tracking) {
  switch (rank(tracking)) {
    case Rank::kExact:
      return {"exact", Tone::kGood};
    case Rank::kNotAudited:
      return {"not audited", Tone::kPlain};
    case Rank::kIncomplete:
      return {"incomplete", Tone::kWarn};
    case Rank::kDiffers:
      return {"differs by " + signed_bytes_text(tracking.difference_bytes), Tone::kBad};
  }
  return {};
}

Trust trust(const ledger::Snapshot& snapshot, std::uint64_t unique_id) {
  const ledger::Tracking* worst = nullptr;
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (!process.alive) continue;
    for (const ledger::ProcessDeviceView& device : process.devices) {
      if (device.unique_id != unique_id || !device.open) continue;
      if (worst == nullptr || rank(process.tracking) > rank(*worst)) worst = &process.tracking;
    }
  }
  return worst != nullptr ? trust(*worst) : Trust{"nobody has it open", Tone::kFaint};
}

std::string process_label(const ledger::ProcessName& process) {
  return fmt::format("{} ({})", printable(process.name), process.label());
}

std::string id_list(const std::vector<std::uint32_t>& ids) {
  std::string list;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t last = i;
    while (last + 1 < ids.size() && ids[last + 1] == ids[last] + 1) ++last;
    if (!list.empty()) list += ",";
    list += last == i ? std::to_string(ids[i]) : fmt::format("{}-{}", ids[i], ids[last]);
    i = last + 1;
  }
  return list;
}

}  // namespace ttmem::view
