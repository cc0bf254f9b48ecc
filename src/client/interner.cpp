// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/interner.hpp"

#include <cstring>

#include "client/atomic_words.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::client {

using segment::Blob;
using segment::BlobKind;

namespace {

constexpr std::uint64_t kOverflowBuckets = 1u << 17;
constexpr std::uint64_t kStepBytes = 64 * 1024;
constexpr std::uint64_t kFirstBytes = 16 * 1024;

std::uint32_t hash(BlobKind kind, const void* bytes, std::size_t size) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::uint64_t sum = mix(size << 8 ^ static_cast<std::uint64_t>(kind));
  for (; size >= 8; at += 8, size -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    sum = mix(sum ^ word);
  }
  std::uint64_t rest = 0;
  if (size > 0) std::memcpy(&rest, at, size);
  return static_cast<std::uint32_t>(mix(sum ^ rest));
}

// Texts leave room to what exact figures are made of.
std::uint64_t limit_of(BlobKind kind) {
  const bool text = kind == BlobKind::kString || kind >= BlobKind::kFrame;
  return text ? segment::kMaxTextBytes : segment::kMaxInternedBytes;
}

const unsigned char* bytes_of(const Blob* blob) {
  return reinterpret_cast<const unsigned char*>(blob + 1);
}

}  // namespace

bool Interner::open(Store& store) {
  store_ = &store;
  return overflow_.reserve(kOverflowBuckets) && ids_.open() &&
         store.prepare(segment::SectionKind::kInterned, kFirstBytes);
}

const Blob* Interner::at(std::uint32_t id) const {
  return store_->at<Blob>(segment::kInternedOffset + (std::uint64_t{id} - 1) * sizeof(Blob));
}

const Blob* Interner::find(std::uint32_t id, BlobKind kind) const {
  if (id == 0) return nullptr;
  if ((std::uint64_t{id} - 1) * sizeof(Blob) >= get_word(store_->header().interned_bytes)) {
    return nullptr;
  }
  const Blob* blob = at(id);
  return blob->kind == static_cast<std::uint16_t>(kind) ? blob : nullptr;
}

std::uint32_t Interner::find(std::uint32_t tag, BlobKind kind, const void* bytes,
                             std::size_t size) const {
  const std::uint32_t known = ids_.find(overflow_, tag, [&](std::uint32_t id) {
    const Blob* blob = at(id);
    return blob->kind == static_cast<std::uint16_t>(kind) && blob->bytes == size &&
           std::memcmp(bytes_of(blob), bytes, size) == 0;
  });
  return known == SlotIndex::kNone ? 0 : known;
}

std::uint32_t Interner::find(BlobKind kind, const void* bytes, std::size_t size) const {
  return size > segment::kMaxBlobBytes ? 0 : find(hash(kind, bytes, size), kind, bytes, size);
}

std::uint32_t Interner::intern(BlobKind kind, const void* bytes, std::size_t size,
                               std::uint64_t spare) {
  if (size > segment::kMaxBlobBytes) return 0;
  const std::uint32_t tag = hash(kind, bytes, size);
  if (const std::uint32_t known = find(tag, kind, bytes, size)) return known;
  overflow_.prepare();
  if (ids_.wants_preparation()) ids_.prepare();
  const std::uint32_t id = append(kind, bytes, size, spare);
  if (id != 0) ids_.insert(overflow_, tag, id);
  return id;
}

Interner::Stored Interner::store(BlobKind kind, const void* bytes, std::size_t size,
                                 std::uint64_t spare) {
  if (size > segment::kMaxBlobBytes) return {0, 0};
  const Stored stored = {hash(kind, bytes, size), append(kind, bytes, size, spare)};
  ids_.expect(stored.tag);
  return stored;
}

void Interner::enter(const Stored& stored) {
  overflow_.prepare();
  if (ids_.wants_preparation()) ids_.prepare();
  ids_.insert(overflow_, stored.tag, stored.id);
}

std::uint32_t Interner::append(BlobKind kind, const void* bytes, std::size_t size,
                               std::uint64_t spare) {
  const std::uint64_t offset = store_->header().interned_bytes;
  const std::uint64_t end = offset + sizeof(Blob) + ((size + 7) & ~std::size_t{7});
  if (end > limit_of(kind)) return 0;
  const std::uint64_t ready = store_->file().ready(segment::SectionKind::kInterned);
  if (end > ready && !store_->prepare(segment::SectionKind::kInterned,
                                      end > ready + kStepBytes ? end : ready + kStepBytes, spare)) {
    return 0;
  }
  auto* blob = store_->at<Blob>(segment::kInternedOffset + offset);
  blob->bytes = static_cast<std::uint32_t>(size);
  blob->kind = static_cast<std::uint16_t>(kind);
  if (size > 0) std::memcpy(blob + 1, bytes, size);
  // The size last: no reader ever sees half a blob.
  publish(store_->header().interned_bytes, end);
  return static_cast<std::uint32_t>(offset / sizeof(Blob)) + 1;
}

std::uint64_t Interner::core_count(std::uint32_t id) const {
  if (const Blob* banks = find(id, BlobKind::kBanks)) return banks->bytes / 2;
  const Blob* cores = find(id, BlobKind::kCores);
  if (cores == nullptr) return 1;
  if (cores->bytes == segment::kCoreCountBytes) return segment::told_cores(bytes_of(cores));
  std::uint64_t count = 0;
  const auto* ranges = reinterpret_cast<const ttmem_core_range*>(bytes_of(cores) + 4);
  // Rectangles are disjoint (CoreSetBuilder), so they can be added.
  for (std::uint32_t i = 0; i < (cores->bytes - 4) / sizeof *ranges; ++i) {
    count += (ranges[i].x1 - ranges[i].x0 + 1u) * (ranges[i].y1 - ranges[i].y0 + 1u);
  }
  return count;
}

}  // namespace ttmem::client
