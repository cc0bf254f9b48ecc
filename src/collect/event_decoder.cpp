// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/event_decoder.hpp"

#include <algorithm>
#include <utility>

#include "collect/convert.hpp"
#include "collect/process_words.hpp"
#include "segment/reader_header.hpp"

namespace ttmem::collect {

namespace {

using ledger::EventKind;
using segment::BlobKind;
using segment::Kind;
using segment::Meta;
using segment::Note;
using segment::Payload;

bool holds(const Payload& payload, Kind kind) {
  return Meta::live(payload.meta) && Meta::kind(payload.meta) == kind;
}

std::int64_t difference(std::uint64_t after, std::uint64_t before) {
  return static_cast<std::int64_t>(after - before);
}

}  // namespace

EventDecoder::EventDecoder(const SegmentSource& source) : source_(source), shadow_(source) {}

EventDecoder::Batch EventDecoder::decode(RawEvents raw) {
  Batch batch;
  if (raw.restart) {
    const bool first = ticks_ == 0;
    batch.restart = true;
    ticks_ = std::max(ticks_, source_.header().created_ticks);
    shadow_.rewind(source_.table(), raw.run);
    shadow_.for_each_program([&](const Payload& program) {
      const Contribution sum = shadow_.contribution(program);
      ledger::EventView where;
      add_devices(program.set, where);
      for (const ledger::EventDevice& device : where.devices) {
        batch.initial[device.unique_id].kernels_footprint += difference(sum.footprint, 0);
        batch.initial[device.unique_id].program_l1_allocated += difference(sum.l1, 0);
      }
    });
    if (first && raw.missed == 0) {
      batch.events.push_back({start(EventKind::kProcessStarted, source_.wall(ticks_)), {}});
    }
  }
  if (raw.missed > 0) {
    batch.events.push_back({start(EventKind::kGap, source_.wall(ticks_)), {}});
    batch.events.back().view.missed = raw.missed;
  }
  for (std::size_t i = 0; i < raw.run.events.size(); ++i) {
    const segment::Event& event = raw.run.events[i];
    if (is_told(event)) batch.events.push_back(decode(raw.run.first + i, event));
    if (event.slot != segment::kNoSlot) shadow_.set(event.slot, event.payload);
  }
  return batch;
}

// Kernels and ranges are told with their program, and the end of the process by its liveness.
bool EventDecoder::is_told(const segment::Event& event) const {
  if (event.slot == segment::kNoSlot) {
    const std::uint64_t note = Meta::block(event.payload.meta);
    return note >= 1 && note < static_cast<std::uint64_t>(Note::kEnded);
  }
  const Kind kind = Meta::kind(event.payload.meta);
  return kind == Kind::kBuffer || kind == Kind::kProgram || kind == Kind::kWorkload ||
         kind == Kind::kTrace;
}

DecodedEvent EventDecoder::decode(std::uint64_t number, const segment::Event& event) {
  DecodedEvent decoded;
  decoded.view = start(EventKind::kGap, 0);
  decoded.view.number = number;
  const Payload& after = event.payload;
  if (event.slot == segment::kNoSlot) {
    tell_note(after, decoded);
    return decoded;
  }
  const Payload before = shadow_.at(event.slot);
  switch (Meta::kind(after.meta)) {
    case Kind::kBuffer:
      tell_buffer(before, after, decoded);
      break;
    case Kind::kProgram:
      tell_program(before, after, decoded);
      break;
    default:
      tell_launcher(before, after, decoded);
      break;
  }
  return decoded;
}

void EventDecoder::tell_note(const Payload& note, DecodedEvent& event) {
  ledger::EventView& view = event.view;
  view.time = not_before(note.time);
  switch (static_cast<Note>(Meta::block(note.meta))) {
    case Note::kDeviceOpened:
    case Note::kDeviceClosed:
      view.kind = Meta::block(note.meta) == static_cast<std::uint64_t>(Note::kDeviceOpened)
                      ? EventKind::kDeviceOpened
                      : EventKind::kDeviceClosed;
      add_device(note.a, view);
      return;
    case Note::kAllocatorOpened:
      view.kind = EventKind::kAllocatorOpened;
      break;
    case Note::kAllocatorResized:
      view.kind = EventKind::kAllocatorResized;
      break;
    case Note::kAllocatorCleared:
      view.kind = EventKind::kAllocatorCleared;
      break;
    case Note::kAllocatorClosed:
      view.kind = EventKind::kAllocatorClosed;
      break;
    case Note::kTraceCaptured:
      view.kind = EventKind::kTraceCaptured;
      view.workload = note.a;
      break;
    case Note::kTraceReplayed:
      view.kind = EventKind::kTraceReplayed;
      view.count = note.a;
      break;
    case Note::kFailed:
      view.kind = EventKind::kFailed;
      view.failure = static_cast<std::uint32_t>(note.id);
      view.reason = failure_word(note.a);
      break;
    case Note::kAnomaly:
      view.kind = EventKind::kAnomaly;
      view.reason = ledger::anomaly_name(note.a);
      view.unknown_id = note.b;
      break;
    case Note::kRingFull:
      view.kind = EventKind::kRingFull;
      break;
    case Note::kEnded:
      break;
  }
  if (Meta::space(note.meta) < ledger::kSpaces) {
    view.space = static_cast<ledger::Space>(Meta::space(note.meta));
  }
  const bool allocator =
      view.kind >= EventKind::kAllocatorOpened && view.kind <= EventKind::kAllocatorClosed;
  view.id = allocator ? note.allocator : note.id;
  add_devices(note.set, view);
}

void EventDecoder::tell_buffer(const Payload& before, const Payload& after, DecodedEvent& event) {
  ledger::EventView& view = event.view;
  const bool live = Meta::live(after.meta);
  view.kind = !live                          ? EventKind::kBufferFreed
              : holds(before, Kind::kBuffer) ? EventKind::kBufferChanged
                                             : EventKind::kBufferAllocated;
  view.time = not_before(after.time);
  Payload told = after;
  told.meta |= 1ull << Meta::kLiveShift;
  const ledger::Record record = record_of(told, source_.reader().blobs());
  const auto* buffer = std::get_if<ledger::BufferRecord>(&record);
  if (buffer == nullptr) return;
  view.id = buffer->id;
  const ledger::Catalog& names = source_.ledger().catalog();
  view.operation = names.operation_of(buffer->origin, buffer->operation);
  view.line = names.line_of(buffer->origin);
  view.space = buffer->space;
  view.layout = buffer->layout;
  view.address = buffer->address;
  view.requested = buffer->requested;
  view.kernel_binaries = buffer->flags.kernel_binaries;
  view.estimated = buffer->flags.estimated;
  const segment::Allocator& allocator = source_.reader().allocators()[buffer->allocator];
  if (!buffer->flags.requested_only) {
    view.block = buffer->block;
    const std::uint32_t banks = allocator.spaces[static_cast<std::size_t>(buffer->space)].banks;
    if (banks != 0 && !buffer->per_core) view.taken = buffer->block * banks;
  }
  add_devices(buffer->set != 0 ? buffer->set : allocator.set, view);
}

void EventDecoder::tell_program(const Payload& before, const Payload& after, DecodedEvent& event) {
  ledger::EventView& view = event.view;
  const bool was =
      holds(before, Kind::kProgram) && (Meta::flags(before.meta) & segment::kFlagHeld) == 0;
  const bool is = Meta::live(after.meta) && (Meta::flags(after.meta) & segment::kFlagHeld) == 0;
  view.loaded_before = was && (Meta::flags(before.meta) & segment::kFlagLoaded) != 0;
  view.loaded_after = is && (Meta::flags(after.meta) & segment::kFlagLoaded) != 0;
  view.kind = !was && is                                 ? EventKind::kProgramRegistered
              : was && !is                               ? EventKind::kProgramReleased
              : view.loaded_after && !view.loaded_before ? EventKind::kProgramLoaded
                                                         : EventKind::kProgramChanged;
  const bool loading = view.kind == EventKind::kProgramLoaded;
  view.time = not_before(loading ? shadow_.first_dispatch(after.a) : after.time);
  view.id = after.id;
  view.workload = after.a;
  const ledger::Catalog& names = source_.ledger().catalog();
  view.name = names.name_of(after.operation, after.origin);
  view.line = names.line_of(after.origin);
  if (Meta::variant(after.meta) < ledger::kKernelTypes) {
    view.type = static_cast<ledger::KernelType>(Meta::variant(after.meta));
  }
  view.kernels = shadow_.kernels(after.id);
  for (const ledger::EventKernel& kernel : view.kernels) view.footprint += kernel.footprint;
  const Contribution old = shadow_.contribution(before);
  const Contribution now = shadow_.contribution(after);
  view.l1_before = old.l1;
  view.l1_after = now.l1;
  event.change = {difference(now.footprint, old.footprint), difference(now.l1, old.l1)};
  add_devices(after.set, view);
}

void EventDecoder::tell_launcher(const Payload& before, const Payload& after, DecodedEvent& event) {
  ledger::EventView& view = event.view;
  const Kind kind = Meta::kind(after.meta);
  const bool was = holds(before, kind);
  const bool is = Meta::live(after.meta);
  view.id = after.id;
  view.time = not_before(source_.launch_ticks(launches_of(after, source_.header().clock).first));
  if (kind == Kind::kWorkload) {
    const bool reloaded = was && Meta::block(after.meta) > Meta::block(before.meta);
    view.workload = after.id;
    view.kind = !is        ? EventKind::kWorkloadReleased
                : reloaded ? EventKind::kReloaded
                : was      ? EventKind::kWorkloadChanged
                           : EventKind::kWorkloadCreated;
    if (reloaded) view.time = not_before(source_.launch_ticks(after.time));
  } else {
    const bool capturing = (Meta::flags(after.meta) & segment::kFlagHeld) != 0;
    view.kind = !is         ? EventKind::kTraceReleased
                : capturing ? EventKind::kTraceBegun
                            : EventKind::kTraceEnded;
  }
  add_devices(after.set, view);
}

DecodedEvent EventDecoder::ended(ledger::TimeNs time) const {
  DecodedEvent event{start(EventKind::kProcessEnded, time), {}};
  event.view.ended = source_.ended();
  event.view.freed_buffers = shadow_.live_buffers();
  for (std::uint32_t i = 1; i <= source_.reader().devices().count(); ++i) {
    add_device(i, event.view);
  }
  return event;
}

ledger::EventView EventDecoder::start(EventKind kind, ledger::TimeNs time) const {
  ledger::EventView view;
  view.kind = kind;
  view.time = time;
  view.process_key = source_.key();
  view.pid = source_.header().subject.pid;
  view.process = segment::text(source_.header().subject.name);
  return view;
}

// Not every event carries a time of its own; none is earlier than the one before it.
ledger::TimeNs EventDecoder::not_before(std::uint64_t ticks) {
  ticks_ = std::max(ticks_, ticks);
  return source_.wall(ticks_);
}

void EventDecoder::add_devices(std::uint16_t set, ledger::EventView& view) const {
  const segment::Reader& reader = source_.reader();
  const auto record = device_set_of(reader.device_sets()[set], reader.blobs());
  for (const ledger::DeviceIndex index : record.devices) add_device(index, view);
}

void EventDecoder::add_device(std::uint64_t index, ledger::EventView& view) const {
  const auto& devices = source_.reader().devices();
  if (index == 0 || index > devices.count()) return;
  ledger::EventDevice device;
  device.unique_id = devices[static_cast<std::uint32_t>(index)].unique_id;
  view.devices.push_back(device);
}

std::string EventDecoder::text(std::uint32_t blob) const {
  const auto found = source_.reader().blobs().find(blob, BlobKind::kString);
  return found ? string_of(*found) : std::string();
}

}  // namespace ttmem::collect
