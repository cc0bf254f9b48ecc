// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fmt/format.h>

#include "legacy/reports.hpp"
#include "legacy/units.hpp"
#include "view/labels.hpp"
#include "view/printable.hpp"

namespace ttmem::legacy {
namespace {

using ledger::KernelType;
using view::pad_right;
using view::title;

constexpr std::size_t kValueColumn = 20;
constexpr std::size_t kCountColumn = 28;

struct L1Bytes {
  std::uint64_t buffers, cbs, kernels;
  std::uint64_t total() const { return buffers + cbs + kernels; }
};

L1Bytes l1_bytes_of(const ledger::DeviceFigures& figures) {
  return {figures.space(ledger::Space::kL1).requested.value_or(0),
          figures.program_l1.allocated.value_or(0), figures.kernels.total().footprint.value_or(0)};
}

std::string type_line(const ledger::KernelFigures& kernels, KernelType type) {
  const auto& figures = kernels.of(type);
  std::string line = pad_right(fmt::format("      - {}: ", title(type)), kValueColumn);
  line = pad_right(line + spaced(figures.footprint.value_or(0)) + " ", kCountColumn);
  return fmt::format("{}({} kernels)\n", line, figures.count.value_or(0));
}

std::string tree(const ledger::DeviceView& device, const L1Bytes& bytes) {
  const ledger::KernelFigures& kernels = device.figures.kernels;
  std::string text = fmt::format("Device {} ({}):\n  L1 Memory:\n", device.id, title(device.arch));
  text += fmt::format("    Buffers:        {}\n", compact(bytes.buffers));
  text += fmt::format("    CBs:            {}\n", spaced(bytes.cbs));
  text += fmt::format("    Kernels:        {}\n", compact(bytes.kernels));
  text += type_line(kernels, KernelType::kFabric);
  text += type_line(kernels, KernelType::kDispatch);
  text += type_line(kernels, KernelType::kApplication);
  text += fmt::format("    Total:          {}", spaced(bytes.total()));
  if (const ledger::Figure& capacity = device.figures.l1_capacity) {
    text += " / " + spaced(*capacity);
  }
  return text + "\n";
}

std::string lines(const L1Bytes& bytes) {
  return fmt::format("  L1 (Allocator):  {}\n", compact(bytes.buffers)) +
         fmt::format("  L1 (CBs):        {}\n", compact(bytes.cbs)) +
         fmt::format("  L1 (Kernels):    {}\n", compact(bytes.kernels)) +
         "  ───────────────────────────────\n" +
         fmt::format("  L1 Total:        {}\n", compact(bytes.total()));
}

}  // namespace

std::string status_text(const ledger::Snapshot& snapshot) {
  std::string text;
  for (const ledger::DeviceView& device : snapshot.devices) {
    const L1Bytes bytes = l1_bytes_of(device.figures);
    text += tree(device, bytes) + "\n" + lines(bytes) + "\n";
  }
  return text +
         "Totals include kernels (binary size x cores), as in the original: an upper bound that "
         "can "
         "exceed the L1.\n";
}

}  // namespace ttmem::legacy
