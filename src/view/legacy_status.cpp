// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/legacy_status.hpp"

#include <fmt/format.h>

#include "view/printable.hpp"
#include "view/units.hpp"
#include "view/words.hpp"

namespace ttmem::view {
namespace {

using ledger::KernelType;

constexpr std::size_t kValueColumn = 20;
constexpr std::size_t kCountColumn = 28;

struct Parts {
  std::uint64_t buffers, cbs, kernels;
  std::uint64_t total() const { return buffers + cbs + kernels; }
};

Parts parts_of(const ledger::DeviceFigures& figures) {
  return {figures.space(ledger::Space::kL1).requested.value_or(0),
          figures.program_l1.allocated.value_or(0), figures.kernels.total().footprint};
}

std::string type_line(const ledger::KernelFigures& kernels, KernelType type) {
  const auto& figures = kernels.by_type[static_cast<std::size_t>(type)];
  std::string line = pad_right(fmt::format("      - {}: ", title(type)), kValueColumn);
  line = pad_right(line + legacy_spaced(figures.footprint) + " ", kCountColumn);
  return fmt::format("{}({} kernels)\n", line, figures.count);
}

std::string tree(const ledger::DeviceView& device, const Parts& parts) {
  const ledger::KernelFigures& kernels = device.figures.kernels;
  std::string text = fmt::format("Device {} ({}):\n  L1 Memory:\n", device.id, title(device.arch));
  text += fmt::format("    Buffers:        {}\n", legacy_compact(parts.buffers));
  text += fmt::format("    CBs:            {}\n", legacy_spaced(parts.cbs));
  text += fmt::format("    Kernels:        {}\n", legacy_compact(parts.kernels));
  text += type_line(kernels, KernelType::kFabric);
  text += type_line(kernels, KernelType::kDispatch);
  text += type_line(kernels, KernelType::kApplication);
  text += fmt::format("    Total:          {}", legacy_spaced(parts.total()));
  if (const ledger::Figure& capacity = device.figures.l1_capacity) {
    text += " / " + legacy_spaced(*capacity);
  }
  return text + "\n";
}

std::string lines(const Parts& parts) {
  return fmt::format("  L1 (Allocator):  {}\n", legacy_compact(parts.buffers)) +
         fmt::format("  L1 (CBs):        {}\n", legacy_compact(parts.cbs)) +
         fmt::format("  L1 (Kernels):    {}\n", legacy_compact(parts.kernels)) +
         "  ───────────────────────────────\n" +
         fmt::format("  L1 Total:        {}\n", legacy_compact(parts.total()));
}

}  // namespace

std::string legacy_status(const ledger::Snapshot& snapshot) {
  std::string text;
  for (const ledger::DeviceView& device : snapshot.devices) {
    const Parts parts = parts_of(device.figures);
    text += tree(device, parts) + "\n" + lines(parts) + "\n";
  }
  return text +
         "Totals include kernels (binary size x cores), as in the original: an upper bound that "
         "can "
         "exceed the L1.\n";
}

}  // namespace ttmem::view
