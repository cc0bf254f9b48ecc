// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Findings about a space with a million blocks.
#include "explain/explain.hpp"

#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

namespace {

using namespace ttmem;

constexpr std::uint64_t kBlocks = 1'000'000, kBlock = 512, kPitch = 1024;

// Every second 512 bytes are held, by a hundred lines.
ledger::FailurePicture scattered_picture() {
  ledger::FailurePicture picture;
  ledger::SpacePicture& dram = picture.failed;
  dram.banks = 12;
  dram.alignment = 32;
  dram.bank = {0, kBlocks * kPitch};
  for (int line = 0; line < 100; ++line) {
    dram.origins.push_back({"ttnn.add", fmt::format("model.py:{} forward", line), ""});
  }
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    ledger::HeldBlock block;
    block.range = {i * kPitch, i * kPitch + kBlock};
    block.origin = static_cast<std::uint32_t>(i % 100);
    block.since = i;
    dram.blocks.push_back(block);
  }
  return picture;
}

void explain_a_million(benchmark::State& state) {
  const ledger::FailurePicture picture = scattered_picture();
  ledger::FailureView failure;
  failure.space = ledger::Space::kDram;
  failure.per_bank = 1024;
  failure.message = fmt::format(
      "Out of Memory: Not enough space to allocate 12288 B DRAM buffer across 12 banks, where each "
      "bank needs to store 1024 B, but bank size is {} B (allocated: {} B, free: {} B, largest "
      "free "
      "block: 512 B)",
      kBlocks * kPitch, kBlocks * kBlock, kBlocks * (kPitch - kBlock));
  for (auto _ : state) {
    const explain::Findings findings = explain::explain_failure(failure, &picture);
    if (findings.cures.empty()) state.SkipWithError("nothing was found");
  }
  state.counters["limit"] = 1000;
  state.SetLabel("ms; 10^6 blocks of 100 lines, every second one a hole");
}
BENCHMARK(explain_a_million)->Unit(benchmark::kMillisecond);

}  // namespace
