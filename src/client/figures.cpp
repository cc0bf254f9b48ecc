// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/figures.hpp"

#include <bit>
#include <cstring>

#include "client/atomic_words.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ttmem::client {

using segment::kMaxWatermarks;
using segment::Watermark;

bool DeviceList::contains(std::uint16_t device) const {
  for (std::uint16_t i = 0; i < count; ++i) {
    if (devices[i] == device) return true;
  }
  return false;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void Figures::raise_row_avx2(std::uint64_t* taken,
                                                             std::uint64_t* peak,
                                                             std::uint64_t amount,
                                                             std::uint32_t count) {
  const __m256i more = _mm256_set1_epi64x(static_cast<long long>(amount));
  std::uint32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    auto* now_at = reinterpret_cast<__m256i*>(taken + i);
    auto* peak_at = reinterpret_cast<__m256i*>(peak + i);
    const __m256i now = _mm256_add_epi64(_mm256_loadu_si256(now_at), more);
    const __m256i before = _mm256_loadu_si256(peak_at);
    _mm256_storeu_si256(now_at, now);
    _mm256_storeu_si256(peak_at, _mm256_blendv_epi8(before, now, _mm256_cmpgt_epi64(now, before)));
  }
  raise_row(taken + i, peak + i, amount, count - i);
}
#endif

void Figures::open(Store& store) {
  store_ = &store;
  raise_wide_row_ = raise_row;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) raise_wide_row_ = raise_row_avx2;
#endif
}

Watermark& Figures::watermark(std::uint32_t number) const {
  return store_->at<Watermark>(segment::kWatermarksOffset)[number - 1];
}

void Figures::set_program_l1(std::uint16_t device, std::uint64_t bytes) {
  auto& counters = store_->counters();
  counters.peak[segment::kFigureProgramL1][device] = bytes;
  counters.taken[segment::kFigureProgramL1][device] = bytes;
  const DeviceList list = {&device, 1, device, true};
  if (open_watermarks_ != 0) raise_watermarks(segment::kFigureProgramL1, list);
}

void Figures::raise_watermarks(std::uint32_t figure, const DeviceList& list) {
  Row taken = store_->counters().taken[figure];
  for (std::uint32_t open = open_watermarks_; open != 0; open &= open - 1) {
    Row peak = watermark(static_cast<std::uint32_t>(std::countr_zero(open)) + 1).peak[figure];
    for (std::uint16_t i = 0; i < list.count; ++i) {
      const std::uint16_t device = list.devices[i];
      if (taken[device] > peak[device]) peak[device] = taken[device];
    }
  }
}

std::uint32_t Figures::open_watermark(std::uint32_t name) {
  const auto number = static_cast<std::uint32_t>(std::countr_one(open_watermarks_)) + 1;
  if (number > kMaxWatermarks) return 0;
  if (!store_->prepare(segment::SectionKind::kWatermarks, number * sizeof(Watermark))) return 0;
  const LockGuard guard(store_->lock);
  store_->rewrite(watermark(number), [&](Watermark& mark) {
    mark.in_use = 1;
    mark.name = name;
    mark.opened_ticks = store_->clock().now();
    // Of devices that were never opened nothing was ever taken.
    const std::size_t bytes = (store_->header().device_count + 1) * sizeof(std::uint64_t);
    for (std::uint32_t figure = 0; figure < segment::kFigures; ++figure) {
      std::memcpy(mark.at_open[figure], store_->counters().taken[figure], bytes);
      std::memcpy(mark.peak[figure], store_->counters().taken[figure], bytes);
    }
  });
  open_watermarks_ |= 1u << (number - 1);
  return number;
}

void Figures::close_watermark(std::uint32_t number) {
  if (number == 0 || number > kMaxWatermarks) return;
  const LockGuard guard(store_->lock);
  if ((open_watermarks_ >> (number - 1) & 1) == 0) return;
  open_watermarks_ &= ~(1u << (number - 1));
  store_->rewrite(watermark(number), [](Watermark& mark) { mark.in_use = 0; });
}

bool Figures::read_watermark(std::uint32_t number, std::uint16_t device, std::uint32_t figure,
                             ttmem_figures* out) {
  if (number == 0 || number > kMaxWatermarks) return false;
  const LockGuard guard(store_->lock);
  if ((open_watermarks_ >> (number - 1) & 1) == 0) return false;
  const Watermark& mark = watermark(number);
  *out = {mark.at_open[figure][device], mark.peak[figure][device]};
  return true;
}

std::uint32_t Figures::read_watermark(std::uint32_t number, std::uint64_t* out,
                                      std::uint32_t devices) {
  if (number == 0 || number > kMaxWatermarks || out == nullptr) return 0;
  const LockGuard guard(store_->lock);
  if ((open_watermarks_ >> (number - 1) & 1) == 0) return 0;
  const Watermark& mark = watermark(number);
  const std::uint32_t known = store_->header().device_count;
  for (std::uint32_t device = 1; device <= known && known <= devices; ++device) {
    for (std::uint32_t figure = 0; figure < segment::kFigures; ++figure) {
      *out++ = mark.at_open[figure][device];
      *out++ = mark.peak[figure][device];
      *out++ = store_->counters().taken[figure][device];
    }
  }
  return known;
}

void Figures::read(std::uint16_t device, std::uint32_t figure, ttmem_figures* out) {
  const LockGuard guard(store_->lock);
  const auto& counters = store_->counters();
  *out = {counters.taken[figure][device], counters.peak[figure][device]};
}

}  // namespace ttmem::client
