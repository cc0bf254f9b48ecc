// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/event_decoder.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "collect/convert.hpp"
#include "collect/process_description.hpp"

namespace ttmem::collect {

namespace {

using ledger::EventKind;
using ledger::EventView;
using segment::Kind;
using segment::Meta;
using segment::Note;
using segment::Payload;

constexpr ledger::TimeNs kReadApartNs = 1'000'000;  // two clocks, at the very most

constexpr std::uint64_t kLiveBit = 1ull << Meta::kLiveShift;
constexpr std::uint64_t kLoadedBit = std::uint64_t{segment::kFlagLoaded} << Meta::kFlagsShift;

Note note_of(const Payload& payload) { return static_cast<Note>(Meta::block(payload.meta)); }

// The device whose opening or closing this event is; 0 = none.
ledger::DeviceIndex device_of(const segment::Event& event) {
  if (event.slot != segment::kNoSlot) return 0;
  const Note note = note_of(event.payload);
  const bool is_one = note == Note::kDeviceOpened || note == Note::kDeviceClosed;
  return is_one ? static_cast<ledger::DeviceIndex>(event.payload.a) : ledger::DeviceIndex{0};
}

std::optional<EventKind> kind_of(Note note) {
  switch (note) {
    case Note::kDeviceOpened:
      return EventKind::kDeviceOpened;
    case Note::kDeviceClosed:
      return EventKind::kDeviceClosed;
    case Note::kAllocatorOpened:
      return EventKind::kAllocatorOpened;
    case Note::kAllocatorResized:
      return EventKind::kAllocatorResized;
    case Note::kAllocatorCleared:
      return EventKind::kAllocatorCleared;
    case Note::kAllocatorClosed:
      return EventKind::kAllocatorClosed;
    case Note::kTraceCaptured:
      return EventKind::kTraceCaptured;
    case Note::kTraceReplayed:
      return EventKind::kTraceReplayed;
    case Note::kFailed:
      return EventKind::kFailed;
    case Note::kAnomaly:
      return EventKind::kAnomaly;
    case Note::kRingFull:
      return EventKind::kRingFull;
    case Note::kLaunched:
      return EventKind::kLaunched;
    case Note::kStep:
      return EventKind::kStep;
    case Note::kEnded:  // liveness tells the end
      break;
  }
  return std::nullopt;
}

EventView start(EventKind kind, ledger::TimeNs time) {
  EventView view;
  view.kind = kind;
  view.time = time;
  return view;
}

}  // namespace

void EventDecoder::follow(const segment::EventRun& run) {
  may_differ_ = true;  // geometry and interned data may have come since
  for (std::size_t i = 0; i < run.events.size(); ++i) tell(run.first + i, run.events[i]);
}

void EventDecoder::retell(const segment::EventRun& run, std::uint64_t missed) {
  const bool first = ticks_ == 0;
  batch_.restart = true;
  names_.clear();
  has_all_names_ = false;
  ticks_ = std::max(ticks_, reader_.header().created_ticks);
  // What was before is worked out from the present, so nothing may change until all of it is known.
  std::unordered_map<std::uint32_t, ledger::Record> slots;
  std::uint64_t floor = 0;  // no event from here on is older
  for (const segment::Event& event : run.events) {
    if (event.slot == segment::kNoSlot) {
      floor = std::max(floor, event.payload.time);
    } else if (event.slot < reader_.header().table_slots && !slots.contains(event.slot)) {
      const Payload payload = run.first == 1 ? Payload{} : before(event.payload, floor);
      slots[event.slot] = record_of(payload, reader_.blobs(), clock_);
    }
  }
  for (auto& [slot, record] : slots) record = ledger_.apply(slot, record);  // now: how it ends
  open_devices(run);

  batch_.initial = shares_ = shares();
  if (first && missed == 0) {
    batch_.events.push_back({start(EventKind::kProcessStarted, clock_.wall(ticks_)), {}});
  }
  if (missed > 0) {
    batch_.events.push_back({start(EventKind::kGap, clock_.wall(ticks_)), {}});
    batch_.events.back().view.missed = missed;
  }
  follow(run);

  for (const auto& [slot, record] : slots) ledger_.apply(slot, record);
  for (std::uint32_t i = 1; i <= reader_.devices().count(); ++i) {
    ledger_.set_open(static_cast<ledger::DeviceIndex>(i), reader_.devices()[i].open != 0);
  }
}

// As they were before the run: the first that it tells of a device is a change.
void EventDecoder::open_devices(const segment::EventRun& run) {
  for (auto event = run.events.rbegin(); event != run.events.rend(); ++event) {
    if (const auto device = device_of(*event)) {
      ledger_.set_open(device, note_of(event->payload) == Note::kDeviceClosed);
    }
  }
}

// What stood in a slot before the first event of a run that does not start at the beginning: a
// release still carries what was released, and times tell what is older than the run.
Payload EventDecoder::before(const Payload& first, std::uint64_t floor) const {
  Payload payload = first;
  if (!Meta::live(first.meta)) {
    payload.meta |= kLiveBit;
    return payload;
  }
  const Kind kind = Meta::kind(first.meta);
  if (kind == Kind::kBuffer) return first.time < floor ? first : Payload{};
  if (kind == Kind::kWorkload && Meta::block(first.meta) > 0) {
    --payload.meta;  // one reload less
    return payload;
  }
  if (kind == Kind::kProgram && (first.meta & kLoadedBit) != 0) {
    const std::uint64_t loaded = first_dispatch(first.a);
    if (loaded == 0 || loaded >= floor) payload.meta &= ~kLoadedBit;
    return payload;
  }
  return Payload{};
}

EventBatch EventDecoder::take() { return std::exchange(batch_, {}); }

void EventDecoder::tell(std::uint64_t number, const segment::Event& event) {
  const bool is_note = event.slot == segment::kNoSlot;
  auto view = is_note ? tell_note(event.payload) : tell_slot(event.slot, event.payload);
  if (!view) return;
  view->number = number;
  view->time = not_before(ticks_of(view->kind, event.payload));
  DecodedEvent& decoded = batch_.events.emplace_back(DecodedEvent{std::move(*view), {}});
  if (!may_differ_) return;
  may_differ_ = false;
  Shares now = shares();
  if (now == shares_) return;
  shares_ = now;
  decoded.changed = std::move(now);
}

std::optional<EventView> EventDecoder::tell_note(const Payload& note) {
  const auto kind = kind_of(note_of(note));
  if (!kind) return std::nullopt;
  EventView view = start(*kind, 0);
  if (kind == EventKind::kDeviceOpened || kind == EventKind::kDeviceClosed) {
    const auto device = static_cast<ledger::DeviceIndex>(note.a);
    ledger_.set_open(device, kind == EventKind::kDeviceOpened);
    may_differ_ = true;
    add_device(device, view);
    return view;
  }
  if (kind == EventKind::kTraceCaptured) view.workload = note.a;
  if (kind == EventKind::kTraceReplayed || kind == EventKind::kStep) view.count = note.a;
  if (kind == EventKind::kLaunched) {
    view.workload = note.id;
    view.name = name_of(note.id);
    view.count = note.a;
    view.served = static_cast<ledger::Served>(std::min<std::uint64_t>(note.b, 2));
  }
  if (kind == EventKind::kFailed) {
    view.failure = static_cast<std::uint32_t>(note.id);
    view.reason = failure_word(note.a);
  }
  if (kind == EventKind::kAnomaly) {
    view.reason = ledger::anomaly_name(note.a);
    view.unknown_id = note.b;
  }
  if (Meta::space(note.meta) < ledger::kSpaces) {
    view.space = static_cast<ledger::Space>(Meta::space(note.meta));
  }
  const bool allocator = kind >= EventKind::kAllocatorOpened && kind <= EventKind::kAllocatorClosed;
  view.id = allocator ? note.allocator : note.id;
  add_devices(note.set, view);
  return view;
}

std::optional<EventView> EventDecoder::tell_slot(std::uint32_t slot, const Payload& payload) {
  if (slot >= reader_.header().table_slots) return std::nullopt;
  const Kind kind = Meta::kind(payload.meta);
  may_differ_ |= kind == Kind::kProgram || kind == Kind::kKernel || kind == Kind::kRange;
  auto view = ledger_.apply_and_tell(slot, record_of(payload, reader_.blobs(), clock_));
  if (view) note_name(kind, *view);
  if (view && view->kind == EventKind::kReloaded) view->name = name_of(view->workload);
  return view;
}

void EventDecoder::note_name(Kind kind, const EventView& view) {
  constexpr std::size_t kMostNames = 65536;
  // Its id may be that of one before.
  if (view.kind == EventKind::kWorkloadCreated || view.kind == EventKind::kWorkloadReleased) {
    names_.erase(view.id);
  }
  if (kind != Kind::kProgram || view.workload == 0 || view.name.empty()) return;
  if (names_.size() < kMostNames) names_.try_emplace(view.workload, view.name);
}

// Of its first program, if it has several.

std::string EventDecoder::name_of(std::uint64_t workload) {
  if (!std::exchange(has_all_names_, true)) {
    ledger_.for_each_launched_name([this](std::uint64_t each, std::string name) {
      names_.try_emplace(each, std::move(name));
    });
  }
  const auto known = names_.find(workload);
  return known == names_.end() ? "" : known->second;
}

DecodedEvent EventDecoder::ended(ledger::TimeNs time, ledger::Ended how) const {
  DecodedEvent event{start(EventKind::kProcessEnded, time), Shares{}};
  event.view.ended = how;
  event.view.freed_buffers = ledger_.buffer_count();
  for (const ledger::DeviceIndex device : ledger_.devices()) add_device(device, event.view);
  return event;
}

std::uint64_t EventDecoder::first_dispatch(std::uint64_t workload) const {
  const ledger::WorkloadRecord* record = ledger_.workload(workload);
  return record == nullptr ? 0 : record->launches.first;
}

std::uint64_t EventDecoder::ticks_of(EventKind kind, const Payload& payload) const {
  switch (kind) {
    case EventKind::kProgramLoaded:
      return first_dispatch(payload.a);
    case EventKind::kReloaded:
      return launches_of(payload, clock_).last;
    case EventKind::kWorkloadCreated:
    case EventKind::kWorkloadChanged:
    case EventKind::kWorkloadReleased:
    case EventKind::kTraceBegun:
    case EventKind::kTraceEnded:
    case EventKind::kTraceReleased:
      return launches_of(payload, clock_).first;
    default:
      return payload.time;
  }
}

// Not every event carries a time of its own; none is earlier than the one before it. Each look
// reads the clocks anew, some nanoseconds apart, and one on the wall may be set back.
ledger::TimeNs EventDecoder::not_before(std::uint64_t ticks) {
  ticks_ = std::max(ticks_, ticks);
  const ledger::TimeNs time = clock_.wall(ticks_);
  const bool is_misread = time < time_ && time_ - time < kReadApartNs;
  if (!is_misread) time_ = time;
  return time_;
}

Shares EventDecoder::shares() const {
  Shares shares;
  for (const ledger::DeviceIndex device : ledger_.devices()) {
    shares.push_back(ledger_.program_totals(device));
  }
  return shares;
}

void EventDecoder::add_devices(ledger::SetIndex set, EventView& view) const {
  const ledger::DeviceSetRecord* record = ledger_.device_set(set);
  if (record == nullptr) return;
  for (const ledger::DeviceIndex device : record->devices) add_device(device, view);
}

void EventDecoder::add_device(ledger::DeviceIndex device, EventView& view) const {
  if (device == 0 || device > reader_.devices().count()) return;
  view.devices.emplace_back().unique_id = ledger_.device(device).unique_id;
}

}  // namespace ttmem::collect
