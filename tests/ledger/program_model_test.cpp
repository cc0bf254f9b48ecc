// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A million random steps (ten million in the long test) with programs, launches, traces, rings and
// buffers, in two processes, on 1 to 32 chips in overlapping sets, against a model that keeps a set
// of bytes for every core.
#include <algorithm>
#include <bitset>
#include <iostream>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "ledger/check_sums.hpp"
#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

constexpr unsigned kProgramSeed = 35;
constexpr int kStepsEach = 25000, kCheckEvery = 25, kFullCheckEvery = 5000;
constexpr unsigned kSide = 3;  // a grid of 3 x 3 workers
constexpr std::size_t kWindow = 512;
using ByteSet = std::bitset<kWindow>;  // bytes from kProgramBase on
using Member = std::pair<std::uint64_t, SetIndex>;

struct ModelProgram {
  std::vector<Cb> cbs;
  bool loaded = false, held = false;
};
struct ModelLaunches {
  std::uint64_t count = 0, stamp = 0;
};
struct ModelTrace {
  SetIndex set = 0;
  std::vector<Member> members;
  ModelLaunches launches;
};

bool covers(const CoreRange& range, unsigned core) {
  const unsigned x = core % kSide, y = core / kSide;
  return range.x0 <= x && x <= range.x1 && range.y0 <= y && y <= range.y1;
}

struct Expected {
  std::uint64_t resident = 0, reserved = 0, allocated = 0, footprint = 0, count = 0, registered = 0,
                dispatches = 0, replays = 0, ring_used = 0;
  std::int64_t headroom = 0;
  friend bool operator==(const Expected&, const Expected&) = default;
};

void PrintTo(const Expected& e, std::ostream* out) {
  *out << e.resident << " resident, " << e.reserved << " reserved, " << e.allocated
       << " allocated, " << e.footprint << " footprint, " << e.count << " with L1, " << e.registered
       << " registered, " << e.dispatches << " dispatches, " << e.replays << " replays, "
       << e.ring_used << " in rings, " << e.headroom << " headroom";
}

// One process: the ledger and, beside it, everything as plain as possible.
class ModelProcess {
 public:
  ModelProcess(unsigned chips, unsigned seed)
      : chips_(chips), random_(seed), world(chips, kSide, kSide) {
    std::vector<DeviceIndex> all;
    for (unsigned i = 1; i <= chips; ++i) all.push_back(static_cast<DeviceIndex>(i));
    add_set(all);
    for (int i = 0; i < 3; ++i) {
      std::vector<DeviceIndex> some;
      for (const DeviceIndex device : all) {
        if (pick(2) == 0) some.push_back(device);
      }
      add_set(some.empty() ? all : some);
    }
    world.allocator(1);
    closed_.resize(chips + 1);
  }

  void step() {
    switch (pick(16)) {
      case 0:
      case 1:
      case 2:
        return add_program();
      case 3:
      case 4:
        return drop_program();
      case 5:
        return replace_ranges();
      case 6:
        return add_trace();
      case 7:
        return release_trace();
      case 8:
      case 9:
        return replay();
      case 10:
        return toggle_buffer();
      case 11:
        return pick(20) == 0 ? toggle_device() : hold();
      case 12:
        return set_ring();
      default:
        return dispatch();
    }
  }

  Expected expected(DeviceIndex device) const {
    Expected e;
    const bool open = !closed_[device];
    std::int64_t room = std::numeric_limits<std::int64_t>::max();
    for (unsigned core = 0; core < kSide * kSide; ++core) {
      ByteSet reserved;
      for (const auto& [key, program] : programs_) {
        if (!program.held && on(key.second, device)) reserved |= bytes_of(program, core);
      }
      e.reserved += reserved.count();
      const ByteSet resident = open ? resident_bytes(device, core) : ByteSet();
      std::uint64_t end = 0;
      for (std::size_t i = 0; i < kWindow; ++i) {
        if (!resident[i]) continue;
        end = i + 1;
        if (!floor() || i < *floor()) ++e.resident;
      }
      const std::uint64_t limit = floor().value_or(kL1Bytes - kProgramBase);
      room = std::min(room, static_cast<std::int64_t>(limit) - static_cast<std::int64_t>(end));
    }
    e.headroom = open ? room : -1;
    for (const auto& [key, program] : programs_) {
      if (program.held || !on(key.second, device)) continue;
      for (const Cb& cb : program.cbs) e.allocated += cb.size * cores(cb.cores);
      e.count += !program.cbs.empty();
      e.registered += !program.loaded;
      if (program.loaded && open) e.footprint += 100 * key.first * cores(kernel_cores(key.first));
    }
    for (const auto& [id, launches] : workloads_) {
      if (on(sets_of_workload_.at(id), device)) e.dispatches += launches.count;
    }
    for (const auto& [id, trace] : traces_) {
      if (on(trace.set, device)) e.replays += trace.launches.count;
    }
    if (on(ring_set_, device)) e.ring_used = ring_used_;
    return e;
  }

  Expected found(DeviceIndex device) const {
    const DeviceFigures figures = world.figures(device);
    Expected e;
    e.resident = *figures.program_l1.resident;
    e.reserved = *figures.program_l1.reserved;
    e.allocated = *figures.program_l1.allocated;
    e.count = *figures.program_l1.count;
    e.footprint = *figures.kernels.total().footprint;
    e.registered = *figures.kernels.registered;
    e.dispatches = *figures.kernels.dispatches;
    e.replays = *figures.kernels.replays;
    for (const RingFigures& ring : figures.rings) e.ring_used += ring.used;
    e.headroom = figures.headroom.min.value_or(-1);
    return e;
  }

  // A device of which a reader that starts now would say something else; 0 = none.
  DeviceIndex told_otherwise_when_late() const {
    const ProcessLedger late = world.late_reader();
    for (const DeviceIndex device : world.ledger.devices()) {
      if (late.figures(device) != world.ledger.figures(device)) return device;
    }
    return 0;
  }

  DeviceIndex any_device() { return static_cast<DeviceIndex>(1 + pick(chips_)); }

  void clear() {
    while (!traces_.empty()) release_trace();
    while (!workloads_.empty()) drop_program();
  }

 private:
  unsigned chips_;
  std::mt19937 random_;

 public:
  World world;

 private:
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  void add_set(const std::vector<DeviceIndex>& devices) {
    world.set(devices);
    sets_.emplace_back(devices.begin(), devices.end());
  }
  bool on(SetIndex set, DeviceIndex device) const {
    return set != 0 && sets_[set - 1u].contains(device);
  }
  static std::uint64_t cores(const CoreRange& r) { return (r.x1 - r.x0 + 1u) * (r.y1 - r.y0 + 1u); }
  CoreRange random_cores() {
    const auto x = static_cast<std::uint8_t>(pick(kSide)),
               y = static_cast<std::uint8_t>(pick(kSide));
    return {x, y, static_cast<std::uint8_t>(x + pick(kSide - x)),
            static_cast<std::uint8_t>(y + pick(kSide - y))};
  }
  // A kernel of 100 x id bytes on cores that follow from the id.
  static CoreRange kernel_cores(std::uint64_t id) {
    const auto x = static_cast<std::uint8_t>(id % kSide);
    return {x, 0, x, static_cast<std::uint8_t>(id / 7 % kSide)};
  }
  std::vector<Cb> random_cbs() {
    std::vector<Cb> cbs;
    for (std::uint64_t i = pick(4); i > 0; --i) {
      cbs.push_back({kProgramBase + pick(kWindow - 64), 1 + pick(64), random_cores()});
    }
    return cbs;
  }
  static ByteSet bytes_of(const ModelProgram& program, unsigned core) {
    ByteSet bytes;
    for (const Cb& cb : program.cbs) {
      if (!covers(cb.cores, core)) continue;
      for (std::uint64_t i = 0; i < cb.size; ++i) bytes.set(cb.address - kProgramBase + i);
    }
    return bytes;
  }
  static bool runs_on(std::uint64_t id, const ModelProgram& program, unsigned core) {
    return covers(kernel_cores(id), core) ||
           std::any_of(program.cbs.begin(), program.cbs.end(),
                       [core](const Cb& cb) { return covers(cb.cores, core); });
  }
  std::optional<std::uint64_t> floor() const { return buffer_ ? Figure(buffer_at_) : std::nullopt; }

  ByteSet resident_bytes(DeviceIndex device, unsigned core) const {
    ByteSet bytes;
    std::uint64_t latest = 0;
    for (const auto& [key, program] : programs_) {
      const std::uint64_t stamp = workloads_.at(key.first).stamp;
      if (!program.loaded || program.held || stamp <= latest || !on(key.second, device) ||
          !runs_on(key.first, program, core)) {
        continue;
      }
      latest = stamp;
      bytes = bytes_of(program, core);
    }
    for (const auto& [id, trace] : traces_) {
      if (trace.launches.stamp <= latest || !on(trace.set, device)) continue;
      bool reached = false;
      ByteSet most;
      for (const Member& member : trace.members) {
        const auto program = programs_.find(member);
        if (program == programs_.end() || !on(member.second, device) ||
            !runs_on(member.first, program->second, core)) {
          continue;
        }
        reached = true;
        const ByteSet here = bytes_of(program->second, core);
        if (here.count() > most.count()) most = here;
      }
      if (!reached) continue;
      latest = trace.launches.stamp;
      bytes = most;
    }
    return bytes;
  }

  void add_program() {
    if (workloads_.size() >= 25) return drop_program();
    const std::uint64_t id = next_id_++;
    const auto set = static_cast<SetIndex>(1 + pick(sets_.size()));
    sets_of_workload_[id] = set;
    workloads_[id] = {};
    for (const SetIndex on_set :
         std::set<SetIndex>{set, static_cast<SetIndex>(1 + pick(sets_.size()))}) {
      const std::vector<Cb> cbs = random_cbs();
      world.program(id, on_set, cbs, {{static_cast<std::uint32_t>(100 * id), kernel_cores(id)}});
      programs_[{id, on_set}] = {cbs, false, false};
      if (on_set < set) sets_of_workload_[id] = on_set;  // the one registered first
    }
  }

  std::uint64_t any_id() {
    return std::next(workloads_.begin(), static_cast<long>(pick(workloads_.size())))->first;
  }
  Member any_program() {
    return std::next(programs_.begin(), static_cast<long>(pick(programs_.size())))->first;
  }

  void drop_program() {
    if (workloads_.empty()) return;
    const std::uint64_t id = any_id();
    world.drop(id);
    workloads_.erase(id);
    sets_of_workload_.erase(id);
    std::erase_if(programs_, [id](const auto& entry) { return entry.first.first == id; });
  }

  void replace_ranges() {
    if (programs_.empty()) return;
    const Member key = any_program();
    programs_[key].cbs = random_cbs();
    world.replace_ranges(key.first, key.second, programs_[key].cbs);
  }

  void dispatch() {
    if (workloads_.empty()) return;
    const std::uint64_t id = any_id();
    ++workloads_[id].count;
    workloads_[id].stamp = next_stamp_++;
    world.dispatch(id);
    for (auto& [key, program] : programs_) {
      if (key.first == id) program.loaded = true;
    }
  }

  void hold() {
    if (programs_.empty()) return;
    const Member key = any_program();
    programs_[key].held = true;
    world.hold(key.first, key.second);
  }

  void add_trace() {
    if (programs_.empty() || traces_.size() >= 4) return;
    std::set<Member> members;
    for (int i = 0; i < 4; ++i) members.insert(any_program());
    ModelTrace trace;
    trace.set = static_cast<SetIndex>(1 + pick(sets_.size()));
    std::vector<TraceMember> listed;
    for (const Member& member : members) {
      trace.members.push_back(member);
      listed.push_back({member.first, member.second});
    }
    const std::uint64_t id = next_id_++;
    traces_[id] = trace;
    world.trace(id, trace.set, listed);
  }

  void release_trace() {
    if (traces_.empty()) return;
    const std::uint64_t id =
        std::next(traces_.begin(), static_cast<long>(pick(traces_.size())))->first;
    traces_.erase(id);
    world.release_trace(id);
  }

  void replay() {
    if (traces_.empty()) return;
    auto& [id, trace] = *std::next(traces_.begin(), static_cast<long>(pick(traces_.size())));
    ++trace.launches.count;
    trace.launches.stamp = next_stamp_++;
    world.replay(id);
  }

  void toggle_buffer() {
    if (buffer_) {
      world.clear(*buffer_);
      buffer_.reset();
      return;
    }
    buffer_at_ = pick(kWindow);
    buffer_ = world.buffer(1, Space::kL1, kProgramBase + buffer_at_, 1000000, 1000000,
                           pick(2) == 0 ? 0 : world.cores({0, 0, 1, 0}));
  }

  void toggle_device() {
    const DeviceIndex device = any_device();
    closed_[device] = !closed_[device];
    DeviceRecord record = world.ledger.device(device);
    record.open = !closed_[device];
    world.ledger.set_device(device, record);
  }

  void set_ring() {
    RingManagerRecord manager;
    manager.set = ring_set_ = static_cast<SetIndex>(1 + pick(sets_.size()));
    manager.open = true;
    RingRecord ring;
    ring.base = kRingBase;
    ring.bytes = kRingBytes;
    ring_used_ = 0;
    for (std::uint64_t i = pick(8); i > 0; --i) {
      const auto bytes = static_cast<std::uint32_t>(pick(10000));
      ring.slices.push_back({static_cast<std::uint32_t>(kRingBase + ring_used_), bytes, pick(30)});
      ring_used_ += bytes;
    }
    manager.rings = {ring};
    world.ring_manager(manager);
  }

  std::vector<std::set<DeviceIndex>> sets_;
  std::map<Member, ModelProgram> programs_;
  std::map<std::uint64_t, ModelLaunches> workloads_;
  std::map<std::uint64_t, SetIndex> sets_of_workload_;
  std::map<std::uint64_t, ModelTrace> traces_;
  std::optional<SlotIndex> buffer_;
  std::uint64_t buffer_at_ = 0;
  std::vector<bool> closed_;
  SetIndex ring_set_ = 0;
  std::uint64_t ring_used_ = 0;
  std::uint64_t next_id_ = 1, next_stamp_ = 1;
};

void compare_with_a_set_of_bytes(unsigned episodes) {
  std::cout << "seed " << kProgramSeed << "\n";
  for (unsigned episode = 0; episode < episodes; ++episode) {
    const unsigned chips = 1 + episode * 31 / (episodes - 1);
    const unsigned seed = kProgramSeed + episode;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", chips " << chips);
    ModelProcess first(chips, seed), second(chips, seed + 1000);
    PeakMemory peaks;
    for (int step = 0; step < kStepsEach; ++step) {
      ModelProcess& process = step % 2 == 0 ? first : second;
      process.step();
      if (step % kCheckEvery == 0) {
        const DeviceIndex device = process.any_device();
        ASSERT_EQ(process.found(device), process.expected(device)) << "step " << step;
      }
      if (step % kFullCheckEvery != 0) continue;
      const std::vector<ProcessInput> inputs = {first.world.input(1), second.world.input(2)};
      ASSERT_EQ(check_everything(inputs, assemble(inputs, peaks), true), "") << "step " << step;
      ASSERT_EQ(first.told_otherwise_when_late(), 0) << "step " << step;
      ASSERT_EQ(second.told_otherwise_when_late(), 0) << "step " << step;
    }
    first.clear();
    for (DeviceIndex device = 1; device <= chips; ++device) {
      const Expected zero = first.found(device);
      EXPECT_EQ(zero.resident + zero.reserved + zero.allocated + zero.footprint + zero.count, 0u);
    }
  }
}

TEST(ProgramModel, EqualsASetOfBytesForEveryCore) { compare_with_a_set_of_bytes(40); }
TEST(LongProgramModel, EqualsASetOfBytesForEveryCore) { compare_with_a_set_of_bytes(400); }

}  // namespace
}  // namespace ttmem::ledger
