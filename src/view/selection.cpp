// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/selection.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "view/units.hpp"

namespace ttmem::view {
namespace {

bool is_device_name(std::string_view text) {
  const bool unique = text.starts_with("0x");
  if (unique) text.remove_prefix(2);
  const std::string_view digits = unique ? "0123456789abcdef" : "0123456789";
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

bool is_named(const ledger::DeviceView& device, std::string_view name) {
  return name == std::to_string(device.id) || name == unique_id_text(device.unique_id);
}

template <typename Enum>
std::string one_of() {
  return fmt::format("one of {}", fmt::join(ledger::kNamesOf<Enum>, ", "));
}

}  // namespace

std::string Selection::add(std::string_view name, std::string_view value) {
  if (name == "device") {
    device_ = value;
    return is_device_name(value) ? "" : "the id of a device, or its unique id, 0x...";
  }
  if (name == "pid") {
    process_ = ledger::ProcessSelector::parse(value);
    return process_ ? "" : "a pid, or PID/START where several processes have it";
  }
  if (name == "process") process_name_ = value;
  if (name == "kind") {
    const auto kind = ledger::named<ledger::HoldingKind>(value);
    if (kind) kinds_.push_back(*kind);
    return kind ? "" : one_of<ledger::HoldingKind>();
  }
  if (name == "space") {
    space_ = ledger::named<ledger::Space>(value);
    return space_ ? "" : one_of<ledger::Space>();
  }
  return "";
}

Result<const ledger::DeviceView*> Selection::find(const ledger::Snapshot& snapshot) {
  device_id_.reset();
  if (device_.empty()) return nullptr;
  std::vector<std::uint32_t> ids;
  for (const ledger::DeviceView& device : snapshot.devices) {
    if (is_named(device, device_)) {
      device_id_ = device.id;
      return &device;
    }
    ids.push_back(device.id);
  }
  const std::string others = ids.empty() ? ": no process has reported one"
                                         : fmt::format("; there are: {}", fmt::join(ids, ", "));
  return Error{ErrorCode::kNotFound, fmt::format("there is no device {}{}", device_, others)};
}

std::string Selection::missing_process(const ledger::Snapshot& snapshot) const {
  const auto is_selected = [&](const ledger::ProcessView& process) { return has(process); };
  if (!process_ || std::ranges::any_of(snapshot.processes, is_selected)) return "";
  return fmt::format(
      "process {} is not tracked; start it with `ttmem run`, or see all with `ttmem status`",
      process_->text());
}

// Who names a process wants it dead or alive: that is how one asks what it held at its end.
bool Selection::has(const ledger::ProcessName& process) const {
  if (process_ ? !process_->matches(process) : !process.alive) return false;
  return process_name_.empty() || process.name == process_name_;
}

// A device that was asked for and not found selects nothing, rather than everything.
bool Selection::has_device(const std::vector<std::uint32_t>& ids) const {
  return device_.empty() || (device_id_ && std::ranges::find(ids, *device_id_) != ids.end());
}

bool Selection::has(const ledger::HoldingView& holding) const {
  if (!has(*holding.process) || !has_device(holding.devices)) return false;
  if (!kinds_.empty() && std::ranges::find(kinds_, holding.kind) == kinds_.end()) return false;
  return !space_ || (holding.kind == ledger::HoldingKind::kBuffer && holding.space == *space_);
}

bool Selection::has(const ledger::ProgramView& program) const {
  return has(*program.process) && has_device(program.devices);
}

ledger::Snapshot Selection::of(const ledger::Snapshot& snapshot) const {
  ledger::Snapshot result = snapshot;
  if (process_) {
    std::erase_if(result.processes, [&](const auto& process) { return !has(process); });
  }
  if (device_.empty()) return result;
  const auto is_other = [&](const auto& device) { return device.id != device_id_; };
  std::erase_if(result.devices, is_other);
  for (auto& process : result.processes) std::erase_if(process.devices, is_other);
  std::erase_if(result.processes, [](const auto& process) { return process.devices.empty(); });
  return result;
}

}  // namespace ttmem::view
