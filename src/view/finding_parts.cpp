// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/finding_parts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "view/printable.hpp"
#include "view/table.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

constexpr std::size_t kTextColumns = 100;

std::string origin_text(const ledger::HeldOrigin& origin, ledger::HeldKind kind) {
  std::string text = printable(origin.operation);
  if (kind != ledger::HeldKind::kBuffer) text = std::string(name(kind));
  if (!origin.line.empty()) text += (text.empty() ? "" : " ") + printable(origin.line);
  if (!origin.region.empty()) text += " in " + printable(origin.region);
  return text.empty() ? "?" : text;
}

// "model.py:81: h = …"
std::string source_text(const std::string& line, const Sources& sources) {
  const auto source = sources.find(line);
  if (source == sources.end()) return "";
  const std::string place = printable(line.substr(0, line.find(' ')));
  return cut(place + ": " + printable(source->second), kTextColumns) + "\n";
}

}  // namespace

std::string wrapped(std::string_view text, std::string_view first, std::string_view others) {
  std::string result, line(first);
  bool begun = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (begun && display_width(line) + 1 + display_width(word) > kTextColumns) {
      result += line + "\n";
      line = others;
      begun = false;
    }
    if (begun) line += " ";
    line += word;
    begun = true;
  }
  return result + line + "\n";
}

std::string holders_table(const std::vector<explain::Holder>& holders, std::uint64_t left_out,
                          ledger::TimeNs now, const Style& style) {
  // Launches tell it of kernel binaries alone.
  const bool used = std::ranges::any_of(holders, &explain::Holder::last_use);
  std::vector<Column> columns = {{"B per bank", Align::kRight},
                                 {"Count", Align::kRight},
                                 {"Lowest", Align::kRight},
                                 {"Age", Align::kRight}};
  if (used) columns.push_back({"Last use", Align::kRight});
  columns.push_back({"Made by"});
  Table table(columns);
  for (const explain::Holder& holder : holders) {
    std::vector<std::string> row = {exact_text(holder.bytes), std::to_string(holder.count),
                                    exact_text(holder.lowest), age_text(holder.oldest, now)};
    if (used) row.push_back(holder.last_use == 0 ? "?" : age_text(holder.last_use, now));
    row.push_back(origin_text(holder.origin, holder.kind));
    table.add(std::move(row));
  }
  std::string text = table.text(style, 2);
  if (left_out > 0) {
    text += fmt::format("  and {}\n", count_text(left_out, "more line"));
  }
  return text;
}

std::string cures_text(const std::vector<explain::Cure>& cures, const Sources& sources) {
  std::string text;
  for (std::size_t i = 0; i < cures.size(); ++i) {
    const explain::Cure& cure = cures[i];
    const std::string first = fmt::format("  {}. ", i + 1);
    const std::string others(first.size(), ' ');
    text += wrapped(printable(cure.text), first, others);
    if (!cure.given.empty()) text += wrapped("if " + printable(cure.given), others, others);
    if (!cure.call.empty()) text += others + printable(cure.call) + "\n";
    const bool more_of_line = i + 1 < cures.size() && cures[i + 1].line == cure.line;
    const std::string source = more_of_line ? "" : source_text(cure.line, sources);
    if (!source.empty()) text += others + source;
  }
  return text;
}

std::string unknown_text(const std::vector<std::string>& unknown, const Style& style) {
  if (unknown.empty()) return "";
  std::string text = style.paint(Tone::kStrong, "What is not known") + "\n";
  for (const std::string& each : unknown) text += wrapped(printable(each), "  ", "  ");
  return text;
}

}  // namespace ttmem::view
