// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The hooks that see a program's L1: circular buffers as the runtime reports them, dataflow buffers
// as their addresses are marked, scratchpads from the kernels' arguments.

#include <span>

#include "inject/core_ranges.hpp"
#include "inject/hooks.hpp"
#include "inject/metal.hpp"
#include "inject/programs.hpp"
#include "inject/scopes.hpp"

namespace ttmem::inject {

namespace {

using metal::functions;

constexpr std::uint32_t kMaxIndex = 64;
enum Part { kCircularBuffers = 0, kDataflowBuffers = 1, kScratchpads = 2 };

/// Gathers what is placed while it exists, and gives back the collector of an outer program.
class Collecting {
 public:
  Collecting() : outer_(scopes.ranges) { scopes.ranges = &collector_; }
  ~Collecting() { scopes.ranges = outer_; }
  Collecting(const Collecting&) = delete;
  Collecting& operator=(const Collecting&) = delete;

  std::vector<ttmem_range>& ranges() { return collector_.ranges; }

 private:
  RangeCollector collector_;
  RangeCollector* outer_;
};

std::uint8_t first_index(const void* circular_buffer) {
  for (std::uint32_t index = 0; index < kMaxIndex; ++index) {
    if (functions.circular_buffer_uses(circular_buffer, index))
      return static_cast<std::uint8_t>(index);
  }
  return TTMEM_INDEX_UNKNOWN;
}

/// Ranges come in the order of the program's circular buffers, of which views may be left out.
void add_indices(const void* program, std::vector<ttmem_range>& ranges) {
  if (!functions.program_circular_buffers || !functions.circular_buffer_address ||
      !functions.circular_buffer_uses || !functions.circular_buffer_page) {
    return;
  }
  auto range = ranges.begin();
  for (const auto& buffer : functions.program_circular_buffers(program)) {
    if (range == ranges.end()) return;
    if (functions.circular_buffer_address(buffer.get()) != range->address) continue;
    range->index = first_index(buffer.get());
    if (range->index != TTMEM_INDEX_UNKNOWN) {
      range->page_bytes = functions.circular_buffer_page(buffer.get(), range->index);
    }
    ++range;
  }
}

ttmem_range scratchpad(std::uint64_t address, std::uint64_t size, ttmem_cores_t cores) {
  ttmem_range range = {};
  range.address = address;
  range.size = size;
  range.cores = cores;
  range.part = TTMEM_PART_SCRATCHPAD;
  return range;
}

/// A scratchpad's address is handed to its kernel as a common argument: `word` says which.
void read_scratchpads(const void* kernel, std::vector<ttmem_range>& ranges) {
  if (!functions.kernel_common_arguments || !functions.kernel_cores) return;
  const auto add = [&](std::uint32_t word, std::uint32_t size) {
    const auto& arguments = functions.kernel_common_arguments(kernel);
    if (word >= arguments.size()) return;
    const auto cores = intern(TTMEM_CORE_TENSIX, functions.kernel_cores(kernel));
    ranges.push_back(scratchpad(arguments[word], size, cores));
  };
  if (functions.kernel_scratchpads) {
    functions.kernel_scratchpads(kernel, [&](const std::string&, std::uint32_t word,
                                             std::uint32_t size, const void*) { add(word, size); });
  } else if (functions.kernel_scratchpads_before_081) {
    functions.kernel_scratchpads_before_081(kernel, [&](const std::string&, std::uint32_t word,
                                                        std::uint32_t size) { add(word, size); });
  }
}

std::vector<ttmem_range> scratchpads_of(const void* program) {
  std::vector<ttmem_range> ranges;
  if (!functions.program_kernels) return ranges;
  for (std::uint32_t type = 0; type < metal::kCoreTypes; ++type) {
    for (const auto& [handle, kernel] : functions.program_kernels(program, type)) {
      read_scratchpads(kernel.get(), ranges);
    }
  }
  return ranges;
}

}  // namespace

extern "C" Returned ttmem_hook_allocate_circular_buffers(void* program, const void* device) {
  Collecting collecting;
  const Returned result = call(ttmem_original_allocate_circular_buffers, program, device);
  if (!collecting.ranges().empty()) {
    quietly([&] { add_indices(program, collecting.ranges()); });
    quietly([&] { programs::placed(program, kCircularBuffers, std::move(collecting.ranges())); });
  }
  return result;
}

extern "C" void ttmem_on_circular_buffer_placed(void*, const void* cores, std::uint64_t address,
                                                std::uint64_t size, std::uint64_t is_view,
                                                const void* device) noexcept {
  RangeCollector* collector = scopes.ranges;
  if (!collector || !functions.core_ranges) return;
  quietly([=] {
    if (!collector->first_device) collector->first_device = device;
    if (collector->first_device != device) return;
    ttmem_range range = {};
    range.address = address;
    range.size = size;
    range.cores = intern(TTMEM_CORE_TENSIX, functions.core_ranges(cores));
    range.part = (is_view & 1) ? TTMEM_PART_VIEW : TTMEM_PART_CB;
    range.index = TTMEM_INDEX_UNKNOWN;  // until add_indices()
    collector->ranges.push_back(range);
  });
}

extern "C" Returned ttmem_hook_allocate_dataflow_buffers(void* program, const void* device) {
  Collecting collecting;
  const Returned result = call(ttmem_original_allocate_dataflow_buffers, program, device);
  if (!collecting.ranges().empty()) {
    quietly([&] { programs::placed(program, kDataflowBuffers, std::move(collecting.ranges())); });
  }
  return result;
}

extern "C" void ttmem_on_dataflow_buffer_placed(const metal::CoreRange* allocator,
                                                std::uint64_t address,
                                                std::uint64_t size) noexcept {
  RangeCollector* collector = scopes.ranges;
  if (!collector) return;
  quietly([=] {
    ttmem_range range = {};
    range.address = address;
    range.size = size;
    range.cores = intern(TTMEM_CORE_TENSIX, std::span(allocator, 1));
    range.part = TTMEM_PART_DATAFLOW_BUFFER;
    collector->ranges.push_back(range);
  });
}

extern "C" Returned ttmem_hook_allocate_scratchpads(void* program, const void* device) {
  // The marks it makes are those of scratchpads, which are read from the kernels instead.
  RangeCollector* outer = std::exchange(scopes.ranges, nullptr);
  Returned result;
  try {
    result = call(ttmem_original_allocate_scratchpads, program, device);
  } catch (...) {
    scopes.ranges = outer;
    throw;
  }
  scopes.ranges = outer;
  quietly([&] {
    auto ranges = scratchpads_of(program);
    if (!ranges.empty()) programs::placed(program, kScratchpads, std::move(ranges));
  });
  return result;
}

}  // namespace ttmem::inject
