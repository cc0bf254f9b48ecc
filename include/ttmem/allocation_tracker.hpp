// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// allocation_tracker.hpp: for a TT-Metal that is patched to tell of its own allocations.
//
// Three sets of names, one record behind them:
//  - tt::tt_metal::allocation_tracker::report_*: for a new patch. docs/integrate.md names each file
//    and function to hook.
//  - tt::tt_metal::track_kernel_load, detail::TrackKernelDispatch and KERNEL_TYPE_*: the names of
//    kernel tracking at dispatch.
//  - tt::tt_metal::AllocationClient: the client of the original, with its signatures. Define
//    TTMEM_ALLOCATION_CLIENT in the one source file that takes the place of allocation_client.cpp:
//    that file then holds the functions for others to link, and nothing else needs to change.
//
// Only sizes are told this way, neither banks nor cores, so readers label the figures `requested`.
// A release brings no size: what was told first is what is taken back, and a release of something
// unknown is counted as an anomaly and changes nothing. While hooks record this process (ttmem run,
// ttmem.track()) every call here does nothing.
#ifndef TTMEM_ALLOCATION_TRACKER_HPP
#define TTMEM_ALLOCATION_TRACKER_HPP

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <ttmem/core_shapes.hpp>
#include <ttmem/ttmem.hpp>
#include <tuple>
#include <utility>
#include <vector>

#if defined(TTMEM_ALLOCATION_CLIENT)
#define TTMEM_EMITTED __attribute__((used, visibility("default")))
#else
#define TTMEM_EMITTED
#endif

namespace tt::tt_metal::distributed {
class MeshDevice;
}

namespace tt::tt_metal {

inline constexpr std::uint8_t KERNEL_TYPE_APPLICATION = 0;
inline constexpr std::uint8_t KERNEL_TYPE_FABRIC = 1;
inline constexpr std::uint8_t KERNEL_TYPE_DISPATCH = 2;

namespace allocation_tracker {

namespace records {

struct BufferEntry {
  std::uint8_t space;
  std::uint64_t bytes;
  std::uint32_t references;
};

// An allocator of which only the device is known.
struct DeviceEntry {
  ttmem_set_t set;
  ttmem_allocator_t allocator;
};

// Never destroyed: devices close during static destruction.
class Ledger {
 public:
  static Ledger& instance() {
    static Ledger* const ledger = new Ledger;
    return *ledger;
  }

  void allocate(int device, std::uint64_t bytes, std::uint8_t space, std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    std::vector<BufferEntry>& entries = buffers_[{device, id}];
    const auto same = std::find_if(entries.begin(), entries.end(),
                                   [&](const BufferEntry& one) { return one.space == space; });
    if (same != entries.end()) {
      if (same->bytes == bytes) {
        ++same->references;
        return;
      }
      entries.erase(same);  // recording the id again replaces it, and is counted there
    }
    entries.push_back({space, bytes, 1});
    ttmem_buffer buffer{};
    buffer.id = id;
    buffer.address = id;
    buffer.requested = bytes;
    buffer.allocator = device_entry(device).allocator;
    buffer.space = space;
    buffer.layout = TTMEM_LAYOUT_UNKNOWN;
    buffer.flags = TTMEM_FLAG_REQUESTED_ONLY;
    ttmem_buffer_allocated(&buffer);
  }

  // The space is not told, so the newest entry with this id is the one.
  void free(int device, std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = buffers_.find({device, id});
    if (found == buffers_.end()) {
      ttmem_anomaly(TTMEM_ANOMALY_UNKNOWN_FREE);
      return;
    }
    BufferEntry& entry = found->second.back();
    if (--entry.references > 0) return;
    ttmem_buffer_freed(device_entry(device).allocator, entry.space, id);
    found->second.pop_back();
    if (found->second.empty()) buffers_.erase(found);
  }

  // Many programs use one address: every registration is a record of its own.
  void allocate_cb(int device, std::uint64_t bytes, std::uint64_t id, std::uint8_t index,
                   ttmem_cores_t cores) {
    const std::lock_guard lock(mutex_);
    ttmem::ProgramRecord record(next_id_++, device_entry(device).set, "circular buffer");
    ttmem_range range{};
    range.address = id;
    range.size = bytes;
    range.cores = cores;
    range.part = TTMEM_PART_CB;
    range.index = index;
    record.ranges.push_back(range);
    record.publish();
    circular_buffers_[{device, id}].push_back(std::move(record));
  }

  // The registration with these bytes, else the newest; 0 bytes: the newest.
  void free_cb(int device, std::uint64_t bytes, std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = circular_buffers_.find({device, id});
    if (found == circular_buffers_.end()) {
      ttmem_anomaly(TTMEM_ANOMALY_UNKNOWN_FREE);
      return;
    }
    std::vector<ttmem::ProgramRecord>& records = found->second;
    std::size_t chosen = records.size() - 1;
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (records[i].ranges.front().size == bytes) chosen = i;
    }
    records[chosen].release();
    std::vector<ttmem::ProgramRecord> kept;
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (i != chosen) kept.push_back(std::move(records[i]));
    }
    records.swap(kept);
    if (records.empty()) circular_buffers_.erase(found);
  }

  // A load of a kernel that is loaded, with the same size and type, is one more launch of it.
  void load_kernel(int device, std::uint64_t bytes, std::uint64_t id, std::uint8_t type) {
    const std::lock_guard lock(mutex_);
    const std::uint32_t packed =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
    const auto found = kernels_.find({device, id});
    if (found != kernels_.end()) {
      if (found->second.first == type &&
          found->second.second.kernels.front().packed_bytes == packed) {
        found->second.second.dispatch();
        return;
      }
      kernels_.erase(found);
    }
    ttmem::ProgramRecord record(next_id_++, device_entry(device).set, "kernel", 0, type);
    ttmem_kernel kernel{};
    kernel.packed_bytes = packed;
    kernel.processor = 255;
    kernel.core_type = type == TTMEM_KERNEL_FABRIC ? TTMEM_CORE_ACTIVE_ETH : TTMEM_CORE_TENSIX;
    record.kernels.push_back(kernel);
    record.dispatch();
    kernels_.emplace(Key{device, id}, std::make_pair(type, std::move(record)));
  }

  void unload_kernel(int device, std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    if (kernels_.erase({device, id}) == 0) ttmem_anomaly(TTMEM_ANOMALY_UNKNOWN_FREE);
  }

  // Everything of a device, when it closes.
  void close(int device) {
    const std::lock_guard lock(mutex_);
    std::erase_if(buffers_, [&](const auto& one) { return one.first.first == device; });
    std::erase_if(circular_buffers_, [&](const auto& one) { return one.first.first == device; });
    std::erase_if(kernels_, [&](const auto& one) { return one.first.first == device; });
    const auto found = devices_.find(device);
    if (found == devices_.end()) return;
    ttmem_allocator_closed(found->second.allocator);
    ttmem_device_closed(ttmem::find_device(device));
    devices_.erase(found);
  }

 private:
  using Key = std::pair<int, std::uint64_t>;

  DeviceEntry& device_entry(int device) {
    const auto found = devices_.find(device);
    if (found != devices_.end()) return found->second;
    describe_source();
    const ttmem_set_t set = ttmem::set_of({device});
    ttmem_allocator_info info{};
    info.struct_size = sizeof info;
    info.set = set;
    return devices_.emplace(device, DeviceEntry{set, ttmem_allocator_opened(&info)}).first->second;
  }

  void describe_source() {
    if (std::exchange(described_, true)) return;
    ttmem_process_info info{};
    info.struct_size = sizeof info;
    info.source = TTMEM_SOURCE_PATCHED;
    ttmem_process_described(&info);
  }

  std::mutex mutex_;
  std::map<int, DeviceEntry> devices_;
  std::map<Key, std::vector<BufferEntry>> buffers_;
  std::map<Key, std::vector<ttmem::ProgramRecord>> circular_buffers_;
  std::map<Key, std::pair<std::uint8_t, ttmem::ProgramRecord>> kernels_;
  std::uint64_t next_id_ = std::uint64_t{3} << 61;  // the runtime's own ids count up from 0
  bool described_ = false;
};

inline bool switched_on() {
  const char* value = std::getenv("TT_ALLOC_TRACKING_ENABLED");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace records

// Only with TT_ALLOC_TRACKING_ENABLED=1, as in the original; neither with TTMEM_DISABLE=1 nor while
// hooks record this process.
inline bool is_tracking_enabled() {
  static const bool on = records::switched_on();
  return on && ttmem_enabled() && !ttmem::hooked();
}

// A buffer: `buffer_type` is TT-Metal's number, `buffer_id` unique on the device while it lives.
inline void report_buffer_allocation(int device_id, std::uint64_t size, std::uint8_t buffer_type,
                                     std::uint64_t buffer_id) {
  if (!is_tracking_enabled()) return;
  records::Ledger::instance().allocate(device_id, size, buffer_type, buffer_id);
}

inline void report_buffer_deallocation(int device_id, std::uint64_t buffer_id) {
  if (!is_tracking_enabled()) return;
  records::Ledger::instance().free(device_id, buffer_id);
}

// A circular buffer: `size` bytes on each core of `core_ranges` (a CoreRangeSet, a CoreRange, ...).
// `buffer_index` names it; free it by the same number.
template <class CoreRanges>
void report_cb_allocation(int device_id, std::uint64_t size, std::uint32_t buffer_index,
                          const CoreRanges& core_ranges) {
  if (!is_tracking_enabled()) return;
  records::Ledger::instance().allocate_cb(
      device_id, size, buffer_index, static_cast<std::uint8_t>(buffer_index),
      ttmem::intern_cores(TTMEM_CORE_TENSIX, ttmem::shapes::ranges_of(core_ranges)));
}

inline void report_cb_deallocation(int device_id, std::uint32_t buffer_index) {
  if (!is_tracking_enabled()) return;
  records::Ledger::instance().free_cb(device_id, 0, buffer_index);
}

// A kernel: `total_size` is binary bytes times cores.
inline void report_kernel_allocation(int device_id, std::uint64_t total_size,
                                     std::uint64_t kernel_id,
                                     std::uint8_t kernel_type = KERNEL_TYPE_APPLICATION) {
  if (!is_tracking_enabled()) return;
  records::Ledger::instance().load_kernel(device_id, total_size, kernel_id, kernel_type);
}

inline void report_kernel_deallocation(int device_id, std::uint64_t kernel_id) {
  if (!is_tracking_enabled()) return;
  records::Ledger::instance().unload_kernel(device_id, kernel_id);
}

// The end of a device and of everything on it.
inline void report_device_closed(int device_id) {
  if (!is_tracking_enabled()) return;
  records::Ledger::instance().close(device_id);
}

}  // namespace allocation_tracker

// ---- the client of the original ---------------------------------------------------------------

class AllocationClient {
 public:
  TTMEM_EMITTED static void report_allocation(int device_id, std::uint64_t size,
                                              std::uint8_t buffer_type, std::uint64_t buffer_id) {
    allocation_tracker::report_buffer_allocation(device_id, size, buffer_type, buffer_id);
  }
  TTMEM_EMITTED static void report_deallocation(int device_id, std::uint64_t buffer_id) {
    allocation_tracker::report_buffer_deallocation(device_id, buffer_id);
  }
  TTMEM_EMITTED static void report_cb_allocation(int device_id, std::uint64_t size,
                                                 std::uint64_t cb_id) {
    if (!is_enabled()) return;
    allocation_tracker::records::Ledger::instance().allocate_cb(device_id, size, cb_id, 0, 0);
  }
  TTMEM_EMITTED static void report_cb_deallocation(int device_id, std::uint64_t size,
                                                   std::uint64_t cb_id) {
    if (!is_enabled()) return;
    allocation_tracker::records::Ledger::instance().free_cb(device_id, size, cb_id);
  }
  TTMEM_EMITTED static void report_kernel_load(int device_id, std::uint64_t size,
                                               std::uint64_t kernel_id,
                                               std::uint8_t kernel_type = 0) {
    allocation_tracker::report_kernel_allocation(device_id, size, kernel_id, kernel_type);
  }
  // The size is not believed: what was told at the load is what is taken back.
  TTMEM_EMITTED static void report_kernel_unload(int device_id, std::uint64_t /*size*/,
                                                 std::uint64_t kernel_id) {
    allocation_tracker::report_kernel_deallocation(device_id, kernel_id);
  }
  TTMEM_EMITTED static bool is_enabled() { return allocation_tracker::is_tracking_enabled(); }
};

// ---- kernel tracking at dispatch --------------------------------------------------------------

// The body of GraphTracker::track_kernel_load: `kernel_size` is the binary, `num_cores` the cores
// that hold it.
template <class Device>
void track_kernel_load(std::uint64_t kernel_size, std::uint64_t kernel_id, const Device* device,
                       std::uint8_t kernel_type = 0, std::uint32_t num_cores = 1) {
  if (device == nullptr) return;
  allocation_tracker::report_kernel_allocation(static_cast<int>(device->id()),
                                               kernel_size * num_cores, kernel_id, kernel_type);
}

template <class Device>
void track_kernel_unload(std::uint64_t kernel_id, const Device* device) {
  if (device == nullptr) return;
  allocation_tracker::report_kernel_deallocation(static_cast<int>(device->id()), kernel_id);
}

namespace detail {

template <class Program>
std::uint32_t ttmem_cores_of_program(Program& program) {
  std::uint32_t cores = 0;
  if constexpr (requires { program.impl().logical_cores(); }) {
    for (const auto& of_type : program.impl().logical_cores()) {
      cores += static_cast<std::uint32_t>(of_type.size());
    }
  }
  return cores == 0 ? 1 : cores;
}

// Call it where a program is launched. A launch of a loaded program adds no byte. On a mesh it
// tells of every device; the program's runtime id names it.
template <class Device, class Program, class Mesh = distributed::MeshDevice>
void TrackKernelDispatch(Device* device, Program& program) {
  const std::uint64_t bytes = program.impl().get_kernel_bins_size();
  if (bytes == 0) return;
  const std::uint64_t id = program.get_runtime_id();
  const std::uint32_t cores = ttmem_cores_of_program(program);
  if constexpr (requires { device->get_devices(); }) {
    for (const auto* one : device->get_devices()) track_kernel_load(bytes, id, one, 0, cores);
  } else {
    if constexpr (requires(Mesh* mesh) {
                    sizeof(Mesh);
                    mesh->get_devices();
                  }) {
      if (auto* mesh = dynamic_cast<Mesh*>(device)) {
        for (const auto* one : mesh->get_devices()) track_kernel_load(bytes, id, one, 0, cores);
        return;
      }
    }
    track_kernel_load(bytes, id, device, 0, cores);
  }
}

}  // namespace detail
}  // namespace tt::tt_metal

#undef TTMEM_EMITTED
#endif  // TTMEM_ALLOCATION_TRACKER_HPP
