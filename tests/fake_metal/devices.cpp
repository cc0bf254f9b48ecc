// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "fake_metal.hpp"
#include "observed.hpp"

namespace tt::tt_metal {

IDevice::~IDevice() = default;

const std::vector<CoreRange>& CoreRangeSet::ranges() const { return ranges_; }

SharedMemoryStatsProvider::SharedMemoryStatsProvider(unsigned long, int, bool, bool) {
  fake::maybe_throw("SharedMemoryStatsProvider");
}

Device::Device(MetalEnv*, MetalContext*, int id, unsigned char queues, unsigned long l1_small,
               unsigned long trace, std::span<const std::uint32_t> remap, bool minimal, unsigned,
               unsigned, unsigned long worker_l1)
    : id_(id) {
  fake::maybe_throw("Device");
  SharedMemoryStatsProvider(fake::kUniqueId, id, false, false);
  initialize(queues, l1_small, trace, worker_l1, remap, minimal);
}

bool Device::initialize(unsigned char, unsigned long, unsigned long, unsigned long,
                        std::span<const std::uint32_t>, bool) {
  fake::maybe_throw("initialize");
  allocator_ = std::make_unique<AllocatorImpl>();
  fake::observed::opened(*this, id_);
  return true;
}

bool Device::close() {
  fake::maybe_throw("close");
  allocator_.reset();
  fake::observed::ended(experimental::ObservedThing::DEVICE, static_cast<std::uint64_t>(id_));
  return true;
}

bool Device::compile_fabric() {
  fake::maybe_throw("compile_fabric");
  const fake::observed::Building building(experimental::ObservedOwner::FABRIC);
  static detail::ProgramImpl router(
      3000, "tt_metal/fabric/impl/kernels/edm_fabric/fabric_erisc_router.cpp", 0);
  router.compile(this);
  return true;
}

void Device::configure_fabric() { fake::maybe_throw("configure_fabric"); }

void Device::configure_command_queue_programs(DispatchTopology*) {
  fake::maybe_throw("configure_command_queue_programs");
}

int Device::arch() const { return 2; }
xy_pair Device::compute_with_storage_grid_size() const { return {2, 2}; }
xy_pair Device::logical_grid_size() const { return {2, 3}; }
int Device::num_dram_channels() const { return fake::kDramBanks; }
std::uint32_t Device::l1_size_per_core() const { return fake::kL1Bytes; }
const std::unique_ptr<AllocatorImpl>& Device::allocator_impl() const { return allocator_; }

std::uint32_t hal::get_max_worker_l1_unreserved_size() { return fake::kL1Bytes - fake::kRingBase; }

void DispatchKernelInitializer::compile_dispatch_kernels() {
  fake::maybe_throw("compile_dispatch_kernels");
  const fake::observed::Building building(experimental::ObservedOwner::DISPATCH);
  static detail::ProgramImpl prefetch(5000, "tt_metal/impl/dispatch/kernels/cq_prefetch.cpp", 0);
  prefetch.compile(device);
}

namespace distributed {

std::size_t MeshCoordinate::dims() const { return 2; }
std::uint32_t MeshCoordinate::operator[](int index) const { return value_[index]; }
const MeshCoordinate& MeshCoordinateRange::start_coord() const { return start_; }
const MeshCoordinate& MeshCoordinateRange::end_coord() const { return end_; }

MeshDevice::~MeshDevice() = default;
std::vector<int> MeshDevice::get_device_ids() const { return {0}; }
std::size_t MeshDevice::num_rows() const { return 1; }
std::size_t MeshDevice::num_cols() const { return 1; }
void MeshDevice::release_mesh_trace(const MeshTraceId& trace) {
  fake::maybe_throw("release_mesh_trace");
  fake::observed::traced(experimental::ObservedTraceStep::RELEASED, trace.value, nullptr, 0);
}

void MeshDeviceImpl::reshape(const MeshShape&) { fake::maybe_throw("reshape"); }

bool MeshDeviceImpl::close_impl(MeshDevice* mesh) {
  fake::maybe_throw("close_impl");
  for (FDMeshCommandQueue* queue : mesh->queues) queue->give_up();
  return true;
}

std::vector<int> MeshDeviceImpl::get_device_ids() const { return mesh_->get_device_ids(); }
AllocatorImpl* const& MeshDeviceImpl::allocator_impl() const { return mesh_->allocator; }

void MeshDeviceImpl::end_mesh_trace(unsigned char, const MeshTraceId&) {
  fake::maybe_throw("end_mesh_trace");
  queue_->record_end();
  constexpr std::uint64_t kRegion = fake::kTraceBankBytes * fake::kDramBanks;
  if (trace_bytes <= kRegion) return;
  const std::string message = "Creating trace buffers of size " + std::to_string(trace_bytes) +
                              "B on MeshDevice 1, but only " + std::to_string(kRegion) +
                              "B is allocated for trace region.";
  fake::observed::trace_too_large(*mesh_, message.c_str());
  throw std::runtime_error(message);
}

}  // namespace distributed
}  // namespace tt::tt_metal
