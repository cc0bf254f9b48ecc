// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "fake_metal.hpp"
#include "observed.hpp"

namespace tt::tt_metal {

namespace {

struct RingTooSmall : std::runtime_error {
  RingTooSmall(const std::string& message, std::uint64_t asked)
      : std::runtime_error(message), bytes(asked) {}
  std::uint64_t bytes;
};

}  // namespace

void WorkerConfigBufferMgr::init_add_buffer(std::uint32_t, std::uint32_t) {
  fake::maybe_throw("init_add_buffer");
}

void WorkerConfigBufferMgr::reserve(const std::vector<std::uint32_t>& sizes) {
  fake::maybe_throw("reserve");
  if (sizes[0] > fake::kRingBytes) {
    throw RingTooSmall("Program size (" + std::to_string(sizes[0]) +
                           ") too large for kernel config buffer (70656) on TENSIX",
                       sizes[0]);
  }
}

void WorkerConfigBufferMgr::free(std::uint32_t) { fake::maybe_throw("free"); }
void WorkerConfigBufferMgr::alloc(std::uint32_t) { fake::maybe_throw("alloc"); }
void WorkerConfigBufferMgr::mark_completely_full(std::uint32_t) {
  fake::maybe_throw("mark_completely_full");
}

namespace distributed {

MeshCommandQueue::~MeshCommandQueue() = default;

void MeshCommandQueueBase::enqueue_write_mesh_buffer(const std::shared_ptr<MeshBuffer>&,
                                                     const void*, bool) {
  fake::maybe_throw("enqueue_write_mesh_buffer");
}

FDMeshCommandQueue::FDMeshCommandQueue(MeshDevice* mesh, std::uint32_t id)
    : MeshCommandQueueBase(mesh, id) {
  mesh->queues.push_back(this);
  rings_.init_add_buffer(fake::kRingBase, fake::kRingBytes);
  rings_.init_add_buffer(258336, 640);
  rings_.init_add_buffer(32368, 25600);
  rings_.init_add_buffer(0, 7);
  rings_.init_add_buffer(0, 1);
}

FDMeshCommandQueue::~FDMeshCommandQueue() { std::erase(mesh_->queues, this); }

void FDMeshCommandQueue::give_up() {
  trace_ = 0;
  fake::observed::ended(experimental::ObservedThing::QUEUE, fake::observed::id_of(this));
}

void FDMeshCommandQueue::enqueue_mesh_workload(MeshWorkload& workload, bool) {
  for (auto& program : workload.impl->programs) program.impl_->compile(mesh_);
  const bool first = !workload.impl->binaries;
  workload.impl->load_binaries(*this);
  fake::observed::Launch launch{workload, *this, trace_};
  if (capturing_) return fake::observed::launched(launch);
  const auto& program = workload.impl->programs.front();
  // The runtime plans a launch more than once before it takes a plan.
  for (int plan = 0; plan < 3; ++plan) {
    rings_.reserve({program.impl_->get_program_config_size(0), 0, 0, 1, 0});
  }
  launch.has_ring = true;
  launch.waited = first;
  launch.freed = completed_;
  if (first) rings_.free(completed_);
  completed_ += fake::kWorkers;
  rings_.alloc(completed_);
  launch.completed = completed_;
  fake::observed::launched(launch);
}

void FDMeshCommandQueue::record_begin(const MeshTraceId& trace,
                                      const std::shared_ptr<MeshTraceDescriptor>&) {
  fake::maybe_throw("record_begin");
  rings_.mark_completely_full(completed_);
  capturing_ = true;
  trace_ = trace.value;
  fake::observed::traced(experimental::ObservedTraceStep::BEGUN, trace_, this, completed_);
}

void FDMeshCommandQueue::record_end() {
  fake::maybe_throw("record_end");
  capturing_ = false;
  fake::observed::traced(experimental::ObservedTraceStep::ENDED, std::exchange(trace_, 0), this,
                         completed_);
}

void FDMeshCommandQueue::enqueue_trace(const MeshTraceId& trace, bool) {
  fake::maybe_throw("enqueue_trace");
  rings_.mark_completely_full(completed_);
  fake::observed::traced(experimental::ObservedTraceStep::REPLAYED, trace.value, this, completed_);
}

MeshWorkloadImpl::~MeshWorkloadImpl() {
  fake::observed::ended(experimental::ObservedThing::WORKLOAD, fake::observed::id_of(this));
}

void MeshWorkloadImpl::add_program(const MeshCoordinateRange&, Program&& program) {
  fake::maybe_throw("add_program");
  programs.push_back(std::move(program));
}

void MeshWorkloadImpl::load_binaries(MeshCommandQueue& queue) {
  fake::maybe_throw("load_binaries");
  if (binaries) return;
  const fake::observed::LoadingBinaries loading(fake::observed::id_of(this));
  std::uint64_t bytes = 0;
  for (auto& program : programs) {
    const std::uint64_t kernel = program.impl_->get_program_config_size(0);
    bytes = std::max(bytes, (kernel + 2047) / 2048 * 2048);
  }
  binaries = std::make_unique<Buffer>(queue.mesh_, queue.mesh_->allocator, bytes, BufferType::DRAM);
}

void EnqueueMeshWorkload(MeshCommandQueue& queue, MeshWorkload& workload, bool blocking) {
  fake::maybe_throw("EnqueueMeshWorkload");
  try {
    queue.enqueue_mesh_workload(workload, blocking);
  } catch (const RingTooSmall& error) {
    fake::observed::ring_too_small(queue, error.what(), error.bytes);
    throw;
  }
}

}  // namespace distributed
}  // namespace tt::tt_metal
