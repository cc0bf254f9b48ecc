// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/geometry.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "ledger/catalog.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {
namespace {

constexpr std::size_t kMostVoters = 256;

// What fits a chip. 0: not known, so everything fits.
struct Size {
  std::uint16_t dram_banks = 0;
  std::uint64_t dram_bank_bytes = 0;
  std::uint32_t l1_bytes = 0;
  std::uint64_t most_dram = 0, most_l1 = 0;
};

// Options of the runtime move the limits a little: how much is kept for it, how many cores
// dispatch.
std::uint64_t with_slack(std::uint64_t bytes) { return add(bytes, bytes / 4); }

Size size_of(const Claim& claim) {
  const std::uint64_t physical = times(claim.dram_bank_bytes, claim.dram_banks);
  return {claim.dram_banks, claim.dram_bank_bytes, claim.l1_bytes,
          physical != 0 ? physical : with_slack(claim.dram_capacity),
          with_slack(claim.l1_capacity)};
}

template <typename T>
bool differ(T a, T b) {
  return a != 0 && b != 0 && a != b;
}

bool exceeds(std::uint64_t bytes, std::uint64_t most) { return most != 0 && bytes > most; }

Contradiction contradiction(const Claim& claim, const Size& size) {
  if (differ(claim.dram_banks, size.dram_banks) ||
      differ(claim.dram_bank_bytes, size.dram_bank_bytes) ||
      exceeds(claim.dram_capacity, size.most_dram)) {
    return Contradiction::kDram;
  }
  if (differ(claim.l1_bytes, size.l1_bytes) || exceeds(claim.l1_capacity, size.most_l1)) {
    return Contradiction::kL1;
  }
  if (exceeds(claim.dram_held, size.most_dram) || exceeds(claim.l1_held, size.most_l1)) {
    return Contradiction::kHeld;
  }
  return Contradiction::kNone;
}

// Says something, and nothing that no chip can have. What it says must also fit itself.
bool can_be(const Claim& claim) {
  const bool speaks = claim.dram_capacity != 0 || claim.l1_capacity != 0 ||
                      claim.dram_bank_bytes != 0 || claim.l1_bytes != 0;
  const bool saturated = claim.dram_capacity == kMost || claim.l1_capacity == kMost ||
                         times(claim.dram_bank_bytes, claim.dram_banks) == kMost;
  return speaks && !saturated && !claim.is_false &&
         (claim.trusted || contradiction(claim, size_of(claim)) == Contradiction::kNone);
}

bool comes_first(const Claim& a, const Claim& b) {
  return std::tuple(!a.trusted, !a.alive, a.start) < std::tuple(!b.trusted, !b.alive, b.start);
}

// Each owner's first claim, in order; the dead have a voice only where nobody lives.
std::vector<std::size_t> voters_of(const std::vector<Claim>& claims) {
  std::map<std::uint32_t, std::size_t> first;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!can_be(claims[i])) continue;
    const auto [known, added] = first.try_emplace(claims[i].owner, i);
    if (!added && comes_first(claims[i], claims[known->second])) known->second = i;
  }
  std::vector<std::size_t> voters;
  for (const auto& [owner, claim] : first) voters.push_back(claim);
  std::ranges::stable_sort(
      voters, [&](std::size_t a, std::size_t b) { return comes_first(claims[a], claims[b]); });
  if (!voters.empty() && claims[voters[0]].alive) {
    std::erase_if(voters, [&](std::size_t voter) { return !claims[voter].alive; });
  }
  if (voters.size() > kMostVoters) voters.resize(kMostVoters);
  return voters;
}

std::size_t most_agreed(const std::vector<Claim>& claims, const std::vector<std::size_t>& voters) {
  std::size_t best = voters[0], most = 0;
  for (const std::size_t candidate : voters) {
    const Size size = size_of(claims[candidate]);
    const auto agrees = [&](std::size_t voter) {
      return contradiction(claims[voter], size) == Contradiction::kNone &&
             contradiction(claims[candidate], size_of(claims[voter])) == Contradiction::kNone;
    };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(voters, agrees));
    if (count > most) {
      most = count;
      best = candidate;
    }
  }
  return best;
}

// What the believed do not say the next ones that fit them may.
void complete(Size& size, const Claim& claim) {
  const Size other = size_of(claim);
  if (size.dram_banks == 0) size.dram_banks = other.dram_banks;
  if (size.dram_bank_bytes == 0) size.dram_bank_bytes = other.dram_bank_bytes;
  if (size.l1_bytes == 0) size.l1_bytes = other.l1_bytes;
  if (size.most_dram == 0) size.most_dram = other.most_dram;
  if (size.most_l1 == 0) size.most_l1 = other.most_l1;
}

// Of the trusted the widest counts: none of them is ever left out.
void widen(Size& size, const Claim& claim) {
  const Size other = size_of(claim);
  size.most_dram = std::max(size.most_dram, other.most_dram);
  size.most_l1 = std::max(size.most_l1, other.most_l1);
}

}  // namespace

Claim claim_of(const DeviceRecord* record, const DeviceFigures& figures) {
  Claim claim;
  if (record != nullptr) {
    claim.dram_banks = record->dram_banks;
    claim.dram_bank_bytes = record->dram_bank_bytes;
    claim.l1_bytes = geometry_of(*record, CoreType::kTensix).l1_bytes;
  }
  const auto capacity = [&](Space space) { return figures.space(space).capacity.value_or(0); };
  const auto held = [&](Space space) {
    const SpaceFigures& of = figures.space(space);
    return std::max({of.taken.value_or(0), of.occupied.value_or(0), of.requested.value_or(0),
                     of.peak.value_or(0)});
  };
  claim.dram_capacity = std::max(capacity(Space::kDram), capacity(Space::kTrace));
  claim.dram_held = std::max(held(Space::kDram), held(Space::kTrace));
  claim.l1_capacity = add(capacity(Space::kL1), capacity(Space::kL1Small));
  claim.l1_held =
      std::max({held(Space::kL1), held(Space::kL1Small), figures.program_l1.resident.value_or(0)});
  return claim;
}

Verdict judge(const std::vector<Claim>& claims) {
  Verdict verdict{0, std::vector<Contradiction>(claims.size())};
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].is_false) verdict.contradictions[i] = Contradiction::kProcess;
  }
  const std::vector<std::size_t> voters = voters_of(claims);
  if (voters.empty()) {
    const auto first = std::ranges::find(claims, false, &Claim::is_false);
    if (first != claims.end()) verdict.believed = static_cast<std::size_t>(first - claims.begin());
    return verdict;
  }
  const bool has_trusted = claims[voters[0]].trusted;
  verdict.believed = has_trusted ? voters[0] : most_agreed(claims, voters);
  Size size = size_of(claims[verdict.believed]);
  for (const Claim& claim : claims) {
    if (has_trusted && claim.trusted && can_be(claim)) widen(size, claim);
  }
  for (const std::size_t voter : voters) {
    if (contradiction(claims[voter], size) == Contradiction::kNone) complete(size, claims[voter]);
  }
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].trusted || claims[i].is_false) continue;
    verdict.contradictions[i] = contradiction(claims[i], size);
  }
  return verdict;
}

}  // namespace ttmem::ledger
