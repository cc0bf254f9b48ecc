// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/peaks.hpp"

#include <bit>

#include "client/slot_index.hpp"

namespace ttmem::client {

using segment::kMaxPeaks;
using segment::kPeakShares;
using segment::Payload;
using segment::Peak;
using segment::PeakShare;

namespace {

constexpr std::uint32_t kProbes = 8;

std::uint64_t place_of(std::uint32_t number, const Payload& payload) {
  return mix((std::uint64_t{payload.origin} << 32 | payload.operation) ^
             std::uint64_t{number} << 56 ^ std::uint64_t{segment::Meta::space(payload.meta)} << 53);
}

}  // namespace

bool Peaks::prepare() {
  return store_->prepare(segment::SectionKind::kPeaks, sizeof(segment::Peaks));
}

bool Peaks::is_void(const PeakShare& share) const {
  return share.ticks == 0 || share.ticks != record(share.peak).spaces[share.space].ticks;
}

// Its own place, else the first one that nobody needs any more; null if there is none near.
PeakShare* Peaks::place_for(std::uint32_t number, const Payload& payload) {
  const std::uint32_t space = segment::Meta::space(payload.meta);
  const std::uint64_t first = place_of(number, payload);
  PeakShare* free = nullptr;
  for (std::uint32_t i = 0; i < kProbes; ++i) {
    PeakShare& share = section().shares[(first + i) % kPeakShares];
    if (is_void(share)) {
      if (free == nullptr) free = &share;
    } else if (share.origin == payload.origin && share.operation == payload.operation &&
               share.peak == number && share.space == space) {
      return &share;
    }
  }
  if (free == nullptr) return nullptr;
  set_word(free->ticks, std::uint64_t{0});
  free->bytes = 0;
  free->buffers = 0;
  free->origin = payload.origin;
  free->operation = payload.operation;
  free->peak = static_cast<std::uint16_t>(number);
  free->space = static_cast<std::uint16_t>(space);
  publish(free->ticks, record(number).spaces[space].ticks);
  return free;
}

void Peaks::add_share(std::uint32_t number, const Payload& payload, std::uint64_t bytes) {
  Peak& peak = record(number);
  begin(peak);
  if (PeakShare* share = place_for(number, payload)) {
    set_word(share->bytes, share->bytes + bytes);
    set_word(share->buffers, share->buffers + 1);
  } else {
    std::uint64_t& lost = peak.spaces[segment::Meta::space(payload.meta)].lost;
    set_word(lost, lost + bytes);
  }
  end(peak);
}

// The peaks of other devices are not known of these: the next one will be.
void Peaks::set_devices(Peak& peak, const Devices& devices) {
  begin(peak);
  std::uint32_t lead = segment::kMaxDevices;
  for (std::uint32_t i = 0; i < sizeof devices / sizeof devices[0]; ++i) {
    set_word(peak.devices[i], devices[i]);
    if (devices[i] != 0 && lead == segment::kMaxDevices) {
      lead = i * 64 + static_cast<std::uint32_t>(std::countr_zero(devices[i]));
    }
  }
  set_word(peak.lead, lead);
  for (std::uint32_t space = 0; space < segment::kSpaces; ++space) {
    set_word(peak.spaces[space].ticks, std::uint64_t{0});
    set_word(peak.spaces[space].bytes, store_->counters().peak[space][lead]);
    set_word(peak.spaces[space].lost, std::uint64_t{0});
  }
  end(peak);
}

std::uint32_t Peaks::add_record(const Devices& devices) {
  if (count_ == kMaxPeaks) return kMaxPeaks;
  set_devices(record(count_), devices);
  set_word(section().count, count_ + 1);
  return count_++;
}

}  // namespace ttmem::client
