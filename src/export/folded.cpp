// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// "space;outermost;…;innermost bytes", one line a way, as flamegraph.pl, inferno and speedscope
// read it. The space is the root: bytes of DRAM and of L1 are no one sum.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "export/formats.hpp"

namespace ttmem::exports {

namespace {

std::string step_text(std::string step) {
  std::ranges::replace_if(
      step, [](char c) { return c == ';' || static_cast<unsigned char>(c) < 0x20; }, ':');
  return step;
}

}  // namespace

void folded(const Picture& picture, const Sink& sink) {
  std::map<std::string, std::uint64_t> bytes;
  for (const Weighed& buffer : weigh_buffers(picture)) {
    std::string way(ledger::name(buffer.holding->space));
    for (const std::string& step : buffer.steps) way += ";" + step_text(step);
    bytes[way] += buffer.taken * std::max<std::size_t>(buffer.holding->devices.size(), 1);
  }
  std::string text;
  for (const auto& [way, sum] : bytes) text += fmt::format("{} {}\n", way, sum);
  sink(text);
}

}  // namespace ttmem::exports
