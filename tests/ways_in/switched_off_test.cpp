// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The original's variable decides: unset, empty or 0 records nothing and makes no segment. The
// variable is read once a process, so each case is a process of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "metal_stand_in.hpp"
// The stand-in has to come first: a patched TT-Metal includes the tracker beside its own headers.
#include <ttmem/allocation_tracker.hpp>

#include "own_figures.hpp"

namespace {

using namespace tt::tt_metal;

struct Outcome {
  bool enabled = false, has_segment = false;
};

Outcome record_with(const char* value) {
  const pid_t child = fork();
  if (child == 0) {
    value == nullptr ? unsetenv("TT_ALLOC_TRACKING_ENABLED")
                     : setenv("TT_ALLOC_TRACKING_ENABLED", value, 1);
    AllocationClient::report_allocation(0, 4096, 0, 1);
    AllocationClient::report_cb_allocation(0, 4096, 2);
    AllocationClient::report_kernel_load(0, 4096, 3, KERNEL_TYPE_APPLICATION);
    _exit(allocation_tracker::is_tracking_enabled() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  Outcome outcome{.enabled = WEXITSTATUS(status) == 1};
  const std::string start = "ttmem-" + std::to_string(child) + "-";
  for (const auto& file : std::filesystem::directory_iterator(segment_directory())) {
    if (file.path().filename().string().starts_with(start)) outcome.has_segment = true;
  }
  return outcome;
}

using SwitchedOff = WaysIn;

TEST_F(SwitchedOff, UnsetEmptyAndZeroRecordNothing) {
  for (const char* value : {static_cast<const char*>(nullptr), "", "0"}) {
    const Outcome outcome = record_with(value);
    EXPECT_FALSE(outcome.enabled) << (value == nullptr ? "unset" : value);
    EXPECT_FALSE(outcome.has_segment) << (value == nullptr ? "unset" : value);
  }
}

TEST_F(SwitchedOff, OneRecordsWithoutAnythingElse) {
  const Outcome outcome = record_with("1");
  EXPECT_TRUE(outcome.enabled);
  EXPECT_TRUE(outcome.has_segment);
}

}  // namespace
