// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// ttmem.hpp: the C ABI of ttmem.h with C++ manners. Header only, C++20, needs libttmem.so.
//
// What begins and ends is an object here: a Tag names what a thread is doing, a Watermark measures
// a stretch of time, a ProgramRecord is a program that is released when the object goes. Everything
// else is the C call itself; ttmem.h says what each one means.
#ifndef TTMEM_TTMEM_HPP
#define TTMEM_TTMEM_HPP

#include <ttmem/ttmem.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ttmem {

// Whether hooks in the runtime record this process. Then calls made by hand add names, not bytes.
inline bool hooked() { return ttmem_hooked() != 0; }

inline ttmem_string_t intern(std::string_view text) {
  return ttmem_intern_string(text.data(), text.size());
}

inline ttmem_string_t intern(const std::source_location& place) {
  return ttmem_intern_line(place.file_name(), place.line(), place.function_name());
}

// "0x1a"
inline ttmem_string_t intern_hex(std::uint64_t number) {
  char text[2 + 16 + 1];
  std::snprintf(text, sizeof text, "0x%" PRIx64, number);
  return intern(text);
}

inline ttmem_cores_t intern_cores(std::uint32_t core_type,
                                  const std::vector<ttmem_core_range>& ranges) {
  if (ranges.empty()) return 0;
  return ttmem_intern_cores(core_type, ranges.data(), static_cast<std::uint32_t>(ranges.size()));
}

// The device of this process that has a Metal id: the one that is open, else the newest; 0 = none.
inline ttmem_device_t find_device(std::int32_t metal_id) {
  ttmem_device_t found = 0;
  ttmem_device_identity identity{};
  identity.struct_size = sizeof identity;
  for (ttmem_device_t device = 1; ttmem_device_read(device, &identity) == 0; ++device) {
    if (identity.metal_id != metal_id) continue;
    found = device;
    if (identity.open != 0) break;
  }
  return found;
}

// The device with a Metal id; opened, with nothing else known about it, if there is none.
inline ttmem_device_t device_of(std::int32_t metal_id) {
  if (const ttmem_device_t known = find_device(metal_id)) return known;
  ttmem_device_info info{};
  info.struct_size = sizeof info;
  info.metal_id = metal_id;
  // The unique id that TT-Metal gives to a chip that has none.
  info.unique_id = static_cast<std::uint64_t>(static_cast<std::uint32_t>(metal_id)) << 32;
  return ttmem_device_opened(&info);
}

inline ttmem_set_t set_of(const std::vector<std::int32_t>& metal_ids) {
  std::vector<ttmem_device_t> devices;
  for (const std::int32_t id : metal_ids) devices.push_back(device_of(id));
  ttmem_set_info info{};
  info.struct_size = sizeof info;
  info.device_count = static_cast<std::uint32_t>(devices.size());
  info.devices = devices.data();
  return ttmem_device_set(&info);
}

// Holdings that this thread makes while a Tag lives carry its operation and source line.
class Tag {
 public:
  explicit Tag(std::string_view operation,
               const std::source_location& place = std::source_location::current()) {
    ttmem_tag_push(intern(operation), intern(place));
  }
  ~Tag() { ttmem_tag_pop(); }
  Tag(const Tag&) = delete;
  Tag& operator=(const Tag&) = delete;
};

// The next step of the program's loop begins, such as a token: see ttmem_next_step.
inline void next_step() { ttmem_next_step(); }

// The most that was taken since it was opened. The true peak of the process stays as it is.
class Watermark {
 public:
  explicit Watermark(std::string_view name) : number_(ttmem_watermark_open(intern(name))) {}
  ~Watermark() {
    if (number_ != 0) ttmem_watermark_close(number_);
  }
  Watermark(const Watermark&) = delete;
  Watermark& operator=(const Watermark&) = delete;

  // False when all watermarks of the process are in use: then every figure reads 0.
  explicit operator bool() const { return number_ != 0; }

  // `taken` is what was taken at the opening, `peak` the most since.
  ttmem_figures read(ttmem_device_t device, std::uint32_t figure) const {
    ttmem_figures figures{};
    if (number_ != 0) ttmem_watermark_read(number_, device, figure, &figures);
    return figures;
  }

 private:
  std::uint32_t number_;
};

// From here on ids are ttmem's own, for what nobody gave one, and people are not shown them. Ids of
// the runtime count up from 0 or are addresses.
inline constexpr std::uint64_t kFirstOwnId = std::uint64_t{1} << 61;

// Where kernels of a type run, for who tells the type and no cores.
inline std::uint8_t usual_core_type(std::uint8_t kernel_type) {
  if (kernel_type == TTMEM_KERNEL_FABRIC) return TTMEM_CORE_ACTIVE_ETH;
  return kernel_type == TTMEM_KERNEL_DISPATCH ? TTMEM_CORE_DISPATCH : TTMEM_CORE_TENSIX;
}

// A circular buffer of which one number is told: its index, or its address, which is never that
// low.
inline ttmem_range circular_buffer_named(std::uint64_t number) {
  constexpr std::uint64_t kIndices = 64;  // that a program may use
  ttmem_range range{};
  range.part = TTMEM_PART_CB;
  range.address = number < kIndices ? 0 : number;
  range.index =
      static_cast<std::uint8_t>(number < kIndices ? number : std::uint64_t{TTMEM_INDEX_UNKNOWN});
  return range;
}

// A program with its kernels and L1 ranges. publish() tells the recorder of its present state, the
// destructor ends it. The id must be unique on its set, and mean the same kernels on every set.
class ProgramRecord {
 public:
  ProgramRecord(std::uint64_t id, ttmem_set_t set, std::string_view name, std::uint32_t flags = 0,
                std::uint8_t type = TTMEM_KERNEL_APPLICATION)
      : id_(id), set_(set), name_(intern(name)), flags_(flags), type_(type) {}
  ~ProgramRecord() { release(); }
  ProgramRecord(ProgramRecord&& other) noexcept
      : kernels(std::move(other.kernels)),
        ranges(std::move(other.ranges)),
        id_(other.id_),
        set_(other.set_),
        name_(other.name_),
        flags_(other.flags_),
        type_(other.type_),
        workload_(std::exchange(other.workload_, 0)),
        live_(std::exchange(other.live_, false)) {}
  ProgramRecord& operator=(ProgramRecord&&) = delete;

  std::vector<ttmem_kernel> kernels;
  std::vector<ttmem_range> ranges;

  std::uint64_t id() const { return id_; }
  ttmem_set_t set() const { return set_; }

  void publish() {
    ttmem_program program{};
    program.struct_size = sizeof program;
    program.type = type_;
    program.set = set_;
    program.id = id_;
    program.workload = workload_;
    program.name = name_;
    program.flags = flags_;
    program.kernel_count = static_cast<std::uint32_t>(kernels.size());
    program.range_count = static_cast<std::uint32_t>(ranges.size());
    program.kernels = kernels.data();
    program.ranges = ranges.data();
    ttmem_program_registered(&program);
    live_ = true;
  }

  // One launch. The first one loads it: from then on its kernels count.
  void dispatch() {
    if (!live_) publish();
    if (workload_ == 0) {
      // One for each set that has the program.
      workload_ = ttmem_workload_created(kFirstOwnId | (id_ ^ std::uint64_t{set_} << 48), set_);
      ttmem_workload_joined(workload_, id_, set_);
    }
    ttmem_dispatched(workload_, 0, 0, 0);
  }

  void release() {
    if (workload_ != 0) ttmem_workload_released(workload_);
    if (live_) ttmem_program_released_on(id_, set_);
    workload_ = 0;
    live_ = false;
  }

 private:
  std::uint64_t id_;
  ttmem_set_t set_;
  ttmem_string_t name_;
  std::uint32_t flags_;
  std::uint8_t type_;
  ttmem_workload_t workload_ = 0;
  bool live_ = false;
};

}  // namespace ttmem

#endif  // TTMEM_TTMEM_HPP
