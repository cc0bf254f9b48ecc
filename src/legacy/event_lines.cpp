// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <string>

#include <fmt/format.h>

#include "legacy/client_segment.hpp"
#include "legacy/reports.hpp"
#include "legacy/units.hpp"
#include "view/labels.hpp"
#include "view/units.hpp"

namespace ttmem::legacy {
namespace {

using ledger::EventDevice;
using ledger::EventKind;
using ledger::EventView;
using view::hex_text;
using view::title;

// The original named buffers by their address.
std::string buffer_name(const EventView& event) {
  return hex_text(event.address != 0 ? event.address : event.id);
}

std::string allocated(const EventView& event, const EventDevice& device) {
  return fmt::format("✓ [PID {}] Allocated {} bytes of {} on device {} (buffer_id={})\n",
                     event.process->pid, event.requested, title(event.space), device.id,
                     buffer_name(event));
}

std::string freed(const EventView& event, const EventDevice& device) {
  return fmt::format("✗ [PID {}] Freed buffer {} on device {} ({} bytes, FINAL)\n",
                     event.process->pid, buffer_name(event), device.id, event.requested);
}

std::string unknown_free(const EventView& event) {
  const std::uint32_t device = event.devices.empty() ? 0 : event.devices.front().id;
  return fmt::format(
      "⚠ [PID {}] Deallocation for unknown buffer {} on device {} "
      "(allocated before tracking started)\n",
      event.process->pid, hex_text(event.unknown_id), device);
}

// ---- programs -------------------------------------------------------------------------------

std::string cb_line(const EventView& event, const EventDevice& device) {
  if (event.l1_after == event.l1_before) return "";
  const bool grew = event.l1_after > event.l1_before;
  const std::uint64_t change =
      grew ? event.l1_after - event.l1_before : event.l1_before - event.l1_after;
  return fmt::format("{} Device {}: {}{} MB (Total: {} MB)\n",
                     grew ? "✓ [CB_ALLOC]" : "✗ [CB_FREE]", device.id, grew ? "+" : "-",
                     megabytes(change), megabytes(device.program_l1_allocated));
}

// "Total" is what the original had counted: guesses too.
std::string changed_kernel_line(const EventView& event, const EventDevice& device, bool loaded,
                                std::uint64_t bytes) {
  return fmt::format("{} {} kernel{} on Device {}: {}{} MB (Total: {} MB)\n",
                     loaded ? "✓ [KERNEL_LOAD]" : "✗ [KERNEL_UNLOAD]", title(event.type),
                     event.estimated ? " (est)" : "", device.id, loaded ? "+" : "-",
                     megabytes(bytes),
                     megabytes(ledger::add(device.kernels_footprint, device.kernels_estimated)));
}

// A guess counts from its registration on, everything else from its first launch.
std::string kernel_line(const EventView& event, const EventDevice& device) {
  const std::uint64_t before = event.estimated_before, after = event.estimated_after;
  if (event.estimated) {
    if (before == after) return "";
    const bool grew = after > before;
    return changed_kernel_line(event, device, grew, grew ? after - before : before - after);
  }
  if (event.loaded_after == event.loaded_before || event.kernels.empty()) return "";
  return changed_kernel_line(event, device, event.loaded_after, event.footprint);
}

// As the client gave it, also where the program has an id of ours.
std::string kernel_id(const EventView& event) {
  const std::uint64_t id = told_kernel_id(event.id, event.kernels.front().name);
  return id == 0 && event.id != 0 ? "?" : hex_text(id);
}

// Of the whole program: all its binaries, and each core that has one of them once. Whoever told the
// total alone knows neither.
std::string backtrace_line(const EventView& event, const EventDevice& device) {
  std::uint64_t binary_bytes = 0;
  for (const ledger::EventKernel& kernel : event.kernels) binary_bytes += kernel.packed_bytes;
  const bool known = event.cores.has_value();
  return fmt::format(
      "🔍 KERNEL_LOAD Backtrace (Device {}, Type: {}, Binary Size: {}, Cores: {}, "
      "Total L1: {} KB, ID: {})\n",
      device.id, title(event.type), known ? kilobytes(binary_bytes) + " KB" : "?",
      known ? std::to_string(*event.cores) : "?", kilobytes(event.footprint), kernel_id(event));
}

std::string program_lines(const EventView& event, const EventDevice& device, bool detail) {
  const bool loads = event.loaded_after && !event.loaded_before && !event.kernels.empty();
  return (detail && loads ? backtrace_line(event, device) : "") + kernel_line(event, device) +
         cb_line(event, device);
}

// ---- the end of a process --------------------------------------------------------------------

struct Left {
  std::uint64_t count = 0, bytes = 0;
  void add(const ledger::Figure& more, const ledger::Figure& more_bytes) {
    count += more.value_or(0);
    bytes += more_bytes.value_or(0);
  }
};

std::string removed(std::string_view what, const Left& left, std::int32_t pid) {
  return fmt::format("   ✓ Removed {} {} ({} MB) from PID {}\n", left.count, what,
                     megabytes(left.bytes), pid);
}

std::string removed_lines(const ledger::ProcessView& process) {
  Left buffers, cbs, kernels;
  for (const ledger::ProcessDeviceView& device : process.devices) {
    for (const ledger::SpaceFigures& space : device.figures.spaces) {
      buffers.add(space.count, space.requested);
    }
    cbs.add(device.figures.program_l1.count, device.figures.program_l1.allocated);
    const ledger::KernelTypeFigures total = device.figures.kernels.total();
    kernels.add(total.count, total.footprint);
    kernels.add(device.figures.kernels.estimated.count, device.figures.kernels.estimated.footprint);
  }
  std::string lines = removed("buffers", buffers, process.pid);
  if (cbs.count > 0) lines += removed("CBs", cbs, process.pid);
  if (kernels.count > 0) lines += removed("kernels", kernels, process.pid);
  return lines;
}

std::string death_lines(const EventView& event, const ledger::ProcessView* process) {
  if (event.ended != ledger::Ended::kDied) return "";
  return "\n⚠️  Detected dead processes, cleaning up orphaned buffers...\n" +
         fmt::format("   PID {} is dead, removing its buffers...\n", event.process->pid) +
         (process != nullptr ? removed_lines(*process) : "") + "\n";
}

std::string gap_line(const EventView& event) {
  return fmt::format("⚠️  {} events of PID {} were overwritten before they were read\n",
                     event.missed, event.process->pid);
}

std::string device_lines(const EventView& event, const EventDevice& device, bool detail) {
  switch (event.kind) {
    case EventKind::kBufferAllocated:
      return allocated(event, device);
    case EventKind::kBufferFreed:
      return freed(event, device);
    case EventKind::kProgramRegistered:
    case EventKind::kProgramLoaded:
    case EventKind::kProgramChanged:
    case EventKind::kProgramReleased:
      return program_lines(event, device, detail);
    default:
      return "";
  }
}

}  // namespace

std::string event_lines(const EventView& event, const ledger::ProcessView* process,
                        const EventLineOptions& options) {
  if (event.kind == EventKind::kGap) return gap_line(event);
  if (event.kind == EventKind::kProcessEnded) return death_lines(event, process);
  if (event.kind == EventKind::kAnomaly) {
    return event.reason == "unknown_free" ? unknown_free(event) : "";
  }
  std::string lines;
  for (const EventDevice& device : event.devices) {
    lines += device_lines(event, device, options.detail);
  }
  return lines;
}

}  // namespace ttmem::legacy
