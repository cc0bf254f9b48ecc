// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "metal_stand_in.hpp"
// The stand-in has to come first: a patched TT-Metal includes the tracker beside its own headers.
#include <algorithm>
#include <array>
#include <ttmem/allocation_tracker.hpp>

#include "own_figures.hpp"

namespace {

using namespace tt::tt_metal;
using ttmem::ledger::Space;

using PatchedRuntime = WaysIn;

TEST_F(PatchedRuntime, BuffersByKind) {
  namespace tracker = allocation_tracker;
  ASSERT_TRUE(tracker::is_tracking_enabled());
  tracker::report_buffer_allocation(20, 1048576, 1, 0x1000);
  tracker::report_buffer_allocation(20, 26214400, 0, 0x1000);
  EXPECT_EQ(figures(20).space(Space::kL1).requested, 1048576u);
  EXPECT_EQ(figures(20).space(Space::kDram).requested, 26214400u);
  EXPECT_EQ(figures(20).basis, ttmem::ledger::Basis::kRequested);
  // Nobody says which of the two: the newest goes first.
  tracker::report_buffer_deallocation(20, 0x1000);
  EXPECT_EQ(figures(20).space(Space::kDram).count, 0u);
  EXPECT_EQ(figures(20).space(Space::kL1).requested, 1048576u);
  tracker::report_buffer_deallocation(20, 0x1000);
  EXPECT_EQ(figures(20).space(Space::kL1).count, 0u);
}

TEST_F(PatchedRuntime, SecondAllocationOfOneBufferIsAReference) {
  AllocationClient::report_allocation(21, 12288, 0, 0x3ffff800);
  AllocationClient::report_allocation(21, 12288, 0, 0x3ffff800);
  EXPECT_EQ(figures(21).space(Space::kDram).requested, 12288u);
  AllocationClient::report_deallocation(21, 0x3ffff800);
  EXPECT_EQ(figures(21).space(Space::kDram).requested, 12288u);
  AllocationClient::report_deallocation(21, 0x3ffff800);
  EXPECT_EQ(figures(21).space(Space::kDram).requested, 0u);
}

TEST_F(PatchedRuntime, ReusedAddressTakesItsNewSize) {
  AllocationClient::report_allocation(22, 524288, 1, 25718784);
  AllocationClient::report_deallocation(22, 25718784);
  AllocationClient::report_allocation(22, 98304, 1, 25718784);
  EXPECT_EQ(figures(22).space(Space::kL1).requested, 98304u);
  AllocationClient::report_deallocation(22, 25718784);
  const std::uint64_t before = anomalies().at(TTMEM_ANOMALY_UNKNOWN_FREE);
  AllocationClient::report_deallocation(22, 25718784);
  EXPECT_EQ(anomalies().at(TTMEM_ANOMALY_UNKNOWN_FREE), before + 1);
  EXPECT_EQ(figures(22).space(Space::kL1).requested, 0u);
}

TEST_F(PatchedRuntime, KernelsByTypeAndCores) {
  const IDevice device(23);
  track_kernel_load(57344, 1, &device, KERNEL_TYPE_FABRIC, 16);
  track_kernel_load(47104, 2, &device, KERNEL_TYPE_DISPATCH, 2);
  track_kernel_load(102400, 3, &device, KERNEL_TYPE_APPLICATION, 80);
  const auto kernels = figures(23).kernels;
  EXPECT_EQ(kernels.by_type[KERNEL_TYPE_FABRIC].footprint, 917504u);
  EXPECT_EQ(kernels.by_type[KERNEL_TYPE_DISPATCH].footprint, 94208u);
  EXPECT_EQ(kernels.by_type[KERNEL_TYPE_APPLICATION].footprint, 8192000u);
  EXPECT_EQ(kernels.system().footprint, 1011712u);
  std::vector<std::array<std::uint64_t, 3>> told;  // id, binary bytes, cores
  for (const auto& one : holdings(23)) {
    if (one.kind != ttmem::ledger::HoldingKind::kKernel) continue;
    told.push_back({one.id, one.packed.value_or(0), one.cores});
  }
  std::ranges::sort(told);
  EXPECT_EQ(told, (std::vector<std::array<std::uint64_t, 3>>{
                      {1, 57344, 16}, {2, 47104, 2}, {3, 102400, 80}}));
  track_kernel_unload(3, &device);
  EXPECT_EQ(figures(23).kernels.total().footprint, 1011712u);
}

TEST_F(PatchedRuntime, LoadsFollowTheRunningTotalsOfFiveKernels) {
  const struct {
    std::uint64_t bytes;
    std::uint8_t type;
    std::uint64_t total;
  } steps[] = {{57344, 1, 57344},
               {57344, 1, 114688},
               {47104, 2, 161792},
               {47104, 2, 208896},
               {131072, 0, 339968}};
  std::uint64_t id = 0;
  for (const auto& step : steps) {
    AllocationClient::report_kernel_load(24, step.bytes, ++id, step.type);
    EXPECT_EQ(figures(24).kernels.total().footprint, step.total);
  }
  // Sizes of an unload are not believed.
  AllocationClient::report_kernel_unload(24, 0, 5);
  EXPECT_EQ(figures(24).kernels.total().footprint, 208896u);
}

TEST_F(PatchedRuntime, DispatchAgainAddsNoByte) {
  IDevice first(25), second(26);
  distributed::MeshDevice mesh({&first, &second});
  Program program;
  program.impl().kernel_bins_size = 1000;
  program.impl().cores = {{{0, 0}, {1, 0}}, {{0, 0}}};
  program.runtime_id = 77;
  for (int launch = 0; launch < 3; ++launch) {
    IDevice* device = &mesh;  // as TT-Metal has it: the mesh behind the interface
    detail::TrackKernelDispatch(device, program);
  }
  for (const int device : {25, 26}) {
    EXPECT_EQ(figures(device).kernels.total().footprint, 3000u);
    EXPECT_EQ(figures(device).kernels.dispatches, 3u);
    EXPECT_EQ(figures(device).kernels.first_loads, 1u);
  }
}

// The size is in the transfer data where the config buffer holds no kernels.
TEST_F(PatchedRuntime, DispatchTakesTheTransferBinaryWhereTheConfigBufferHasNone) {
  IDevice device(40);
  Program program;
  program.impl().transfer_info.binary_data.resize(32768);
  program.runtime_id = 0;
  program.impl().id = 12;
  detail::TrackKernelDispatch(&device, program);
  EXPECT_EQ(figures(40).kernels.total().footprint, 131072u);
  EXPECT_EQ(holdings(40).at(0).id, 12u);
}

// Today's: what the original asked for is private.
class ClosedImpl {
 public:
  std::size_t num_kernels() const { return 1; }

 private:
  const detail::ProgramTransferInfo& get_program_transfer_info() const;
};
struct ClosedProgram {
  ClosedImpl& impl() { return closed; }
  std::uint64_t get_runtime_id() const { return 5; }
  ClosedImpl closed;
};

TEST_F(PatchedRuntime, DispatchOfAProgramThatTellsNoSizeIsAnAnomalyOrTheCallersSize) {
  IDevice device(41);
  ClosedProgram program;
  AllocationClient::report_allocation(41, 4096, 0, 1);
  const std::uint64_t before = anomalies().at(TTMEM_ANOMALY_BAD_VALUE);
  detail::TrackKernelDispatch(&device, program);
  EXPECT_EQ(anomalies().at(TTMEM_ANOMALY_BAD_VALUE), before + 1);
  detail::TrackKernelDispatch(&device, program, 4096, KERNEL_TYPE_DISPATCH);
  EXPECT_EQ(figures(41).kernels.of(ttmem::ledger::KernelType::kDispatch).footprint, 4096u);
}

TEST_F(PatchedRuntime, KernelsOfTwoProgramsWithTheSameHandles) {
  using namespace allocation_tracker;
  report_kernel_allocation(42, 1000 * 1024, 0);
  const std::uint64_t before = anomalies().at(TTMEM_ANOMALY_REPLACED);
  report_kernel_allocation(42, 2000 * 1024, 1);
  report_kernel_allocation(42, 3000 * 1024, 0);
  EXPECT_EQ(anomalies().at(TTMEM_ANOMALY_REPLACED), before + 1) << "not without a word";
  report_kernel_allocation(43, 1000 * 1024, kernel_id(1, 0));
  report_kernel_allocation(43, 2000 * 1024, kernel_id(1, 1));
  report_kernel_allocation(43, 3000 * 1024, kernel_id(2, 0));
  report_kernel_allocation(43, 4000 * 1024, kernel_id(2, 1));
  EXPECT_EQ(figures(43).kernels.total().footprint, 10000u * 1024);
}

TEST_F(PatchedRuntime, OtherCodeUnderOneIdOnAnotherDevice) {
  AllocationClient::report_kernel_load(44, 57344, 9, 1);
  AllocationClient::report_kernel_load(45, 57344, 9, 1);
  AllocationClient::report_kernel_load(46, 47104, 9, 2);
  AllocationClient::report_kernel_unload(44, 0, 9);
  EXPECT_EQ(figures(44).kernels.total().footprint, 0u);
  EXPECT_EQ(figures(45).kernels.total().footprint, 57344u);
  EXPECT_EQ(figures(46).kernels.total().footprint, 47104u);
}

TEST_F(PatchedRuntime, RegisteredCircularBuffersAreNotResidentNothing) {
  AllocationClient::report_cb_allocation(47, 262144, 101152);
  EXPECT_EQ(figures(47).program_l1.resident, std::nullopt);
  EXPECT_EQ(figures(47).program_l1.allocated, 262144u);
}

TEST_F(PatchedRuntime, ValuesThatCannotBeChangeNothing) {
  AllocationClient::report_allocation(48, 4096, 0, 1);
  const std::uint64_t before = anomalies().at(TTMEM_ANOMALY_BAD_VALUE);
  AllocationClient::report_allocation(48, 0, 0, 2);
  AllocationClient::report_allocation(48, 107374182401, 0, 2);
  AllocationClient::report_allocation(48, 4096, 5, 2);
  AllocationClient::report_allocation(-2, 4096, 0, 2);
  AllocationClient::report_cb_allocation(1 << 20, 4096, 2);
  EXPECT_EQ(anomalies().at(TTMEM_ANOMALY_BAD_VALUE), before + 5);
  EXPECT_EQ(figures(48).space(Space::kDram).requested, 4096u);
}

TEST_F(PatchedRuntime, CircularBuffersOfTwoProgramsAtOneAddress) {
  AllocationClient::report_cb_allocation(27, 262144, 101152);
  AllocationClient::report_cb_allocation(27, 131072, 101152);
  EXPECT_EQ(figures(27).program_l1.allocated, 393216u);
  AllocationClient::report_cb_deallocation(27, 262144, 101152);
  EXPECT_EQ(figures(27).program_l1.allocated, 131072u);
  AllocationClient::report_cb_deallocation(27, 131072, 101152);
  EXPECT_EQ(figures(27).program_l1.allocated, 0u);
  const std::uint64_t before = anomalies().at(TTMEM_ANOMALY_UNKNOWN_PROGRAM);
  AllocationClient::report_cb_deallocation(27, 57344, 101152);
  EXPECT_EQ(figures(27).program_l1.allocated, 0u);
  EXPECT_EQ(anomalies().at(TTMEM_ANOMALY_UNKNOWN_PROGRAM), before + 1);
}

TEST_F(PatchedRuntime, CircularBufferCountsItsCores) {
  const CoreRangeSet cores(std::vector<CoreRange>{{{0, 0}, {7, 7}}});
  allocation_tracker::report_cb_allocation(28, 4096, 2, cores);
  EXPECT_EQ(figures(28).program_l1.allocated, 64u * 4096);
  allocation_tracker::report_cb_deallocation(28, 4096, 2, cores);
  EXPECT_EQ(figures(28).program_l1.allocated, 0u);
}

TEST_F(PatchedRuntime, CircularBuffersOfProgramsThatUseOneIndexEndInAnyOrder) {
  using allocation_tracker::report_cb_allocation;
  using allocation_tracker::report_cb_deallocation;
  const CoreRange wide{{0, 0}, {3, 0}};
  const CoreCoord narrow{0, 0};
  report_cb_allocation(33, 4096, 0, wide);
  report_cb_allocation(33, 4096, 0, narrow);
  report_cb_allocation(33, 8192, 0, wide);
  report_cb_deallocation(33, 4096, 0, wide);
  EXPECT_EQ(figures(33).program_l1.allocated, 4096u + 4u * 8192);
  report_cb_deallocation(33, 8192, 0, wide);
  EXPECT_EQ(figures(33).program_l1.allocated, 4096u);
  report_cb_deallocation(33, 4096, 0, narrow);
  EXPECT_EQ(figures(33).program_l1.allocated, 0u);
}

TEST_F(PatchedRuntime, ClosingADeviceEndsAllThatIsOnIt) {
  AllocationClient::report_allocation(29, 4096, 0, 1);
  AllocationClient::report_cb_allocation(29, 4096, 2);
  AllocationClient::report_kernel_load(29, 4096, 3);
  allocation_tracker::report_device_closed(29);
  EXPECT_EQ(figures(29).space(Space::kDram).requested.value_or(0), 0u);
  EXPECT_EQ(figures(29).program_l1.allocated.value_or(0), 0u);
  EXPECT_EQ(figures(29).kernels.total().footprint, 0u);
}

}  // namespace
