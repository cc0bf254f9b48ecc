// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/log_lines.hpp"

#include <array>

#include <fmt/format.h>

#include "legacy/units.hpp"

namespace ttmem::legacy {

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

std::string kernel_line(bool loaded, std::int32_t device, std::uint8_t type, std::uint64_t size,
                        std::uint64_t total) {
  return fmt::format("{} {} kernel on Device {}: {}{} MB (Total: {} MB)\n",
                     loaded ? "✓ [KERNEL_LOAD]" : "✗ [KERNEL_UNLOAD]", kernel_type_name(type),
                     device, loaded ? '+' : '-', megabytes(size), megabytes(total));
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

std::string statistics_end(std::uint64_t active_allocations) {
  return fmt::format("  Active allocations: {}\n", active_allocations);
}

}  // namespace ttmem::legacy
