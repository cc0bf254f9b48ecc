// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Many hosts at one moment, as plain data: what the views print. Two things fill it: the daemons of
// the hosts themselves (ask_hosts.hpp), or an engine that scrapes them (ask_engine.hpp). What a
// source does not tell is empty, never 0; hosts that did not answer are listed and are in no sum.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/figures.hpp"
#include "ledger/job.hpp"
#include "ledger/jobs.hpp"

namespace ttmem::fleet {

enum class HostState : std::uint8_t {
  kFresh,   // told now
  kStale,   // told some time ago, and not since
  kSilent,  // did not answer
};
}  // namespace ttmem::fleet
template <>
inline constexpr std::array<std::string_view, 3> ttmem::ledger::kNamesOf<ttmem::fleet::HostState> =
    {"fresh", "stale", "silent"};

namespace ttmem::fleet {

struct HostRow {
  std::string name;  // as it is called here: instance of the engine, or line of the file
  HostState state = HostState::kFresh;
  std::string problem;                  // why it is not fresh; "" = it is
  std::optional<std::uint64_t> age_ns;  // of what it told
  std::optional<std::uint64_t> devices, processes;
  std::optional<std::uint64_t> in_use;  // devices that a process has open
  std::optional<std::uint64_t> untold;  // devices of which nobody tells what is taken
  ledger::Figure dram, dram_capacity, l1, l1_capacity;  // of the devices that tell it
  std::optional<std::int64_t> headroom;                 // of its tightest device

  // Between 0 and 1, empty if it is not known.
  std::optional<double> dram_share() const {
    if (!dram || !dram_capacity || *dram_capacity == 0) return std::nullopt;
    return static_cast<double>(*dram) / static_cast<double>(*dram_capacity);
  }
};

// The first rank of a job that died, and what it held.
struct FirstDeath {
  std::uint64_t time_ns = 0;
  std::string rank, host;  // "" = not known
  ledger::Figure dram, l1;
};

struct JobRow {
  std::string key, user, name;
  std::optional<std::uint64_t> hosts, present, expected, died;
  ledger::Figure dram, l1;                   // of all ranks
  ledger::Figure dram_least, dram_most;      // of single ranks
  std::optional<std::int64_t> headroom;      // least
  std::string headroom_rank, headroom_host;  // whose that is; "" = not known
  std::optional<FirstDeath> first_death;     // empty: nobody died, or nobody can tell who was first
};
// Of a job, as the ledger put it together.
JobRow row_of(const ledger::JobView& job);

// What a job has on one host.
struct JobPart {
  std::string host;
  JobRow row;
};

struct DeviceRow {
  std::string id, unique_id, board;
  ledger::Figure dram, dram_capacity, l1, l1_capacity;
  std::optional<std::int64_t> headroom;
  std::optional<std::uint64_t> processes;
  std::optional<double> temperature, power;
};

// One figure of one device, as the engine has it.
struct FigureRow {
  std::string space, figure;
  std::uint64_t bytes = 0;
};

struct Fleet {
  std::string source;                 // who was asked
  std::uint64_t time_ns = 0;          // when
  std::vector<HostRow> hosts;         // the fullest first, then those that are not fresh
  std::vector<JobRow> jobs;           // the largest first
  std::vector<std::string> alerts;    // that fire: "TtmemDramNearlyFull on node7 device 3"
  std::vector<std::string> problems;  // what is odd, for people

  bool is_partial() const;
  std::uint64_t fresh() const;
};

// Sums over the fresh hosts, of what they tell; what nobody tells is not known.
struct FleetTotals {
  std::uint64_t devices = 0, in_use = 0, untold = 0;
  ledger::Figure dram, dram_capacity, l1, l1_capacity;
  std::optional<std::int64_t> headroom;
};
FleetTotals totals_of(const Fleet& fleet);

// Adds what is known to a sum that is not known before.
void add_known(const ledger::Figure& part, ledger::Figure& sum);

// Puts hosts and jobs in their order.
void sort(Fleet& fleet);

}  // namespace ttmem::fleet
