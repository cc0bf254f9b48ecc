// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Pages of holdings, put together, are the list of all holdings, filtered: whatever is asked for,
// however large the pages are, and whatever came and went before.
#include "ledger/holding_page.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

class Host {
 public:
  Host() {
    for (World* world : {&first_, &second_}) {
      const SetIndex one = world->set({1}), both = world->set({1, 2});
      sets_ = {one, both};
      allocators_ = {world->allocator(one), world->allocator(both, 1 << 16)};
    }
  }
  void change(std::mt19937& random) {
    const auto below = [&](std::size_t limit) { return random() % limit; };
    World& world = below(2) == 0 ? first_ : second_;
    const SetIndex set = sets_[below(2)];
    std::vector<SlotIndex>& buffers = buffers_[&world == &first_ ? 0 : 1];
    std::vector<std::uint64_t>& programs = programs_[&world == &first_ ? 0 : 1];
    switch (below(8)) {
      case 0:
        world.program(++id_, set, std::vector<Cb>(below(4), {kProgramBase, 64, {0, 0, 1, 1}}),
                      std::vector<Kernel>(below(3), {500, {0, 0, 1, 0}}));
        programs.push_back(id_);
        return;
      case 1:
        if (programs.empty()) return;
        world.drop(programs.back());
        return programs.pop_back();
      case 2:
        return world.trace(++id_, set, {});
      case 3:
      case 4:
        if (buffers.empty()) return;
        world.clear(buffers.back());
        return buffers.pop_back();
      default:
        buffers.push_back(world.buffer(allocators_[below(2)],
                                       below(3) == 0 ? Space::kL1 : Space::kDram, 1 << 20, 64, 64));
    }
  }
  std::vector<ProcessInput> inputs() const { return {first_.input(7), second_.input(8, false)}; }

 private:
  World first_{2, 8, 8, 40}, second_{2, 8, 8, 40};
  std::vector<SetIndex> sets_;
  std::vector<AllocatorIndex> allocators_;
  std::vector<SlotIndex> buffers_[2];
  std::vector<std::uint64_t> programs_[2];
  std::uint64_t id_ = 0;
};

std::string text(const HoldingView& view) {
  return fmt::format("{} {} {} {} {}", view.process->pid, name(view.kind), view.id,
                     view.index.value_or(0), view.devices.size());
}

bool is_wanted(const HoldingQuestion& question, const HoldingView& view) {
  const auto has = [](const auto& list, const auto& value) {
    return list.empty() || std::ranges::find(list, value) != list.end();
  };
  return has(question.kinds, view.kind) && (!question.of || question.of(*view.process)) &&
         (question.spaces.empty() ||
          (view.kind == HoldingKind::kBuffer && has(question.spaces, view.space))) &&
         (!question.device ||
          std::ranges::find(view.devices, *question.device) != view.devices.end());
}

HoldingQuestion any_question(std::mt19937& random) {
  HoldingQuestion question;
  for (std::size_t i = 0; i < 5; ++i) {
    if (random() % 4 == 0) question.kinds.push_back(static_cast<HoldingKind>(i));
  }
  if (random() % 4 == 0) question.spaces = {Space::kL1};
  if (random() % 4 == 0) question.spaces.push_back(Space::kDram);
  if (random() % 2 == 0) question.device = 40 + random() % 3;
  if (random() % 2 == 0) question.of = [](const ProcessName& process) { return process.alive; };
  return question;
}

TEST(HoldingPage, PagesTogetherAreAllThatIsAskedFor) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  Host host;
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 100; ++i) host.change(random);
    const std::vector<ProcessInput> inputs = host.inputs();
    PeakMemory peaks;
    const Snapshot snapshot = assemble(inputs, peaks);
    const HoldingQuestion question = any_question(random);
    std::vector<std::string> all, paged;
    for_each_holding(inputs, snapshot, [&](const HoldingView& view) {
      if (is_wanted(question, view)) all.push_back(text(view));
    });
    HoldingPlace place;
    std::size_t left = 0;
    const std::size_t limit = 1 + random() % 40;
    const auto take = [&](const HoldingView& view) {
      paged.push_back(text(view));
      return --left > 0;
    };
    do {
      left = limit;
    } while (visit_holdings(inputs, snapshot, question, place, take));
    ASSERT_EQ(paged, all) << "round " << round;
    ASSERT_EQ(count_holdings(inputs, snapshot, question), all.size()) << "round " << round;
  }
}

TEST(HoldingPage, GoesOnWhereItWasWhenProcessesComeAndGo) {
  World worlds[3];
  for (World& world : worlds) {
    const AllocatorIndex allocator = world.allocator(world.set({1}));
    for (int i = 0; i < 3; ++i) world.buffer(allocator, Space::kDram, 1 << 20, 64, 64);
  }
  const auto input = [&](std::size_t i) {
    ProcessInput process = worlds[i].input(static_cast<int>(i) + 1);
    process.identity.key = i + 100;
    return process;
  };
  const auto next = [](const std::vector<ProcessInput>& inputs, HoldingPlace& place) {
    PeakMemory peaks;
    std::string found;
    visit_holdings(inputs, assemble(inputs, peaks), {}, place, [&](const HoldingView& view) {
      found = fmt::format("{} {}", view.process->pid, view.id);
      return false;
    });
    return found;
  };
  HoldingPlace place;
  const std::vector<ProcessInput> two = {input(1), input(2)};
  const std::string first = next(two, place), second = next(two, place);
  EXPECT_NE(first, second);
  HoldingPlace later = place;
  const std::string third = next({input(0), input(1), input(2)}, later);
  EXPECT_EQ(third.substr(0, 2), "2 ");
  EXPECT_NE(third, second);
  EXPECT_EQ(next({input(2)}, place).substr(0, 2), "3 ");
}

}  // namespace
}  // namespace ttmem::ledger
