// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/service.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "client/identity.hpp"
#include "collect/clock.hpp"
#include "legacy/server_texts.hpp"
#include "ttmem/ttmem_words.h"

namespace ttmem::legacy {
namespace {

std::optional<segment::Identity> identify_process(std::int32_t pid) {
  const segment::Identity who = client::identity_of(pid);
  if (who.start_ticks == 0) return std::nullopt;
  return who;
}

}  // namespace

Service::Service(ServiceOptions options, Log& log)
    : options_(std::move(options)), log_(log), owner_log_(log), identify_(identify_process) {}

// ---- clients -----------------------------------------------------------------------------------

Client& Service::client(std::int32_t pid, std::uint32_t connected_by) {
  auto& known = clients_[pid];
  if (known) return *known;
  // The descriptor first: a pid that is looked up while it is open cannot change hands.
  FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const auto who = process ? identify_(pid) : std::nullopt;
  segment::Identity unknown = {};
  unknown.pid = pid;
  unknown.uid = connected_by;
  known = std::make_unique<Client>(who.value_or(unknown), tallies_);
  known->exit_descriptor = std::move(process);
  known->gone = !who;
  return *known;
}

Client* Service::find(std::int32_t pid) {
  const auto found = clients_.find(pid);
  return found == clients_.end() ? nullptr : found->second.get();
}

void Service::for_each_client(const std::function<void(Client&)>& visit) {
  for (auto& [pid, client] : clients_) visit(*client);
}

void Service::connection_opened(Client& client) {
  if (client.connections++ == 0 && client.segment) client.segment->connected(true);
}

void Service::connection_closed(Client& client) {
  if (--client.connections == 0 && client.segment) client.segment->connected(false);
}

void Service::bury(std::int32_t pid) {
  const auto found = clients_.find(pid);
  if (found == clients_.end()) return;
  Client& client = *found->second;
  if (!client.holdings.empty()) {
    owner_log_.report(client.owner(), death_lines(pid, client.holdings.sum()));
  } else if (client.segment) {
    client.segment->close();
  }
  if (client.segment) buried_.emplace(pid, client.identity.start_ticks);
  count_entries(client.owner(), client.holdings.entries(), 0);
  clients_.erase(found);
}

ClientSegment* Service::segment_of(Client& client) {
  const bool can = options_.write_segments && !client.unpublished && !client.gone;
  if (client.segment || !can || tracked_.contains({client.pid(), client.identity.uid})) {
    return client.segment.get();
  }
  int error = 0;
  client.segment = ClientSegment::open(client.identity, options_.directory, error);
  if (!client.segment) {
    client.unpublished = true;
    owner_log_.error(
        client.owner(),
        fmt::format(
            "⚠️  PID {}: no segment can be written ({}); only this server knows what it holds\n",
            client.pid(), std::strerror(error)));
  }
  return client.segment.get();
}

Chip Service::chip_of(std::int32_t device) const {
  const auto known = host_.find(device);
  // A mock chip is as its own process made it up, and no client of another one means it.
  const bool real =
      known != host_.end() && known->second.chip.unique_id != 0 && !known->second.chip.mock;
  return real ? known->second.chip : unknown_chip(device);
}

// ---- messages ----------------------------------------------------------------------------------

bool Service::refuse(std::uint32_t owner, const std::string& line) {
  owner_log_.error(owner, line);
  return false;
}

bool Service::accepts(const Request& request, std::uint32_t owner) {
  const bool adds = request.type == Type::kAlloc || request.type == Type::kCbAlloc ||
                    request.type == Type::kKernelLoad;
  if (!adds) return true;
  if (!is_device(request.device)) {
    return refuse(owner, bad_device_line(request.device));
  }
  const bool buffer = request.type == Type::kAlloc;
  const std::uint64_t most =
      request.type == Type::kKernelLoad ? kMostKernelBytes : kMostBytes100GiB;
  if ((buffer && request.size == 0) || request.size > most) {
    return refuse(owner, bad_size_line(request.size));
  }
  if (buffer && request.kind >= kKinds) {
    return refuse(owner, bad_kind_line(request.kind, {request.device, request.id}));
  }
  return true;
}

bool Service::has_room(Client& client) {
  const auto found = entries_of_.find(client.owner());
  const std::uint64_t own = found == entries_of_.end() ? 0 : found->second;
  const std::uint64_t others = std::min(entries_ - own, options_.most_entries);
  if (own < (options_.most_entries - others + 3) / 4) {
    told_full_.erase(client.owner());
    return true;
  }
  if (ClientSegment* segment = segment_of(client)) segment->anomaly(TTMEM_ANOMALY_LIMIT);
  if (told_full_.insert(client.owner()).second) {
    owner_log_.error(
        client.owner(),
        fmt::format("⚠️  {} entries of user {} are live: more are ignored until some are freed\n",
                    own, client.owner()));
  }
  return false;
}

void Service::count_entries(std::uint32_t owner, std::uint64_t before, std::uint64_t after) {
  if (before == after) return;
  entries_ += after - before;
  std::uint64_t& own = entries_of_[owner];
  own += after - before;
  if (own == 0) entries_of_.erase(owner);
}

void Service::apply(const Request& request, Client& client) {
  TTMEM_DCHECK(!is_question(request.type));  // those are answered, and change nothing
  if (!accepts(request, client.owner())) {
    if (auto* segment = segment_of(client)) segment->anomaly(TTMEM_ANOMALY_BAD_VALUE, request.id);
    return;
  }
  const std::uint64_t before = client.holdings.entries();
  switch (request.type) {
    case Type::kAlloc:
      allocate(request, client);
      break;
    case Type::kFree:
      free(request, client);
      break;
    case Type::kCbAlloc:
      add_cb(request, client);
      break;
    case Type::kCbFree:
      remove_cb(request, client);
      break;
    case Type::kKernelLoad:
      load_kernel(request, client);
      break;
    case Type::kKernelUnload:
      unload_kernel(request, client);
      break;
    default:
      refuse(client.owner(), unknown_type_line(static_cast<std::uint8_t>(request.type)));
      break;
  }
  count_entries(client.owner(), before, client.holdings.entries());
}

void Service::allocate(const Request& request, Client& client) {
  if (!has_room(client)) return;
  using What = ClientHoldings::Allocated::What;
  const Place place{request.device, request.id};
  const auto done = client.holdings.allocate(place, request.kind, request.size);
  if (done.what == What::kReplaced && log_.wants_events()) {
    log_.event(replaced_line(client.pid(), place, done.size_before, request.size));
  }
  ClientSegment* segment = segment_of(client);
  if (segment != nullptr && done.what != What::kReferenced) {
    segment->allocated(place, chip_of(place.device), request.kind, request.size);
  }
  if (log_.wants_events()) {
    log_.event(allocated_line(client.pid(), place, request.kind, request.size, done.references));
  }
}

void Service::free(const Request& request, Client& client) {
  const Place place{request.device, request.id};
  const auto freed = client.holdings.free(place);
  if (!freed) {
    report_anomaly(TTMEM_ANOMALY_UNKNOWN_FREE, place, client);
    if (log_.wants_events()) log_.event(unknown_free_line(client.pid(), place));
    return;
  }
  ambiguous_frees_ += freed->ambiguous;
  if (freed->buffer.references == 0 && client.segment) {
    client.segment->freed(place, freed->buffer.kind);
  }
  if (log_.wants_events()) log_.event(freed_line(client.pid(), place, freed->buffer));
}

void Service::add_cb(const Request& request, Client& client) {
  if (!has_room(client)) return;
  const Place place{request.device, request.id};
  const Cb cb = client.holdings.add_cb(place, request.size);
  if (ClientSegment* segment = segment_of(client)) {
    segment->cb_added(place, chip_of(place.device), cb);
  }
  log_cb(true, place.device, cb.size);
}

void Service::remove_cb(const Request& request, Client& client) {
  const Place place{request.device, request.id};
  const auto cb = client.holdings.remove_cb(place, request.size);
  if (!cb) return report_anomaly(TTMEM_ANOMALY_UNKNOWN_PROGRAM, place, client);
  if (client.segment) client.segment->cb_removed(*cb);
  log_cb(false, request.device, cb->size);
}

void Service::load_kernel(const Request& request, Client& client) {
  if (!has_room(client)) return;
  const Place place{request.device, request.id};
  const Kernel kernel{request.size, collect::Moment::now().wall_ns, request.kind,
                      request.estimated};
  const auto before = client.holdings.load(place, kernel);
  const bool launched_again = before && before->size == kernel.size &&
                              before->type == kernel.type && before->estimated == kernel.estimated;
  if (before && !launched_again && client.segment) {
    client.segment->kernel_unloaded(place);
    report_anomaly(TTMEM_ANOMALY_REPLACED, place, client);
  }
  if (ClientSegment* segment = segment_of(client); segment != nullptr && launched_again) {
    segment->kernel_launched(place);
  } else if (segment != nullptr) {
    segment->kernel_loaded(place, chip_of(place.device), kernel, true);
  }
  log_kernel(true, place, kernel);
}

void Service::unload_kernel(const Request& request, Client& client) {
  const Place place{request.device, request.id};
  const auto kernel = client.holdings.unload(place);
  if (!kernel) return report_anomaly(TTMEM_ANOMALY_UNKNOWN_PROGRAM, place, client);
  if (client.segment) client.segment->kernel_unloaded(place);
  log_kernel(false, place, *kernel);
}

// Counted even if it is the first that a client sends, as the relinked client counts it.
void Service::report_anomaly(std::uint32_t kind, const Place& place, Client& client) {
  ClientSegment* segment = segment_of(client);
  if (segment == nullptr) return;
  if (!is_device(place.device)) return segment->anomaly(kind, place.id);
  segment->anomaly_at(kind, place, chip_of(place.device));
}

void Service::log_cb(bool added, std::int32_t device, std::uint64_t size) {
  if (!log_.wants_events()) return;
  const std::uint64_t total = tallies_[device].cb_bytes + host_tally(device).cb_bytes;
  log_.event(cb_line(added, device, size, total));
}

void Service::log_kernel(bool loaded, const Place& place, const Kernel& kernel) {
  if (!log_.wants_events()) return;
  const std::uint64_t total =
      tallies_[place.device].all_kernel_bytes() + host_tally(place.device).all_kernel_bytes();
  log_.event(kernel_line(loaded, place.device, kernel, total));
}

const Tally& Service::host_tally(std::int32_t device) const {
  static const Tally kNothing;
  const auto known = host_.find(device);
  return known == host_.end() ? kNothing : known->second.tally;
}

}  // namespace ttmem::legacy
