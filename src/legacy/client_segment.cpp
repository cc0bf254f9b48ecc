// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/client_segment.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "client/atomic_words.hpp"
#include "client/recorder.hpp"
#include "view/units.hpp"

namespace ttmem::legacy {

std::unique_ptr<ClientSegment> ClientSegment::open(const segment::Identity& subject,
                                                   const std::string& directory, int& error) {
  auto recorder = std::make_unique<client::Recorder>();
  client::Options options;
  if (!directory.empty()) options.directory = directory.c_str();
  options.subject = &subject;
  options.source = TTMEM_SOURCE_LEGACY;
  error = recorder->open(options);
  if (error != 0) return nullptr;
  return std::unique_ptr<ClientSegment>(new ClientSegment(std::move(recorder)));
}

ClientSegment::ClientSegment(std::unique_ptr<client::Recorder> recorder)
    : recorder_(std::move(recorder)) {}

ClientSegment::~ClientSegment() { recorder_->give_back(); }

std::string ClientSegment::path() const { return recorder_->writer.store.file().path(); }

const ClientSegment::Device& ClientSegment::device(std::int32_t number, const Chip& chip) {
  auto [entry, added] = devices_.try_emplace(number);
  if (!added) return entry->second;
  ttmem_device_info info = {};
  info.struct_size = sizeof info;
  info.metal_id = number;
  info.unique_id = chip.unique_id;
  info.arch = chip.arch;
  info.mock = chip.mock ? 1 : 0;
  const ttmem_device_t opened = recorder_->devices.opened(info);
  ttmem_set_info set = {};
  set.struct_size = sizeof set;
  set.device_count = 1;
  set.devices = &opened;
  entry->second.set = recorder_->devices.set(set);
  ttmem_allocator_info allocator = {};
  allocator.struct_size = sizeof allocator;
  allocator.set = entry->second.set;
  entry->second.allocator = recorder_->allocators.opened(allocator);
  return entry->second;
}

void ClientSegment::allocated(const Place& place, const Chip& chip, std::uint8_t kind,
                              std::uint64_t size) {
  // The protocol knows a buffer by its address alone and tells its size as it was requested. Blocks
  // and banks are not known, and nothing is derived from them.
  ttmem_buffer buffer = {};
  buffer.id = buffer.address = place.id;
  buffer.requested = size;
  buffer.allocator = device(place.device, chip).allocator;
  buffer.space = kind;
  buffer.layout = TTMEM_LAYOUT_UNKNOWN;
  buffer.flags = TTMEM_FLAG_REQUESTED_ONLY;
  recorder_->buffers.allocated(buffer, {});
}

void ClientSegment::freed(const Place& place, std::uint8_t kind) {
  const auto known = devices_.find(place.device);
  if (known != devices_.end()) {
    recorder_->buffers.freed(known->second.allocator, kind, place.id);
  }
}

void ClientSegment::cb_added(const Place& place, const Chip& chip, const Cb& cb) {
  // The protocol does not tell which program a circular buffer belongs to: each is one of its own.
  ttmem_range range = ttmem::circular_buffer_named(place.id);
  range.size = cb.size;
  ttmem_program program = {};
  program.struct_size = sizeof program;
  program.set = device(place.device, chip).set;
  program.id = cb_program(cb);
  program.flags = TTMEM_FLAG_REQUESTED_ONLY | TTMEM_FLAG_LAUNCHES_UNTOLD;
  program.range_count = 1;
  program.ranges = &range;
  recorder_->programs.registered(program, {});
}

void ClientSegment::cb_removed(const Cb& cb) { recorder_->programs.released(cb_program(cb)); }

// ---- kernels -----------------------------------------------------------------------------------

static_assert(ttmem::kFirstOwnId == view::kFirstOwnId && kOtherProgram >= ttmem::kFirstOwnId);

std::uint64_t told_kernel_id(std::uint64_t program, const std::string& name) {
  return program >> 62 == 1 ? std::strtoull(name.c_str(), nullptr, 16) : program;
}

std::uint64_t ClientSegment::program_for(const Place& place, const Kernel& kernel) {
  const auto known = codes_.find(place.id);
  const bool same = known == codes_.end() ||
                    (known->second.size == kernel.size && known->second.type == kernel.type &&
                     known->second.estimated == kernel.estimated);
  return same && place.id < ttmem::kFirstOwnId ? place.id : kOtherProgram | next_other_++;
}

void ClientSegment::kernel_loaded(const Place& place, const Chip& chip, const Kernel& kernel,
                                  bool by_launch) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  Loaded& loaded = kernels_[{place.device, place.id}];
  loaded.program = program_for(place, kernel);
  Code& told = codes_[loaded.program];
  told = {kernel.size, kernel.type, kernel.estimated, told.devices + 1};
  ttmem_kernel code = {};
  code.packed_bytes = static_cast<std::uint32_t>(std::min(kernel.size, kMost));
  code.processor = 255;
  code.core_type = ttmem::usual_core_type(kernel.type);
  if (loaded.program != place.id) {
    const std::string name = fmt::format("{:#x}", place.id);
    code.name = recorder_->interning.string(name.data(), name.size());
  }
  ttmem_program program = {};
  program.struct_size = sizeof program;
  program.type =
      kernel.type < TTMEM_KERNEL_TYPES ? kernel.type : std::uint8_t{TTMEM_KERNEL_APPLICATION};
  program.set = device(place.device, chip).set;
  program.id = loaded.program;
  program.flags = TTMEM_FLAG_REQUESTED_ONLY;
  if (kernel.estimated) program.flags |= TTMEM_FLAG_ESTIMATED;
  program.kernel_count = 1;
  program.kernels = &code;
  recorder_->programs.registered(program, {});
  if (kernel.estimated) return;
  loaded.workload = recorder_->workloads.created(next_workload_++, program.set);
  recorder_->workloads.joined(loaded.workload, program.id, program.set);
  recorder_->workloads.dispatched(loaded.workload, by_launch ? 0 : TTMEM_DISPATCH_BUILT);
}

void ClientSegment::kernel_launched(const Place& place) {
  const ttmem_workload_t launch = kernels_[{place.device, place.id}].workload;
  if (launch == 0) return;
  if (!recorder_->workloads.dispatched_hot(launch)) recorder_->workloads.dispatched(launch, 0);
}

void ClientSegment::kernel_unloaded(const Place& place) {
  const auto found = kernels_.find({place.device, place.id});
  if (found == kernels_.end()) return;
  const Loaded loaded = found->second;
  kernels_.erase(found);
  if (loaded.workload != 0) recorder_->workloads.released(loaded.workload);
  recorder_->programs.released_on(loaded.program, devices_.at(place.device).set);
  if (--codes_[loaded.program].devices == 0) codes_.erase(loaded.program);
}

void ClientSegment::anomaly(std::uint32_t kind, std::uint64_t id) { recorder_->anomaly(kind, id); }

void ClientSegment::anomaly_at(std::uint32_t kind, const Place& place, const Chip& chip) {
  recorder_->anomaly(kind, place.id, device(place.device, chip).set);
}

void ClientSegment::set_flags(std::uint32_t set, std::uint32_t cleared) {
  client::Store& store = recorder_->writer.store;
  const client::LockGuard guard(store.lock);
  client::set_word(store.header().flags, (store.header().flags & ~cleared) | set);
}

void ClientSegment::connected(bool is) {
  if (is) {
    set_flags(0, segment::kHeaderDisconnected);
  } else {
    recorder_->disconnected();
  }
}

void ClientSegment::mark_adopted() {
  set_flags(segment::kHeaderPartial | segment::kHeaderRecreated, 0);
}

void ClientSegment::close() { recorder_->close(); }

}  // namespace ttmem::legacy
