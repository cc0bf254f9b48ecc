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
#include <utility>

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
  // The slot, a buffer's, with the operation that the launch after it told.
  void commit_operation(std::uint32_t slot, std::uint32_t operation);
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
  std::uint64_t next_order() { return add_to(header().order, 1); }

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
  // The number of the event.
  std::uint64_t write_event(std::byte* base, std::uint32_t slot, const PayloadWords& words);
  template <std::size_t... Changed>
  void commit_words(std::uint32_t slot_number, const PayloadWords& words);
  static void count_event(segment::Counters& counters, std::uint64_t meta);

  std::atomic<std::byte*> base_{nullptr};
  std::uint64_t head_ = 0;
  std::uint64_t ring_mask_ = 0;   // records of the event ring, less one
  std::uint64_t free_count_ = 0;  // in the plain pool
  std::uint64_t fresh_slot_ = 0;  // slots never used start here
  std::uint64_t ready_slots_ = 0;
  std::uint64_t low_water_ = 0;
  std::uint32_t free_[2] = {segment::kNoSlot, segment::kNoSlot};
  // The plain slot that was given back last, in no list: the next one to be taken.
  std::uint32_t spare_ = segment::kNoSlot;
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
  if (pool == SlotPool::kPlain && spare_ != segment::kNoSlot) [[likely]] {
    slot = std::exchange(spare_, segment::kNoSlot);
    --free_count_;
  } else if (slot != segment::kNoSlot) {
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
  if (pool == SlotPool::kPlain) {
    ++free_count_;
    slot = std::exchange(spare_, slot);
  }
  if (slot != segment::kNoSlot) {
    std::uint32_t& free = free_[static_cast<int>(pool)];
    links_[slot] = free;
    free = slot;
  }
  --counters().live_slots;
}

inline void Store::count_event(segment::Counters& counters, std::uint64_t meta) {
  const auto kind = static_cast<std::uint32_t>(segment::Meta::kind(meta));
  const std::uint32_t row = kind == 0
                                ? 16 + static_cast<std::uint32_t>(segment::Meta::block(meta) & 15)
                                : kind * 2 + (segment::Meta::live(meta) ? 1 : 0);
  ++counters.events[row & 31];
}

// The word with the number comes last. Readers never look at the record being written: it is the
// oldest one, and they leave that out.
inline std::uint64_t Store::write_event(std::byte* base, std::uint32_t slot,
                                        const PayloadWords& words) {
  const std::uint64_t number = head_ + 1;
  head_ = number;
  const std::uint64_t mask = ring_mask_;
  auto* events = reinterpret_cast<segment::Event*>(base + segment::kEventsOffset);
  segment::Event& event = events[number & mask];
  // The ring is larger than a core's cache: a store that waits for its line holds up the next lock.
  __builtin_prefetch(&events[(number + kEventsAhead) & mask], 1);
  store_words(event.payload, words);
  publish(*reinterpret_cast<std::uint64_t*>(&event),
          std::uint64_t{slot} << 32 | static_cast<std::uint32_t>(number));
  return number;
}

// One event, and of the slot the words that changed, by number. What is read over and over is read
// once: no store may move across the others, so the compiler would read it again after each.
template <std::size_t... Changed>
void Store::commit_words(std::uint32_t slot_number, const PayloadWords& words) {
  std::byte* const base = this->base();
  const std::uint64_t number = write_event(base, slot_number, words);
  segment::Slot& slot = reinterpret_cast<segment::Slot*>(base + segment::kTableOffset)[slot_number];
  set_word(slot.version, number << 1 | 1);
  auto* out = reinterpret_cast<std::uint64_t*>(&slot.payload);
  (publish(out[Changed], words.word[Changed]), ...);
  publish(slot.version, number << 1);
  count_event(*reinterpret_cast<segment::Counters*>(base + segment::kCountersOffset),
              words.word[0]);
  publish(reinterpret_cast<segment::Header*>(base)->head, number);
}

inline void Store::commit(std::uint32_t number, const segment::Payload& payload) {
  commit_words<0, 1, 2, 3, 4, 5, 6>(number, words_of(payload));
}

inline void Store::commit_beside_live_words(std::uint32_t number, const segment::Payload& payload) {
  commit_words<0, 1, 5, 6>(number, words_of(payload));
}

inline void Store::commit_release(std::uint32_t number, std::uint64_t ticks) {
  PayloadWords words = load_words(slot(number).payload);
  words.word[kMetaWord] &= ~(1ull << segment::Meta::kLiveShift);
  if (ticks == 0) return commit_words<kMetaWord>(number, words);
  words.word[kTimeWord] = ticks;
  commit_words<kMetaWord, kTimeWord>(number, words);
}

inline void Store::commit_operation(std::uint32_t number, std::uint32_t operation) {
  constexpr std::uint64_t kDerived = std::uint64_t{segment::kFlagDerived}
                                     << segment::Meta::kFlagsShift;
  PayloadWords words = load_words(slot(number).payload);
  words.word[kMetaWord] |= kDerived;
  words.word[kOperationWord] = words.word[kOperationWord] >> 32 << 32 | operation;
  commit_words<kMetaWord, kOperationWord>(number, words);
}

}  // namespace ttmem::client
