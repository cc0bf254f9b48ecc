// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fmt/format.h>

#include "legacy/memory_text.hpp"
#include "legacy/reports.hpp"
#include "legacy/units.hpp"
#include "view/labels.hpp"

namespace ttmem::legacy {
namespace {

std::string tree(const ledger::DeviceView& device, const L1Sum& sum) {
  std::string text =
      fmt::format("Device {} ({}):\n  L1 Memory:\n", device.id, view::title(device.arch));
  text += fmt::format("    Buffers:        {}\n", compact(sum.buffers));
  text += fmt::format("    CBs:            {}\n", spaced(sum.cbs));
  text += fmt::format("    Kernels:        {}\n", compact(sum.kernels));
  if (sum.kernels) text += kernel_split(device.figures.kernels);
  if (sum.estimated > 0) text += fmt::format("    Kernels (est):  {}\n", compact(sum.estimated));
  text += fmt::format("    Total:          {}", spaced(sum.total()));
  const Usage usage = usage_of(device);
  if (usage.l1_total) text += " / " + spaced(*usage.l1_total) + (usage.nominal ? " (nominal)" : "");
  return text + "\n";
}

}  // namespace

std::string status_text(const ledger::Snapshot& snapshot) {
  std::string text;
  for (const ledger::DeviceView& device : snapshot.devices) {
    const L1Sum sum = l1_sum_of(device.figures);
    text += tree(device, sum) + "\n" + l1_block(sum) + "\n";
  }
  return text +
         "Totals include kernels (binary size x cores), as in the original: an upper bound that "
         "can "
         "exceed the L1.\n";
}

}  // namespace ttmem::legacy
