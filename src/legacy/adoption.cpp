// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A daemon that starts finds the segments of the clients that an earlier one served, and takes over
// those whose process still lives: what they hold goes into a segment of its own, marked partial.
//
// The old file first loses its name as a segment ("<name>.adopting"), then the new one is written,
// then the old one is removed. Whenever this is interrupted, the file with that ending is the
// truth, and the next daemon starts from it.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/foreign_file.hpp"
#include "collect/collector.hpp"
#include "collect/directories.hpp"
#include "collect/liveness.hpp"
#include "legacy/service.hpp"
#include "segment/format.hpp"
#include "segment/writer_directory.hpp"

namespace ttmem::legacy {
namespace {

constexpr std::string_view kEnding = ".adopting";

// A segment that a daemon of this user wrote for a client, and that nobody writes any more. Others'
// files are theirs, whatever their names and contents say.
bool is_orphan(int directory, const std::string& name) {
  const ForeignFile file = open_foreign(directory, name.c_str());
  if (file.error != 0 || file.facts.st_uid != ::geteuid()) return false;
  segment::Header header;
  const bool whole =
      ::pread(file.descriptor.get(), &header, sizeof header, 0) == ssize_t{sizeof header};
  return whole && std::memcmp(header.magic, segment::kMagic, sizeof header.magic) == 0 &&
         header.source == TTMEM_SOURCE_LEGACY && !collect::locked(file.descriptor.get());
}

// "ttmem-<pid>-<start>-": what all segments of one process begin with.
std::string process_part(const std::string& name) { return name.substr(0, name.rfind('-') + 1); }

std::vector<std::string> names_in(int directory) {
  std::vector<std::string> names;
  FileDescriptor again(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(again ? ::fdopendir(again.get()) : nullptr,
                                                   ::closedir);
  if (!stream) return names;
  [[maybe_unused]] const int given = again.release();  // closedir closes it
  while (const dirent* entry = ::readdir(stream.get())) names.emplace_back(entry->d_name);
  return names;
}

// An adoption that was interrupted: what the new file holds so far is a part of the old one.
void undo(int directory, const std::string& interrupted, const std::vector<std::string>& names) {
  const std::string name = interrupted.substr(0, interrupted.size() - kEnding.size());
  const std::string part = process_part(name);
  for (const std::string& other : names) {
    if (other.starts_with(part) && collect::pid_of_name(other) && is_orphan(directory, other)) {
      ::unlinkat(directory, other.c_str(), 0);
    }
  }
  ::renameat(directory, interrupted.c_str(), directory, name.c_str());
}

void undo_interrupted(int directory) {
  const std::vector<std::string> names = names_in(directory);
  for (const std::string& name : names) {
    if (!name.ends_with(kEnding)) continue;
    const std::string stem = name.substr(0, name.size() - kEnding.size());
    if (collect::pid_of_name(stem) && is_orphan(directory, name)) undo(directory, name, names);
  }
}

bool is_adoptable(const ledger::ProcessView& process) {
  return process.alive && process.sources == std::vector{ledger::Source::kLegacy};
}

struct Orphan {
  std::int32_t pid = 0;
  std::map<std::uint32_t, std::int32_t> numbers;  // device of the document -> of the client
  std::map<std::int32_t, Chip> chips;
  std::vector<ledger::HoldingView> holdings;
  std::string file;
};

Orphan orphan_of(const ledger::Snapshot& snapshot, const ledger::ProcessView& process) {
  Orphan orphan;
  orphan.pid = process.pid;
  orphan.file = process.segment;
  for (const ledger::ProcessDeviceView& device : process.devices) {
    if (!device.metal_id) continue;
    orphan.numbers[device.id] = *device.metal_id;
    for (const ledger::DeviceView& view : snapshot.devices) {
      if (view.id != device.id) continue;
      orphan.chips[*device.metal_id] = {view.unique_id, static_cast<std::uint32_t>(view.arch),
                                        view.mock};
    }
  }
  return orphan;
}

// What a holding was when the client told it, as the message that tells it again.
std::optional<Request> message_of(const ledger::HoldingView& holding, std::int32_t device) {
  Request request;
  request.device = device;
  switch (holding.kind) {
    case ledger::HoldingKind::kBuffer:
      request.type = Type::kAlloc;
      request.size = holding.requested.value_or(0);
      request.kind = static_cast<std::uint8_t>(holding.space);
      request.id = holding.id;
      return request;
    case ledger::HoldingKind::kRange:
      request.type = Type::kCbAlloc;
      request.size = holding.block.value_or(holding.requested.value_or(0));
      request.id = holding.address;
      return request;
    case ledger::HoldingKind::kKernel:
      request.type = Type::kKernelLoad;
      request.size = holding.packed.value_or(0);
      request.kind = static_cast<std::uint8_t>(holding.type);
      request.id = told_kernel_id(holding.id, holding.name);
      request.estimated = holding.estimated;
      return request;
    default:
      return std::nullopt;
  }
}

}  // namespace

void Service::adopt() {
  segment::WriterDirectory where;
  if (!options_.write_segments ||
      segment::open_writer_directory(options_.directory.c_str(), where) != 0) {
    return;
  }
  const int directory = where.fd.get();
  undo_interrupted(directory);
  collect::Collector collector({.directories = {where.path}});
  collector.refresh();
  std::map<std::uint64_t, Orphan> orphans;  // by key of the process
  for (const ledger::ProcessView& process : collector.snapshot().processes) {
    if (!is_adoptable(process) || !is_orphan(directory, process.segment)) continue;
    orphans.emplace(process.key, orphan_of(collector.snapshot(), process));
  }
  collector.holdings([&](const ledger::HoldingView& holding) {
    const auto found = orphans.find(holding.process->key);
    if (found != orphans.end() && holding.process->alive) found->second.holdings.push_back(holding);
  });
  for (const auto& [key, orphan] : orphans) {
    const std::string& old = orphan.file;
    const std::string aside = old + std::string(kEnding);
    if (::renameat(directory, old.c_str(), directory, aside.c_str()) != 0) continue;
    Client& owner = client(orphan.pid);
    if (owner.gone) {
      ::renameat(directory, aside.c_str(), directory, old.c_str());
      clients_.erase(orphan.pid);
      continue;
    }
    if (ClientSegment* segment = segment_of(owner)) segment->mark_adopted();
    for (const ledger::HoldingView& holding : orphan.holdings) {
      for (const std::uint32_t id : holding.devices) {
        const auto number = orphan.numbers.find(id);
        if (number == orphan.numbers.end()) continue;
        if (const auto message = message_of(holding, number->second)) {
          restore(*message, owner, orphan.chips.at(number->second), holding.since);
        }
      }
    }
    if (owner.segment) owner.segment->connected(false);
    ::unlinkat(directory, aside.c_str(), 0);
  }
}

void Service::restore(const Request& request, Client& client, const Chip& chip,
                      std::uint64_t since_ns) {
  const Place place{request.device, request.id};
  const std::uint64_t before = client.holdings.entries();
  if (!is_device(request.device)) return;
  ClientSegment* segment = segment_of(client);
  if (request.type == Type::kAlloc && request.kind < kKinds) {
    client.holdings.allocate(place, request.kind, request.size);
    if (segment != nullptr) segment->allocated(place, chip, request.kind, request.size);
  } else if (request.type == Type::kCbAlloc) {
    const Cb cb = client.holdings.add_cb(place, request.size);
    if (segment != nullptr) segment->cb_added(place, chip, cb);
  } else if (request.type == Type::kKernelLoad) {
    const Kernel kernel{request.size, since_ns, request.kind, request.estimated};
    client.holdings.load(place, kernel);
    if (segment != nullptr) segment->kernel_loaded(place, chip, kernel, false);
  }
  count_entries(client.owner(), before, client.holdings.entries());
}

}  // namespace ttmem::legacy
