// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/interning.hpp"

#include <cstdio>
#include <cstring>

namespace ttmem::client {

void CoreSetBuilder::clear() {
  std::memset(rows_, 0, sizeof rows_);
  std::memset(used_, 0, sizeof used_);
}

void CoreSetBuilder::add(const ttmem_core_range& range) {
  for (std::uint32_t y = range.y0; y <= range.y1; ++y) {
    used_[y] = used_[y] || range.x0 <= range.x1;
    for (std::uint32_t x = range.x0; x <= range.x1; ++x) rows_[y][x / 64] |= 1ull << x % 64;
  }
}

// Takes the run [x0, x1] out of row y if the row has exactly this run there.
bool CoreSetBuilder::take_row(std::uint32_t x0, std::uint32_t x1, std::uint32_t y) {
  for (std::uint32_t x = x0; x <= x1; ++x) {
    if (!has(x, y)) return false;
  }
  if ((x0 > 0 && has(x0 - 1, y)) || (x1 < 255 && has(x1 + 1, y))) return false;
  for (std::uint32_t x = x0; x <= x1; ++x) rows_[y][x / 64] &= ~(1ull << x % 64);
  return true;
}

// Row by row: each run of cores grows downwards while the rows below have exactly the same run.
std::uint32_t CoreSetBuilder::rectangles(ttmem_core_range* out, std::uint32_t capacity) {
  std::uint32_t count = 0;
  for (std::uint32_t y = 0; y < 256; ++y) {
    if (!used_[y]) continue;
    for (std::uint32_t x = 0; x < 256; ++x) {
      if (!has(x, y)) continue;
      std::uint32_t x1 = x;
      while (x1 < 255 && has(x1 + 1, y)) ++x1;
      take_row(x, x1, y);
      std::uint32_t y1 = y;
      while (y1 < 255 && used_[y1 + 1] && take_row(x, x1, y1 + 1)) ++y1;
      if (count == capacity) return 0;
      out[count++] = {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y),
                      static_cast<std::uint8_t>(x1), static_cast<std::uint8_t>(y1)};
      x = x1;
    }
  }
  return count;
}

using segment::BlobKind;
using segment::kMaxBlobBytes;

bool Interning::open(SegmentWriter& writer) {
  writer_ = &writer;
  return scratch_.reserve(1) && scratch_.prepare(1);
}

std::uint32_t Interning::intern(BlobKind kind, const void* bytes, std::size_t size) {
  const std::uint32_t id = writer_->interner.intern(kind, bytes, size);
  if (id == 0) writer_->refuse(TTMEM_ANOMALY_INTERN_FULL, size);
  return id;
}

ttmem_string_t Interning::string(const char* text, std::size_t length) {
  const ColdCall call(writer_->store);
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
  const ColdCall call(writer_->store);
  Scratch& scratch = scratch_[0];
  scratch.builder.clear();
  for (std::uint32_t i = 0; i < count; ++i) scratch.builder.add(ranges[i]);
  auto* rectangles = reinterpret_cast<ttmem_core_range*>(scratch.blob + 4);
  const std::uint32_t found =
      scratch.builder.rectangles(rectangles, (kMaxBlobBytes - 4) / sizeof *rectangles);
  if (found == 0 || core_type >= segment::kCoreTypes) {
    writer_->report(TTMEM_ANOMALY_BAD_VALUE, core_type);
    return 0;
  }
  std::memset(scratch.blob, 0, 4);
  scratch.blob[0] = static_cast<std::uint8_t>(core_type);
  return intern(BlobKind::kCores, scratch.blob, 4 + found * sizeof *rectangles);
}

ttmem_cores_t Interning::core_count(std::uint32_t core_type, std::uint32_t count) {
  const ColdCall call(writer_->store);
  if (count == 0 || count > segment::kMaxCores || core_type >= segment::kCoreTypes) {
    writer_->report(TTMEM_ANOMALY_BAD_VALUE, count);
    return 0;
  }
  const std::uint8_t blob[segment::kCoreCountBytes] = {
      static_cast<std::uint8_t>(core_type), static_cast<std::uint8_t>(count),
      static_cast<std::uint8_t>(count >> 8), static_cast<std::uint8_t>(count >> 16)};
  return intern(BlobKind::kCores, blob, sizeof blob);
}

ttmem_cores_t Interning::banks(const std::uint16_t* banks, std::uint32_t count) {
  const ColdCall call(writer_->store);
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
    writer_->report(TTMEM_ANOMALY_BAD_VALUE, count);
    return 0;
  }
  return intern(BlobKind::kBanks, sorted, size * sizeof *sorted);
}

std::uint32_t Interning::addresses(const std::uint64_t* addresses, std::uint32_t count) {
  const ColdCall call(writer_->store);
  if (count == 0 || count > kMaxBlobBytes / sizeof *addresses) {
    writer_->report(TTMEM_ANOMALY_BAD_VALUE, count);
    return 0;
  }
  return intern(BlobKind::kAddresses, addresses, count * sizeof *addresses);
}

}  // namespace ttmem::client
