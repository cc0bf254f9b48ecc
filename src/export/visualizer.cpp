// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A report of ttnn-visualizer: its db.sqlite. It lists all buffers that live at each operation, so
// what is written is a window: the last operations before the end. An operation is a stretch of the
// story in which one operation on one line allocated. Circular buffers come as a captured graph;
// the tool knows no dataflow buffers, so these and scratchpads are told as circular buffers.
#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "export/database.hpp"
#include "export/formats.hpp"
#include "export/lanes.hpp"

namespace ttmem::exports {

namespace {

constexpr std::size_t kMostOperations = 2'000;
constexpr std::size_t kMostBufferRows = 500'000;
using Graph = nlohmann::ordered_json;

std::int64_t whole(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// As ttnn writes it for this tool, which names an operation by the first line: innermost first.
std::string trace_text(const std::vector<std::string>& steps) {
  std::string text;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const Line line = line_of(*step);
    if (line.file.empty()) continue;
    text += fmt::format("  File \"{}\", line {}, in {}\n", line.file, line.number, line.function);
  }
  return text;
}

// "0,0-7,7 8,0" as "{[(x=0,y=0) - (x=7,y=7)], [(x=8,y=0) - (x=8,y=0)]}".
std::string core_ranges(const std::string& core_set) {
  std::string text;
  for (std::size_t at = 0; at < core_set.size();) {
    const std::size_t end = std::min(core_set.find(' ', at), core_set.size());
    unsigned x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    const std::string part = core_set.substr(at, end - at);
    const int read = std::sscanf(part.c_str(), "%u,%u-%u,%u", &x0, &y0, &x1, &y1);
    if (read == 2) x1 = x0, y1 = y0;
    if (read == 2 || read == 4) {
      text +=
          fmt::format("{}[(x={},y={}) - (x={},y={})]", text.empty() ? "" : ", ", x0, y0, x1, y1);
    }
    at = end + 1;
  }
  return "{" + text + "}";
}

class VisualizerScribe : public Scribe {
 public:
  explicit VisualizerScribe(Sink sink) : sink_(std::move(sink)) {}

  void came(const Life& life) override {
    if (life.holding.kind != ledger::HoldingKind::kBuffer || !life.holding.block) return;
    if (life.was_there && steps_.empty()) {
      living_.emplace(life.number, life.holding);
      return;
    }
    step_of(title_of(life.holding), life.holding).came.push_back(life);
  }
  void went(const Life& life, ledger::TimeNs /*time*/) override {
    if (life.holding.kind != ledger::HoldingKind::kBuffer || !life.holding.block) return;
    if (steps_.empty()) {
      living_.erase(life.number);
    } else {
      steps_.back().went.push_back(life.number);
    }
  }
  void happened(const ledger::EventView& event) override {
    if (event.kind != ledger::EventKind::kFailed) return;
    ledger::HoldingView from;
    from.operation = event.operation;
    from.line = event.line;
    from.stack = event.stack;
    begin_step(title_of(from), from).failed = {event.process->key, event.failure};
  }
  void end(const Ending& ending) override {
    create_tables();
    write_devices(ending);
    keep_rows_few();
    for (std::size_t i = 0; i < steps_.size(); ++i) write_step(whole(i) + 1, steps_[i], ending);
    write_last(whole(steps_.size()) + 1, ending);
    sink_(database_.bytes());
  }
  std::string left_out() const override {
    if (dropped_ == 0) return "";
    return fmt::format("the last {} operations are in it; {} older ones are left out",
                       steps_.size(), dropped_);
  }

 private:
  struct Step {
    std::string name, line;
    ledger::Stack stack;
    std::vector<std::string> steps;
    std::vector<Life> came;
    std::vector<std::uint64_t> went;
    std::pair<std::uint64_t, std::uint32_t> failed;  // process and number; 0 = it did not
  };

  static bool is_same(const ledger::Stack& one, const ledger::Stack& other) {
    return one == other || (one && other && *one == *other);
  }
  // The step that is going on, if it is of the same operation and stack; else a new one.
  Step& step_of(const std::string& name, const ledger::HoldingView& from) {
    const bool goes_on =
        !steps_.empty() && steps_.back().name == name && steps_.back().line == from.line &&
        is_same(steps_.back().stack, from.stack) && steps_.back().failed.second == 0;
    return goes_on ? steps_.back() : begin_step(name, from);
  }
  Step& begin_step(const std::string& name, const ledger::HoldingView& from) {
    steps_.push_back({name, from.line, from.stack, steps_of(from), {}, {}, {}});
    if (steps_.size() > kMostOperations) drop_first();
    return steps_.back();
  }
  void drop_first() {
    apply(steps_.front());
    steps_.pop_front();
    ++dropped_;
  }
  void apply(const Step& step) {
    for (const Life& life : step.came) living_.emplace(life.number, life.holding);
    for (const std::uint64_t number : step.went) living_.erase(number);
  }
  static std::size_t rows_of(const ledger::HoldingView& holding) { return holding.devices.size(); }
  // As many of the last steps as there is room for.
  void keep_rows_few() {
    std::map<std::uint64_t, std::size_t> rows;  // of what lives, by its number
    std::size_t living = 0;
    const auto come = [&](std::uint64_t number, const ledger::HoldingView& holding) {
      living += rows[number] = rows_of(holding);
    };
    for (const auto& [number, holding] : living_) come(number, holding);
    std::deque<std::size_t> of_steps;
    std::size_t all = 0;
    for (const Step& step : steps_) {
      for (const Life& life : step.came) come(life.number, life.holding);
      for (const std::uint64_t number : step.went) {
        const auto known = rows.find(number);
        if (known == rows.end()) continue;
        living -= known->second;
        rows.erase(known);
      }
      of_steps.push_back(living);
      all += living;
    }
    for (; steps_.size() > 1 && all > kMostBufferRows; drop_first()) {
      all -= of_steps.front();
      of_steps.pop_front();
    }
  }

  // ---- writing
  // -----------------------------------------------------------------------------------

  void create_tables() {
    static constexpr std::pair<const char*, const char*> kTables[] = {
        {"devices",
         "device_id int, num_y_cores int, num_x_cores int, num_y_compute_cores int, "
         "num_x_compute_cores int, worker_l1_size int, l1_num_banks int, l1_bank_size int, "
         "address_at_first_l1_bank int, address_at_first_l1_cb_buffer int, "
         "num_banks_per_storage_core int, num_compute_cores int, num_storage_cores int, "
         "total_l1_memory int, total_l1_for_tensors int, total_l1_for_interleaved_buffers int, "
         "total_l1_for_sharded_buffers int, cb_limit int"},
        {"operations", "operation_id int UNIQUE, name text, duration float"},
        {"operation_arguments", "operation_id int, name text, value text"},
        {"tensors",
         "tensor_id int UNIQUE, shape text, dtype text, layout text, memory_config text, "
         "device_id int, address int, buffer_type int"},
        {"buffers",
         "operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int, "
         "buffer_layout int"},
        {"input_tensors", "operation_id int, input_index int, tensor_id int"},
        {"output_tensors", "operation_id int, output_index int, tensor_id int"},
        {"stack_traces", "operation_id int, stack_trace text"},
        {"errors",
         "operation_id int, operation_name text, error_type text, error_message text, "
         "stack_trace text, timestamp text"},
        {"captured_graph", "operation_id int, captured_graph text"},
        {"local_tensor_comparison_records",
         "tensor_id int, golden_tensor_id int, matches int, desired_pcc float, actual_pcc float"},
        {"global_tensor_comparison_records",
         "tensor_id int, golden_tensor_id int, matches int, desired_pcc float, actual_pcc float"},
        {"report_metadata", "key text UNIQUE, value text"},
    };
    for (const auto& [name, columns] : kTables) database_.create(name, columns);
    database_.insert("report_metadata", {std::string("schema_version"), std::string("2")});
  }

  static const ledger::SpacePicture* l1_of(const Ending& ending, std::uint32_t device) {
    for (const EndingSpace& each : ending.spaces) {
      if (each.device == device && each.space.picture.space == ledger::Space::kL1) {
        return &each.space.picture;
      }
    }
    return nullptr;
  }
  void write_devices(const Ending& ending) {
    for (const ledger::DeviceView& device : ending.snapshot->devices) {
      const ledger::SpacePicture* l1 = l1_of(ending, device.id);
      const auto core_bytes = whole(device.l1_bytes_per_core.value_or(0));
      const std::int64_t banks = l1 != nullptr ? l1->banks : 0;
      const std::int64_t begin = l1 != nullptr ? whole(l1->bank.begin) : 0;
      const std::int64_t base =
          l1 != nullptr && l1->unreserved_base ? whole(*l1->unreserved_base) : begin;
      const std::int64_t bank = l1 != nullptr ? whole(l1->bank.end - l1->bank.begin) : 0;
      database_.insert(
          "devices",
          {device.id, device.grid_y, device.grid_x, device.grid_y, device.grid_x, core_bytes, banks,
           bank, begin, base, std::int64_t{1}, std::int64_t{device.tensix_cores}, std::int64_t{0},
           core_bytes * banks, bank * banks, bank * banks, bank * banks, core_bytes - base});
    }
  }

  void write_step(std::int64_t id, const Step& step, const Ending& ending) {
    apply(step);
    database_.insert("operations", {id, step.name, Value()});
    const std::string trace = trace_text(step.steps);
    if (!trace.empty()) database_.insert("stack_traces", {id, trace});
    write_buffers(id);
    write_graph(
        id, step.name,
        [&](const ledger::HeldProgram& program) {
          return !step.line.empty() && program.line == step.line;
        },
        ending);
    if (step.failed.second != 0) write_error(id, step, trace, ending);
  }
  // What is held at the end, with the program that ran last.
  void write_last(std::int64_t id, const Ending& ending) {
    database_.insert("operations", {id, std::string("(held at the end)"), Value()});
    write_buffers(id);
    ledger::TimeNs last = 0;
    for (const EndingSpace& each : ending.spaces) {
      for (const ledger::HeldProgram& program : each.space.picture.programs) {
        last = std::max(last, program.last_dispatch);
      }
    }
    write_graph(
        id, "(held at the end)",
        [&](const ledger::HeldProgram& program) {
          return last != 0 && program.last_dispatch == last;
        },
        ending);
  }
  void write_buffers(std::int64_t id) {
    for (const auto& [number, holding] : living_) {
      for (const std::uint32_t device : holding.devices) {
        database_.insert(
            "buffers",
            {id, std::int64_t{device}, whole(holding.address), whole(*holding.block),
             static_cast<std::int64_t>(holding.space), static_cast<std::int64_t>(holding.layout)});
      }
    }
  }
  template <typename Wanted>
  void write_graph(std::int64_t id, const std::string& name, const Wanted& wanted,
                   const Ending& ending) {
    Graph nodes = Graph::array();
    const auto node = [&](const char* type, Graph parameters) {
      const std::size_t counter = nodes.size();
      nodes.push_back({{"counter", counter},
                       {"node_type", type},
                       {"params", std::move(parameters)},
                       {"connections", {counter + 1}}});
    };
    node("capture_start", Graph::object());
    node("function_start", {{"inputs", "0"}, {"name", name}});
    for (const EndingSpace& each : ending.spaces) {
      for (const ledger::HeldProgram& program : each.space.picture.programs) {
        if (!wanted(program)) continue;
        for (const ledger::HeldPart& part : program.parts) {
          node("circular_buffer_allocate",
               {{"address", std::to_string(part.range.begin)},
                {"size", std::to_string(part.range.end - part.range.begin)},
                {"core_range_set", core_ranges(program.core_set)},
                {"globally_allocated", "0"},
                {"device_id", std::to_string(each.device)}});
        }
      }
    }
    node("circular_buffer_deallocate_all", Graph::object());
    node("function_end", {{"name", name}});
    node("capture_end", Graph::object());
    database_.insert("captured_graph",
                     {id, nodes.dump(-1, ' ', false, Graph::error_handler_t::replace)});
  }
  void write_error(std::int64_t id, const Step& step, const std::string& trace,
                   const Ending& ending) {
    const ledger::ProcessView* process = ending.snapshot->process(step.failed.first);
    if (process == nullptr) return;
    for (const ledger::FailureView& failure : process->failures) {
      if (failure.number != step.failed.second) continue;
      database_.insert("errors", {id, step.name, failure.kind, failure.message, trace,
                                  std::to_string(failure.time / 1'000'000'000)});
    }
  }

  Sink sink_;
  Database database_;
  std::deque<Step> steps_;
  std::map<std::uint64_t, ledger::HoldingView> living_;  // before the first step of the window
  std::uint64_t dropped_ = 0;
};

}  // namespace

std::unique_ptr<Scribe> visualizer(const Sink& sink) {
  return std::make_unique<VisualizerScribe>(sink);
}

}  // namespace ttmem::exports
