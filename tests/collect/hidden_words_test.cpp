// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One who answers strangers tells how much others hold, and not what their code looks like.
#include <unistd.h>

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "collect/child_process.hpp"
#include "collect/collector.hpp"
#include "support/temporary_directory.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::collect {
namespace {

ttmem_string_t word(const char* text) { return ttmem_intern_string(text, std::strlen(text)); }

// As lines of Python are told.
ttmem_origin_t origin(ttmem_origin_t around) {
  const std::string file = "model.py", function = "forward";
  const ttmem_step steps[] = {
      {TTMEM_STEP_FRAME,
       ttmem_intern_frame(file.data(), file.size(), 82, function.data(), function.size(), 0)},
      {TTMEM_STEP_OPERATION, word("ttnn.ones")},
  };
  return ttmem_intern_stack(around, steps, 2);
}

// Runs in the child: a buffer and a failure, in a region with a line.
void record(const std::string& directory, const std::function<void()>& ready) {
  ::setenv("TTMEM_DIR", directory.c_str(), 1);
  ttmem_device_info device{};
  device.struct_size = sizeof device;
  device.unique_id = 0xABC;
  const ttmem_device_t id = ttmem_device_opened(&device);
  ttmem_set_info set{};
  set.struct_size = sizeof set;
  set.device_count = 1;
  set.devices = &id;
  ttmem_space_info space{};
  space.space = TTMEM_SPACE_DRAM;
  space.banks = 12;
  space.bank_bytes = 1u << 30;
  ttmem_allocator_info allocator{};
  allocator.struct_size = sizeof allocator;
  allocator.set = ttmem_device_set(&set);
  allocator.space_count = 1;
  allocator.spaces = &space;
  ttmem_buffer buffer{};
  buffer.id = 1;
  buffer.address = 4096;
  buffer.requested = buffer.block = 2048;
  buffer.allocator = ttmem_allocator_opened(&allocator);
  ttmem_tag_push(word("layer 3"), word("model.py:81 forward"));
  ttmem_origins_from(origin);
  ttmem_buffer_allocated(&buffer);
  ttmem_failure failure{};
  failure.struct_size = sizeof failure;
  failure.set = allocator.set;
  failure.message = "out of memory in model.py";
  ttmem_failed(&failure);
  ready();
}

class HiddenWords : public testing::Test {
 protected:
  HiddenWords()
      : child_([this](const std::function<void()>& ready) { record(directory_.path(), ready); }) {}

  // As a reader sees it that tells the words of this user.
  void look(std::optional<std::uint32_t> user) {
    Options options;
    options.directories = {directory_.path()};
    options.words_of_user = user;
    Collector collector(options);
    collector.refresh();
    ASSERT_EQ(collector.snapshot().processes.size(), 1u);
    process = collector.snapshot().processes[0];
    collector.holdings([&](const ledger::HoldingView& each) { holding = each; });
    rows = collector.origins({}).rows;
  }
  ledger::ProcessView process;
  ledger::HoldingView holding;
  std::vector<ledger::OriginTotal> rows;

 private:
  support::TemporaryDirectory directory_;
  support::Child child_;
};

TEST_F(HiddenWords, OfTheUserItselfAreTold) {
  for (const std::optional<std::uint32_t> user : {std::optional(::geteuid()), {}}) {
    look(user);
    EXPECT_FALSE(process.hidden);
    EXPECT_NE(process.command, "");
    ASSERT_EQ(process.failures.size(), 1u);
    EXPECT_EQ(process.failures[0].message, "out of memory in model.py");
    EXPECT_EQ(process.failures[0].told_to, "");
    EXPECT_EQ(holding.line, "model.py:82 forward");
    EXPECT_EQ(holding.operation, "ttnn.ones");
    EXPECT_EQ(holding.region, "layer 3");
    ASSERT_NE(holding.stack, nullptr);
    EXPECT_EQ(*holding.stack,
              (std::vector<std::string>{"layer 3", "model.py:82 forward", "ttnn.ones"}));
    EXPECT_EQ(rows[0].path, std::vector<std::string>{"model.py:82 forward"});
  }
}

TEST_F(HiddenWords, OfOthersAreNotButTheirBytesAre) {
  look(::geteuid() + 1);
  EXPECT_TRUE(process.hidden);
  EXPECT_EQ(process.command, "");
  ASSERT_EQ(process.failures.size(), 1u);
  EXPECT_EQ(process.failures[0].message, "");
  EXPECT_EQ(process.failures[0].line, "");
  EXPECT_EQ(process.failures[0].stack, nullptr);
  EXPECT_EQ(process.failures[0].told_to, process.user);
  EXPECT_NE(process.user, "");
  EXPECT_EQ(holding.line, "");
  EXPECT_EQ(holding.region, "");
  EXPECT_EQ(holding.operation, "ttnn.ones");
  EXPECT_EQ(holding.stack, nullptr) << "an operation alone is none";
  EXPECT_EQ(holding.taken, 12u * 2048);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].path.empty());
  EXPECT_EQ(rows[0].taken(), 12u * 2048);
}

}  // namespace
}  // namespace ttmem::collect
