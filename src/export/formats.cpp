// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "export/formats.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "export/tables.hpp"

namespace ttmem::exports {

namespace {

constexpr std::string_view kOneMoment =
    "one moment, buffers alone: no programs, no kernels, nothing that happened before";
constexpr std::string_view kStory =
    "lives of buffers and programs, bytes by device and space, failures: no cores, no layout of "
    "the L1";
constexpr std::string_view kHoldings = "one moment: nothing that happened before";
constexpr std::string_view kEvents = "events: not what was there before the first of them";
constexpr std::string_view kSeries = "bytes that buffers take: no programs, no kernels";
constexpr std::string_view kPyTorch =
    "buffers alone, in one device of the viewer for each chip and space: no programs, no kernels";
constexpr std::string_view kVisualizer =
    "buffers by operation, and circular buffers of programs that live at the end: no tensors, "
    "since "
    "shapes and data types are not known here";
constexpr auto kFormats = std::to_array<Format>({
    {"folded", "", folded, nullptr, kOneMoment},
    {"speedscope", "", speedscope, nullptr, kOneMoment},
    {"pprof", "", pprof, nullptr, kOneMoment},
    {"perfetto", "", nullptr, perfetto, kStory},
    {"chrome-json", "", nullptr, chrome_json, kStory},
    {"pytorch", "", nullptr, pytorch, kPyTorch},
    {"ttnn-visualizer", "", nullptr, visualizer, kVisualizer},
    {"csv", "holdings", holdings_table<csv_table>, nullptr, kHoldings},
    {"csv", "events", nullptr, events_table<csv_table>, kEvents},
    {"csv", "series", nullptr, series_table<csv_table>, kSeries},
    {"parquet", "holdings", holdings_table<parquet_table>, nullptr, kHoldings},
    {"parquet", "events", nullptr, events_table<parquet_table>, kEvents},
    {"parquet", "series", nullptr, series_table<parquet_table>, kSeries},
});

static_assert(std::ranges::all_of(kFormats, [](const Format& format) {
  return (format.moment == nullptr) != (format.story == nullptr);
}));

}  // namespace

std::span<const Format> formats() { return kFormats; }

std::vector<Weighed> weigh_buffers(const Picture& picture) {
  std::vector<Weighed> all;
  for (const ledger::HoldingView& holding : picture.holdings) {
    if (holding.kind != ledger::HoldingKind::kBuffer || !holding.taken) continue;
    all.push_back({&holding, steps_of(holding), *holding.taken});
  }
  return all;
}

std::vector<std::string> steps_of(const ledger::HoldingView& buffer) {
  std::vector<std::string> steps;
  if (buffer.stack) steps = *buffer.stack;
  if (steps.empty() && !buffer.line.empty()) steps.push_back(buffer.line);
  const bool told = !steps.empty() && steps.back() == buffer.operation;
  if (!buffer.operation.empty() && !told) steps.push_back(buffer.operation);
  if (steps.empty()) steps.emplace_back("(origin not known)");
  return steps;
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
