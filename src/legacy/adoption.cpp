// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A daemon that starts finds the segments of the clients that an earlier one served, and takes over
// those whose process still lives: what they hold goes into a segment of its own, marked partial.
//
// The old file first loses its name as a segment ("<name>.adopting"), then the new one is written,
// then the old one is removed. Whenever this is interrupted, the file with that ending is the
// truth, and the next daemon starts from it.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "collect/collector.hpp"
#include "collect/directories.hpp"
#include "collect/liveness.hpp"
#include "legacy/service.hpp"
#include "segment/writer_directory.hpp"

namespace ttmem::legacy {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".adopting";

std::string directory_of(const std::string& wanted) {
  segment::WriterDirectory directory;
  if (segment::open_writer_directory(wanted.c_str(), directory) != 0) return "";
  return directory.path;
}

// Nobody writes it any more.
bool is_orphan(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return file && !collect::locked(file.get());
}

// "ttmem-<pid>-<start>-": what all segments of one process begin with.
std::string process_part(const std::string& name) { return name.substr(0, name.rfind('-') + 1); }

// An adoption that was interrupted: what the new file holds so far is a part of the old one.
void undo(const fs::path& interrupted) {
  std::error_code error;
  const std::string name = interrupted.stem().string();
  const std::string part = process_part(name);
  for (const auto& each : fs::directory_iterator(interrupted.parent_path(), error)) {
    const std::string other = each.path().filename().string();
    if (other.starts_with(part) && collect::pid_of_name(other) && is_orphan(each.path())) {
      fs::remove(each.path(), error);
    }
  }
  fs::rename(interrupted, interrupted.parent_path() / name, error);
}

void undo_interrupted(const std::string& directory) {
  std::vector<fs::path> interrupted;
  std::error_code error;
  for (const auto& each : fs::directory_iterator(directory, error)) {
    const fs::path& path = each.path();
    if (path.extension() == kEnding && collect::pid_of_name(path.stem().string()) &&
        is_orphan(path)) {
      interrupted.push_back(path);
    }
  }
  for (const fs::path& path : interrupted) undo(path);
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
      request.id = kernel_of_program(holding.id, device);
      return request;
    default:
      return std::nullopt;
  }
}

}  // namespace

void Service::adopt() {
  const std::string directory = directory_of(options_.directory);
  if (directory.empty() || !options_.write_segments) return;
  undo_interrupted(directory);
  collect::Collector collector({.directories = {directory}});
  collector.refresh();
  std::map<std::uint64_t, Orphan> orphans;  // by key of the process
  for (const ledger::ProcessView& process : collector.snapshot().processes) {
    if (!is_adoptable(process) || !is_orphan(directory + "/" + process.segment)) continue;
    orphans.emplace(process.key, orphan_of(collector.snapshot(), process));
  }
  collector.holdings([&](const ledger::HoldingView& holding) {
    const auto found = orphans.find(holding.process->key);
    if (found != orphans.end() && holding.process->alive) found->second.holdings.push_back(holding);
  });
  for (const auto& [key, orphan] : orphans) {
    const fs::path old = fs::path(directory) / orphan.file;
    const fs::path aside = old.string() + std::string(kEnding);
    std::error_code error;
    fs::rename(old, aside, error);
    if (error) continue;
    Client& owner = client(orphan.pid);
    if (owner.gone) {
      fs::rename(aside, old, error);
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
    fs::remove(aside, error);
    ++health_.adopted_clients;
  }
}

void Service::restore(const Request& request, Client& client, const Chip& chip,
                      std::uint64_t since_ns) {
  const Place place{request.device, request.id};
  if (request.device < 0 || request.device >= kDevices) return;
  ClientSegment* segment = segment_of(client);
  if (request.type == Type::kAlloc && request.kind < kKinds) {
    client.holdings.allocate(place, request.kind, request.size);
    if (segment != nullptr) segment->allocated(place, chip, request.kind, request.size);
  } else if (request.type == Type::kCbAlloc) {
    const Cb cb = client.holdings.add_cb(place, request.size);
    if (segment != nullptr) segment->cb_added(place, chip, cb);
  } else if (request.type == Type::kKernelLoad) {
    const Kernel kernel{request.size, since_ns, request.kind};
    client.holdings.load(place, kernel);
    if (segment != nullptr) segment->kernel_loaded(place, chip, kernel, false);
  }
  ++entries_;
}

}  // namespace ttmem::legacy
