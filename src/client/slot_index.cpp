// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/slot_index.hpp"

namespace ttmem::client {

bool IndexOverflow::reserve(std::uint64_t buckets) {
  used_ = 1;
  return buckets_.reserve(buckets) && prepare();
}

bool IndexOverflow::prepare() { return !is_low() || extend(); }

bool IndexOverflow::extend() { return buckets_.prepare(buckets_.ready() + kStep); }

std::uint32_t IndexOverflow::take() {
  std::uint32_t index = free_;
  if (index != 0) {
    free_ = buckets_[index].overflow;
    --free_count_;
  } else {
    if (used_ >= buckets_.ready()) return 0;
    index = static_cast<std::uint32_t>(used_++);
  }
  buckets_[index].count = 0;
  buckets_[index].overflow = 0;
  return index;
}

void IndexOverflow::put_back(std::uint32_t index) {
  buckets_[index].overflow = free_;
  free_ = index;
  ++free_count_;
}

bool SlotIndex::open() {
  if (!chunks_[0].reserve(kFirstChunk) || !chunks_[0].prepare(kFirstChunk)) return false;
  newest_ = kNone;
  count_ = 1;
  half_ = 1;
  ready_.store(kFirstChunk, std::memory_order_relaxed);
  return true;
}

std::uint64_t SlotIndex::first_of_chunk(std::uint32_t chunk) const {
  return chunk == 0 ? 0 : std::uint64_t{kFirstChunk} << (chunk - 1);
}

// Chunks double but are made ready in small steps, on the cold path: neither a page fault nor a
// rehash ever falls on an allocation.
bool SlotIndex::prepare() {
  const std::uint64_t ready = ready_.load(std::memory_order_relaxed);
  std::uint32_t chunk = 0;
  while (first_of_chunk(chunk + 1) <= ready) ++chunk;
  if (chunk >= kChunks) return false;
  const std::uint64_t first = first_of_chunk(chunk);
  const std::uint64_t size = first_of_chunk(chunk + 1) - first;
  if (chunks_[chunk].reserved() == 0 && !chunks_[chunk].reserve(size)) return false;
  const std::uint64_t inside = ready - first + kAhead;
  if (!chunks_[chunk].prepare(inside < size ? inside : size)) return false;
  ready_.store(static_cast<std::uint32_t>(first + (inside < size ? inside : size)),
               std::memory_order_release);
  return true;
}

void SlotIndex::give_back() {
  for (auto& chunk : chunks_) chunk.give_back();
  count_ = 0;
  half_ = 0;
  entries_ = 0;
  newest_ = kNone;
  ready_.store(0, std::memory_order_relaxed);
}

bool SlotIndex::append(IndexOverflow& overflow, IndexBucket* bucket, std::uint32_t tag,
                       std::uint32_t value) {
  while (bucket->count == IndexBucket::kEntries) {
    if (bucket->overflow == 0) {
      const std::uint32_t added = overflow.take();
      if (added == 0) return false;
      bucket->overflow = added;
    }
    bucket = &overflow[bucket->overflow];
  }
  bucket->tags[bucket->count] = tag;
  bucket->values[bucket->count] = value;
  ++bucket->count;
  return true;
}

std::uint32_t SlotIndex::take_any(IndexOverflow& overflow, std::uint32_t* cursor) {
  if (newest_ != kNone) return take_newest();
  for (; *cursor < count_; ++*cursor) {
    IndexBucket* before = nullptr;
    IndexBucket* bucket = &this->bucket(*cursor);
    while (bucket->count == 0 && bucket->overflow != 0) {
      before = bucket;
      bucket = &overflow[bucket->overflow];
    }
    if (bucket->count == 0) continue;
    const std::uint32_t value = bucket->values[bucket->count - 1];
    remove(overflow, before, bucket, bucket->count - 1);
    return value;
  }
  return kNone;
}

// While memory is not ready, the index works on with fuller buckets.
bool SlotIndex::may_split(const IndexOverflow& overflow) const {
  if (count_ >= ready_.load(std::memory_order_acquire)) return false;
  std::uint64_t needed = 0;
  for (auto* from = &bucket(count_ - half_); from->overflow != 0;
       from = &overflow[from->overflow]) {
    ++needed;
  }
  return needed <= overflow.spare();
}

// Shares the entries of bucket `count_ - half_` with a new bucket `count_`.
void SlotIndex::split(IndexOverflow& overflow) {
  IndexBucket* from = &bucket(count_ - half_);
  IndexBucket* to = &bucket(count_);
  to->count = 0;
  to->overflow = 0;
  const std::uint32_t mask = half_ * 2 - 1;
  IndexBucket* before = nullptr;
  for (std::uint32_t i = 0; from != nullptr;) {
    if (i < from->count) {
      if ((from->tags[i] & mask) != count_) {
        ++i;
        continue;
      }
      append(overflow, to, from->tags[i], from->values[i]);
      const std::uint32_t last = --from->count;
      from->tags[i] = from->tags[last];
      from->values[i] = from->values[last];
      continue;
    }
    const std::uint32_t next = from->overflow;
    if (from->count == 0 && before != nullptr) {
      overflow.put_back(before->overflow);
      before->overflow = next;
    } else {
      before = from;
    }
    from = next == 0 ? nullptr : &overflow[next];
    i = 0;
  }
  if (++count_ == half_ * 2) half_ *= 2;
}

}  // namespace ttmem::client
