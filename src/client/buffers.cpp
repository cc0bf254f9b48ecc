// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/buffers.hpp"

#include <cerrno>

#include "client/atomic_words.hpp"
#include "client/errno_keeper.hpp"

namespace ttmem::client {

using segment::Kind;
using segment::kNoSlot;
using segment::Meta;
using segment::Payload;

namespace {

static_assert(SlotIndex::kNone == kNoSlot);
constexpr unsigned kAbiFlags = 0x1F;
constexpr int kTries = 4;  // other threads may use up the room that was made

std::uint32_t tag_of(std::uint32_t space, std::uint64_t id) {
  return static_cast<std::uint32_t>(mix(id ^ std::uint64_t{space} << 61));
}

Payload payload_of(const ttmem_buffer& buffer, ttmem_origin_t origin, std::uint64_t ticks) {
  const unsigned flags =
      (buffer.flags & kAbiFlags) | (buffer.per_core != 0 ? segment::kFlagPerCore : 0);
  return {
      .meta = Meta::pack(Kind::kBuffer, true, buffer.space, buffer.layout, flags, buffer.block),
      .id = buffer.id,
      .a = buffer.address,
      .b = buffer.requested,
      .time = ticks,
      .allocator = buffer.allocator,
      .cores = buffer.cores,
      .origin = origin,
  };
}

}  // namespace

bool Buffers::open(SegmentWriter& writer) {
  writer_ = &writer;
  return states_.reserve(segment::kMaxAllocators) && binaries_.open() &&
         overflow_.reserve(writer.store.file().max_slots() / 32);
}

void Buffers::give_back() {
  const std::uint32_t count = writer_->store.header().allocator_count;
  for (std::uint32_t id = 1; id <= count && id < states_.ready(); ++id) {
    states_[id].buffers.give_back();
  }
  states_.give_back();
  binaries_.give_back();
  overflow_.give_back();
}

AllocatorState* Buffers::state(ttmem_allocator_t id) const {
  return id != 0 && states_.is_ready(id) ? &states_[id] : nullptr;
}

AllocatorState* Buffers::prepare_state(std::uint16_t id) {
  return states_.prepare(id + 1u) ? &states_[id] : nullptr;
}

// ---- the calls -----------------------------------------------------------------------------

// The two hot ones are one function each (flatten): the calls between the short steps below would
// cost a tenth of the time.
[[gnu::hot, gnu::flatten]] void Buffers::allocated(const ttmem_buffer& buffer,
                                                   ttmem_origin_t origin) {
  AllocatorState* allocator = state(buffer.allocator);
  if (allocator == nullptr) {
    writer_->refuse(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, buffer.allocator);
    return;
  }
  if (buffer.space >= segment::kSpaces || buffer.block > segment::kMaxBlockBytes) {
    writer_->refuse(TTMEM_ANOMALY_BAD_VALUE, buffer.id);
    return;
  }
  Payload payload = payload_of(buffer, origin, writer_->store.clock().early());
  for (int tries = 0; tries < kTries && (tries == 0 || make_room(*allocator)); ++tries) {
    Places places = {kNoSlot, false};
    bool low = false;
    Placed placed = Placed::kNoRoom;
    {
      const LockGuard guard(writer_->store.lock);
      placed = place(*allocator, payload, &places);
      low = placed == Placed::kDone && wants_memory(*allocator, places);
    }
    if (placed == Placed::kClosed) {
      writer_->refuse(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, buffer.allocator);
      return;
    }
    if (placed == Placed::kDone) {
      if (places.taken == kNoSlot) [[unlikely]]
        writer_->report(TTMEM_ANOMALY_REPLACED, buffer.id);
      if (low) [[unlikely]]
        prepare_ahead(*allocator);
      return;
    }
  }
  writer_->store.count_anomaly(TTMEM_ANOMALY_TABLE_FULL);
  writer_->store.count_unrecorded();
}

[[gnu::hot, gnu::flatten]] void Buffers::freed(ttmem_allocator_t id, std::uint32_t space,
                                               std::uint64_t buffer) {
  AllocatorState* allocator = state(id);
  if (allocator == nullptr) {
    writer_->report(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, id);
    return;
  }
  if (!take(*allocator, space, buffer)) [[unlikely]]
    writer_->report(TTMEM_ANOMALY_UNKNOWN_FREE, buffer);
}

void Buffers::freed_if_known(ttmem_allocator_t id, std::uint32_t space, std::uint64_t buffer) {
  if (AllocatorState* allocator = state(id)) take(*allocator, space, buffer);
}

[[gnu::always_inline]] inline bool Buffers::take(AllocatorState& allocator, std::uint32_t space,
                                                 std::uint64_t buffer) {
  const std::uint64_t early = writer_->store.clock().early();
  std::uint32_t slot = SlotIndex::kNone;
  {
    const LockGuard guard(writer_->store.lock);
    if (allocator.open) {
      slot = is_newest(allocator, space, buffer)
                 ? allocator.buffers.take_newest()
                 : allocator.buffers.take(overflow_, tag_of(space, buffer), [&](std::uint32_t at) {
                     return is_of(at, space, buffer);
                   });
    }
    if (slot != SlotIndex::kNone) release(allocator, slot, writer_->store.clock().at(early));
  }
  return slot != SlotIndex::kNone;
}

void Buffers::flagged(ttmem_allocator_t id, std::uint32_t space, std::uint64_t buffer,
                      std::uint32_t flags) {
  AllocatorState* allocator = state(id);
  bool found = false;
  if (allocator != nullptr) {
    const LockGuard guard(writer_->store.lock);
    const std::uint32_t slot = find(*allocator, space, buffer);
    found = slot != SlotIndex::kNone;
    if (found) add_flags(*allocator, slot, flags & kAbiFlags);
  }
  if (!found) writer_->report(TTMEM_ANOMALY_UNKNOWN_FREE, buffer);
}

[[gnu::hot, gnu::flatten]] void Buffers::followed(ttmem_allocator_t id, std::uint32_t space,
                                                  std::uint64_t buffer, ttmem_string_t operation) {
  const AllocatorState* allocator = state(id);
  if (allocator == nullptr || operation == 0) return;
  const LockGuard guard(writer_->store.lock);
  const std::uint32_t slot = find(*allocator, space, buffer);
  if (slot != SlotIndex::kNone) writer_->store.commit_operation(slot, operation);
}

int Buffers::read(ttmem_allocator_t id, std::uint32_t space, std::uint64_t* bytes,
                  std::uint64_t* last_event) const {
  const AllocatorState* allocator = state(id);
  if (allocator == nullptr || space >= segment::kSpaces) return ENOENT;
  const LockGuard guard(writer_->store.lock);
  if (!allocator->open) return ENOENT;
  *bytes = allocator->lock_step_bytes[space];
  *last_event = writer_->store.head();
  return 0;
}

// In short holds of the lock, so that other threads get through a large clear.
void Buffers::clear(AllocatorState& allocator) {
  constexpr int kAtOnce = 64;
  std::uint32_t cursor = 0;
  for (bool more = true; more;) {
    const std::uint64_t ticks = writer_->store.clock().now();
    const LockGuard guard(writer_->store.lock);
    for (int i = 0; i < kAtOnce && more; ++i) {
      const std::uint32_t slot = allocator.buffers.take_any(overflow_, &cursor);
      more = slot != SlotIndex::kNone;
      if (more) release(allocator, slot, ticks);
    }
  }
}

// ---- under the lock ------------------------------------------------------------------------

std::uint32_t Buffers::find(const AllocatorState& allocator, std::uint32_t space,
                            std::uint64_t id) const {
  if (!allocator.open) return SlotIndex::kNone;
  if (is_newest(allocator, space, id)) return allocator.buffers.newest();
  return allocator.buffers.find(overflow_, tag_of(space, id),
                                [&](std::uint32_t at) { return is_of(at, space, id); });
}

bool Buffers::is_of(std::uint32_t slot, std::uint32_t space, std::uint64_t id) const {
  const Payload& payload = writer_->store.slot(slot).payload;
  return payload.id == id && Meta::space(payload.meta) == space;
}

bool Buffers::is_newest(const AllocatorState& allocator, std::uint32_t space,
                        std::uint64_t id) const {
  const std::uint32_t newest = allocator.buffers.newest();
  return newest != SlotIndex::kNone && is_of(newest, space, id);
}

bool Buffers::settle(AllocatorState& allocator) {
  const Payload& payload = writer_->store.slot(allocator.buffers.newest()).payload;
  return allocator.buffers.settle(overflow_, tag_of(Meta::space(payload.meta), payload.id));
}

// The runtime counts its buffers: one with a higher id than all before is known to be new, and no
// bucket is looked at.
std::uint32_t Buffers::find_or_insert(AllocatorState& allocator, const Payload& payload,
                                      Places* places) {
  const auto take_slot = [&] { return places->taken = writer_->store.take_slot(SlotPool::kPlain); };
  places->in_buckets = allocator.buffers.newest() != SlotIndex::kNone;
  const bool settled = !places->in_buckets || settle(allocator);
  if (payload.id > allocator.highest_id) [[likely]] {
    allocator.highest_id = payload.id;
    if (settled) [[likely]] {
      allocator.buffers.set_newest(take_slot());
      return places->taken;
    }
  }
  const std::uint32_t space = Meta::space(payload.meta);
  if (is_newest(allocator, space, payload.id)) return allocator.buffers.newest();
  places->in_buckets = true;
  return allocator.buffers.find_or_insert(
      overflow_, tag_of(space, payload.id),
      [&](std::uint32_t at) { return is_of(at, space, payload.id); }, take_slot);
}

Buffers::Placed Buffers::place(AllocatorState& allocator, Payload& payload, Places* places) {
  if (!allocator.open) return Placed::kClosed;
  const std::uint32_t space = Meta::space(payload.meta);
  payload.set = allocator.set;
  if (allocator.banks[space] == 0) {
    payload.meta |= std::uint64_t{segment::kFlagRequestedOnly} << Meta::kFlagsShift;
  }
  const std::uint32_t slot = find_or_insert(allocator, payload, places);
  if (slot == SlotIndex::kNone) {
    if (places->taken != kNoSlot) writer_->store.put_back(places->taken, SlotPool::kPlain);
    return Placed::kNoRoom;
  }
  if (slot != places->taken) [[unlikely]] {
    const Payload& old = writer_->store.slot(slot).payload;
    writer_->peaks.released(allocator.peaks, old, [&] { return taken_by(allocator, old); });
    uncount(allocator, old);
    forget_binaries(slot);
  }
  count(allocator, payload);
  payload.time = later_than_all(writer_->store.clock().at(payload.time));
  writer_->peaks.raised(allocator.peaks, space, payload.time);
  writer_->store.commit(slot, payload);
  return Placed::kDone;
}

void Buffers::release(AllocatorState& allocator, std::uint32_t slot, std::uint64_t ticks) {
  const Payload& payload = writer_->store.slot(slot).payload;
  writer_->peaks.released(allocator.peaks, payload, [&] { return taken_by(allocator, payload); });
  uncount(allocator, payload);
  if ((Meta::flags(payload.meta) & segment::kFlagKernelBinaries) != 0) forget_binaries(slot);
  writer_->store.commit_release(slot, ticks);
  writer_->store.put_back(slot, SlotPool::kPlain);
}

void Buffers::add_flags(AllocatorState& allocator, std::uint32_t slot, unsigned flags) {
  Payload payload = load_payload(writer_->store.slot(slot).payload);
  uncount(allocator, payload);
  payload.meta |= std::uint64_t{flags} << Meta::kFlagsShift;
  count(allocator, payload);
  writer_->store.commit(slot, payload);
}

// ---- what a buffer takes -------------------------------------------------------------------

std::uint64_t Buffers::taken_by(const AllocatorState& allocator, const Payload& payload) const {
  const unsigned flags = Meta::flags(payload.meta);
  const unsigned space = Meta::space(payload.meta);
  if ((flags & segment::kFlagEstimated) != 0) return 0;
  if ((flags & segment::kFlagRequestedOnly) != 0) return payload.b;
  const std::uint64_t block = Meta::block(payload.meta);
  if ((flags & segment::kFlagPerCore) != 0)
    return block * writer_->interner.core_count(payload.cores);
  return block * allocator.banks[space];
}

constexpr unsigned kNotLockStep =
    segment::kFlagEstimated | segment::kFlagRequestedOnly | segment::kFlagPerCore;

void Buffers::count(AllocatorState& allocator, const Payload& payload) {
  const unsigned space = Meta::space(payload.meta);
  if ((Meta::flags(payload.meta) & kNotLockStep) == 0) {
    allocator.lock_step_bytes[space] += Meta::block(payload.meta);
  }
  writer_->figures.raise(space, allocator.devices, taken_by(allocator, payload));
}

void Buffers::uncount(AllocatorState& allocator, const Payload& payload) {
  const unsigned space = Meta::space(payload.meta);
  if ((Meta::flags(payload.meta) & kNotLockStep) == 0) {
    allocator.lock_step_bytes[space] -= Meta::block(payload.meta);
  }
  writer_->figures.lower(space, allocator.devices, taken_by(allocator, payload));
}

// ---- memory --------------------------------------------------------------------------------

bool Buffers::wants_memory(const AllocatorState& allocator, const Places& places) const {
  if (writer_->store.is_low()) return true;
  return places.in_buckets && (overflow_.is_low() || allocator.buffers.wants_preparation());
}

// If another thread is at it, it makes enough for both.
void Buffers::prepare_ahead(AllocatorState& allocator) {
  const ErrnoKeeper keeper;
  if (!writer_->store.gate.try_lock()) return;
  make_ready(allocator);
  writer_->store.gate.unlock();
}

bool Buffers::make_room(AllocatorState& allocator) {
  const ErrnoKeeper keeper;
  const LockGuard guard(writer_->store.gate);
  return make_ready(allocator);
}

bool Buffers::make_ready(AllocatorState& allocator) {
  bool index_low = false;
  bool overflow_low = false;
  {
    const LockGuard guard(writer_->store.lock);
    index_low = allocator.open && allocator.buffers.wants_preparation();
    overflow_low = overflow_.is_low();
  }
  if (index_low) allocator.buffers.prepare();
  const bool overflow_ready = !overflow_low || overflow_.extend();
  return writer_->store.grow() && overflow_ready;
}

}  // namespace ttmem::client
