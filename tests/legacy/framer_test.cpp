// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// From bytes to messages, in every form and cut everywhere.
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "legacy/wire.hpp"

namespace ttmem::legacy {
namespace {

constexpr std::int32_t kSender = 4711;

std::string message(std::size_t form, std::uint8_t type, std::int32_t device, std::uint64_t size,
                    std::uint8_t kind, std::uint64_t id, std::int32_t pid = kSender) {
  std::string bytes(form, '\0');
  bytes[0] = static_cast<char>(type);
  bytes[16] = static_cast<char>(kind);
  std::memcpy(bytes.data() + 4, &device, 4);
  std::memcpy(bytes.data() + 8, &size, 8);
  std::memcpy(bytes.data() + 20, &pid, 4);
  std::memcpy(bytes.data() + 24, &id, 8);
  return bytes;
}

std::string wrapper(std::uint8_t type, std::uint64_t size, std::uint64_t id) {
  std::string bytes(32, '\0');
  bytes[0] = static_cast<char>(type);
  std::memcpy(bytes.data() + 8, &size, 8);
  std::memcpy(bytes.data() + 16, &id, 8);
  std::memcpy(bytes.data() + 24, &kSender, 4);
  return bytes;
}

void feed(Framer& framer, const std::string& bytes, std::int32_t sender = kSender) {
  framer.feed(std::as_bytes(std::span(bytes)), sender);
}

std::vector<std::uint64_t> ids(Framer& framer) {
  std::vector<std::uint64_t> found;
  Request request;
  while (framer.next(request) == Framer::State::kMessage) found.push_back(request.id);
  return found;
}

TEST(Framer, JoinedMessagesTellTheirForm) {
  for (const std::size_t form : {72u, 112u, 128u, 144u}) {
    Framer framer;
    feed(framer, message(form, 1, 0, 64, 1, 1) + message(form, 1, 3, 64, 0, 2) +
                     message(form, 2, 0, 0, 0, 1));
    EXPECT_EQ(ids(framer), (std::vector<std::uint64_t>{1, 2, 1})) << form;
    EXPECT_EQ(bytes_of(framer.form()), form);
  }
}

TEST(Framer, ASingleShortFormNeedsSilence) {
  for (const std::size_t form : {72u, 112u, 128u}) {
    Framer framer;
    feed(framer, message(form, 3, 0, 0, 0, 0));
    Request request;
    EXPECT_EQ(framer.next(request), Framer::State::kSilence);
    framer.silence();
    EXPECT_EQ(framer.next(request), Framer::State::kMessage);
    EXPECT_EQ(bytes_of(framer.form()), form);
  }
}

TEST(Framer, TheLastFormIsToldAtOnce) {
  Framer framer;
  feed(framer, message(144, 3, 2, 0, 0, 0));
  Request request;
  ASSERT_EQ(framer.next(request), Framer::State::kMessage);
  EXPECT_EQ(request.device, 2);
}

TEST(Framer, OnceTheFormIsToldAnyDeviceIsAValue) {
  Framer framer;
  feed(framer, message(144, 1, 0, 64, 1, 1) + message(144, 1, -5, 64, 1, 2) +
                   message(144, 1, 1 << 20, 64, 1, 3));
  EXPECT_EQ(ids(framer), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(Framer, TheFirstDeviceTellsWhetherThisIsTheProtocol) {
  Framer framer;
  feed(framer, message(144, 1, -5, 64, 1, 1));
  Request request;
  EXPECT_EQ(framer.next(request), Framer::State::kBroken);
}

TEST(Framer, CutAnywhereTheMessagesAreTheSame) {
  const std::string stream =
      message(144, 1, 0, 64, 1, 1) + message(144, 8, 1, 64, 0, 2) + message(144, 10, 2, 64, 1, 3);
  for (std::size_t cut = 1; cut < stream.size(); ++cut) {
    Framer framer;
    feed(framer, stream.substr(0, cut));
    std::vector<std::uint64_t> all = ids(framer);
    feed(framer, stream.substr(cut));
    for (const std::uint64_t id : ids(framer)) all.push_back(id);
    EXPECT_EQ(all, (std::vector<std::uint64_t>{1, 2, 3})) << cut;
  }
}

TEST(Framer, WrappersAreToldByThePid) {
  Framer framer;
  feed(framer, wrapper(8, 4096, 5) + wrapper(10, 51200, 7ull << 32 | 1) + wrapper(9, 4096, 5));
  EXPECT_EQ(ids(framer), (std::vector<std::uint64_t>{5, 7ull << 32 | 1, 5}));
  EXPECT_EQ(framer.form(), Form::kWrapper);
}

TEST(Framer, WhatIsNoMessageIsBroken) {
  std::string pad = message(144, 1, 0, 64, 1, 1);
  pad[2] = 1;
  std::string odd = message(144, 1, 0, 64, 1, 1);
  odd[100] = 1;
  for (const std::string& bytes :
       {std::string("QUERY_ALL\n"), std::string(1, '\0'), std::string(144, '\n'), pad, odd,
        message(144, 1, 65536, 64, 1, 1), message(144, 13, 0, 64, 1, 1)}) {
    Framer framer;
    feed(framer, bytes);
    Request request;
    EXPECT_EQ(framer.next(request), Framer::State::kBroken);
    EXPECT_FALSE(framer.problem().empty());
    feed(framer, message(144, 1, 0, 64, 1, 1));
    EXPECT_EQ(framer.next(request), Framer::State::kBroken) << "for good";
  }
}

TEST(Framer, AFormThatChangesIsBroken) {
  Framer framer;
  feed(framer, message(128, 1, 0, 64, 1, 1) + message(128, 1, 0, 64, 1, 2));
  EXPECT_EQ(ids(framer).size(), 2u);
  feed(framer, message(112, 1, 0, 64, 1, 3) + message(112, 1, 0, 64, 1, 4));
  Request request;
  EXPECT_EQ(framer.next(request), Framer::State::kBroken);
}

TEST(Framer, HalfAMessageIsNone) {
  for (const std::size_t bytes : {1u, 39u, 71u, 100u, 143u}) {
    Framer framer;
    feed(framer, message(144, 1, 0, 64, 1, 1).substr(0, bytes));
    Request request;
    EXPECT_EQ(framer.next(request), Framer::State::kMore) << bytes;
    framer.silence();
    EXPECT_NE(framer.next(request), Framer::State::kMessage) << bytes;
  }
}

TEST(Framer, SendersAreKeptApart) {
  Framer framer;
  feed(framer, message(144, 1, 0, 64, 1, 1), 1);
  feed(framer, message(144, 1, 0, 64, 1, 2), 2);
  Request request;
  ASSERT_EQ(framer.next(request), Framer::State::kMessage);
  EXPECT_EQ(framer.sender(), 1);
  ASSERT_EQ(framer.next(request), Framer::State::kMessage);
  EXPECT_EQ(framer.sender(), 2);
  const std::string half = message(144, 1, 0, 64, 1, 3);
  feed(framer, half.substr(0, 80), 1);
  feed(framer, half.substr(80), 2);
  EXPECT_EQ(framer.next(request), Framer::State::kBroken);
}

TEST(Wire, AnswersAreLaidOutForTheForm) {
  Answer answer;
  answer.dram = 104857600;
  answer.l1 = 12582912;
  answer.kernels = 208896;
  answer.total_dram = 5;
  answer.devices = 9;
  answer.ring_capacity = 70656;
  for (const Form form : {Form::k72, Form::k112, Form::k128, Form::k144}) {
    const std::string bytes = encode(answer, form);
    ASSERT_EQ(bytes.size(), bytes_of(form));
    const auto word = [&](std::size_t at) {
      std::uint64_t value;
      std::memcpy(&value, bytes.data() + at, sizeof value);
      return value;
    };
    EXPECT_EQ(bytes[0], 4);
    EXPECT_EQ(word(40), 104857600u);
    EXPECT_EQ(word(48), 12582912u);
    if (form == Form::k112) {
      EXPECT_EQ(word(72), 5u);
    }
    if (form == Form::k128 || form == Form::k144) {
      EXPECT_EQ(word(80), 208896u);
      EXPECT_EQ(word(88), 5u);
    }
    if (form == Form::k144) {
      EXPECT_EQ(word(128) & 0xFFFFFFFF, 70656u);
    }
  }
}

}  // namespace
}  // namespace ttmem::legacy
