// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>

#include <fmt/format.h>

#include "view/labels.hpp"
#include "view/printable.hpp"
#include "view/status_sections.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

using ledger::DeviceFigures;
using ledger::KernelType;
using ledger::Space;

constexpr std::size_t kTitleWidth = 77;
constexpr double kNearlyFull = 0.9;

// "  DRAM          1.2 GiB taken of 12.0 GiB   ..."
std::string top_line(std::string_view label, std::string_view amount, std::string_view rest) {
  return fmt::format("  {}{} {}\n", pad_right(label, 10), pad_left(amount, 10), rest);
}

// "    Buffers       12.1 MiB  taken      ..."
std::string sub_line(std::string_view label, std::string_view amount, std::string_view word,
                     std::string_view note) {
  return fmt::format("    {}{}  {}{}\n", pad_right(label, 12), pad_left(amount, 11),
                     pad_right(word, 11), note);
}

std::string continuation(std::string_view note) {
  return std::string(40, ' ') + std::string(note) + "\n";
}

Tone fullness(const ledger::Figure& used, const ledger::Figure& capacity) {
  const bool nearly = used && capacity &&
                      static_cast<double>(*used) >= kNearlyFull * static_cast<double>(*capacity) &&
                      *capacity > 0;
  return nearly ? Tone::kWarn : Tone::kPlain;
}

bool exists(const ledger::SpaceFigures& space) {
  return space.capacity.value_or(0) > 0 || space.taken.value_or(0) > 0 ||
         space.requested.value_or(0) > 0;
}

// What TT-Metal publishes itself has sums and no counts.
std::string counted(const ledger::Figure& count, std::string_view noun) {
  return count ? count_text(*count, noun) : fmt::format("? {}s", noun);
}

std::string peak_note(const ledger::Figure& peak, const ledger::Figure& now) {
  return peak && now && *peak > *now ? ", peak " + bytes_text(peak) : "";
}
std::string peak_note(const ledger::SpaceFigures& space) {
  return peak_note(space.peak, space.taken);
}

std::string title_line(const ledger::DeviceView& device, const Trust& trust, const Style& style) {
  std::string title = fmt::format("Device {}  {}", device.id, name(device.arch));
  if (!device.board.empty()) title += "  " + printable(device.board);
  if (device.grid_x > 0) title += fmt::format("  {}x{} cores", device.grid_x, device.grid_y);
  if (device.mock) title += "  mock";
  return style.paint(Tone::kStrong, pad_right(title, kTitleWidth)) + " " +
         style.paint(trust.tone, trust.text) + "\n";
}

// What a process has told, else what the board has by its data sheet.
std::string capacity_text(const ledger::Figure& told, const ledger::Figure& nominal) {
  return told || !nominal ? bytes_text(told) : bytes_text(nominal) + " (nominal)";
}

std::string dram_line(const ledger::DeviceView& device, const Style& style) {
  const ledger::SpaceFigures& dram = device.figures.space(Space::kDram);
  const auto nominal = device.nominal();
  const Amount held = amount(dram);
  std::string rest =
      fmt::format("{} of {}", held.word,
                  capacity_text(dram.capacity,
                                nominal ? ledger::Figure(nominal->dram_bytes) : ledger::Figure()));
  rest += fmt::format("   requested {} in {}", bytes_text(dram.requested),
                      counted(dram.count, "buffer"));
  if (dram.largest_free) {
    rest += fmt::format(", largest free block {} per bank", bytes_text(dram.largest_free));
  }
  return style.paint(fullness(held.bytes, dram.capacity),
                     top_line("DRAM", bytes_text(held.bytes), rest + peak_note(dram)));
}

std::string trace_line(const ledger::SpaceFigures& trace) {
  if (!exists(trace)) return "";
  const Amount held = amount(trace);
  return top_line("Trace", bytes_text(held.bytes),
                  fmt::format("{} of {}   {}{}", held.word, bytes_text(trace.capacity),
                              counted(trace.count, "buffer"), peak_note(trace)));
}

std::string space_sub_line(std::string_view label, const ledger::SpaceFigures& space) {
  const Amount held = amount(space);
  std::string note = counted(space.count, "buffer");
  note += ", requested " + bytes_text(space.requested);
  if (space.largest_free) {
    note += fmt::format(", largest free block {} per core", bytes_text(space.largest_free));
  }
  return sub_line(label, bytes_text(held.bytes), held.word, note + peak_note(space));
}

std::string program_l1_line(const ledger::ProgramL1Figures& program_l1) {
  // Nobody has told of a launch: what is registered is known, what of it is there is not.
  if (!program_l1.resident && program_l1.allocated) {
    return sub_line(
        "Program L1", bytes_text(program_l1.allocated), "registered",
        fmt::format("in {}; what is resident is not known", counted(program_l1.count, "program")));
  }
  return sub_line(
      "Program L1", bytes_text(program_l1.resident), "resident",
      fmt::format("reserved {}; allocated {} in {}", bytes_text(program_l1.reserved),
                  bytes_text(program_l1.allocated), counted(program_l1.count, "program")) +
          peak_note(program_l1.peak, program_l1.resident));
}

std::string l1_lines(const ledger::DeviceView& device, const Style& style) {
  const DeviceFigures& figures = device.figures;
  const auto nominal = device.nominal();
  const std::string capacity = capacity_text(
      figures.l1_capacity, nominal ? ledger::Figure(nominal->l1_bytes()) : ledger::Figure());
  std::string text = style.paint(
      fullness(figures.l1_used(), figures.l1_capacity),
      top_line("L1", bytes_text(figures.l1_used()), fmt::format("used of {}", capacity)));
  text += space_sub_line("Buffers", figures.space(Space::kL1));
  const ledger::SpaceFigures& small = figures.space(Space::kL1Small);
  if (exists(small)) text += space_sub_line("L1_SMALL", small);
  return text + program_l1_line(figures.program_l1);
}

// What a program could get, and what the largest one would cost the others.
std::string ring_room_line(const ledger::RingFigures& ring) {
  std::string note = fmt::format(
      "{} without a live program; one of {} could come next and evict none",
      bytes_text(std::uint64_t{ring.free}), bytes_text(std::uint64_t{ring.largest_free}));
  if (ring.would_evict > 0) {
    note += fmt::format(", the largest would evict {}", ring.would_evict);
  }
  return std::string(19, ' ') + note + "\n";
}

std::string ring_line(const std::vector<ledger::RingFigures>& rings, const Style& style) {
  const ledger::RingFigures* ring = ledger::fullest_worker_ring(rings);
  if (ring == nullptr) return "    Ring           not known\n";
  const bool too_small = ring->headroom() < 0;
  std::string note = fmt::format("{} of {} per core ({})", percent_text(ring->used, ring->capacity),
                                 bytes_text(std::uint64_t{ring->capacity}),
                                 ring->observed ? "observed" : "simulated");
  if (ring->largest_program > 0) {
    note += fmt::format(", largest program {}", bytes_text(std::uint64_t{ring->largest_program}));
  }
  if (too_small) note += ", which does not fit";
  if (ring->evictions > 0) note += ", " + count_text(ring->evictions, "eviction");
  if (ring->reloads > 0) note += ", " + count_text(ring->reloads, "reload");
  return "    " + pad_right("Ring", 15) + style.paint(too_small ? Tone::kBad : Tone::kPlain, note) +
         "\n" + ring_room_line(*ring);
}

std::string footprint_note(const ledger::KernelFigures& kernels, KernelType type) {
  const auto& figures = kernels.of(type);
  return fmt::format("{} {} ({})", title(type), bytes_text(figures.footprint),
                     exact_text(figures.count));
}

std::string launch_note(const ledger::KernelFigures& kernels) {
  if (!kernels.dispatches) return "";
  std::string note = fmt::format("   dispatches {}, cache hits {}", exact_text(kernels.dispatches),
                                 exact_text(kernels.cache_hits));
  if (kernels.reloads.value_or(0) > 0) note += ", reloads " + exact_text(kernels.reloads);
  return note;
}

// What is elsewhere: binaries in DRAM, and programs that count no byte yet.
std::string elsewhere_line(const ledger::KernelFigures& kernels) {
  std::string note;
  if (kernels.in_dram.value_or(0) > 0) note = "in DRAM " + bytes_text(kernels.in_dram);
  if (const auto registered = kernels.registered.value_or(0); registered > 0) {
    note += (note.empty() ? "" : "; ") + count_text(registered, "program") + " registered";
  }
  return note.empty() ? "" : continuation(note);
}

std::string estimate_line(const ledger::KernelFigures& kernels) {
  const ledger::KernelTypeFigures& guess = kernels.estimated;
  if (guess.count.value_or(0) == 0) return "";
  return continuation(fmt::format("Estimated {} ({}), in no total", bytes_text(guess.footprint),
                                  exact_text(guess.count)));
}

// Where there is more than one type of core, the footprint of each.
std::string core_type_line(const ledger::KernelFigures& kernels) {
  std::string note;
  std::size_t types = 0;
  for (std::size_t i = 0; i < ledger::kCoreTypes; ++i) {
    if (kernels.by_core_type[i].value_or(0) == 0) continue;
    ++types;
    note +=
        fmt::format("{}{} {}", note.empty() ? "on cores: " : ", ",
                    name(static_cast<ledger::CoreType>(i)), bytes_text(kernels.by_core_type[i]));
  }
  return types < 2 ? "" : continuation(note);
}

// How much of the code is the same again, and whose it is.
std::string shared_code_line(const ledger::KernelFigures& kernels) {
  const std::uint64_t code = kernels.code_bytes.value_or(0);
  const std::uint64_t unique = kernels.unique_bytes.value_or(0);
  if (kernels.shared_code.empty() || code <= unique) return "";
  std::string note =
      fmt::format("code {}, {} of it the same again:", bytes_text(code), bytes_text(code - unique));
  for (std::size_t i = 0; i < std::min<std::size_t>(kernels.shared_code.size(), 2); ++i) {
    const ledger::SharedCode& shared = kernels.shared_code[i];
    note +=
        fmt::format("{} {} in {} kernels", i == 0 ? "" : ",",
                    shared.name.empty() ? "?" : cut(printable(shared.name), 28), shared.kernels);
  }
  return continuation(note);
}

std::string kernel_lines(const ledger::KernelFigures& kernels) {
  std::string system = fmt::format("System {}: {}, {}", bytes_text(kernels.system().footprint),
                                   footprint_note(kernels, KernelType::kFabric),
                                   footprint_note(kernels, KernelType::kDispatch));
  if (kernels.stand_in) system += "   sizes of a stand-in compiler";
  const std::string application = footprint_note(kernels, KernelType::kApplication);
  return sub_line("Kernels", bytes_text(kernels.total().footprint), "footprint", system) +
         continuation(application + launch_note(kernels)) + estimate_line(kernels) +
         core_type_line(kernels) + shared_code_line(kernels) + elsewhere_line(kernels);
}

Tone headroom_tone(const ledger::Headroom& headroom) {
  if (*headroom.min < 0) return Tone::kBad;
  return headroom.min_reserved.value_or(0) < 0 ? Tone::kWarn : Tone::kPlain;
}

// Where it is, what whatever is launched next would leave, and how to see who clashes.
std::string headroom_note(std::uint32_t device_id, const ledger::Headroom& headroom) {
  if (!headroom.core) return "";
  const std::string place = fmt::format("{},{}", headroom.core->x, headroom.core->y);
  std::string note = "at core " + place;
  const std::int64_t least = std::min(*headroom.min, headroom.min_reserved.value_or(*headroom.min));
  if (signed_bytes_text(least) != signed_bytes_text(*headroom.min)) {
    note += fmt::format(", {} against any live program", signed_bytes_text(least));
  }
  if (*headroom.min >= 0) return note;
  return note + fmt::format("   ttmem status --device {} --core {} says who", device_id, place);
}

std::string headroom_line(std::uint32_t device_id, const DeviceFigures& figures,
                          const Style& style) {
  const ledger::Headroom& headroom = figures.headroom;
  if (!headroom.min) {
    const ledger::ProgramL1Figures& programs = figures.program_l1;
    const bool holds = amount(figures.space(Space::kL1)).bytes.value_or(0) > 0 ||
                       programs.allocated.value_or(programs.reserved.value_or(0)) > 0;
    return top_line("Headroom", "?",
                    holds ? "nobody told the addresses" : "no program and no buffer to measure");
  }
  return style.paint(headroom_tone(headroom), top_line(*headroom.min < 0 ? "Clash" : "Headroom",
                                                       signed_bytes_text(*headroom.min),
                                                       headroom_note(device_id, headroom)));
}

// A chip whose processes have all gone: a tree of zeros would only hide the others.
bool is_idle(const ledger::DeviceView& device) {
  const bool holds = std::any_of(device.figures.spaces.begin(), device.figures.spaces.end(),
                                 [](const auto& space) { return space.count.value_or(0) > 0; });
  return device.processes == 0 && !holds && device.figures.l1_used().value_or(0) == 0;
}

}  // namespace

std::string device_tree(const ledger::DeviceView& device, const Trust& trust, const Style& style) {
  const DeviceFigures& figures = device.figures;
  if (is_idle(device)) {
    const auto nominal = device.nominal();
    return title_line(device, trust, style) + "  Nothing is held" +
           (nominal ? fmt::format(" of DRAM {}, L1 {} (nominal)", bytes_text(nominal->dram_bytes),
                                  bytes_text(nominal->l1_bytes()))
                    : "") +
           ".\n";
  }
  return title_line(device, trust, style) + dram_line(device, style) +
         trace_line(figures.space(Space::kTrace)) + l1_lines(device, style) +
         "  Beside it, in fixed parts of L1\n" + ring_line(figures.rings, style) +
         kernel_lines(figures.kernels) + headroom_line(device.id, figures, style);
}

}  // namespace ttmem::view
