// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/owners.hpp"
#include "view/json.hpp"
#include "view/text.hpp"

namespace ttmem::view {
namespace {

using ledger::EventKind;
using ledger::EventView;
using testing::HasSubstr;

TEST(EventText, SaysWhenWhoWhereAndWhat) {
  EventView event;
  event.kind = EventKind::kProgramLoaded;
  event.process = test::owner(12345);
  event.id = 0xabc;
  event.type = ledger::KernelType::kFabric;
  event.footprint = 917504;
  event.loaded_after = true;
  event.kernels = {{"k", "", ledger::CoreType::kTensix, 255, 57344, 16, 917504}};
  event.devices = {{0, 1, 917504, 0}};
  event.name = "router";
  const std::string line = event_text(event, {});
  EXPECT_THAT(line, HasSubstr("12345 python3"));
  EXPECT_THAT(line, HasSubstr("device 0"));
  EXPECT_THAT(line, HasSubstr("program_loaded"));
  EXPECT_THAT(line, HasSubstr("fabric program 0xabc router, 1 kernel, footprint +896.0 KiB\n"));
}

TEST(EventText, EveryKindIsOneLine) {
  for (int kind = 0; kind <= static_cast<int>(EventKind::kStep); ++kind) {
    EventView event;
    event.kind = static_cast<EventKind>(kind);
    event.process = test::owner(1, "a\nb");
    event.name = event.operation = event.line = event.reason = "a\nb";
    const std::string line = event_text(event, {});
    EXPECT_EQ(line.find('\n'), line.size() - 1);
  }
}

TEST(EventJson, ZeroIsAnIdLikeAnyOther) {
  EventView event;
  event.process = test::owner(1);
  event.kind = EventKind::kBufferAllocated;
  EXPECT_THAT(event_json(event), HasSubstr(R"("id":"0x0")"));
  event.kind = EventKind::kDeviceOpened;
  EXPECT_THAT(event_json(event), HasSubstr(R"("id":null)"));
  event.kind = EventKind::kAnomaly;
  event.reason = "unknown_free";
  EXPECT_THAT(event_json(event), HasSubstr(R"("unknown_id":"0x0")"));
  event.reason = "audit";
  EXPECT_THAT(event_json(event), HasSubstr(R"("unknown_id":null)"));
}

}  // namespace
}  // namespace ttmem::view
