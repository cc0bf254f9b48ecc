// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Small stand-ins of TT-Metal's public types: the shapes that the wrappers rely on, and nothing
// behind them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace tt {
enum class DataFormat : std::uint8_t { Float16_b = 5 };
}

namespace tt::tt_metal {

struct CoreCoord {
  std::size_t x = 0, y = 0;
};
struct CoreRange {
  CoreCoord start_coord, end_coord;
};
class CoreRangeSet {
 public:
  explicit CoreRangeSet(std::vector<CoreRange> ranges) : ranges_(std::move(ranges)) {}
  const std::vector<CoreRange>& ranges() const { return ranges_; }
  std::size_t size() const { return ranges_.size(); }

 private:
  std::vector<CoreRange> ranges_;
};
using CoreSpec = std::variant<CoreCoord, CoreRange, CoreRangeSet>;

enum class DataMovementProcessor { RISCV_0 = 0, RISCV_1 = 1 };
enum class Eth : std::uint8_t { SENDER = 0, RECEIVER = 1, IDLE = 2 };
struct DataMovementConfig {
  DataMovementProcessor processor = DataMovementProcessor::RISCV_0;
};
struct ComputeConfig {
  int math_fidelity = 0;
};
struct EthernetConfig {
  Eth eth_mode = Eth::SENDER;
};
using KernelConfig = std::variant<DataMovementConfig, ComputeConfig, EthernetConfig>;

class CircularBufferConfig {
 public:
  CircularBufferConfig(std::uint32_t total_size, const std::map<std::uint8_t, DataFormat>& formats)
      : total_size_(total_size) {
    for (const auto& [index, format] : formats) indices_.insert(index);
  }
  CircularBufferConfig& set_page_size(std::uint8_t index, std::uint32_t bytes) {
    page_sizes_[index] = bytes;
    return *this;
  }
  CircularBufferConfig& set_globally_allocated_address(std::uint32_t address) {
    address_ = address;
    return *this;
  }
  std::uint32_t total_size() const { return total_size_; }
  std::optional<std::uint32_t> globally_allocated_address() const { return address_; }
  const std::unordered_set<std::uint8_t>& buffer_indices() const { return indices_; }
  const std::array<std::optional<std::uint32_t>, 64>& page_sizes() const { return page_sizes_; }

 private:
  std::uint32_t total_size_;
  std::optional<std::uint32_t> address_;
  std::unordered_set<std::uint8_t> indices_;
  std::array<std::optional<std::uint32_t>, 64> page_sizes_{};
};

namespace detail {
struct ProgramTransferInfo {
  std::vector<std::uint32_t> binary_data;
};
struct ProgramImpl {
  std::uint64_t id = 0;
  std::uint64_t get_id() const { return id; }
  ProgramTransferInfo transfer_info;
  const ProgramTransferInfo& get_program_transfer_info() const noexcept { return transfer_info; }
  std::uint64_t kernel_bins_size = 0;
  std::uint64_t get_kernel_bins_size() const { return kernel_bins_size; }
  std::vector<std::vector<CoreCoord>> cores;
  const std::vector<std::vector<CoreCoord>>& logical_cores() const { return cores; }
};
struct KernelBinaryMeta {
  std::uint32_t processor_index;
  std::size_t packed_size;
};
struct KernelMeta {
  std::string_view name, source;
  std::vector<KernelBinaryMeta> binary_meta;
};
}  // namespace detail

class Program {
 public:
  Program() : impl_(std::make_shared<detail::ProgramImpl>()) {}
  Program(Program&&) = default;
  detail::ProgramImpl& impl() { return *impl_; }
  std::uint64_t get_runtime_id() const { return runtime_id; }
  std::uint64_t runtime_id = 0;
  std::uint64_t handles = 0;

 private:
  std::shared_ptr<detail::ProgramImpl> impl_;
};

using CBHandle = std::uintptr_t;
using KernelHandle = std::uint32_t;

inline CBHandle CreateCircularBuffer(Program& program, const CoreSpec&,
                                     const CircularBufferConfig&) {
  return 1000 + program.handles++;
}
inline KernelHandle CreateKernel(Program& program, const std::string&, const CoreSpec&,
                                 const KernelConfig&) {
  return static_cast<KernelHandle>(program.handles++);
}
inline KernelHandle CreateKernelFromString(Program& program, const std::string&, const CoreSpec&,
                                           const KernelConfig&) {
  return static_cast<KernelHandle>(program.handles++);
}

class IDevice {
 public:
  explicit IDevice(int id) : id_(id) {}
  virtual ~IDevice() = default;
  int id() const { return id_; }

 private:
  int id_;
};

namespace distributed {
class MeshDevice : public IDevice {
 public:
  explicit MeshDevice(std::vector<IDevice*> devices) : IDevice(100), devices_(std::move(devices)) {}
  const std::vector<IDevice*>& get_devices() const { return devices_; }
  std::vector<int> get_device_ids() const {
    std::vector<int> ids;
    for (const IDevice* one : devices_) ids.push_back(one->id());
    return ids;
  }

 private:
  std::vector<IDevice*> devices_;
};
}  // namespace distributed
}  // namespace tt::tt_metal

// The forms that the first wrappers were written for: a buffer belongs to a device, and a program
// has one.
namespace early {

struct CircularBuffer {
  std::uint32_t bytes;
};
struct CircularBufferConfig {
  std::uint32_t bytes;
  std::uint8_t index;
  std::uint32_t total_size() const { return bytes; }
  std::uint8_t buffer_index() const { return index; }
};
struct Device {
  int number;
  int id() const { return number; }
};
inline std::shared_ptr<CircularBuffer> CreateCircularBuffer(
    Device*, const std::map<std::uint8_t, tt::DataFormat>&, const CircularBufferConfig& config) {
  return std::make_shared<CircularBuffer>(CircularBuffer{config.bytes});
}

struct Program {
  Device* on;
  Device* device() const { return on; }
  std::uint32_t add_kernel(const tt::tt_metal::KernelConfig&, const tt::tt_metal::CoreRangeSet&) {
    return 7;
  }
};

}  // namespace early
