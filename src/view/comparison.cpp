// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/comparison.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "view/units.hpp"

namespace ttmem::view {
namespace {

using ledger::HoldingKind;

void add(Weights& weights, std::string_view place, std::string_view name, std::uint64_t bytes) {
  Weight& weight = weights[{Place(place), std::string(name)}];
  weight.bytes = ledger::add(weight.bytes, bytes);
  ++weight.count;
}

// A buffer or a program, from a ledger or from a document; bytes are those on all its devices.
struct Held {
  HoldingKind kind = HoldingKind::kBuffer;
  std::string space, line, operation, name;
  std::uint64_t taken = 0;                   // by a buffer
  std::uint64_t allocated = 0, kernels = 0;  // by a program
};

void add_place(Side& side, const Held& held, const std::string& place, const char* figure,
               std::uint64_t bytes) {
  std::uint64_t& sum = side.figures[place + figure];
  sum = ledger::add(sum, bytes);
  add(side.lines, place, held.line, bytes);
  add(side.operations, place, held.operation, bytes);
  if (held.kind == HoldingKind::kProgram) add(side.programs, place, held.name, bytes);
}

void add(Side& side, const Held& held) {
  if (held.kind == HoldingKind::kBuffer) add_place(side, held, held.space, ".taken", held.taken);
  if (held.kind != HoldingKind::kProgram) return;
  add_place(side, held, "program_l1", ".allocated", held.allocated);
  add_place(side, held, "kernels", ".footprint", held.kernels);
}

std::uint64_t on_all(std::uint64_t bytes, std::size_t devices) {
  return ledger::narrow(ledger::Wide{bytes} * devices);
}

Side empty_side() {
  Side side;
  for (const ledger::Space space : ledger::kDeviceSpaces) {
    side.figures[std::string(ledger::name(space)) + ".taken"] = 0;
  }
  side.figures["program_l1.allocated"] = side.figures["kernels.footprint"] = 0;
  return side;
}

using Document = nlohmann::json;

std::string text_in(const Document& value, const char* field) {
  const auto found = value.find(field);
  return found != value.end() && found->is_string() ? found->get<std::string>() : "";
}
std::uint64_t number_in(const Document& value, const char* field) {
  const auto found = value.find(field);
  return found != value.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

bool is_alive(const Document& holding) {
  const auto found = holding.find("alive");
  return found == holding.end() || !found->is_boolean() || found->get<bool>();
}

Side side_of_holdings(const Document& document) {
  Side side = empty_side();
  for (const Document& each : document["holdings"]) {
    if (!each.is_object() || !is_alive(each)) continue;
    const auto kind = ledger::named<HoldingKind>(text_in(each, "kind"));
    if (!kind) continue;
    const auto devices = each.find("devices");
    const std::size_t on = devices != each.end() && devices->is_array() ? devices->size() : 0;
    add(side, {*kind, text_in(each, "space"), text_in(each, "line"), text_in(each, "operation"),
               text_in(each, "name"), on_all(number_in(each, "taken"), on),
               on_all(number_in(each, "occupied"), on), on_all(number_in(each, "footprint"), on)});
  }
  return side;
}

void add_known(Side& side, const std::string& name, const ledger::Figure& figure) {
  if (figure) side.figures[name] = ledger::add(side.figures[name], *figure);
}

Side side_of_snapshot(const ledger::Snapshot& snapshot) {
  Side side = empty_side();
  side.has_rows = false;
  for (const ledger::DeviceView& device : snapshot.devices) {
    for (const ledger::Space space : ledger::kDeviceSpaces) {
      const std::string name(ledger::name(space));
      add_known(side, name + ".taken", device.figures.space(space).taken);
      add_known(side, name + ".peak", device.figures.space(space).peak);
    }
    add_known(side, "program_l1.allocated", device.figures.program_l1.allocated);
    add_known(side, "kernels.footprint", device.figures.kernels.total().footprint);
  }
  return side;
}

std::vector<Difference> differences(const Weights& before, const Weights& after) {
  std::map<std::pair<Place, std::string>, Difference> all;
  for (const auto& [key, weight] : before) {
    all[key] = {key.first, key.second, weight, {}};
  }
  for (const auto& [key, weight] : after) {
    Difference& row = all[key];
    row.place = key.first;
    row.name = key.second;
    row.after = weight;
  }
  std::vector<Difference> rows;
  for (auto& [key, row] : all) rows.push_back(std::move(row));
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const Difference& row) { return std::abs(row.grown()); });
  return rows;
}

std::optional<double> percent_in(std::string_view text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  const bool good = whole && value >= 0 && std::isfinite(value);
  return good ? std::optional(value) : std::nullopt;
}

bool is_figure(std::string_view name) {
  if (name == "program_l1.allocated" || name == "kernels.footprint") return true;
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return false;
  const auto space = ledger::named<ledger::Space>(name.substr(0, dot));
  return space && *space != ledger::Space::kSystemMemory &&
         (name.substr(dot) == ".taken" || name.substr(dot) == ".peak");
}

}  // namespace

Side side_of(const std::vector<ledger::HoldingView>& holdings) {
  Side side = empty_side();
  for (const ledger::HoldingView& each : holdings) {
    if (!each.process->alive) continue;
    const std::size_t on = each.devices.size();
    add(side, {each.kind, std::string(ledger::name(each.space)), each.line, each.operation,
               each.name, on_all(each.taken.value_or(0), on), on_all(each.occupied.value_or(0), on),
               on_all(each.footprint.value_or(0), on)});
  }
  return side;
}

Result<Side> read_side(std::string_view text) {
  const Document document = Document::parse(text, nullptr, false);
  if (document.is_object() && document.contains("holdings") && document["holdings"].is_array()) {
    Side side = side_of_holdings(document);
    side.time = number_in(document, "time_ns");
    return side;
  }
  if (const auto snapshot = read_snapshot(text)) {
    Side side = side_of_snapshot(*snapshot);
    side.time = snapshot->time;
    return side;
  }
  return Error{
      ErrorCode::kWrongKind,
      "neither a recording nor a document of `ttmem dump --json` or `ttmem status --json`"};
}

std::string_view Difference::change() const {
  if (before.count == 0) return "came";
  if (after.count == 0) return "went";
  return grown() > 0 ? "grew" : grown() < 0 ? "shrank" : "same";
}

Comparison compare(Side before, Side after) {
  Comparison result;
  if (before.has_rows && after.has_rows) {
    result.lines = differences(before.lines, after.lines);
    result.operations = differences(before.operations, after.operations);
    result.programs = differences(before.programs, after.programs);
  }
  result.before = std::move(before);
  result.after = std::move(after);
  return result;
}

Result<Limit> Limit::parse(const std::string& text) {
  const Error wrong{ErrorCode::kWrongKind, std::string("must be ") + std::string(kForm)};
  const std::size_t sign = text.find('>');
  if (sign == std::string::npos || !is_figure(text.substr(0, sign))) return wrong;
  Limit limit;
  limit.text = text;
  limit.figure = text.substr(0, sign);
  std::string_view amount = std::string_view(text).substr(sign + 1);
  const bool grows = amount.starts_with('+');
  if (grows) amount.remove_prefix(1);
  limit.kind = grows ? Kind::kGrowth : Kind::kValue;
  std::optional<double> value;
  if (grows && amount.ends_with('%')) {
    limit.kind = Kind::kPercent;
    amount.remove_suffix(1);
    value = percent_in(amount);
  } else if (const auto bytes = bytes_in(amount)) {
    value = static_cast<double>(*bytes);
  }
  if (!value) return wrong;
  limit.amount = *value;
  return limit;
}

std::string Limit::broken_by(const Side& before, const Side& after) const {
  const auto old_one = before.figures.find(figure);
  const auto new_one = after.figures.find(figure);
  const bool needs_old = kind != Kind::kValue;
  if (new_one == after.figures.end() || (needs_old && old_one == before.figures.end())) {
    const Side& lacking = new_one == after.figures.end() ? after : before;
    return fmt::format("{}: {} is not known of {}", text, figure, lacking.name);
  }
  const auto now = static_cast<double>(new_one->second);
  const double then = needs_old ? static_cast<double>(old_one->second) : 0;
  const double most = kind == Kind::kValue    ? amount
                      : kind == Kind::kGrowth ? then + amount
                                              : then * (1 + amount / 100);
  if (now <= most) return "";
  const std::string from = needs_old ? fmt::format(" from {} ({})", bytes_text(old_one->second),
                                                   exact_text(old_one->second))
                                     : "";
  return fmt::format("{}: {} went{} to {} ({}), at most {} is allowed", text, figure, from,
                     bytes_text(new_one->second), exact_text(new_one->second),
                     bytes_text(static_cast<std::uint64_t>(most)));
}

}  // namespace ttmem::view
