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

using ledger::CoreView;

std::string place(const ledger::Core& core) { return fmt::format("{},{}", core.x, core.y); }

std::string headroom_cell(const std::optional<std::int64_t>& headroom) {
  return headroom ? signed_exact_text(*headroom) : "-";
}

Tone tone(const CoreView& core) {
  return core.headroom && *core.headroom < 0 ? Tone::kBad : Tone::kPlain;
}

std::string process_cell(const ledger::Owner& owner) { return owner ? process_label(*owner) : ""; }

std::string clash_cell(const std::optional<ledger::Clash>& clash) {
  if (!clash) return "";
  return fmt::format(
      "{} and {} of {}",
      clash->program.empty() ? "the base of the program L1" : printable(clash->program),
      clash->buffer.empty() ? "the end of the L1" : printable(clash->buffer),
      process_cell(clash->process));
}

std::vector<std::string> row(const CoreView& core) {
  return {place(core.core),
          std::string(name(core.role)),
          exact_text(core.fixed),
          exact_text(core.ring),
          exact_text(core.program_l1),
          exact_text(core.gaps),
          core.l1_bytes ? exact_text(core.free) : "?",
          exact_text(core.buffers),
          exact_text(core.l1_small),
          exact_text(core.l1_bytes),
          headroom_cell(core.headroom),
          exact_text(core.kernel_footprint),
          clash_cell(core.clash)};
}

Tone tone(const ledger::CoreStretch& stretch) {
  const bool used = stretch.kind == ledger::Stretch::kProgramL1 ||
                    stretch.kind == ledger::Stretch::kBuffer ||
                    stretch.kind == ledger::Stretch::kL1Small;
  return used ? Tone::kPlain : Tone::kFaint;
}

// Of a core that has its own: ethernet and dispatch cores.
std::string kernels_text(const CoreView& core, const Style& style) {
  if (core.kernels.empty()) return "";
  Table table({{"Kernel"}, {"Type"}, {"RISC"}, {"Bytes", Align::kRight}, {"Program"}, {"Owner"}});
  for (const ledger::CoreKernel& kernel : core.kernels) {
    table.add({kernel.name.empty() ? "-" : printable(kernel.name), std::string(name(kernel.type)),
               std::string(ledger::processor_name(kernel.processor)), exact_text(kernel.bytes),
               printable(kernel.program), process_cell(kernel.owner)});
  }
  return style.paint(Tone::kStrong, "  Kernels") + "\n" + table.text(style, 2);
}

}  // namespace

std::string cores_text(const DeviceCores& device, const Style& style) {
  constexpr Align kRight = Align::kRight;
  const bool any_clash = std::ranges::any_of(
      device.cores, [](const CoreView& core) { return core.clash.has_value(); });
  Table table({{"Core"},
               {"Role"},
               {"Fixed", kRight},
               {"Ring", kRight},
               {"Program L1", kRight},
               {"Gaps", kRight},
               {"Free", kRight},
               {"Buffers", kRight},
               {"L1_SMALL", kRight},
               {"= L1", kRight},
               {"Headroom", kRight},
               {"Kernels", kRight},
               {any_clash ? "Clash" : ""}});
  for (const CoreView& core : device.cores) table.add(row(core), tone(core));
  return style.paint(Tone::kStrong, fmt::format("Device {}, bytes per core", device.id)) + "\n" +
         (table.empty() ? "  no living process has it open and reports its cores\n"
                        : table.text(style, 2));
}

std::string core_map_text(std::uint32_t device_id, const CoreView& core, const Style& style) {
  Table table({{"From", Align::kRight},
               {"To", Align::kRight},
               {"Bytes", Align::kRight},
               {"What"},
               {"Name"},
               {"Owner"}});
  for (const ledger::CoreStretch& stretch : core.map) {
    table.add(
        {hex_text(stretch.begin), hex_text(stretch.end), exact_text(stretch.end - stretch.begin),
         std::string(name(stretch.kind)), printable(stretch.name), process_cell(stretch.owner)},
        tone(stretch));
  }
  std::string title =
      fmt::format("Device {}, core {} ({}), {} bytes of L1, bottom to top", device_id,
                  place(core.core), name(core.role), exact_text(core.l1_bytes));
  std::string text = style.paint(Tone::kStrong, title) + "\n" + table.text(style, 2);
  text += kernels_text(core, style);
  if (!core.headroom) return text;
  std::string line = fmt::format("  Headroom {} bytes", signed_exact_text(*core.headroom));
  if (core.clash) line += ", a clash: " + clash_cell(core.clash);
  return text + style.paint(tone(core), line + "\n");
}

}  // namespace ttmem::view
