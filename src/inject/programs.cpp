// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/programs.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "inject/handle_cache.hpp"
#include "inject/hooks.hpp"
#include "inject/hot_data.hpp"
#include "inject/kernels.hpp"
#include "inject/locks.hpp"
#include "inject/metal.hpp"
#include "inject/operation_name.hpp"
#include "inject/scopes.hpp"
#include "inject/traces.hpp"

namespace ttmem::inject::programs {

namespace {

using metal::functions;

struct Program {
  std::uint64_t id = 0;
  const void* workload = nullptr;
  chips::Box box;
  std::uint8_t type = TTMEM_KERNEL_APPLICATION;
  ttmem_string_t name = 0;
  std::vector<ttmem_kernel> kernels;
  std::vector<ttmem_range> parts[kParts];
  std::vector<ttmem_set_t> sets;      ///< where it is registered
  ttmem_workload_t own_workload = 0;  ///< of a program that was launched without one

  std::vector<ttmem_range> ranges() const {
    std::vector<ttmem_range> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }
};

struct Workload {
  std::vector<const void*> programs;
  ttmem_workload_t handle = 0;
  bool launched = false;
};

struct State {
  std::unordered_map<const void*, Program> programs;
  std::unordered_map<const void*, Workload> workloads;
};

State& state() {
  static State& state = *new State;
  return state;
}

/// Workloads whose first launch is recorded.
constinit HandleCache launched;

constexpr std::uint32_t kRingTypes = 3;  ///< Tensix, active and idle ethernet

}  // namespace

std::uint64_t id_of(const void* program) {
  // The runtime counts from 0, which means "none" to the recorder.
  return functions.program_id ? functions.program_id(program) + 1
                              : reinterpret_cast<std::uintptr_t>(program);
}

ttmem_set_t set_of(const void* program, const void* device) {
  chips::Box box;
  bool member = false;
  {
    const std::lock_guard lock(locks().state);
    const Program& known = state().programs[program];
    box = known.box;
    member = known.workload != nullptr;
  }
  if (!member) return chips::set_of(device);
  const void* mesh = device;
  if (!metal::is_mesh(mesh) && scopes.queue) mesh = metal::mesh_of_queue(scopes.queue);
  return metal::is_mesh(mesh) ? chips::set_of(mesh, box) : chips::set_of(device);
}

namespace {

std::uint8_t type_of(bool in_workload, std::optional<std::uint8_t> by_source) {
  std::uint8_t type = TTMEM_KERNEL_APPLICATION;
  if (scopes.fabric_depth) {
    type = TTMEM_KERNEL_FABRIC;
  } else if (dispatch_depth.load(std::memory_order_relaxed) > 0 && !in_workload) {
    type = TTMEM_KERNEL_DISPATCH;
  }
  if (by_source.value_or(type) != type) ttmem_anomaly(TTMEM_ANOMALY_KIND_BY_SOURCE);
  return type;
}

void register_on(const Program& program, ttmem_set_t set) {
  const auto ranges = program.ranges();
  ttmem_program record = {};
  record.struct_size = sizeof record;
  record.type = program.type;
  record.set = set;
  record.id = program.id;
  record.name = program.name;
  record.kernel_count = static_cast<std::uint32_t>(program.kernels.size());
  record.range_count = static_cast<std::uint32_t>(ranges.size());
  record.kernels = program.kernels.data();
  record.ranges = ranges.data();
  ttmem_program_registered(&record);
}

/// Registers a program on a set it was not on; true if it did.
bool register_once(Program& program, ttmem_set_t set) {
  const auto found = std::find(program.sets.begin(), program.sets.end(), set);
  if (!set || found != program.sets.end()) return false;
  register_on(program, set);
  program.sets.push_back(set);
  return true;
}

/// System programs have no enqueue: the device builds them, and from then on they are there.
void load_system_program(Program& program, ttmem_set_t set) {
  const ttmem_workload_t handle = ttmem_workload_created(program.id, set);
  ttmem_workload_joined(handle, program.id, set);
  ttmem_dispatched(handle, 0, 0, TTMEM_DISPATCH_BUILT);
  program.own_workload = handle;
}

/// Makes the workload known with all its programs, at its first launch. The lock is held.
void create_handle(Workload& workload, std::uint64_t id, ttmem_set_t set, ttmem_string_t name) {
  workload.handle = ttmem_workload_created(id, set);
  for (const void* program : workload.programs) {
    Program& known = state().programs[program];
    if (name && !known.name) {
      known.name = name;
      for (const ttmem_set_t on : known.sets) register_on(known, on);
    }
    for (const ttmem_set_t on : known.sets) ttmem_workload_joined(workload.handle, known.id, on);
  }
}

std::vector<const void*> members_of(const void* workload) {
  const std::lock_guard lock(locks().state);
  return state().workloads[workload].programs;
}

/// Creates the handle inside the first enqueue, when the programs are compiled: those whose set was
/// not known before get it now.
ttmem_workload_t create(const void* workload, const void* queue, const void* caller) {
  const void* mesh = metal::mesh_of_queue(queue);
  const ttmem_set_t set = chips::set_of(mesh);
  const ttmem_string_t name = operation_name(caller);
  for (const void* program : members_of(workload)) {
    const ttmem_set_t on = set_of(program, mesh);
    const std::lock_guard lock(locks().state);
    register_once(state().programs[program], on);
  }
  const std::lock_guard lock(locks().state);
  Workload& known = state().workloads[workload];
  if (!known.handle) create_handle(known, reinterpret_cast<std::uintptr_t>(workload), set, name);
  return known.handle;
}

void tell_config_sizes(const void* workload) {
  if (!functions.program_config_size) return;
  for (const void* program : members_of(workload)) {
    std::uint32_t sizes[TTMEM_CORE_TYPES] = {};
    for (std::uint32_t type = 0; type < kRingTypes; ++type) {
      sizes[type] = functions.program_config_size(program, type);
    }
    const std::lock_guard lock(locks().state);
    const Program& known = state().programs[program];
    for (const ttmem_set_t set : known.sets) ttmem_program_config_sized(known.id, set, sizes);
  }
}

/// What a launch that is not in the cache needs; the first one tells what only then is known.
[[gnu::cold, gnu::noinline]] ttmem_workload_t remember_launch(const void* workload,
                                                              const void* queue,
                                                              const void* caller) {
  ttmem_workload_t handle = 0;
  bool is_first = false;
  {
    const std::lock_guard lock(locks().state);
    Workload& known = state().workloads[workload];
    handle = known.handle;
    is_first = !std::exchange(known.launched, true);
  }
  if (!handle) handle = create(workload, queue, caller);
  if (is_first) tell_config_sizes(workload);
  const std::lock_guard lock(locks().state);
  launched.put(workload, handle);
  return handle;
}

}  // namespace

void compiled(const void* program, const void* device, std::uint64_t build_key) {
  ProgramKernels found = read_kernels(program, device, build_key);
  const ttmem_string_t name = operation_name(scopes.caller);
  const std::uint64_t id = id_of(program);
  const ttmem_set_t set = set_of(program, device);
  const std::lock_guard lock(locks().state);
  Program& known = state().programs[program];
  known.id = id;
  known.name = name;
  known.type = type_of(known.workload != nullptr, found.type_by_source);
  known.kernels = std::move(found.kernels);
  const bool is_new = register_once(known, set);
  if (is_new && known.type != TTMEM_KERNEL_APPLICATION) load_system_program(known, set);
}

void destroyed(const void* program) {
  Program gone;
  {
    const std::lock_guard lock(locks().state);
    const auto found = state().programs.find(program);
    if (found == state().programs.end()) return;
    gone = std::move(found->second);
    state().programs.erase(found);
    const auto workload = state().workloads.find(gone.workload);
    if (workload != state().workloads.end()) std::erase(workload->second.programs, program);
  }
  if (!gone.sets.empty()) ttmem_program_released(gone.id);
  if (gone.own_workload) ttmem_workload_released(gone.own_workload);
}

void placed(const void* program, int part, std::vector<ttmem_range> ranges) {
  const std::uint64_t id = id_of(program);
  const std::lock_guard lock(locks().state);
  Program& known = state().programs[program];
  known.id = id;
  known.parts[part] = std::move(ranges);
  const auto all = known.ranges();
  for (const ttmem_set_t set : known.sets) {
    ttmem_program_ranges_replaced(id, set, all.data(), static_cast<std::uint32_t>(all.size()));
  }
}

void joined(const void* workload, const void* program, const chips::Box& box) {
  const std::uint64_t id = id_of(program);
  const std::lock_guard lock(locks().state);
  Program& known = state().programs[program];
  known.id = id;
  known.workload = workload;
  known.box = box;
  state().workloads[workload].programs.push_back(program);
}

void workload_destroyed(const void* workload) {
  ttmem_workload_t handle = 0;
  {
    const std::lock_guard lock(locks().state);
    const auto found = state().workloads.find(workload);
    if (found == state().workloads.end()) return;
    handle = found->second.handle;
    launched.drop(workload);
    for (const void* program : found->second.programs) state().programs[program].workload = nullptr;
    state().workloads.erase(found);
  }
  if (handle) ttmem_workload_released(handle);
}

[[gnu::hot]] void enqueued(const void* workload, const void* queue, const void* caller) {
  ttmem_workload_t handle = launched.find(workload);
  if (!handle) handle = remember_launch(workload, queue, caller);
  if (traces::captured(queue, handle)) return;
  const std::uint32_t flags = metal::is_slow_queue(queue) ? std::uint32_t{TTMEM_DISPATCH_SLOW} : 0u;
  recorder.dispatched(handle, metal::number_of_queue(queue), 0, flags);
}

void launched_slowly(const void* program, const void* device) {
  if (scopes.queue) return;
  const ttmem_set_t set = chips::set_of(device);
  ttmem_workload_t handle = 0;
  {
    const std::lock_guard lock(locks().state);
    const auto found = state().programs.find(program);
    if (found == state().programs.end() || !set) return;
    Program& known = found->second;
    if (known.workload || known.type != TTMEM_KERNEL_APPLICATION) return;
    register_once(known, set);
    if (!known.own_workload) known.own_workload = ttmem_workload_created(known.id, set);
    ttmem_workload_joined(known.own_workload, known.id, set);
    handle = known.own_workload;
  }
  ttmem_dispatched(handle, 0, 0, TTMEM_DISPATCH_SLOW);
}

namespace {

[[gnu::cold, gnu::noinline]] ttmem_workload_t handle_of_current() {
  {
    const std::lock_guard lock(locks().state);
    const ttmem_workload_t handle = state().workloads[scopes.workload].handle;
    if (handle) return handle;
  }
  return create(scopes.workload, scopes.queue, scopes.caller);
}

}  // namespace

[[gnu::hot]] ttmem_workload_t current() {
  if (!scopes.workload || !scopes.queue) return 0;
  const ttmem_workload_t known = launched.find(scopes.workload);
  return known ? known : handle_of_current();
}

void forget_recorder() {
  state().programs.clear();
  state().workloads.clear();
  launched.clear();
}

}  // namespace ttmem::inject::programs
