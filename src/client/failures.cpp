// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/failures.hpp"

#include <algorithm>
#include <cstring>

#include "client/atomic_words.hpp"

namespace ttmem::client {

using segment::Failure;
using segment::Kind;
using segment::kMaxPictureSlots;
using segment::Meta;
using segment::Payload;
using segment::Slot;

namespace {

constexpr int kSearches = 3;
constexpr std::uint64_t kMostToCatchUp = 256;  // events; more, and the search starts again

// Reads a slot that another thread may be writing. False if it kept changing.
bool read_settled(const Slot& slot, Payload* payload) {
  for (int tries = 0; tries < 100; ++tries) {
    const std::uint64_t before = get_word(slot.version);
    *payload = load_payload(slot.payload);
    if ((before & 1) == 0 && before == get_word(slot.version)) return true;
  }
  return false;
}

bool is_live_buffer(const Payload& payload) {
  return Meta::kind(payload.meta) == Kind::kBuffer && Meta::live(payload.meta);
}

}  // namespace

bool Failures::open(SegmentWriter& writer, Devices& devices, Programs& programs) {
  writer_ = &writer;
  devices_ = &devices;
  programs_ = &programs;
  return candidates_.reserve(kMaxPictureSlots + 1);
}

std::uint32_t Failures::failed(const ttmem_failure& told, ttmem_origin_t origin) {
  const ColdCall call(writer_->store);
  Store& store = writer_->store;
  const ttmem_failure failure = placed(told);
  const std::uint32_t number = store.header().failure_count + 1;
  const std::uint32_t records = std::min(number, segment::kMaxFailures);
  if (!candidates_.prepare(kMaxPictureSlots + 1) ||
      !store.prepare(segment::SectionKind::kFailures, records * sizeof(Failure))) {
    writer_->refuse(TTMEM_ANOMALY_TABLE_FULL, failure.requested);
    return 0;
  }
  choose_devices(failure.set);
  failed_allocator_ = failure.allocator;
  failed_space_ = failure.space;
  place_list();
  for (int tries = 1;; ++tries) {
    const std::uint64_t from = get_word(store.header().head);
    search();
    const LockGuard guard(store.lock);
    if (!catch_up(from)) {
      truncated_ = true;
      list_.cut();
      if (tries < kSearches) continue;
    }
    auto& record = store.at<Failure>(segment::kFailuresOffset)[segment::failure_place(number)];
    store.rewrite(record, [&](Failure& writing) {
      writing.number = number;
      describe(writing, failure, origin);
      copy_picture(writing);
      list_.describe(writing);
    });
    publish(store.header().failure_count, number);
    store.note(
        segment::Note::kFailed,
        {.id = number, .a = failure.kind, .set = failure.set, .allocator = failure.allocator});
    return number;
  }
}

// Whoever knows no device means the only one there is.
ttmem_failure Failures::placed(ttmem_failure failure) const {
  if (failure.set != 0 || failure.allocator != 0) return failure;
  const auto& allocators = writer_->store.at<segment::Allocator>(segment::kAllocatorsOffset);
  std::uint16_t only = 0;
  for (std::uint32_t id = 1; id <= writer_->store.header().allocator_count; ++id) {
    if (allocators[id].open == 0) continue;
    if (only != 0) return failure;
    only = static_cast<std::uint16_t>(id);
  }
  if (only == 0) return failure;
  failure.allocator = only;
  failure.set = allocators[only].set;
  return failure;
}

void Failures::describe(Failure& record, const ttmem_failure& failure, ttmem_origin_t origin) {
  record.kind = failure.kind;
  record.ticks = writer_->store.clock().now();
  record.requested = failure.requested;
  record.per_bank = failure.per_bank;
  record.program = failure.program;
  record.cores = failure.cores;
  record.set = failure.set;
  record.allocator = failure.allocator;
  record.space = failure.space;
  record.operation = failure.operation;
  record.origin = origin;
  record.event = writer_->store.head();
  std::memset(record.message, 0, sizeof record.message);
  if (failure.message != nullptr) {
    std::memcpy(record.message, failure.message,
                strnlen(failure.message, sizeof record.message - 1));
  }
}

// ---- which devices -------------------------------------------------------------------------

void Failures::choose_devices(ttmem_set_t set) {
  const DeviceList* list = devices_->list(set);
  std::fill(std::begin(concerned_), std::end(concerned_), list == nullptr);
  for (std::uint16_t i = 0; list != nullptr && i < list->count; ++i) {
    concerned_[list->devices[i]] = true;
  }
}

bool Failures::is_concerned(ttmem_set_t set) const {
  const DeviceList* list = devices_->list(set);
  for (std::uint16_t i = 0; list != nullptr && i < list->count; ++i) {
    if (concerned_[list->devices[i]]) return true;
  }
  return false;
}

// ---- the list of the failed space ------------------------------------------------------------

bool Failures::is_listed(const Payload& payload) const {
  return is_live_buffer(payload) && Meta::space(payload.meta) == failed_space_ &&
         (failed_allocator_ == 0 || payload.allocator == failed_allocator_) &&
         is_concerned(payload.set);
}

void Failures::place_list() {
  std::uint64_t count = 0;
  const std::uint64_t slots = get_word(writer_->store.header().table_slots);
  for (std::uint32_t number = 0; number < slots; ++number) {
    const std::uint64_t meta = get_word(writer_->store.slot(number).payload.meta);
    if (Meta::kind(meta) == Kind::kBuffer && Meta::live(meta) &&
        Meta::space(meta) == failed_space_) {
      ++count;
    }
  }
  list_.place(writer_->store, count + kMostToCatchUp);
}

// ---- the search ----------------------------------------------------------------------------

std::uint64_t Failures::buffer_bytes(const Payload& payload) const {
  if ((Meta::flags(payload.meta) & segment::kFlagRequestedOnly) != 0) return payload.b;
  const auto& record = writer_->store.at<segment::Allocator>(segment::kAllocatorsOffset);
  const unsigned space = Meta::space(payload.meta);
  const std::uint64_t banks =
      (Meta::flags(payload.meta) & segment::kFlagPerCore) != 0
          ? writer_->interner.core_count(payload.cores)
          : record[payload.allocator].spaces[space % segment::kSpaces].banks;
  return Meta::block(payload.meta) * banks;
}

std::uint64_t Failures::program_bytes(const Placement& placement) const {
  std::uint64_t bytes = 0;
  programs_->for_each_range(placement, [&](std::uint32_t slot) {
    const Payload& range = writer_->store.slot(slot).payload;
    if (Meta::variant(range.meta) == TTMEM_PART_VIEW) return;
    bytes += Meta::block(range.meta) * writer_->interner.core_count(range.cores);
  });
  return bytes;
}

// Leaves the largest candidates, in order, the largest first.
void Failures::search() {
  count_ = 0;
  truncated_ = false;
  list_.clear();
  const std::uint64_t slots = get_word(writer_->store.header().table_slots);
  for (std::uint32_t number = 0; number < slots; ++number) {
    Payload payload;
    if (!read_settled(writer_->store.slot(number), &payload)) continue;
    if (is_live_buffer(payload) && is_concerned(payload.set)) {
      offer({buffer_bytes(payload), number, 0});
      if (is_listed(payload)) list_.add(number, payload);
    }
  }
  search_programs();
  std::sort(candidates_.data(), candidates_.data() + count_,
            [](const Candidate& a, const Candidate& b) { return a.bytes > b.bytes; });
}

// Programs change only under the gate, which is ours.
void Failures::search_programs() {
  for (std::uint32_t at = 1; at < programs_->used(); ++at) {
    const Placement& placement = (*programs_)[at];
    if (!placement.live || !is_concerned(placement.set)) continue;
    offer({program_bytes(placement), placement.slot, at});
  }
}

void Failures::offer(const Candidate& candidate) {
  const auto larger = [](const Candidate& a, const Candidate& b) { return a.bytes > b.bytes; };
  Candidate* heap = candidates_.data();
  heap[count_++] = candidate;
  std::push_heap(heap, heap + count_, larger);
  if (count_ <= kMaxPictureSlots) return;
  std::pop_heap(heap, heap + count_, larger);
  --count_;
  truncated_ = true;
}

// ---- under the lock ------------------------------------------------------------------------

bool Failures::catch_up(std::uint64_t from) {
  const std::uint64_t head = writer_->store.head();
  if (head - from > kMostToCatchUp) return false;
  for (std::uint64_t n = from + 1; n <= head; ++n) {
    const segment::Event& event = writer_->store.event(n);
    if (Meta::kind(event.payload.meta) != Kind::kBuffer) continue;
    replace(event.slot, event.payload);
    list_.replace(event.slot, event.payload, is_listed(event.payload));
  }
  return true;
}

void Failures::replace(std::uint32_t slot, const Payload& payload) {
  Candidate* const first = candidates_.data();
  Candidate* const last = first + count_;
  Candidate* const old =
      std::find_if(first, last, [&](const Candidate& candidate) { return candidate.slot == slot; });
  if (old != last) {
    std::move(old + 1, last, old);
    --count_;
  }
  if (!is_live_buffer(payload) || !is_concerned(payload.set)) return;
  const Candidate fresh = {buffer_bytes(payload), slot, 0};
  Candidate* at = first;
  while (at != first + count_ && at->bytes >= fresh.bytes) ++at;
  std::move_backward(at, first + count_, first + count_ + 1);
  *at = fresh;
  if (++count_ > kMaxPictureSlots) {
    --count_;
    truncated_ = true;
  }
}

void Failures::copy_picture(Failure& record) {
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const Candidate& candidate = candidates_[i];
    std::uint32_t needed = 1;
    const bool is_program = candidate.placement != 0;
    if (is_program) {
      programs_->for_each_range((*programs_)[candidate.placement],
                                [&](std::uint32_t) { ++needed; });
    }
    if (used + needed > kMaxPictureSlots) {
      truncated_ = true;
      continue;
    }
    record.picture[used++] = writer_->store.slot(candidate.slot);
    if (!is_program) continue;
    programs_->for_each_range((*programs_)[candidate.placement], [&](std::uint32_t slot) {
      record.picture[used++] = writer_->store.slot(slot);
    });
  }
  record.picture_slots = used;
  record.truncated = truncated_ ? 1 : 0;
}

}  // namespace ttmem::client
