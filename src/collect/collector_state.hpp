// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The inside of a collector.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "collect/admission.hpp"
#include "collect/clock.hpp"
#include "collect/collector.hpp"
#include "collect/directories.hpp"
#include "collect/event_log.hpp"
#include "collect/host_sources.hpp"
#include "collect/procfs.hpp"
#include "collect/replay.hpp"
#include "collect/segment_source.hpp"
#include "ledger/assemble.hpp"

namespace ttmem::collect {

// A file that was given up: it contradicted itself, or asked for too much. It is opened again only
// after a while, which doubles each time, so that being given up is no way to cost more.
struct CutOff {
  std::uint64_t inode = 0;
  bool was_refused = false;  // when it was opened, by this rule of its directory
  std::optional<std::uint32_t> owner_rule;
  std::uint64_t until_ns = 0;  // monotonic
  std::uint64_t pause_ns = 0;
  Error error;
};

struct Collector::State {
  explicit State(Options given);

  void look(const Moment& moment, bool again);
  void replay_sources();
  void reap();
  void find();
  bool is_listed(const std::vector<Directory>& where);
  void list(const std::vector<Directory>& where);
  std::unique_ptr<SegmentSource> open(const Found& file);
  Result<std::unique_ptr<SegmentSource>> try_open(const Found& file) const;
  std::unique_ptr<SegmentSource> open(const ReplayTrack& track, std::uint64_t key);
  bool is_wanted(const SegmentSource& source, const std::string& name) const;
  std::vector<Candidate> find_candidates(const std::vector<Directory>& where);
  void keep_deleted(std::map<std::string, std::unique_ptr<SegmentSource>> unnamed,
                    const std::set<std::string>& named);
  const CutOff* known_cut_off(const Found& file) const;
  void update();
  std::optional<Error> follow(SegmentSource& source, bool exited);
  CutOff& cut_off(Unreadable entry, std::uint64_t inode, std::uint64_t longest_ns);
  void drop_replaced();
  void keep_events();
  bool is_unchanged();
  std::vector<std::string> problems();
  bool is_host_due() const;
  void assemble();
  bool join_chips();
  ledger::ProcessInput input(const SegmentSource& source);
  const std::string& user(std::uint32_t uid);

  Options options;
  std::unique_ptr<Replay> replay;                   // null: it looks at the present
  std::map<std::uint64_t, std::string> containers;  // of a recording, by the key of the process
  ProcFs procfs;
  HostSources host_sources;
  std::string host;
  Moment now;
  std::uint64_t reaped_ns = 0;
  std::uint64_t host_read_ns = 0;
  std::uint64_t next_key = 1;
  std::vector<std::unique_ptr<SegmentSource>> sources;  // in the order of their paths
  std::set<std::string> deleted;             // of these, files that have no name any more
  std::vector<ledger::ProcessInput> inputs;  // one per source, in the same order
  ChipsOfUsers chips;
  bool same_sources = false;  // as at the last refresh, and none with news
  bool changed = false;       // by the last refresh
  bool interrupted = false;   // the last refresh did not come to its end
  std::vector<Unreadable> unreadable;
  std::map<std::string, CutOff> cut_offs;  // by path
  std::uint64_t retry_ns = ~0ull;          // when the first of them is to be opened again
  std::vector<Excess> excesses;            // of the last listing
  std::map<std::uint32_t, std::size_t>
      late;                                // by owner: files that the last look left for the next
  std::vector<std::string> told_problems;  // in the snapshot
  std::vector<std::string> directories;
  std::vector<ListState> lists;  // of the directories, before they were last listed
  bool newborns = false;         // there are files that may become segments
  std::map<std::uint32_t, std::string> users;
  ledger::PeakMemory peaks;
  ledger::Snapshot snapshot;
  EventLog log;
};

}  // namespace ttmem::collect
