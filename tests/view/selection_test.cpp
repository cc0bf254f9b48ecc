// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/selection.hpp"

#include <gtest/gtest.h>

#include "support/owners.hpp"
#include "view/units.hpp"

namespace ttmem::test {
namespace {

using view::Selection;

ledger::Snapshot two_devices() {
  ledger::Snapshot snapshot;
  snapshot.devices.resize(2);
  snapshot.devices[0].id = 3;
  snapshot.devices[0].unique_id = 0xab;
  snapshot.devices[1].id = 4;
  snapshot.devices[1].unique_id = 0xcd;
  return snapshot;
}

ledger::HoldingView holding(const ledger::Owner& process, std::vector<std::uint32_t> devices) {
  ledger::HoldingView view;
  view.process = process;
  view.devices = std::move(devices);
  return view;
}

TEST(Selection, ADeviceIsNamedByIdOrUniqueId) {
  const ledger::Snapshot snapshot = two_devices();
  for (const std::string& name : {std::string("4"), view::unique_id_text(0xcd)}) {
    Selection selection;
    ASSERT_EQ(selection.add("device", name), "");
    const auto found = selection.find(snapshot);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ((*found)->id, 4u);
    EXPECT_TRUE(selection.has(holding(owner(1), {3, 4})));
    EXPECT_FALSE(selection.has(holding(owner(1), {3})));
    EXPECT_EQ(selection.of(snapshot).devices.size(), 1u);
  }
}

TEST(Selection, WhatIsNotThereIsSaidWithWhatIs) {
  Selection selection;
  selection.add("device", "7");
  EXPECT_EQ(selection.find(two_devices()).error().message, "there is no device 7; there are: 3, 4");
  EXPECT_FALSE(selection.has(holding(owner(1), {7}))) << "nothing is found, so nothing is selected";
  EXPECT_EQ(selection.find({}).error().message,
            "there is no device 7: no process has reported one");
}

TEST(Selection, NothingAskedForIsAllOfTheLiving) {
  Selection selection;
  EXPECT_TRUE(selection.find(two_devices()));
  EXPECT_TRUE(selection.has(holding(owner(1), {3})));
  EXPECT_FALSE(selection.has(holding(owner(2, "python3", false), {3})));
}

TEST(Selection, AProcessIsNamedByPidOrLabel) {
  const ledger::Owner first = owner(1);
  ledger::ProcessName twin = *first;
  twin.segment = "ttmem-1-1-bb";
  const auto second = std::make_shared<const ledger::ProcessName>(twin);
  const auto selects = [&](const std::string& name, const ledger::Owner& process) {
    Selection selection;
    EXPECT_EQ(selection.add("pid", name), "") << name;
    return selection.has(*process);
  };
  EXPECT_TRUE(selects("1", first) && selects("1", second));
  EXPECT_TRUE(selects("1/1001", first) && selects("1/1001", second));
  EXPECT_TRUE(selects("1/1001/aa", first));
  EXPECT_FALSE(selects("1/1001/aa", second) || selects("1/1002", first) || selects("2", first));
  EXPECT_TRUE(selects("2", owner(2, "python3", false))) << "who is named is meant, alive or dead";
}

TEST(Selection, WrongValuesAreToldWhatTheyMustBe) {
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"device", ""},
                                                                  {"device", "first"},
                                                                  {"device", "-1"},
                                                                  {"device", "0x"},
                                                                  {"pid", ""},
                                                                  {"pid", "-1"},
                                                                  {"pid", "1/"},
                                                                  {"pid", "1x"},
                                                                  {"pid", "1/x"},
                                                                  {"kind", "cat"},
                                                                  {"space", "outer"}}) {
    EXPECT_NE(Selection().add(name, value), "") << name << "=" << value;
  }
  EXPECT_EQ(Selection().add("kind", "cat"), "one of buffer, program, kernel, range, trace");
}

TEST(Selection, KindsAreJoinedAndSpacesAreThoseOfBuffers) {
  Selection selection;
  selection.add("kind", "kernel");
  ledger::HoldingView view = holding(owner(1), {3});
  EXPECT_FALSE(selection.has(view));
  selection.add("kind", "buffer");
  EXPECT_TRUE(selection.has(view));
  selection.add("space", "l1");
  EXPECT_FALSE(selection.has(view));
  view.space = ledger::Space::kL1;
  EXPECT_TRUE(selection.has(view));
  view.kind = ledger::HoldingKind::kKernel;
  EXPECT_FALSE(selection.has(view)) << "a kernel is in no space";
}

}  // namespace
}  // namespace ttmem::test
