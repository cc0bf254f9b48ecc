// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A tracked program that does as it is told, for tests that need a certain state of a host. Reads
// one JSON array a line from its input, `["call", {arguments}]`, makes that call of ttmem.h and
// answers "ok". Names may hold any bytes. It goes on until its input ends; then it waits to be
// killed, unless told to `quit`.
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../support/devices.hpp"
#include "ttmem/ttmem.h"

namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kL1Bytes = 1'499'136, kRingBase = 35'008, kRingBytes = 70'656;
constexpr std::uint32_t kL1Base = kRingBase + kRingBytes;
constexpr std::uint64_t kDramBase = 1'048'640, kDramBankBytes = 1'072'693'184;
constexpr std::uint64_t kFirstUniqueId = 0x5747'0000'0000'0000;

struct Stage {
  ttmem_set_t set = 0;
  ttmem_allocator_t allocator = 0;
  ttmem_ring_manager_t ring = 0;
  std::uint32_t workers = 0;
  std::map<std::uint64_t, ttmem_workload_t> workloads;
  std::map<std::uint64_t, std::uint32_t> config_bytes;
};

ttmem_string_t string_of(const Json& from, const char* name) {
  const std::string text = from.value(name, "");
  return text.empty() ? 0 : ttmem_intern_string(text.data(), text.size());
}

// [x0, y0, x1, y1]; none = 0, every bank.
ttmem_cores_t cores_of(const Json& from, std::uint32_t type = TTMEM_CORE_TENSIX) {
  if (!from.contains("cores")) return 0;
  const Json& of = from.at("cores");
  const ttmem_core_range range{of.at(0), of.at(1), of.at(2), of.at(3)};
  return ttmem_intern_cores(type, &range, 1);
}

// Where the cores lie on the chip: ethernet above the workers, dispatch cores right of them, and
// between them a row of the network without any.
void place_on_network(std::vector<ttmem_core>& cores, std::uint8_t columns) {
  std::uint8_t ethernet = 0;
  for (ttmem_core& core : cores) {
    const bool dispatch = core.role == TTMEM_ROLE_DISPATCH;
    if (core.role == TTMEM_ROLE_WORKER || dispatch) {
      core.noc_x =
          static_cast<std::uint8_t>(dispatch ? columns + 1 : core.x + (core.x > 3 ? 2 : 1));
      core.noc_y = static_cast<std::uint8_t>(2 + (dispatch ? core.x : core.y));
    } else {
      core.noc_x = ++ethernet;
      core.noc_y = 0;
    }
  }
}

std::vector<ttmem_core> chip_cores(std::uint8_t columns, std::uint8_t rows) {
  constexpr std::uint8_t kNoc = 255, kEthernet = 8, kDispatch = 2;
  std::vector<ttmem_core> cores;
  for (std::uint8_t y = 0; y < rows; ++y) {
    for (std::uint8_t x = 0; x < columns; ++x) {
      cores.push_back({x, y, TTMEM_ROLE_WORKER, TTMEM_CORE_TENSIX, kNoc, kNoc, {}});
    }
  }
  for (std::uint8_t i = 0; i < kEthernet; ++i) {
    const bool active = i < kEthernet / 2;
    cores.push_back(
        {0,
         i,
         static_cast<std::uint8_t>(active ? TTMEM_ROLE_ACTIVE_ETH : TTMEM_ROLE_IDLE_ETH),
         static_cast<std::uint8_t>(active ? TTMEM_CORE_ACTIVE_ETH : TTMEM_CORE_IDLE_ETH),
         kNoc,
         kNoc,
         {}});
  }
  for (std::uint8_t i = 0; i < kDispatch; ++i) {
    cores.push_back({i, 0, TTMEM_ROLE_DISPATCH, TTMEM_CORE_DISPATCH, kNoc, kNoc, {}});
  }
  return cores;
}

ttmem_device_t open_chip(const Json& how, std::uint32_t index,
                         const std::vector<ttmem_core>& cores) {
  ttmem_device_info info = ttmem::support::device_info(kFirstUniqueId + index);
  info.metal_id = static_cast<std::int32_t>(index);
  info.arch = how.value("arch", 2u);
  info.mock = how.value("mock", 1u);
  const std::string board = how.value("board", "n300");
  info.board = board.c_str();
  info.grid_x = how.value("columns", 8u);
  info.grid_y = how.value("rows", 8u);
  info.dram_bank_bytes = kDramBankBytes;
  info.core_count = static_cast<std::uint32_t>(cores.size());
  info.cores = cores.data();
  info.geometry[TTMEM_CORE_TENSIX] = {kL1Bytes, kRingBase, kRingBase, kRingBytes, kL1Base};
  info.geometry[TTMEM_CORE_ACTIVE_ETH] = {262'144, 258'336, 258'336, 640, 258'976};
  info.geometry[TTMEM_CORE_DISPATCH] = info.geometry[TTMEM_CORE_TENSIX];
  return ttmem_device_opened(&info);
}

// {"count", "first", "columns", "rows", "mesh": [rows, columns], "l1_small", "trace", "noc": bool,
//  "mock": 0 or 1}
void open_mesh(Stage& stage, const Json& how) {
  const std::uint8_t columns = how.value("columns", 8), rows = how.value("rows", 8);
  std::vector<ttmem_core> cores = chip_cores(columns, rows);
  if (how.value("noc", false)) place_on_network(cores, columns + 1);
  std::vector<ttmem_device_t> chips;
  const std::uint32_t first = how.value("first", 0u);
  for (std::uint32_t i = 0; i < how.value("count", 1u); ++i) {
    chips.push_back(open_chip(how, first + i, cores));
  }
  ttmem_set_info set = ttmem::support::set_info(chips);
  set.rows = how.contains("mesh") ? how["mesh"][0].get<std::uint16_t>() : 1;
  set.columns = how.contains("mesh") ? how["mesh"][1].get<std::uint16_t>()
                                     : static_cast<std::uint16_t>(chips.size());
  stage.set = ttmem_device_set(&set);

  stage.workers = std::uint32_t{columns} * rows;
  std::vector<ttmem_core_range> banks;
  for (std::uint32_t i = 0; i < stage.workers; ++i) {
    const auto x = static_cast<std::uint8_t>(i % columns),
               y = static_cast<std::uint8_t>(i / columns);
    banks.push_back({x, y, x, y});
  }
  const std::uint64_t small = how.value("l1_small", 0u), trace = how.value("trace", 0u);
  const std::uint64_t l1_end = kL1Bytes - small, dram_bytes = kDramBankBytes - trace;
  std::vector<ttmem_space_info> spaces = {
      {TTMEM_SPACE_DRAM, 12, kDramBase, dram_bytes, 32, 0, nullptr},
      {TTMEM_SPACE_L1, stage.workers, kL1Base, l1_end - kL1Base, 16, 0, banks.data()}};
  if (small > 0) {
    spaces.push_back({TTMEM_SPACE_L1_SMALL, stage.workers, l1_end, small, 16, 0, banks.data()});
  }
  if (trace > 0) {
    spaces.push_back({TTMEM_SPACE_TRACE, 12, kDramBase + dram_bytes, trace, 32, 0, nullptr});
  }
  const ttmem_allocator_info allocator = ttmem::support::allocator_info(stage.set, spaces);
  stage.allocator = ttmem_allocator_opened(&allocator);
  const ttmem_ring ring{TTMEM_CORE_TENSIX, kRingBase, kRingBytes};
  stage.ring = ttmem_ring_manager_opened(stage.set, 0, 0, &ring, 1, 1);
}

// {"id", "space", "address", "block", "requested", "layout", "cores"}
void allocate(Stage& stage, const Json& how) {
  ttmem_buffer buffer{};
  buffer.id = how.at("id");
  buffer.space = how.value("space", std::uint8_t{TTMEM_SPACE_DRAM});
  buffer.address = how.at("address");
  buffer.block = how.at("block");
  buffer.requested = how.value("requested", buffer.block);
  buffer.layout = how.value("layout", std::uint8_t{TTMEM_LAYOUT_INTERLEAVED});
  buffer.cores = cores_of(how);
  buffer.allocator = stage.allocator;
  ttmem_buffer_allocated(&buffer);
}

void release(Stage& stage, const Json& how) {
  ttmem_buffer_freed(stage.allocator, how.value("space", 0u), how.at("id"));
}

// {"id", "name", "type", "cores", "config", "kernels": [{"name", "source", "bytes", "processor"}],
//  "cbs": [bytes], "views": [buffer]}
void register_program(Stage& stage, const Json& how) {
  const std::uint8_t type = how.value("type", std::uint8_t{0});
  const std::uint32_t core_type = type == TTMEM_KERNEL_FABRIC     ? TTMEM_CORE_ACTIVE_ETH
                                  : type == TTMEM_KERNEL_DISPATCH ? TTMEM_CORE_DISPATCH
                                                                  : TTMEM_CORE_TENSIX;
  const ttmem_cores_t cores = cores_of(how, core_type);
  std::vector<ttmem_kernel> kernels;
  for (const Json& each : how.value("kernels", Json::array())) {
    ttmem_kernel kernel{};
    kernel.name = string_of(each, "name");
    kernel.source = string_of(each, "source");
    kernel.packed_bytes = kernel.text_bytes = each.at("bytes");
    kernel.hash = each.value("hash", std::uint64_t{0});
    kernel.cores = cores;
    kernel.processor = each.value("processor", std::uint8_t{255});
    kernel.core_type = static_cast<std::uint8_t>(core_type);
    kernels.push_back(kernel);
  }
  std::vector<ttmem_range> ranges;
  std::uint64_t address = kL1Base;
  for (const Json& bytes : how.value("cbs", Json::array())) {
    ttmem_range range{};
    range.address = address;
    range.size = bytes;
    range.cores = cores;
    range.page_bytes = 2048;
    range.index = static_cast<std::uint8_t>(ranges.size());
    address += range.size;
    ranges.push_back(range);
  }
  for (const Json& view : how.value("views", Json::array())) {
    ttmem_range range{};
    range.address = view.at("address");
    range.size = view.at("bytes");
    range.viewed_buffer = view.at("buffer");
    range.cores = cores;
    range.part = TTMEM_PART_VIEW;
    range.index = static_cast<std::uint8_t>(ranges.size());
    ranges.push_back(range);
  }
  ttmem_program program{};
  program.struct_size = sizeof program;
  program.type = type;
  program.set = stage.set;
  program.id = how.at("id");
  program.workload = stage.workloads[program.id] = ttmem_workload_created(program.id, stage.set);
  program.name = string_of(how, "name");
  stage.config_bytes[program.id] = how.value("config", 0u);
  program.config_bytes[TTMEM_CORE_TENSIX] = stage.config_bytes[program.id];
  program.kernel_count = static_cast<std::uint32_t>(kernels.size());
  program.kernels = kernels.data();
  program.range_count = static_cast<std::uint32_t>(ranges.size());
  program.ranges = ranges.data();
  ttmem_program_registered(&program);
}

void launch(Stage& stage, const Json& how) {
  const std::uint64_t id = how.at("id");
  const std::uint32_t bytes = stage.config_bytes[id];
  for (std::uint32_t i = 0; i < how.value("times", 1u); ++i) {
    if (bytes > 0) {
      ttmem_ring_simulated(stage.ring, stage.workloads[id], &bytes, 1, stage.workers, i == 0);
    }
    ttmem_dispatched(stage.workloads[id], 0, 0, how.value("flags", 0u));
  }
}

// {"kind", "message", "requested", "per_bank", "space", "program"}
void fail(Stage& stage, const Json& how) {
  const std::string message = how.value("message", "");
  ttmem_failure failure{};
  failure.struct_size = sizeof failure;
  failure.kind = how.value("kind", 1u);
  failure.message = message.c_str();
  failure.requested = how.value("requested", std::uint64_t{0});
  failure.per_bank = how.value("per_bank", std::uint64_t{0});
  failure.program = how.value("program", std::uint64_t{0});
  failure.set = stage.set;
  failure.allocator = stage.allocator;
  failure.space = how.value("space", 1u);
  ttmem_failed(&failure);
}

// Where the program says that it is: {"frames": [[file, line, function], ...], "operation"}, from
// the outermost on; nothing of it = nowhere.
std::vector<ttmem_step> stack;

void stand(const Json& how) {
  stack.clear();
  for (const Json& each : how.value("frames", Json::array())) {
    const std::string file = each.at(0), function = each.at(2);
    stack.push_back({TTMEM_STEP_FRAME, ttmem_intern_frame(file.data(), file.size(), each.at(1),
                                                          function.data(), function.size(), 0)});
  }
  if (how.contains("operation")) {
    stack.push_back({TTMEM_STEP_OPERATION, string_of(how, "operation")});
  }
  ttmem_origins_from([](ttmem_origin_t around) {
    return ttmem_intern_stack(around, stack.data(), static_cast<std::uint32_t>(stack.size()));
  });
}

using Call = std::function<void(Stage&, const Json&)>;

const std::map<std::string, Call>& calls() {
  static const std::map<std::string, Call> kCalls = {
      {"name",
       [](Stage&, const Json& how) {
         ::prctl(PR_SET_NAME, how.at("name").get<std::string>().c_str());
       }},
      {"open", open_mesh},
      {"push",
       [](Stage&, const Json& how) {
         ttmem_tag_push(string_of(how, "name"), string_of(how, "line"));
       }},
      {"pop", [](Stage&, const Json&) { ttmem_tag_pop(); }},
      {"stand", [](Stage&, const Json& how) { stand(how); }},
      {"step", [](Stage&, const Json&) { ttmem_next_step(); }},
      {"allocate", allocate},
      {"free", release},
      {"program", register_program},
      {"drop",
       [](Stage& stage, const Json& how) {
         ttmem_program_released(how.at("id"));
         ttmem_workload_released(stage.workloads[how.at("id")]);
       }},
      {"launch", launch},
      {"fail", fail},
      {"anomaly", [](Stage&, const Json& how) { ttmem_anomaly(how.at("kind")); }},
      {"quit", [](Stage&, const Json&) {
         ttmem_close();
         ::_exit(0);
       }}};
  return kCalls;
}

}  // namespace

int main() {
  Stage stage;
  std::string line;
  ttmem_process_info info{};
  info.struct_size = sizeof info;
  info.source = TTMEM_SOURCE_API;
  bool described = false;
  while (std::getline(std::cin, line)) {
    try {
      const Json call = Json::parse(line);
      if (!described && call.at(0) != "name") {  // its name is that of the moment
        ttmem_process_described(&info);
        described = true;
      }
      calls().at(call.at(0).get<std::string>())(stage, call.size() > 1 ? call[1] : Json::object());
      std::cout << "ok" << std::endl;
    } catch (const std::exception& problem) {
      std::cout << "no: " << problem.what() << std::endl;
    }
  }
  for (;;) ::pause();
}
