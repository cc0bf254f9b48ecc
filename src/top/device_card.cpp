// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/device_card.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "top/list_rows.hpp"
#include "view/bars.hpp"
#include "view/status_sections.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

using view::Ink;

std::string grid_text(const ledger::DeviceView& device) {
  if (device.grid_x == 0) return "";
  return fmt::format("{}x{} cores", device.grid_x, device.grid_y);
}

// "47 °C 65 W 1000 MHz", as far as the host tells.
std::string sensors_text(const std::optional<ledger::HostDevice>& host) {
  std::string text;
  const auto add = [&text](const std::optional<std::int64_t>& value, double unit,
                           const char* name) {
    if (!value) return;
    text += fmt::format("{}{:.0f} {}", text.empty() ? "" : " ", static_cast<double>(*value) / unit,
                        name);
  };
  if (!host) return text;
  add(host->temperature_millidegrees, 1e3, "°C");
  add(host->power_microwatts, 1e6, "W");
  add(host->aiclk_mhz, 1, "MHz");
  return text;
}

// The most telling first.
std::vector<std::string> facts(const Scene& scene, const ledger::DeviceView& device) {
  const ledger::DeviceFigures& figures = device.figures;
  std::vector<std::string> result;
  if (const auto headroom = figures.headroom.min) {
    std::string text = "headroom " + scene.signed_bytes(headroom);
    if (figures.headroom.core) text += " at " + core_text(*figures.headroom.core);
    result.push_back(text);
  }
  if (const auto* ring = ledger::fullest_worker_ring(figures.rings)) {
    result.push_back("ring " + view::percent_text(ring->used, ring->capacity));
  }
  if (const std::string sensors = sensors_text(device.host); !sensors.empty()) {
    result.push_back(sensors);
  }
  if (const auto largest = figures.space(ledger::Space::kDram).largest_free) {
    result.push_back(fmt::format("largest DRAM block {}", scene.bytes(largest)));
  }
  result.push_back(device.processes == 0 ? "nobody has it open"
                                         : view::count_text(device.processes, "process"));
  return result;
}

view::Look facts_look(const ledger::DeviceView& device) {
  return device.figures.headroom.min.value_or(0) < 0 ? looks::kBad : looks::kSoft;
}

view::Look share_look(const ledger::Figure& used, const ledger::Figure& capacity) {
  if (!used || !capacity || *capacity == 0) return looks::kFaint;
  const double part = static_cast<double>(*used) / static_cast<double>(*capacity);
  return part >= 0.95 ? looks::kBad : part >= 0.85 ? looks::kWarn : looks::kText;
}

// Label, bar, share, amounts, sparkline: what stays of them depends on the room.
struct Meter {
  std::string_view label;
  std::vector<view::BarPart> parts;
  std::uint64_t whole = 0;
  ledger::Figure used, capacity, nominal;  // nominal: of the board, while nobody knows more
  const Series* series = nullptr;
  Ink ink = Ink::kDram;
};

// A share of what the data sheet says would look like one of what the chip has.
std::string share_text(const Meter& meter, bool with_amounts) {
  if (meter.used && meter.capacity) return view::percent_text(*meter.used, *meter.capacity);
  return with_amounts && !meter.capacity && meter.nominal ? "nominal" : "?";
}

void draw_meter(Canvas& canvas, int x, int y, int columns, const Scene& scene, const Meter& meter) {
  const int amounts = scene.state.exact ? 33 : 24;
  const bool with_amounts = columns >= 14 + amounts;
  const int spark = columns >= 88 ? 24 : columns >= 70 ? 12 : 0;
  int end = x + columns;
  if (spark > 0 && meter.series != nullptr) {
    const auto samples = meter.series->columns(static_cast<std::size_t>(spark));
    view::draw_sparkline(canvas.grid, end - spark, y, samples,
                         std::max(meter.capacity.value_or(0), meter.series->largest()),
                         {meter.ink});
  }
  end -= spark > 0 ? spark + 2 : 0;
  if (with_amounts) {
    const int begin = canvas.grid.text_before(
        end, y, " of " + scene.bytes(meter.capacity ? meter.capacity : meter.nominal),
        looks::kSoft);
    canvas.grid.text_before(begin, y, scene.bytes(meter.used), looks::kText);
    end -= amounts;
  }
  canvas.grid.text_before(end, y, share_text(meter, with_amounts),
                          share_look(meter.used, meter.capacity));
  end -= 6;
  canvas.grid.text(x, y, meter.label, looks::kSoft);
  const int begin = x + static_cast<int>(meter.label.size()) + 1;
  if (!meter.capacity) return;  // a part of what is not known cannot be drawn
  view::draw_bar(canvas.grid, begin, y, end - begin, meter.parts, meter.whole, scene.state.colours);
}

Meter dram_meter(const Scene& scene, const ledger::DeviceView& device) {
  const ledger::SpaceFigures& dram = device.figures.space(ledger::Space::kDram);
  const Track* track = scene.history.device(device.unique_id);
  const auto nominal = device.nominal();
  return {"DRAM",
          {{Ink::kDram, view::held(dram).value_or(0), U'█'}},
          dram.capacity.value_or(0),
          view::held(dram),
          dram.capacity,
          nominal ? ledger::Figure(nominal->dram_bytes) : ledger::Figure(),
          track != nullptr ? &track->dram : nullptr,
          Ink::kDram};
}

Meter l1_meter(const Scene& scene, const ledger::DeviceView& device) {
  const L1Parts parts = l1_parts(device);
  const Track* track = scene.history.device(device.unique_id);
  const auto nominal = device.nominal();
  return {"L1  ",
          parts.parts,
          parts.whole,
          l1_held(device.figures),
          device.figures.l1_capacity,
          nominal ? ledger::Figure(nominal->l1_bytes()) : ledger::Figure(),
          track != nullptr ? &track->l1 : nullptr,
          Ink::kBuffers};
}

// One part of the legend: long where there is room for all of them.
std::string legend_word(std::string_view name, const std::string& amount, bool in_short) {
  if (!in_short) return fmt::format(" {} {}", name, amount);
  const std::string_view word = name == "buffers"      ? "buf"
                                : name == "L1_SMALL"   ? "small"
                                : name == "program L1" ? "prog"
                                                       : name;
  return fmt::format("{} {}", word, amount);
}

void draw_legend(Canvas& canvas, int x, int y, int end, const Scene& scene,
                 const ledger::DeviceView& device) {
  if (!device.figures.l1_capacity) {
    std::string text = "No tracked process reports how large it is.";
    if (device.nominal()) text += " Nominal: what its board has by the data sheet.";
    canvas.grid.text(x, y, text, looks::kFaint, end - x);
    return;
  }
  const L1Parts parts = l1_parts(device);
  std::vector<std::uint64_t> amounts;
  for (const view::BarPart& part : parts.parts) amounts.push_back(part.amount);
  const std::vector<std::string> texts = adding_up(amounts, scene.state.exact);
  int columns = 0;
  for (std::size_t i = 0; i < parts.parts.size(); ++i) {
    columns += 3 + view::drawn_columns(legend_word(parts.names[i], texts[i], false));
  }
  const bool in_short = x + columns > end;
  const int gap = in_short ? 1 : 2;
  for (std::size_t i = 0; i < parts.parts.size(); ++i) {
    const std::string word = legend_word(parts.names[i], texts[i], in_short);
    if (x + 1 + view::drawn_columns(word) > end) return;
    const Ink ink = parts.parts[i].ink == Ink::kTrack ? Ink::kFaint : parts.parts[i].ink;
    canvas.grid.put(x, y, scene.state.colours ? U'■' : parts.parts[i].texture, {ink});
    x += 1 + canvas.grid.text(x + 1, y, word, looks::kSoft) + gap;
  }
  const std::string sum = "= " + texts.back();
  if (x + view::drawn_columns(sum) <= end) canvas.grid.text(x, y, sum, looks::kFaint);
}

void draw_title(Canvas& canvas, const view::Rect& line, const Scene& scene,
                const ledger::DeviceView& device) {
  int x = line.x;
  x += canvas.grid.text(x, line.y, fmt::format("{}  ", device.id), looks::kTitle);
  x += canvas.grid.text(x, line.y, device.board.empty() ? "device" : device.board,
                        looks::kText.bold());
  std::string rest = fmt::format("  {}  {}", ledger::name(device.arch), grid_text(device));
  if (device.mock) rest += "  mock";
  x += canvas.grid.text(x, line.y, rest, looks::kSoft, line.right() - x);
  int end = line.right();
  for (const std::string& fact : facts(scene, device)) {
    const int begin = end - view::drawn_columns(fact);
    if (begin < x + 3) break;
    canvas.grid.text(begin, line.y, fact, facts_look(device));
    end = begin - 3;
  }
}

std::string short_name(const ledger::DeviceView& device) {
  return device.board.empty() ? std::string(ledger::name(device.arch)) : device.board;
}

}  // namespace

std::string core_text(const ledger::Core& core) {
  std::string text = fmt::format("{},{}", core.x, core.y);
  if (core.type != ledger::CoreType::kTensix) text.insert(0, std::string(name(core.type)) + " ");
  return text;
}

std::vector<std::string> adding_up(const std::vector<std::uint64_t>& parts, bool exact) {
  constexpr std::array<std::string_view, 4> kUnits = {"B", "KiB", "MiB", "GiB"};
  const std::uint64_t sum = std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
  std::size_t unit = 0;
  double scale = 1;
  while (!exact && static_cast<double>(sum) / scale >= 1023.95 && unit + 1 < kUnits.size()) {
    scale *= 1024;
    ++unit;
  }
  std::vector<std::string> texts;
  if (unit == 0) {
    for (const std::uint64_t part : parts) texts.push_back(view::exact_text(part));
    texts.push_back(view::exact_text(sum) + " B");
    return texts;
  }
  // In tenths: rounded down, then the largest remainders are rounded up until the sum is right.
  std::vector<std::uint64_t> tenths;
  std::vector<std::pair<double, std::size_t>> remainders;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double value = static_cast<double>(parts[i]) / scale * 10;
    tenths.push_back(static_cast<std::uint64_t>(value));
    remainders.emplace_back(static_cast<double>(tenths.back()) - value, i);
  }
  std::sort(remainders.begin(), remainders.end());
  const auto wanted =
      static_cast<std::uint64_t>(std::llround(static_cast<double>(sum) / scale * 10));
  std::uint64_t have = std::accumulate(tenths.begin(), tenths.end(), std::uint64_t{0});
  for (std::size_t i = 0; i < remainders.size() && have < wanted; ++i, ++have) {
    ++tenths[remainders[i].second];
  }
  for (const std::uint64_t value : tenths) {
    texts.push_back(fmt::format("{}.{}", value / 10, value % 10));
  }
  texts.push_back(fmt::format("{}.{} {}", wanted / 10, wanted % 10, kUnits[unit]));
  return texts;
}

void draw_device_card(Canvas& canvas, const view::Rect& place, const Scene& scene,
                      const ledger::DeviceView& device) {
  const Meter dram = dram_meter(scene, device), l1 = l1_meter(scene, device);
  if (place.rows >= 3) {
    draw_title(canvas, {place.x, place.y, place.columns, 1}, scene, device);
    const int x = place.x + 3, columns = place.columns - 3;
    draw_meter(canvas, x, place.y + 1, columns, scene, dram);
    draw_meter(canvas, x, place.y + 2, columns, scene, l1);
    if (place.rows >= 4) draw_legend(canvas, x + 5, place.y + 3, place.right(), scene, device);
    return;
  }
  const int name = place.columns >= 100 ? 16 : 10;
  canvas.grid.text(place.x, place.y, fmt::format("{:<2}", device.id), looks::kTitle, 3);
  canvas.grid.text(place.x + 3, place.y, short_name(device), looks::kText.bold(), name - 4);
  const int x = place.x + name, columns = place.columns - name;
  if (place.rows == 2) {
    canvas.grid.text(place.x + 3, place.y + 1,
                     device.processes == 0 ? "idle" : fmt::format("{} proc", device.processes),
                     looks::kFaint, name - 4);
    draw_meter(canvas, x, place.y, columns, scene, dram);
    draw_meter(canvas, x, place.y + 1, columns, scene, l1);
    return;
  }
  const int half = (columns - 2) / 2;
  draw_meter(canvas, x, place.y, half, scene, dram);
  draw_meter(canvas, x + half + 2, place.y, columns - half - 2, scene, l1);
}

}  // namespace ttmem::top
