// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/sort_orders.hpp"

namespace ttmem::top {
namespace {

using Kernel = const ledger::HoldingView*;
using Program = const ledger::ProgramView*;
using Group = const HoldingGroup*;
using fleet::JobRow;
using HostPointer = const fleet::HostRow*;

// ---- orders that the living and the dead share
// ---------------------------------------------------

constexpr SortOrder<ProcessRow> kByDram = {"DRAM", [](const ProcessRow& a, const ProcessRow& b) {
                                             return a.dram.value_or(0) > b.dram.value_or(0);
                                           }};
constexpr SortOrder<ProcessRow> kByL1 = {"L1 used", [](const ProcessRow& a, const ProcessRow& b) {
                                           return a.l1.value_or(0) > b.l1.value_or(0);
                                         }};
constexpr SortOrder<ProcessRow> kByKernels = {
    "kernels", [](const ProcessRow& a, const ProcessRow& b) {
      return a.kernels.value_or(0) > b.kernels.value_or(0);
    }};
constexpr SortOrder<ProcessRow> kByPid = {"pid", [](const ProcessRow& a, const ProcessRow& b) {
                                            return a.process->pid < b.process->pid;
                                          }};
constexpr SortOrder<ProcessRow> kByUser = {"user", [](const ProcessRow& a, const ProcessRow& b) {
                                             return a.process->user < b.process->user;
                                           }};
constexpr SortOrder<ProcessRow> kByName = {"name", [](const ProcessRow& a, const ProcessRow& b) {
                                             return a.process->name < b.process->name;
                                           }};

// What is not known comes last.
bool tighter(const std::optional<std::int64_t>& a, const std::optional<std::int64_t>& b) {
  return a && (!b || *a < *b);
}

double share_of(HostPointer host) { return host->dram_share().value_or(-1); }

std::uint64_t missing_ranks(const JobRow& job) {
  const std::uint64_t present = job.present.value_or(0), expected = job.expected.value_or(0);
  return expected > present ? expected - present : 0;
}

ledger::TimeNs lived(const ProcessRow& row) { return row.process->ended_at - row.process->started; }

template <typename Row>
std::vector<std::string_view> titles(SortOrders<Row> orders) {
  std::vector<std::string_view> all;
  for (const SortOrder<Row>& order : orders) all.push_back(order.title);
  return all;
}

}  // namespace

SortOrders<ProcessRow> process_orders() {
  static constexpr SortOrder<ProcessRow> kAll[] = {
      kByDram,
      kByL1,
      {"program L1",
       [](const ProcessRow& a, const ProcessRow& b) {
         return a.program_l1.value_or(0) > b.program_l1.value_or(0);
       }},
      kByKernels,
      {"dispatches/s",
       [](const ProcessRow& a, const ProcessRow& b) {
         return a.dispatches_per_second > b.dispatches_per_second;
       }},
      kByPid,
      kByUser,
      kByName,
      {"age", [](const ProcessRow& a, const ProcessRow& b) {
         return a.process->started < b.process->started;
       }}};
  return kAll;
}

SortOrders<ProcessRow> dead_orders() {
  static constexpr SortOrder<ProcessRow> kAll[] = {
      {"ended", [](const ProcessRow& a,
                   const ProcessRow& b) { return a.process->ended_at > b.process->ended_at; }},
      kByDram,
      kByL1,
      kByKernels,
      kByPid,
      kByUser,
      kByName,
      {"lived", [](const ProcessRow& a, const ProcessRow& b) { return lived(a) > lived(b); }}};
  return kAll;
}

SortOrders<Kernel> kernel_orders() {
  static constexpr SortOrder<Kernel> kAll[] = {
      {"footprint",
       [](const Kernel& a, const Kernel& b) {
         return a->footprint.value_or(0) > b->footprint.value_or(0);
       }},
      {"size", [](const Kernel& a,
                  const Kernel& b) { return a->packed.value_or(0) > b->packed.value_or(0); }},
      {"cores", [](const Kernel& a, const Kernel& b) { return a->cores > b->cores; }},
      {"dispatches",
       [](const Kernel& a, const Kernel& b) { return a->dispatches > b->dispatches; }},
      {"hits", [](const Kernel& a, const Kernel& b) { return a->cache_hits > b->cache_hits; }},
      {"reloads", [](const Kernel& a, const Kernel& b) { return a->reloads > b->reloads; }},
      {"last dispatch",
       [](const Kernel& a, const Kernel& b) { return a->last_dispatch > b->last_dispatch; }},
      {"name", [](const Kernel& a, const Kernel& b) { return a->name < b->name; }},
      {"type", [](const Kernel& a, const Kernel& b) { return a->type < b->type; }}};
  return kAll;
}

SortOrders<Program> program_orders() {
  static constexpr SortOrder<Program> kAll[] = {
      {"L1 per core",
       [](const Program& a, const Program& b) { return a->l1_largest_core > b->l1_largest_core; }},
      {"kernels", [](const Program& a, const Program& b) { return a->footprint > b->footprint; }},
      {"dispatches",
       [](const Program& a, const Program& b) { return a->dispatches > b->dispatches; }},
      {"dispatches/s",
       [](const Program& a, const Program& b) {
         return a->dispatches_per_second > b->dispatches_per_second;
       }},
      {"last dispatch",
       [](const Program& a, const Program& b) { return a->last_dispatch > b->last_dispatch; }},
      {"name", [](const Program& a, const Program& b) { return a->name < b->name; }},
      {"cores", [](const Program& a, const Program& b) { return a->cores > b->cores; }},
      {"first dispatch",
       [](const Program& a, const Program& b) { return a->first_dispatch > b->first_dispatch; }},
      {"launches now",
       [](const Program& a, const Program& b) {
         return a->recent_per_second.value_or(0) > b->recent_per_second.value_or(0);
       }},
      {"replays", [](const Program& a, const Program& b) { return a->replays > b->replays; }}};
  return kAll;
}

SortOrders<Group> group_orders() {
  static constexpr SortOrder<Group> kAll[] = {
      {"bytes", [](const Group& a, const Group& b) { return a->bytes > b->bytes; }},
      {"new in 60 s",
       [](const Group& a, const Group& b) { return a->fresh_bytes > b->fresh_bytes; }},
      {"count", [](const Group& a, const Group& b) { return a->count > b->count; }},
      {"age", [](const Group& a, const Group& b) { return a->oldest < b->oldest; }},
      {"operation", [](const Group& a, const Group& b) { return a->operation < b->operation; }}};
  return kAll;
}

SortOrders<JobRow> job_orders() {
  static constexpr SortOrder<JobRow> kAll[] = {
      {"DRAM",
       [](const JobRow& a, const JobRow& b) { return a.dram.value_or(0) > b.dram.value_or(0); }},
      {"L1", [](const JobRow& a, const JobRow& b) { return a.l1.value_or(0) > b.l1.value_or(0); }},
      {"headroom",
       [](const JobRow& a, const JobRow& b) { return tighter(a.headroom, b.headroom); }},
      {"missing",
       [](const JobRow& a, const JobRow& b) { return missing_ranks(a) > missing_ranks(b); }},
      {"died",
       [](const JobRow& a, const JobRow& b) { return a.died.value_or(0) > b.died.value_or(0); }},
      {"job", [](const JobRow& a, const JobRow& b) { return a.key < b.key; }},
      {"user", [](const JobRow& a, const JobRow& b) { return a.user < b.user; }}};
  return kAll;
}

SortOrders<HostPointer> host_orders() {
  static constexpr SortOrder<HostPointer> kAll[] = {
      {"full",
       [](const HostPointer& a, const HostPointer& b) { return share_of(a) > share_of(b); }},
      {"DRAM", [](const HostPointer& a,
                  const HostPointer& b) { return a->dram.value_or(0) > b->dram.value_or(0); }},
      {"L1", [](const HostPointer& a,
                const HostPointer& b) { return a->l1.value_or(0) > b->l1.value_or(0); }},
      {"headroom", [](const HostPointer& a,
                      const HostPointer& b) { return tighter(a->headroom, b->headroom); }},
      {"state", [](const HostPointer& a, const HostPointer& b) { return a->state > b->state; }},
      {"host", [](const HostPointer& a, const HostPointer& b) { return a->name < b->name; }}};
  return kAll;
}

std::vector<std::string_view> order_titles(const ScreenState& state) {
  switch (state.view) {
    case View::kOverview:
      return titles(process_orders());
    case View::kDead:
      return titles(dead_orders());
    case View::kPrograms:
      return titles(program_orders());
    case View::kProcess:
      return state.failures || state.tree ? std::vector<std::string_view>()
                                          : titles(group_orders());
    case View::kDevice:
      return titles(kernel_orders());
    case View::kJobs:
      return state.job ? std::vector<std::string_view>() : titles(job_orders());
    case View::kHosts:
      return titles(host_orders());
    default:
      return {};
  }
}

}  // namespace ttmem::top
