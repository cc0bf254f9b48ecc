// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/fit_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "view/json_values.hpp"
#include "view/labels.hpp"
#include "view/printable.hpp"
#include "view/table.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

using explain::FitRow;
using ledger::name;

constexpr std::size_t kMostRows = 40;

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return fmt::format("{}", fmt::join(shape, ","));
}

std::string rows_text(const FitAnswer& answer, const Style& style) {
  Table table({{"Tensor"},
               {"Shape"},
               {"Type"},
               {"Space"},
               {"Requested", Align::kRight},
               {"Block B", Align::kRight},
               {"Taken", Align::kRight},
               {"Address", Align::kRight}});
  std::size_t left_out = 0;
  for (const FitRow& row : answer.fit.rows) {
    const bool bad = !row.place;
    if (!bad && &row - answer.fit.rows.data() >= static_cast<std::ptrdiff_t>(kMostRows)) {
      ++left_out;
      continue;
    }
    const bool known = row.problem.empty();
    table.add({row.tensor.name.empty() ? "-" : printable(row.tensor.name),
               shape_text(row.tensor.shape), std::string(name(row.tensor.type)),
               std::string(title(row.tensor.space)), known ? bytes_text(row.bytes.requested) : "?",
               known ? exact_text(row.bytes.block) : "?", known ? bytes_text(row.bytes.taken) : "?",
               !known ? printable(row.problem)
               : bad  ? "does not fit"
                      : exact_text(row.place->begin)},
              bad ? Tone::kBad : Tone::kPlain);
  }
  std::string text = table.text(style, 2);
  if (left_out > 0) text += fmt::format("  and {} that fit\n", count_text(left_out, "more tensor"));
  return text;
}

std::string spaces_text(const FitAnswer& answer) {
  std::string text;
  for (const explain::FitSpace& space : answer.fit.spaces) {
    text += fmt::format(
        "  {}: asked {} B of {} free in each of {} banks; after it {} B are free, the largest hole "
        "has "
        "{} B\n",
        title(space.space), exact_text(space.asked), exact_text(space.free_before), space.banks,
        exact_text(space.free_after), exact_text(space.largest_after));
  }
  return text;
}

std::string clashes_text(const FitAnswer& answer, const Style& style) {
  std::string text;
  for (const explain::FitClash& clash : answer.fit.clashes) {
    text += fmt::format("  {}: needs L1 up to {}, and the lowest buffer would lie at {}\n",
                        clash.line.empty() ? printable(clash.program)
                                           : printable(clash.program) + " " + printable(clash.line),
                        exact_text(clash.end), exact_text(clash.lowest_buffer));
  }
  if (text.empty()) return "";
  return style.paint(Tone::kWarn, "The next launch of these programs would clash") + "\n" + text;
}

}  // namespace

std::string fit_text(const FitAnswer& answer, const Style& style) {
  const std::string on = answer.chips > 1
                             ? fmt::format("{}, on each of {} chips", answer.device, answer.chips)
                             : answer.device;
  std::string text =
      style.paint(
          answer.fit.fits ? Tone::kGood : Tone::kBad,
          fmt::format("{} into {}", answer.fit.fits ? "Fits" : "Does not fit", printable(on))) +
      "\n";
  if (!answer.variable.empty()) {
    text += answer.solved ? fmt::format("Largest {} that fits: {}\n", printable(answer.variable),
                                        exact_text(*answer.solved))
                          : fmt::format("Whether it fits does not depend on {}\n",
                                        printable(answer.variable));
  }
  return text + rows_text(answer, style) + spaces_text(answer) + clashes_text(answer, style);
}

std::string fit_json(const ledger::Snapshot& snapshot, const FitAnswer& answer, JsonLayout layout) {
  using json::Json;
  Json rows = Json::array(), spaces = Json::array(), clashes = Json::array();
  for (const FitRow& row : answer.fit.rows) {
    const bool known = row.problem.empty();
    rows.push_back({{"name", json::text_or_null(row.tensor.name)},
                    {"shape", row.tensor.shape},
                    {"dtype", name(row.tensor.type)},
                    {"layout", name(row.tensor.layout)},
                    {"space", name(row.tensor.space)},
                    {"sharding", name(row.tensor.sharding)},
                    {"requested", json::if_has(known, row.bytes.requested)},
                    {"per_bank", json::if_has(known, row.bytes.per_bank)},
                    {"block", json::if_has(known, row.bytes.block)},
                    {"taken", json::if_has(known, row.bytes.taken)},
                    {"fits", row.place.has_value()},
                    {"address", row.place ? Json(row.place->begin) : Json(nullptr)},
                    {"problem", json::text_or_null(row.problem)}});
  }
  for (const explain::FitSpace& space : answer.fit.spaces) {
    spaces.push_back({{"space", name(space.space)},
                      {"banks", space.banks},
                      {"asked", space.asked},
                      {"free_before", space.free_before},
                      {"free_after", space.free_after},
                      {"largest_after", space.largest_after}});
  }
  for (const explain::FitClash& clash : answer.fit.clashes) {
    clashes.push_back({{"program", clash.program},
                       {"line", json::text_or_null(clash.line)},
                       {"end", clash.end},
                       {"lowest_buffer", clash.lowest_buffer}});
  }
  Json document = json::head("fit", snapshot);
  document["device"] = answer.device;
  document["empty"] = answer.empty;
  document["chips"] = answer.chips;
  document["fits"] = answer.fit.fits;
  document["tensors"] = std::move(rows);
  document["spaces"] = std::move(spaces);
  document["clashes"] = std::move(clashes);
  document["variable"] = json::text_or_null(answer.variable);
  document["solved"] = json::or_null(answer.solved);
  return json::text(document, layout);
}

}  // namespace ttmem::view
