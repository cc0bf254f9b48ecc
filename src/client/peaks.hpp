// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What was held at the moment of a peak, by origin, without ever copying what is held.
//
// Whoever held something at the peak holds it still, or has released it since. So it is enough to
// remember when the peak was, and to add up by origin what older buffers release after it: both are
// a few words per call, however much is held. A new peak makes every share of the old one void,
// because a share names the peak that it belongs to. Readers add the live buffers that are older
// than the peak.
//
// Devices that the same allocators cover rise and fall together and share one record; an allocator
// that covers only some of them parts them.
#pragma once

#include <cstdint>

#include "client/figures.hpp"
#include "client/store.hpp"

namespace ttmem::client {

// Records of peaks, a bit each.
using PeakMask = std::uint64_t;
static_assert(segment::kMaxPeaks == 64);

class Peaks {
 public:
  void open(Store& store) { store_ = &store; }

  // Cold, under gate and lock, after prepare(): the records of these devices. `split(from, to)` is
  // called for each record whose devices were parted: whoever had `from` has `to` as well now.
  bool prepare();
  template <typename Split>
  PeakMask follow(const DeviceList& devices, Split split);

  // Under the lock, after Figures::raise: a buffer of this time is about to be committed.
  void raised(PeakMask mask, std::uint32_t space, std::uint64_t ticks) {
    for (; mask != 0; mask &= mask - 1) {
      segment::Peak& peak = record(static_cast<std::uint32_t>(__builtin_ctzll(mask)));
      const std::uint64_t highest = store_->counters().peak[space][peak.lead];
      if (highest > peak.spaces[space].bytes) rise(peak, space, highest, ticks);
    }
  }
  // Under the lock: a buffer that takes `bytes()` on each device is about to be released.
  template <typename Bytes>
  void released(PeakMask mask, const segment::Payload& payload, Bytes bytes) {
    const std::uint32_t space = segment::Meta::space(payload.meta);
    for (; mask != 0; mask &= mask - 1) {
      const auto number = static_cast<std::uint32_t>(__builtin_ctzll(mask));
      if (payload.time <= record(number).spaces[space].ticks) add_share(number, payload, bytes());
    }
  }

 private:
  using Devices = std::uint64_t[segment::kMaxDevices / 64];

  segment::Peaks& section() const { return *store_->at<segment::Peaks>(segment::kPeaksOffset); }
  segment::Peak& record(std::uint32_t number) const { return section().peaks[number]; }
  void rise(segment::Peak& peak, std::uint32_t space, std::uint64_t bytes, std::uint64_t ticks) {
    begin(peak);
    segment::PeakSpace& at = peak.spaces[space];
    set_word(at.ticks, ticks);
    set_word(at.bytes, bytes);
    set_word(at.lost, std::uint64_t{0});
    end(peak);
  }
  // What is written in between is not to be believed.
  static void begin(segment::Peak& peak) {
    set_word(peak.version, peak.version | 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
  }
  void end(segment::Peak& peak) {
    set_word(peak.event, store_->head() + 1);
    publish(peak.version, (peak.version | 1) + 1);
  }
  void add_share(std::uint32_t number, const segment::Payload& payload, std::uint64_t bytes);
  segment::PeakShare* place_for(std::uint32_t number, const segment::Payload& payload);
  bool is_void(const segment::PeakShare& share) const;
  void set_devices(segment::Peak& peak, const Devices& devices);
  std::uint32_t add_record(const Devices& devices);  // kMaxPeaks if there is no room

  Store* store_ = nullptr;
  std::uint32_t count_ = 0;
};

template <typename Split>
PeakMask Peaks::follow(const DeviceList& list, Split split) {
  Devices missing = {};
  for (std::uint16_t i = 0; i < list.count; ++i) {
    missing[list.devices[i] / 64] |= std::uint64_t{1} << (list.devices[i] % 64);
  }
  constexpr std::size_t kWords = sizeof missing / sizeof missing[0];
  PeakMask mask = 0;
  const std::uint32_t before = count_;
  for (std::uint32_t number = 0; number < before; ++number) {
    Devices common = {}, others = {};
    bool any = false, all = true;
    for (std::size_t i = 0; i < kWords; ++i) {
      common[i] = record(number).devices[i] & missing[i];
      others[i] = record(number).devices[i] & ~missing[i];
      any = any || common[i] != 0;
      all = all && others[i] == 0;
    }
    if (!any) continue;
    for (std::size_t i = 0; i < kWords; ++i) missing[i] &= ~common[i];
    if (!all) {
      const std::uint32_t rest = add_record(others);
      set_devices(record(number), common);
      if (rest < segment::kMaxPeaks) split(number, rest);
    }
    mask |= PeakMask{1} << number;
  }
  bool any_missing = false;
  for (const std::uint64_t word : missing) any_missing = any_missing || word != 0;
  const std::uint32_t added = any_missing ? add_record(missing) : segment::kMaxPeaks;
  return added < segment::kMaxPeaks ? mask | PeakMask{1} << added : mask;
}

}  // namespace ttmem::client
