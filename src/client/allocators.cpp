// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/allocators.hpp"

#include "client/atomic_words.hpp"

namespace ttmem::client {

using segment::Allocator;
using segment::kMaxAllocators;
using segment::kSpaces;
using segment::Note;
using segment::Space;

void Allocators::open(SegmentWriter& writer, Devices& devices, Buffers& buffers) {
  writer_ = &writer;
  devices_ = &devices;
  buffers_ = &buffers;
}

Allocator& Allocators::record(std::uint16_t id) const {
  return writer_->store.at<Allocator>(segment::kAllocatorsOffset)[id];
}

AllocatorState* Allocators::live(ttmem_allocator_t id) {
  AllocatorState* state = buffers_->state(id);
  if (state != nullptr && state->open) return state;
  writer_->report(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, id);
  return nullptr;
}

std::uint16_t Allocators::free_record() {
  const std::uint32_t count = writer_->store.header().allocator_count;
  if (count + 1 < kMaxAllocators) {
    const auto id = static_cast<std::uint16_t>(count + 1);
    return writer_->store.prepare(segment::SectionKind::kAllocators, (id + 1u) * sizeof(Allocator))
               ? id
               : 0;
  }
  // Every number is taken: the allocator that was closed longest ago gives up its own. It has no
  // buffers any more, and readers have had the longest time to look at it.
  std::uint16_t oldest = 0;
  for (std::uint16_t id = 1; id < kMaxAllocators; ++id) {
    if (record(id).open == 0 &&
        (oldest == 0 || record(id).closed_ticks < record(oldest).closed_ticks)) {
      oldest = id;
    }
  }
  return oldest;
}

std::uint32_t Allocators::intern_bank_cores(const ttmem_space_info& info) {
  constexpr std::uint32_t kMostBanks = 4096;
  if (info.bank_cores == nullptr || info.banks == 0 || info.banks > kMostBanks) return 0;
  std::uint8_t places[kMostBanks * 2];
  for (std::uint32_t bank = 0; bank < info.banks; ++bank) {
    places[bank * 2] = info.bank_cores[bank].x0;
    places[bank * 2 + 1] = info.bank_cores[bank].y0;
  }
  return writer_->interner.intern(segment::BlobKind::kBankCores, places, info.banks * 2);
}

ttmem_allocator_t Allocators::opened(const ttmem_allocator_info& info) {
  const ColdCall call(writer_->store);
  const DeviceList* devices = devices_->list(info.set);
  if (devices == nullptr) {
    writer_->report(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, info.set);
    return 0;
  }
  const std::uint16_t id = free_record();
  AllocatorState* state = id == 0 ? nullptr : buffers_->prepare_state(id);
  if (state == nullptr || !state->buffers.open()) {
    writer_->refuse(TTMEM_ANOMALY_LIMIT, id);
    return 0;
  }
  std::uint32_t bank_cores[kSpaces] = {};
  for (std::uint32_t i = 0; i < info.space_count; ++i) {
    if (info.spaces[i].space < kSpaces) {
      bank_cores[info.spaces[i].space] = intern_bank_cores(info.spaces[i]);
    }
  }
  const bool with_peaks = writer_->peaks.prepare();
  const LockGuard guard(writer_->store.lock);
  state->peaks = with_peaks ? peaks_of(*devices) : 0;
  state->devices = *devices;
  state->set = info.set;
  state->id = id;
  for (std::uint32_t space = 0; space < kSpaces; ++space) {
    state->banks[space] = 0;
    state->lock_step_bytes[space] = 0;
  }
  writer_->store.rewrite(record(id), [&](Allocator& allocator) {
    const std::uint64_t version = allocator.version;
    allocator = {};
    allocator.version = version;
    allocator.set = info.set;
    allocator.per_core = info.per_core != 0;
    allocator.open = 1;
    allocator.opened_ticks = writer_->store.clock().now();
    for (std::uint32_t i = 0; i < info.space_count; ++i) {
      const ttmem_space_info& space = info.spaces[i];
      if (space.space >= kSpaces || space.space == TTMEM_SPACE_SYSTEM_MEMORY) continue;
      resize(*state, allocator.spaces[space.space], space, bank_cores[space.space]);
    }
  });
  state->open = true;
  if (id > writer_->store.header().allocator_count) {
    publish(writer_->store.header().allocator_count, std::uint32_t{id});
  }
  writer_->store.note(Note::kAllocatorOpened, {.set = info.set, .allocator = id});
  return id;
}

PeakMask Allocators::peaks_of(const DeviceList& devices) {
  return writer_->peaks.follow(devices, [&](std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t id = 1; id <= writer_->store.header().allocator_count; ++id) {
      AllocatorState* other = buffers_->state(static_cast<ttmem_allocator_t>(id));
      if (other != nullptr && (other->peaks >> from & 1) != 0) other->peaks |= PeakMask{1} << to;
    }
  });
}

// What the buffers take is block x banks: another number of banks changes it for all that live.
void Allocators::resize(AllocatorState& state, Space& space, const ttmem_space_info& info,
                        std::uint32_t bank_cores) {
  const std::uint64_t blocks = state.lock_step_bytes[info.space];
  writer_->figures.lower(info.space, state.devices, blocks * state.banks[info.space]);
  state.banks[info.space] = info.banks;
  writer_->figures.raise(info.space, state.devices, blocks * info.banks);
  space.base = info.base;
  space.bank_bytes = info.bank_bytes;
  space.banks = info.banks;
  space.alignment = info.alignment;
  if (bank_cores != 0) space.bank_cores = bank_cores;
}

void Allocators::resized(ttmem_allocator_t id, const ttmem_space_info& info) {
  const ColdCall call(writer_->store);
  AllocatorState* state = live(id);
  if (state == nullptr) return;
  if (info.space >= kSpaces || info.space == TTMEM_SPACE_SYSTEM_MEMORY) {
    writer_->report(TTMEM_ANOMALY_BAD_VALUE, info.space);
    return;
  }
  const std::uint32_t bank_cores = intern_bank_cores(info);
  const LockGuard guard(writer_->store.lock);
  writer_->store.rewrite(record(id), [&](Allocator& allocator) {
    resize(*state, allocator.spaces[info.space], info, bank_cores);
  });
  segment::Payload payload = {.set = state->set, .allocator = id};
  payload.meta = std::uint64_t{info.space} << segment::Meta::kSpaceShift;
  writer_->store.note(Note::kAllocatorResized, payload);
}

void Allocators::cleared(ttmem_allocator_t id) {
  const ColdCall call(writer_->store);
  AllocatorState* state = live(id);
  if (state == nullptr) return;
  buffers_->clear(*state);
  writer_->note(Note::kAllocatorCleared, {.set = state->set, .allocator = id});
}

void Allocators::closed(ttmem_allocator_t id) {
  const ColdCall call(writer_->store);
  AllocatorState* state = live(id);
  if (state == nullptr) return;
  buffers_->clear(*state);
  {
    const LockGuard guard(writer_->store.lock);
    state->open = false;
    writer_->store.rewrite(record(id), [&](Allocator& allocator) {
      allocator.open = 0;
      allocator.closed_ticks = writer_->store.clock().now();
    });
    writer_->store.note(Note::kAllocatorClosed, {.set = state->set, .allocator = id});
  }
  buffers_->clear(*state);  // what other threads allocated in between
  state->buffers.give_back();
}

void Allocators::audited(ttmem_allocator_t id, std::uint32_t space, std::uint64_t ours,
                         std::uint64_t theirs) {
  const ColdCall call(writer_->store);
  if (live(id) == nullptr) return;
  if (space >= kSpaces) {
    writer_->report(TTMEM_ANOMALY_BAD_VALUE, space);
    return;
  }
  bool differs_again = false;
  {
    const LockGuard guard(writer_->store.lock);
    writer_->store.rewrite(record(id), [&](Allocator& allocator) {
      Space& audit = allocator.spaces[space];
      // Between our number and theirs another thread may have allocated: only a second difference
      // in a row is an anomaly.
      differs_again = audit.audits > 0 && audit.audit_ours != audit.audit_theirs && ours != theirs;
      audit.audits += 1;
      audit.audit_ours = ours;
      audit.audit_theirs = theirs;
      audit.audit_ticks = writer_->store.clock().now();
    });
  }
  if (differs_again) writer_->report(TTMEM_ANOMALY_AUDIT, id);
}

}  // namespace ttmem::client
