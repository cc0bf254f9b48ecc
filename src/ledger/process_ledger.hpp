// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The ledger of one process: records in, figures out. Pure: no I/O, no clock, no threads.
//
// Figures are a function of what is in the ledger now, whatever the order in which it came, so a
// reader that starts late says the same as one that saw everything. Sums are kept as records come
// and go; nothing walks all holdings to answer a question about a device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/event.hpp"
#include "ledger/figures.hpp"
#include "ledger/records.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

class Catalog;
struct CoreLayers;
struct HoldingPlace;
struct HoldingQuestion;
struct OriginShare;
struct PictureQuestion;
struct SpacePicture;

class ProcessLedger {
 public:
  ProcessLedger();
  ~ProcessLedger();
  ProcessLedger(ProcessLedger&&) noexcept;
  ProcessLedger& operator=(ProcessLedger&&) noexcept;

  // Geometry and interned data. Index 0 is never used. A record may come again with new values.
  void set_device(DeviceIndex index, DeviceRecord record);
  void set_device_set(SetIndex index, DeviceSetRecord record);
  void set_allocator(AllocatorIndex index, AllocatorRecord record);
  void set_string(StringId id, std::string text);
  void set_cores(CoresId id, CoreSet cores);
  void set_addresses(ListId id, std::vector<std::uint64_t> addresses);
  void set_members(ListId id, std::vector<TraceMember> members);
  void set_frame(OriginFrameId id, OriginFrame frame);
  void set_origin(OriginId id, const OriginNode& node);

  // Slot `slot` now holds `record`; std::monostate means that it holds nothing. Returns what it
  // held before.
  Record apply(SlotIndex slot, const Record& record);
  // The same, told as an event without time, number and process. Empty: nothing happened, or what
  // did is told with something else, as a kernel is with its program.
  std::optional<EventView> apply_and_tell(SlotIndex slot, const Record& record);
  // For one who tells the past: whether a device was open then.
  void set_open(DeviceIndex device, bool open);
  // The words of a workload or trace that change without an event.
  void set_launches(SlotIndex slot, const Launches& launches);

  void set_ring_manager(std::uint32_t index, RingManagerRecord record);
  void set_counters(DeviceIndex device, const DeviceCounters& counters);

  // What this process holds on a device. `totals_only` leaves out what needs the addresses: largest
  // free blocks and headroom. Kept until something changes; good until the next call.
  const DeviceFigures& figures(DeviceIndex device, bool totals_only = false) const;
  const std::vector<DeviceIndex>& devices() const;
  const DeviceRecord& device(DeviceIndex index) const;           // an empty one if it is not known
  const AllocatorRecord* allocator(AllocatorIndex index) const;  // null if it is not known
  const DeviceSetRecord* device_set(SetIndex index) const;
  bool in_mesh(DeviceIndex device) const;                  // some open allocator covers it
  const WorkloadRecord* workload(std::uint64_t id) const;  // null if it is not known
  // The two figures that events carry, without working out the others.
  EventDevice program_totals(DeviceIndex device) const;
  std::uint64_t buffer_count() const;
  // The sets of open allocators that have a shape, each once.
  std::vector<const DeviceSetRecord*> meshes() const;

  // Details, computed when asked. assemble.hpp has the same for many processes.
  std::vector<CoreView> cores(DeviceIndex device, bool with_map) const;
  std::vector<CoreLayers> core_layers(DeviceIndex device, bool with_names) const;
  std::vector<CoreUse> core_use(DeviceIndex device) const;
  void for_each_holding(const std::function<void(const HoldingView&)>& visit,
                        const Naming& naming = {}) const;
  // A part of them (ledger/holding_page.hpp); false: `visit` said that this is enough.
  bool visit_holdings(const HoldingQuestion& question, HoldingPlace& place, const Naming& naming,
                      const std::function<bool(const HoldingView&)>& visit) const;
  std::uint64_t count_holdings(const HoldingQuestion& question, const Naming& naming) const;
  std::vector<ProgramView> programs(const Naming& naming = {}) const;
  std::vector<RingView> rings(DeviceIndex device, const Naming& naming = {}) const;
  // The names of the programs that each live workload launches.
  void for_each_launched_name(
      const std::function<void(std::uint64_t workload, std::string name)>& visit) const;
  // The counters of every live workload and trace.
  void for_each_launch_count(const std::function<void(const LaunchCount&)>& visit) const;
  // Empty if no allocator has such a space.
  std::optional<SpacePicture> space_picture(const PictureQuestion& question,
                                            const Naming& naming = {}) const;
  void for_each_share(const std::function<void(const OriginShare&)>& visit) const;

  std::string_view string(StringId id) const;
  const Catalog& catalog() const;             // of names and origins
  const CoreSet* core_set(CoresId id) const;  // null if it is not known
  // Whether a question about this process was once too much to work out (ledger/effort.hpp). Every
  // question below and above may end with TooMuch.
  bool exhausted() const;
  // Until the end, each question may cost so much at most, and no more than usual. Both tell what
  // is left of that, from the beginning and now.
  std::uint64_t begin_question(std::uint64_t most) const;
  std::uint64_t end_question() const;
  // Records that refer to something that is not there (hostile or early input). Never an error.
  // Kept until something changes.
  std::uint64_t dangling() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ttmem::ledger
