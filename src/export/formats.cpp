// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "export/formats.hpp"

#include <array>
#include <charconv>

namespace ttmem::exports {

namespace {

constexpr std::string_view kOneMoment =
    "one moment, buffers alone: no programs, no kernels, nothing that happened before";
constexpr std::array<Format, 4> kFormats = {{
    {"folded", folded, kOneMoment},
    {"speedscope", speedscope, kOneMoment},
    {"pprof", pprof, kOneMoment},
    {"csv", csv, "one moment: nothing that happened before"},
}};

}  // namespace

std::span<const Format> formats() { return kFormats; }

std::vector<Weighed> weigh_buffers(const Picture& picture) {
  std::vector<Weighed> all;
  for (const ledger::HoldingView& holding : picture.holdings) {
    if (holding.kind != ledger::HoldingKind::kBuffer || !holding.taken) continue;
    Weighed buffer{&holding, {}, *holding.taken};
    if (holding.stack) buffer.steps = *holding.stack;
    if (buffer.steps.empty() && !holding.line.empty()) buffer.steps.push_back(holding.line);
    const bool told = !buffer.steps.empty() && buffer.steps.back() == holding.operation;
    if (!holding.operation.empty() && !told) buffer.steps.push_back(holding.operation);
    if (buffer.steps.empty()) buffer.steps.emplace_back("(origin not known)");
    all.push_back(std::move(buffer));
  }
  return all;
}

Line line_of(const std::string& step) {
  const std::size_t space = step.find(' ');
  const std::size_t colon = step.rfind(':', space == std::string::npos ? step.size() : space);
  Line line;
  line.function = step;
  if (colon == std::string::npos || colon + 1 >= step.size()) return line;
  const char* end = step.data() + (space == std::string::npos ? step.size() : space);
  std::uint32_t number = 0;
  const auto read = std::from_chars(step.data() + colon + 1, end, number);
  if (read.ec != std::errc() || read.ptr != end) return line;
  line.file = step.substr(0, colon);
  line.number = number;
  line.function = space == std::string::npos ? step : step.substr(space + 1);
  return line;
}

}  // namespace ttmem::exports
