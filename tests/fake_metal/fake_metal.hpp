// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A small library of our own that exports the names of libtt_metal.so which ttmem observes, and
// calls them in the order in which the public source does on silicon: kernels of the dispatch
// cores, binaries in DRAM, the kernel-config ring and traces, all of which mock chips skip. It
// manages a made-up chip of 2x2 workers with four DRAM banks. Every function can be told to throw.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

/// What a benchmark calls: objects as a program would have them, and one enqueue through the
/// library.
extern "C" {
struct FakeWorld {
  void* allocator;
  void* queue;
  void* workload;
};
FakeWorld* fake_metal_open();
void* fake_metal_buffer(FakeWorld* world, int sharded);
/// A DRAM buffer that stays.
void fake_metal_hold(FakeWorld* world, std::uint64_t bytes);
/// How often this library, and not another of its name, allocated.
unsigned fake_metal_allocations();
}

namespace fake {
/// The function that throws std::runtime_error when it is called next; "" = none.
extern std::string throw_in;
extern unsigned allocations;
void maybe_throw(const char* function);
/// Called while an allocator is asked for its statistics.
extern std::function<void()> while_asked;

inline constexpr std::uint32_t kDramBanks = 4;
inline constexpr std::uint32_t kWorkers = 4;
inline constexpr std::uint64_t kBankBytes = 1 << 20;
inline constexpr std::uint64_t kTraceBankBytes = 4096;
inline constexpr std::uint32_t kL1Bytes = 1499136;
inline constexpr std::uint32_t kRingBase = 35168;
inline constexpr std::uint32_t kRingBytes = 70656;
inline constexpr std::uint32_t kL1Base = kRingBase + kRingBytes;
inline constexpr std::uint64_t kUniqueId = 0x5AA5000000000007;
}  // namespace fake

namespace ttsl {
template <typename T, typename Tag>
struct StrongType {
  T value;
};
}  // namespace ttsl

namespace tt {

struct xy_pair {
  std::size_t x, y;
  bool operator<(const xy_pair& other) const { return y != other.y ? y < other.y : x < other.x; }
  bool operator==(const xy_pair& other) const = default;
};

struct CoreHash {
  std::size_t operator()(const xy_pair& core) const { return core.x + 8 * core.y; }
};

namespace tt_metal {

enum class BufferType { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };
enum class HalMemType : std::uint8_t { L1, DRAM, HOST };
class MetalEnv;
class MetalContext;
class DispatchTopology;
class AllocatorImpl;

struct CoreRange {
  xy_pair start, end;
};

class CoreRangeSet {
 public:
  explicit CoreRangeSet(std::vector<CoreRange> ranges) : ranges_(std::move(ranges)) {}
  const std::vector<CoreRange>& ranges() const;

 private:
  std::vector<CoreRange> ranges_;
};

class IDevice {
 public:
  virtual ~IDevice();
};

struct Statistics {
  std::size_t allocatable, allocated, free, largest_free;
};

/// What the runtime keeps of an allocator besides its buffers.
struct AllocatorState {
  std::uint64_t taken;  ///< of L1, a bank
};

/// Where the bytes of a buffer stand: in every bank, on the first two workers in lock step, or
/// there with an address of its own on each.
enum class Placement { INTERLEAVED, SHARDED, PER_CORE };

struct ShardSpecBuffer {
  CoreRangeSet grid;
  std::uint32_t rest[8];
};

class Buffer {
 public:
  Buffer(IDevice* device, AllocatorImpl* allocator, std::uint64_t size, BufferType type,
         Placement placement = Placement::INTERLEAVED);
  ~Buffer();
  std::uint64_t size() const;
  BufferType buffer_type() const;
  int buffer_layout() const;
  IDevice* device() const;
  std::size_t unique_id() const;
  std::uint64_t aligned_size_per_bank() const;
  std::optional<std::uint32_t> num_cores() const;
  ShardSpecBuffer shard_spec() const;
  std::uint64_t given = 0;
  Placement placement;
  std::unordered_map<xy_pair, std::uint64_t, CoreHash> addresses;  ///< of each core, if they differ

 private:
  IDevice* device_;
  AllocatorImpl* allocator_;
  std::uint64_t size_;
  BufferType type_;
  std::size_t id_;
};

class AllocatorImpl {
 public:
  virtual ~AllocatorImpl();
  std::uint64_t allocate_buffer(Buffer* buffer);
  void deallocate_buffer(Buffer* buffer);
  void deallocate_buffers();
  void clear();
  void shrink_allocator_size(const BufferType& type, unsigned long bytes, bool bottom_up);
  void reset_allocator_size(const BufferType& type);
  void override_state(const AllocatorState& state);
  Statistics get_statistics(const BufferType& type) const;
  std::uint32_t get_num_banks(const BufferType& type) const;
  std::uint32_t get_alignment(BufferType type) const;
  std::uint64_t get_base_allocator_addr(const HalMemType& memory) const;
  xy_pair get_logical_core_from_bank_id(std::uint32_t bank) const;

 private:
  std::uint64_t bank_bytes(BufferType type) const;
  std::map<const Buffer*, std::uint64_t> live_;
  std::uint64_t taken_[5] = {};
  std::uint64_t shrunk_ = 0;
  std::uint64_t next_ = 0;
};

namespace experimental::per_core_allocation {
bool is_per_core_allocation(const Buffer& buffer);
const std::unordered_map<xy_pair, std::uint64_t, CoreHash>& get_per_core_addresses(
    const Buffer& buffer);
}  // namespace experimental::per_core_allocation

class SharedMemoryStatsProvider {
 public:
  SharedMemoryStatsProvider(unsigned long unique_id, int chip, bool disabled, bool verbose);
};

class Device : public IDevice {
 public:
  Device(MetalEnv* env, MetalContext* context, int id, unsigned char queues, unsigned long l1_small,
         unsigned long trace, std::span<const std::uint32_t> remap, bool minimal, unsigned a,
         unsigned b, unsigned long worker_l1);
  bool initialize(unsigned char queues, unsigned long l1_small, unsigned long trace,
                  unsigned long worker_l1, std::span<const std::uint32_t> remap, bool minimal);
  bool close();
  bool compile_fabric();
  void configure_fabric();
  void configure_command_queue_programs(DispatchTopology* topology);
  int arch() const;
  xy_pair compute_with_storage_grid_size() const;
  xy_pair logical_grid_size() const;
  int num_dram_channels() const;
  std::uint32_t l1_size_per_core() const;
  const std::unique_ptr<AllocatorImpl>& allocator_impl() const;

 private:
  int id_;
  std::unique_ptr<AllocatorImpl> allocator_;
};

namespace hal {
std::uint32_t get_max_worker_l1_unreserved_size();
}

class DispatchKernelInitializer {
 public:
  void compile_dispatch_kernels();
  IDevice* device = nullptr;
};

namespace detail {

struct KernelBinaryMeta {
  std::uint32_t processor;
  std::size_t packed_size;
};

struct KernelMeta {
  std::string_view name, source;
  std::uint8_t processor_class;
  int core_type;
  std::optional<std::uint8_t> math_fidelity;
  std::vector<KernelBinaryMeta> binaries;
};

}  // namespace detail

struct LLKMetadata {
  std::uint32_t unused;
};

class Kernel {
 public:
  /// Name, which common argument holds the address, bytes.
  using ScratchpadVisitor = std::function<void(const std::string&, std::uint32_t, std::uint32_t,
                                               const std::optional<LLKMetadata>&)>;
  void process_scratchpad_binding_handles(const ScratchpadVisitor& visit) const;
  std::vector<std::uint32_t>& common_runtime_args();
  std::uint32_t scratchpad_bytes = 0;
  Kernel(std::string name, std::string source, std::size_t packed, std::set<xy_pair> cores);
  detail::KernelMeta meta(IDevice* device) const;
  const std::set<xy_pair>& logical_cores() const;

 private:
  std::string name_, source_;
  std::size_t packed_;
  std::set<xy_pair> cores_;
  std::vector<std::uint32_t> common_arguments_ = {11, 0};
};

namespace detail {

class ProgramImpl {
 public:
  struct CircularBufferAllocator {
    CoreRange core_range;
    void mark_address(unsigned long address, unsigned long size, unsigned long base);
  };

  ProgramImpl(std::size_t kernel_bytes, std::string source, std::uint64_t cb_bytes);
  ~ProgramImpl();
  void compile(IDevice* device);
  std::uint64_t get_id() const;
  std::unordered_map<std::uint32_t, std::shared_ptr<Kernel>>& get_kernels(std::uint32_t core_type);
  std::uint32_t& get_program_config_size(std::uint32_t core_type);
  void allocate_circular_buffers(const IDevice* device);
  void allocate_dataflow_buffers(const IDevice* device);
  void allocate_scratchpads(const IDevice* device);
  void validate_circular_buffer_region(const IDevice* device);
  void validate_dataflow_buffer_region(const IDevice* device);
  /// Beside its circular buffer: a dataflow buffer on every worker, a scratchpad of its kernel.
  std::uint64_t dataflow_bytes = 0;
  std::uint32_t scratchpad_bytes = 0;

 private:
  std::uint64_t id_;
  std::unordered_map<std::uint32_t, std::shared_ptr<Kernel>> kernels_[3];
  std::uint32_t config_sizes_[3];
  void tell(const IDevice* device) const;
  std::uint64_t cb_bytes_;
  bool compiled_ = false;
};

}  // namespace detail

class GraphTracker {
 public:
  void track_allocate_cb(const CoreRangeSet& cores, unsigned long address, unsigned long size,
                         bool global, const IDevice* device);
};

class Inspector {
 public:
  static void program_compile_finished(const detail::ProgramImpl* program, const IDevice* device,
                                       unsigned long build_key);
  static void program_destroyed(const detail::ProgramImpl* program);
};

class Program {
 public:
  explicit Program(std::shared_ptr<detail::ProgramImpl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<detail::ProgramImpl> impl_;
};

namespace slow_dispatch {
void ConfigureDeviceWithProgram(IDevice& device, Program& program, bool force);
}

class WorkerConfigBufferMgr {
 public:
  void init_add_buffer(std::uint32_t base, std::uint32_t size);
  void reserve(const std::vector<std::uint32_t>& sizes);
  void free(std::uint32_t sync);
  void alloc(std::uint32_t sync);
  void mark_completely_full(std::uint32_t sync);
};

namespace distributed {

struct MeshTraceIdTag;
using MeshTraceId = ttsl::StrongType<unsigned int, MeshTraceIdTag>;
struct MeshTraceDescriptor {};

class MeshCoordinate {
 public:
  MeshCoordinate(std::uint32_t row, std::uint32_t column) : value_{row, column} {}
  std::size_t dims() const;
  std::uint32_t operator[](int index) const;

 private:
  std::uint32_t value_[2];
};

class MeshCoordinateRange {
 public:
  MeshCoordinateRange(MeshCoordinate start, MeshCoordinate end) : start_(start), end_(end) {}
  const MeshCoordinate& start_coord() const;
  const MeshCoordinate& end_coord() const;

 private:
  MeshCoordinate start_, end_;
};

class FDMeshCommandQueue;

class MeshDevice : public IDevice {
 public:
  explicit MeshDevice(AllocatorImpl* owner) : allocator(owner) {}
  ~MeshDevice() override;
  std::vector<int> get_device_ids() const;
  std::size_t num_rows() const;
  std::size_t num_cols() const;
  void release_mesh_trace(const MeshTraceId& trace);
  AllocatorImpl* allocator;
  std::vector<FDMeshCommandQueue*> queues;
};

class MeshShape {};

class MeshDeviceImpl {
 public:
  explicit MeshDeviceImpl(MeshDevice* mesh = nullptr, FDMeshCommandQueue* queue = nullptr)
      : mesh_(mesh), queue_(queue) {}
  void reshape(const MeshShape& shape);
  bool close_impl(MeshDevice* mesh);
  void end_mesh_trace(unsigned char queue, const MeshTraceId& trace);
  std::vector<int> get_device_ids() const;
  AllocatorImpl* const& allocator_impl() const;
  std::uint64_t trace_bytes = 0;  ///< of all captures together

 private:
  MeshDevice* mesh_;
  FDMeshCommandQueue* queue_;
};

class MeshWorkload;

class MeshCommandQueue {
 public:
  MeshCommandQueue(MeshDevice* mesh, std::uint32_t id) : mesh_(mesh), id_(id) {}
  virtual ~MeshCommandQueue();
  virtual void enqueue_mesh_workload(MeshWorkload& workload, bool blocking) = 0;
  MeshDevice* mesh_;
  std::uint32_t id_;
};

class MeshBuffer;

class MeshCommandQueueBase : public MeshCommandQueue {
 public:
  using MeshCommandQueue::MeshCommandQueue;
  virtual void enqueue_write_mesh_buffer(const std::shared_ptr<MeshBuffer>& buffer,
                                         const void* data, bool blocking);
};

class FDMeshCommandQueue : public MeshCommandQueueBase {
 public:
  FDMeshCommandQueue(MeshDevice* mesh, std::uint32_t id);
  ~FDMeshCommandQueue() override;
  void give_up();
  void enqueue_mesh_workload(MeshWorkload& workload, bool blocking) override;
  virtual void record_begin(const MeshTraceId& trace,
                            const std::shared_ptr<MeshTraceDescriptor>& text);
  virtual void record_end();
  virtual void enqueue_trace(const MeshTraceId& trace, bool blocking);

 private:
  WorkerConfigBufferMgr rings_;
  std::uint32_t completed_ = 0;
  bool capturing_ = false;
  std::uint64_t trace_ = 0;  ///< that is being captured
};

class MeshWorkloadImpl {
 public:
  ~MeshWorkloadImpl();
  void add_program(const MeshCoordinateRange& range, Program&& program);
  void load_binaries(MeshCommandQueue& queue);
  std::vector<Program> programs;
  std::unique_ptr<Buffer> binaries;
};

class MeshWorkload {
 public:
  std::unique_ptr<MeshWorkloadImpl> impl = std::make_unique<MeshWorkloadImpl>();
};

void EnqueueMeshWorkload(MeshCommandQueue& queue, MeshWorkload& workload, bool blocking);

}  // namespace distributed
}  // namespace tt_metal
}  // namespace tt
