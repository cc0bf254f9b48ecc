// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <array>
#include <set>

#include <fmt/format.h>

#include "view/comparison.hpp"
#include "view/json_values.hpp"
#include "view/markdown.hpp"
#include "view/printable.hpp"
#include "view/table.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

std::string growth_text(std::int64_t bytes) {
  return bytes == 0 ? "0 B" : (bytes > 0 ? "+" : "") + signed_bytes_text(bytes);
}

std::string relative_text(std::uint64_t before, std::uint64_t after) {
  if (before == after) return "0 %";
  if (before == 0) return "new";
  const double part = 100 * (static_cast<double>(after) / static_cast<double>(before) - 1);
  return fmt::format("{:+.1f} %", part);
}

// Figures that either side knows, in the order of their names.
std::set<std::string> figure_names(const Comparison& comparison) {
  std::set<std::string> names;
  for (const Side* side : {&comparison.before, &comparison.after}) {
    for (const auto& [name, value] : side->figures) names.insert(name);
  }
  return names;
}

ledger::Figure figure_of(const Side& side, const std::string& name) {
  const auto found = side.figures.find(name);
  return found == side.figures.end() ? ledger::Figure() : ledger::Figure(found->second);
}

struct TotalRow {
  std::string name, before, after, grown, relative;
  bool changed = false;
};

std::vector<TotalRow> total_rows(const Comparison& comparison) {
  std::vector<TotalRow> rows;
  for (const std::string& name : figure_names(comparison)) {
    const ledger::Figure before = figure_of(comparison.before, name);
    const ledger::Figure after = figure_of(comparison.after, name);
    if (before.value_or(0) == 0 && after.value_or(0) == 0) continue;
    TotalRow row{name, bytes_text(before), bytes_text(after), "?", "?", before != after};
    if (before && after) {
      row.grown =
          growth_text(static_cast<std::int64_t>(*after) - static_cast<std::int64_t>(*before));
      row.relative = relative_text(*before, *after);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

struct List {
  const char* title;
  const char* column;
  const std::vector<Difference>* rows;
};

std::array<List, 3> lists_of(const Comparison& comparison) {
  return {{{"By line", "Line", &comparison.lines},
           {"By operation", "Operation", &comparison.operations},
           {"By program", "Program", &comparison.programs}}};
}

std::string name_of(const Difference& row) {
  return row.name.empty() ? "(not known)" : printable(row.name);
}

// Changed rows up to a number, and what the others add up to.
struct Shown {
  std::vector<const Difference*> rows;
  std::uint64_t others = 0;
  std::int64_t grown = 0;
};

Shown shown_of(const std::vector<Difference>& rows, std::size_t most) {
  Shown shown;
  for (const Difference& row : rows) {
    if (row.change() == "same") continue;
    if (shown.rows.size() < most) {
      shown.rows.push_back(&row);
    } else {
      ++shown.others;
      shown.grown += row.grown();
    }
  }
  return shown;
}

std::string list_text(const List& list, std::size_t most, const Style& style) {
  const Shown shown = shown_of(*list.rows, most);
  if (shown.rows.empty()) return "";
  Table table({{"Change", Align::kRight},
               {"", Align::kLeft},
               {"Before", Align::kRight},
               {"After", Align::kRight},
               {"Count", Align::kRight},
               {"Where"},
               {list.column}});
  for (const Difference* row : shown.rows) {
    table.add(
        {growth_text(row->grown()), std::string(row->change()), bytes_text(row->before.bytes),
         bytes_text(row->after.bytes), fmt::format("{} -> {}", row->before.count, row->after.count),
         row->place, name_of(*row)},
        row->grown() > 0 ? Tone::kWarn : Tone::kPlain);
  }
  std::string text = "\n" + style.paint(Tone::kStrong, list.title) + "\n" + table.text(style, 2);
  if (shown.others > 0) {
    text += fmt::format("  {} more: {}\n", shown.others, growth_text(shown.grown));
  }
  return text;
}

std::string list_markdown(const List& list, std::size_t most) {
  const Shown shown = shown_of(*list.rows, most);
  if (shown.rows.empty()) return "";
  std::string text = fmt::format(
      "\n**{}**\n\n| Change | | Before | After | Count | Where | {} |\n"
      "| ---: | --- | ---: | ---: | ---: | --- | --- |\n",
      list.title, list.column);
  for (const Difference* row : shown.rows) {
    text += fmt::format("| {} | {} | {} | {} | {} → {} | {} | {} |\n", growth_text(row->grown()),
                        row->change(), bytes_text(row->before.bytes), bytes_text(row->after.bytes),
                        row->before.count, row->after.count, markdown_text(row->place),
                        markdown_text(name_of(*row)));
  }
  if (shown.others > 0) {
    text += fmt::format("\n{} more: {}\n", shown.others, growth_text(shown.grown));
  }
  return text;
}

constexpr const char* kTotalsAlone =
    "Only totals can be compared: a document of `ttmem status --json` has no lines. "
    "`ttmem dump --json` and recordings have them.\n";

bool has_rows(const Comparison& comparison) {
  return comparison.before.has_rows && comparison.after.has_rows;
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const Style& style) {
  Table totals({{"Figure"},
                {"Before", Align::kRight},
                {"After", Align::kRight},
                {"Change", Align::kRight},
                {"", Align::kRight}});
  for (const TotalRow& row : total_rows(comparison)) {
    totals.add({row.name, row.before, row.after, row.grown, row.relative});
  }
  std::string text = fmt::format("Before: {}\nAfter:  {}\n\n", printable(comparison.before.name),
                                 printable(comparison.after.name));
  text += totals.empty() ? "Nothing is held on either side.\n" : totals.text(style, 0);
  for (const List& list : lists_of(comparison))
    text += list_text(list, comparison.rows_shown, style);
  if (!has_rows(comparison)) text += std::string("\n") + kTotalsAlone;
  for (const std::string& limit : comparison.broken_limits) {
    text += "\n" + style.paint(Tone::kBad, "Limit broken: " + limit) + "\n";
  }
  return text;
}

std::string comparison_markdown(const Comparison& comparison) {
  std::string text =
      fmt::format("**Device memory: {} → {}**\n\n", markdown_text(comparison.before.name),
                  markdown_text(comparison.after.name));
  for (const std::string& limit : comparison.broken_limits) {
    text += fmt::format("- ❌ {}\n", markdown_text(limit));
  }
  text += comparison.broken_limits.empty() ? "" : "\n";
  text += "| Figure | Before | After | Change | |\n| --- | ---: | ---: | ---: | ---: |\n";
  for (const TotalRow& row : total_rows(comparison)) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", markdown_text(row.name), row.before,
                        row.after, row.grown, row.relative);
  }
  for (const List& list : lists_of(comparison)) text += list_markdown(list, comparison.rows_shown);
  if (!has_rows(comparison)) text += std::string("\n") + kTotalsAlone;
  return text;
}

std::string comparison_json(const Comparison& comparison, JsonLayout layout) {
  using json::Json;
  const auto side = [](const Side& of) {
    return Json{
        {"name", of.name}, {"time_ns", json::time_or_null(of.time)}, {"has_rows", of.has_rows}};
  };
  Json document = {{"schema", kJsonSchema}, {"document", "diff"}};
  document["before"] = side(comparison.before);
  document["after"] = side(comparison.after);
  document["figures"] = Json::object();
  for (const std::string& name : figure_names(comparison)) {
    document["figures"][name] = {{"before", json::or_null(figure_of(comparison.before, name))},
                                 {"after", json::or_null(figure_of(comparison.after, name))}};
  }
  const char* names[] = {"lines", "operations", "programs"};
  for (std::size_t i = 0; i < 3; ++i) {
    Json& rows = document[names[i]] = Json::array();
    for (const Difference& row : *lists_of(comparison)[i].rows) {
      rows.push_back({{"change", row.change()},
                      {"place", row.place},
                      {"name", json::text_or_null(row.name)},
                      {"before", row.before.bytes},
                      {"after", row.after.bytes},
                      {"before_count", row.before.count},
                      {"after_count", row.after.count}});
    }
  }
  document["broken_limits"] = comparison.broken_limits;
  return json::text(document, layout);
}

}  // namespace ttmem::view
