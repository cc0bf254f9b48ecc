// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Whose figures they are: the devices and the processes of the latest snapshot, with the numbers
// that they have in the file.
//
// A chip is told by unique id, architecture and whether it is a mock, as in the ledger; the id that
// people see may change from one start of the daemon to the next. A process is a run, with what its
// own counters say: how high each figure went, and how much higher than at the last look.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ledger/snapshot.hpp"
#include "serve/history/query.hpp"
#include "serve/history/tracks.hpp"

namespace ttmem::serve::history {

struct KnownDevice {
  std::uint64_t number = 0;
  std::uint64_t unique_id = 0;
  std::uint8_t arch = 0;
  bool mock = false;
  std::uint32_t shown_id = 0;
  bool present = false;  // in the latest snapshot
  bool dirty = false;
};

class KnownDevices {
 public:
  void adopt(const KnownDevice& device);
  // Learns the devices of a snapshot.
  void update(const ledger::Snapshot& snapshot);
  // The number of the device that has this id in the latest snapshot.
  std::optional<std::uint64_t> number_of(std::uint32_t document_id) const;
  const std::map<std::uint64_t, KnownDevice>& all() const { return devices_; }
  void written();
  void mark_all_dirty();

 private:
  using Chip = std::tuple<std::uint64_t, std::uint8_t, bool>;
  KnownDevice& device_of(const ledger::DeviceView& view);
  void forget_oldest_absent();

  std::map<std::uint64_t, KnownDevice> devices_;  // by number
  std::map<Chip, std::uint64_t> numbers_;
  std::map<std::uint32_t, std::uint64_t> by_document_id_;
};

// One device of a run. Peaks are those of its process, which never fall.
struct RunOnDevice {
  std::array<Value, ledger::kSpaces> peaks;
  Value peak_program_l1;
  Value dispatches;
  // Of this round alone: peaks that rose since the last one, and launches since then.
  std::array<Value, ledger::kSpaces> risen;
  std::int64_t launches = 0;
};

struct KnownRun {
  Run run;              // its `devices` is filled for answers only
  std::string segment;  // told apart from another life of the same process by it
  std::map<std::uint64_t, RunOnDevice> devices;  // by number in the KnownDevices
  bool dirty = false;
  bool present = false;  // in the latest snapshot
};

class KnownRuns {
 public:
  using Identity = std::tuple<std::string, std::int32_t, std::uint64_t, std::string>;
  // Asks the file for a run that is not known here.
  using Lookup = std::function<std::optional<KnownRun>(const Identity&)>;

  struct Round {
    TimeNs now = 0;
    TimeNs previous = 0;      // the last round
    bool continuous = false;  // that one was ours: what rose since then rose in between
    TimeNs unseen_since = 0;  // when those ended that are gone without a trace
  };

  void adopt(KnownRun run);
  // What was seen from there on was seen so much earlier.
  void move_back(TimeNs from, TimeNs by);
  void set_next_id(std::uint64_t id) { next_id_ = id; }
  void update(const ledger::Snapshot& snapshot, const KnownDevices& devices, const Round& round,
              const Lookup& lookup);

  // The run of a process of the latest snapshot.
  const KnownRun* find(const ledger::Snapshot& snapshot, const ledger::ProcessView& process) const;
  const std::map<Identity, KnownRun>& all() const { return runs_; }
  bool has_changes() const;  // that the file does not know
  // After a batch: all is in the file; those that are gone are forgotten here.
  void written();
  void mark_all_dirty();

 private:
  KnownRun& run_of(const ledger::Snapshot& snapshot, const ledger::ProcessView& process,
                   const Round& round, const Lookup& lookup, bool& is_new);

  std::uint64_t next_id_ = 1;
  std::map<Identity, KnownRun> runs_;
};

}  // namespace ttmem::serve::history
