// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A process that does anything that a process can do, by a seed: buffers, programs, launches,
// traces, failures, devices that open and close. It lives in the test's own process, so that a test
// decides what happens between two looks.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "client/recorder.hpp"
#include "support/devices.hpp"

namespace ttmem::record {

class RandomHost {
 public:
  // `events`: what the ring shall keep.
  RandomHost(const std::string& directory, std::uint64_t seed, std::uint64_t events = 0)
      : random_(seed) {
    client::Options options;
    options.directory = directory.c_str();
    options.events = events;
    if (recorder_->open(options) != 0) throw std::runtime_error("the recorder does not open");
    for (unsigned i = 0; i < 2; ++i) {
      chips_.push_back(recorder_->devices.opened(support::device_info(100 + i)));
    }
    set_ = recorder_->devices.set(support::set_info(chips_));
    const ttmem_space_info spaces[] = {
        {TTMEM_SPACE_DRAM, 12, 1048640, 1072693184, 32, 0, nullptr},
        {TTMEM_SPACE_L1, 64, 105664, 1393472, 16, 0, nullptr},
        {TTMEM_SPACE_L1_SMALL, 64, 1490944, 8192, 16, 0, nullptr},
    };
    allocator_ = recorder_->allocators.opened(support::allocator_info(set_, spaces));
  }

  // So many random things.
  void act(unsigned times) {
    for (unsigned i = 0; i < times; ++i) act();
  }
  void act() {
    switch (below(12)) {
      case 0:
        return add_program();
      case 1:
        return release_program();
      case 2:
      case 3:
      case 4:
        return launch();
      case 5:
        return below(20) == 0 ? fail() : allocate();
      case 6:
      case 7:
      case 8:
        return free();
      default:
        return allocate();
    }
  }
  // Only buffers: events come and go as fast as they can.
  void allocate_and_free(unsigned times) {
    for (unsigned i = 0; i < times; ++i) below(2) == 0 ? allocate() : free();
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  void allocate() {
    ttmem_buffer buffer = {};
    buffer.id = next_id_++;
    buffer.space = static_cast<std::uint8_t>(below(2) == 0 ? TTMEM_SPACE_DRAM : TTMEM_SPACE_L1);
    buffer.address = 200'000 + buffer.id * 64;
    buffer.requested = below(1 << 20);
    buffer.block = (below(1000) + 1) * 64;
    buffer.allocator = allocator_;
    recorder_->buffers.allocated(buffer, {});
    buffers_.push_back({buffer.id, buffer.space});
  }
  void free() {
    if (buffers_.empty()) return allocate();
    const std::size_t which = below(buffers_.size());
    recorder_->buffers.freed(allocator_, buffers_[which].space, buffers_[which].id);
    buffers_[which] = buffers_.back();
    buffers_.pop_back();
  }
  void add_program() {
    ttmem_kernel kernel = {};
    kernel.packed_bytes = static_cast<std::uint32_t>(below(100'000));
    ttmem_range range = {};
    range.address = 105'664;
    range.size = (below(100) + 1) * 1024;
    ttmem_program program = {};
    program.struct_size = sizeof program;
    program.set = set_;
    program.id = next_id_++;
    program.kernel_count = 1;
    program.kernels = &kernel;
    program.range_count = 1;
    program.ranges = &range;
    recorder_->programs.registered(program, {});
    const ttmem_workload_t workload = recorder_->workloads.created(program.id, set_);
    recorder_->workloads.joined(workload, program.id, set_);
    programs_.push_back({program.id, workload});
  }
  void release_program() {
    if (programs_.empty()) return add_program();
    const std::size_t which = below(programs_.size());
    recorder_->programs.released(programs_[which].id);
    recorder_->workloads.released(programs_[which].workload);
    programs_[which] = programs_.back();
    programs_.pop_back();
  }
  void launch() {
    if (programs_.empty()) return add_program();
    const ttmem_workload_t workload = programs_[below(programs_.size())].workload;
    if (!recorder_->workloads.dispatched_hot(workload)) {
      recorder_->workloads.dispatched(workload, 0);
    }
  }
  void fail() {
    ttmem_failure failure = {};
    failure.struct_size = sizeof failure;
    failure.kind = TTMEM_FAILURE_OUT_OF_MEMORY;
    failure.message = "Out of Memory: not enough space";
    failure.requested = below(1 << 30);
    failure.set = set_;
    failure.allocator = allocator_;
    failure.space = TTMEM_SPACE_L1;
    recorder_->failures.failed(failure, {});
  }

  struct Buffer {
    std::uint64_t id;
    std::uint32_t space;
  };
  struct Program {
    std::uint64_t id;
    ttmem_workload_t workload;
  };
  std::mt19937_64 random_;
  std::unique_ptr<client::Recorder> recorder_ = std::make_unique<client::Recorder>();
  std::vector<ttmem_device_t> chips_;
  ttmem_set_t set_ = 0;
  ttmem_allocator_t allocator_ = 0;
  std::uint64_t next_id_ = 1;
  std::vector<Buffer> buffers_;
  std::vector<Program> programs_;
};

}  // namespace ttmem::record
