// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/fleet_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "view/printable.hpp"
#include "view/table.hpp"
#include "view/units.hpp"

namespace ttmem::fleet {
namespace {

using view::Align;
using view::bytes_text;
using view::printable;
using view::Table;
using view::Tone;

constexpr double kNearlyFull = 0.9;

std::string number(const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : "?";
}

std::string headroom(const std::optional<std::int64_t>& bytes) {
  return bytes ? view::signed_bytes_text(*bytes) : "?";
}

std::string share(const ledger::Figure& part, const ledger::Figure& whole) {
  if (!part || !whole || *whole == 0) return "";
  return view::percent_text(*part, *whole);
}

std::string of(const ledger::Figure& part, const ledger::Figure& whole) {
  const std::string percent = share(part, whole);
  return fmt::format("{} of {}{}", bytes_text(part), bytes_text(whole),
                     percent.empty() ? "" : " (" + percent + ")");
}

std::string tenth(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f}", *value) : "";
}

std::string state_text(const HostRow& host) {
  if (host.state == HostState::kFresh) {
    const std::uint64_t untold = host.untold.value_or(0);
    return untold == 0 ? "" : fmt::format("{} untold", view::count_text(untold, "device"));
  }
  return fmt::format("{}: {}", ledger::name(host.state), printable(host.problem));
}

Tone tone_of(const HostRow& host) {
  if (host.state != HostState::kFresh) return Tone::kFaint;
  if (host.headroom.value_or(0) < 0) return Tone::kBad;
  return host.dram_share().value_or(0) >= kNearlyFull ? Tone::kWarn : Tone::kPlain;
}

std::string lines(const char* title, const std::vector<std::string>& texts, Tone tone,
                  const view::Style& style) {
  std::string text;
  for (const std::string& each : texts) text += style.paint(tone, title + each) + "\n";
  return text;
}

std::string summary(const Fleet& fleet, const view::Style& style) {
  const FleetTotals totals = totals_of(fleet);
  std::string text = style.paint(
      Tone::kStrong,
      fmt::format("{}, {}, {} in use: DRAM {}, L1 {}", view::count_text(fleet.fresh(), "host"),
                  view::count_text(totals.devices, "device"), totals.in_use,
                  of(totals.dram, totals.dram_capacity), of(totals.l1, totals.l1_capacity)));
  if (totals.headroom) text += fmt::format(", least headroom {}", headroom(totals.headroom));
  return text + "\n";
}

std::string host_table(const Fleet& fleet, std::size_t most, const view::Style& style) {
  Table table({{"Host"},
               {"Devices", Align::kRight},
               {"In use", Align::kRight},
               {"DRAM", Align::kRight},
               {"of", Align::kRight},
               {"", Align::kRight},
               {"L1", Align::kRight},
               {"of", Align::kRight},
               {"Headroom", Align::kRight},
               {"Processes", Align::kRight},
               {"State"}});
  // Those who do not tell are never cut away: they are the news.
  std::size_t left = most, cut = 0;
  for (const HostRow& host : fleet.hosts) {
    const bool fresh = host.state == HostState::kFresh;
    if (fresh && left == 0) {
      ++cut;
      continue;
    }
    if (fresh) --left;
    table.add(
        {printable(host.name), number(host.devices), number(host.in_use), bytes_text(host.dram),
         bytes_text(host.dram_capacity), share(host.dram, host.dram_capacity), bytes_text(host.l1),
         bytes_text(host.l1_capacity), headroom(host.headroom), number(host.processes),
         state_text(host)},
        tone_of(host));
  }
  std::string text = table.text(style, 2);
  if (cut > 0) text += fmt::format("  and {} that are less full; --all shows them\n", cut);
  return text;
}

std::string ranks(const JobRow& job) {
  return job.expected ? fmt::format("{} of {}", number(job.present), *job.expected)
                      : number(job.present);
}

std::string tightest(const JobRow& job) {
  if (!job.headroom) return "?";
  std::string whose = job.headroom_rank.empty() ? "" : " rank " + printable(job.headroom_rank);
  if (!job.headroom_host.empty()) whose += " on " + printable(job.headroom_host);
  return headroom(job.headroom) + whose;
}

Tone tone_of(const JobRow& job) {
  const bool missing = job.expected && job.present && *job.present < *job.expected;
  if (job.died.value_or(0) > 0 || job.headroom.value_or(0) < 0) return Tone::kBad;
  return missing ? Tone::kWarn : Tone::kPlain;
}

}  // namespace

std::vector<std::string> gaps_of(const Fleet& fleet) {
  std::vector<std::string> gaps;
  if (fleet.is_partial()) {
    const std::size_t quiet = fleet.hosts.size() - fleet.fresh();
    gaps.push_back(fmt::format(
        "Partial: {} of {} {} in no sum.", quiet, view::count_text(fleet.hosts.size(), "host"),
        quiet == 1 ? "does not tell now; it is" : "do not tell now; they are"));
  }
  if (const std::uint64_t untold = totals_of(fleet).untold; untold > 0) {
    gaps.push_back(fmt::format("Partial: {} in no sum: a process has {} open that is not recorded.",
                               view::count_text(untold, "device"), untold == 1 ? "it" : "them"));
  }
  return gaps;
}

std::string notes_text(const Fleet& fleet, const view::Style& style) {
  return lines("", gaps_of(fleet), Tone::kWarn, style) +
         lines("Note: ", fleet.problems, Tone::kWarn, style);
}

std::string death_text(const FirstDeath& death) {
  const std::string rank = death.rank.empty() ? "a process" : "rank " + printable(death.rank);
  const std::string host = death.host.empty() ? "" : " on " + printable(death.host);
  return fmt::format("first to die: {}{}, holding DRAM {}, L1 {}", rank, host,
                     bytes_text(death.dram), bytes_text(death.l1));
}

std::string jobs_text(const Fleet& fleet, const view::Style& style) {
  if (fleet.jobs.empty()) return "No process of these hosts names a job.\n";
  Table table({{"Job"},
               {"Name"},
               {"User"},
               {"Ranks", Align::kRight},
               {"Hosts", Align::kRight},
               {"DRAM", Align::kRight},
               {"L1", Align::kRight},
               {"DRAM per rank", Align::kRight},
               {"Died", Align::kRight},
               {"Least headroom"}});
  for (const JobRow& job : fleet.jobs) {
    const bool same = job.dram_least == job.dram_most;
    table.add(
        {printable(job.key), printable(job.name), printable(job.user), ranks(job),
         number(job.hosts), bytes_text(job.dram), bytes_text(job.l1),
         same ? bytes_text(job.dram_least)
              : fmt::format("{} to {}", bytes_text(job.dram_least), bytes_text(job.dram_most)),
         number(job.died), tightest(job)},
        tone_of(job));
  }
  std::string text = table.text(style, 2);
  for (const JobRow& job : fleet.jobs) {
    if (!job.first_death) continue;
    text += style.paint(Tone::kBad,
                        fmt::format("  {}: {}", printable(job.key), death_text(*job.first_death))) +
            "\n";
  }
  return text;
}

std::string fleet_text(const Fleet& fleet, std::size_t most, const view::Style& style) {
  if (fleet.hosts.empty()) {
    return "No host: Prometheus has no series of `ttmem serve` from the last hour.\n"
           "docs/how-to/prometheus.md says how it gets them.\n";
  }
  std::string text = summary(fleet, style) + notes_text(fleet, style);
  text += lines("Alert: ", fleet.alerts, Tone::kBad, style);
  text += "\n" + host_table(fleet, most, style);
  if (!fleet.jobs.empty()) text += "\nJobs\n" + jobs_text(fleet, style);
  return text;
}

std::string host_text(const std::string& host, const std::vector<DeviceRow>& devices,
                      const view::Style& style) {
  std::string text =
      style.paint(Tone::kStrong, fmt::format("{}: {}", printable(host),
                                             view::count_text(devices.size(), "device"))) +
      "\n";
  Table table({{"Device"},
               {"Board"},
               {"DRAM", Align::kRight},
               {"of", Align::kRight},
               {"", Align::kRight},
               {"L1", Align::kRight},
               {"of", Align::kRight},
               {"Headroom", Align::kRight},
               {"Processes", Align::kRight},
               {"°C", Align::kRight},
               {"W", Align::kRight},
               {"Unique id"}});
  for (const DeviceRow& device : devices) {
    table.add({printable(device.id), printable(device.board), bytes_text(device.dram),
               bytes_text(device.dram_capacity), share(device.dram, device.dram_capacity),
               bytes_text(device.l1), bytes_text(device.l1_capacity), headroom(device.headroom),
               number(device.processes), tenth(device.temperature), tenth(device.power),
               printable(device.unique_id)},
              device.headroom.value_or(0) < 0 ? Tone::kBad : Tone::kPlain);
  }
  return text + (table.empty() ? "" : table.text(style, 2));
}

std::string device_text(const std::string& host, const std::string& device,
                        const std::vector<FigureRow>& figures, const view::Style& style) {
  std::string text =
      style.paint(Tone::kStrong, fmt::format("{} device {}", printable(host), printable(device))) +
      "\n";
  Table table({{"Space"}, {"Figure"}, {"", Align::kRight}, {"Bytes", Align::kRight}});
  for (const FigureRow& row : figures) {
    table.add({printable(row.space), printable(row.figure), bytes_text(row.bytes),
               view::exact_text(row.bytes)});
  }
  return text + table.text(style, 2);
}

}  // namespace ttmem::fleet
