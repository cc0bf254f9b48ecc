// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// D28: fields of 32 bits that the capacity of a channel does not fit into.
#include <cstring>

#include <gtest/gtest.h>

#include "legacy/service.hpp"

namespace ttmem::legacy {
namespace {

class NoLog final : public Log {
 public:
  void event(std::string_view) override {}
  void report(std::string_view) override {}
  void error(std::string_view) override {}
};

template <typename T>
T at(const std::string& answer, std::size_t offset) {
  T value{};
  std::memcpy(&value, answer.data() + offset, sizeof value);
  return value;
}

std::string device_info(std::uint64_t dram_bytes, std::uint32_t channels) {
  NoLog log;
  Service service({.directory = "", .write_segments = false}, log);
  ledger::Snapshot snapshot;
  snapshot.devices.resize(1);
  snapshot.devices[0].figures.space(ledger::Space::kDram).capacity = dram_bytes;
  snapshot.devices[0].dram_banks = channels;
  service.observe(snapshot);
  Request request;
  request.type = Type::kDeviceInfoQuery;
  return service.answer(request, Form::k144, 0);
}

TEST(Answers, D28CapacitiesSaturateInsteadOfWrapping) {
  constexpr std::uint64_t kGiB = 1ull << 30;
  const std::string small = device_info(32 * kGiB - 8, 8);
  EXPECT_EQ(at<std::uint64_t>(small, 88), 32 * kGiB - 8);
  EXPECT_EQ(at<std::uint32_t>(small, 108), 8u);
  EXPECT_EQ(at<std::uint32_t>(small, 112), 4 * kGiB - 1);
  // Exactly 4 GiB a channel would wrap to 0.
  for (const std::uint64_t dram : {32 * kGiB, 64 * kGiB}) {
    const std::string large = device_info(dram, 8);
    EXPECT_EQ(at<std::uint64_t>(large, 88), dram);
    EXPECT_EQ(at<std::uint32_t>(large, 112), 0xFFFFFFFFu);
  }
}

}  // namespace
}  // namespace ttmem::legacy
