// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Everything that is known without a segment: devices of the driver, processes that have them open,
// and what a stock TT-Metal publishes. It goes into a snapshot beside the segments:
//
//   before ledger::assemble   processes get what the region says about them, on chips that their
//                             segment does not know; processes without a segment are added
//   after it                  devices get the driver's facts; devices that nobody uses are added
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collect/host_processes.hpp"
#include "collect/host_root.hpp"
#include "collect/numbered_chips.hpp"
#include "collect/sysfs.hpp"
#include "collect/upstream.hpp"
#include "ledger/assemble.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::collect {

class HostSources {
 public:
  HostSources(std::string root, std::uint32_t sensors_every_ms)
      : root_(std::move(root)),
        processes_(root_),
        sensors_every_ns_(std::uint64_t{sensors_every_ms} * 1'000'000) {}
  HostSources(const HostSources&) = delete;
  HostSources& operator=(const HostSources&) = delete;

  // Reads everything; sensors only as often as wanted, because they are read over the bus.
  void refresh(std::uint64_t monotonic_ns);

  // Pid here, container, pod and job of a process that has a segment. `name_space` 0: that of the
  // reader. `trusted`: the segment's owner may speak for processes of others.
  void locate(std::uint64_t name_space, bool trusted, ledger::ProcessView& process);

  // Which board has which number, by the id under which processes know it.
  void tell_numbers(const std::vector<ledger::ProcessInput>& inputs, NumberedChips& chips) const;
  void add(std::vector<ledger::ProcessInput>& inputs,
           const std::optional<ledger::ProcessSelector>& only);
  void finish(ledger::Snapshot& snapshot) const;
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct Outsider {
    HostProcess process;
    std::vector<ledger::Source> sources;
    std::vector<ledger::OutsideTotals> totals;
    ledger::TimeNs updated = 0;
  };
  using Outsiders = std::map<std::int32_t, Outsider>;
  // What the cgroup of a process tells.
  struct Place {
    std::string container;
    ledger::Pod pod;
    ledger::Job job;
  };

  Place place_of(const HostProcess& process) const;
  static void apply(const Place& place, ledger::ProcessView& process);
  Outsider* outsider(Outsiders& all, std::int32_t pid, ledger::Source source) const;
  bool is_alive(const UpstreamRow& row, const std::optional<HostProcess>& process) const;
  std::optional<std::int32_t> process_of(const UpstreamRow& row);
  void add_rows(const UpstreamRegion& region, Outsiders& all);
  void add_users(const SysfsDevice& device, const std::vector<ledger::ProcessInput>& inputs,
                 Outsiders& all);
  NumberedChips::Chip chip_of(const SysfsDevice& device,
                              const std::vector<ledger::ProcessInput>& inputs) const;
  void compare(ledger::ProcessView& process) const;
  void add_device(const SysfsDevice& device, ledger::Snapshot& snapshot) const;

  HostRoot root_;
  HostProcesses processes_;
  std::vector<SysfsDevice> devices_;
  std::uint64_t sensors_every_ns_;
  std::uint64_t devices_read_ns_ = 0;
  UpstreamRegions upstream_;
  std::vector<std::string> problems_, left_behind_;
  // What the regions say about living processes: by pid, then by chip.
  std::map<std::int32_t, std::map<std::uint64_t, std::uint64_t>> told_bytes_;
  std::map<std::pair<std::int32_t, std::uint64_t>, Place> places_;
};

}  // namespace ttmem::collect
