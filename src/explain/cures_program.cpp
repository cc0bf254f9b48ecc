// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What makes the L1 region of a program smaller: so far as it follows from the parts of the program
// that are in the picture.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "explain/case.hpp"

namespace ttmem::explain {
namespace {

bool names(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

// What holds blocks of the inputs. The first two circular buffers do. Dataflow buffers are told
// without numbers, but lie in the order in which they were made, those of the inputs first: the
// lowest is of an input for certain, the next is not where shards of the first are read in place.
std::uint64_t input_bytes(const ledger::HeldProgram& program) {
  ledger::Figure first, second, lowest;
  ledger::AddressRange range{~0ull, ~0ull};
  const auto lower = [](ledger::Figure& figure, std::uint64_t bytes) {
    figure = std::min(figure.value_or(bytes), bytes);  // cores differ: what is so on all of them
  };
  for (const ledger::HeldPart& part : program.parts) {
    if (part.part == ledger::Part::kCb && part.index == 0) lower(first, size_of(part.range));
    if (part.part == ledger::Part::kCb && part.index == 1) lower(second, size_of(part.range));
    if (part.part != ledger::Part::kDataflowBuffer || part.range.begin > range.begin) continue;
    if (part.range.begin < range.begin) lowest.reset();
    range = part.range;
    lower(lowest, size_of(part.range));
  }
  return first.value_or(0) + second.value_or(0) + lowest.value_or(0);
}

// The parts that hold blocks of the inputs grow with in0_block_w. They are doubled while the next
// block is read, but not where one block is all: so a quarter of it halves them at least.
void add_block_width(const Case& it, std::uint64_t end, std::uint64_t limit, Findings& findings) {
  const ledger::HeldProgram* program = failed_program(it);
  if (!program) return;
  const std::uint64_t inputs = input_bytes(*program);
  for (std::uint64_t divisor = 4; divisor <= 32; divisor *= 2) {
    const std::uint64_t smaller = end - std::min(end, inputs - inputs * 2 / divisor);
    if (smaller > limit) continue;
    Cure cure;
    cure.kind = CureKind::kProgramConfig;
    cure.call = "program_config=…(in0_block_w=…)";
    cure.value = divisor;
    cure.to_spare = limit - smaller;
    cure.given =
        fmt::format("you pass a program_config whose in0_block_w is a multiple of {}", divisor);
    cure.text = fmt::format(
        "Divide in0_block_w by {}: blocks of the inputs shrink from {} to at most {} on each core, "
        "and the region ends at {} or lower.",
        divisor, bytes_text(inputs), bytes_text(inputs * 2 / divisor), smaller);
    findings.cures.push_back(std::move(cure));
    break;
  }
}

}  // namespace

void cure_program(const Case& it, Findings& findings) {
  std::uint64_t end = 0, limit = 0;
  if (findings.verdict == Verdict::kClash) {
    end = *it.message.region_end;
    limit = *it.message.lowest_buffer;
  } else if (findings.verdict == Verdict::kProgramTooLarge && it.message.limit) {
    end = *it.message.needed;
    limit = *it.message.limit;
  } else {
    return;
  }
  const std::string& operation = it.failure.operation;
  if (names(operation, "matmul") || names(operation, "linear")) {
    if (it.space && it.space->complete) add_block_width(it, end, limit, findings);
    findings.remarks.emplace_back(
        "in0_block_w, out_block_h and out_block_w change how much L1 a matmul needs; "
        "out_subblock_h "
        "and out_subblock_w change nothing.");
  }
  if (names(operation, "conv")) {
    findings.remarks.emplace_back(
        "Not tried out: act_block_h_override=32, deallocate_activation or reallocate_halo_output "
        "of "
        "a Conv2dConfig change how much L1 a convolution needs.");
  }
}

}  // namespace ttmem::explain
