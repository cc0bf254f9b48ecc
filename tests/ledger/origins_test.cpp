// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What an origin says: its line, its operation, its region, its path.
#include "ledger/origins.hpp"

#include <gtest/gtest.h>

#include "ledger/catalog.hpp"

namespace ttmem::ledger {
namespace {

// model > layer 3 > main.py:7 <module> > model.py:81 forward > ttnn.add > decorators.py:12 call
class OriginsOfAModel : public testing::Test {
 protected:
  OriginsOfAModel() {
    names.set_string(1, "model");
    names.set_string(2, "layer 3");
    names.set_string(3, "ttnn.add");
    names.set_string(4, "host.cpp:9 main");
    names.set_frame(10, {.file = "main.py", .function = "<module>", .line = 7});
    names.set_frame(11, {.file = "model.py", .function = "forward", .line = 81});
    names.set_frame(12, {.file = "decorators.py", .function = "call", .line = 12, .inner = true});
    names.set_origin(20, {.kind = OriginKind::kRegion, .name = 1, .line = 4});
    names.set_origin(21, {.kind = OriginKind::kRegion, .parent = 20, .name = 2});
    names.set_origin(22, {.kind = OriginKind::kFrame, .parent = 21, .frame = 10});
    names.set_origin(23, {.kind = OriginKind::kFrame, .parent = 22, .frame = 11});
    names.set_origin(24, {.kind = OriginKind::kOperation, .parent = 23, .name = 3});
    names.set_origin(25, {.kind = OriginKind::kFrame, .parent = 24, .frame = 12});
  }
  std::string path(OriginId id) const {
    std::string text;
    for (const OriginId step : names.origins().path(id)) {
      text += (text.empty() ? "" : " > ") + std::string(names.step_of(step));
    }
    return text;
  }
  Catalog names;
};

TEST_F(OriginsOfAModel, TheLineIsTheInnermostFrameOutsideTtnn) {
  EXPECT_EQ(names.line_of(25), "model.py:81 forward");
  EXPECT_EQ(names.line_of(22), "main.py:7 <module>");
  EXPECT_EQ(names.line_of(21), "host.cpp:9 main") << "of the region, where no frame is known";
  EXPECT_EQ(names.line_of(0), "");
}

TEST_F(OriginsOfAModel, OperationAndRegionAreTheInnermostOnes) {
  EXPECT_EQ(names.operation_of(25), "ttnn.add");
  EXPECT_EQ(names.operation_of(23), "");
  EXPECT_EQ(names.region_of(25), "layer 3");
  EXPECT_EQ(names.region_of(20), "model");
}

TEST_F(OriginsOfAModel, APathGoesFromTheRootInwards) {
  EXPECT_EQ(path(25),
            "model > layer 3 > main.py:7 <module> > model.py:81 forward > ttnn.add > "
            "decorators.py:12 call");
}

TEST_F(OriginsOfAModel, ABufferIsNamedByItsOperationThenTheLaunchThenItsRegion) {
  EXPECT_EQ(names.operation_of(24, 2), "ttnn.add");
  EXPECT_EQ(names.operation_of(23, 3), "ttnn.add") << "of the launch that followed";
  EXPECT_EQ(names.operation_of(23, 0), "layer 3");
  EXPECT_EQ(names.operation_of(0, 0), "");
}

TEST_F(OriginsOfAModel, AParentThatIsYoungerOrUnknownIsNone) {
  names.set_origin(30, {.kind = OriginKind::kFrame, .parent = 30, .frame = 11});
  names.set_origin(31, {.kind = OriginKind::kFrame, .parent = 40, .frame = 11});
  names.set_origin(40, {.kind = OriginKind::kFrame, .parent = 31, .frame = 99});
  EXPECT_EQ(path(30), "model.py:81 forward");
  EXPECT_EQ(path(40), "model.py:81 forward > ?");
}

TEST(OriginText, SaysWhatIsKnown) {
  EXPECT_EQ(text_of({.file = "a.py", .function = "f", .line = 3}), "a.py:3 f");
  EXPECT_EQ(text_of({.file = "a.py"}), "a.py");
  EXPECT_EQ(text_of({.line = 3}), "?:3");
}

TEST_F(OriginsOfAModel, WhatItLaunchesStandsBesideIt) {
  names.set_string(90, "BinaryNgDeviceOperation");
  names.set_string(91, "TilizeDeviceOperation");
  const OriginNode launch = {.kind = OriginKind::kLaunch, .parent = 25, .name = 90};
  names.set_origin(91, launch);
  names.set_origin(92, launch);
  EXPECT_EQ(names.device_operation_of(25, 0), "BinaryNgDeviceOperation") << "once";
  EXPECT_EQ(names.device_operation_of(24, 0), "");
  names.set_origin(93, {.kind = OriginKind::kLaunch, .parent = 25, .name = 91});
  EXPECT_EQ(names.device_operation_of(25, 0), "BinaryNgDeviceOperation, TilizeDeviceOperation");
  EXPECT_EQ(names.device_operation_of(24, 91), "TilizeDeviceOperation") << "that followed";
}

}  // namespace
}  // namespace ttmem::ledger
