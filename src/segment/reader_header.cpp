// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "segment/reader_header.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace ttmem::segment {

namespace {

// What an entry of each section must at least hold, whether it may be longer, and how many entries
// we believe in. 0 entries: counted in bytes.
struct Expected {
  std::uint64_t entry_bytes;
  bool exact;
  std::uint64_t max_entries;
};

constexpr std::array<Expected, kSections> kExpected = {{
    {sizeof(Device), false, kMaxDevices},
    {sizeof(DeviceSet), false, kMaxDeviceSets},
    {sizeof(Allocator), false, kMaxAllocators},
    {sizeof(RingManager), false, kMaxRingManagers},
    {sizeof(Counters), false, 1},
    {sizeof(Watermark), false, kMaxWatermarks},
    {sizeof(Failure), false, kMaxFailures},
    {0, false, 0},
    {sizeof(Event), true, kMaxEventCapacity},
    {sizeof(Slot), true, kMaxTableSlots},
    {sizeof(Peaks), false, 1},
    {sizeof(Slot), true, kMaxListSlots},
}};

bool has_room(const Expected& expected, std::uint64_t entry_bytes) {
  if (expected.max_entries == 0) return true;
  const std::uint64_t most = expected.entry_bytes * (expected.exact ? 1 : kMaxEntryGrowth);
  return entry_bytes >= expected.entry_bytes && entry_bytes <= most;
}

Error contradiction(const std::string& what) {
  return {ErrorCode::kCorrupt, fmt::format("its header contradicts itself ({}): ignored", what)};
}

}  // namespace

Result<Layout> validate(const Header& header) {
  Layout layout;
  std::array<bool, kSections> seen{};
  for (const Section& section : header.sections) {
    if (section.kind < 1 || section.kind > kSections) return contradiction("an unknown section");
    const std::size_t index = section.kind - 1;
    if (seen[index]) return contradiction(fmt::format("section {} twice", section.kind));
    seen[index] = true;
    const Expected& expected = kExpected[index];
    if (section.offset < sizeof(Header) || section.offset > kMaxFileBytes ||
        section.max_bytes > kMaxFileBytes - section.offset || section.offset % 8 != 0) {
      return contradiction(fmt::format("section {} is out of bounds", section.kind));
    }
    if (section.entry_bytes % 8 != 0 || !has_room(expected, section.entry_bytes)) {
      return contradiction(
          fmt::format("section {} has entries of {} bytes", section.kind, section.entry_bytes));
    }
    SectionPlace& place = layout.places_[index];
    place = {section.offset, section.max_bytes, section.entry_bytes, 0};
    if (expected.max_entries != 0) {
      place.entries = std::min(section.max_bytes / section.entry_bytes, expected.max_entries);
      if (place.entries == 0)
        return contradiction(fmt::format("section {} is empty", section.kind));
    }
  }
  auto parts = layout.places_;
  std::ranges::sort(parts, {}, &SectionPlace::offset);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i - 1].offset + parts[i - 1].max_bytes > parts[i].offset) {
      return contradiction("sections overlap");
    }
  }
  return layout;
}

Result<Header> read_header(const ReadOnlyFile& file) {
  Header header;
  if (!file.read(0, &header, sizeof header)) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("it is cut off after {} bytes: ignored", file.size_bytes())};
  }
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    return Error{ErrorCode::kWrongKind, "it is not a segment: ignored"};
  }
  if (header.major != kMajorVersion) {
    return Error{ErrorCode::kWrongVersion,
                 fmt::format("it has format version {}.{}, this program reads {}.x: use the ttmem "
                             "that belongs to it",
                             header.major, header.minor, kMajorVersion)};
  }
  return header;
}

std::string text(const char* field, std::size_t size) {
  std::string copy(field, strnlen(field, size));
  std::ranges::replace_if(
      copy, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return copy;
}

}  // namespace ttmem::segment
