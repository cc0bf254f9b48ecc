// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/live_text.hpp"

#include <fmt/format.h>

#include "view/labels.hpp"
#include "view/printable.hpp"
#include "view/table.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

using explain::LiveFindings;
using explain::SpaceNow;

std::string growth_text(const SpaceNow& space) {
  if (!space.growth) return "?";
  if (space.growth->held_per_second <= 0) return "no";
  return bytes_text(static_cast<std::uint64_t>(space.growth->held_per_second)) + "/s";
}

std::string spaces_text(const LiveFindings& findings, const Style& style) {
  Table table({{"Space"},
               {"Bank B", Align::kRight},
               {"Held B", Align::kRight},
               {"Free B", Align::kRight},
               {"Largest hole B", Align::kRight},
               {"Holes", Align::kRight},
               {"Scattered", Align::kRight},
               {"Grows", Align::kRight},
               {"Full in", Align::kRight}});
  for (const SpaceNow& space : findings.spaces) {
    const bool known = space.sum.held.has_value();
    table.add({std::string(title(space.space)), exact_text(space.sum.bank),
               exact_text(space.sum.held), exact_text(space.sum.holes),
               exact_text(space.sum.largest_hole), known ? std::to_string(space.holes) : "?",
               space.scattered ? fmt::format("{:.0f} %", *space.scattered * 100) : "-",
               growth_text(space),
               space.full_after ? duration_text_of_seconds(*space.full_after) : "-"});
  }
  return style.paint(Tone::kStrong, "How full, in each bank") + "\n" + table.text(style, 2);
}

std::string next_text(const LiveFindings& findings, const Style& style) {
  if (!findings.next) return "";
  const explain::NextClash& next = *findings.next;
  std::string text = fmt::format(
      "The largest program in the cache is {}{}{}: its L1 ends at {}, the lowest buffer lies at "
      "{}: "
      "{} B of headroom.",
      printable(next.program.empty() ? "?" : next.program),
      next.line.empty() ? "" : " of " + printable(next.line),
      next.cores.empty() ? "" : " on cores " + printable(next.cores), exact_text(next.region_end),
      exact_text(next.lowest_buffer), signed_exact_text(next.headroom));
  if (next.clash_after) {
    text += fmt::format(" The lowest buffer falls: it clashes in {}, if it goes on so.",
                        duration_text_of_seconds(*next.clash_after));
  }
  return style.paint(Tone::kStrong, "What would fail next") + "\n" + wrapped(text, "  ", "  ");
}

std::string holders_text(const LiveFindings& findings, ledger::TimeNs now, const Style& style) {
  std::string text;
  for (const SpaceNow& space : findings.spaces) {
    if (space.holders.empty()) continue;
    if (!text.empty()) text += "\n";
    text += style.paint(Tone::kStrong, fmt::format("Who holds {}", title(space.space))) + "\n" +
            holders_table(space.holders, space.holders_left_out, now, style);
  }
  return text;
}

std::string moves_text(const ExplainedProcess& process, const Style& style) {
  if (process.findings.moves.empty()) return "";
  return style.paint(Tone::kStrong, "What to move") + "\n" +
         cures_text(process.findings.moves, process.sources);
}

std::string process_text(const ExplainedProcess& process, std::uint32_t device, ledger::TimeNs now,
                         const Style& style) {
  const LiveFindings& findings = process.findings;
  const bool bad = findings.next && findings.next->headroom < 0;
  std::string text = fmt::format("Device {} as {} ({}) has it now\n", device,
                                 printable(process.process->name), process.process->label());
  text +=
      style.paint(bad ? Tone::kBad : Tone::kPlain, wrapped(printable(findings.headline), "", "  "));
  for (const std::string& part : {spaces_text(findings, style), next_text(findings, style),
                                  holders_text(findings, now, style), moves_text(process, style),
                                  unknown_text(findings.unknown, style)}) {
    if (!part.empty()) text += "\n" + part;
  }
  return text;
}

}  // namespace

std::string live_text(const ExplainedDevice& device, ledger::TimeNs now, const Style& style) {
  if (device.processes.empty()) {
    return fmt::format(
        "No process that is recorded has device {} open: `ttmem run PROGRAM` records one.\n",
        device.device);
  }
  std::string text;
  for (const ExplainedProcess& process : device.processes) {
    if (!text.empty()) text += "\n";
    text += process_text(process, device.device, now, style);
  }
  return text;
}

}  // namespace ttmem::view
