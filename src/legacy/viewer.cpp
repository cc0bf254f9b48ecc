// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/viewer.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

#include "legacy/units.hpp"
#include "view/labels.hpp"
#include "view/printable.hpp"

namespace ttmem::legacy {
namespace {

using ledger::Space;
using view::cut;
using view::display_width;
using view::pad_left;
using view::pad_right;
using view::printable;
using view::title;

constexpr std::size_t kFrameCells = 100;

std::string repeated(std::string_view cell, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += cell;
  return text;
}

std::string date(ledger::TimeNs time) {
  const auto seconds = static_cast<std::time_t>(time / 1'000'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%a %b %d %H:%M:%S %Y", &local);
  return text.data();
}

// A value of the driver in whole units of its own; "N/A" without one.
std::string value(const std::optional<std::int64_t>& number, std::int64_t divisor,
                  std::string_view unit) {
  return number ? fmt::format("{}{}", *number / divisor, unit) : "N/A";
}

const ledger::HostDevice& host_of(const ledger::DeviceView& device) {
  static const ledger::HostDevice kNothing;
  return device.host ? *device.host : kNothing;
}

// ---- main --------------------------------------------------------------------------------------

std::string row(const std::array<std::string, 6>& cells) {
  constexpr std::array<std::size_t, 6> kWidths = {4, 16, 10, 10, 12, 48};
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += pad_right(cut(cells[i], kWidths[i]), kWidths[i]);
  }
  return "│" + text + "│\n";
}

std::string device_table(const ledger::Snapshot& snapshot) {
  const std::string rule = repeated("─", kFrameCells);
  const std::string heading = pad_right("tt-smi-umd v1.0 (ttmem)", 40);
  std::string text = "┌" + rule + "┐\n";
  text += "│" + pad_right(heading + pad_left(date(snapshot.time), 39), kFrameCells) + "│\n";
  text += "├" + rule + "┤\n";
  text += row({"GPU", "Name", "Temp", "Power", "AICLK", "Memory-Usage"});
  text += "├" + rule + "┤\n";
  for (const ledger::DeviceView& device : snapshot.devices) {
    const Usage usage = usage_of(device);
    const ledger::HostDevice& host = host_of(device);
    text += row({std::to_string(device.id), std::string(title(device.arch)),
                 value(host.temperature_millidegrees, 1000, "°C"),
                 value(host.power_microwatts, 1'000'000, "W"), value(host.aiclk_mhz, 1, " MHz"),
                 compact(usage.dram) + "/" + compact(usage.dram_total) +
                     (usage.nominal ? " (nominal)" : "")});
  }
  return text + "└" + rule + "┘\n";
}

std::string status_of(const ledger::ProcessView& process) {
  const auto has = [&](ledger::Source source) {
    return std::ranges::find(process.sources, source) != process.sources.end();
  };
  if (has(ledger::Source::kLegacy)) return "Connected to server";
  if (!process.segment.empty()) return "Tracked";
  if (has(ledger::Source::kUpstream)) return "Published by TT-Metal";
  return "Device open (no tracking)";
}

std::string short_name(const std::string& name) {
  return display_width(name) > 18 ? name.substr(0, 15) + "..." : name;
}

std::string process_rows(const ledger::ProcessView& process) {
  const auto bytes = [](const ledger::SpaceFigures& space) {
    return compact(view::amount(space).bytes);
  };
  std::string text;
  for (const ledger::ProcessDeviceView& device : process.devices) {
    text += pad_right(std::to_string(process.pid), 8);
    text += pad_right(short_name(printable(process.name)), 20);
    text += pad_right(std::to_string(device.id), 8);
    text += pad_right(bytes(device.figures.space(Space::kDram)), 12);
    text += pad_right(bytes(device.figures.space(Space::kL1)), 12);
    text += status_of(process) + "\n";
  }
  return text;
}

std::string process_table(const ledger::Snapshot& snapshot) {
  std::string rows;
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (process.alive) rows += process_rows(process);
  }
  if (rows.empty()) return "Processes:\nNo processes using Tenstorrent devices\n";
  return "Processes:\n" + pad_right("PID", 8) + pad_right("Name", 20) + pad_right("Device", 8) +
         pad_right("DRAM", 12) + pad_right("L1", 12) + "Status\n" + rows;
}

std::string main_screen(const ledger::Snapshot& snapshot) {
  std::string text = device_table(snapshot) + "\nMemory Breakdown:\n\n";
  for (const ledger::DeviceView& device : snapshot.devices) text += breakdown(device);
  return text + process_table(snapshot);
}

// ---- charts and telemetry ----------------------------------------------------------------------

std::string layout_text(std::size_t count) {
  if (count <= 1) return "1x1";
  if (count == 2) return "1x2";
  const std::size_t columns = count <= 8 ? 2 : count <= 12 ? 3 : 4;
  return fmt::format("{}x{}", (count + columns - 1) / columns, columns);
}

std::string charts_screen(const ledger::Snapshot& snapshot, const ChartHistory& history) {
  const std::size_t count = snapshot.devices.size();
  std::string text = fmt::format("Chart View - Last 60 seconds ({} device{} in {} matrix)\n", count,
                                 count == 1 ? "" : "s", layout_text(count));
  text += "(Press 1 for main view)\n\n";
  for (const ledger::DeviceView& device : snapshot.devices) {
    const Usage usage = usage_of(device);
    const ledger::HostDevice& host = host_of(device);
    text += fmt::format("Device {} [{}] TEMP {} CLK {}\n", device.id, title(device.arch),
                        value(host.temperature_millidegrees, 1000, "C"),
                        value(host.aiclk_mhz, 1, "MHz"));
    const std::string_view nominal = usage.nominal ? " (nominal)" : "";
    text += fmt::format("DRAM {} {}/{}{}\n", share_bar(usage.dram_percent()), compact(usage.dram),
                        compact(usage.dram_total), nominal);
    text += fmt::format("L1   {} {}/{}{}\n", share_bar(usage.l1_percent()), compact(usage.l1),
                        compact(usage.l1_total), nominal);
    text += chart_text(history.points(device.id), snapshot.time, usage) + l1_summary(device) + "\n";
  }
  return text;
}

std::string telemetry_screen(const ledger::Snapshot& snapshot) {
  std::string text = "Device Telemetry:\n\n";
  for (const ledger::DeviceView& device : snapshot.devices) {
    const ledger::HostDevice& host = host_of(device);
    const std::string volts =
        host.voltage_millivolts
            ? fmt::format(" ({:.3f}V)", static_cast<double>(*host.voltage_millivolts) / 1000.0)
            : "";
    text += fmt::format("Device {} ({}):\n", device.id, title(device.arch));
    text += "  Temperature: " + value(host.temperature_millidegrees, 1000, "°C") + "\n";
    text += "  Power:       " + value(host.power_microwatts, 1'000'000, "W") +
            "  (Current: " + value(host.current_milliamperes, 1000, "A") + ")\n";
    text += "  Voltage:     " + value(host.voltage_millivolts, 1, "mV") + volts + "\n";
    text += "  Clocks:\n";
    text += "    AICLK:     " + value(host.aiclk_mhz, 1, " MHz") + "\n";
    text += "    AXICLK:    " + value(host.axiclk_mhz, 1, " MHz") + "\n";
    text += "    ARCCLK:    " + value(host.arcclk_mhz, 1, " MHz") + "\n";
    if (host.fan_rpm) text += fmt::format("  Fan Speed:   {} RPM\n", *host.fan_rpm);
    text += l1_summary(device) + "\n";
  }
  return text;
}

std::string footer(Screen screen, bool watched) {
  constexpr std::array<std::string_view, 3> kNames = {"Main View", "Charts View",
                                                      "Detailed Telemetry"};
  std::string text = "\n💡 Telemetry source: sysfs\n";
  if (!watched) return text;
  return text +
         fmt::format("📋 View: Press 1 main, 2 charts, 3 telemetry, q quit\n   Current: {}\n",
                     kNames[static_cast<std::size_t>(screen) - 1]);
}

std::string_view colour_of(double percent) {
  if (percent >= 90) return "\x1b[31m";
  return percent >= 75 ? "\x1b[33m" : "\x1b[32m";
}

}  // namespace

std::string coloured(std::string_view text) {
  constexpr std::string_view kFilled = "█", kEnd = "] ";
  std::string out;
  for (std::size_t bar = 0; (bar = text.find("[█")) != text.npos;) {
    std::size_t end = bar + 1;
    while (text.substr(end).starts_with(kFilled)) end += kFilled.size();
    const std::size_t number = text.find(kEnd, end);
    if (number == text.npos) break;
    const std::string percent(text.substr(number + kEnd.size(), 8));
    out += text.substr(0, bar + 1);
    out += colour_of(std::strtod(percent.c_str(), nullptr));
    out += text.substr(bar + 1, end - bar - 1);
    out += "\x1b[0m";
    text.remove_prefix(end);
  }
  return out.append(text);
}

std::string screen_text(const ledger::Snapshot& snapshot, Screen screen,
                        const ChartHistory& history, bool watched) {
  std::string text;
  if (screen == Screen::kMain) text = main_screen(snapshot);
  if (screen == Screen::kCharts) text = charts_screen(snapshot, history);
  if (screen == Screen::kTelemetry) text = telemetry_screen(snapshot);
  return text + footer(screen, watched);
}

}  // namespace ttmem::legacy
