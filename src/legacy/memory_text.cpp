// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/memory_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "legacy/units.hpp"
#include "view/labels.hpp"
#include "view/printable.hpp"

namespace ttmem::legacy {
namespace {

using ledger::Figure;
using ledger::KernelType;
using ledger::Space;
using view::pad_left;
using view::pad_right;
using view::title;

constexpr std::size_t kBarCells = 25;
constexpr std::size_t kTypeColumn = 20;
constexpr std::size_t kCountColumn = 28;

std::uint64_t bytes_of(const ledger::SpaceFigures& space) {
  return view::amount(space).bytes.value_or(0);
}

double percent(std::uint64_t part, const Figure& whole) {
  return whole && *whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(*whole) : 0;
}

// Without a launch that anybody told of, what circular buffers were registered with is all there
// is.
std::uint64_t circular_buffers(const ledger::ProgramL1Figures& program_l1) {
  return program_l1.resident.value_or(
      program_l1.allocated.value_or(program_l1.reserved.value_or(0)));
}

Figure kernels_of(const ledger::DeviceFigures& figures) {
  return figures.kernels.total().footprint;
}

std::string type_line(const ledger::KernelFigures& kernels, KernelType type) {
  const auto& figures = kernels.of(type);
  std::string line = pad_right(fmt::format("      - {}: ", title(type)), kTypeColumn);
  line = pad_right(line + spaced(figures.footprint.value_or(0)) + " ", kCountColumn);
  return fmt::format("{}({} kernels)\n", line, figures.count.value_or(0));
}

std::string usage_line(std::string_view label, std::uint64_t used, const Figure& total,
                       bool nominal) {
  const std::string text = pad_right(label, 14) + pad_right(compact(used), 10) + " / ";
  if (!total) return text + "N/A\n";
  return text + pad_right(compact(*total), 10) + "  " + share_bar(percent(used, total)) +
         (nominal ? " (nominal)" : "") + "\n";
}

// Lines of nothing are left out, as there.
std::string part_line(std::string_view label, std::uint64_t bytes, std::string_view note = "") {
  if (bytes == 0) return "";
  return pad_right(label, 14) + pad_left(compact(bytes), 12) + std::string(note) + "\n";
}

std::string estimated_line(const ledger::KernelFigures& kernels) {
  if (kernels.estimated.footprint.value_or(0) == 0) return "";
  return fmt::format("    Kernels (est): {} ({} kernels, not in L1 Memory)\n",
                     compact(kernels.estimated.footprint.value_or(0)),
                     kernels.estimated.count.value_or(0));
}

std::string kernel_part(const ledger::KernelFigures& kernels, std::uint64_t whole) {
  const std::uint64_t bytes = kernels.total().footprint.value_or(0);
  std::string text =
      part_line("    Kernels:", bytes, bytes > whole ? "  (size x cores, not in L1 Memory)" : "");
  if (!text.empty()) text += kernel_split(kernels);
  return text + estimated_line(kernels);
}

}  // namespace

double Usage::dram_percent() const { return percent(dram, dram_total); }
double Usage::l1_percent() const { return percent(l1, l1_total); }

Usage usage_of(const ledger::DeviceView& device) {
  const ledger::DeviceFigures& figures = device.figures;
  Usage usage;
  usage.l1_small = bytes_of(figures.space(Space::kL1Small));
  usage.trace = bytes_of(figures.space(Space::kTrace));
  usage.dram = bytes_of(figures.space(Space::kDram)) + usage.trace;
  usage.dram_total = figures.space(Space::kDram).capacity;
  usage.cbs = circular_buffers(figures.program_l1);
  usage.l1 =
      figures.l1_used().value_or(bytes_of(figures.space(Space::kL1)) + usage.l1_small + usage.cbs);
  usage.l1_total = figures.l1_capacity;
  if (const auto nominal = device.nominal()) {
    usage.dram_total = nominal->dram_bytes;
    usage.l1_total = nominal->l1_bytes();
    usage.nominal = true;
  }
  return usage;
}

std::string share(std::uint64_t part, const Figure& whole) {
  return whole && *whole > 0 ? fmt::format("{:.1f}%", percent(part, whole)) : "N/A";
}

L1Sum l1_sum_of(const ledger::DeviceFigures& figures) {
  const ledger::ProgramL1Figures& cbs = figures.program_l1;
  return {figures.space(Space::kL1).requested,
          cbs.allocated ? cbs.allocated : cbs.reserved,
          kernels_of(figures),
          figures.kernels.estimated.footprint.value_or(0),
          cbs.resident && cbs.allocated > cbs.resident,
          figures.l1_capacity};
}

std::string kernel_split(const ledger::KernelFigures& kernels) {
  return type_line(kernels, KernelType::kFabric) + type_line(kernels, KernelType::kDispatch) +
         type_line(kernels, KernelType::kApplication);
}

std::string l1_block(const L1Sum& sum) {
  std::string kernels = compact(sum.kernels);
  if (sum.estimated > 0) kernels = compact(sum.kernels.value_or(0) + sum.estimated) + " (est)";
  const bool beyond = sum.capacity && sum.total() > *sum.capacity;
  const std::string_view label = beyond            ? " (an upper bound, more than the L1)"
                                 : !sum.is_known() ? " (without what is not known)"
                                                   : "";
  return fmt::format("  L1 (Allocator):  {}\n", compact(sum.buffers)) +
         fmt::format("  L1 (CBs):        {}{}\n", compact(sum.cbs),
                     sum.all_programs ? " (all programs)" : "") +
         fmt::format("  L1 (Kernels):    {}\n", kernels) + "  ───────────────────────────────\n" +
         fmt::format("  L1 Total:        {}{}\n", compact(sum.total()), label);
}

std::string share_bar(double percent) {
  const auto filled = static_cast<std::size_t>(std::clamp(percent, 0.0, 100.0) / 100.0 * kBarCells);
  std::string bar = "[";
  for (std::size_t i = 0; i < kBarCells; ++i) bar += i < filled ? "█" : "░";
  return fmt::format("{}] {:.1f}%", bar, percent);
}

std::string breakdown(const ledger::DeviceView& device) {
  const ledger::DeviceFigures& figures = device.figures;
  const Usage usage = usage_of(device);
  const std::uint64_t registered = figures.program_l1.allocated.value_or(usage.cbs);
  std::string text = fmt::format("Device {} ({}):\n", device.id, title(device.arch));
  text += std::string(70, '-') + "\n";
  text += usage_line("  DRAM:", usage.dram, usage.dram_total, usage.nominal);
  text += usage_line("  L1 Memory:", usage.l1, usage.l1_total, usage.nominal);
  text += part_line("    Buffers:", bytes_of(figures.space(Space::kL1)));
  text += part_line("    CBs:", usage.cbs);
  if (registered != usage.cbs) {
    text += fmt::format("    CBs (all programs): {}\n", compact(registered));
  }
  text += kernel_part(figures.kernels, usage.l1);
  text += part_line("    L1_SMALL:", bytes_of(figures.space(Space::kL1Small)));
  text += part_line("    TRACE:", bytes_of(figures.space(Space::kTrace)));
  return text + "\n" + l1_block(l1_sum_of(figures)) + "\n";
}

std::string l1_summary(const ledger::DeviceView& device) {
  const Figure kernels = kernels_of(device.figures);
  return fmt::format("  Kernels:          {}\n", compact(kernels)) +
         (kernels ? kernel_split(device.figures.kernels) : "") +
         estimated_line(device.figures.kernels) + l1_block(l1_sum_of(device.figures));
}

}  // namespace ttmem::legacy
