// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <ttmem/instrumented_helpers.hpp>

#include "metal_stand_in.hpp"
#include "own_figures.hpp"
#include "support/devices.hpp"

namespace {

using namespace tt::tt_metal;
using ttmem::ledger::HoldingKind;
using ttmem::ledger::Part;

using Wrappers = WaysIn;

const std::map<std::uint8_t, tt::DataFormat> kFormats{{3, tt::DataFormat::Float16_b}};

TEST_F(Wrappers, CircularBufferCountsOnEachCoreOnce) {
  instrumented::UseDevice(10);
  Program program;
  // Two ranges that share the cores (1, 0) and (1, 1): 6 cores, not 8.
  const CoreRangeSet cores({{{0, 0}, {1, 1}}, {{1, 0}, {2, 1}}});
  const CircularBufferConfig config = CircularBufferConfig(4096, kFormats).set_page_size(3, 2048);
  const CBHandle handle =
      instrumented::CreateCircularBufferWithTracking(program, CoreSpec(cores), config);
  EXPECT_EQ(handle, 1000u);
  EXPECT_EQ(figures(10).program_l1.allocated, 6u * 4096);
  for (const auto& one : holdings(10)) {
    if (one.kind != HoldingKind::kRange) continue;
    EXPECT_EQ(one.index, 3u);
    EXPECT_EQ(one.cores, 6u);
    EXPECT_FALSE(one.estimated);
  }
  instrumented::ReleaseProgramWithTracking(program);
  EXPECT_EQ(figures(10).program_l1.allocated, 0u);
}

// What stands on a core is known only where the cores of the device are.
void open_device_with_cores(std::int32_t metal_id) {
  const std::vector<ttmem_core> cores{{0, 0, TTMEM_ROLE_WORKER, TTMEM_CORE_TENSIX, 255, 255, {}},
                                      {1, 0, TTMEM_ROLE_WORKER, TTMEM_CORE_TENSIX, 255, 255, {}}};
  ttmem_device_info info =
      ttmem::support::device_info(0x1100 + static_cast<std::uint64_t>(metal_id));
  info.metal_id = metal_id;
  info.grid_x = 2;
  info.grid_y = 1;
  info.core_count = static_cast<std::uint32_t>(cores.size());
  info.cores = cores.data();
  info.geometry[TTMEM_CORE_TENSIX] = {1499136, 35008, 35008, 70656, 105664};
  ttmem_device_opened(&info);
}

TEST_F(Wrappers, BuffersOfOneProgramStandAboveEachOtherWhereTheyShareACore) {
  open_device_with_cores(11);
  instrumented::UseDevice(11);
  Program program;
  const CircularBufferConfig config(1024, kFormats);
  instrumented::CreateCircularBufferWithTracking(program, CoreCoord{0, 0}, config);
  instrumented::CreateCircularBufferWithTracking(program, CoreCoord{1, 0}, config);
  instrumented::CreateCircularBufferWithTracking(program, CoreRange{{0, 0}, {1, 0}}, config);
  EXPECT_EQ(figures(11).program_l1.reserved, 2u * 2048);
  EXPECT_EQ(figures(11).program_l1.allocated, 4u * 1024);
  EXPECT_EQ(figures(11).program_l1.resident, std::nullopt) << "nobody has told of a launch";
  instrumented::TrackLaunch(program);
  EXPECT_EQ(figures(11).program_l1.resident, 2u * 2048);
  instrumented::ReleaseProgramWithTracking(program);
}

TEST_F(Wrappers, CircularBufferOnABufferIsAViewAndCountsNothing) {
  instrumented::UseDevice(12);
  Program program;
  CircularBufferConfig config(8192, kFormats);
  config.set_globally_allocated_address(1048576);
  instrumented::CreateCircularBufferWithTracking(program, CoreCoord{0, 0}, config);
  EXPECT_EQ(figures(12).program_l1.allocated, 0u);
  bool seen = false;
  for (const auto& one : holdings(12)) seen |= one.part == Part::kView && one.address == 1048576;
  EXPECT_TRUE(seen);
  instrumented::ReleaseProgramWithTracking(program);
}

TEST_F(Wrappers, KernelsAreEstimatesUntilTheirSizesAreKnown) {
  instrumented::UseDevice(13);
  Program program;
  const CoreRangeSet cores(std::vector<CoreRange>{{{0, 0}, {3, 3}}});
  instrumented::AddKernelWithTracking(program, "kernels/reader.cpp", CoreSpec(cores),
                                      KernelConfig(DataMovementConfig{}));
  EXPECT_EQ(figures(13).kernels.estimated.footprint, 16u * 51200) << "before any launch";
  instrumented::TrackLaunch(program);
  EXPECT_EQ(figures(13).kernels.total().footprint, 0u);
  EXPECT_EQ(figures(13).kernels.estimated.footprint, 16u * 51200);
  std::uint64_t estimated = 0;
  for (const auto& one : holdings(13)) {
    if (one.kind != HoldingKind::kKernel) continue;
    EXPECT_TRUE(one.estimated);
    estimated += one.footprint.value_or(0);
  }
  EXPECT_EQ(estimated, 16u * 51200);

  const std::vector<detail::KernelMeta> metas{
      {"reader", "/opt/metal/kernels/reader.cpp", {{0, 4300}}}};
  instrumented::TrackCompiled(program, metas);
  instrumented::TrackLaunch(program);
  EXPECT_EQ(figures(13).kernels.total().footprint, 16u * 4300);
  EXPECT_EQ(figures(13).kernels.total().count, 1u);
  EXPECT_EQ(figures(13).kernels.estimated.count, 0u);
  for (const auto& one : holdings(13)) EXPECT_FALSE(one.estimated);
  instrumented::ReleaseProgramWithTracking(program);
  EXPECT_EQ(figures(13).kernels.total().footprint, 0u);
}

TEST_F(Wrappers, MovedProgramIsTheSameProgram) {
  instrumented::UseDevice(14);
  Program program;
  const CircularBufferConfig config(512, kFormats);
  instrumented::CreateCircularBufferWithTracking(program, CoreCoord{0, 0}, config);
  Program moved = std::move(program);
  {
    instrumented::ProgramTracking until_here(moved);
    instrumented::CreateCircularBufferWithTracking(moved, CoreCoord{0, 0}, config);
    EXPECT_EQ(figures(14).program_l1.count, 1u);
    EXPECT_EQ(figures(14).program_l1.allocated, 1024u);
  }
  EXPECT_EQ(figures(14).program_l1.allocated, 0u);
}

TEST_F(Wrappers, ProgramOnAMeshIsOnEachOfItsDevices) {
  IDevice first(15), second(16);
  distributed::MeshDevice mesh({&first, &second});
  instrumented::UseDevice(&mesh);
  Program program;
  instrumented::CreateCircularBufferWithTracking(program, CoreCoord{0, 0},
                                                 CircularBufferConfig(2048, kFormats));
  EXPECT_EQ(figures(15).program_l1.allocated, 2048u);
  EXPECT_EQ(figures(16).program_l1.allocated, 2048u);
  instrumented::ReleaseProgramWithTracking(program);
}

TEST_F(Wrappers, EarlyFormEndsWithItsLastPointer) {
  early::Device device{17};
  const early::CircularBufferConfig config{1024 * 2048, 5};
  {
    const std::shared_ptr<early::CircularBuffer> buffer =
        instrumented::CreateCircularBufferWithTracking(&device, kFormats, config);
    EXPECT_EQ(buffer->bytes, 2097152u);
    const auto copy = buffer;
    EXPECT_EQ(figures(17).program_l1.allocated, 2097152u);
  }
  EXPECT_EQ(figures(17).program_l1.allocated, 0u);
}

TEST_F(Wrappers, EarlyKernelsCountCoresNotRanges) {
  early::Device device{18};
  early::Program program{&device};
  const CoreRangeSet cores({{{0, 0}, {3, 0}}, {{0, 1}, {3, 1}}});
  ASSERT_EQ(cores.size(), 2u);
  const std::uint32_t handle =
      instrumented::AddKernelWithTracking(program, KernelConfig(ComputeConfig{}), cores);
  EXPECT_EQ(handle, 7u);
  std::uint64_t estimated = 0;
  for (const auto& one : holdings(18)) estimated += one.footprint.value_or(0);
  EXPECT_EQ(estimated, 8u * 51200);
  instrumented::ReleaseProgramWithTracking(program);
}

TEST_F(Wrappers, ConfigTellsTheCoreType) {
  instrumented::UseDevice(19);
  Program program;
  instrumented::CreateKernelWithTracking(program, "router.cpp", CoreCoord{0, 3},
                                         KernelConfig(EthernetConfig{Eth::SENDER}));
  instrumented::CreateKernelFromStringWithTracking(
      program, "void kernel_main() {}", CoreCoord{0, 4}, KernelConfig(EthernetConfig{Eth::IDLE}));
  std::vector<ttmem::ledger::CoreType> types;
  for (const auto& one : holdings(19)) {
    if (one.kind == HoldingKind::kKernel) types.push_back(one.core_type);
  }
  EXPECT_EQ(types,
            (std::vector{ttmem::ledger::CoreType::kActiveEth, ttmem::ledger::CoreType::kIdleEth}));
  instrumented::ReleaseProgramWithTracking(program);
}

}  // namespace
