// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// While hooks record the truth, none of the calls by hand adds a byte.
#include <ttmem/allocation_tracker.hpp>
#include <ttmem/instrumented_helpers.hpp>

#include "metal_stand_in.hpp"
#include "own_figures.hpp"

namespace {

using namespace tt::tt_metal;

using Hooked = WaysIn;

TEST_F(Hooked, CallsByHandAddNoBytes) {
  ttmem_process_info info{};
  info.struct_size = sizeof info;
  info.source = TTMEM_SOURCE_INJECTOR;
  info.hook_names = "allocate_buffer";
  info.hooks_wanted[0] = info.hooks_bound[0] = 1;
  ASSERT_FALSE(ttmem::hooked());
  ttmem_process_described(&info);
  ASSERT_TRUE(ttmem::hooked());

  EXPECT_FALSE(allocation_tracker::is_tracking_enabled());
  AllocationClient::report_allocation(0, 4096, 0, 1);
  Program program;
  const std::map<std::uint8_t, tt::DataFormat> formats{{0, tt::DataFormat::Float16_b}};
  EXPECT_EQ(instrumented::CreateCircularBufferWithTracking(program, CoreCoord{0, 0},
                                                           CircularBufferConfig(4096, formats)),
            1000u);
  instrumented::AddKernelWithTracking(program, "a.cpp", CoreCoord{0, 0},
                                      KernelConfig(ComputeConfig{}));
  early::Device device{0};
  const auto buffer = instrumented::CreateCircularBufferWithTracking(
      &device, formats, early::CircularBufferConfig{64, 0});
  EXPECT_EQ(buffer->bytes, 64u);

  EXPECT_TRUE(look().snapshot().devices.empty());
}

}  // namespace
