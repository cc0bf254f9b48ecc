// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/convert.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <variant>

#include "collect/native_names.hpp"
#include "collect/numbered_chips.hpp"
#include "segment/ring_rules.hpp"

namespace ttmem::collect {

namespace {

using segment::BlobKind;
using segment::Kind;
using segment::Meta;
using segment::Payload;

constexpr std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
constexpr std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

// Copied, never pointed to: the bytes are a stranger's and need not be aligned. What is left over
// behind the last whole element is no element.
template <typename T>
std::vector<T> list_of(std::span<const std::byte> bytes) {
  std::vector<T> list(bytes.size() / sizeof(T));
  if (!list.empty()) std::memcpy(list.data(), bytes.data(), list.size() * sizeof(T));
  return list;
}

bool is_coordinate(unsigned number) { return number < segment::kMaxCoordinate; }

// The kinds of cores have grown before. An unknown one counts as a worker rather than nowhere, so
// that the sums still cover it.
ledger::CoreType core_type_of(unsigned number) {
  return static_cast<ledger::CoreType>(number < ledger::kCoreTypes ? number : 0);
}

ledger::Layout layout_of(unsigned number) {
  const bool known = number == 0 || (number >= 2 && number <= 5);
  return known ? static_cast<ledger::Layout>(number) : ledger::Layout::kUnknown;
}

ledger::Flags flags_of(unsigned bits) {
  return {.kernel_binaries = (bits & segment::kFlagKernelBinaries) != 0,
          .trace = (bits & segment::kFlagTrace) != 0,
          .program_cache = (bits & segment::kFlagProgramCache) != 0,
          .requested_only = (bits & segment::kFlagRequestedOnly) != 0,
          .estimated = (bits & segment::kFlagEstimated) != 0,
          .launches_untold = (bits & segment::kFlagLaunchesUntold) != 0};
}

ledger::Record buffer_of(const Payload& payload) {
  // A space that is not known has no banks to multiply by: as good as nothing.
  if (Meta::space(payload.meta) >= ledger::kSpaces) return {};
  ledger::Record record(std::in_place_type<ledger::BufferRecord>);  // built where it is returned
  auto& buffer = *std::get_if<ledger::BufferRecord>(&record);
  const unsigned flags = Meta::flags(payload.meta);
  buffer.id = payload.id;
  buffer.per_core = (flags & segment::kFlagPerCore) != 0;
  // A buffer with an address per core has a list of them where others have their one address.
  if (buffer.per_core) {
    buffer.core_addresses = low(payload.a);
  } else {
    buffer.address = payload.a;
  }
  buffer.requested = payload.b;
  buffer.block = Meta::block(payload.meta);
  buffer.allocated = payload.time;
  buffer.set = payload.set;
  buffer.allocator = payload.allocator;
  buffer.space = static_cast<ledger::Space>(Meta::space(payload.meta));
  buffer.layout = layout_of(Meta::variant(payload.meta));
  buffer.cores = payload.cores;
  buffer.operation = payload.operation;
  buffer.origin = payload.origin;
  buffer.flags = flags_of(flags);
  return record;
}

ledger::Record program_of(const Payload& payload, const BlobReader& blobs) {
  if (Meta::variant(payload.meta) >= ledger::kKernelTypes) return {};
  ledger::ProgramRecord program;
  const unsigned flags = Meta::flags(payload.meta);
  program.id = payload.id;
  program.workload = payload.a;
  program.type = static_cast<ledger::KernelType>(Meta::variant(payload.meta));
  program.set = payload.set;
  program.generation = high(payload.b);
  if (const auto blob = blobs.find(low(payload.b), BlobKind::kConfigSizes)) {
    const auto sizes = list_of<std::uint32_t>(blob->bytes);
    std::copy_n(sizes.begin(), std::min(sizes.size(), program.config_bytes.size()),
                program.config_bytes.begin());
  }
  program.registered = payload.time;
  program.loaded = (flags & segment::kFlagLoaded) != 0;
  program.held = (flags & segment::kFlagHeld) != 0;
  program.name = payload.operation;
  program.origin = payload.origin;
  program.flags = flags_of(flags);
  return program;
}

ledger::Record kernel_of(const Payload& payload) {
  ledger::KernelRecord kernel;
  kernel.program = payload.id;
  kernel.hash = payload.a;
  kernel.packed_bytes = low(payload.b);
  kernel.text_bytes = high(payload.b);
  kernel.processor = static_cast<std::uint8_t>(segment::KernelPlace::processor(payload.time));
  kernel.core_type = core_type_of(segment::KernelPlace::core_type(payload.time));
  kernel.cores = payload.cores;
  kernel.name = payload.operation;
  kernel.source = payload.origin;
  return kernel;
}

ledger::Record range_of(const Payload& payload) {
  if (Meta::variant(payload.meta) > static_cast<unsigned>(ledger::Part::kView)) return {};
  ledger::RangeRecord range;
  range.program = payload.id;
  range.set = payload.set;
  range.generation = payload.operation;
  range.part = static_cast<ledger::Part>(Meta::variant(payload.meta));
  range.address = payload.a;
  range.size = Meta::block(payload.meta);
  range.page_bytes = low(payload.b);
  range.index = high(payload.b);
  range.viewed_buffer = payload.time;
  range.cores = payload.cores;
  return range;
}

ledger::Record workload_of(const Payload& payload, const TickClock& clock) {
  ledger::WorkloadRecord workload;
  workload.id = payload.id;
  workload.set = payload.set;
  // The words of a slot mean something else for each kind; format_slot.hpp has the table.
  if (payload.cores != segment::kNoSlot) workload.binaries = payload.cores;
  workload.loads = payload.allocator;
  workload.reloads = Meta::block(payload.meta);
  workload.origin = payload.origin;
  workload.launches = launches_of(payload, clock);
  return workload;
}

ledger::Record trace_of(const Payload& payload, const TickClock& clock) {
  ledger::TraceRecord trace;
  trace.id = payload.id;
  trace.set = payload.set;
  trace.queue = payload.allocator;
  trace.capturing = (Meta::flags(payload.meta) & segment::kFlagHeld) != 0;
  trace.members = payload.cores;
  trace.origin = payload.origin;
  trace.launches = launches_of(payload, clock);
  return trace;
}

ledger::CoreGeometry geometry_of(const segment::CoreGeometry& geometry) {
  return {geometry.l1_bytes, geometry.fixed_end, geometry.ring_base, geometry.ring_bytes,
          geometry.unreserved_base};
}

ledger::SpaceRecord space_of(const segment::Space& space, const BlobReader& blobs) {
  ledger::SpaceRecord record;
  record.banks = space.banks;
  record.base = space.base;
  record.bank_bytes = space.bank_bytes;
  record.alignment = space.alignment;
  if (const auto blob = blobs.find(space.bank_cores, BlobKind::kBankCores)) {
    const auto pairs = list_of<std::uint8_t>(blob->bytes);
    const std::size_t most = std::min<std::size_t>(pairs.size(), segment::kMaxCores * 2);
    for (std::size_t i = 0; i + 1 < most; i += 2) {
      record.bank_cores.push_back({ledger::CoreType::kTensix, pairs[i], pairs[i + 1]});
    }
  }
  if (space.audits > 0) {
    record.audit = ledger::Audit{space.audit_ours, space.audit_theirs, space.audit_ticks};
  }
  return record;
}

ledger::RingRecord ring_of(const segment::Ring& ring, const segment::RingContents& contents) {
  ledger::RingRecord record;
  record.core_type = core_type_of(ring.core_type);
  record.base = ring.base;
  record.bytes = ring.bytes;
  record.largest_bytes = ring.largest_bytes;
  record.high_water = ring.high_water;
  const std::uint32_t end = ring.alloc_index % segment::kRingEntries;
  // Both indices come from the file: taken modulo the ring, the walk ends whatever they say.
  for (std::uint32_t i = ring.free_index % segment::kRingEntries; i != end;
       i = (i + 1) % segment::kRingEntries) {
    const segment::RingEntry& entry = ring.entries[i];
    record.slices.push_back({entry.address, entry.bytes, entry.workload});
  }
  for (std::uint32_t i = 0; i < std::min(contents.count, segment::kRingSlices); ++i) {
    const segment::RingSlice& slice = contents.slices[i];
    if (slice.end <= slice.begin) continue;
    record.contents.push_back({slice.begin, slice.end - slice.begin, slice.workload});
  }
  const segment::NextPlace next = segment::next_place(ring);
  record.next_address = next.address;
  record.next_bytes = next.bytes;
  return record;
}

}  // namespace

ledger::Record record_of(const Payload& payload, const BlobReader& blobs, const TickClock& clock) {
  if (!Meta::live(payload.meta)) return {};
  switch (Meta::kind(payload.meta)) {
    case Kind::kBuffer:
      return buffer_of(payload);
    case Kind::kProgram:
      return program_of(payload, blobs);
    case Kind::kKernel:
      return kernel_of(payload);
    case Kind::kRange:
      return range_of(payload);
    case Kind::kWorkload:
      return workload_of(payload, clock);
    case Kind::kTrace:
      return trace_of(payload, clock);
    case Kind::kNote:
      break;
  }
  return {};
}

ledger::Launches launches_of(const Payload& payload, const TickClock& clock) {
  const std::uint64_t first =
      segment::FirstTime::monotonic_ns(payload.operation, clock.began_monotonic_ns());
  return {.count = payload.a,
          .stamp = payload.b,
          .first = clock.ticks(first),
          .last = clock.ticks(payload.time)};
}

namespace {

// The frame tells a module, a build id and an address; symbols say more, when somebody asks.
void make_native(ledger::OriginFrame& frame, bool names) {
  NativeCall call{std::move(frame.file), std::move(frame.function), frame.line};
  frame.file = text_of(call);
  frame.function.clear();
  frame.line = 0;
  if (!names || !can_name_native_calls()) return;
  frame.find_out = [call = std::move(call)](ledger::OriginFrame& asked) {
    const NativeName found = name_of(call);
    if (!found.file.empty()) asked.file = found.file;
    asked.function = found.function;
    asked.line = found.line;
  };
}

}  // namespace

ledger::OriginFrame frame_of(const segment::OriginFrame& frame, const BlobReader& blobs,
                             bool names) {
  const auto text = [&](std::uint32_t id) {
    const auto blob = blobs.find(id, BlobKind::kString);
    return blob ? string_of(*blob) : std::string();
  };
  ledger::OriginFrame record;
  record.file = text(frame.file);
  record.function = text(frame.function);
  record.line = frame.line;
  record.inner = (frame.flags & segment::kFrameInner) != 0;
  if ((frame.flags & segment::kFrameNative) != 0) make_native(record, names);
  return record;
}

ledger::PeakRecords peaks_of(const segment::Peaks& peaks) {
  ledger::PeakRecords records;
  for (std::uint32_t i = 0; i < peaks.count; ++i) {
    const segment::Peak& peak = peaks.peaks[i];
    ledger::PeakRecord& record = records.peaks.emplace_back();
    for (std::uint32_t device = 1; device < segment::kMaxDevices; ++device) {
      if ((peak.devices[device / 64] >> (device % 64) & 1) != 0) {
        record.devices.push_back(static_cast<ledger::DeviceIndex>(device));
      }
    }
    for (std::uint32_t space = 0; space < segment::kSpaces; ++space) {
      const segment::PeakSpace& at = peak.spaces[space];
      record.moments[space] = {at.ticks, at.bytes, at.lost};
    }
  }
  for (const segment::PeakShare& share : peaks.shares) {
    if (share.ticks == 0 || share.peak >= peaks.count || share.space >= segment::kSpaces) continue;
    if (share.ticks != peaks.peaks[share.peak].spaces[share.space].ticks) continue;  // void
    records.released.push_back({share.peak, static_cast<ledger::Space>(share.space), share.origin,
                                share.operation, share.bytes, share.buffers});
  }
  return records;
}

ledger::OriginNode origin_of(const segment::OriginView& node) {
  ledger::OriginNode record;
  record.parent = node.parent;
  switch (node.kind) {
    case BlobKind::kFrameNode:
      record.kind = ledger::OriginKind::kFrame;
      record.frame = node.what;
      break;
    case BlobKind::kRegionNode:
      record.kind = ledger::OriginKind::kRegion;
      record.name = node.what;
      record.line = node.line;
      break;
    case BlobKind::kOperationNode:
      record.kind = ledger::OriginKind::kOperation;
      record.name = node.what;
      break;
    case BlobKind::kLaunchNode:
      record.kind = ledger::OriginKind::kLaunch;
      record.name = node.what;
      break;
    default:
      break;
  }
  return record;
}

namespace {

// With the id that TT-Metal, too, gives to a chip that has none, or as the original's server names
// it.
std::optional<std::uint32_t> number_alone(const segment::Device& device) {
  if (device.metal_id < 0 || device.arch != 0 || device.mock != 0) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(device.metal_id);
  const bool named =
      device.unique_id == std::uint64_t{number} << 32 || device.unique_id == numbered_chip(number);
  return named && number <= kChipNumber ? std::optional(number) : std::nullopt;
}

}  // namespace

std::uint64_t chip_of(const segment::Device& device) {
  const auto number = number_alone(device);
  return number ? numbered_chip(*number) : device.unique_id;
}

ledger::DeviceRecord device_of(const segment::Device& device, const BlobReader& blobs) {
  ledger::DeviceRecord record;
  record.unique_id = chip_of(device);
  record.numbered = number_alone(device).has_value();
  if (device.metal_id >= 0) record.metal_id = device.metal_id;
  // A later TT-Metal may run on a chip that this reader does not know.
  record.arch = static_cast<ledger::Arch>(device.arch <= 4 ? device.arch : 0);
  record.mock = device.mock != 0;
  record.open = device.open != 0;
  if (const auto blob = blobs.find(device.board, BlobKind::kString))
    record.board = string_of(*blob);
  // A grid beyond every chip would make each later walk over its cores a way to hold readers up.
  if (std::uint32_t{device.grid_x} * device.grid_y <= segment::kMaxCores) {
    record.grid_x = device.grid_x;
    record.grid_y = device.grid_y;
  }
  record.dram_banks = device.dram_banks;
  record.dram_bank_bytes = device.dram_bank_bytes;
  for (std::size_t i = 0; i < record.geometry.size(); ++i) {
    record.geometry[i] = geometry_of(device.geometry[i]);
  }
  if (const auto blob = blobs.find(device.cores, BlobKind::kCoreList)) {
    const auto bytes = list_of<std::uint8_t>(blob->bytes);
    const std::size_t most = std::min<std::size_t>(bytes.size(), segment::kMaxCores * 8);
    for (std::size_t i = 0; i + 8 <= most; i += 8) {
      if (bytes[i + 2] > static_cast<unsigned>(ledger::Role::kHarvested)) continue;
      record.cores.push_back({{core_type_of(bytes[i + 3]), bytes[i], bytes[i + 1]},
                              static_cast<ledger::Role>(bytes[i + 2]),
                              bytes[i + 4],
                              bytes[i + 5]});
    }
  }
  return record;
}

ledger::DeviceSetRecord device_set_of(const segment::DeviceSet& set, const BlobReader& blobs) {
  ledger::DeviceSetRecord record;
  if (const auto blob = blobs.find(set.devices, BlobKind::kDeviceList)) {
    record.devices = list_of<std::uint16_t>(blob->bytes);
    std::erase_if(record.devices, [](std::uint16_t i) { return i >= segment::kMaxDevices; });
    if (record.devices.size() > segment::kMaxDevices) record.devices.resize(segment::kMaxDevices);
  }
  record.rows = set.rows;
  record.columns = set.columns;
  record.parent = set.parent;
  return record;
}

ledger::AllocatorRecord allocator_of(const segment::Allocator& allocator, const BlobReader& blobs) {
  ledger::AllocatorRecord record;
  record.set = allocator.set;
  record.per_core = allocator.per_core != 0;
  record.open = allocator.open != 0;
  for (std::size_t i = 0; i < record.spaces.size(); ++i) {
    record.spaces[i] = space_of(allocator.spaces[i], blobs);
  }
  return record;
}

ledger::RingManagerRecord ring_manager_of(const segment::RingManager& manager) {
  ledger::RingManagerRecord record;
  record.set = manager.set;
  record.queue = manager.queue;
  record.sub_device = manager.sub_device;
  record.observed = manager.observed != 0;
  record.open = manager.open != 0;
  record.evictions = manager.evictions;
  record.reloads = manager.reloads;
  const std::uint32_t count = std::min(manager.ring_count, segment::kMaxRings);
  for (std::uint32_t i = 0; i < count; ++i) {
    record.rings.push_back(ring_of(manager.rings[i], manager.contents[i]));
  }
  return record;
}

ledger::DeviceCounters counters_of(const segment::Counters& counters, std::uint32_t device) {
  ledger::DeviceCounters record;
  for (std::size_t space = 0; space < ledger::kSpaces; ++space) {
    record.peak[space] = counters.peak[space][device];
  }
  record.program_l1_peak = counters.peak[segment::kFigureProgramL1][device];
  record.kernels_peak = counters.peak[segment::kFigureKernels][device];
  record.dispatches_released = counters.dispatches[device];
  record.first_loads = counters.first_loads[device];
  record.reloads = counters.reloads[device];
  record.captures = counters.captures[device];
  record.replays_released = counters.replays[device];
  return record;
}

std::string string_of(const BlobView& blob) {
  std::string text(reinterpret_cast<const char*>(blob.bytes.data()), blob.bytes.size());
  // What ends up on terminals and in logs must not move the cursor or begin a line of its own.
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

ledger::CoreSet core_set_of(const BlobView& blob) {
  ledger::CoreSet set;
  if (blob.kind == BlobKind::kBanks) {
    set.type = ledger::CoreType::kDram;
    set.banks = list_of<std::uint16_t>(blob.bytes);
    set.count = static_cast<std::uint32_t>(set.banks.size());
    return set;
  }
  const auto bytes = list_of<std::uint8_t>(blob.bytes);
  if (bytes.empty()) return set;
  set.type = core_type_of(bytes[0]);
  if (bytes.size() == segment::kCoreCountBytes) {
    set.count = std::min(segment::told_cores(bytes.data()), std::uint32_t{segment::kMaxCores});
  }
  for (std::size_t i = 4; i + 4 <= bytes.size(); i += 4) {
    const ledger::CoreRange range{bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]};
    if (range.x1 < range.x0 || range.y1 < range.y0) continue;
    if (!is_coordinate(range.x1) || !is_coordinate(range.y1)) return {};
    set.ranges.push_back(range);
    set.count += (range.x1 - range.x0 + 1u) * (range.y1 - range.y0 + 1u);
    if (set.count > segment::kMaxCores) return {};  // no chip has so many, or they overlap
  }
  return set;
}

std::vector<std::uint64_t> addresses_of(const BlobView& blob) {
  return list_of<std::uint64_t>(blob.bytes);
}

std::vector<ledger::TraceMember> members_of(const BlobView& blob) {
  std::vector<ledger::TraceMember> members;
  for (std::size_t i = 0; i + 16 <= blob.bytes.size(); i += 16) {
    ledger::TraceMember member;
    std::memcpy(&member.program, blob.bytes.data() + i, sizeof member.program);
    std::memcpy(&member.set, blob.bytes.data() + i + 8, sizeof member.set);
    members.push_back(member);
  }
  return members;
}

}  // namespace ttmem::collect
