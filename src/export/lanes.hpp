// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Lives overlap, and slices of one track must not: each life takes the lowest lane that is free in
// its group, and gives it back when it ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <vector>

#include "export/story.hpp"

namespace ttmem::exports {

class Lanes {
 public:
  std::uint32_t take() {
    if (free_.empty()) return used_++;
    const std::uint32_t lane = free_.top();
    free_.pop();
    return lane;
  }
  void give_back(std::uint32_t lane) { free_.push(lane); }

 private:
  std::uint32_t used_ = 0;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_;
};

// A number for each process that no other one of the story has: its pid, unless that is taken, as
// every container has a process 1.
class Pids {
 public:
  std::uint64_t of(const ledger::ProcessName& process) {
    const auto [known, added] =
        pids_.try_emplace(process.key, static_cast<std::uint64_t>(process.pid));
    if (added && !taken_.insert(known->second).second) known->second = kForeign + process.key;
    return known->second;
  }

 private:
  static constexpr std::uint64_t kForeign = 1u << 23;  // above any pid of Linux
  std::map<std::uint64_t, std::uint64_t> pids_;        // by key of the process
  std::set<std::uint64_t> taken_;
};

// Which lanes a life stands on, in words: "buffers in dram", "programs".
inline std::string lane_group(const Life& life) {
  if (life.holding.kind == ledger::HoldingKind::kProgram) return "programs";
  return "buffers in " + std::string(ledger::name(life.holding.space));
}

// What a slice is called: by what made it.
inline std::string title_of(const ledger::HoldingView& holding) {
  for (const std::string* text : {&holding.name, &holding.operation, &holding.line}) {
    if (!text->empty()) return *text;
  }
  return "(origin not known)";
}

}  // namespace ttmem::exports
