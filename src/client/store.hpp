// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The segment of a recorder while it is being written: slots taken and given back, events, notes
// and counters. It knows how things are stored, not what they mean.
//
// Two locks. `lock` is short: it orders table, ring and counters, and nothing that could wait
// happens while it is held. `gate` serialises the cold path (growth, interning, programs), may be
// held across system calls, and is always taken before `lock`.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "client/atomic_words.hpp"
#include "client/clock.hpp"
#include "client/private_memory.hpp"
#include "client/short_lock.hpp"
#include "segment/format.hpp"
#include "segment/writer_file.hpp"

namespace ttmem::client {

// Which descriptor of this process holds the lock. Kept outside the recorder's memory, because a
// forked child must find and close it after that memory was wiped.
struct DescriptorNote {
  int fd = -1;
  dev_t device = 0;
  ino_t inode = 0;
};

// The lock belongs to the open file, which a forked child shares: were it to keep the descriptor,
// its parent would look alive for ever. Closes it if the number is still that file; forgets it
// anyway.
void close_inherited(DescriptorNote& note);

struct Options {
  const char* directory = nullptr;             // null: as docs/segment-format.md says
  const segment::Identity* subject = nullptr;  // whose memory; null: this process's own
  std::uint32_t source = 0;                    // TTMEM_SOURCE_*
  DescriptorNote* descriptor_note = nullptr;   // may hold an inherited descriptor, which is closed
  std::uint64_t events = 0;  // wanted in the ring, a power of two; as many as there is room for
};

// Slots with live words are given back to a pool of their own, so that a dispatch that comes too
// late can at worst count for another workload, never change a buffer.
enum class SlotPool { kPlain, kLiveWords };

class Store {
 public:
  int open(const Options& options);
  // Unmaps and unlocks the file, which stays.
  void give_back();
  bool is_open() const { return base() != nullptr; }
  void abandon();  // right after open: what needs it could not be set up

  ShortLock gate;
  ShortLock lock;

  // ---- under the lock -----------------------------------------------------------------------

  std::uint32_t take_slot(SlotPool pool);  // kNoSlot if none is ready
  void put_back(std::uint32_t slot, SlotPool pool);
  // One event: the slot holds this payload now.
  void commit(std::uint32_t slot, const segment::Payload& payload);
  // The same for a workload or trace: a, b and time of the slot are live words and stay.
  void commit_beside_live_words(std::uint32_t slot, const segment::Payload& payload);
  // The slot's payload, not live any more. `ticks`, if given, replaces its time.
  void commit_release(std::uint32_t slot, std::uint64_t ticks = 0);
  void note(segment::Note note, segment::Payload payload);
  bool is_low() const { return free_slots() < low_water_; }
  std::uint64_t head() const { return head_; }
  // The record of event n, which the ring holds until `ring` more have come.
  segment::Event& event(std::uint64_t n) const {
    return at<segment::Event>(segment::kEventsOffset)[n & ring_mask_];
  }

  // ---- any time -----------------------------------------------------------------------------

  // Changes a record with a version of its own: odd while `change` writes, then the next even one.
  template <class Record, class Change>
  void rewrite(Record& record, Change change);
  // Tells readers of a change that is no event.
  void changed() { add_to(header().changes, 1); }
  void count_anomaly(std::uint32_t kind);
  void count_unrecorded();
  void count_odd_stack();
  std::uint64_t next_order();

  // ---- cold, under the gate -----------------------------------------------------------------

  // Makes 256 KiB of slots ready if few are left. False: there is no room.
  bool grow();
  // Makes a record (or the first bytes) of a section ready. `spare` as in WriterFile::prepare.
  bool prepare(segment::SectionKind section, std::uint64_t bytes, std::uint64_t spare = 0);
  // Notices a stolen descriptor and an unlinked file, and repairs both.
  void maintain();
  void maintain_now_and_then();

  // ---- where things stand -------------------------------------------------------------------

  std::byte* base() const { return base_.load(std::memory_order_acquire); }
  segment::Header& header() const { return *reinterpret_cast<segment::Header*>(base()); }
  segment::Counters& counters() const { return *at<segment::Counters>(segment::kCountersOffset); }
  segment::Slot& slot(std::uint32_t number) const {
    return at<segment::Slot>(segment::kTableOffset)[number];
  }
  template <class T>
  T* at(std::uint64_t offset) const {
    return reinterpret_cast<T*>(base() + offset);
  }
  // One word per slot, private: the next one in its free list, or in the list of its program.
  std::uint32_t& link(std::uint32_t slot) const { return links_[slot]; }
  const TickClock& clock() const { return clock_; }
  std::uint32_t first_time(std::uint64_t monotonic_ns) const {
    return segment::FirstTime::pack(monotonic_ns, header().clock.monotonic_ns);
  }
  // Random, the same for as long as the recorder lives: tells handles and tags of before a fork.
  std::uint64_t instance() const { return instance_; }
  const segment::WriterFile& file() const { return file_; }

 private:
  int open_file(const Options& options);
  void write_header(const Options& options, const segment::Identity& writer);
  int make_file(segment::Choice choice, std::uint64_t events, segment::WriterFile& file) const;
  int make_again(segment::Choice choice, segment::WriterFile& fresh) const;
  void re_create();
  void copy_to(segment::WriterFile& fresh);
  void remember_descriptor();
  std::uint64_t free_slots() const { return free_count_ + ready_slots_ - fresh_slot_; }
  void write_event(std::uint32_t slot, const segment::Payload& payload);
  void count_event(std::uint64_t meta);

  std::atomic<std::byte*> base_{nullptr};
  std::uint64_t head_ = 0;
  std::uint64_t ring_mask_ = 0;   // records of the event ring, less one
  std::uint64_t free_count_ = 0;  // in the plain pool
  std::uint64_t fresh_slot_ = 0;  // slots never used start here
  std::uint64_t ready_slots_ = 0;
  std::uint64_t low_water_ = 0;
  std::uint32_t free_[2] = {segment::kNoSlot, segment::kNoSlot};
  TickClock clock_;
  PrivateArray<std::uint32_t> links_;
  segment::WriterFile file_;
  DescriptorNote* descriptor_note_ = nullptr;
  std::uint64_t start_ = 0;
  std::uint64_t instance_ = 0;
  std::int32_t pid_ = 0;
  std::uint32_t cold_calls_ = 0;
  std::uint32_t refused_ = 0;
  char directory_[256] = {};
};

inline constexpr std::uint64_t kEventsAhead = 4;

template <class Record, class Change>
void Store::rewrite(Record& record, Change change) {
  const std::uint64_t version = record.version | 1;
  set_word(record.version, version);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  change(record);
  publish(record.version, version + 1);
  changed();
}

// ---- the hot half --------------------------------------------------------------------------

inline std::uint32_t Store::take_slot(SlotPool pool) {
  std::uint32_t& free = free_[static_cast<int>(pool)];
  std::uint32_t slot = free;
  if (slot != segment::kNoSlot) {
    free = links_[slot];
    if (pool == SlotPool::kPlain) --free_count_;
  } else {
    if (fresh_slot_ == ready_slots_) return segment::kNoSlot;
    slot = static_cast<std::uint32_t>(fresh_slot_++);
    publish(header().table_slots, fresh_slot_);
  }
  auto& counters = this->counters();
  if (++counters.live_slots > counters.peak_slots) counters.peak_slots = counters.live_slots;
  return slot;
}

inline void Store::put_back(std::uint32_t slot, SlotPool pool) {
  std::uint32_t& free = free_[static_cast<int>(pool)];
  links_[slot] = free;
  free = slot;
  if (pool == SlotPool::kPlain) ++free_count_;
  --counters().live_slots;
}

inline void Store::count_event(std::uint64_t meta) {
  const auto kind = static_cast<std::uint32_t>(segment::Meta::kind(meta));
  const std::uint32_t row = kind == 0
                                ? 16 + static_cast<std::uint32_t>(segment::Meta::block(meta) & 15)
                                : kind * 2 + (segment::Meta::live(meta) ? 1 : 0);
  ++counters().events[row & 31];
}

// The word with the number comes last. Readers never look at the record being written: it is the
// oldest one, and they leave that out.
inline void Store::write_event(std::uint32_t slot, const segment::Payload& payload) {
  ++head_;
  segment::Event& event = this->event(head_);
  // The ring is larger than a core's cache: a store that waits for its line holds up the next lock.
  __builtin_prefetch(&this->event(head_ + kEventsAhead), 1);
  store_payload(event.payload, payload);
  publish(*reinterpret_cast<std::uint64_t*>(&event),
          std::uint64_t{slot} << 32 | static_cast<std::uint32_t>(head_));
}

inline void Store::commit(std::uint32_t number, const segment::Payload& payload) {
  write_event(number, payload);
  segment::Slot& slot = this->slot(number);
  set_word(slot.version, head_ << 1 | 1);
  store_payload(slot.payload, payload);
  publish(slot.version, head_ << 1);
  count_event(payload.meta);
  publish(header().head, head_);
}

inline void Store::commit_beside_live_words(std::uint32_t number, const segment::Payload& payload) {
  write_event(number, payload);
  segment::Slot& slot = this->slot(number);
  set_word(slot.version, head_ << 1 | 1);
  const auto words = words_of(payload);
  auto* out = reinterpret_cast<std::uint64_t*>(&slot.payload);
  for (const std::size_t i : {0u, 1u, 5u, 6u}) publish(out[i], words.word[i]);
  publish(slot.version, head_ << 1);
  count_event(payload.meta);
  publish(header().head, head_);
}
static_assert(offsetof(segment::Payload, a) == 2 * 8 && offsetof(segment::Payload, time) == 4 * 8);

inline void Store::commit_release(std::uint32_t number, std::uint64_t ticks) {
  segment::Slot& slot = this->slot(number);
  segment::Payload payload = load_payload(slot.payload);
  payload.meta &= ~(1ull << segment::Meta::kLiveShift);
  if (ticks != 0) payload.time = ticks;
  write_event(number, payload);
  set_word(slot.version, head_ << 1 | 1);
  publish(slot.payload.meta, payload.meta);
  if (ticks != 0) publish(slot.payload.time, ticks);
  publish(slot.version, head_ << 1);
  count_event(payload.meta);
  publish(header().head, head_);
}

}  // namespace ttmem::client
