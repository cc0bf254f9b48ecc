// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "recording/segment_image.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "recording/patches.hpp"
#include "segment/reader_records.hpp"

namespace ttmem::recording {

namespace {

using segment::Header;
using segment::Meta;
using segment::Note;
using segment::SectionKind;

const Error kImpossible{ErrorCode::kCorrupt, "a checkpoint contradicts itself"};

// The header as the patches have it.
std::optional<Header> header_in(std::span<const std::byte> patches) {
  Header header{};
  auto* to = reinterpret_cast<std::byte*>(&header);
  const bool sound = for_each_patch(patches, [&](std::uint64_t offset, auto bytes) {
    if (offset < sizeof header) {
      std::memcpy(to + offset, bytes.data(),
                  std::min<std::size_t>(bytes.size(), sizeof header - offset));
    }
    return true;
  });
  if (!sound || std::memcmp(header.magic, segment::kMagic, sizeof segment::kMagic) != 0 ||
      header.major != segment::kMajorVersion) {
    return std::nullopt;
  }
  return header;
}

// How long the file must be; nothing if it would be too long.
std::optional<std::uint64_t> size_of(const segment::Layout& layout) {
  std::uint64_t end = sizeof(Header);
  for (std::uint32_t kind = 1; kind <= segment::kSections; ++kind) {
    const segment::SectionPlace& place = layout.section(static_cast<SectionKind>(kind));
    const bool is_table = kind == static_cast<std::uint32_t>(SectionKind::kTable);
    const std::uint64_t most = kMaxImageSlots * place.entry_bytes;
    const std::uint64_t bytes = is_table ? std::min(place.max_bytes, most) : place.max_bytes;
    end = std::max(end, place.offset + bytes);
  }
  return end <= kMaxImageBytes ? std::optional(end) : std::nullopt;
}

}  // namespace

void SegmentImage::Unmap::operator()(std::byte* at) const { ::munmap(at, bytes); }

Result<SegmentImage> SegmentImage::create(std::span<const std::byte> checkpoint) {
  const auto header = header_in(checkpoint);
  if (!header) return kImpossible;
  const auto layout = segment::validate(*header);
  if (!layout) return layout.error();
  const auto bytes = size_of(*layout);
  if (!bytes) return kImpossible;

  SegmentImage image;
  image.file_.reset(::memfd_create("ttmem-replay", MFD_CLOEXEC));
  if (!image.file_ || ::ftruncate(image.file_.get(), static_cast<off_t>(*bytes)) != 0) {
    return Error{ErrorCode::kSystem, "no memory for a replay"};
  }
  void* map = ::mmap(nullptr, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                     image.file_.get(), 0);
  if (map == MAP_FAILED) return Error{ErrorCode::kSystem, "no memory for a replay"};
  image.map_ = {static_cast<std::byte*>(map), Unmap{*bytes}};
  image.layout_ = *layout;
  image.ring_ = layout->section(SectionKind::kEvents);
  image.table_ = layout->section(SectionKind::kTable);
  if (!image.patch(checkpoint)) return kImpossible;
  return image;
}

bool SegmentImage::replace(std::span<const std::byte> checkpoint, std::uint64_t event) {
  const auto header = header_in(checkpoint);
  if (!header ||
      std::memcmp(header->sections, this->header()->sections, sizeof header->sections) != 0)
    return false;
  const segment::SectionPlace& blobs = layout_.section(SectionKind::kInterned);
  const std::uint64_t interned = this->header()->interned_bytes;
  const std::uint64_t slots = this->header()->table_slots;
  if (table_.offset <= blobs.offset ||
      ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                  static_cast<off_t>(blobs.offset)) != 0 ||
      !patch(checkpoint)) {
    return false;
  }
  this->header()->table_slots = std::max(slots, this->header()->table_slots);
  release_all(slots, event);
  this->header()->interned_bytes = std::max(interned, this->header()->interned_bytes);
  set_head(event);
  return true;
}

// Who follows must be told that what stood there is gone, unless the checkpoint puts it there
// again.
void SegmentImage::release_all(std::uint64_t slots, std::uint64_t event) {
  for (std::uint64_t i = 0; i < slots; ++i) {
    auto* slot = reinterpret_cast<segment::Slot*>(map_.get() + table_.at(i));
    if (!Meta::live(slot->payload.meta)) continue;
    slot->payload.meta &= ~(1ull << Meta::kLiveShift);
    slot->version = event << 1;
  }
}

bool SegmentImage::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::size_t size = map_.get_deleter().bytes;
  if (offset > size || bytes.size() > size - offset) return false;
  std::memcpy(map_.get() + offset, bytes.data(), bytes.size());
  return true;
}

bool SegmentImage::patch(std::span<const std::byte> patches) {
  const std::uint64_t head = header()->head;
  const std::uint64_t slots = header()->table_slots;
  const std::uint64_t interned = header()->interned_bytes;
  const bool sound = for_each_patch(
      patches, [&](std::uint64_t offset, auto bytes) { return write(offset, bytes); });
  // These follow events and blobs, which may be ahead of a sample or behind it.
  header()->head = head;
  header()->table_slots = std::min(std::max(slots, header()->table_slots), kMaxImageSlots);
  header()->interned_bytes = std::max(interned, header()->interned_bytes);
  mark_change();
  return sound;
}

bool SegmentImage::put_slot(const SlotRecord& record) {
  if (record.slot >= std::min<std::uint64_t>(table_.entries, kMaxImageSlots)) return false;
  const segment::Slot slot{record.number << 1, record.payload};
  header()->table_slots = std::max<std::uint64_t>(header()->table_slots, record.slot + 1ull);
  return write(table_.at(record.slot), bytes_of(slot));
}

bool SegmentImage::apply(const SlotRecord& event) {
  if (event.number != head() + 1) return false;
  const segment::Event entry{static_cast<std::uint32_t>(event.number), event.slot, event.payload};
  if (!write(ring_.at(event.number % ring_.entries), bytes_of(entry))) return false;
  if (event.slot == segment::kNoSlot) {
    open_by_note(event.payload);
  } else {
    SlotRecord slot = event;
    if (segment::has_live_words(event.payload) && Meta::live(event.payload.meta)) {
      // No event carries live words: they stay what they were, and are zero in a new slot.
      segment::Slot before{};
      if (event.slot < header()->table_slots) {
        std::memcpy(&before, map_.get() + table_.at(event.slot), sizeof before);
      }
      const bool same = Meta::kind(before.payload.meta) == Meta::kind(event.payload.meta) &&
                        Meta::live(before.payload.meta) && before.payload.id == event.payload.id;
      slot.payload.a = same ? before.payload.a : 0;
      slot.payload.b = same ? before.payload.b : 0;
      slot.payload.time = same ? before.payload.time : 0;
    }
    if (!put_slot(slot)) return false;
  }
  header()->head = event.number;
  return true;
}

// What is open is known at each event, without a sample.
void SegmentImage::open_by_note(const segment::Payload& note) {
  switch (static_cast<Note>(Meta::block(note.meta))) {
    case Note::kDeviceOpened:
    case Note::kDeviceClosed:
      set_open<segment::Device>(SectionKind::kDevices, note.a, header()->device_count,
                                static_cast<Note>(Meta::block(note.meta)) == Note::kDeviceOpened);
      break;
    case Note::kAllocatorOpened:
    case Note::kAllocatorClosed:
      set_open<segment::Allocator>(
          SectionKind::kAllocators, note.allocator, header()->allocator_count,
          static_cast<Note>(Meta::block(note.meta)) == Note::kAllocatorOpened);
      break;
    default:
      break;
  }
}

template <typename Record>
void SegmentImage::set_open(SectionKind kind, std::uint64_t index, std::uint32_t count, bool open) {
  const segment::SectionPlace& place = layout_.section(kind);
  if (index == 0 || index > count || index >= place.entries) return;
  auto* record = reinterpret_cast<Record*>(map_.get() + place.at(index));
  if ((record->open != 0) == open) return;
  record->open = open ? 1 : 0;
  record->version += 2;
  mark_change();
}

segment::Payload SegmentImage::slot(std::uint64_t index) const {
  segment::Slot slot{};
  if (index < std::min<std::uint64_t>(table_.entries, kMaxImageSlots)) {
    std::memcpy(&slot, map_.get() + table_.at(index), sizeof slot);
  }
  return slot.payload;
}

// All zero: there is none.
template <typename Record>
Record SegmentImage::record(SectionKind kind, std::uint32_t index) const {
  const segment::SectionPlace& place = layout_.section(kind);
  Record found{};
  if (index != 0 && index < place.entries) {
    std::memcpy(&found, map_.get() + place.at(index), sizeof found);
  }
  return found;
}

std::uint64_t SegmentImage::taken(const segment::Payload& payload) const {
  const unsigned space = Meta::space(payload.meta);
  if (!Meta::live(payload.meta) || Meta::kind(payload.meta) != segment::Kind::kBuffer ||
      space >= segment::kSpaces) {
    return 0;
  }
  const auto allocator = record<segment::Allocator>(SectionKind::kAllocators, payload.allocator);
  const auto set = record<segment::DeviceSet>(SectionKind::kDeviceSets,
                                              payload.set != 0 ? payload.set : allocator.set);
  return Meta::block(payload.meta) * allocator.spaces[space].banks * set.device_count;
}

Result<segment::ReadOnlyFile> SegmentImage::file(const std::string& path,
                                                 std::uint32_t owner) const {
  FileDescriptor own(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  if (!own)
    return Error{ErrorCode::kSystem, "too many files are open: raise the limit (ulimit -n)"};
  return segment::ReadOnlyFile::of_image(std::move(own), path, owner);
}

}  // namespace ttmem::recording
