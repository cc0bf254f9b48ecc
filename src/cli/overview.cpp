// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem` alone: what is going on now, in a line for each device, and the two commands to go on
// with.
#include <algorithm>

#include <fmt/format.h>

#include "cli/ask_daemon.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "collect/collector.hpp"
#include "view/printable.hpp"
#include "view/text.hpp"
#include "view/units.hpp"

namespace ttmem::cli {
namespace {

constexpr std::size_t kMostDevices = 32;

std::string share_text(std::string_view label, const ledger::Figure& used,
                       const ledger::Figure& capacity) {
  return fmt::format("{} {} of {}", label, view::bytes_text(used), view::bytes_text(capacity));
}

std::string device_line(const ledger::DeviceView& device) {
  const ledger::SpaceFigures& dram = device.figures.space(ledger::Space::kDram);
  return fmt::format("  device {:<3} {:<6} {}, {}, {}\n", device.id, view::printable(device.board),
                     share_text("DRAM", dram.taken, dram.capacity),
                     share_text("L1", device.figures.l1_used(), device.figures.l1_capacity),
                     view::count_text(device.processes, "process"));
}

std::size_t failures_in(const ledger::Snapshot& snapshot) {
  std::size_t sum = 0;
  for (const auto& process : snapshot.processes) sum += process.failures.size();
  return sum;
}

std::string next(std::string_view command, std::string_view what) {
  return fmt::format("  {:<28} {}\n", command, what);
}

std::string now_text(const ledger::Snapshot& snapshot) {
  const auto alive = std::ranges::count_if(snapshot.processes, [](const auto& process) {
    return process.ended == ledger::Ended::kAlive;
  });
  std::string text =
      fmt::format("ttmem {}: {} on {}\n", TTMEM_VERSION,
                  view::count_text(static_cast<std::uint64_t>(alive), "live process"),
                  view::count_text(snapshot.devices.size(), "device"));
  for (const auto& device : snapshot.devices) {
    if (&device - snapshot.devices.data() == kMostDevices) {
      text += fmt::format("  and {} more\n", snapshot.devices.size() - kMostDevices);
      break;
    }
    text += device_line(device);
  }
  return text;
}

}  // namespace

int print_overview() {
  collect::Options options;
  options.host = true;
  options.totals_only = true;
  collect::Collector collector(options);
  collector.refresh();
  ledger::Snapshot snapshot = collector.snapshot();
  complete(collector, std::nullopt, snapshot);
  std::string text;
  if (view::is_empty(snapshot)) {
    text = fmt::format("ttmem {}: no process is recorded on this host\n\nNext:\n", TTMEM_VERSION);
    text += next("ttmem run python model.py", "run a program and record its device memory");
    text += next("ttmem doctor", "check that it can be recorded");
  } else {
    text = now_text(snapshot) + "\nNext:\n";
    text += next("ttmem top", "watch it live");
    text += failures_in(snapshot) > 0
                ? next("ttmem explain", "why something did not fit, and what helps")
                : next("ttmem status --by line", "which line of the model holds it");
  }
  return Output::print(text + "\n`ttmem --help` lists every command.\n");
}

}  // namespace ttmem::cli
