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
#include "view/labels.hpp"
#include "view/printable.hpp"
#include "view/text.hpp"
#include "view/units.hpp"

namespace ttmem::cli {
namespace {

constexpr std::size_t kMostDevices = 32;

// What is not known is left out: of a program that nobody records, that is most of it.
std::string share_text(std::string_view label, const view::Amount& used,
                       const ledger::Figure& capacity) {
  if (!used.bytes) return "";
  std::string text = fmt::format("{} {}", label, view::bytes_text(used.bytes));
  if (used.word != "taken") text += fmt::format(" {}", used.word);
  if (capacity) text += " of " + view::bytes_text(capacity);
  return text + ", ";
}

std::string device_line(const ledger::DeviceView& device) {
  const ledger::DeviceFigures& figures = device.figures;
  const ledger::SpaceFigures& dram = figures.space(ledger::Space::kDram);
  const ledger::Figure l1 = figures.l1_used();
  return fmt::format(
      "  device {:<3} {:<6} {}{}{}\n", device.id, view::printable(device.board),
      share_text("DRAM", view::amount(dram), dram.capacity),
      share_text("L1",
                 l1 ? view::Amount{l1, "taken"} : view::amount(figures.space(ledger::Space::kL1)),
                 figures.l1_capacity),
      view::count_text(device.processes, "process"));
}

std::size_t failures_in(const ledger::Snapshot& snapshot) {
  std::size_t sum = 0;
  for (const auto& process : snapshot.processes) sum += process.failures.size();
  return sum;
}

// Not by its own report: the host alone knows of it.
bool is_outsider(const ledger::ProcessView& process) {
  return std::ranges::all_of(process.sources, [](ledger::Source source) {
    return source == ledger::Source::kUpstream || source == ledger::Source::kProcfs;
  });
}

std::string next(std::string_view command, std::string_view what) {
  return fmt::format("  {:<28} {}\n", command, what);
}

// The second command, by what is there.
std::string next_of(const ledger::Snapshot& snapshot) {
  if (failures_in(snapshot) > 0) {
    return next("ttmem explain", "why something did not fit, and what helps");
  }
  if (std::ranges::all_of(snapshot.processes, is_outsider)) {
    return next("ttmem run python model.py", "nothing is recorded: start a program so, and it is");
  }
  return next("ttmem status --by line", "which line of the model holds it");
}

// That nothing is recorded may only be said where everything could be read.
std::string unread_text(const ledger::Snapshot& snapshot) {
  const std::size_t unread = snapshot.unreadable.size();
  if (unread == 0) return "";
  return fmt::format("  {} that cannot be read: `ttmem status` says which, and why\n",
                     view::count_text(unread, "record"));
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
  return text + unread_text(snapshot);
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
    text =
        fmt::format("ttmem {}: no process{} is recorded on this host\n{}\nNext:\n", TTMEM_VERSION,
                    snapshot.unreadable.empty() ? "" : " that you may see", unread_text(snapshot));
    text += next("ttmem run python model.py", "run a program and record its device memory");
    text += next("ttmem doctor", "check that it can be recorded");
  } else {
    text = now_text(snapshot) + "\nNext:\n";
    text += next("ttmem top", "watch it live");
    text += next_of(snapshot);
  }
  return Output::print(text + "\n`ttmem --help` lists every command.\n");
}

}  // namespace ttmem::cli
