// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Code that was compiled against the declarations of the original's client, and not compiled again:
// this file includes nothing of ours but the reader.
#include <cstdint>

#include "original_client.hpp"
#include "own_figures.hpp"

namespace {

using tt::tt_metal::AllocationClient;
using ttmem::ledger::Space;

using Relinked = WaysIn;

TEST_F(Relinked, EveryCallOfTheOriginalReachesTheRecord) {
  ASSERT_TRUE(AllocationClient::is_enabled());
  AllocationClient::report_allocation(30, 1073741824, 0, 4096);
  AllocationClient::report_cb_allocation(30, 262144, 105248);
  AllocationClient::report_kernel_load(30, 131072, 9, 0);
  EXPECT_EQ(figures(30).space(Space::kDram).requested, 1073741824u);
  EXPECT_EQ(figures(30).program_l1.allocated, 262144u);
  EXPECT_EQ(figures(30).kernels.total().footprint, 131072u);
  AllocationClient::report_kernel_unload(30, 131072, 9);
  AllocationClient::report_cb_deallocation(30, 262144, 105248);
  AllocationClient::report_deallocation(30, 4096);
  EXPECT_EQ(figures(30).space(Space::kDram).requested, 0u);
  EXPECT_EQ(figures(30).program_l1.allocated, 0u);
  EXPECT_EQ(figures(30).kernels.total().footprint, 0u);
}

}  // namespace
