// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <thread>
#include <vector>

#include "client/recording.hpp"

namespace ttmem::client {
namespace {

class Steps : public Recording {
 protected:
  // How many steps each note says there were, in order.
  std::vector<std::uint64_t> told() {
    std::vector<std::uint64_t> all;
    for (const segment::Event& event : reader().events()) {
      const Payload& note = event.payload;
      if (event.slot != segment::kNoSlot) continue;
      if (Meta::block(note.meta) != static_cast<std::uint64_t>(segment::Note::kStep)) continue;
      EXPECT_NE(note.time, 0u);
      all.push_back(note.a);
    }
    return all;
  }
};

TEST_F(Steps, AreNotesInTheirOrder) {
  for (int i = 0; i < 3; ++i) recorder->next_step();
  EXPECT_EQ(told(), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(Steps, OfManyThreadsAreAllCounted) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) recorder->next_step();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(reader().counters().events[16 + static_cast<int>(segment::Note::kStep)], 1000u);
  EXPECT_EQ(told().size(), 1000u);
}

}  // namespace
}  // namespace ttmem::client
