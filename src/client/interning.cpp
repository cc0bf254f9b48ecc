// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/interning.hpp"

#include <cstdio>
#include <cstring>

namespace ttmem::client {

using segment::BlobKind;
using segment::kMaxBlobBytes;

bool Interning::open(Book& book) {
  book_ = &book;
  return scratch_.reserve(1) && scratch_.prepare(1);
}

std::uint32_t Interning::intern(BlobKind kind, const void* bytes, std::size_t size) {
  const std::uint32_t id = book_->interner.intern(kind, bytes, size);
  if (id == 0) book_->refuse(TTMEM_ANOMALY_INTERN_FULL, size);
  return id;
}

ttmem_string_t Interning::string(const char* text, std::size_t length) {
  const ColdCall call(book_->store);
  return intern(BlobKind::kString, text, length < kMaxBlobBytes ? length : kMaxBlobBytes);
}

ttmem_string_t Interning::line(const char* file, std::uint32_t number, const char* function) {
  char text[1024];
  const int length = std::snprintf(text, sizeof text, function == nullptr ? "%s:%u" : "%s:%u %s",
                                   file == nullptr ? "?" : file, number, function);
  if (length < 0) return 0;
  const auto bytes = static_cast<std::size_t>(length);
  return string(text, bytes < sizeof text ? bytes : sizeof text - 1);
}

ttmem_cores_t Interning::cores(std::uint32_t core_type, const ttmem_core_range* ranges,
                               std::uint32_t count) {
  const ColdCall call(book_->store);
  Scratch& scratch = scratch_[0];
  scratch.builder.clear();
  for (std::uint32_t i = 0; i < count; ++i) scratch.builder.add(ranges[i]);
  auto* rectangles = reinterpret_cast<ttmem_core_range*>(scratch.blob + 4);
  const std::uint32_t found =
      scratch.builder.rectangles(rectangles, (kMaxBlobBytes - 4) / sizeof *rectangles);
  if (found == 0 || core_type >= segment::kCoreTypes) {
    book_->report(TTMEM_ANOMALY_BAD_VALUE, core_type);
    return 0;
  }
  std::memset(scratch.blob, 0, 4);
  scratch.blob[0] = static_cast<std::uint8_t>(core_type);
  return intern(BlobKind::kCores, scratch.blob, 4 + found * sizeof *rectangles);
}

ttmem_cores_t Interning::banks(const std::uint16_t* banks, std::uint32_t count) {
  const ColdCall call(book_->store);
  auto* sorted = reinterpret_cast<std::uint16_t*>(scratch_[0].blob);
  std::uint32_t size = 0;
  for (std::uint32_t i = 0; i < count && size < kMaxBlobBytes / 2; ++i) {
    std::uint32_t at = size;
    while (at > 0 && sorted[at - 1] > banks[i]) --at;
    if (at > 0 && sorted[at - 1] == banks[i]) continue;
    std::memmove(sorted + at + 1, sorted + at, (size - at) * sizeof *sorted);
    sorted[at] = banks[i];
    ++size;
  }
  if (size == 0) {
    book_->report(TTMEM_ANOMALY_BAD_VALUE, count);
    return 0;
  }
  return intern(BlobKind::kBanks, sorted, size * sizeof *sorted);
}

std::uint32_t Interning::addresses(const std::uint64_t* addresses, std::uint32_t count) {
  const ColdCall call(book_->store);
  if (count == 0 || count > kMaxBlobBytes / sizeof *addresses) {
    book_->report(TTMEM_ANOMALY_BAD_VALUE, count);
    return 0;
  }
  return intern(BlobKind::kAddresses, addresses, count * sizeof *addresses);
}

}  // namespace ttmem::client
