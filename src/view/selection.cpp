// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/selection.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "view/units.hpp"

namespace ttmem::view {
namespace {

template <typename Enum>
std::string one_of() {
  return fmt::format("one of {}", fmt::join(ledger::kNamesOf<Enum>, ", "));
}

}  // namespace

std::string Selection::add(std::string_view name, std::string_view value) {
  if (name == "device") {
    device_ = ledger::DeviceSelector::parse(value);
    device_text_ = value;
    return device_ ? "" : std::string(ledger::DeviceSelector::kForm);
  }
  if (name == "pid") {
    process_ = ledger::ProcessSelector::parse(value);
    return process_ ? "" : std::string(ledger::ProcessSelector::kForm);
  }
  if (name == "process") process_name_ = value;
  if (name == "kind") {
    const auto kind = ledger::named<ledger::HoldingKind>(value);
    if (kind) kinds_.push_back(*kind);
    return kind ? "" : one_of<ledger::HoldingKind>();
  }
  if (name == "space") {
    const auto space = ledger::named<ledger::Space>(value);
    if (space) spaces_.push_back(*space);
    return space ? "" : one_of<ledger::Space>();
  }
  return "";
}

Result<const ledger::DeviceView*> Selection::find(const ledger::Snapshot& snapshot) {
  found_.reset();
  if (!device_) return nullptr;
  std::vector<std::uint32_t> ids;
  for (const ledger::DeviceView& device : snapshot.devices) {
    if (device_->matches(device.id, device.unique_id)) {
      found_ = {device.id, device.unique_id};
      return &device;
    }
    ids.push_back(device.id);
  }
  const std::string others = ids.empty() ? ": no process has reported one"
                                         : fmt::format("; there are: {}", fmt::join(ids, ", "));
  return Error{ErrorCode::kNotFound, fmt::format("there is no device {}{}", device_text_, others)};
}

std::string not_tracked_text(const ledger::ProcessSelector& process) {
  return fmt::format(
      "process {} is not tracked; start it with `ttmem run`, or see all with `ttmem status`",
      process.text());
}

std::string Selection::missing_process(const ledger::Snapshot& snapshot) const {
  const auto is_selected = [&](const ledger::ProcessView& process) { return has(process); };
  if (!process_ || std::ranges::any_of(snapshot.processes, is_selected)) return "";
  return not_tracked_text(*process_);
}

bool Selection::names(const ledger::ProcessName& process) const {
  return (!process_ || process_->matches(process)) &&
         (process_name_.empty() || process.name == process_name_);
}

// Who names a process wants it dead or alive: that is how one asks what it held at its end.
bool Selection::has(const ledger::ProcessName& process) const {
  return names(process) && (process_ || process.alive);
}

// A device that was asked for and not found selects nothing, rather than everything.
bool Selection::has_device(const std::vector<std::uint32_t>& ids) const {
  return !device_ || (found_ && std::ranges::find(ids, found_->id) != ids.end());
}

bool Selection::has(const ledger::ProcessName& process, const ledger::FailureView& failure) const {
  return names(process) &&
         (!device_ || (found_ && std::ranges::find(failure.devices, found_->unique_id) !=
                                     failure.devices.end()));
}

bool Selection::has(const ledger::HoldingView& holding) const {
  if (!has(*holding.process) || !has_device(holding.devices)) return false;
  if (!kinds_.empty() && std::ranges::find(kinds_, holding.kind) == kinds_.end()) return false;
  return spaces_.empty() || (holding.kind == ledger::HoldingKind::kBuffer &&
                             std::ranges::find(spaces_, holding.space) != spaces_.end());
}

ledger::HoldingQuestion Selection::holdings() const {
  ledger::HoldingQuestion question{
      kinds_, spaces_, {}, [*this](const ledger::ProcessName& process) {
        return has(process) && (!device_ || found_);
      }};
  if (found_) question.device = found_->id;
  return question;
}

bool Selection::has(const ledger::ProgramView& program) const {
  return has(*program.process) && has_device(program.devices);
}

ledger::Snapshot Selection::of(const ledger::Snapshot& snapshot) const {
  ledger::Snapshot result = snapshot;
  std::erase_if(result.processes, [&](const auto& process) { return !names(process); });
  if (!device_) return result;
  const auto is_other = [&](const auto& device) { return !found_ || device.id != found_->id; };
  std::erase_if(result.devices, is_other);
  for (auto& process : result.processes) std::erase_if(process.devices, is_other);
  std::erase_if(result.processes, [](const auto& process) { return process.devices.empty(); });
  return result;
}

}  // namespace ttmem::view
