// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A memory snapshot of PyTorch, for its viewer (memory_viz). The viewer knows devices with one
// address space each: here one is a space of a chip as one process has it, and shows one bank, as
// the allocator sees it; all banks are alike. Addresses are those of the runtime, plus a number of
// the device in the bits above 40, because the viewer looks an address up in all devices.
#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "export/formats.hpp"
#include "export/pickle.hpp"

namespace ttmem::exports {

namespace {

constexpr std::size_t kNewestEvents = 100'000;  // of more, the viewer is too slow to be of use
constexpr int kDeviceShift = 40;

using SpaceKey = std::tuple<std::uint64_t, std::uint32_t, ledger::Space>;  // process, chip, space

struct TorchEvent {
  enum Kind : std::uint8_t { kAlloc, kFree, kFailed } kind = kAlloc;
  std::uint32_t device = 0;
  std::uint64_t address = 0, size = 0;
  ledger::TimeNs time = 0;
  std::uint32_t origin = 0;
  std::uint64_t held = 0;  // in a bank of the device, before it
};

class PyTorchScribe : public Scribe {
 public:
  explicit PyTorchScribe(const Sink& sink) : pickle_(sink) {}

  void came(const Life& life) override {
    if (!life.was_there) each_device(life, TorchEvent::kAlloc, life.holding.since);
    change_held(life, true);
  }
  void went(const Life& life, ledger::TimeNs time) override {
    each_device(life, TorchEvent::kFree, time);
    change_held(life, false);
  }
  void happened(const ledger::EventView& event) override {
    if (event.kind != ledger::EventKind::kFailed) return;
    failures_[{event.process->key, event.failure}] = {event, held_};
  }

  void end(const Ending& ending) override {
    for (const EndingSpace& space : ending.spaces) device_of(*space.space.process, space);
    add_failures(ending);
    pickle_.begin_dict();
    pickle_.text("segments");
    write_segments(ending);
    pickle_.text("device_traces");
    write_traces();
    pickle_.text("allocator_settings");
    write_legend(ending);
    pickle_.end_dict();
    pickle_.finish();
  }
  std::string left_out() const override {
    if (dropped_ == 0) return "";
    return fmt::format(
        "the viewer gets the newest {} events; {} older ones are left out, and what came then and "
        "is still there is drawn as if it had always been",
        events_.size(), dropped_);
  }

 private:
  struct Failed {
    ledger::EventView event;
    std::map<std::uint32_t, std::uint64_t> held;
  };

  static bool is_drawn(const Life& life) {
    return life.holding.kind == ledger::HoldingKind::kBuffer && life.holding.block;
  }
  std::uint32_t device_of(const ledger::ProcessName& process, const EndingSpace& space) {
    return device_of(process, space.device, space.space.picture.space);
  }
  std::uint32_t device_of(const ledger::ProcessName& process, std::uint32_t chip,
                          ledger::Space space) {
    const auto [known, added] = devices_.try_emplace({process.key, chip, space}, names_.size());
    if (added) {
      names_.push_back(fmt::format("process {} ({}), chip {}, {}", process.label(), process.name,
                                   chip, ledger::name(space)));
    }
    return known->second;
  }
  void each_device(const Life& life, TorchEvent::Kind kind, ledger::TimeNs time) {
    if (!is_drawn(life)) return;
    for (const std::uint32_t chip : life.holding.devices) {
      const std::uint32_t device = device_of(*life.holding.process, chip, life.holding.space);
      add({kind, device, life.holding.address, *life.holding.block, time, origin(life.holding), 0});
    }
  }
  void change_held(const Life& life, bool more) {
    if (!is_drawn(life)) return;
    for (const std::uint32_t chip : life.holding.devices) {
      std::uint64_t& held = held_[device_of(*life.holding.process, chip, life.holding.space)];
      held = more ? held + *life.holding.block : held - std::min(held, *life.holding.block);
    }
  }
  void add(const TorchEvent& event) {
    events_.push_back(event);
    if (events_.size() <= kNewestEvents) return;
    events_.pop_front();
    ++dropped_;
  }
  // Frames by their texts, so that each stack is written once.
  std::uint32_t origin(const ledger::HoldingView& holding) {
    const std::vector<std::string> steps = steps_of(holding);
    const auto [known, added] = origins_.try_emplace(steps, stacks_.size());
    if (added) stacks_.push_back(&known->first);
    return known->second;
  }

  // What a failure asked for is known from the process, and not from the event.
  void add_failures(const Ending& ending) {
    for (const ledger::ProcessView& process : ending.snapshot->processes) {
      for (const ledger::FailureView& failure : process.failures) {
        const auto told = failures_.find({process.key, failure.number});
        if (told == failures_.end() || !failure.space || told->second.event.devices.empty()) {
          continue;
        }
        const std::uint32_t chip = told->second.event.devices.front().id;
        const std::uint32_t device = device_of(process, chip, *failure.space);
        ledger::HoldingView from;
        from.operation = failure.operation;
        from.line = failure.line;
        from.stack = failure.stack;
        const std::uint64_t asked =
            failure.per_bank ? *failure.per_bank : failure.requested.value_or(0);
        const TorchEvent event{
            TorchEvent::kFailed,      device, 0, asked, failure.time, origin(from),
            told->second.held[device]};
        const auto place = std::ranges::upper_bound(events_, event.time, {}, &TorchEvent::time);
        events_.insert(place, event);
      }
    }
  }

  // ---- writing
  // -----------------------------------------------------------------------------------

  void entry(const char* key, std::uint64_t value) {
    pickle_.text(key);
    pickle_.number(value);
  }
  void entry(const char* key, const std::string& value) {
    pickle_.text(key);
    pickle_.text(value);
  }
  static std::uint64_t place(std::uint32_t device, std::uint64_t address) {
    return (std::uint64_t{device} << kDeviceShift) + address;
  }

  void write_frames(const std::vector<std::string>& steps) {
    const auto [known, added] = frames_.try_emplace(steps, 0);
    pickle_.text("frames");
    if (!added) return pickle_.recall(known->second);
    known->second = pickle_.remembered_list(steps.size(), [&](std::size_t i) {
      const Line line = line_of(steps[steps.size() - 1 - i]);  // leaf first
      pickle_.begin_dict();
      entry("name", line.function);
      entry("filename", line.file.empty() ? "(no file)" : line.file);
      entry("line", line.number);
      pickle_.end_dict();
    });
  }

  // An event of the viewer: a release is two of them.
  struct Row {
    const TorchEvent* event = nullptr;
    const char* action = "";
  };
  void write_traces() {
    std::vector<std::vector<Row>> rows(names_.size());
    for (const TorchEvent& event : events_) {
      std::vector<Row>& of = rows[event.device];
      if (event.kind == TorchEvent::kAlloc) of.push_back({&event, "alloc"});
      if (event.kind == TorchEvent::kFailed) of.push_back({&event, "oom"});
      if (event.kind == TorchEvent::kFree) {
        of.push_back({&event, "free_requested"});
        of.push_back({&event, "free_completed"});
      }
    }
    pickle_.list(rows.size(), [&](std::size_t device) {
      pickle_.list(rows[device].size(), [&](std::size_t i) { write_row(rows[device][i]); });
    });
  }
  void write_row(const Row& row) {
    const TorchEvent& event = *row.event;
    pickle_.begin_dict();
    entry("action", row.action);
    if (event.kind == TorchEvent::kFailed) {
      const std::uint64_t bank = banks_[event.device];
      entry("device_free", bank - std::min(bank, event.held));
    } else {
      entry("addr", place(event.device, event.address));
    }
    entry("size", event.size);
    entry("stream", std::uint64_t{0});
    entry("time_us", event.time / 1000);
    write_frames(*stacks_[event.origin]);
    pickle_.end_dict();
  }

  void write_segments(const Ending& ending) {
    std::vector<const EndingSpace*> spaces;
    for (const EndingSpace& space : ending.spaces) {
      const ledger::SpacePicture& picture = space.space.picture;
      if (picture.per_core || picture.bank.end <= picture.bank.begin) continue;
      spaces.push_back(&space);
      banks_[device_of(*space.space.process, space)] = picture.bank.end - picture.bank.begin;
    }
    pickle_.list(spaces.size(), [&](std::size_t i) { write_segment(*spaces[i]); });
  }
  struct Block {
    std::uint64_t size = 0, requested = 0;
    bool held = false;
    std::vector<std::string> steps;
  };
  void write_segment(const EndingSpace& space) {
    const ledger::SpacePicture& picture = space.space.picture;
    const std::uint32_t device = device_of(*space.space.process, space);
    const std::vector<Block> blocks = blocks_of(picture);
    std::uint64_t held = 0;
    for (const Block& block : blocks) held += block.held ? block.size : 0;
    pickle_.begin_dict();
    entry("device", device);
    entry("address", place(device, picture.bank.begin));
    entry("total_size", picture.bank.end - picture.bank.begin);
    entry("allocated_size", held);
    entry("active_size", held);
    entry("stream", std::uint64_t{0});
    entry("segment_type", std::string("large"));
    pickle_.text("segment_pool_id");
    pickle_.pair(0, 0);
    write_frames({names_[device]});
    pickle_.text("blocks");
    pickle_.list(blocks.size(), [&](std::size_t i) { write_block(blocks[i]); });
    pickle_.end_dict();
  }
  void write_block(const Block& block) {
    pickle_.begin_dict();
    entry("size", block.size);
    entry("requested_size", block.requested);
    entry("state", std::string(block.held ? "active_allocated" : "inactive"));
    write_frames(block.steps);
    pickle_.end_dict();
  }
  // All of the bank, without a gap: its sizes must add up.
  static std::vector<Block> blocks_of(const ledger::SpacePicture& picture) {
    std::vector<Block> blocks;
    std::uint64_t at = picture.bank.begin;
    const auto fill = [&](std::uint64_t until) {
      if (until > at) blocks.push_back({until - at, 0, false, {"free"}});
      at = std::max(at, until);
    };
    add_program(picture, blocks, at);
    for (const ledger::HeldBlock& held : picture.blocks) {
      const std::uint64_t end = std::min(held.range.end, picture.bank.end);
      if (held.range.begin < at || end <= held.range.begin) continue;
      fill(held.range.begin);
      const std::uint64_t requested = picture.banks > 0 ? held.requested / picture.banks : 0;
      ledger::HoldingView from;
      if (held.origin < picture.origins.size()) {
        from.operation = picture.origins[held.origin].operation;
        from.line = picture.origins[held.origin].line;
      }
      blocks.push_back({end - at, std::min(requested, end - at), true, steps_of(from)});
      at = end;
    }
    fill(picture.bank.end);
    return blocks;
  }
  // The region of the program that reaches highest, up to the lowest buffer: above it is headroom.
  static void add_program(const ledger::SpacePicture& picture, std::vector<Block>& blocks,
                          std::uint64_t& at) {
    const auto highest = std::ranges::max_element(picture.programs, {}, &ledger::HeldProgram::end);
    if (highest == picture.programs.end()) return;
    std::uint64_t end = std::min(highest->end, picture.bank.end);
    if (!picture.blocks.empty()) end = std::min(end, picture.blocks.front().range.begin);
    if (end <= at) return;
    blocks.push_back({end - at, end - at, true, {"program " + highest->name}});
    at = end;
  }

  void write_legend(const Ending& ending) {
    pickle_.begin_dict();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      pickle_.text(fmt::format("device {}", i));
      pickle_.text(names_[i]);
    }
    for (const EndingSpace& space : ending.spaces) {
      pickle_.text(fmt::format("banks of device {}", device_of(*space.space.process, space)));
      pickle_.number(space.space.picture.banks);
    }
    entry("sizes", std::string("bytes in each bank"));
    pickle_.end_dict();
  }

  Pickle pickle_;
  std::deque<TorchEvent> events_;
  std::uint64_t dropped_ = 0;
  std::map<SpaceKey, std::uint32_t> devices_;
  std::vector<std::string> names_;                // of devices
  std::map<std::uint32_t, std::uint64_t> held_;   // by device
  std::map<std::uint32_t, std::uint64_t> banks_;  // by device: bytes of one
  std::map<std::pair<std::uint64_t, std::uint32_t>, Failed> failures_;
  std::map<std::vector<std::string>, std::uint32_t> origins_, frames_;
  std::vector<const std::vector<std::string>*> stacks_;  // by origin
};

}  // namespace

std::unique_ptr<Scribe> pytorch(const Sink& sink) { return std::make_unique<PyTorchScribe>(sink); }

}  // namespace ttmem::exports
