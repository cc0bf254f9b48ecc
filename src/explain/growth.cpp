// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/growth.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "explain/case.hpp"

namespace ttmem::explain {
namespace {

constexpr std::size_t kQuarters = 4;
constexpr std::size_t kLeastChanges = 16;
constexpr ledger::TimeNs kLeastTime = 500'000'000;

// The peaks of each quarter, the oldest first.
struct Peaks {
  std::array<std::uint64_t, kQuarters> held{};
  std::array<std::uint64_t, kQuarters> depth{};  // of the lowest address below the top
};

class Undoing {
 public:
  explicit Undoing(const ledger::SpacePicture& picture) : top_(picture.bank.end) {
    for (const ledger::HeldBlock& block : picture.blocks) {
      held_.insert(block.range);
      bytes_ += size_of(block.range);
    }
  }
  void note(Peaks& peaks, std::size_t quarter) const {
    const std::uint64_t lowest = held_.empty() ? top_ : held_.begin()->begin;
    peaks.held[quarter] = std::max(peaks.held[quarter], bytes_);
    peaks.depth[quarter] = std::max(peaks.depth[quarter], top_ - std::min(top_, lowest));
  }
  // False if this cannot have been.
  bool undo(const HeldChange& change) {
    if (!change.allocated) {
      bytes_ += size_of(change.range);
      return held_.insert(change.range).second;
    }
    bytes_ -= std::min(bytes_, size_of(change.range));
    return held_.erase(change.range) == 1;
  }

 private:
  std::set<ledger::AddressRange> held_;
  std::uint64_t bytes_ = 0, top_ = 0;
};

double rate(const std::array<std::uint64_t, kQuarters>& peaks, double seconds) {
  for (std::size_t i = 1; i < kQuarters; ++i) {
    if (peaks[i] <= peaks[i - 1]) return 0;
  }
  // From the first quarter to the last are three of them.
  return static_cast<double>(peaks.back() - peaks.front()) /
         (seconds * (kQuarters - 1) / kQuarters);
}

// Of the changes from this one on.
std::optional<Growth> growth_since(const ledger::SpacePicture& picture,
                                   std::span<const HeldChange> changes, ledger::TimeNs now) {
  if (changes.size() < kLeastChanges || now < changes.front().time) return std::nullopt;
  const ledger::TimeNs begin = changes.front().time, time = now - begin;
  if (time < kLeastTime) return std::nullopt;
  Undoing undoing(picture);
  Peaks peaks;
  undoing.note(peaks, kQuarters - 1);
  for (std::size_t i = changes.size(); i-- > 0;) {
    const HeldChange& change = changes[i];
    const ledger::TimeNs since = change.time - std::min(change.time, begin);
    const auto quarter = std::min<std::size_t>(since / (time / kQuarters + 1), kQuarters - 1);
    undoing.note(peaks, quarter);
    if (!undoing.undo(change)) return std::nullopt;
  }
  Growth growth;
  growth.seconds = static_cast<double>(time) / 1e9;
  growth.changes = changes.size();
  growth.held_per_second = rate(peaks.held, growth.seconds);
  growth.fall_per_second = rate(peaks.depth, growth.seconds);
  return growth;
}

}  // namespace

std::optional<Growth> growth_of(const ledger::SpacePicture& picture,
                                const std::vector<HeldChange>& changes, ledger::TimeNs now) {
  const auto all = growth_since(picture, changes, now);
  if (!all || all->held_per_second > 0 || all->fall_per_second > 0) return all;
  // What came first may have been the loading of weights: the newer half decides then.
  const ledger::TimeNs middle = changes.front().time + (now - changes.front().time) / 2;
  const auto newer = std::ranges::lower_bound(changes, middle, {}, &HeldChange::time);
  const auto half = growth_since(picture, {newer, changes.end()}, now);
  return half ? half : all;
}

}  // namespace ttmem::explain
