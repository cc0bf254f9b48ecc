// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/ask_hosts.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/duration_text.hpp"
#include "fleet/ssh.hpp"
#include "ledger/jobs.hpp"
#include "view/json.hpp"
#include "view/printable.hpp"

namespace ttmem::fleet {
namespace {

constexpr std::uint64_t kMostSkewNs = 60'000'000'000;

Result<ledger::Snapshot> read(const std::string& text) {
  auto snapshot = view::read_snapshot(text);
  if (snapshot) return std::move(*snapshot);
  return Error{ErrorCode::kWrongKind, "its answer is no snapshot of ttmem"};
}

Result<ledger::Snapshot> ask_daemon_of(const HostEntry& host, const HostQuestion& question) {
  Request request;
  request.url = *host.url;
  request.url.path += "/api/v1/snapshot";
  request.timeout = question.timeout;
  request.most_bytes = view::kMostSnapshotBytes;
  if (!question.token.empty()) {
    request.headers.push_back(authorization(question.token));
  }
  const auto answer = ask(request);
  if (!answer) return answer.error();
  if (answer->status != 200) return Error{ErrorCode::kSystem, status_text(answer->status)};
  return read(answer->body);
}

Result<ledger::Snapshot> ask_by_ssh(const HostEntry& host, const HostQuestion& question) {
  const auto text = run_by_ssh(
      {question.ssh, host.name, question.remote, question.timeout, view::kMostSnapshotBytes});
  return text ? read(*text) : Result<ledger::Snapshot>(text.error());
}

// What the threads fill. It outlives whoever waits: a name that cannot be resolved in time must not
// hold up the others, and cannot be interrupted.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<HostAnswer> answers;
  std::vector<bool> done;
  std::size_t count = 0;
};

void start(const std::shared_ptr<Shared>& shared, std::size_t index, const HostEntry& host,
           const HostQuestion& question) {
  std::thread([shared, index, host, question] {
    auto snapshot = host.url ? ask_daemon_of(host, question) : ask_by_ssh(host, question);
    const std::scoped_lock lock(shared->mutex);
    if (shared->done[index]) return;  // given up
    shared->answers[index].snapshot = std::move(snapshot);
    shared->done[index] = true;
    ++shared->count;
    shared->changed.notify_one();
  }).detach();
}

// ---- the answers as a fleet

void add_devices(const ledger::Snapshot& snapshot, HostRow& row) {
  std::uint64_t alive = 0, in_use = 0, untold = 0;
  for (const ledger::DeviceView& device : snapshot.devices) {
    const auto& dram = device.figures.space(ledger::Space::kDram);
    in_use += device.processes > 0 ? 1u : 0u;
    untold += dram.taken ? 0u : 1u;
    add_known(dram.taken, row.dram);
    add_known(dram.capacity, row.dram_capacity);
    add_known(device.figures.l1_used(), row.l1);
    add_known(device.figures.l1_capacity, row.l1_capacity);
    const auto& room = device.figures.headroom.min;
    if (room && (!row.headroom || *room < *row.headroom)) row.headroom = room;
  }
  for (const ledger::ProcessView& process : snapshot.processes) alive += process.alive ? 1 : 0;
  row.devices = snapshot.devices.size();
  row.in_use = in_use;
  row.untold = untold;
  row.processes = alive;
}

HostRow row_of(const HostAnswer& answer, std::uint64_t now_ns) {
  HostRow row;
  row.name = answer.name;
  if (!answer.snapshot) {
    row.state = HostState::kSilent;
    row.problem = answer.snapshot.error().message;
    return row;
  }
  const std::uint64_t then = answer.snapshot->time;
  row.age_ns = now_ns > then ? now_ns - then : 0;
  add_devices(*answer.snapshot, row);
  return row;
}

// Who calls themselves the same, and whose clocks are off.
void add_problems(const std::vector<HostAnswer>& answers, std::uint64_t now_ns, Fleet& fleet) {
  std::map<std::string, std::vector<std::string>> by_boot;
  std::map<std::string, std::vector<std::string>> by_name;
  for (const HostAnswer& answer : answers) {
    if (!answer.snapshot) continue;
    const std::string& boot = answer.snapshot->boot_id;
    auto& same_boot = by_boot[boot];
    same_boot.push_back(answer.name);
    // One host that is asked twice is said below, and is no second host with its name.
    if (boot.empty() || same_boot.size() == 1) {
      by_name[answer.snapshot->host].push_back(answer.name);
    }
    const std::uint64_t then = answer.snapshot->time;
    const std::uint64_t skew = now_ns > then ? now_ns - then : then - now_ns;
    if (skew > kMostSkewNs) {
      fleet.problems.push_back(fmt::format("the clock of {} is {} {}: its times are not ours",
                                           view::printable(answer.name), duration_text(skew),
                                           now_ns > then ? "behind" : "ahead"));
    }
  }
  for (const auto& [boot, names] : by_boot) {
    if (names.size() < 2 || boot.empty()) continue;
    fleet.problems.push_back(fmt::format("{} are one host: it is counted {} times",
                                         view::printable(fmt::format("{}", fmt::join(names, ", "))),
                                         names.size()));
  }
  for (const auto& [name, names] : by_name) {
    if (names.size() < 2) continue;
    fleet.problems.push_back(
        fmt::format("{} hosts call themselves {}: {}", names.size(), view::printable(name),
                    view::printable(fmt::format("{}", fmt::join(names, ", ")))));
  }
}

}  // namespace

std::vector<HostAnswer> ask_hosts(const std::vector<HostEntry>& hosts, const HostQuestion& question,
                                  const std::function<void(std::size_t)>& progress) {
  const auto shared = std::make_shared<Shared>();
  shared->done.resize(hosts.size());
  for (const HostEntry& host : hosts) {
    shared->answers.push_back({host.name, Error{ErrorCode::kSystem, "no answer in time"}});
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) start(shared, i, hosts[i], question);
  // They keep the deadline themselves; who is still in the resolver then is given up.
  const auto deadline =
      std::chrono::steady_clock::now() + question.timeout + std::chrono::milliseconds(500);
  std::unique_lock lock(shared->mutex);
  std::size_t told = 0;
  while (shared->count < hosts.size()) {
    const bool in_time =
        shared->changed.wait_until(lock, deadline, [&] { return shared->count != told; });
    if (!in_time) break;
    told = shared->count;
    lock.unlock();
    progress(told);
    lock.lock();
  }
  shared->done.assign(hosts.size(), true);
  return std::move(shared->answers);
}

Fleet fleet_of(const std::vector<HostAnswer>& answers, std::uint64_t now_ns) {
  Fleet fleet;
  fleet.time_ns = now_ns;
  std::vector<const ledger::Snapshot*> snapshots;
  // The same name twice would make two ranks of two hosts look like one.
  std::vector<ledger::Snapshot> named;
  named.reserve(answers.size());
  for (const HostAnswer& answer : answers) {
    fleet.hosts.push_back(row_of(answer, now_ns));
    if (!answer.snapshot) continue;
    named.push_back(*answer.snapshot);
    named.back().host = answer.name;
  }
  for (const ledger::Snapshot& each : named) snapshots.push_back(&each);
  for (const ledger::JobView& job : ledger::jobs_of(snapshots)) fleet.jobs.push_back(row_of(job));
  add_problems(answers, now_ns, fleet);
  sort(fleet);
  return fleet;
}

}  // namespace ttmem::fleet
