// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One segment, opened and followed. What comes out is still the writer's word: indices and ids in
// records are not checked against each other here, only that reading them was sound.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "segment/format.hpp"
#include "segment/reader_blobs.hpp"
#include "segment/reader_file.hpp"
#include "segment/reader_header.hpp"
#include "segment/reader_records.hpp"
#include "segment/reader_table.hpp"

namespace ttmem::segment {

// The counters that are not by device: the first bytes of Counters.
struct CounterFront {
  std::uint64_t events[32];
  std::uint64_t anomalies[kAnomalies];
  std::uint64_t unrecorded;
  std::uint64_t live_slots;
  std::uint64_t peak_slots;
  std::uint64_t growths;
  std::uint64_t odd_stacks;
  std::uint64_t reserved[11];
};
static_assert(sizeof(CounterFront) == offsetof(Counters, taken));
static_assert(offsetof(CounterFront, unrecorded) == offsetof(Counters, unrecorded));
static_assert(offsetof(CounterFront, odd_stacks) == offsetof(Counters, odd_stacks));

// The words of the header that change while the process runs.
using LiveHeader = std::array<char, kLiveHeaderBytes>;

class Reader {
 public:
  // With `owner`, a segment of anybody but that user and root is refused.
  static Result<Reader> open(const std::string& path, std::optional<std::uint32_t> owner);
  static Result<Reader> adopt(ReadOnlyFile file);

  // Reads the header again, as far as it may have changed, and checks that it still describes the
  // same segment. Empty = all well.
  std::optional<Error> refresh();
  // Equal to what it was: nothing in the segment has changed.
  LiveHeader live() const;

  // The parts. Call refresh() first; each brings itself up to what the header says.
  bool update_blobs();
  // Launches change all the time: who looks often may leave them out now and then.
  bool update_table(SlotSink& sink, TableUpdate& update, bool with_launches = true);
  template <typename Visit>
  bool update_devices(Visit&& visit) {
    return devices_.update(file_, header_.device_count, visit);
  }
  template <typename Visit>
  bool update_device_sets(Visit&& visit) {
    return device_sets_.update_new(file_, header_.device_set_count, visit);
  }
  template <typename Visit>
  bool update_allocators(Visit&& visit) {
    return allocators_.update(file_, header_.allocator_count, visit);
  }
  template <typename Visit>
  bool update_ring_managers(Visit&& visit) {
    return ring_managers_.update(file_, header_.ring_manager_count, visit);
  }

  // Counters have no version: each word is true, the whole is not one moment.
  bool read_counters(Counters& counters) const;  // all but `taken`, which is only a cross-check
  bool read_counter_front(CounterFront& front) const;
  // A failure by its number; nothing if it was replaced by a later one or is being written.
  std::unique_ptr<Failure> read_failure(std::uint32_t number) const;
  // Peaks with their shares, all of one moment; null if there are none or they kept changing.
  std::unique_ptr<Peaks> read_peaks() const;
  // The list of a failure that was just read: as its list_state says. Nothing if it is not there,
  // or was replaced meanwhile.
  std::optional<std::vector<Slot>> read_list(const Failure& failure) const;
  bool read_watermark(std::uint32_t index, Watermark& watermark) const;
  EventRun read_events(std::uint64_t from, std::uint64_t to) const;
  // For who wants every event: see TableReader.
  void take_oldest_events_first() { table_.take_oldest_first(); }
  void begin_at_first_event() { table_.begin_at_start(); }

  const Header& header() const { return header_; }
  const Layout& layout() const { return layout_; }
  const BlobReader& blobs() const { return blobs_; }
  const ReadOnlyFile& file() const { return file_; }
  // Nothing will change any more: gives the file's descriptor back.
  void rest() { file_.rest(); }
  const RecordReader<Device>& devices() const { return devices_; }
  const RecordReader<DeviceSet>& device_sets() const { return device_sets_; }
  const RecordReader<Allocator>& allocators() const { return allocators_; }
  const RecordReader<RingManager>& ring_managers() const { return ring_managers_; }
  std::uint64_t event() const { return table_.event(); }

 private:
  Reader(ReadOnlyFile file, const Header& header, const Layout& layout);
  bool refresh_live();
  std::optional<Error> refresh_all();
  std::optional<Error> check_claims() const;

  ReadOnlyFile file_;
  Header header_;
  Layout layout_;
  BlobReader blobs_;
  TableReader table_;
  RecordReader<Device> devices_;
  RecordReader<DeviceSet> device_sets_;
  RecordReader<Allocator> allocators_;
  RecordReader<RingManager> ring_managers_;
};

}  // namespace ttmem::segment
