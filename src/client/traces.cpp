// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/traces.hpp"

#include "client/atomic_words.hpp"

namespace ttmem::client {

using segment::Kind;
using segment::kNoSlot;
using segment::Meta;
using segment::Note;
using segment::Payload;

namespace {

// As it is interned. Unused bytes are zero, because equal bytes are stored once.
struct Member {
  std::uint64_t program;
  std::uint16_t set;
  std::uint16_t zero[3];
};
static_assert(sizeof(Member) == 16);

}  // namespace

bool Traces::open(SegmentWriter& writer, Devices& devices, Programs& programs,
                  Workloads& workloads) {
  writer_ = &writer;
  devices_ = &devices;
  programs_ = &programs;
  workloads_ = &workloads;
  return pool_.reserve(writer.most_records() / 4) && members_.reserve(writer.most_records()) &&
         ids_.open() && blob_.reserve(segment::kMaxBlobBytes);
}

std::uint32_t Traces::find(std::uint64_t id) const {
  const std::uint32_t found = ids_.find(writer_->overflow, tag_of_id(id),
                                        [&](std::uint32_t index) { return pool_[index].id == id; });
  return found == SlotIndex::kNone ? 0 : found;
}

Trace* Traces::expect(std::uint64_t id) {
  const std::uint32_t index = find(id);
  if (index != 0) return &pool_[index];
  writer_->refuse(TTMEM_ANOMALY_UNKNOWN_TRACE, id);
  return nullptr;
}

void Traces::begun(std::uint64_t id, ttmem_set_t set, std::uint32_t queue, ttmem_origin_t origin) {
  const ColdCall call(writer_->store);
  if (devices_->list(set) == nullptr) {
    writer_->refuse(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, set);
    return;
  }
  if (const std::uint32_t known = find(id)) {
    writer_->report(TTMEM_ANOMALY_REPLACED, id);
    release(known);
  }
  const std::uint32_t slot = writer_->take_slot(SlotPool::kLiveWords);
  if (slot == kNoSlot) return;
  const std::uint32_t index = pool_.take();
  if (index == 0 || !writer_->enter(ids_, tag_of_id(id), index)) {
    writer_->release(slot, SlotPool::kLiveWords);
    writer_->refuse(TTMEM_ANOMALY_LIMIT, id);
    return;
  }
  pool_[index] = {
      .slot = slot, .id = id, .serial = ++serial_, .set = set, .capturing = true, .live = true};
  writer_->commit(slot, {.meta = Meta::pack(Kind::kTrace, true, 0, 0, segment::kFlagHeld, 0),
                         .id = id,
                         .set = set,
                         .allocator = static_cast<std::uint16_t>(queue),
                         .origin = origin});
}

void Traces::captured(std::uint64_t id, ttmem_workload_t handle) {
  const ColdCall call(writer_->store);
  Trace* trace = expect(id);
  const Workload* workload = trace == nullptr ? nullptr : workloads_->expect(handle);
  if (workload == nullptr) return;
  if (!trace->capturing) {
    writer_->refuse(TTMEM_ANOMALY_BAD_VALUE, id);
    return;
  }
  for (std::uint32_t at = workload->membership.first; at != 0;
       at = (*programs_)[at].next_of_workload) {
    add_member(*trace, at);
  }
  const DeviceList& list = *devices_->list(workload->set);
  const LockGuard guard(writer_->store.lock);
  for (std::uint16_t i = 0; i < list.count; ++i) {
    ++writer_->store.counters().captures[list.devices[i]];
  }
  writer_->store.note(Note::kTraceCaptured,
                      {.id = id, .a = workload->membership.workload_id, .set = workload->set});
}

void Traces::add_member(Trace& trace, std::uint32_t at) {
  Placement& placement = (*programs_)[at];
  // A program is a member once, however often it was captured; the mark spares a search.
  if (placement.seen_by == trace.serial) return;
  const std::uint32_t index = members_.take();
  if (index == 0) {
    writer_->report(TTMEM_ANOMALY_LIMIT, trace.id);
    return;
  }
  placement.seen_by = trace.serial;
  programs_->hold(placement);
  members_[index].placement = at;
  members_[index].next_of_trace = 0;
  (trace.last_member == 0 ? trace.first_member : members_[trace.last_member].next_of_trace) = index;
  trace.last_member = index;
}

std::uint32_t Traces::intern_members(const Trace& trace) {
  if (!blob_.prepare(segment::kMaxBlobBytes)) return 0;
  auto* members = reinterpret_cast<Member*>(blob_.base());
  std::uint32_t count = 0;
  for (std::uint32_t at = trace.first_member; at != 0; at = members_[at].next_of_trace) {
    if (count == segment::kMaxBlobBytes / sizeof(Member)) {
      writer_->report(TTMEM_ANOMALY_LIMIT, trace.id);
      break;
    }
    const Placement& placement = (*programs_)[members_[at].placement];
    members[count++] = {programs_->id_of(placement), placement.set, {}};
  }
  return writer_->interner.intern(segment::BlobKind::kMembers, members, count * sizeof(Member));
}

void Traces::ended(std::uint64_t id) {
  const ColdCall call(writer_->store);
  Trace* trace = expect(id);
  if (trace == nullptr) return;
  trace->capturing = false;
  const std::uint32_t members = intern_members(*trace);
  const LockGuard guard(writer_->store.lock);
  Payload payload = load_payload(writer_->store.slot(trace->slot).payload);
  payload.meta &= ~(std::uint64_t{segment::kFlagHeld} << Meta::kFlagsShift);
  payload.cores = members;
  writer_->store.commit_beside_live_words(trace->slot, payload);
}

void Traces::replayed(std::uint64_t id) {
  const ColdCall call(writer_->store);
  const Trace* trace = expect(id);
  if (trace == nullptr) return;
  const std::uint64_t now = coarse_ns();
  const LockGuard guard(writer_->store.lock);
  Payload& words = writer_->store.slot(trace->slot).payload;
  const std::uint64_t replays = add_to(words.a, 1);
  set_word(words.b, writer_->store.next_order());
  set_word(words.time, now);
  if (replays == 1) {
    Payload payload = load_payload(words);
    payload.operation = writer_->store.first_time(now);
    writer_->store.commit_beside_live_words(trace->slot, payload);
  }
  writer_->store.note(Note::kTraceReplayed, {.id = id, .a = replays, .set = trace->set});
}

void Traces::released(std::uint64_t id) {
  const ColdCall call(writer_->store);
  const std::uint32_t index = find(id);
  if (index == 0) {
    writer_->report(TTMEM_ANOMALY_UNKNOWN_TRACE, id);
    return;
  }
  release(index);
}

void Traces::end_on(ttmem_device_t device) {
  for (std::uint32_t index = 1; index < pool_.used(); ++index) {
    if (pool_[index].live && devices_->list(pool_[index].set)->contains(device)) release(index);
  }
}

// The trace's slot first: what it held counts through it no more when it goes.
void Traces::release(std::uint32_t index) {
  Trace& trace = pool_[index];
  {
    const DeviceList& list = *devices_->list(trace.set);
    const LockGuard guard(writer_->store.lock);
    // The live word goes with its slot, so what it counted moves to the device.
    const std::uint64_t replays = get_word(writer_->store.slot(trace.slot).payload.a);
    for (std::uint16_t i = 0; i < list.count; ++i) {
      writer_->store.counters().replays[list.devices[i]] += replays;
    }
    writer_->store.commit_release(trace.slot);
    writer_->store.put_back(trace.slot, SlotPool::kLiveWords);
  }
  for (std::uint32_t at = trace.first_member; at != 0;) {
    const TraceMember member = members_[at];
    members_.put_back(at);
    programs_->let_go(member.placement);
    at = member.next_of_trace;
  }
  ids_.take(writer_->overflow, tag_of_id(trace.id),
            [&](std::uint32_t found) { return found == index; });
  trace = {};
  pool_.put_back(index);
}

}  // namespace ttmem::client
