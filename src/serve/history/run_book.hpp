// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The processes of the latest snapshot as runs, with what their own counters say: how high each
// figure went, and how much higher than at the last look.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "serve/history/device_book.hpp"
#include "serve/history/history.hpp"
#include "serve/history/row.hpp"

namespace ttmem::serve::history {

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
  std::map<std::uint64_t, RunOnDevice> devices;  // by number in the DeviceBook
  bool dirty = false;
  bool present = false;  // in the latest snapshot
};

class RunBook {
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
  void set_next_id(std::uint64_t id) { next_id_ = id; }
  void update(const ledger::Snapshot& snapshot, const DeviceBook& devices, const Round& round,
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
