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
// A release brings no size: what was told first is what is taken back. What cannot be right (a
// release of something unknown, a size of nothing, an id that is live with other values) is counted
// as an anomaly, with its id, as the original's server refuses it. While hooks record this process
// (ttmem run, ttmem.track()) every call here does nothing.
#ifndef TTMEM_ALLOCATION_TRACKER_HPP
#define TTMEM_ALLOCATION_TRACKER_HPP

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <ttmem/core_shapes.hpp>
#include <ttmem/ttmem.hpp>
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

// What is beyond every chip: the server of the original's protocol refuses the same.
inline constexpr int kDevices = 255;
inline constexpr std::uint64_t kMostBytes = std::uint64_t{100} << 30;
inline constexpr std::uint8_t kSpaces = 5;
inline constexpr std::uint32_t kMostCores = 1024;

// Kernel code as somebody told it. Without a number of cores, `bytes` are those of all cores.
struct Code {
  std::uint64_t bytes = 0;
  std::uint32_t cores = 0;  // 0 = not known
  std::uint8_t type = 0;
  friend bool operator==(const Code&, const Code&) = default;
};

struct KernelEntry {
  Code code;
  ttmem::ProgramRecord record;
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
    if (!accepts(device, bytes) || bytes == 0 || space >= kSpaces) return refuse(id);
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
    if (found == buffers_.end()) return unknown(TTMEM_ANOMALY_UNKNOWN_FREE, device, id);
    BufferEntry& entry = found->second.back();
    if (--entry.references > 0) return;
    ttmem_buffer_freed(device_entry(device).allocator, entry.space, id);
    found->second.pop_back();
    if (found->second.empty()) buffers_.erase(found);
  }

  // Many programs use one address or index: every registration is a record of its own.
  void allocate_cb(int device, std::uint64_t bytes, std::uint64_t id, ttmem_cores_t cores) {
    const std::lock_guard lock(mutex_);
    if (!accepts(device, bytes)) return refuse(id);
    ttmem::ProgramRecord record(next_id_++, device_entry(device).set, "circular buffer",
                                TTMEM_FLAG_REQUESTED_ONLY | TTMEM_FLAG_LAUNCHES_UNTOLD);
    ttmem_range range = ttmem::circular_buffer_named(id);
    range.size = bytes;
    range.cores = cores;
    record.ranges.push_back(range);
    record.publish();
    circular_buffers_[{device, id}].push_front(std::move(record));
  }

  // The registration with these bytes on these cores, else with these bytes, else the newest.
  void free_cb(int device, std::uint64_t bytes, std::uint64_t id, ttmem_cores_t cores = 0) {
    const std::lock_guard lock(mutex_);
    const auto found = circular_buffers_.find({device, id});
    if (found == circular_buffers_.end()) {
      return unknown(TTMEM_ANOMALY_UNKNOWN_PROGRAM, device, id);
    }
    auto& records = found->second;
    const auto is_less_like = [&](const auto& a, const auto& b) {
      const ttmem_range &x = a.ranges.front(), &y = b.ranges.front();
      return std::pair(x.size == bytes, x.cores == cores) <
             std::pair(y.size == bytes, y.cores == cores);
    };
    records.erase(std::max_element(records.begin(), records.end(), is_less_like));
    if (records.empty()) circular_buffers_.erase(found);
  }

  // A load of what is loaded is one more launch of it. Other code under a live id takes its place,
  // and that is counted: ids of kernels restart in every program, see kernel_id().
  void load_kernel(int device, std::uint64_t id, const Code& code) {
    const std::lock_guard lock(mutex_);
    if (!accepts(device, code.bytes) || code.bytes > UINT32_MAX) return refuse(id);
    const auto found = kernels_.find({device, id});
    if (found != kernels_.end() && found->second.code == code) {
      found->second.record.dispatch();
      return;
    }
    const ttmem_set_t set = device_entry(device).set;
    if (found != kernels_.end()) {
      kernels_.erase(found);
      ttmem_anomaly_of(TTMEM_ANOMALY_REPLACED, id, set);
    }
    // A type that nobody knows counts all the same, as the original's server counts it.
    const std::uint8_t type = code.type < TTMEM_KERNEL_TYPES ? code.type : KERNEL_TYPE_APPLICATION;
    ttmem::ProgramRecord record(program_for(id, code), set, "kernel", TTMEM_FLAG_REQUESTED_ONLY,
                                type);
    ttmem_kernel kernel{};
    kernel.packed_bytes = static_cast<std::uint32_t>(code.bytes);
    kernel.processor = 255;
    kernel.core_type = ttmem::usual_core_type(code.type);
    if (record.id() != id) kernel.name = ttmem::intern_hex(id);
    if (code.cores != 0) kernel.cores = ttmem_intern_core_count(kernel.core_type, code.cores);
    record.kernels.push_back(kernel);
    record.dispatch();
    kernels_.emplace(Key{device, id}, KernelEntry{code, std::move(record)});
  }

  void unload_kernel(int device, std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    if (kernels_.erase({device, id}) == 0) unknown(TTMEM_ANOMALY_UNKNOWN_PROGRAM, device, id);
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

  static bool accepts(int device, std::uint64_t bytes) {
    return device >= 0 && device < kDevices && bytes <= kMostBytes;
  }
  static void refuse(std::uint64_t id) { ttmem_anomaly_of(TTMEM_ANOMALY_BAD_VALUE, id, 0); }
  void unknown(std::uint32_t anomaly, int device, std::uint64_t id) {
    const bool known = device >= 0 && device < kDevices;
    ttmem_anomaly_of(anomaly, id, known ? device_entry(device).set : ttmem_set_t{0});
  }

  // The id that was told, unless another device has other code under it.
  std::uint64_t program_for(std::uint64_t id, const Code& code) {
    bool taken = id >= ttmem::kFirstOwnId;
    for (const auto& [device, entry] : devices_) {
      const auto other = kernels_.find({device, id});
      if (other == kernels_.end()) continue;
      taken |= other->second.record.id() == id && other->second.code != code;
    }
    return taken ? next_id_++ : id;
  }

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
  std::map<Key, std::list<ttmem::ProgramRecord>> circular_buffers_;  // the newest first
  std::map<Key, KernelEntry> kernels_;
  std::uint64_t next_id_ = 3 * ttmem::kFirstOwnId;
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
template <class CoreRanges>
void report_cb_allocation(int device_id, std::uint64_t size, std::uint32_t buffer_index,
                          const CoreRanges& core_ranges) {
  if (!is_tracking_enabled()) return;
  records::Ledger::instance().allocate_cb(
      device_id, size, buffer_index,
      ttmem::intern_cores(TTMEM_CORE_TENSIX, ttmem::shapes::ranges_of(core_ranges)));
}

// Its end. Programs use the same indices, so it is named by all that it was reported with.
template <class CoreRanges>
void report_cb_deallocation(int device_id, std::uint64_t size, std::uint32_t buffer_index,
                            const CoreRanges& core_ranges) {
  if (!is_tracking_enabled()) return;
  records::Ledger::instance().free_cb(
      device_id, size, buffer_index,
      ttmem::intern_cores(TTMEM_CORE_TENSIX, ttmem::shapes::ranges_of(core_ranges)));
}

// The id of a kernel that nothing else in the process has: handles restart in every program, so two
// programs' first kernels would be one. `program` is the program's get_id(), not a pointer.
inline std::uint64_t kernel_id(std::uint64_t program, std::uint32_t handle) {
  return program << 32 | handle;
}

// A kernel: `total_size` is binary bytes times cores, of which nothing else is known then.
inline void report_kernel_allocation(int device_id, std::uint64_t total_size,
                                     std::uint64_t kernel_id,
                                     std::uint8_t kernel_type = KERNEL_TYPE_APPLICATION) {
  if (!is_tracking_enabled()) return;
  records::Ledger::instance().load_kernel(device_id, kernel_id, {total_size, 0, kernel_type});
}

// The same with the size of the binary and the number of cores that hold it; 0 cores = not known.
inline void report_kernel_load(int device_id, std::uint64_t binary_size, std::uint32_t num_cores,
                               std::uint64_t kernel_id,
                               std::uint8_t kernel_type = KERNEL_TYPE_APPLICATION) {
  if (!is_tracking_enabled()) return;
  records::Code code{binary_size, num_cores, kernel_type};
  if (num_cores > records::kMostCores) code = {binary_size * num_cores, 0, kernel_type};
  records::Ledger::instance().load_kernel(device_id, kernel_id, code);
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
    allocation_tracker::records::Ledger::instance().allocate_cb(device_id, size, cb_id, 0);
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
  allocation_tracker::report_kernel_load(static_cast<int>(device->id()), kernel_size, num_cores,
                                         kernel_id, kernel_type);
}

template <class Device>
void track_kernel_unload(std::uint64_t kernel_id, const Device* device) {
  if (device == nullptr) return;
  allocation_tracker::report_kernel_deallocation(static_cast<int>(device->id()), kernel_id);
}

namespace detail {

// All that a program's implementation lets one ask, whatever the release. Empty = it does not say.
template <class Impl>
std::optional<std::uint64_t> ttmem_binary_bytes(const Impl& impl) {
  std::optional<std::uint64_t> bytes;
  if constexpr (requires { impl.get_kernel_bins_size(); }) {
    // 0 says nothing: kernels that go through the ring buffer are not in the config buffer.
    if (impl.get_kernel_bins_size() != 0) bytes = impl.get_kernel_bins_size();
  }
  if constexpr (requires { impl.get_program_transfer_info().binary_data.size(); }) {
    const auto& words = impl.get_program_transfer_info().binary_data;
    if (!bytes) bytes = words.size() * sizeof(std::uint32_t);
  } else if constexpr (requires { impl.program_transfer_info.binary_data.size(); }) {
    if (!bytes) bytes = impl.program_transfer_info.binary_data.size() * sizeof(std::uint32_t);
  }
  return bytes;
}

template <class Impl>
std::optional<bool> ttmem_has_kernels(const Impl& impl) {
  if constexpr (requires { impl.num_kernels(); }) {
    return impl.num_kernels() > 0;
  } else {
    return std::nullopt;
  }
}

template <class Impl>
std::uint32_t ttmem_cores_of(const Impl& impl) {
  std::uint32_t cores = 0;
  if constexpr (requires { impl.logical_cores(); }) {
    for (const auto& of_type : impl.logical_cores()) {
      cores += static_cast<std::uint32_t>(of_type.size());
    }
  }
  return cores;
}

// The runtime id where somebody set one, else the program's own.
template <class Program>
std::uint64_t ttmem_id_of(Program& program) {
  std::uint64_t id = 0;
  if constexpr (requires { program.get_runtime_id(); }) id = program.get_runtime_id();
  if constexpr (requires { program.impl().get_id(); }) {
    if (id == 0) id = program.impl().get_id();
  }
  return id;
}

// Calls tell(device) for the device, or for every device of a mesh.
template <class Mesh, class Device, class Tell>
void ttmem_for_each_device(Device* device, Tell tell) {
  if constexpr (requires { device->get_devices(); }) {
    for (const auto* one : device->get_devices()) tell(one);
  } else {
    if constexpr (requires(Mesh* mesh) {
                    sizeof(Mesh);
                    mesh->get_devices();
                  }) {
      if (auto* mesh = dynamic_cast<Mesh*>(device)) {
        for (const auto* one : mesh->get_devices()) tell(one);
        return;
      }
    }
    tell(device);
  }
}

// Call it where a program is launched. A launch of a loaded program adds no byte. On a mesh it
// tells of every device; the program's runtime id names it. `kernel_bytes`: the size of its
// binaries, where the caller can ask and this header cannot (0 = ask the program). A program of
// which nobody says the size is counted as an anomaly, with its id, and not as nothing.
template <class Device, class Program, class Mesh = distributed::MeshDevice>
void TrackKernelDispatch(Device* device, Program& program, std::uint64_t kernel_bytes = 0,
                         std::uint8_t kernel_type = KERNEL_TYPE_APPLICATION) {
  if (device == nullptr || !allocation_tracker::is_tracking_enabled()) return;
  const std::uint64_t id = ttmem_id_of(program);
  std::optional<std::uint64_t> bytes = kernel_bytes;
  if (kernel_bytes == 0) {
    const std::optional<bool> any = ttmem_has_kernels(program.impl());
    bytes = ttmem_binary_bytes(program.impl());
    if (any == false || (!any && bytes == 0u)) return;
  }
  if (bytes.value_or(0) == 0) {
    ttmem_anomaly_of(TTMEM_ANOMALY_BAD_VALUE, id, 0);
    return;
  }
  const std::uint32_t cores = ttmem_cores_of(program.impl());
  ttmem_for_each_device<Mesh>(device, [&](const auto* one) {
    allocation_tracker::report_kernel_load(static_cast<int>(one->id()), *bytes, cores, id,
                                           kernel_type);
  });
}

}  // namespace detail
}  // namespace tt::tt_metal

#undef TTMEM_EMITTED
#endif  // TTMEM_ALLOCATION_TRACKER_HPP
