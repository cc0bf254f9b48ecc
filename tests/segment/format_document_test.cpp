// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// docs/segment-format.md is a contract: every offset and size it names equals the compiler's.
#include <cstdint>
#include <fstream>
#include <map>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "segment/format.hpp"

namespace ttmem::segment {
namespace {

struct Place {
  std::uint64_t offset;
  std::uint64_t bytes;
  bool operator==(const Place&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Place& place) {
  return out << "offset " << place.offset << ", bytes " << place.bytes;
}
using Places = std::map<std::string, Place>;  // "Struct.field"

#define FIELD(type, field)                                                                  \
  {                                                                                         \
    #type "." #field, { offsetof(type, field), sizeof(static_cast<type*>(nullptr)->field) } \
  }

const Places& compiled() {
  static const Places places = {
      FIELD(Slot, version),
      FIELD(Slot, payload),
      FIELD(Event, number),
      FIELD(Event, slot),
      FIELD(Event, payload),
      FIELD(Payload, meta),
      FIELD(Payload, id),
      FIELD(Payload, a),
      FIELD(Payload, b),
      FIELD(Payload, time),
      FIELD(Payload, set),
      FIELD(Payload, allocator),
      FIELD(Payload, cores),
      FIELD(Payload, operation),
      FIELD(Payload, origin),
      FIELD(Header, magic),
      FIELD(Header, major),
      FIELD(Header, minor),
      FIELD(Header, header_bytes),
      FIELD(Header, nonce),
      FIELD(Header, sections),
      FIELD(Header, subject),
      FIELD(Header, writer),
      FIELD(Header, clock),
      FIELD(Header, ttmem_version),
      FIELD(Header, runtime_version),
      FIELD(Header, runtime_library),
      FIELD(Header, hooks_wanted),
      FIELD(Header, hooks_bound),
      FIELD(Header, hook_names),
      FIELD(Header, source),
      FIELD(Header, created_ticks),
      FIELD(Header, lines),
      FIELD(Header, lines_reason),
      FIELD(Header, job),
      FIELD(Header, head),
      FIELD(Header, table_slots),
      FIELD(Header, interned_bytes),
      FIELD(Header, device_count),
      FIELD(Header, device_set_count),
      FIELD(Header, allocator_count),
      FIELD(Header, ring_manager_count),
      FIELD(Header, failure_count),
      FIELD(Header, flags),
      FIELD(Header, ended),
      FIELD(Header, changes),
      FIELD(Header, ended_ticks),
      FIELD(Header, order),
      FIELD(Section, kind),
      FIELD(Section, entry_bytes),
      FIELD(Section, offset),
      FIELD(Section, max_bytes),
      FIELD(Identity, boot_id),
      FIELD(Identity, start_ticks),
      FIELD(Identity, pid_namespace),
      FIELD(Identity, pid),
      FIELD(Identity, uid),
      FIELD(Identity, name),
      FIELD(Identity, command),
      FIELD(Clock, kind),
      FIELD(Clock, ticks),
      FIELD(Clock, monotonic_ns),
      FIELD(Clock, wall_ns),
      FIELD(Device, version),
      FIELD(Device, unique_id),
      FIELD(Device, metal_id),
      FIELD(Device, arch),
      FIELD(Device, mock),
      FIELD(Device, open),
      FIELD(Device, grid_x),
      FIELD(Device, grid_y),
      FIELD(Device, dram_banks),
      FIELD(Device, dram_bank_bytes),
      FIELD(Device, board),
      FIELD(Device, cores),
      FIELD(Device, open_count),
      FIELD(Device, opened_ticks),
      FIELD(Device, closed_ticks),
      FIELD(Device, geometry),
      FIELD(CoreGeometry, l1_bytes),
      FIELD(CoreGeometry, fixed_end),
      FIELD(CoreGeometry, ring_base),
      FIELD(CoreGeometry, ring_bytes),
      FIELD(CoreGeometry, unreserved_base),
      FIELD(DeviceSet, version),
      FIELD(DeviceSet, devices),
      FIELD(DeviceSet, device_count),
      FIELD(DeviceSet, parent),
      FIELD(DeviceSet, rows),
      FIELD(DeviceSet, columns),
      FIELD(Allocator, version),
      FIELD(Allocator, set),
      FIELD(Allocator, per_core),
      FIELD(Allocator, open),
      FIELD(Allocator, opened_ticks),
      FIELD(Allocator, closed_ticks),
      FIELD(Allocator, spaces),
      FIELD(Space, base),
      FIELD(Space, bank_bytes),
      FIELD(Space, banks),
      FIELD(Space, alignment),
      FIELD(Space, bank_cores),
      FIELD(Space, audits),
      FIELD(Space, audit_ours),
      FIELD(Space, audit_theirs),
      FIELD(Space, audit_ticks),
      FIELD(RingManager, version),
      FIELD(RingManager, set),
      FIELD(RingManager, observed),
      FIELD(RingManager, open),
      FIELD(RingManager, queue),
      FIELD(RingManager, sub_device),
      FIELD(RingManager, ring_count),
      FIELD(RingManager, reserves),
      FIELD(RingManager, evictions),
      FIELD(RingManager, reloads),
      FIELD(RingManager, expected),
      FIELD(RingManager, rings),
      FIELD(RingManager, contents),
      FIELD(Ring, core_type),
      FIELD(Ring, base),
      FIELD(Ring, bytes),
      FIELD(Ring, alloc_index),
      FIELD(Ring, free_index),
      FIELD(Ring, largest_bytes),
      FIELD(Ring, high_water),
      FIELD(Ring, entries),
      FIELD(RingEntry, address),
      FIELD(RingEntry, bytes),
      FIELD(RingEntry, sync),
      FIELD(RingEntry, workload),
      FIELD(RingContents, count),
      FIELD(RingContents, slices),
      FIELD(RingSlice, begin),
      FIELD(RingSlice, end),
      FIELD(RingSlice, workload),
      FIELD(Counters, events),
      FIELD(Counters, anomalies),
      FIELD(Counters, unrecorded),
      FIELD(Counters, live_slots),
      FIELD(Counters, peak_slots),
      FIELD(Counters, growths),
      FIELD(Counters, odd_stacks),
      FIELD(Counters, taken),
      FIELD(Counters, peak),
      FIELD(Counters, dispatches),
      FIELD(Counters, first_loads),
      FIELD(Counters, reloads),
      FIELD(Counters, captures),
      FIELD(Counters, replays),
      FIELD(Counters, slow_dispatches),
      FIELD(PeakSpace, ticks),
      FIELD(PeakSpace, bytes),
      FIELD(PeakSpace, lost),
      FIELD(Peak, version),
      FIELD(Peak, event),
      FIELD(Peak, lead),
      FIELD(Peak, spaces),
      FIELD(Peak, devices),
      FIELD(PeakShare, ticks),
      FIELD(PeakShare, bytes),
      FIELD(PeakShare, origin),
      FIELD(PeakShare, operation),
      FIELD(PeakShare, buffers),
      FIELD(PeakShare, peak),
      FIELD(PeakShare, space),
      FIELD(Peaks, count),
      FIELD(Peaks, peaks),
      FIELD(Peaks, shares),
      FIELD(Watermark, version),
      FIELD(Watermark, in_use),
      FIELD(Watermark, name),
      FIELD(Watermark, opened_ticks),
      FIELD(Watermark, at_open),
      FIELD(Watermark, peak),
      FIELD(Failure, version),
      FIELD(Failure, number),
      FIELD(Failure, kind),
      FIELD(Failure, ticks),
      FIELD(Failure, requested),
      FIELD(Failure, per_bank),
      FIELD(Failure, program),
      FIELD(Failure, cores),
      FIELD(Failure, set),
      FIELD(Failure, allocator),
      FIELD(Failure, space),
      FIELD(Failure, picture_slots),
      FIELD(Failure, truncated),
      FIELD(Failure, operation),
      FIELD(Failure, origin),
      FIELD(Failure, event),
      FIELD(Failure, list_first),
      FIELD(Failure, list_slots),
      FIELD(Failure, list_state),
      FIELD(Failure, message),
      FIELD(Failure, picture),
      FIELD(Blob, bytes),
      FIELD(Blob, kind),
      FIELD(OriginFrame, file),
      FIELD(OriginFrame, function),
      FIELD(OriginFrame, line),
      FIELD(OriginFrame, flags),
      FIELD(OriginNode, parent),
      FIELD(OriginNode, what),
      FIELD(OriginRegion, parent),
      FIELD(OriginRegion, name),
      FIELD(OriginRegion, line),
  };
  return places;
}
#undef FIELD

// Offset, bytes per record and the bytes of all records, as the section table names them.
const std::map<std::string, Section>& sections() {
  static const std::map<std::string, Section> all = {
      {"header", {0, sizeof(Header), 0, sizeof(Header)}},
      {"devices", {1, sizeof(Device), kDevicesOffset, kMaxDevices * sizeof(Device)}},
      {"device_sets",
       {2, sizeof(DeviceSet), kDeviceSetsOffset, kMaxDeviceSets * sizeof(DeviceSet)}},
      {"allocators", {3, sizeof(Allocator), kAllocatorsOffset, kMaxAllocators * sizeof(Allocator)}},
      {"ring_managers",
       {4, sizeof(RingManager), kRingManagersOffset, kMaxRingManagers * sizeof(RingManager)}},
      {"counters", {5, sizeof(Counters), kCountersOffset, sizeof(Counters)}},
      {"watermarks", {6, sizeof(Watermark), kWatermarksOffset, kMaxWatermarks * sizeof(Watermark)}},
      {"peaks", {11, sizeof(Peaks), kPeaksOffset, sizeof(Peaks)}},
      {"failures", {7, sizeof(Failure), kFailuresOffset, kMaxFailures * sizeof(Failure)}},
      {"lists", {12, sizeof(Slot), kListsOffset, kMaxListSlots * sizeof(Slot)}},
      {"interned", {8, 8, kInternedOffset, kMaxInternedBytes}},
      {"events", {9, sizeof(Event), kEventsOffset, kEventCapacity * sizeof(Event)}},
      {"table", {10, sizeof(Slot), kTableOffset, kMaxTableSlots * sizeof(Slot)}},
  };
  return all;
}

std::ifstream document() { return std::ifstream(TTMEM_SOURCE_DIR "/docs/segment-format.md"); }

// Tables whose first heading is a struct's name: | Struct | offset | bytes | meaning |
Places documented() {
  const std::regex head(R"(\| (\w+) \| offset \| bytes \| meaning \|)");
  const std::regex row(R"(\| `(\w+)` \| (\d+) \| (\d+) \| .*)");
  Places places;
  std::string table;
  std::smatch match;
  auto file = document();
  for (std::string line; std::getline(file, line);) {
    if (std::regex_match(line, match, head)) {
      table = match[1];
    } else if (line.empty()) {
      table.clear();
    } else if (!table.empty() && std::regex_match(line, match, row)) {
      places[table + "." + match[1].str()] = {std::stoull(match[2]), std::stoull(match[3])};
    }
  }
  return places;
}

TEST(FormatDocument, NamesEveryFieldWithItsPlace) {
  const auto told = documented();
  for (const auto& [field, place] : compiled()) {
    const auto found = told.find(field);
    ASSERT_NE(found, told.end()) << field << " is not in the document";
    EXPECT_EQ(found->second, place) << field;
  }
  for (const auto& [field, place] : told) {
    EXPECT_TRUE(compiled().contains(field)) << field << " is in the document only";
  }
}

TEST(FormatDocument, NamesEverySectionWithItsPlace) {
  const std::regex row(R"(\| `(\w+)` \| (\d+|-) \| (\d+) \| (\d+) \| (\d+) \|)");
  std::smatch match;
  std::size_t found = 0;
  auto file = document();
  for (std::string line; std::getline(file, line);) {
    if (!std::regex_match(line, match, row)) continue;
    ++found;
    const auto section = sections().find(match[1]);
    ASSERT_NE(section, sections().end()) << line;
    const std::uint64_t kind = match[2] == "-" ? 0 : std::stoull(match[2]);
    EXPECT_EQ(kind, section->second.kind) << line;
    EXPECT_EQ(std::stoull(match[3]), section->second.offset) << line;
    EXPECT_EQ(std::stoull(match[4]), section->second.entry_bytes) << line;
    EXPECT_EQ(std::stoull(match[4]) * std::stoull(match[5]), section->second.max_bytes) << line;
  }
  EXPECT_EQ(found, sections().size());
}

}  // namespace
}  // namespace ttmem::segment
