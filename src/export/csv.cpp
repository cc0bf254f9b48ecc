// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One line for each holding, by RFC 4180. What is not known is empty.
#include <string>

#include <fmt/format.h>

#include "export/formats.hpp"

namespace ttmem::exports {

namespace {

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"') all += '"';
    all += c;
  }
  return all + "\"";
}

std::string figure(const ledger::Figure& value) { return value ? std::to_string(*value) : ""; }

std::string devices_of(const ledger::HoldingView& holding) {
  std::string all;
  for (const std::uint32_t device : holding.devices) {
    all += (all.empty() ? "" : " ") + std::to_string(device);
  }
  return all;
}

}  // namespace

std::string csv(const Picture& picture) {
  std::string text =
      "kind,pid,start,process,alive,devices,id,space,layout,address,requested,block,occupied,taken,"
      "footprint,dispatches,name,operation,line,region,since_ns\r\n";
  for (const ledger::HoldingView& each : picture.holdings) {
    const bool is_buffer = each.kind == ledger::HoldingKind::kBuffer;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
                        ledger::name(each.kind), each.process->pid, each.process->start,
                        quoted(each.process->name), each.process->alive ? "true" : "false",
                        devices_of(each), each.id, is_buffer ? ledger::name(each.space) : "",
                        is_buffer ? ledger::name(each.layout) : "", each.address,
                        figure(each.requested), figure(each.block), figure(each.occupied),
                        figure(each.taken), figure(each.footprint), each.dispatches,
                        quoted(each.name), quoted(each.operation), quoted(each.line),
                        quoted(each.region), each.since == 0 ? "" : std::to_string(each.since));
  }
  return text;
}

}  // namespace ttmem::exports
