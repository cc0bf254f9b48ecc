// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Who is believed about the size of a chip, and what becomes of the others.
#include "ledger/geometry.hpp"

#include <gtest/gtest.h>

#include "ledger/check_sums.hpp"
#include "ledger/world.hpp"

namespace ttmem::ledger {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;

Claim claim(std::uint32_t owner, std::uint64_t start, std::uint64_t bank_bytes = kGiB) {
  Claim claim;
  claim.alive = true;
  claim.owner = owner;
  claim.start = start;
  claim.dram_banks = 12;
  claim.dram_bank_bytes = bank_bytes;
  claim.l1_bytes = 1499136;
  claim.dram_capacity = 12 * (bank_bytes - 1024);
  claim.l1_capacity = 64ull * 1300000;
  return claim;
}

constexpr Contradiction kNone = Contradiction::kNone, kDram = Contradiction::kDram,
                        kL1 = Contradiction::kL1, kHeld = Contradiction::kHeld;
using All = std::vector<Contradiction>;

TEST(Geometry, MostOwnersAgreeingAreBelieved) {
  const Verdict verdict = judge({claim(1, 10, 2 * kGiB), claim(2, 20), claim(3, 30)});
  EXPECT_EQ(verdict.believed, 1u);
  EXPECT_EQ(verdict.contradictions, (All{kDram, kNone, kNone}));
}

TEST(Geometry, ManyProcessesOfOneOwnerAreOneVoice) {
  const Verdict verdict = judge({claim(1, 1, 2 * kGiB), claim(1, 2, 2 * kGiB),
                                 claim(1, 3, 2 * kGiB), claim(2, 20), claim(3, 30)});
  EXPECT_EQ(verdict.contradictions, (All{kDram, kDram, kDram, kNone, kNone}));
}

TEST(Geometry, WhoNamesAnothersProcessHasNoVoice) {
  Claim false_claim = claim(1, 1, 2 * kGiB);
  false_claim.is_false = true;
  Verdict verdict = judge({false_claim, claim(2, 20)});
  EXPECT_EQ(verdict.believed, 1u);
  EXPECT_EQ(verdict.contradictions, (All{Contradiction::kProcess, kNone}));
  verdict = judge({false_claim, Claim{}});
  EXPECT_EQ(verdict.believed, 1u) << "not even where nobody else says anything";
  EXPECT_EQ(verdict.contradictions, (All{Contradiction::kProcess, kNone}));
}

TEST(Geometry, OfTwoTheOneWhoCameFirstIsBelieved) {
  EXPECT_EQ(judge({claim(1, 20, 2 * kGiB), claim(2, 10)}).contradictions, (All{kDram, kNone}));
  Claim dead = claim(1, 1, 2 * kGiB);
  dead.alive = false;
  EXPECT_EQ(judge({dead, claim(2, 10)}).contradictions, (All{kDram, kNone}));
}

TEST(Geometry, TheTrustedAreBelievedAgainstAnyNumberAndNeverLeftOut) {
  Claim own = claim(9, 90);
  own.trusted = true;
  Claim other = own;
  other.dram_bank_bytes = 3 * kGiB;
  const Verdict verdict = judge({claim(1, 1, 2 * kGiB), claim(2, 2, 2 * kGiB), own, other});
  EXPECT_EQ(verdict.believed, 2u);
  EXPECT_EQ(verdict.contradictions, (All{kDram, kDram, kNone, kNone}));
}

TEST(Geometry, AnImpossibleClaimHasNoVoice) {
  Claim endless = claim(1, 1);
  endless.dram_capacity = kMost;
  EXPECT_EQ(judge({endless, claim(2, 10)}).contradictions, (All{kDram, kNone}));
  Claim full = claim(1, 1);
  full.dram_held = 13 * kGiB;
  EXPECT_EQ(judge({full, claim(2, 10)}).contradictions, (All{kHeld, kNone}));
}

TEST(Geometry, OptionsOfTheRuntimeAreNoContradiction) {
  Claim trace = claim(2, 10);
  trace.dram_capacity -= 4096;
  Claim dispatch = claim(3, 20);
  dispatch.l1_capacity = 56ull * 1300000;
  Claim silent = claim(4, 30);
  silent.dram_banks = 0;
  silent.dram_bank_bytes = silent.dram_capacity = silent.l1_capacity = silent.l1_bytes = 0;
  for (const auto& claims : {std::vector{claim(1, 1), trace, dispatch, silent},
                             {dispatch, claim(9, 30), trace},
                             {silent, dispatch, trace}}) {
    EXPECT_EQ(judge(claims).contradictions, All(claims.size()));
  }
}

TEST(Geometry, WhereNobodyTellsTheBanksTheCapacityCounts) {
  Claim honest = claim(1, 1), greedy = claim(2, 2);
  honest.dram_bank_bytes = greedy.dram_bank_bytes = 0;
  greedy.dram_capacity = 100 * kGiB;
  EXPECT_EQ(judge({honest, greedy}).contradictions, (All{kNone, kDram}));
  greedy = claim(2, 2);
  greedy.l1_bytes = 1;
  EXPECT_EQ(judge({honest, greedy}).contradictions, (All{kNone, kL1}));
}

// The whole way: the sums of the device are without it, its own figures stay, all sums hold.
TEST(Geometry, WhoContradictsIsShownAndNotCounted) {
  World honest, liar;
  honest.buffer(honest.allocator(honest.set({1})), Space::kDram, 2000000, 1000, 1000);
  DeviceRecord record = liar.ledger.device(1);
  record.dram_banks = 24;
  record.grid_x = 1;
  liar.ledger.set_device(1, record);
  liar.buffer(liar.allocator(liar.set({1})), Space::kDram, 2000000, 9000, 9000);
  std::vector<ProcessInput> inputs = {liar.input(1), honest.input(2)};
  for (ProcessInput& input : inputs) {
    input.trusted = false;
    input.identity.uid = static_cast<std::uint32_t>(input.identity.pid);
    input.identity.start = 100 - input.identity.uid;
  }
  PeakMemory peaks;
  const Snapshot snapshot = assemble(inputs, peaks);
  EXPECT_EQ(check_everything(inputs, snapshot, true), "");
  ASSERT_EQ(snapshot.devices.size(), 1u);
  EXPECT_EQ(snapshot.devices[0].dram_banks, 12u);
  EXPECT_EQ(snapshot.devices[0].grid_x, 8u);
  EXPECT_EQ(snapshot.devices[0].processes, 1u);
  EXPECT_EQ(snapshot.devices[0].figures.space(Space::kDram).taken, 12000u);
  EXPECT_EQ(snapshot.devices[0].figures.peak_basis, PeakBasis::kExact);
  EXPECT_FALSE(snapshot.processes[0].devices[0].counts());
  EXPECT_EQ(snapshot.processes[0].devices[0].figures.space(Space::kDram).taken, 108000u);
  EXPECT_TRUE(snapshot.processes[1].devices[0].counts());
}

}  // namespace
}  // namespace ttmem::ledger
