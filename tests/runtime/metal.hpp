// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Declarations of the part of TT-Metal 0.81's public interface that the host program calls. The
// wheel has the library but no header, so these are our own: names and argument types are what the
// linker checks, and classes that are only passed through are blocks that are large enough.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace ttsl {
template <typename T, typename Tag>
struct StrongType {
  T value;
};
}  // namespace ttsl

namespace tt {

enum class DataFormat : std::uint8_t { Float16_b = 5 };

struct xy_pair {
  std::size_t x = 0;
  std::size_t y = 0;
};

namespace tt_metal {

enum class BufferType { DRAM = 0, L1 = 1, SYSTEM_MEMORY = 2, L1_SMALL = 3, TRACE = 4 };
enum class TensorMemoryLayout { INTERLEAVED = 0, HEIGHT_SHARDED = 2, WIDTH_SHARDED, BLOCK_SHARDED };
enum class ShardOrientation { ROW_MAJOR = 0 };
enum class KernelBuildOptLevel : std::uint8_t { O2 = 1, O3 = 2 };
struct SubDeviceIdTag;
using SubDeviceId = ttsl::StrongType<std::uint8_t, SubDeviceIdTag>;

struct CoreRange {
  xy_pair start;
  xy_pair end;
};

class CoreRangeSet {
 public:
  CoreRangeSet(const CoreRange& range);
  CoreRangeSet(const CoreRangeSet& other);
  const std::vector<CoreRange>& ranges() const;
  ~CoreRangeSet() = default;

 private:
  std::vector<CoreRange> ranges_;
};

using CoreSpec = std::variant<xy_pair, CoreRange, CoreRangeSet>;

class IDevice;
class Buffer;

struct ShardSpec {
  CoreRangeSet grid;
  std::array<std::uint32_t, 2> shape;
  ShardOrientation orientation;
};

struct ShardSpecBuffer {
  ShardSpec tensor_shard_spec;
  std::array<std::uint32_t, 2> page_shape;
  std::array<std::uint32_t, 2> tensor2d_shape_in_pages;
};

class BufferShardingArgs {
 public:
  BufferShardingArgs();
  BufferShardingArgs(ShardSpecBuffer spec, TensorMemoryLayout layout);
  ~BufferShardingArgs();

 private:
  alignas(16) std::byte opaque_[1024];
};

class BufferImpl {
 public:
  static std::shared_ptr<Buffer> create(IDevice* device, unsigned long size,
                                        unsigned long page_size, BufferType type,
                                        const BufferShardingArgs& sharding,
                                        std::optional<bool> bottom_up,
                                        std::optional<SubDeviceId> sub_device);
};

class CircularBufferConfig {
 public:
  CircularBufferConfig(std::uint32_t total_size, const std::map<std::uint8_t, DataFormat>& formats);
  CircularBufferConfig(std::uint32_t total_size, const std::map<std::uint8_t, DataFormat>& formats,
                       const Buffer& buffer);
  CircularBufferConfig& set_page_size(std::uint8_t index, std::uint32_t page_size);
  std::uint32_t total_size() const;
  std::optional<std::uint32_t> globally_allocated_address() const;

 private:
  alignas(16) std::byte opaque_[8192];
};

namespace detail {
class ProgramImpl;

struct MemoryView {
  std::uint64_t banks = 0;
  std::size_t bank_bytes = 0;
  std::size_t allocated = 0;
  std::size_t free = 0;
  std::size_t largest_free = 0;
  std::vector<std::unordered_map<std::string, std::string>> blocks;
};

MemoryView GetMemoryView(const IDevice* device, const BufferType& type);
}  // namespace detail

class Program {
 public:
  Program();
  Program(Program&& other);
  ~Program();
  detail::ProgramImpl& impl() { return *impl_; }

 private:
  std::shared_ptr<detail::ProgramImpl> impl_;
};

struct DataMovementConfig {
  int processor = 0;
  std::uint8_t noc = 0;
  std::uint8_t noc_mode = 0;
  std::vector<std::uint32_t> compile_args;
  std::map<std::string, std::string> defines;
  std::unordered_map<std::string, std::uint32_t> named_compile_args;
  KernelBuildOptLevel opt_level = KernelBuildOptLevel::O2;
  std::vector<std::filesystem::path> include_paths;
};

/// Releases add switches in the gaps between these fields, so the gaps are named and zero.
struct ComputeConfig {
  std::uint8_t math_fidelity = 4;
  std::array<bool, 7> switches = {};
  std::vector<std::uint8_t> unpack_to_dest_mode;
  std::array<bool, 8> more_switches = {};
  std::vector<std::uint32_t> compile_args;
  std::map<std::string, std::string> defines;
  std::unordered_map<std::string, std::uint32_t> named_compile_args;
  KernelBuildOptLevel opt_level = KernelBuildOptLevel::O3;
  std::array<bool, 7> last_switches = {};
  std::vector<std::filesystem::path> include_paths;
};

using KernelConfig = std::variant<DataMovementConfig, ComputeConfig>;

std::uint32_t CreateKernelFromString(Program& program, const std::string& source,
                                     const CoreSpec& cores, const KernelConfig& config);
std::uintptr_t CreateCircularBuffer(Program& program, const CoreSpec& cores,
                                    const CircularBufferConfig& config);

class DispatchCoreConfig {
 public:
  std::uint32_t type = 0;
  std::optional<std::uint32_t> axis;
};

class Device {
 public:
  std::uint64_t get_total_cb_allocated() const;
};

namespace distributed {

class MeshCommandQueue;

class MeshCoordinate {
 public:
  MeshCoordinate(std::uint32_t row, std::uint32_t column);

 private:
  alignas(16) std::byte opaque_[256];
};

class MeshCoordinateRange {
 public:
  MeshCoordinateRange(const MeshCoordinate& start, const MeshCoordinate& end);

 private:
  alignas(16) std::byte opaque_[1024];
};

/// All zero: no shape, no offset, no list of chips. It asks for every chip of the host.
struct MeshDeviceConfig {
  alignas(16) std::byte opaque[1024] = {};
};

class MeshDevice {
 public:
  static std::shared_ptr<MeshDevice> create(const MeshDeviceConfig& config, std::size_t l1_small,
                                            std::size_t trace_region, std::size_t queues,
                                            const DispatchCoreConfig& dispatch,
                                            std::span<const std::uint32_t> l1_bank_remap,
                                            std::size_t worker_l1);
  bool close();
  std::vector<int> get_device_ids() const;
  IDevice* get_device(std::size_t row, std::size_t column) const;
  std::size_t num_rows() const;
  std::size_t num_cols() const;
  MeshCommandQueue& mesh_command_queue(std::optional<std::uint8_t> id) const;
};

class MeshWorkload {
 public:
  MeshWorkload();
  ~MeshWorkload();
  void add_program(const MeshCoordinateRange& range, Program&& program);

 private:
  void* impl_ = nullptr;
};

void EnqueueMeshWorkload(MeshCommandQueue& queue, MeshWorkload& workload, bool blocking);

}  // namespace distributed
}  // namespace tt_metal
}  // namespace tt
