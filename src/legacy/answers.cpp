// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The half of the service that answers and changes nothing.
#include <algorithm>

#include "collect/clock.hpp"
#include "legacy/server_texts.hpp"
#include "legacy/service.hpp"

namespace ttmem::legacy {
namespace {

bool is_legacy(const ledger::ProcessView& process) {
  return std::ranges::find(process.sources, ledger::Source::kLegacy) != process.sources.end();
}

Tally sum(const Tally& a, const Tally& b) {
  Tally both = a;
  for (std::size_t i = 0; i < kKinds; ++i) both.bytes[i] += b.bytes[i];
  for (std::size_t i = 0; i < kKernelKinds; ++i) {
    both.kernel_bytes[i] += b.kernel_bytes[i];
    both.kernels[i] += b.kernels[i];
  }
  both.buffers += b.buffers;
  both.cb_bytes += b.cb_bytes;
  both.cbs += b.cbs;
  return both;
}

}  // namespace

bool Service::is_question(Type type) {
  return type == Type::kQuery || type == Type::kDeviceInfoQuery || type == Type::kDumpRemaining ||
         type == Type::kDumpKernels || type == Type::kResponse || type == Type::kDeviceInfoResponse;
}

void Service::observe(const ledger::Snapshot& snapshot) {
  std::set<std::pair<std::int32_t, std::uint64_t>> shown;
  tracked_.clear();
  host_ = host_figures(snapshot, [&](const ledger::ProcessView& process) {
    if (is_legacy(process) && buried_.contains({process.pid, process.start})) {
      shown.emplace(process.pid, process.start);
      return true;
    }
    if (!is_legacy(process) && !process.segment.empty()) tracked_.emplace(process.pid, process.uid);
    const auto known = clients_.find(process.pid);
    return known != clients_.end() && known->second->identity.start_ticks == process.start &&
           !known->second->holdings.empty();
  });
  buried_ = std::move(shown);
}

std::string Service::answer(const Request& request, Form form, std::uint32_t owner) {
  switch (request.type) {
    case Type::kQuery:
      return encode(counters(request.device), form);
    case Type::kDeviceInfoQuery:
      return encode(device_info(request.device), form);
    case Type::kDumpRemaining: {
      const std::string text = dump_buffers();
      owner_log_.report(owner, "📋 Received DUMP_REMAINING request...\n" + text);
      return text;
    }
    case Type::kDumpKernels: {
      const std::string text = dump_all_kernels();
      owner_log_.report(owner, text);
      return text;
    }
    default:
      refuse(owner, unknown_type_line(static_cast<std::uint8_t>(request.type)));
      return "";
  }
}

Answer Service::counters(std::int32_t device) const {
  Answer answer;
  answer.type = Type::kResponse;
  answer.device = device;
  const auto own = tallies_.find(device);
  const Tally all = sum(own == tallies_.end() ? Tally() : own->second, host_tally(device));
  answer.dram = all.bytes[0];
  answer.l1 = all.bytes[1];
  answer.l1_small = all.bytes[3];
  answer.trace = all.bytes[4];
  answer.cb = all.cb_bytes;
  answer.kernels = all.all_kernel_bytes();
  if (const auto known = host_.find(device); known != host_.end()) {
    answer.ring_capacity = known->second.ring_capacity;
    answer.ring_used = known->second.ring_used;
    answer.ring_programs = known->second.ring_programs;
  }
  return answer;
}

Answer Service::device_info(std::int32_t device) const {
  Answer answer;
  answer.type = Type::kDeviceInfoResponse;
  answer.device = device;
  if (device == -1) {
    answer.devices = static_cast<std::uint32_t>(device_count());
    answer.available = answer.devices > 0;
    return answer;
  }
  // Circular buffers and kernels as well, where the form has room for them.
  const Answer held = counters(device);
  answer.cb = held.cb;
  answer.kernels = held.kernels;
  if (const auto known = host_.find(device); known != host_.end()) {
    describe(known->second, answer);
  } else if (const auto used = tallies_.find(device); used != tallies_.end()) {
    answer.available = !used->second.empty();
  }
  return answer;
}

// Viewers ask for 0..n-1.
std::int32_t Service::device_count() const {
  std::int32_t count = host_.empty() ? 0 : host_.rbegin()->first + 1;
  for (const auto& [device, tally] : tallies_) {
    if (!tally.empty()) count = std::max(count, device + 1);
  }
  return count;
}

std::string Service::dump_buffers() const {
  std::vector<DumpedBuffer> all;
  for (const auto& [pid, client] : clients_) {
    client->holdings.for_each_buffer([&, owner = pid](const Place& place, const Buffer& buffer) {
      all.push_back({place, buffer, owner});
    });
  }
  return dump_remaining(std::move(all));
}

std::string Service::dump_all_kernels() const {
  std::vector<DumpedKernel> all;
  for (const auto& [pid, client] : clients_) {
    client->holdings.for_each_kernel([&, owner = pid](const Place& place, const Kernel& kernel) {
      all.push_back({place, kernel, owner});
    });
  }
  return dump_kernels(std::move(all), collect::Moment::now().wall_ns);
}

std::string Service::statistics() const {
  std::string text = statistics_head();
  std::set<std::int32_t> devices;
  for (const auto& [device, tally] : tallies_) devices.insert(device);
  for (const auto& [device, known] : host_) devices.insert(device);
  std::map<std::int32_t, std::uint64_t> covered;
  for (const auto& [pid, client] : clients_) add_covered_bytes(client->holdings, covered);
  std::uint64_t active = 0;
  for (const std::int32_t device : devices) {
    const auto own = tallies_.find(device);
    const Tally all = sum(own == tallies_.end() ? Tally() : own->second, host_tally(device));
    if (all.empty() && all.device_bytes() == 0) continue;
    active += all.buffers;
    StatisticsLine line;
    line.device = device;
    line.buffers = all.buffers;
    line.dram = all.bytes[0];
    line.l1 = all.bytes[1];
    line.total = all.device_bytes();
    line.kernels = all.all_kernel_bytes();
    line.cbs = all.cb_bytes;
    line.covered = host_tally(device).cb_bytes;
    line.covered += covered[device];
    text += statistics_lines(line);
  }
  return text + statistics_end(active, ambiguous_frees_);
}

}  // namespace ttmem::legacy
