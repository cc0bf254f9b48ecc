// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The JSON of chrome://tracing, which Perfetto, Tracy (tracy-import-chrome) and speedscope open
// too: `X` slices on a thread a lane, `C` counters, `i` instants, `M` names. One event a line,
// written as they end.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "export/formats.hpp"
#include "export/lanes.hpp"

namespace ttmem::exports {

namespace {

using ChromeEvent = nlohmann::ordered_json;

class ChromeScribe : public Scribe {
 public:
  explicit ChromeScribe(Sink sink) : sink_(std::move(sink)) {}

  void begin(const Beginning& beginning) override {
    start_ = beginning.wall;
    sink_(R"({"displayTimeUnit":"ms","traceEvents":[)");
  }
  void came(const Life& life) override {
    const std::string group = lane_group(life);
    const std::uint32_t lane = lanes_[{life.holding.process->key, group}].take();
    open_[life.number] = {life, lane};
  }
  void went(const Life& life, ledger::TimeNs time) override {
    const auto open = open_.find(life.number);
    write_slice(open->second, time);
    lanes_[{life.holding.process->key, lane_group(life)}].give_back(open->second.lane);
    open_.erase(open);
  }
  void level(const Level& level) override {
    write({{"ph", "C"},
           {"pid", process(*level.process)},
           {"tid", 0},
           {"ts", microseconds(level.time)},
           {"name", fmt::format("device {} {}", level.device, ledger::name(level.space))},
           {"args", {{"bytes", level.taken}}}});
  }
  void happened(const ledger::EventView& event) override {
    if (event.kind != ledger::EventKind::kFailed && event.kind != ledger::EventKind::kGap) return;
    const bool failed = event.kind == ledger::EventKind::kFailed;
    write({{"ph", "i"},
           {"s", "p"},
           {"pid", process(*event.process)},
           {"tid", 0},
           {"ts", microseconds(event.time)},
           {"name", failed ? "failed: " + event.reason : "gap"},
           {"args",
            {{"failure", event.failure},
             {"missed", event.missed},
             {"line", event.line},
             {"operation", event.operation}}}});
  }
  void end(const Ending& ending) override {
    for (const auto& [number, open] : open_) write_slice(open, ending.time);
    sink_("\n]}\n");
  }

 private:
  struct Open {
    Life life;
    std::uint32_t lane = 0;
  };

  // From the start, before which nothing is drawn: of microseconds since 1970, a double has no room
  // for the parts.
  double microseconds(ledger::TimeNs time) const {
    return static_cast<double>(std::max(time, start_) - start_) / 1e3;
  }
  void write(const ChromeEvent& event) {
    sink_(std::exchange(any_, true) ? ",\n" : "\n");
    sink_(event.dump(-1, ' ', false, ChromeEvent::error_handler_t::replace));
  }
  void write_slice(const Open& open, ledger::TimeNs end) {
    const ledger::HoldingView& holding = open.life.holding;
    const std::string group = lane_group(open.life);
    ChromeEvent args = {{"id", holding.id}};
    if (holding.taken) args["bytes on each device"] = *holding.taken;
    if (holding.requested) args["requested bytes"] = *holding.requested;
    if (holding.kind == ledger::HoldingKind::kBuffer) {
      args["address"] = fmt::format("{:#x}", holding.address);
    }
    if (!holding.line.empty()) args["line"] = holding.line;
    if (!holding.region.empty()) args["region"] = holding.region;
    args["devices"] = holding.devices;
    const double begin = microseconds(holding.since);
    write({{"ph", "X"},
           {"pid", process(*holding.process)},
           {"tid", thread(*holding.process, group, open.lane)},
           {"ts", begin},
           {"dur", microseconds(end) - begin},
           {"cat", group},
           {"name", title_of(holding)},
           {"args", std::move(args)}});
  }

  std::uint64_t process(const ledger::ProcessName& process) {
    const std::uint64_t pid = pids_.of(process);
    if (named_pids_.insert(pid).second) name_it("process_name", pid, 0, process.name);
    return pid;
  }
  std::size_t thread(const ledger::ProcessName& process, const std::string& group,
                     std::uint32_t lane) {
    const auto [known, added] =
        threads_.try_emplace({process.key, group, lane}, threads_.size() + 1);
    if (added) name_it("thread_name", pids_.of(process), known->second, group);
    return known->second;
  }
  void name_it(const char* what, std::uint64_t pid, std::size_t tid, const std::string& name) {
    write({{"ph", "M"}, {"pid", pid}, {"tid", tid}, {"name", what}, {"args", {{"name", name}}}});
  }

  Sink sink_;
  bool any_ = false;
  ledger::TimeNs start_ = 0;
  std::map<std::uint64_t, Open> open_;  // by number of the life
  std::map<std::pair<std::uint64_t, std::string>, Lanes> lanes_;
  Pids pids_;
  std::set<std::uint64_t> named_pids_;
  std::map<std::tuple<std::uint64_t, std::string, std::uint32_t>, std::size_t> threads_;
};

}  // namespace

std::unique_ptr<Scribe> chrome_json(const Sink& sink) {
  return std::make_unique<ChromeScribe>(sink);
}

}  // namespace ttmem::exports
