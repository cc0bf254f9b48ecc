// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "fake_metal.hpp"
#include "observed.hpp"

namespace tt::tt_metal {

namespace {
const CoreRange kAllWorkers{{0, 0}, {1, 1}};
constexpr std::uint32_t kArgumentBytes = 208;
}  // namespace

Kernel::Kernel(std::string name, std::string source, std::size_t packed, std::set<xy_pair> cores)
    : name_(std::move(name)),
      source_(std::move(source)),
      packed_(packed),
      cores_(std::move(cores)) {}

detail::KernelMeta Kernel::meta(IDevice*) const {
  return {name_, source_, 0, 0, std::nullopt, {{0, packed_}}};
}

const std::set<xy_pair>& Kernel::logical_cores() const { return cores_; }

void Kernel::process_scratchpad_binding_handles(const ScratchpadVisitor& visit) const {
  if (scratchpad_bytes) visit("scratch", 1, scratchpad_bytes, std::nullopt);
}

std::vector<std::uint32_t>& Kernel::common_runtime_args() { return common_arguments_; }

void GraphTracker::track_allocate_cb(const CoreRangeSet&, unsigned long, unsigned long, bool,
                                     const IDevice*) {
  fake::maybe_throw("track_allocate_cb");
}

void Inspector::program_compile_finished(const detail::ProgramImpl*, const IDevice*,
                                         unsigned long) {
  fake::maybe_throw("program_compile_finished");
}

void Inspector::program_destroyed(const detail::ProgramImpl*) {}

void slow_dispatch::ConfigureDeviceWithProgram(IDevice& device, Program& program, bool) {
  fake::maybe_throw("ConfigureDeviceWithProgram");
  fake::observed::launched_slowly(*program.impl_, device);
}

namespace detail {

ProgramImpl::ProgramImpl(std::size_t kernel_bytes, std::string source, std::uint64_t cb_bytes)
    : config_sizes_{static_cast<std::uint32_t>(kernel_bytes) + kArgumentBytes, 0, 0},
      cb_bytes_(cb_bytes) {
  static std::uint64_t next = 0;
  id_ = next++;
  const std::set<xy_pair> workers = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
  const std::string name = "kernel_" + std::to_string(kernel_bytes) + "/1/";
  kernels_[0][0] = std::make_shared<Kernel>(name, std::move(source), kernel_bytes, workers);
}

ProgramImpl::~ProgramImpl() {
  Inspector::program_destroyed(this);
  fake::observed::ended(experimental::ObservedThing::PROGRAM, id_ + 1);
}

void ProgramImpl::compile(IDevice* device) {
  if (!compiled_) {
    Inspector::program_compile_finished(this, device, 1);
    allocate_circular_buffers(device);
    allocate_dataflow_buffers(device);
    allocate_scratchpads(device);
    compiled_ = true;
    tell(device);
  }
  validate_circular_buffer_region(device);
  validate_dataflow_buffer_region(device);
}

void ProgramImpl::tell(const IDevice* device) const {
  using experimental::ObservedPart;
  std::vector<experimental::ObservedRange> ranges;
  std::uint64_t next = fake::kL1Base;
  const auto add = [&](ObservedPart part, std::uint64_t bytes) {
    if (bytes) ranges.push_back({part, next, bytes, {}});
    next += bytes;
  };
  add(ObservedPart::CIRCULAR_BUFFER, cb_bytes_);
  add(ObservedPart::DATAFLOW_BUFFER, dataflow_bytes);
  add(ObservedPart::SCRATCHPAD, scratchpad_bytes);
  fake::observed::placed(*this, device, ranges);
}

std::uint64_t ProgramImpl::get_id() const { return id_; }

std::unordered_map<std::uint32_t, std::shared_ptr<Kernel>>& ProgramImpl::get_kernels(
    std::uint32_t core_type) {
  return kernels_[core_type];
}

std::uint32_t& ProgramImpl::get_program_config_size(std::uint32_t core_type) {
  return config_sizes_[core_type];
}

void ProgramImpl::allocate_circular_buffers(const IDevice* device) {
  fake::maybe_throw("allocate_circular_buffers");
  if (!cb_bytes_) return;
  GraphTracker tracker;
  tracker.track_allocate_cb(CoreRangeSet({kAllWorkers}), fake::kL1Base, cb_bytes_, false, device);
}

void ProgramImpl::allocate_dataflow_buffers(const IDevice*) {
  fake::maybe_throw("allocate_dataflow_buffers");
  if (!dataflow_bytes) return;
  CircularBufferAllocator allocator{kAllWorkers};
  allocator.mark_address(fake::kL1Base + cb_bytes_, dataflow_bytes, fake::kL1Base);
}

void ProgramImpl::allocate_scratchpads(const IDevice*) {
  fake::maybe_throw("allocate_scratchpads");
  if (!scratchpad_bytes) return;
  // Its mark is that of a scratchpad, not of a dataflow buffer.
  CircularBufferAllocator allocator{kAllWorkers};
  const std::uint64_t address = fake::kL1Base + cb_bytes_ + dataflow_bytes;
  allocator.mark_address(address, scratchpad_bytes, fake::kL1Base);
  Kernel& kernel = *kernels_[0][0];
  kernel.scratchpad_bytes = scratchpad_bytes;
  kernel.common_runtime_args()[1] = static_cast<std::uint32_t>(address);
}

void ProgramImpl::validate_circular_buffer_region(const IDevice*) {
  fake::maybe_throw("validate_circular_buffer_region");
}

void ProgramImpl::validate_dataflow_buffer_region(const IDevice*) {
  fake::maybe_throw("validate_dataflow_buffer_region");
}

void ProgramImpl::CircularBufferAllocator::mark_address(unsigned long, unsigned long,
                                                        unsigned long) {
  fake::maybe_throw("mark_address");
}

}  // namespace detail
}  // namespace tt::tt_metal
