// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// instrumented_helpers.hpp: create circular buffers and kernels, and have them recorded.
//
// Replace the call by the one of the same shape:
//
//   CreateCircularBuffer(program, cores, config)  ->  CreateCircularBufferWithTracking(…)
//   CreateKernel(program, file, cores, config)    ->  AddKernelWithTracking(…)
//   CreateCircularBuffer(device, formats, config) ->  CreateCircularBufferWithTracking(…)
//   program.add_kernel(config, cores)             ->  AddKernelWithTracking(program, config, cores)
//
// Everything is a template that takes the runtime's types as they are, so this header includes
// nothing of TT-Metal and fits any version whose calls have one of these shapes.
//
// What is recorded, and how true it is:
//  - Circular buffers with the size that their config has, on each core of their cores, once.
//    One that aliases a buffer is a view and counts 0.
//  - Kernels with an estimate of 50 KiB per core, which is shown as such ("Estimated", "(est)")
//  from
//    the start and is in no total, until TrackCompiled brings the true sizes. Those count from the
//    first TrackLaunch on; before it, circular buffers are registered, and nobody knows what of
//    them is resident.
//  - All of it until the end of the program: ReleaseProgramWithTracking, or a ProgramTracking.
//  - Nothing while hooks record this process: they know better.
#ifndef TTMEM_INSTRUMENTED_HELPERS_HPP
#define TTMEM_INSTRUMENTED_HELPERS_HPP

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <ttmem/core_shapes.hpp>
#include <ttmem/ttmem.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace tt::tt_metal::instrumented {

inline constexpr std::uint32_t kEstimatedKernelBytes = 50 * 1024;

namespace recording {

// ---- what the runtime's types say -----------------------------------------------------------

// Metal ids of a device, of all devices of a mesh, or of a plain number.
template <class Device>
std::vector<std::int32_t> ids_of(const Device& device) {
  if constexpr (requires { static_cast<std::int32_t>(device); }) {
    return {static_cast<std::int32_t>(device)};
  } else if constexpr (requires { device->get_device_ids(); }) {
    const auto& ids = device->get_device_ids();
    return std::vector<std::int32_t>(ids.begin(), ids.end());
  } else {
    return {static_cast<std::int32_t>(device->id())};
  }
}

struct KernelPlace {
  std::uint8_t core_type = TTMEM_CORE_TENSIX;
  std::uint8_t processor = 255;
};

template <class Config>
KernelPlace place_of(const Config& config) {
  if constexpr (requires { std::variant_size<Config>::value; }) {
    return std::visit([](const auto& one) { return place_of(one); }, config);
  } else if constexpr (requires { static_cast<int>(config.eth_mode); }) {
    constexpr int kIdle = 2;
    const bool idle = static_cast<int>(config.eth_mode) == kIdle;
    return {static_cast<std::uint8_t>(idle ? TTMEM_CORE_IDLE_ETH : TTMEM_CORE_ACTIVE_ETH), 255};
  } else if constexpr (requires { static_cast<std::uint8_t>(config.processor); }) {
    return {TTMEM_CORE_TENSIX, static_cast<std::uint8_t>(config.processor)};
  } else if constexpr (requires { config.math_fidelity; }) {
    constexpr std::uint8_t kAllOfCompute = 5;
    return {TTMEM_CORE_TENSIX, kAllOfCompute};
  } else {
    return {};
  }
}

template <class Config>
std::uint8_t index_of(const Config& config) {
  if constexpr (requires { config.buffer_index(); }) {
    return static_cast<std::uint8_t>(config.buffer_index());
  } else if constexpr (requires { config.buffer_indices().begin(); }) {
    const auto& indices = config.buffer_indices();
    const auto lowest = std::min_element(indices.begin(), indices.end());
    if (lowest != indices.end()) return static_cast<std::uint8_t>(*lowest);
  }
  return TTMEM_INDEX_UNKNOWN;
}

template <class Config>
std::uint32_t page_bytes_of(const Config& config, std::uint8_t index) {
  if constexpr (requires { config.page_sizes()[index].value_or(0); }) {
    if (index != TTMEM_INDEX_UNKNOWN) {
      return static_cast<std::uint32_t>(config.page_sizes()[index].value_or(0));
    }
  }
  return 0;
}

// The address of the buffer that a circular buffer aliases, if it does.
template <class Config>
const std::uint64_t* aliased_address(const Config& config, std::uint64_t& storage) {
  if constexpr (requires { config.globally_allocated_address().has_value(); }) {
    const auto address = config.globally_allocated_address();
    if (!address.has_value()) return nullptr;
    storage = static_cast<std::uint64_t>(*address);
    return &storage;
  } else {
    return nullptr;
  }
}

// What stays the same when a Program object is moved.
template <class Program>
const void* key_of(Program& program) {
  if constexpr (requires { &program.impl(); }) {
    return &program.impl();
  } else {
    return &program;
  }
}

// ---- programs being tracked -----------------------------------------------------------------

inline bool overlap(const ttmem_core_range& a, const ttmem_core_range& b) {
  return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1;
}

struct KernelEntry {
  std::string source;
  ttmem_kernel kernel;
  bool estimated = true;
};

struct RangeEntry {
  ttmem_range range;
  std::vector<ttmem_core_range> cores;
};

// Two records per program: what is known, and what is estimated.
struct TrackedProgram {
  TrackedProgram(std::uint64_t id, ttmem_set_t set)
      : exact(id, set, "program", TTMEM_FLAG_LAUNCHES_UNTOLD),
        guess(id + 1, set, "program", TTMEM_FLAG_ESTIMATED) {}

  ttmem::ProgramRecord exact;
  ttmem::ProgramRecord guess;
  std::vector<KernelEntry> kernels;
  std::vector<RangeEntry> ranges;

  // As the runtime places them: above everything that shares a core, from one base on.
  std::uint64_t next_offset(const std::vector<ttmem_core_range>& cores) const {
    std::uint64_t end = 0;
    for (const RangeEntry& entry : ranges) {
      if (entry.range.part == TTMEM_PART_VIEW) continue;
      for (const auto& a : entry.cores) {
        for (const auto& b : cores) {
          if (overlap(a, b)) end = std::max(end, entry.range.address + entry.range.size);
        }
      }
    }
    return end;
  }

  void publish() {
    exact.kernels.clear();
    guess.kernels.clear();
    exact.ranges.clear();
    for (const KernelEntry& entry : kernels) {
      (entry.estimated ? guess : exact).kernels.push_back(entry.kernel);
    }
    for (const RangeEntry& entry : ranges) exact.ranges.push_back(entry.range);
    exact.publish();
    if (guess.kernels.empty()) {
      guess.release();
    } else {
      guess.publish();
    }
  }
};

// Never destroyed: programs may end during static destruction.
struct Programs {
  static Programs& instance() {
    static Programs* const programs = new Programs;
    return *programs;
  }

  template <class Program>
  TrackedProgram& of(Program& program) {
    const void* key = key_of(program);
    if (const auto found = live.find(key); found != live.end()) return *found->second;
    std::vector<std::int32_t> ids = devices;
    if constexpr (requires { program.device()->id(); }) ids = ids_of(program.device());
    auto fresh = std::make_unique<TrackedProgram>(next_id, ttmem::set_of(ids));
    next_id += 2;
    return *live.emplace(key, std::move(fresh)).first->second;
  }

  std::mutex mutex;
  std::map<const void*, std::unique_ptr<TrackedProgram>> live;
  std::vector<std::int32_t> devices{0};
  std::uint64_t next_id = 2 * ttmem::kFirstOwnId;
};

template <class Config>
RangeEntry range_entry(const Config& config, std::vector<ttmem_core_range> cores,
                       std::uint64_t offset) {
  RangeEntry entry{};
  std::uint64_t aliased = 0;
  const bool view = aliased_address(config, aliased) != nullptr;
  entry.range.part = view ? TTMEM_PART_VIEW : TTMEM_PART_CB;
  entry.range.address = view ? aliased : offset;
  entry.range.size = config.total_size();
  entry.range.index = index_of(config);
  entry.range.page_bytes = page_bytes_of(config, entry.range.index);
  entry.range.cores = ttmem::intern_cores(TTMEM_CORE_TENSIX, cores);
  entry.cores = std::move(cores);
  return entry;
}

template <class Program, class Spec, class Config>
void record_kernel(Program& program, const std::string& source, const Spec& cores,
                   const Config& config) {
  Programs& programs = Programs::instance();
  const std::lock_guard lock(programs.mutex);
  const KernelPlace place = place_of(config);
  KernelEntry entry{source, {}, true};
  entry.kernel.name = ttmem::intern(source.substr(source.find_last_of('/') + 1));
  entry.kernel.source = ttmem::intern(source);
  entry.kernel.cores = ttmem::intern_cores(place.core_type, ttmem::shapes::ranges_of(cores));
  entry.kernel.packed_bytes = kEstimatedKernelBytes;
  entry.kernel.core_type = place.core_type;
  entry.kernel.processor = place.processor;
  TrackedProgram& tracked = programs.of(program);
  tracked.kernels.push_back(std::move(entry));
  tracked.publish();
}

}  // namespace recording

// ---- the calls ------------------------------------------------------------------------------

// Says on which device, or devices of a mesh, programs that are created from now on will run.
// Until it is called that is device 0; a program that knows its own device needs no such call.
template <class Device>
void UseDevice(const Device& device) {
  auto& programs = recording::Programs::instance();
  const std::lock_guard lock(programs.mutex);
  programs.devices = recording::ids_of(device);
}

// CreateCircularBuffer(program, core_spec, config).
template <class Program, class Spec, class Config>
auto CreateCircularBufferWithTracking(Program& program, const Spec& core_spec, const Config& config)
  requires(!requires { program->id(); })
{
  auto handle = CreateCircularBuffer(program, core_spec, config);
  if (ttmem_enabled() && !ttmem::hooked()) {
    auto& programs = recording::Programs::instance();
    const std::lock_guard lock(programs.mutex);
    auto& tracked = programs.of(program);
    auto cores = ttmem::shapes::ranges_of(core_spec);
    const std::uint64_t offset = tracked.next_offset(cores);
    tracked.ranges.push_back(recording::range_entry(config, std::move(cores), offset));
    tracked.publish();
  }
  return handle;
}

// CreateCircularBuffer(device, data_format_spec, config), which gives a shared pointer. The record
// ends with the last copy of the pointer that is returned.
template <class Device, class Formats, class Config>
auto CreateCircularBufferWithTracking(Device* device, const Formats& formats, const Config& config)
    -> decltype(CreateCircularBuffer(device, formats, config)) {
  auto buffer = CreateCircularBuffer(device, formats, config);
  if (!ttmem_enabled() || ttmem::hooked()) return buffer;
  std::uint64_t id = 0;
  {
    auto& programs = recording::Programs::instance();
    const std::lock_guard lock(programs.mutex);
    id = programs.next_id++;
  }
  struct Life {
    decltype(buffer) owner;
    ttmem::ProgramRecord record;
  };
  auto life = std::make_shared<Life>(
      Life{buffer, ttmem::ProgramRecord(id, ttmem::set_of(recording::ids_of(device)), "cb",
                                        TTMEM_FLAG_LAUNCHES_UNTOLD)});
  life->record.ranges.push_back(recording::range_entry(config, {}, 0).range);
  life->record.publish();
  return decltype(buffer)(life, buffer.get());
}

// program.add_kernel(kernel_config, core_ranges).
template <class Program, class Config, class Spec>
auto AddKernelWithTracking(Program& program, const Config& kernel_config, const Spec& core_ranges) {
  auto handle = program.add_kernel(kernel_config, core_ranges);
  if (ttmem_enabled() && !ttmem::hooked()) {
    recording::record_kernel(program, "kernel", core_ranges, kernel_config);
  }
  return handle;
}

// CreateKernel(program, file_name, core_spec, config).
template <class Program, class Spec, class Config>
auto AddKernelWithTracking(Program& program, const std::string& file_name, const Spec& core_spec,
                           const Config& config) {
  auto handle = CreateKernel(program, file_name, core_spec, config);
  if (ttmem_enabled() && !ttmem::hooked()) {
    recording::record_kernel(program, file_name, core_spec, config);
  }
  return handle;
}

template <class Program, class Spec, class Config>
auto CreateKernelWithTracking(Program& program, const std::string& file_name, const Spec& core_spec,
                              const Config& config) {
  return AddKernelWithTracking(program, file_name, core_spec, config);
}

// CreateKernelFromString(program, source_code, core_spec, config).
template <class Program, class Spec, class Config>
auto CreateKernelFromStringWithTracking(Program& program, const std::string& source_code,
                                        const Spec& core_spec, const Config& config) {
  auto handle = CreateKernelFromString(program, source_code, core_spec, config);
  if (ttmem_enabled() && !ttmem::hooked()) {
    recording::record_kernel(program, "<string>", core_spec, config);
  }
  return handle;
}

// Replaces estimates by true sizes. `metas` is what
// tt::tt_metal::detail::collect_kernel_meta(program, device) gives after compilation: for each
// kernel its `source` and, in `binary_meta`, the `packed_size` of each of its binaries. Kernels are
// matched by source, in order.
template <class Program, class Metas>
void TrackCompiled(Program& program, const Metas& metas) {
  if (!ttmem_enabled() || ttmem::hooked()) return;
  auto& programs = recording::Programs::instance();
  const std::lock_guard lock(programs.mutex);
  auto& tracked = programs.of(program);
  for (const auto& meta : metas) {
    std::uint64_t bytes = 0;
    for (const auto& binary : meta.binary_meta) bytes += binary.packed_size;
    const std::string_view source = meta.source;
    for (auto& entry : tracked.kernels) {
      if (!entry.estimated || !source.ends_with(entry.source)) continue;
      entry.kernel.packed_bytes = static_cast<std::uint32_t>(bytes);
      entry.estimated = false;
      break;
    }
  }
  tracked.publish();
}

// One launch of a program: its circular buffers are now what its cores hold.
template <class Program>
void TrackLaunch(Program& program) {
  if (!ttmem_enabled() || ttmem::hooked()) return;
  auto& programs = recording::Programs::instance();
  const std::lock_guard lock(programs.mutex);
  programs.of(program).exact.dispatch();
}

// The end of a program and of all that was recorded of it.
template <class Program>
void ReleaseProgramWithTracking(Program& program) {
  auto& programs = recording::Programs::instance();
  const std::lock_guard lock(programs.mutex);
  programs.live.erase(recording::key_of(program));
}

// Ends the records of a program at the end of a scope. Keep it as long as the program: the key is
// taken at once, so the program may be moved away meanwhile.
class ProgramTracking {
 public:
  template <class Program>
  explicit ProgramTracking(Program& program) : key_(recording::key_of(program)) {}
  ~ProgramTracking() {
    auto& programs = recording::Programs::instance();
    const std::lock_guard lock(programs.mutex);
    programs.live.erase(key_);
  }
  ProgramTracking(const ProgramTracking&) = delete;
  ProgramTracking& operator=(const ProgramTracking&) = delete;

 private:
  const void* key_;
};

}  // namespace tt::tt_metal::instrumented

#endif  // TTMEM_INSTRUMENTED_HELPERS_HPP
