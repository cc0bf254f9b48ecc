// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From a key to the slot that holds it. A linear hash: buckets of two cache lines, and one bucket
// is split at a time, in order, so the table grows without ever pausing to move much, and a lookup
// at ten million holdings touches one bucket and the slot itself.
//
//   buckets   0 .. 31 | 32 .. 63 | 64 .. 127 | ...     chunks, each as large as all before it
//   bucket    a line of count, overflow, 14 tags; a line of 14 values
//
// A tag is 32 bits of the key's hash; its low bits choose the bucket. Equal tags are told apart by
// the caller, who looks at the slot. Buckets that have more than 14 entries are continued in
// overflow buckets, which all indices of a recorder share.
//
// One entry, the newest, may lie beside the buckets until the next one comes: what is gone by then,
// as most results of operations are, has never touched them, nor had its key hashed. The caller
// looks there first, with newest() and take_newest(), and puts it into its bucket with settle().
//
// Everything but prepare() and give_back() is called under a lock and calls nothing.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

#include "client/private_memory.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ttmem::client {

inline std::uint64_t mix(std::uint64_t key) {
  key ^= key >> 32;
  key *= 0xD6E8FEB86659FD93u;
  key ^= key >> 32;
  key *= 0xD6E8FEB86659FD93u;
  return key ^ (key >> 32);
}

// The tag under which an index finds an object that has an id of its own.
inline std::uint32_t tag_of_id(std::uint64_t id) { return static_cast<std::uint32_t>(mix(id)); }

struct alignas(64) IndexBucket {
  static constexpr std::uint32_t kEntries = 14;
  std::uint32_t count;
  std::uint32_t overflow;  // index in the shared overflow; 0 = none
  std::uint32_t tags[kEntries];
  std::uint32_t values[kEntries];
  std::uint32_t unused[2];

  // A bit for each entry that has this tag.
  std::uint32_t with_tag(std::uint32_t tag) const {
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
    const auto* line = reinterpret_cast<const __m128i*>(this);
    std::uint32_t found = 0;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m128i equal = _mm_cmpeq_epi32(_mm_load_si128(line + i), wanted);
      found |= static_cast<std::uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(equal))) << (4 * i);
    }
    found >>= 2;  // count and overflow
#else
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < kEntries; ++i) found |= std::uint32_t{tags[i] == tag} << i;
#endif
    return found & ((1u << count) - 1);
  }
};
static_assert(sizeof(IndexBucket) == 128);

class IndexOverflow {
 public:
  bool reserve(std::uint64_t buckets);
  bool prepare();  // makes some more ready if few are left
  bool extend();   // makes some more ready
  bool is_low() const { return spare() < kLow; }
  std::uint64_t spare() const {
    const std::uint64_t ready = buckets_.ready();
    return free_count_ + (ready > used_ ? ready - used_ : 0);
  }
  std::uint32_t take();  // 0 = none left
  void put_back(std::uint32_t index);
  void give_back() { buckets_.give_back(); }
  IndexBucket& operator[](std::uint32_t index) const { return buckets_[index]; }

 private:
  static constexpr std::uint64_t kLow = 32;
  static constexpr std::uint64_t kStep = 256;
  PrivateArray<IndexBucket> buckets_;
  std::uint64_t used_ = 1;
  std::uint64_t free_count_ = 0;
  std::uint32_t free_ = 0;
};

class SlotIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  bool open();
  bool prepare();  // makes buckets ready ahead of the next splits
  bool wants_preparation() const {
    const std::uint32_t ready = ready_.load(std::memory_order_relaxed);
    return ready - count_ < (ready < kAhead ? ready : kAhead) / 4;
  }
  void give_back();

  // `matches(value)` says whether the slot `value` really has the key. kNone if there is none.
  template <class Matches>
  std::uint32_t find(const IndexOverflow& overflow, std::uint32_t tag, Matches matches) const {
    return find_from(&home(tag), overflow, tag, matches);
  }
  // Fetches what an insertion under this tag will need, while there is something else to do.
  void expect(std::uint32_t tag) const {
    const IndexBucket& bucket = home(tag);
    __builtin_prefetch(&bucket, 1);
    __builtin_prefetch(&bucket.values, 1);
  }
  // False: an overflow bucket is needed and none is ready. Nothing has changed then.
  bool insert(IndexOverflow& overflow, std::uint32_t tag, std::uint32_t value) {
    return insert_into(home(tag), overflow, tag, value);
  }
  // Both at once: what matches; or else make() is inserted, unless it is kNone. kNone if neither.
  template <class Matches, class Make>
  std::uint32_t find_or_insert(IndexOverflow& overflow, std::uint32_t tag, Matches matches,
                               Make make) {
    IndexBucket& bucket = home(tag);
    const std::uint32_t found = find_from(&bucket, overflow, tag, matches);
    if (found != kNone) return found;
    const std::uint32_t made = make();
    return made != kNone && insert_into(bucket, overflow, tag, made) ? made : kNone;
  }
  // The value of the newest entry, or kNone.
  std::uint32_t newest() const { return newest_; }
  std::uint32_t take_newest() { return std::exchange(newest_, kNone); }
  // Only where there is no newest one, and nothing under its key.
  void set_newest(std::uint32_t value) { newest_ = value; }
  // Inserts the newest one, whose tag this is. False as insert().
  bool settle(IndexOverflow& overflow, std::uint32_t tag) {
    if (!insert_into(home(tag), overflow, tag, newest_)) return false;
    newest_ = kNone;
    return true;
  }
  // Takes out the entry that matches, and returns its value or kNone.
  template <class Matches>
  std::uint32_t take(IndexOverflow& overflow, std::uint32_t tag, Matches matches) {
    IndexBucket* before = nullptr;
    for (IndexBucket* bucket = &home(tag);;) {
      for (std::uint32_t found = bucket->with_tag(tag); found != 0; found &= found - 1) {
        const auto at = static_cast<std::uint32_t>(std::countr_zero(found));
        const std::uint32_t value = bucket->values[at];
        if (!matches(value)) continue;
        remove(overflow, before, bucket, at);
        return value;
      }
      if (bucket->overflow == 0) return kNone;
      before = bucket;
      bucket = &overflow[bucket->overflow];
    }
  }

  // Takes out any one entry at or after bucket `*cursor`, which moves on. kNone when there is none.
  std::uint32_t take_any(IndexOverflow& overflow, std::uint32_t* cursor);
  std::uint64_t size() const { return entries_ + (newest_ != kNone ? 1 : 0); }

 private:
  static constexpr std::uint32_t kFirstChunk = 32;  // buckets: one page
  static constexpr std::uint32_t kChunks = 24;
  static constexpr std::uint32_t kFill =
      5;  // entries a bucket on average; twice that before a split
  static constexpr std::uint32_t kAhead = 1024;  // buckets made ready at once, at most

  IndexBucket& bucket(std::uint32_t number) const {
    if (number < kFirstChunk) return chunks_[0][number];
    const auto level = static_cast<std::uint32_t>(std::bit_width(number / kFirstChunk));
    return chunks_[level][number - (kFirstChunk << (level - 1))];
  }
  IndexBucket& home(std::uint32_t tag) const {
    std::uint32_t number = tag & (half_ * 2 - 1);
    if (number >= count_) number &= half_ - 1;
    return bucket(number);
  }
  template <class Matches>
  static std::uint32_t find_from(const IndexBucket* bucket, const IndexOverflow& overflow,
                                 std::uint32_t tag, Matches matches) {
    for (;; bucket = &overflow[bucket->overflow]) {
      for (std::uint32_t found = bucket->with_tag(tag); found != 0; found &= found - 1) {
        const std::uint32_t value = bucket->values[std::countr_zero(found)];
        if (matches(value)) return value;
      }
      if (bucket->overflow == 0) return kNone;
    }
  }
  bool insert_into(IndexBucket& bucket, IndexOverflow& overflow, std::uint32_t tag,
                   std::uint32_t value) {
    if (bucket.count < IndexBucket::kEntries) [[likely]] {
      bucket.tags[bucket.count] = tag;
      bucket.values[bucket.count] = value;
      ++bucket.count;
    } else if (!append(overflow, &bucket, tag, value)) {
      return false;
    }
    ++entries_;
    if (entries_ > std::uint64_t{count_} * kFill && may_split(overflow)) split(overflow);
    return true;
  }
  static bool append(IndexOverflow& overflow, IndexBucket* bucket, std::uint32_t tag,
                     std::uint32_t value);
  // Takes entry `at` out of `bucket`; gives an overflow bucket back when it became empty.
  void remove(IndexOverflow& overflow, IndexBucket* before, IndexBucket* bucket, std::uint32_t at) {
    --entries_;
    const std::uint32_t last = --bucket->count;
    bucket->tags[at] = bucket->tags[last];
    bucket->values[at] = bucket->values[last];
    if (last == 0 && before != nullptr) {
      const std::uint32_t empty = before->overflow;
      before->overflow = bucket->overflow;
      overflow.put_back(empty);
    }
  }
  void split(IndexOverflow& overflow);
  bool may_split(const IndexOverflow& overflow) const;
  std::uint64_t first_of_chunk(std::uint32_t chunk) const;

  // Together, and with the first chunks: what every call looks at.
  std::uint64_t entries_ = 0;     // in buckets
  std::uint32_t newest_ = kNone;  // a value
  std::uint32_t count_ = 0;       // buckets in use, half_ <= count_ < 2 * half_
  std::uint32_t half_ = 0;
  std::atomic<std::uint32_t> ready_{0};
  PrivateArray<IndexBucket> chunks_[kChunks];
};

}  // namespace ttmem::client
