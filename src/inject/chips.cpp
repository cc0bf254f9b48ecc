// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/chips.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unordered_map>

#include "inject/children.hpp"
#include "inject/hooks.hpp"
#include "inject/locks.hpp"

namespace ttmem::inject::chips {

namespace {

using metal::functions;

struct Chip {
  const void* device = nullptr;
  int metal_id = -1;
  bool open = false;
  ttmem_device_t recorded = 0;
  bool without_rings = false;  ///< described before the runtime had made its ring managers
};

struct State {
  std::map<int, Chip> chips;                          ///< by Metal id
  std::map<int, std::uint64_t> unique_ids;            ///< as the runtime named them
  std::unordered_map<const void*, int> ids;           ///< Device* -> Metal id
  std::unordered_map<const void*, ttmem_set_t> sets;  ///< of whole meshes and chips
  std::map<ttmem_set_t, std::vector<int>> members;    ///< Metal ids, by set
  ttmem_ring rings[TTMEM_CORE_TYPES] = {};
};

State& state() {
  static State& state = *new State;
  return state;
}

void* cluster_descriptor() {
  if (!functions.context || !functions.context_cluster || !functions.cluster_descriptor)
    return nullptr;
  return functions.cluster_descriptor(functions.context_cluster(functions.context(0)));
}

std::uint64_t unique_id_of(int metal_id) {
  {
    const std::lock_guard lock(locks().state);
    const auto named = state().unique_ids.find(metal_id);
    if (named != state().unique_ids.end()) return named->second;
  }
  void* descriptor = cluster_descriptor();
  if (descriptor && functions.chip_unique_ids) {
    for (const auto& [chip, unique_id] : functions.chip_unique_ids(descriptor)) {
      if (chip == metal_id) return unique_id;
    }
  }
  return static_cast<std::uint64_t>(metal_id) << 32;
}

std::string board_of(int metal_id) {
  void* descriptor = cluster_descriptor();
  if (!descriptor || !functions.chip_board || !functions.board_name) return {};
  return functions.board_name(functions.chip_board(descriptor, metal_id));
}

void add_cores(std::vector<ttmem_core>& cores, const metal::CoreSet& set, std::uint8_t role,
               std::uint8_t type) {
  for (const auto& core : set) {
    cores.push_back({static_cast<std::uint8_t>(core.x),
                     static_cast<std::uint8_t>(core.y),
                     role,
                     type,
                     255,
                     255,
                     {}});
  }
}

std::vector<ttmem_core> cores_of(const void* device, metal::CoreCoord workers) {
  std::vector<ttmem_core> cores;
  const auto all = functions.device_logical_grid ? functions.device_logical_grid(device) : workers;
  for (std::size_t y = 0; y < std::max(all.y, workers.y); ++y) {
    for (std::size_t x = 0; x < std::max(all.x, workers.x); ++x) {
      const bool worker = x < workers.x && y < workers.y;
      cores.push_back({static_cast<std::uint8_t>(x),
                       static_cast<std::uint8_t>(y),
                       worker ? std::uint8_t{TTMEM_ROLE_WORKER} : std::uint8_t{TTMEM_ROLE_DISPATCH},
                       TTMEM_CORE_TENSIX,
                       255,
                       255,
                       {}});
    }
  }
  if (functions.device_active_eth) {
    add_cores(cores, functions.device_active_eth(device, false), TTMEM_ROLE_ACTIVE_ETH,
              TTMEM_CORE_ACTIVE_ETH);
  }
  if (functions.device_idle_eth) {
    add_cores(cores, functions.device_idle_eth(device), TTMEM_ROLE_IDLE_ETH, TTMEM_CORE_IDLE_ETH);
  }
  return cores;
}

/// The ring of a worker core lies between the fixed part and the allocator's first address.
void fill_worker_geometry(ttmem_core_geometry& geometry, const void* device) {
  geometry.l1_bytes = functions.device_l1_bytes ? functions.device_l1_bytes(device) : 0;
  void* allocator = functions.device_allocator ? functions.device_allocator(device) : nullptr;
  if (!allocator || !functions.allocator_base || !functions.max_worker_l1_bytes) return;
  geometry.unreserved_base =
      static_cast<std::uint32_t>(functions.allocator_base(allocator, metal::kMemoryL1));
  geometry.ring_base = geometry.l1_bytes - functions.max_worker_l1_bytes();
  geometry.fixed_end = geometry.ring_base;
  geometry.ring_bytes = geometry.unreserved_base - geometry.ring_base;
}

void fill_geometry(ttmem_device_info& info, const void* device) {
  fill_worker_geometry(info.geometry[TTMEM_CORE_TENSIX], device);
  const std::lock_guard lock(locks().state);
  for (std::uint32_t type = 1; type < TTMEM_CORE_TYPES; ++type) {
    info.geometry[type].ring_base = state().rings[type].base;
    info.geometry[type].ring_bytes = state().rings[type].bytes;
    info.geometry[type].fixed_end = state().rings[type].base;
  }
}

bool is_mock() {
  return std::getenv("TT_METAL_MOCK_CLUSTER_DESC_PATH") != nullptr ||
         std::getenv("TT_METAL_SIMULATOR") != nullptr;
}

ttmem_device_t describe(const Chip& chip) {
  children::begin_if_new();
  ttmem_device_info info = {};
  info.struct_size = sizeof info;
  info.metal_id = chip.metal_id;
  info.unique_id = unique_id_of(chip.metal_id);
  info.mock = is_mock();
  std::string board;
  std::vector<ttmem_core> cores;
  quietly([&] {
    if (functions.device_arch)
      info.arch = static_cast<std::uint32_t>(functions.device_arch(chip.device));
    board = board_of(chip.metal_id);
    info.board = board.empty() ? nullptr : board.c_str();
    const auto grid = functions.device_worker_grid ? functions.device_worker_grid(chip.device)
                                                   : metal::CoreCoord{};
    info.grid_x = static_cast<std::uint32_t>(grid.x);
    info.grid_y = static_cast<std::uint32_t>(grid.y);
    if (functions.device_dram_channels) {
      info.dram_banks = static_cast<std::uint32_t>(functions.device_dram_channels(chip.device));
    }
    if (functions.device_dram_channel_bytes) {
      info.dram_bank_bytes = functions.device_dram_channel_bytes(chip.device);
    }
    fill_geometry(info, chip.device);
    cores = cores_of(chip.device, grid);
  });
  info.cores = cores.data();
  info.core_count = static_cast<std::uint32_t>(cores.size());
  return ttmem_device_opened(&info);
}

/// The state lock must be held.
bool rings_are_known() { return state().rings[TTMEM_CORE_TENSIX].bytes != 0; }

/// The recorder's id of an open chip; describes it on the way.
ttmem_device_t device_of(int metal_id) {
  Chip chip;
  {
    const std::lock_guard lock(locks().state);
    const auto found = state().chips.find(metal_id);
    if (found == state().chips.end() || !found->second.open) return 0;
    if (found->second.recorded) return found->second.recorded;
    chip = found->second;
  }
  const ttmem_device_t recorded = describe(chip);
  const std::lock_guard lock(locks().state);
  Chip& known = state().chips[metal_id];
  known.recorded = recorded;
  known.without_rings = !rings_are_known();
  return recorded;
}

struct MeshFacts {
  std::vector<int> ids;
  std::size_t rows = 1;
  std::size_t columns = 1;
};

MeshFacts facts_of(const void* mesh) {
  MeshFacts facts;
  if (!functions.mesh_device_ids) return facts;
  facts.ids = functions.mesh_device_ids(mesh);
  facts.columns = facts.ids.size();
  if (functions.mesh_rows && functions.mesh_columns) {
    facts.rows = functions.mesh_rows(mesh);
    facts.columns = functions.mesh_columns(mesh);
  }
  return facts;
}

bool covers(const Box& box, const MeshFacts& facts) {
  return box.dimensions != 2 || (box.start[0] == 0 && box.start[1] == 0 &&
                                 box.end[0] + 1 >= facts.rows && box.end[1] + 1 >= facts.columns);
}

std::vector<int> ids_in(const Box& box, const MeshFacts& facts) {
  std::vector<int> ids;
  for (std::size_t row = box.start[0]; row <= box.end[0]; ++row) {
    for (std::size_t column = box.start[1]; column <= box.end[1]; ++column) {
      const std::size_t index = row * facts.columns + column;
      if (index < facts.ids.size()) ids.push_back(facts.ids[index]);
    }
  }
  return ids;
}

}  // namespace

Box Box::read(const void* range) {
  Box box;
  if (!functions.range_start || !functions.range_end || !functions.coordinate_dims ||
      !functions.coordinate_at) {
    return box;
  }
  const void* start = functions.range_start(range);
  const void* end = functions.range_end(range);
  const auto dimensions = functions.coordinate_dims(start);
  if (dimensions > kMaxDimensions) return box;
  box.dimensions = static_cast<int>(dimensions);
  for (int i = 0; i < box.dimensions; ++i) {
    box.start[i] = functions.coordinate_at(start, i);
    box.end[i] = functions.coordinate_at(end, i);
  }
  return box;
}

ttmem_set_t set_of(const std::vector<int>& metal_ids, std::size_t rows, std::size_t columns) {
  std::vector<ttmem_device_t> devices;
  for (const int id : metal_ids) {
    if (const ttmem_device_t device = device_of(id)) devices.push_back(device);
  }
  if (devices.empty()) return 0;
  ttmem_set_info info = {};
  info.struct_size = sizeof info;
  info.device_count = static_cast<std::uint32_t>(devices.size());
  info.devices = devices.data();
  if (rows * columns == devices.size()) {
    info.rows = static_cast<std::uint16_t>(rows);
    info.columns = static_cast<std::uint16_t>(columns);
  }
  const ttmem_set_t set = ttmem_device_set(&info);
  const std::lock_guard lock(locks().state);
  state().members[set] = metal_ids;
  return set;
}

bool covers(ttmem_set_t outer, ttmem_set_t inner) {
  const std::lock_guard lock(locks().state);
  const auto around = state().members.find(outer);
  const auto inside = state().members.find(inner);
  if (around == state().members.end() || inside == state().members.end()) return false;
  return std::all_of(inside->second.begin(), inside->second.end(), [&](int id) {
    return std::find(around->second.begin(), around->second.end(), id) != around->second.end();
  });
}

ttmem_set_t set_of(const void* device) {
  int metal_id = -1;
  {
    const std::lock_guard lock(locks().state);
    const auto known = state().sets.find(device);
    if (known != state().sets.end()) return known->second;
    const auto chip = state().ids.find(device);
    if (chip != state().ids.end()) metal_id = chip->second;
  }
  ttmem_set_t set = 0;
  if (metal::is_mesh(device)) {
    const MeshFacts facts = facts_of(device);
    set = set_of(facts.ids, facts.rows, facts.columns);
  } else if (metal_id >= 0) {
    set = set_of({metal_id}, 1, 1);
  }
  if (set) {
    const std::lock_guard lock(locks().state);
    state().sets[device] = set;
  }
  return set;
}

ttmem_set_t set_of(const void* mesh, const Box& box) {
  if (box.dimensions != 2) return set_of(mesh);
  const MeshFacts facts = facts_of(mesh);
  if (covers(box, facts)) return set_of(mesh);
  return set_of(ids_in(box, facts), box.end[0] - box.start[0] + 1, box.end[1] - box.start[1] + 1);
}

void adopt(const void* device, int metal_id) {
  const std::lock_guard lock(locks().state);
  state().ids[device] = metal_id;
  Chip& chip = state().chips[metal_id];
  if (chip.device != device) chip = {device, metal_id, false, 0, false};
  chip.open = true;
}

void describe_all() {
  std::vector<int> pending;
  {
    const std::lock_guard lock(locks().state);
    for (auto& [id, chip] : state().chips) {
      if (chip.without_rings && rings_are_known()) chip.recorded = 0;
      if (chip.open && !chip.recorded) pending.push_back(id);
    }
  }
  for (const int id : pending) device_of(id);
}

void forget_mesh(const void* mesh) {
  const std::lock_guard lock(locks().state);
  state().sets.erase(mesh);
}

void forget_meshes() {
  const std::lock_guard lock(locks().state);
  state().sets.clear();
}

void ring_seen(std::uint32_t core_type, std::uint32_t base, std::uint32_t bytes) {
  if (core_type >= TTMEM_CORE_TYPES) return;
  const std::lock_guard lock(locks().state);
  state().rings[core_type] = {core_type, base, bytes};
}

void forget_recorder() {
  state().sets.clear();
  state().members.clear();
  for (auto& [id, chip] : state().chips) chip.recorded = 0;
}

extern "C" void ttmem_on_device_constructed(void* device, void*, void*, int metal_id) noexcept {
  quietly([=] {
    const std::lock_guard lock(locks().state);
    state().ids[device] = metal_id;
    state().chips[metal_id] = {device, metal_id, false, 0, false};
  });
}

extern "C" void ttmem_on_chip_named(void*, std::uint64_t unique_id, int metal_id) noexcept {
  quietly([=] {
    const std::lock_guard lock(locks().state);
    state().unique_ids[metal_id] = unique_id;
  });
}

extern "C" Returned ttmem_hook_device_initialized(void* device, std::uint64_t b, std::uint64_t c,
                                                  std::uint64_t d, std::uint64_t e, std::uint64_t f,
                                                  std::uint64_t g, std::uint64_t h) {
  const Returned result = call(ttmem_original_device_initialized, device, b, c, d, e, f, g, h);
  quietly([=] {
    const std::lock_guard lock(locks().state);
    const auto id = state().ids.find(device);
    if (id != state().ids.end()) state().chips[id->second].open = true;
  });
  return result;
}

extern "C" void ttmem_on_device_closed(void* device) noexcept {
  quietly([=] {
    ttmem_device_t closed = 0;
    {
      const std::lock_guard lock(locks().state);
      const auto id = state().ids.find(device);
      if (id == state().ids.end()) return;
      Chip& chip = state().chips[id->second];
      closed = chip.recorded;
      chip.open = false;
      chip.recorded = 0;
      state().sets.clear();
    }
    if (closed) ttmem_device_closed(closed);
  });
}

}  // namespace ttmem::inject::chips
