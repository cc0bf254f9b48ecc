// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/devices.hpp"

#include "client/recording.hpp"

namespace ttmem::client {
namespace {

class DevicesTest : public Recording {
 protected:
  DevicesTest() : Recording(2) {}
  segment::Device device(std::size_t chip) {
    return reader().record<segment::Device>(segment::kDevicesOffset, chips[chip]);
  }
};

TEST_F(DevicesTest, ADeviceIsDescribedOnce) {
  ttmem_device_info info = device_info(7);
  const ttmem_core cores[] = {{1, 2, TTMEM_ROLE_WORKER, TTMEM_CORE_TENSIX, 3, 4, {0, 0}}};
  info.cores = cores;
  info.core_count = 1;
  info.geometry[0] = {1499136, 35008, 35008, 70656, 105664};
  const ttmem_device_t id = recorder->devices.opened(info);
  const auto seen = reader();
  const auto record = seen.record<segment::Device>(segment::kDevicesOffset, id);
  EXPECT_EQ(record.unique_id, 7u);
  EXPECT_EQ(record.open, 1);
  EXPECT_EQ(record.open_count, 1u);
  EXPECT_EQ(record.geometry[0].ring_bytes, 70656u);
  EXPECT_EQ(seen.blob(record.board), "n150");
  EXPECT_EQ(seen.blob(record.cores).size(), sizeof(ttmem_core));
  EXPECT_EQ(record.version % 2, 0u);
}

TEST_F(DevicesTest, OpenedAgainItKeepsItsId) {
  recorder->device_closed(chips[0]);
  EXPECT_EQ(device(0).open, 0);
  EXPECT_NE(device(0).closed_ticks, 0u);
  EXPECT_EQ(recorder->devices.opened(device_info(100)), chips[0]);
  EXPECT_EQ(device(0).open, 1);
  EXPECT_EQ(device(0).open_count, 2u);
  ttmem_device_info real = device_info(100);
  real.mock = 0;
  EXPECT_NE(recorder->devices.opened(real), chips[0]);  // another kind of device
}

TEST_F(DevicesTest, EqualSetsAreOne) {
  EXPECT_EQ(set_of({chips[0], chips[1]}), set);
  EXPECT_NE(set_of({chips[1], chips[0]}), set);  // another order is another mesh
  ttmem_set_info shaped = {};
  shaped.device_count = 2;
  shaped.devices = chips.data();
  shaped.rows = 1;
  shaped.columns = 2;
  const ttmem_set_t mesh = recorder->devices.set(shaped);
  EXPECT_NE(mesh, set);
  shaped.parent = set;
  EXPECT_NE(recorder->devices.set(shaped), mesh);
  const auto record = reader().record<segment::DeviceSet>(segment::kDeviceSetsOffset, mesh);
  EXPECT_EQ(record.columns, 2);
  EXPECT_EQ(reader().blob(record.devices).size(), 2 * sizeof(ttmem_device_t));
}

TEST_F(DevicesTest, UnknownDevicesMakeNoSet) {
  EXPECT_EQ(set_of({77}), 0);
  EXPECT_EQ(set_of({}), 0);
  recorder->device_closed(77);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR), 3u);
}

TEST_F(DevicesTest, ThereAreLimitsAndTheyAreCounted) {
  for (std::uint64_t i = 2; i < segment::kMaxDevices - 1; ++i) {
    ASSERT_NE(recorder->devices.opened(device_info(1000 + i)), 0) << i;
  }
  EXPECT_EQ(recorder->devices.opened(device_info(5000)), 0);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_LIMIT), 1u);
}

TEST_F(DevicesTest, AuditsAreKeptAndTwoThatDifferAreAnAnomaly) {
  recorder->allocators.audited(allocator, 0, 100, 100);
  recorder->allocators.audited(allocator, 0, 100, 200);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_AUDIT), 0u);
  recorder->allocators.audited(allocator, 0, 100, 300);
  EXPECT_EQ(reader().anomalies(TTMEM_ANOMALY_AUDIT), 1u);
  const auto record = reader().record<segment::Allocator>(segment::kAllocatorsOffset, allocator);
  EXPECT_EQ(record.spaces[0].audits, 3u);
  EXPECT_EQ(record.spaces[0].audit_theirs, 300u);
}

TEST_F(DevicesTest, InternedDataAreStoredOnce) {
  const auto a = recorder->interning.string("matmul", 6);
  EXPECT_NE(a, 0u);
  EXPECT_EQ(recorder->interning.string("matmul", 6), a);
  EXPECT_NE(recorder->interning.string("matmu", 5), a);
  EXPECT_EQ(reader().blob(a), "matmul");
  const auto line = recorder->interning.line("model.py", 12, "forward");
  EXPECT_EQ(reader().blob(line), "model.py:12 forward");
  const std::uint16_t banks[] = {3, 1, 3, 2};
  const auto set_of_banks = recorder->interning.banks(banks, 4);
  EXPECT_EQ(reader().blob(set_of_banks), std::string("\1\0\2\0\3\0", 6));
  EXPECT_EQ(recorder->writer.interner.core_count(set_of_banks), 3u);
  EXPECT_EQ(cores(0, 0, 7, 7), cores(0, 0, 7, 7));
  EXPECT_EQ(recorder->writer.interner.core_count(cores(0, 0, 7, 7)), 64u);
}

TEST_F(DevicesTest, ManyStringsKeepTheirBytes) {
  std::vector<std::uint32_t> ids;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = "operation number " + std::to_string(i);
    ids.push_back(recorder->interning.string(text.data(), text.size()));
    ASSERT_NE(ids.back(), 0u);
  }
  const auto seen = reader();
  for (std::size_t i = 0; i < ids.size(); i += 997) {
    EXPECT_EQ(seen.blob(ids[i]), "operation number " + std::to_string(i));
  }
}

TEST_F(DevicesTest, WatermarksRememberTheirOwnPeak) {
  allocate(buffer(1, 1000));
  const std::uint32_t mark = recorder->watermark_open(recorder->interning.string("region", 6));
  ASSERT_EQ(mark, 1u);
  allocate(buffer(2, 500));
  release(2);
  ttmem_figures seen = {};
  ASSERT_EQ(recorder->watermark_read(mark, chips[0], 0, &seen), 0);
  EXPECT_EQ(seen.taken, 12000u);
  EXPECT_EQ(seen.peak, 18000u);
  EXPECT_EQ(peak(0), 18000u);
  recorder->watermark_close(mark);
  EXPECT_EQ(recorder->watermark_read(mark, chips[0], 0, &seen), ENOENT);
  for (std::uint32_t i = 1; i <= segment::kMaxWatermarks; ++i) {
    EXPECT_EQ(recorder->watermark_open(0), i);
  }
  EXPECT_EQ(recorder->watermark_open(0), 0u);
}

TEST_F(DevicesTest, TheHeaderSaysWhoAndWhat) {
  ttmem_process_info info = {};
  info.source = TTMEM_SOURCE_INJECTOR;
  info.attached_late = 1;
  info.runtime_version = "0.81.1";
  info.hook_names = "a\nb";
  info.hooks_wanted[0] = 3;
  info.hooks_bound[0] = 1;
  recorder->process_described(info);
  const auto seen = reader();
  EXPECT_STREQ(seen.header().runtime_version, "0.81.1");
  EXPECT_EQ(seen.blob(seen.header().hook_names), "a\nb");
  EXPECT_EQ(seen.header().hooks_bound[0], 1u);
  EXPECT_EQ(seen.header().subject.pid, getpid());
  EXPECT_NE(seen.header().subject.start_ticks, 0u);
  EXPECT_NE(seen.header().subject.pid_namespace, 0u);
  EXPECT_EQ(seen.header().flags & segment::kHeaderAttachedLate, segment::kHeaderAttachedLate);
  EXPECT_EQ(seen.header().flags & segment::kHeaderNotTmpfs, 0u);
  recorder->close();
  EXPECT_EQ(reader().header().ended, 1u);
  EXPECT_EQ(reader().notes(segment::Note::kEnded), 1u);
}

TEST_F(DevicesTest, ANewSegmentHasLessThanAMegabyteOfBlocks) {
  struct stat status;
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_LE(status.st_blocks * 512, 1 << 20);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

}  // namespace
}  // namespace ttmem::client
