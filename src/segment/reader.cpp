// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "segment/reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "segment/reader_records.hpp"

namespace ttmem::segment {

namespace {

Error impossible(const std::string& what) {
  return {ErrorCode::kCorrupt, fmt::format("it contradicts itself ({}): ignored", what)};
}

// What a process is known by is asked of the kernel once, and so must not change later.
bool names_same(const Identity& a, const Identity& b) {
  return std::memcmp(&a, &b, offsetof(Identity, name)) == 0;
}

}  // namespace

Result<Reader> Reader::open(const std::string& path, std::optional<std::uint32_t> owner) {
  auto file = ReadOnlyFile::open(path, owner);
  if (!file) return file.error();
  return adopt(std::move(*file));
}

Result<Reader> Reader::adopt(ReadOnlyFile file) {
  auto header = read_header(file);
  if (!header) return header.error();
  const auto layout = validate(*header);
  if (!layout) return layout.error();
  Reader reader(std::move(file), *header, *layout);
  if (auto error = reader.check_claims()) return *error;
  return reader;
}

Reader::Reader(ReadOnlyFile file, const Header& header, const Layout& layout)
    : file_(std::move(file)),
      header_(header),
      layout_(layout),
      blobs_(layout.section(SectionKind::kInterned)),
      table_(layout.section(SectionKind::kEvents), layout.section(SectionKind::kTable)),
      devices_(layout.section(SectionKind::kDevices)),
      device_sets_(layout.section(SectionKind::kDeviceSets)),
      allocators_(layout.section(SectionKind::kAllocators)),
      ring_managers_(layout.section(SectionKind::kRingManagers)) {}

std::optional<Error> Reader::refresh() {
  const LiveHeader before = live();
  const std::uint64_t table_slots = header_.table_slots;
  const std::uint64_t interned_bytes = header_.interned_bytes;
  if (!refresh_live()) {
    if (auto error = refresh_all()) return error;
  }
  if (live() == before) return std::nullopt;
  // The claims of the header are checked against the size of the file, which is asked for again
  // only if they have grown: a quiet segment costs one read.
  const bool grown = header_.table_slots != table_slots || header_.interned_bytes != interned_bytes;
  if (grown && !file_.restat()) return Error{ErrorCode::kSystem, "it can no longer be read"};
  return check_claims();
}

LiveHeader Reader::live() const {
  LiveHeader live;
  std::memcpy(live.data(), &header_.head, live.size());
  return live;
}

// False: it cannot be read, goes back, or tells of a change outside of itself.
bool Reader::refresh_live() {
  LiveHeader live;
  if (!file_.read(kLiveHeaderOffset, live.data(), live.size())) return false;
  std::uint64_t head = 0;
  std::uint32_t changes = 0;
  std::memcpy(&head, live.data(), sizeof head);
  std::memcpy(&changes, live.data() + offsetof(Header, changes) - kLiveHeaderOffset,
              sizeof changes);
  if (changes != header_.changes || head < header_.head) return false;
  std::memcpy(&header_.head, live.data(), live.size());
  return true;
}

std::optional<Error> Reader::refresh_all() {
  auto header = read_header(file_);
  if (!header) return header.error();
  if (header->nonce != header_.nonce ||
      std::memcmp(header->sections, header_.sections, sizeof header_.sections) != 0) {
    return impossible("another segment was written over it");
  }
  if (!names_same(header->subject, header_.subject) ||
      !names_same(header->writer, header_.writer)) {
    return impossible("its process has become another one");
  }
  header_ = *header;
  return std::nullopt;
}

std::optional<Error> Reader::check_claims() const {
  // Record 0 of these sections is never used, as 0 means none: a count stays below the room.
  const auto too_many = [&](SectionKind kind, std::uint64_t count) {
    return count >= layout_.section(kind).entries;
  };
  if (too_many(SectionKind::kDevices, header_.device_count)) return impossible("its devices");
  if (too_many(SectionKind::kDeviceSets, header_.device_set_count)) return impossible("its sets");
  if (too_many(SectionKind::kAllocators, header_.allocator_count))
    return impossible("its allocators");
  if (too_many(SectionKind::kRingManagers, header_.ring_manager_count))
    return impossible("its rings");
  const std::uint64_t backed = file_.data_bytes() + kUnbackedBytes;
  if (header_.table_slots > layout_.section(SectionKind::kTable).entries ||
      header_.table_slots * sizeof(Slot) > backed || header_.interned_bytes > backed) {
    return impossible(fmt::format("it claims {} slots and {} bytes of names, but holds {} bytes",
                                  header_.table_slots, header_.interned_bytes, file_.data_bytes()));
  }
  return std::nullopt;
}

bool Reader::update_blobs() { return blobs_.update(file_, header_.interned_bytes); }

bool Reader::update_table(SlotSink& sink, TableUpdate& update, bool with_launches) {
  return table_.update(file_, header_, sink, update, with_launches);
}

bool Reader::read_counters(Counters& counters) const {
  // Without `taken`, by far the largest part: it is what the writer raises peaks by. What is taken
  // now is summed up from the table, which is the truth.
  constexpr std::size_t kFront = offsetof(Counters, taken);
  constexpr std::size_t kBack = offsetof(Counters, peak);
  const std::uint64_t offset = layout_.section(SectionKind::kCounters).offset;
  return file_.read(offset, &counters, kFront) &&
         file_.read(offset + kBack, counters.peak, sizeof counters - kBack);
}

bool Reader::read_counter_front(CounterFront& front) const {
  return file_.read(layout_.section(SectionKind::kCounters).offset, &front, sizeof front);
}

std::unique_ptr<Failure> Reader::read_failure(std::uint32_t number) const {
  const SectionPlace& place = layout_.section(SectionKind::kFailures);
  if (number == 0 || number > header_.failure_count || place.entries < kMaxFailures) return nullptr;
  auto failure = std::make_unique_for_overwrite<Failure>();
  const auto scratch = std::make_unique_for_overwrite<Failure>();
  const std::uint64_t offset = place.at(failure_place(number));
  if (read_settled(file_, offset, *failure, *scratch) != Settled::kYes) return nullptr;
  if (failure->number != number || failure->picture_slots > kMaxPictureSlots) return nullptr;
  return failure;
}

std::unique_ptr<Peaks> Reader::read_peaks() const {
  const std::uint64_t offset = layout_.section(SectionKind::kPeaks).offset;
  auto peaks = std::make_unique_for_overwrite<Peaks>();
  const auto again = std::make_unique_for_overwrite<Peaks>();
  constexpr std::size_t kRecords = offsetof(Peaks, shares);
  for (std::uint32_t tries = 0; tries < kStateTries; ++tries) {
    if (!file_.read(offset, peaks.get(), sizeof *peaks) ||
        !file_.read(offset, again.get(), kRecords)) {
      return nullptr;
    }
    // Every change of a share is between two changes of its record.
    const bool even = std::ranges::none_of(
        peaks->peaks, [](const Peak& peak) { return (peak.version & 1) != 0; });
    if (even && std::memcmp(peaks.get(), again.get(), kRecords) == 0) {
      peaks->count = std::min(peaks->count, kMaxPeaks);
      return peaks;
    }
  }
  return nullptr;
}

std::optional<std::vector<Slot>> Reader::read_list(const Failure& failure) const {
  const SectionPlace& place = layout_.section(SectionKind::kLists);
  if (failure.list_first > place.entries || failure.list_slots > place.entries - failure.list_first)
    return std::nullopt;
  std::vector<Slot> list(failure.list_slots);
  if (list.empty()) return list;
  if (!file_.read(place.at(failure.list_first), list.data(), list.size() * sizeof(Slot)))
    return std::nullopt;
  // A later failure may have used the room while it was read: then the record is another one.
  std::uint64_t version = 0;
  const std::uint64_t record =
      layout_.section(SectionKind::kFailures).at(failure_place(failure.number));
  if (!file_.read(record, &version, sizeof version) || version != failure.version)
    return std::nullopt;
  return list;
}

bool Reader::read_watermark(std::uint32_t index, Watermark& watermark) const {
  const SectionPlace& place = layout_.section(SectionKind::kWatermarks);
  return index < place.entries && read_settled(file_, place.at(index), watermark) == Settled::kYes;
}

EventRun Reader::read_events(std::uint64_t from, std::uint64_t to) const {
  return segment::read_events(file_, layout_.section(SectionKind::kEvents), from, to);
}

}  // namespace ttmem::segment
