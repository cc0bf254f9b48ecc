// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "export/tables.hpp"

#include <fmt/format.h>

namespace ttmem::exports {

namespace {

constexpr ColumnType kNumber = ColumnType::kNumber;
constexpr ColumnType kFlag = ColumnType::kFlag;
constexpr ColumnType kText = ColumnType::kText;

constexpr Column kHoldingColumns[] = {
    {"kind", kText},       {"pid", kNumber},     {"start", kNumber},     {"process", kText},
    {"alive", kFlag},      {"devices", kText},   {"id", kNumber},        {"space", kText},
    {"layout", kText},     {"address", kNumber}, {"requested", kNumber}, {"block", kNumber},
    {"occupied", kNumber}, {"taken", kNumber},   {"footprint", kNumber}, {"dispatches", kNumber},
    {"name", kText},       {"operation", kText}, {"line", kText},        {"region", kText},
    {"since_ns", kNumber},
};
constexpr Column kEventColumns[] = {
    {"time_ns", kNumber}, {"event", kText},    {"pid", kNumber},       {"start", kNumber},
    {"process", kText},   {"number", kNumber}, {"devices", kText},     {"id", kNumber},
    {"space", kText},     {"layout", kText},   {"address", kNumber},   {"requested", kNumber},
    {"block", kNumber},   {"taken", kNumber},  {"footprint", kNumber}, {"name", kText},
    {"operation", kText}, {"line", kText},     {"region", kText},      {"reason", kText},
    {"failure", kNumber}, {"missed", kNumber},
};
constexpr Column kSeriesColumns[] = {
    {"time_ns", kNumber}, {"pid", kNumber}, {"start", kNumber}, {"process", kText},
    {"device", kNumber},  {"space", kText}, {"taken", kNumber},
};

Cell known(const ledger::Figure& value) { return value ? Cell(*value) : Cell(); }
Cell unless_zero(std::uint64_t value) { return value != 0 ? Cell(value) : Cell(); }
Cell text(std::string_view value) { return std::string(value); }
Cell pid_of(const ledger::ProcessName& process) { return static_cast<std::uint64_t>(process.pid); }

class EventsScribe : public Scribe {
 public:
  explicit EventsScribe(std::unique_ptr<TableWriter> table) : table_(std::move(table)) {}
  void happened(const ledger::EventView& event) override {
    using ledger::EventKind;
    const bool is_buffer =
        event.kind >= EventKind::kBufferAllocated && event.kind <= EventKind::kBufferChanged;
    const bool is_program =
        event.kind >= EventKind::kProgramRegistered && event.kind <= EventKind::kProgramReleased;
    std::vector<std::uint32_t> devices;
    for (const ledger::EventDevice& device : event.devices) devices.push_back(device.id);
    table_->row({event.time,
                 text(ledger::name(event.kind)),
                 pid_of(*event.process),
                 event.process->start,
                 event.process->name,
                 unless_zero(event.number),
                 fmt::format("{}", fmt::join(devices, " ")),
                 unless_zero(event.id),
                 text(is_buffer ? ledger::name(event.space) : ""),
                 text(is_buffer ? ledger::name(event.layout) : ""),
                 is_buffer ? Cell(event.address) : Cell(),
                 is_buffer ? Cell(event.requested) : Cell(),
                 known(event.block),
                 known(event.taken),
                 is_program ? Cell(event.footprint) : Cell(),
                 event.name,
                 event.operation,
                 event.line,
                 event.region,
                 event.reason,
                 unless_zero(event.failure),
                 unless_zero(event.missed)});
  }
  void end(const Ending& /*ending*/) override { table_->finish(); }

 private:
  std::unique_ptr<TableWriter> table_;
};

class SeriesScribe : public Scribe {
 public:
  explicit SeriesScribe(std::unique_ptr<TableWriter> table) : table_(std::move(table)) {}
  void level(const Level& level) override {
    table_->row({level.time, pid_of(*level.process), level.process->start, level.process->name,
                 std::uint64_t{level.device}, text(ledger::name(level.space)), level.taken});
  }
  void end(const Ending& /*ending*/) override { table_->finish(); }

 private:
  std::unique_ptr<TableWriter> table_;
};

}  // namespace

void write_holdings(const Picture& picture, MakeTable* make, const Sink& sink) {
  const auto table = make(std::span<const Column>(kHoldingColumns), sink);
  for (const ledger::HoldingView& each : picture.holdings) {
    const bool is_buffer = each.kind == ledger::HoldingKind::kBuffer;
    table->row({text(ledger::name(each.kind)),
                pid_of(*each.process),
                each.process->start,
                each.process->name,
                each.process->alive,
                fmt::format("{}", fmt::join(each.devices, " ")),
                each.id,
                text(is_buffer ? ledger::name(each.space) : ""),
                text(is_buffer ? ledger::name(each.layout) : ""),
                known(ledger::known_address(each)),
                known(each.requested),
                known(each.block),
                known(each.occupied),
                known(each.taken),
                known(each.footprint),
                known(each.dispatches),
                each.name,
                each.operation,
                each.line,
                each.region,
                unless_zero(each.since)});
  }
  table->finish();
}

std::unique_ptr<Scribe> events_scribe(MakeTable* make, const Sink& sink) {
  return std::make_unique<EventsScribe>(make(std::span<const Column>(kEventColumns), sink));
}

std::unique_ptr<Scribe> series_scribe(MakeTable* make, const Sink& sink) {
  return std::make_unique<SeriesScribe>(make(std::span<const Column>(kSeriesColumns), sink));
}

}  // namespace ttmem::exports
