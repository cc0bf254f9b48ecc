// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/server_texts.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "legacy/units.hpp"
#include "view/printable.hpp"

namespace ttmem::legacy {
namespace {

constexpr std::size_t kFrameCells = 62;
constexpr std::size_t kTitleCells = 61;  // one short in the original
constexpr std::size_t kInnerCells = 57;
constexpr std::size_t kListedBuffers = 10;
constexpr std::size_t kListedKernels = 4096;  // of a dump

std::string repeated(std::string_view cell, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += cell;
  return text;
}

std::string frame(std::string_view title) {
  const std::string rule = repeated("═", kFrameCells);
  return fmt::format("\n╔{0}╗\n║{1}║\n╚{0}╝\n", rule,
                     view::pad_right(std::string(11, ' ') + std::string(title), kTitleCells));
}

// A stretch of equal elements at the front, by what `key` says.
template <typename T, typename Key>
std::span<const T> stretch(std::span<const T> all, Key key) {
  std::size_t count = 0;
  while (count < all.size() && key(all[count]) == key(all[0])) ++count;
  return all.first(count);
}

std::string kind_lines(std::span<const DumpedBuffer> buffers) {
  std::uint64_t bytes = 0;
  for (const DumpedBuffer& each : buffers) bytes += each.buffer.size;
  std::string text =
      fmt::format("  {}: {} buffers, {} MB total\n", kind_name(buffers[0].buffer.kind),
                  buffers.size(), megabytes(bytes));
  if (buffers.size() > kListedBuffers) return text;
  for (const DumpedBuffer& each : buffers) {
    text += fmt::format("    - Buffer 0x{:x}: {} KB (PID {}, ref_count={})\n", each.place.id,
                        kilobytes(each.buffer.size), each.pid, each.buffer.references);
  }
  return text;
}

std::string device_lines(std::span<const DumpedBuffer> buffers) {
  std::string text = fmt::format("Device {}:\n", buffers[0].place.device);
  while (!buffers.empty()) {
    const auto kind = stretch(buffers, [](const DumpedBuffer& each) { return each.buffer.kind; });
    text += kind_lines(kind);
    buffers = buffers.subspan(kind.size());
  }
  return text + "\n";
}

std::string by_type_line(std::span<const DumpedKernel> kernels) {
  std::array<std::uint64_t, kKernelKinds> bytes{}, count{};
  for (const DumpedKernel& each : kernels) {
    bytes[kernel_kind(each.kernel.type)] += each.kernel.size;
    ++count[kernel_kind(each.kernel.type)];
  }
  std::string text;
  for (std::uint8_t type = 0; type < kKernelKinds; ++type) {
    if (count[type] == 0) continue;
    text += fmt::format("  {}: {} kernels, {} MB\n", kernel_type_name(type), count[type],
                        megabytes(bytes[type]));
  }
  return text;
}

// `room`: how many of them may still be listed.
std::string kernel_lines(std::span<const DumpedKernel> kernels, std::uint64_t now_ns,
                         std::size_t& room) {
  std::uint64_t bytes = 0;
  for (const DumpedKernel& each : kernels) bytes += each.kernel.size;
  std::string text = fmt::format("\n📊 Device {} - Total: {} MB ({} kernels)\n",
                                 kernels[0].place.device, megabytes(bytes), kernels.size());
  text += by_type_line(kernels);
  const std::string rule = repeated("─", kInnerCells);
  text += fmt::format("  ┌{}┐\n", rule);
  const std::size_t listed = std::min(kernels.size(), room);
  room -= listed;
  for (const DumpedKernel& each : kernels.first(listed)) {
    const std::uint64_t since = std::min(each.kernel.since_ns, now_ns);
    text += fmt::format("  │ Kernel ID: 0x{:x}\n", each.place.id);
    text += fmt::format("  │   Type:      {}\n", kernel_type_name(each.kernel.type));
    text += fmt::format("  │   Size:      {} KB\n", kilobytes(each.kernel.size));
    text += fmt::format("  │   Owner PID: {}\n", each.pid);
    text += fmt::format("  │   Age:       {} seconds\n  │\n", (now_ns - since) / 1'000'000'000);
  }
  if (listed < kernels.size()) {
    text += fmt::format("  │ ... and {} more\n  │\n", kernels.size() - listed);
  }
  return text + fmt::format("  └{}┘\n", rule);
}

}  // namespace

// ---- the log ------------------------------------------------------------------------------------

std::string_view kind_name(std::uint8_t kind) {
  constexpr std::array<std::string_view, kKinds> kNames = {"DRAM", "L1", "SYSTEM_MEMORY",
                                                           "L1_SMALL", "TRACE"};
  return kind < kKinds ? kNames[kind] : "UNKNOWN";
}

std::string_view kernel_type_name(std::uint8_t type) {
  constexpr std::array<std::string_view, kKernelKinds> kNames = {"Application", "Fabric",
                                                                 "Dispatch", "Unknown"};
  return kNames[kernel_kind(type)];
}

std::string allocated_line(std::int32_t pid, const Place& place, std::uint8_t kind,
                           std::uint64_t size, std::uint32_t references) {
  const std::string again = references > 1 ? fmt::format(", ref_count={}", references) : "";
  return fmt::format("✓ [PID {}] Allocated {} bytes of {} on device {} (buffer_id=0x{:x}{})\n", pid,
                     size, kind_name(kind), place.device, place.id, again);
}

std::string replaced_line(std::int32_t pid, const Place& place, std::uint64_t before,
                          std::uint64_t size) {
  return fmt::format(
      "⚠ [PID {}] Buffer reused with DIFFERENT size: old={} new={} (buffer_id={}, device={})\n",
      pid, before, size, place.id, place.device);
}

std::string freed_line(std::int32_t pid, const Place& place, const Buffer& buffer) {
  const std::string left =
      buffer.references > 0 ? fmt::format("ref_count={} remaining", buffer.references) : "FINAL";
  return fmt::format("✗ [PID {}] Freed buffer 0x{:x} on device {} ({} bytes, {})\n", pid, place.id,
                     place.device, buffer.size, left);
}

std::string unknown_free_line(std::int32_t pid, const Place& place) {
  return fmt::format(
      "⚠ [PID {}] Deallocation for unknown buffer 0x{:x} on device {} "
      "(allocated before tracking started)\n",
      pid, place.id, place.device);
}

std::string cb_line(bool added, std::int32_t device, std::uint64_t size, std::uint64_t total) {
  return fmt::format("{} Device {}: {}{} MB (Total: {} MB)\n",
                     added ? "✓ [CB_ALLOC]" : "✗ [CB_FREE]", device, added ? '+' : '-',
                     megabytes(size), megabytes(total));
}

std::string kernel_line(bool loaded, std::int32_t device, const Kernel& kernel,
                        std::uint64_t total) {
  return fmt::format("{} {} kernel{} on Device {}: {}{} MB (Total: {} MB)\n",
                     loaded ? "✓ [KERNEL_LOAD]" : "✗ [KERNEL_UNLOAD]",
                     kernel_type_name(kernel.type), kernel.estimated ? " (est)" : "", device,
                     loaded ? '+' : '-', megabytes(kernel.size), megabytes(total));
}

std::string bad_device_line(std::int32_t device) {
  return fmt::format("⚠️  Invalid device_id {} - ignoring message\n", device);
}

std::string bad_size_line(std::uint64_t size) {
  return fmt::format("⚠️  Invalid size {} - ignoring message\n", size);
}

std::string bad_kind_line(std::uint8_t kind, const Place& place) {
  return fmt::format("⚠️  Invalid buffer_type {} for buffer {} on device {}\n", kind, place.id,
                     place.device);
}

std::string unknown_type_line(std::uint8_t type) {
  return fmt::format("Unknown message type: {}\n", type);
}

std::string refused_stream_line(std::string_view why) {
  return fmt::format("⚠️  Closing a connection (likely protocol mismatch): {}\n", why);
}

std::string death_lines(std::int32_t pid, const Tally& held) {
  const auto removed = [pid](std::uint64_t count, std::string_view what, std::uint64_t bytes) {
    return fmt::format("   ✓ Removed {} {} ({} MB) from PID {}\n", count, what, megabytes(bytes),
                       pid);
  };
  std::string lines = "\n⚠️  Detected dead processes, cleaning up orphaned buffers...\n";
  lines += fmt::format("   PID {} is dead, removing its buffers...\n", pid);
  lines += removed(held.buffers, "buffers", held.device_bytes() + held.bytes[2]);
  if (held.cbs > 0) lines += removed(held.cbs, "CBs", held.cb_bytes);
  if (held.all_kernels() > 0) {
    lines += removed(held.all_kernels(), "kernels", held.all_kernel_bytes());
  }
  return lines + "\n";
}

std::string statistics_head() { return "\n📊 Current Statistics:\n"; }

std::string statistics_lines(const StatisticsLine& line) {
  const auto bytes = [](std::string_view name, std::uint64_t count) {
    return fmt::format("    {}: {} bytes ({} KB)\n", name, count, kilobytes(count));
  };
  std::string lines = fmt::format("  Device {}:\n    Buffers: {}\n", line.device, line.buffers);
  lines += bytes("DRAM", line.dram) + bytes("L1", line.l1);
  if (line.cbs > 0) {
    lines += bytes("CBs", line.cbs);
    lines += fmt::format("      of them at different addresses: {} bytes\n", line.covered);
  }
  if (line.kernels > 0) lines += bytes("Kernels (estimate)", line.kernels);
  return lines + fmt::format("    Total: {} bytes\n", line.total);
}

std::string statistics_end(std::uint64_t active_allocations, std::uint64_t ambiguous_frees) {
  std::string lines = fmt::format("  Active allocations: {}\n", active_allocations);
  if (ambiguous_frees > 0) {
    lines +=
        fmt::format("  Frees of an id that was live in several memories: {}\n", ambiguous_frees);
  }
  return lines;
}

// ---- dumps --------------------------------------------------------------------------------------

std::string dump_remaining(std::vector<DumpedBuffer> buffers) {
  std::string text = frame("REMAINING ALLOCATED BUFFERS");
  text += fmt::format("Total tracked allocations: {}\n\n", buffers.size());
  std::ranges::sort(buffers, {}, [](const DumpedBuffer& each) {
    return std::tuple(each.place.device, each.buffer.kind, each.pid, each.place.id);
  });
  std::span<const DumpedBuffer> rest = buffers;
  while (!rest.empty()) {
    const auto device = stretch(rest, [](const DumpedBuffer& each) { return each.place.device; });
    text += device_lines(device);
    rest = rest.subspan(device.size());
  }
  text += buffers.empty() ? "✓ No buffers remaining - perfect cleanup!\n"
                          : fmt::format("Total remaining buffers: {}\n\n", buffers.size());
  return text + "📋 DUMP_REMAINING complete.\n";
}

std::string dump_kernels(std::vector<DumpedKernel> kernels, std::uint64_t now_ns) {
  std::string text = frame("DETAILED KERNEL ALLOCATIONS");
  text += fmt::format("Total kernel allocations: {}\n", kernels.size());
  std::ranges::sort(kernels, {}, [](const DumpedKernel& each) {
    return std::tuple(each.place.device, each.kernel.type, each.pid, each.place.id);
  });
  std::size_t room = kListedKernels;
  std::span<const DumpedKernel> rest = kernels;
  while (!rest.empty()) {
    const auto device = stretch(rest, [](const DumpedKernel& each) { return each.place.device; });
    text += kernel_lines(device, now_ns, room);
    rest = rest.subspan(device.size());
  }
  return text + "\n📋 DUMP_KERNELS complete.\n";
}

}  // namespace ttmem::legacy
