// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include <fmt/format.h>

#include "view/labels.hpp"
#include "view/printable.hpp"
#include "view/status_sections.hpp"
#include "view/table.hpp"
#include "view/text.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

using ledger::ProgramView;

constexpr std::size_t kProgramNameWidth = 32;

std::string rate_cell(const ProgramView& program) {
  if (!program.dispatches) return "?";
  const double rate = program.dispatches_per_second;
  return rate > 0 ? fmt::format("{:.1f}/s", rate) : "-";
}

// "-": none in the last seconds; "?": nobody watched.
std::string recent_cell(const ProgramView& program) {
  if (!program.recent_per_second) return "?";
  return *program.recent_per_second > 0 ? fmt::format("{:.1f}/s", *program.recent_per_second) : "-";
}

std::vector<std::string> row(const ProgramView& program, ledger::TimeNs now) {
  const RingBytes ring = known_ring_bytes(program);
  return {program.process->label(),
          id_list(program.devices),
          told_id_text(program.id),
          std::string(name(program.type)),
          program.name.empty() ? "-" : cut(printable(program.name), kProgramNameWidth),
          program.loaded ? "loaded" : "registered",
          std::to_string(program.kernels),
          exact_text(known_cores(program)),
          bytes_text(program.footprint),
          bytes_text(known_l1_per_core(program)),
          bytes_text(program.l1_allocated),
          bytes_text(*std::ranges::max_element(ring)),
          exact_text(program.dispatches),
          exact_text(program.cache_hits),
          exact_text(program.reloads),
          exact_text(program.replays),
          rate_cell(program),
          recent_cell(program),
          launch_age_text(program.dispatches, program.last_dispatch, now)};
}

}  // namespace

std::string programs_text(const std::vector<ProgramView>& programs, ledger::TimeNs now,
                          const Style& style) {
  constexpr Align kRight = Align::kRight;
  Table table({{"PID", kRight},
               {"Device"},
               {"ID", kRight},
               {"Type"},
               {"Name"},
               {"State"},
               {"Kernels", kRight},
               {"Cores", kRight},
               {"Footprint", kRight},
               {"L1 per core", kRight},
               {"L1 allocated", kRight},
               {"Ring", kRight},
               {"Dispatches", kRight},
               {"Hits", kRight},
               {"Reloads", kRight},
               {"Replays", kRight},
               {"Rate", kRight},
               {"Now", kRight},
               {"Last", kRight}});
  for (const ProgramView& program : programs) {
    table.add(row(program, now), program.loaded ? Tone::kPlain : Tone::kFaint);
  }
  if (table.empty()) return "";
  return style.paint(Tone::kStrong, "Programs") + "\n" + table.text(style, 2);
}

}  // namespace ttmem::view
