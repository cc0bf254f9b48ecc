// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What grows from step to step. The rule is that of three snapshots: something
// made in step n that is alive after step n + 2 has survived its step; a line
// whose survivors grow in four of five steps and never fall is suspected. Not
// suspected is what was there before the third step (weights), and what nobody
// allocates by hand: kernel binaries and traces. Programs that pile up in the
// cache are told apart, and so is an L1 whose lowest address falls, however few
// bytes that are. Lines that grow in some steps only, or by blocks of many
// sizes, are told as well, but nobody is warned of them: they are no suspects.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "explain/steps.hpp"
#include "ledger/space_picture.hpp"

namespace ttmem::explain {

// One process on one device, at the beginning of a step.
struct LeakLook {
  ledger::Owner process = ledger::nobody();
  std::uint32_t device = 0;
  std::vector<ledger::SpacePicture> spaces;
};

struct LeakSuspect {
  ledger::Owner process = ledger::nobody();
  std::uint32_t device = 0;
  ledger::Space space = ledger::Space::kDram;
  ledger::HeldOrigin origin;
  std::uint64_t block = 0;  // bytes of one in each bank
  std::uint64_t count = 0;  // survivors
  double blocks_per_step = 0;
  double bytes_per_step = 0;  // in each bank
  double taken_per_step = 0;  // in all banks
  std::optional<double> steps_until_full;
  ledger::TimeNs oldest = 0;
};

struct FallingL1 {
  ledger::Owner process = ledger::nobody();
  std::uint32_t device = 0;
  std::uint64_t first = 0, last = 0;  // lowest addresses
  double bytes_per_step = 0;
};

struct GrowingCache {
  ledger::Owner process = ledger::nobody();
  std::uint32_t device = 0;
  std::uint64_t programs = 0;
  double programs_per_step = 0;
};

// A line whose survivors never fell, and grew in both halves of the time.
struct GrowingLine {
  ledger::Owner process = ledger::nobody();
  std::uint32_t device = 0;
  ledger::Space space = ledger::Space::kDram;
  ledger::HeldOrigin origin;
  std::uint64_t taken = 0;  // by how much it grew, in all banks
  std::uint64_t steps = 0;  // in so many
};

// A process that was followed.
struct WatchedProcess {
  ledger::Owner process = ledger::nobody();
  std::uint64_t steps = 0;  // while it was followed
  std::uint64_t looks = 0;  // at the beginning of one
  bool marked = false;      // the program says where they begin; else found from its sequence
  bool is_known = false;    // there were enough to tell what grows
};

struct LeakReport {
  std::uint64_t steps = 0;  // of the process that made most, while it was followed
  std::string steps_from;   // "marks", "sequence"; "" = none were seen
  std::vector<WatchedProcess> processes;
  std::vector<LeakSuspect> suspects;  // the fastest first
  std::vector<FallingL1> falling;
  std::vector<GrowingCache> caches;
  std::vector<GrowingLine> lines;  // that are no suspects
};

class LeakWatch {
 public:
  bool follows(const ledger::Owner& process) const;
  std::size_t followed() const { return processes_.size(); }
  StepFinder& steps_of(const ledger::Owner& process);
  // Whether a step began since the last look at this process, or it is followed from now on.
  bool is_due(const ledger::Owner& process) const;
  void look(const LeakLook& look);
  // Forgets everybody else: who ended.
  void keep_only(const std::vector<ledger::Owner>& processes);
  LeakReport report() const;

 private:
  // A number at the beginnings of steps.
  struct Series {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> points;  // step, value; the last 6
    void add(std::uint64_t step, std::uint64_t value);
    // By how much a step it grew: in at least four of the last five, never
    // falling. Else 0.
    double growth() const;
    bool is_zero() const;
  };
  using Process = std::tuple<std::int32_t, std::uint64_t, std::string>;
  using Key = std::tuple<Process, std::uint32_t, ledger::Space, std::string, std::string,
                         std::string, std::uint64_t>;
  struct Group {
    Series survivors;
    LeakSuspect told;
    std::uint64_t banks = 0, free = 0;
  };
  using Line =
      std::tuple<Process, std::uint32_t, ledger::Space, std::string, std::string, std::string>;
  // What the survivors of a line take in all banks.
  struct Growth {
    GrowingLine told;
    std::uint64_t first_step = 0, last_step = 0;  // that it was looked at
    std::uint64_t first = 0, last = 0;
    std::vector<std::uint64_t> grew;  // the last steps in which it did
    bool fell = false;
    void add(std::uint64_t step, std::uint64_t taken);
    bool goes_on() const;
  };
  struct Place {
    Series depth;  // of the lowest survivor in L1 below the top of the bank
    Series programs;
    ledger::Owner process = ledger::nobody();
    std::uint32_t device = 0;
    std::uint64_t top = 0;
    std::uint64_t first_lowest = 0;
  };
  struct Followed {
    ledger::Owner process = ledger::nobody();
    StepFinder steps;
    std::uint64_t looked = 0, looks = 0;
    std::uint64_t before = 0;           // steps when it was first looked at
    std::uint64_t surveyed = 0;         // the step in which survivors were last counted; 0 = never
    std::uint64_t surveyed_before = 0;  // and the time before that
    std::uint64_t surveys = 0;          // how often
    std::uint64_t first_survey = 0;     // the step of the first one
    ledger::TimeNs warm_until = 0;  // what was made before is never suspected; 0 = not known yet
    bool marked = false;            // at the last look
  };
  static Process name_of(const ledger::Owner& process);
  // What was made more than two steps ago and is still there.
  struct Survivors {
    std::map<Key, std::uint64_t> counts;
    std::map<Key, const ledger::HeldBlock*> oldest;
  };
  void begin_anew(const Process& name, Followed& followed);
  static Survivors survivors_of(const LeakLook& look, const ledger::SpacePicture& space,
                                const Followed& followed);
  void count_survivors(const LeakLook& look, const ledger::SpacePicture& space,
                       const Followed& followed);
  void add_up_lines(const LeakLook& look, const ledger::SpacePicture& space,
                    const Followed& followed, const Survivors& survivors);
  void look_at_l1(const LeakLook& look, const ledger::SpacePicture& l1, const Followed& followed);

  std::map<Process, Followed> processes_;
  std::map<Key, Group> groups_;
  std::map<Line, Growth> lines_;
  std::map<std::pair<Process, std::uint32_t>, Place> places_;
};

}  // namespace ttmem::explain
