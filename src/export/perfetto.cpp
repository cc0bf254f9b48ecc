// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A trace of Perfetto (protobuf): for each process a counter a device and space, and lanes on which
// every buffer and program is a slice as long as it lived. Failures are instants. Lines of code are
// annotations: fields for stacks change from release to release, and an unknown one counts as lost
// data.
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "export/formats.hpp"
#include "export/lanes.hpp"
#include "export/protobuf.hpp"

namespace ttmem::exports {

namespace {

// Field numbers of trace_packet.proto, track_descriptor.proto and track_event.proto.
enum TraceField : std::uint32_t { kPacket = 1 };
enum PacketField : std::uint32_t {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kDefaults = 59,
  kTrackDescriptor = 60,
};
enum TrackField : std::uint32_t {
  kUuid = 1,
  kTrackName = 2,
  kProcess = 3,
  kParent = 5,
  kCounter = 8,
  kChildOrdering = 11,
  kRank = 12,
};
enum EventField : std::uint32_t {
  kCategoryIids = 3,
  kAnnotation = 4,
  kType = 9,
  kNameIid = 10,
  kTrackUuid = 11,
  kCounterValue = 30,
};
enum EventType : std::uint64_t { kBegin = 1, kEnd = 2, kInstant = 3, kCount = 4 };
enum ClockId : std::uint64_t { kRealtime = 1, kMonotonic = 3, kBoottime = 6 };
constexpr std::uint64_t kBytesUnit = 3;
constexpr std::uint64_t kExplicitOrder = 3;
constexpr std::string_view kFailureTrack = "failures", kEventTrack = "events";
constexpr std::uint64_t kNewSequence = 1, kKnownSequence = 2;

// Names that are written once and then called by their number, as InternedData has them.
class Interned {
 public:
  explicit Interned(std::uint32_t field) : field_(field) {}
  std::uint64_t number(const std::string& name, Message& data) {
    const auto [known, added] = numbers_.try_emplace(name, numbers_.size() + 1);
    if (added) {
      Message entry;
      entry.number(1, known->second);
      entry.bytes(2, name);
      data.message(field_, entry);
    }
    return known->second;
  }

 private:
  std::uint32_t field_;
  std::map<std::string, std::uint64_t> numbers_;
};

class PerfettoScribe : public Scribe {
 public:
  explicit PerfettoScribe(Sink sink) : sink_(std::move(sink)) {}

  void begin(const Beginning& beginning) override {
    Message clocks;
    // The machine was not asleep: then both of them have run alike.
    const std::uint64_t since_boot = beginning.monotonic != 0 ? beginning.monotonic : 1;
    for (const auto& [id, time] :
         {std::pair{kRealtime, beginning.wall}, std::pair{kMonotonic, since_boot},
          std::pair{kBoottime, since_boot}}) {
      Message clock;
      clock.number(1, id);
      clock.number(2, time);
      clocks.message(1, clock);
    }
    Message defaults;
    defaults.number(58, kRealtime);
    Message packet;
    packet.message(kClockSnapshot, clocks);
    packet.message(kDefaults, defaults);
    write(packet, kNewSequence);
  }

  void came(const Life& life) override {
    const std::string group = lane_group(life);
    const auto of = std::pair{life.holding.process->key, group};
    const std::uint32_t lane = lanes_[of].take();
    lane_of_[life.number] = lane;
    Message event;
    Message data;
    event.number(kType, kBegin);
    event.number(kTrackUuid, lane_track(*life.holding.process, group, lane));
    event.number(kNameIid, names_.number(title_of(life.holding), data));
    event.number(kCategoryIids, categories_.number(group, data));
    annotate_life(life, event, data);
    write_event(life.holding.since, event, data);
  }

  void went(const Life& life, ledger::TimeNs time) override {
    const std::string group = lane_group(life);
    const std::uint32_t lane = lane_of_[life.number];
    lane_of_.erase(life.number);
    lanes_[{life.holding.process->key, group}].give_back(lane);
    Message event;
    event.number(kType, kEnd);
    event.number(kTrackUuid, lane_track(*life.holding.process, group, lane));
    write_event(time, event, {});
  }

  void level(const Level& level) override {
    count(*level.process, fmt::format("device {} {}", level.device, ledger::name(level.space)),
          level.taken, level.time);
  }

  void happened(const ledger::EventView& event) override {
    switch (event.kind) {
      case ledger::EventKind::kProgramRegistered:
      case ledger::EventKind::kProgramLoaded:
      case ledger::EventKind::kProgramChanged:
      case ledger::EventKind::kProgramReleased:
        for (const ledger::EventDevice& device : event.devices) {
          count(*event.process, fmt::format("device {} program L1 (all processes)", device.id),
                device.program_l1_allocated, event.time);
        }
        break;
      case ledger::EventKind::kBufferAllocated:
      case ledger::EventKind::kBufferFreed:
      case ledger::EventKind::kBufferChanged:
        break;
      default:
        instant(event);
    }
  }

 private:
  void write(Message& packet, std::uint64_t flags) {
    packet.number(kSequenceId, 1);
    packet.number(kSequenceFlags, flags);
    Message trace;
    trace.message(kPacket, packet);
    sink_(trace.text());
  }
  void write_event(ledger::TimeNs time, const Message& event, const Message& data) {
    Message packet;
    packet.number(kTimestamp, time);
    if (!data.empty()) packet.message(kInternedData, data);
    packet.message(kTrackEvent, event);
    write(packet, kKnownSequence);
  }

  void count(const ledger::ProcessName& process, const std::string& name, std::uint64_t value,
             ledger::TimeNs time) {
    Message event;
    event.number(kType, kCount);
    event.number(kTrackUuid, track({process.key, name, 0}, process_track(process), true));
    event.number(kCounterValue, value);
    write_event(time, event, {});
  }

  void instant(const ledger::EventView& event) {
    Message mark;
    Message data;
    const bool failed = event.kind == ledger::EventKind::kFailed;
    const std::string group(failed ? kFailureTrack : kEventTrack);
    const std::string kind(ledger::name(event.kind));
    mark.number(kType, kInstant);
    mark.number(kTrackUuid, track({event.process->key, group, 0}, process_track(*event.process)));
    mark.number(kNameIid, names_.number(failed ? "failed: " + event.reason : kind, data));
    mark.number(kCategoryIids, categories_.number(group, data));
    annotate("line", event.line, mark, data);
    annotate("operation", event.operation, mark, data);
    if (event.failure != 0) annotate("failure", event.failure, mark, data);
    if (event.missed != 0) annotate("missed events", event.missed, mark, data);
    if (event.id != 0) annotate("id", event.id, mark, data);
    write_event(event.time, mark, data);
  }

  void annotate_life(const Life& life, Message& event, Message& data) {
    const ledger::HoldingView& holding = life.holding;
    annotate("id", holding.id, event, data);
    if (holding.taken) annotate("bytes on each device", *holding.taken, event, data);
    if (holding.block) annotate("bytes in each bank", *holding.block, event, data);
    if (holding.requested) annotate("requested bytes", *holding.requested, event, data);
    if (holding.footprint) annotate("bytes of kernels", *holding.footprint, event, data);
    if (holding.kind == ledger::HoldingKind::kBuffer) {
      annotate("address", fmt::format("{:#x}", holding.address), event, data);
      annotate("layout", std::string(ledger::name(holding.layout)), event, data);
    }
    annotate("line", holding.line, event, data);
    annotate("operation", holding.operation, event, data);
    annotate("region", holding.region, event, data);
    annotate("devices", fmt::format("{}", fmt::join(holding.devices, " ")), event, data);
    if (life.was_there) annotate("was there before", 1, event, data);
  }
  void annotate(const std::string& name, std::uint64_t value, Message& event, Message& data) {
    Message annotation;
    annotation.number(1, annotations_.number(name, data));
    annotation.number(3, value);
    event.message(kAnnotation, annotation);
  }
  void annotate(const std::string& name, const std::string& value, Message& event, Message& data) {
    if (value.empty()) return;
    Message annotation;
    annotation.number(1, annotations_.number(name, data));
    annotation.bytes(6, value);
    event.message(kAnnotation, annotation);
  }

  // ---- tracks, each described when it is first used
  // ----------------------------------------------

  using TrackKey = std::tuple<std::uint64_t, std::string, std::uint32_t>;

  // The tool sorts what stands below a process by name, and only what stands below another track as
  // it is told: one track below each process has all of it.
  std::uint64_t process_track(const ledger::ProcessName& process) {
    const auto [known, added] = tracks_.try_emplace({process.key, "", 0}, tracks_.size() + 1);
    if (!added) return known->second;
    const std::uint64_t top =
        tracks_.try_emplace({process.key, "", 1}, tracks_.size() + 1).first->second;
    Message about;
    about.number(1, pids_.of(process));
    about.bytes(6, process.name);
    Message of_process;
    of_process.number(kUuid, top);
    of_process.message(kProcess, about);
    describe(of_process);
    Message descriptor;
    descriptor.number(kUuid, known->second);
    descriptor.bytes(kTrackName, "device memory");
    descriptor.number(kParent, top);
    descriptor.number(kChildOrdering, kExplicitOrder);
    describe(descriptor);
    return known->second;
  }
  std::uint64_t lane_track(const ledger::ProcessName& process, const std::string& group,
                           std::uint32_t lane) {
    return track({process.key, group, lane}, process_track(process));
  }
  // Few rows stand above many: counters, failures, events, then lanes from the lowest on.
  static std::uint64_t rank(const std::string& group, bool is_counter) {
    if (is_counter) return 0;
    if (group == kFailureTrack) return 1;
    return group == kEventTrack ? 2 : 3;
  }
  std::uint64_t track(const TrackKey& key, std::uint64_t parent, bool is_counter = false) {
    const auto [known, added] = tracks_.try_emplace(key, tracks_.size() + 1);
    if (!added) return known->second;
    Message descriptor;
    descriptor.number(kUuid, known->second);
    descriptor.bytes(kTrackName, std::get<1>(key));
    descriptor.number(kParent, parent);
    if (is_counter) {
      Message counter;
      counter.number(3, kBytesUnit);
      descriptor.message(kCounter, counter);
    }
    descriptor.number(kRank, rank(std::get<1>(key), is_counter) + std::get<2>(key));
    describe(descriptor);
    return known->second;
  }
  void describe(const Message& descriptor) {
    Message packet;
    packet.message(kTrackDescriptor, descriptor);
    write(packet, kKnownSequence);
  }

  Sink sink_;
  Interned categories_{1}, names_{2}, annotations_{3};
  std::map<TrackKey, std::uint64_t> tracks_;  // uuids
  Pids pids_;
  std::map<std::pair<std::uint64_t, std::string>, Lanes> lanes_;
  std::map<std::uint64_t, std::uint32_t> lane_of_;  // by number of the life
};

}  // namespace

std::unique_ptr<Scribe> perfetto(const Sink& sink) {
  return std::make_unique<PerfettoScribe>(sink);
}

}  // namespace ttmem::exports
