// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <ttmem/ttmem.hpp>

#include "own_figures.hpp"
#include "support/devices.hpp"

namespace {

using Front = WaysIn;

struct Chip {
  explicit Chip(std::int32_t metal_id) : set(ttmem::set_of({metal_id})) {
    allocator = ttmem::support::open_dram(set);
    device = ttmem::find_device(metal_id);
  }
  void allocate(std::uint64_t id, std::uint64_t block) const {
    ttmem_buffer buffer{};
    buffer.id = id;
    buffer.address = id << 20;
    buffer.requested = block * 12;
    buffer.block = block;
    buffer.allocator = allocator;
    buffer.space = TTMEM_SPACE_DRAM;
    ttmem_buffer_allocated(&buffer);
  }
  ttmem_set_t set;
  ttmem_allocator_t allocator = 0;
  ttmem_device_t device = 0;
};

TEST_F(Front, WatermarkRemembersWhatWasTakenAndTheMostSince) {
  const Chip chip(40);
  chip.allocate(1, 2048);
  const ttmem::Watermark watermark("attention");
  ASSERT_TRUE(watermark);
  chip.allocate(2, 4096);
  ttmem_buffer_freed(chip.allocator, TTMEM_SPACE_DRAM, 2);
  const ttmem_figures read = watermark.read(chip.device, TTMEM_SPACE_DRAM);
  EXPECT_EQ(read.taken, 12u * 2048);
  EXPECT_EQ(read.peak, 12u * (2048 + 4096));
  ttmem_figures now{};
  ASSERT_EQ(ttmem_self(chip.device, TTMEM_SPACE_DRAM, &now), 0);
  EXPECT_EQ(now.taken, 12u * 2048);
}

TEST_F(Front, TagNamesWhatItsScopeMakes) {
  const Chip chip(41);
  {
    const ttmem::Tag tag("matmul");
    chip.allocate(1, 2048);
  }
  chip.allocate(2, 2048);
  const auto held = holdings(41);
  ASSERT_EQ(held.size(), 2u);
  EXPECT_EQ(held[0].operation, "matmul");
  EXPECT_NE(held[0].line.find("front_test.cpp:"), std::string::npos) << held[0].line;
  EXPECT_EQ(held[1].operation, "");
}

TEST_F(Front, ProgramRecordEndsWithItsScope) {
  const Chip chip(42);
  {
    ttmem::ProgramRecord program(4200, chip.set, "add");
    ttmem_kernel kernel{};
    kernel.packed_bytes = 1000;
    kernel.cores = ttmem::intern_cores(TTMEM_CORE_TENSIX, {{0, 0, 7, 7}});
    program.kernels.push_back(kernel);
    program.publish();
    EXPECT_EQ(figures(42).kernels.total().footprint, 0u);
    EXPECT_EQ(figures(42).kernels.registered, 1u);
    ttmem::ProgramRecord moved = std::move(program);
    moved.dispatch();
    EXPECT_EQ(figures(42).kernels.total().footprint, 64000u);
  }
  EXPECT_EQ(figures(42).kernels.total().footprint, 0u);
}

TEST_F(Front, DeviceIsFoundByItsMetalId) {
  const Chip chip(43);
  ttmem_device_identity identity{};
  identity.struct_size = sizeof identity;
  ASSERT_EQ(ttmem_device_read(chip.device, &identity), 0);
  EXPECT_EQ(identity.metal_id, 43);
  EXPECT_EQ(identity.unique_id, std::uint64_t{43} << 32);
  EXPECT_EQ(identity.open, 1u);
  EXPECT_EQ(ttmem::find_device(44), 0);
}

}  // namespace
