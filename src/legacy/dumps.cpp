// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/dumps.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "legacy/log_lines.hpp"
#include "legacy/units.hpp"
#include "view/printable.hpp"

namespace ttmem::legacy {
namespace {

constexpr std::size_t kFrameCells = 62;
constexpr std::size_t kTitleCells = 61;  // one short in the original
constexpr std::size_t kInnerCells = 57;
constexpr std::size_t kListedBuffers = 10;
constexpr std::size_t kListedKernels = 4096;

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

std::string kernel_lines(std::span<const DumpedKernel> kernels, std::uint64_t now_ns) {
  std::uint64_t bytes = 0;
  for (const DumpedKernel& each : kernels) bytes += each.kernel.size;
  std::string text = fmt::format("\n📊 Device {} - Total: {} MB ({} kernels)\n",
                                 kernels[0].place.device, megabytes(bytes), kernels.size());
  text += by_type_line(kernels);
  const std::string rule = repeated("─", kInnerCells);
  text += fmt::format("  ┌{}┐\n", rule);
  const std::size_t listed = std::min(kernels.size(), kListedKernels);
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
  std::span<const DumpedKernel> rest = kernels;
  while (!rest.empty()) {
    const auto device = stretch(rest, [](const DumpedKernel& each) { return each.place.device; });
    text += kernel_lines(device, now_ns);
    rest = rest.subspan(device.size());
  }
  return text + "\n📋 DUMP_KERNELS complete.\n";
}

}  // namespace ttmem::legacy
