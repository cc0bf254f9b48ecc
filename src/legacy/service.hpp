// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The original's server without its socket: who the clients are, what each message does, what is
// answered and what is logged. A client is a process (pid and start time, as the kernel names the
// sender); its holdings live as long as it does, whatever happens to its connections.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/file_descriptor.hpp"
#include "ledger/snapshot.hpp"
#include "legacy/client_holdings.hpp"
#include "legacy/client_segment.hpp"
#include "legacy/log.hpp"
#include "legacy/owner_log.hpp"
#include "legacy/wire.hpp"
#include "segment/format.hpp"

namespace ttmem::legacy {

// What everybody else holds, and what the devices are: the part of an answer that does not come
// from clients of this socket. Read from a snapshot, in the original's measures (requested bytes,
// size x cores).
struct HostDevice {
  Chip chip;
  Tally tally;
  std::uint64_t total_dram = 0, total_l1 = 0;  // 0 = not known
  std::uint32_t dram_channels = 0, l1_bytes_per_core = 0;
  std::uint32_t ring_capacity = 0, ring_used = 0, ring_programs = 0;
};

using HostFigures = std::map<std::int32_t, HostDevice>;  // by number of the device

// `is_client`: the process is served here, and its figures come from its client.
HostFigures host_figures(const ledger::Snapshot& snapshot,
                         const std::function<bool(const ledger::ProcessView&)>& is_client);

// The capacity fields of an answer.
void describe(const HostDevice& device, Answer& answer);

inline constexpr std::int32_t kDevices = 255;  // numbers 0..254
inline bool is_device(std::int32_t number) { return number >= 0 && number < kDevices; }
inline constexpr std::uint64_t kMostBytes100GiB = 100ull << 30;  // of one entry, this included
inline constexpr std::uint64_t kMostKernelBytes = 0xFFFFFFFF;

struct ServiceOptions {
  std::string directory;  // of the clients' segments; "" = the usual one
  bool write_segments = true;
  // Of all clients together. One owner has a quarter of what the others leave, so that there is
  // always room for one more.
  std::uint64_t most_entries = 1u << 20;
};

class Client {
 public:
  Client(const segment::Identity& who, Tallies& totals) : identity(who), holdings(totals) {}

  std::int32_t pid() const { return identity.pid; }
  std::uint32_t owner() const { return identity.uid; }

  segment::Identity identity;  // start_ticks 0: it was gone before it could be looked up
  ClientHoldings holdings;
  std::unique_ptr<ClientSegment> segment;
  FileDescriptor exit_descriptor;  // a pidfd
  bool gone = false;               // ended; to be buried when all it sent was applied
  bool watched = false;            // by the socket, for its end
  bool unpublished = false;
  std::uint32_t connections = 0;
};

class Service {
 public:
  Service(ServiceOptions options, Log& log);

  // The process that sent something; made at first sight. `connected_by`: the user id of who opened
  // the connection, for a process that is gone before it can be asked.
  Client& client(std::int32_t pid, std::uint32_t connected_by = 0);
  // Null if it sent nothing, or was forgotten.
  Client* find(std::int32_t pid);
  // Forgets a process that ended, logs what it left, ends its segment.
  void bury(std::int32_t pid);
  void connection_opened(Client& client);
  void connection_closed(Client& client);

  // Needs a sender. Changes that client's holdings, its segment and the log.
  void apply(const Request& request, Client& client);
  // Questions need none. What to send back; "" if nothing. `owner`: the user id of who asks.
  std::string answer(const Request& request, Form form, std::uint32_t owner);
  static bool is_question(Type type);

  // What others hold and what the devices are, as of now.
  void observe(const ledger::Snapshot& snapshot);

  // The block that is printed every ten seconds, at SIGUSR1 and at the end.
  std::string statistics() const;

  // Takes over what an earlier daemon left in the segments' directory. Before the socket opens.
  void adopt();

  const Tallies& tallies() const { return tallies_; }
  Log& log() { return log_; }
  OwnerLog& owner_log() { return owner_log_; }
  void for_each_client(const std::function<void(Client&)>& visit);

  // For tests: how a pid becomes an identity; nothing if there is no such process.
  using Identify = std::function<std::optional<segment::Identity>(std::int32_t pid)>;
  void set_identify(Identify identify) { identify_ = std::move(identify); }

 private:
  bool refuse(std::uint32_t owner, const std::string& line);
  bool accepts(const Request& request, std::uint32_t owner);
  void count_entries(std::uint32_t owner, std::uint64_t before, std::uint64_t after);
  bool has_room(Client& client);
  ClientSegment* segment_of(Client& client);
  Chip chip_of(std::int32_t device) const;
  const Tally& host_tally(std::int32_t device) const;

  void allocate(const Request& request, Client& client);
  void free(const Request& request, Client& client);
  void add_cb(const Request& request, Client& client);
  void remove_cb(const Request& request, Client& client);
  void load_kernel(const Request& request, Client& client);
  void unload_kernel(const Request& request, Client& client);
  void report_anomaly(std::uint32_t kind, const Place& place, Client& client);
  void restore(const Request& request, Client& client, const Chip& chip, std::uint64_t since_ns);
  void log_cb(bool added, std::int32_t device, std::uint64_t size);
  void log_kernel(bool loaded, const Place& place, const Kernel& kernel);

  Answer counters(std::int32_t device) const;
  Answer device_info(std::int32_t device) const;
  std::string dump_buffers() const;
  std::string dump_all_kernels() const;
  std::int32_t device_count() const;

  ServiceOptions options_;
  Log& log_;
  OwnerLog owner_log_;
  Identify identify_;
  std::uint64_t ambiguous_frees_ = 0;  // the id was live in several memories: the newest went
  Tallies tallies_;
  HostFigures host_;
  std::unordered_map<std::int32_t, std::unique_ptr<Client>> clients_;
  std::set<std::pair<std::int32_t, std::uint64_t>> buried_;   // that a snapshot may still show
  std::set<std::pair<std::int32_t, std::uint32_t>> tracked_;  // pid, uid: have their own segment
  std::uint64_t entries_ = 0;
  std::map<std::uint32_t, std::uint64_t> entries_of_;  // by owner; none of them 0
  std::set<std::uint32_t> told_full_;                  // owners that have all they may have
};

}  // namespace ttmem::legacy
