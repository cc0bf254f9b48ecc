// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The half of the collector that answers questions and changes nothing.
#include <fmt/format.h>

#include "collect/collector_state.hpp"
#include "ledger/assemble.hpp"
#include "ledger/effort_shares.hpp"
#include "ledger/holding_page.hpp"

namespace ttmem::collect {

Replay* Collector::replay() const { return state_->replay.get(); }
bool Collector::changed() const { return state_->changed; }
const ledger::Snapshot& Collector::snapshot() const { return state_->snapshot; }
const std::vector<Unreadable>& Collector::unreadable() const { return state_->unreadable; }
const std::vector<std::string>& Collector::directories() const { return state_->directories; }
std::vector<ledger::EventView> Collector::take_events() { return state_->log.take(); }

std::vector<ledger::CoreView> Collector::cores(std::uint32_t device_id, bool with_map,
                                               std::optional<ledger::Core> only) const {
  for (const ledger::DeviceView& device : state_->snapshot.devices) {
    if (device.id != device_id) continue;
    return ledger::merge_cores(state_->inputs, state_->snapshot, device, with_map, only);
  }
  return {};
}

std::vector<ledger::CoreUse> Collector::core_use(std::uint32_t device_id) const {
  for (const ledger::DeviceView& device : state_->snapshot.devices) {
    if (device.id != device_id) continue;
    return ledger::merge_core_use(state_->inputs, state_->snapshot, device);
  }
  return {};
}

std::vector<ledger::RingView> Collector::rings(std::uint32_t device_id) const {
  for (const ledger::DeviceView& device : state_->snapshot.devices) {
    if (device.id == device_id) return ledger::all_rings(state_->inputs, state_->snapshot, device);
  }
  return {};
}

std::vector<ledger::BankMap> Collector::banks(std::uint32_t device_id) const {
  for (const ledger::DeviceView& device : state_->snapshot.devices) {
    if (device.id == device_id) {
      return ledger::bank_maps(state_->inputs, state_->snapshot, device);
    }
  }
  return {};
}

void Collector::holdings(const std::function<void(const ledger::HoldingView&)>& visit) const {
  ledger::for_each_holding(state_->inputs, state_->snapshot, visit);
}

bool Collector::holdings(const ledger::HoldingQuestion& question, ledger::HoldingPlace& place,
                         const std::function<bool(const ledger::HoldingView&)>& visit) const {
  return ledger::visit_holdings(state_->inputs, state_->snapshot, question, place, visit);
}

std::uint64_t Collector::count_holdings(const ledger::HoldingQuestion& question) const {
  return ledger::count_holdings(state_->inputs, state_->snapshot, question);
}

std::vector<ledger::ProgramView> Collector::programs(bool with_launches) const {
  return ledger::all_programs(state_->inputs, state_->snapshot, with_launches);
}

ledger::OriginTotals Collector::origins(const ledger::OriginQuestion& question) const {
  return ledger::totals_by_origin(state_->inputs, state_->snapshot, question);
}

Result<std::vector<ledger::HoldingView>> Collector::failure_picture(std::uint64_t process_key,
                                                                    std::uint32_t number) const {
  for (const auto& source : state_->sources) {
    if (source->key() != process_key) continue;
    auto picture = source->picture(number);
    if (!picture) return picture.error();
    for (ledger::ProcessInput input : state_->inputs) {
      if (input.identity.key != process_key) continue;
      input.ledger = &*picture;
      std::vector<ledger::HoldingView> holdings;
      ledger::for_each_holding({input}, state_->snapshot,
                               [&](const ledger::HoldingView& view) { holdings.push_back(view); });
      return holdings;
    }
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("there is no process with key {} in this snapshot", process_key)};
}

Result<ledger::FailurePicture> Collector::failed_space(std::uint64_t process_key,
                                                       std::uint32_t number) const {
  for (const ledger::ProcessInput& input : state_->inputs) {
    if (input.identity.key != process_key) continue;
    for (const auto& source : state_->sources) {
      if (source->key() != process_key) continue;
      return source->failed_space(number, ledger::naming_of(input, state_->snapshot));
    }
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("there is no process with key {} in this snapshot", process_key)};
}

std::vector<ledger::LiveSpace> Collector::live_spaces(std::uint32_t device_id,
                                                      ledger::Space space) const {
  std::vector<ledger::LiveSpace> spaces;
  ledger::EffortShares shares;
  for (const ledger::DeviceView& device : state_->snapshot.devices) {
    if (device.id != device_id) continue;
    ledger::for_each_open(
        state_->inputs, state_->snapshot, device,
        [&](const ledger::ProcessInput& process, ledger::DeviceIndex index) {
          const ledger::Naming naming = ledger::naming_of(process, state_->snapshot);
          shares.ask(process, [&] {
            auto picture = process.ledger->space_picture({0, index, space}, naming);
            if (picture) spaces.push_back({naming.process, std::move(*picture)});
          });
        });
  }
  return spaces;
}

}  // namespace ttmem::collect
