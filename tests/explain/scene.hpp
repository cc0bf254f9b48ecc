// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A failure and the picture of its bank, for tests of what is explained.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "explain/explain.hpp"

namespace ttmem::explain {

using ledger::FailurePicture;
using ledger::FailureView;
using ledger::HeldBlock;
using ledger::HeldKind;
using ledger::Space;

// A bank of 1,000 with blocks from lines a.py:1, a.py:2, …
class Scene {
 public:
  explicit Scene(Space space = Space::kL1) {
    picture.failed.space = space;
    picture.failed.banks = 64;
    picture.failed.alignment = 1;
    picture.failed.bank = {1000, 2000};
    failure.space = space;
    failure.kind = "out_of_memory";
  }
  Scene& held(std::uint64_t begin, std::uint64_t end, int line, HeldKind kind = HeldKind::kBuffer) {
    while (static_cast<int>(picture.failed.origins.size()) < line) {
      const auto number = picture.failed.origins.size() + 1;
      picture.failed.origins.push_back({"ttnn.ones", fmt::format("a.py:{} f", number), ""});
    }
    HeldBlock block;
    block.range = {begin, end};
    block.id = begin;
    block.origin = static_cast<std::uint32_t>(line - 1);
    block.kind = kind;
    picture.failed.blocks.push_back(block);
    return *this;
  }
  // With the figures that the runtime would have said.
  Findings ask(std::uint64_t per_bank) {
    std::uint64_t taken = 0, largest = 0, at = 1000;
    for (const HeldBlock& block : picture.failed.blocks) {
      taken += block.range.end - block.range.begin;
      largest = std::max(largest, block.range.begin - at);
      at = block.range.end;
    }
    largest = std::max(largest, 2000 - at);
    const char* word = failure.space == Space::kL1Small ? "L1_SMALL" : "L1";
    failure.message = fmt::format(
        "Out of Memory: Not enough space to allocate {} B {} buffer across 64 banks, where each "
        "bank "
        "needs to store {} B, but bank size is 1000 B (allocated: {} B, free: {} B, largest free "
        "block: {} B)",
        per_bank * 64, word, per_bank, taken, 1000 - taken, largest);
    failure.per_bank = per_bank;
    return explain_failure(failure, &picture);
  }
  Findings grow_to(std::uint64_t end) {
    failure.kind = "cb_clash";
    failure.message = fmt::format(
        "Statically allocated circular buffers on core range [0-0 - 7-7] grow to {} B which is "
        "beyond max L1 size of 2000 B",
        end);
    return explain_failure(failure, &picture);
  }
  Findings clash(std::uint64_t end) {
    failure.kind = "cb_clash";
    failure.message = fmt::format(
        "Statically allocated circular buffers in program 1 clash with L1 buffers on core range "
        "[0-0 "
        "- 7-7]. L1 buffer allocated at {} and static circular buffer region ends at {}",
        picture.failed.blocks.front().range.begin, end);
    return explain_failure(failure, &picture);
  }

  FailureView failure;
  FailurePicture picture;
};

inline const Cure* find(const Findings& findings, CureKind kind) {
  const auto found = std::ranges::find(findings.cures, kind, &Cure::kind);
  return found == findings.cures.end() ? nullptr : &*found;
}

// L1 from 100,000 on, as large as it is.
inline Scene wide_l1() {
  Scene scene;
  scene.picture.failed.bank = {100'000, 1'000'000};
  scene.picture.failed.unreserved_base = 100'000;
  scene.picture.dram = scene.picture.failed;
  scene.picture.dram->space = Space::kDram;
  scene.picture.dram->bank = {0, 1u << 30};
  return scene;
}

}  // namespace ttmem::explain
