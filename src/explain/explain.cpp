// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/explain.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "explain/case.hpp"

namespace ttmem::explain {
namespace {

using ledger::Space;

std::uint64_t held_bytes(const ledger::SpacePicture& picture) {
  std::uint64_t held = 0;
  for (const ledger::HeldBlock& block : picture.blocks) held += block.range.end - block.range.begin;
  return held;
}

// The message's figures decide; where it has none, a complete picture does.
BankSum sum_of(const Case& it) {
  BankSum sum;
  if (const std::uint64_t need = needed_block(it); need != 0) sum.asked = need;
  if (it.space) sum.banks = it.space->banks;
  if (it.message.held && it.message.free) {
    sum.held = it.message.held;
    sum.holes = it.message.free;
    sum.largest_hole = it.message.largest;
    sum.bank = it.message.bank;
    sum.figures_from = "message";
  } else if (it.space && is_sound(*it.space)) {
    sum.held = held_bytes(*it.space);
    sum.bank = size_of(it.space->bank);
    sum.holes = *sum.bank - *sum.held;
    sum.largest_hole = size_of(largest_hole(*it.space));
    sum.figures_from = "picture";
  }
  if (!sum.bank) sum.bank = it.message.bank;
  return sum;
}

// Whether nothing that the runtime said contradicts the picture.
bool agrees(const Case& it) {
  if (it.message.held && *it.message.held != held_bytes(*it.space)) return false;
  if (it.message.largest && *it.message.largest != size_of(largest_hole(*it.space))) return false;
  if (it.message.kind != MessageKind::kClash || !it.message.lowest_buffer) return true;
  return !it.space->blocks.empty() &&
         it.space->blocks.front().range.begin == *it.message.lowest_buffer;
}

Verdict allocation_verdict(const BankSum& sum) {
  if (!sum.asked || !sum.bank) return Verdict::kOther;
  if (*sum.asked > *sum.bank) return Verdict::kTooLarge;
  if (!sum.holes || !sum.largest_hole) return Verdict::kOther;
  if (*sum.asked > *sum.holes) return Verdict::kFull;
  return *sum.asked > *sum.largest_hole ? Verdict::kScattered : Verdict::kOther;
}

Verdict verdict_of(const Case& it, const Findings& findings) {
  switch (it.message.kind) {
    case MessageKind::kOutOfMemory:
      if (findings.space == Space::kL1Small) return Verdict::kL1Small;
      if (findings.space == Space::kTrace) return Verdict::kTraceRegion;
      return allocation_verdict(findings.sum);
    case MessageKind::kClash:
      return it.message.region_end && it.message.lowest_buffer ? Verdict::kClash : Verdict::kOther;
    case MessageKind::kProgramTooLarge:
      return it.message.needed ? Verdict::kProgramTooLarge : Verdict::kOther;
    case MessageKind::kRing:
      return it.message.needed && it.message.limit ? Verdict::kRing : Verdict::kOther;
    case MessageKind::kTraceRegion:
      return it.message.needed && it.message.limit ? Verdict::kTraceRegion : Verdict::kOther;
    default:
      return Verdict::kOther;
  }
}

void describe_clash(const Case& it, Findings& findings) {
  ClashSides sides;
  const ledger::HeldProgram* program = failed_program(it);
  sides.program = it.failure.operation;
  if (sides.program.empty() && program) sides.program = program->name;
  if (sides.program.empty()) sides.program = "a program";
  sides.program_line = it.failure.line;
  sides.cores = it.message.cores;
  sides.region_end = it.message.region_end;
  sides.lowest_buffer = it.message.lowest_buffer;
  sides.overlap =
      *it.message.region_end - std::min(*it.message.region_end, *it.message.lowest_buffer);
  if (it.space) {
    for (const ledger::HeldBlock& block : it.space->blocks) {
      if (block.range.begin != *it.message.lowest_buffer) continue;
      sides.buffer = it.space->origins[block.origin];
      sides.buffer_bytes = block.range.end - block.range.begin;
      break;
    }
  }
  findings.clash = std::move(sides);
}

// Of shards, the banks that have one.
std::string piece_text(const Case& it, const BankSum& sum, std::string_view where) {
  const std::uint64_t count = it.message.banks.value_or(sum.banks);
  const std::string banks = count == 0 ? "each bank" : fmt::format("each of {} banks", count);
  return fmt::format("it needs {} in {} of {}", bytes_text(sum.asked.value_or(0)), banks, where);
}

std::string clash_headline(const Case& it, const ClashSides& sides) {
  return fmt::format(
      "Clash: {} needs L1 up to {}{}, and the lowest buffer lies at {}: they overlap by {}.",
      sides.program, it.message.region_end.value_or(0),
      sides.cores.empty() ? "" : " on cores " + sides.cores, it.message.lowest_buffer.value_or(0),
      bytes_text(sides.overlap.value_or(0)));
}

std::string headline_of(const Case& it, const Findings& findings) {
  const BankSum& sum = findings.sum;
  const std::string_view where = space_title(findings.space);
  const std::uint64_t needed = it.message.needed.value_or(0), limit = it.message.limit.value_or(0);
  const std::uint64_t over = needed - std::min(needed, limit);
  switch (findings.verdict) {
    case Verdict::kTooLarge:
      return fmt::format("Too large: {}, and a bank has only {}. No freeing helps.",
                         piece_text(it, sum, where), bytes_text(*sum.bank));
    case Verdict::kFull:
      return fmt::format("Full: {}, and only {} are free.", piece_text(it, sum, where),
                         bytes_text(*sum.holes));
    case Verdict::kScattered:
      return fmt::format("Scattered: {} in one piece; {} are free, but the largest hole has {}.",
                         piece_text(it, sum, where), bytes_text(*sum.holes),
                         bytes_text(*sum.largest_hole));
    case Verdict::kClash:
      return clash_headline(it, *findings.clash);
    case Verdict::kL1Small:
      return fmt::format(
          "The L1_SMALL region is too small: it needs {} in one piece; {} of {} are "
          "held.",
          bytes_text(sum.asked.value_or(0)), bytes_text(sum.held.value_or(0)),
          bytes_text(sum.bank.value_or(0)));
    case Verdict::kTraceRegion:
      return needed != 0
                 ? fmt::format("The trace region is too small: the traces need {}, it has {}.",
                               bytes_text(needed), bytes_text(limit))
                 : fmt::format("The trace region is too small: {}.", piece_text(it, sum, where));
    case Verdict::kRing:
      return fmt::format(
          "The kernel-config ring is too small: the program needs {}, it has {}: {} "
          "too few.",
          bytes_text(needed), bytes_text(limit), bytes_text(over));
    case Verdict::kProgramTooLarge:
      return fmt::format(
          "The program alone is too large: {} grows to {}{}, and L1 has {}: {} too "
          "many. No freeing helps.",
          it.failure.operation.empty() ? "it" : it.failure.operation, bytes_text(needed),
          it.message.cores.empty() ? "" : " on cores " + it.message.cores, bytes_text(limit),
          bytes_text(over));
    case Verdict::kOther:
      break;
  }
  if (!it.failure.told_to.empty()) {
    return fmt::format("Why is told to {} alone: here is what was held.", it.failure.told_to);
  }
  return "TT-Metal's message is none that ttmem can explain: only what was held is shown.";
}

void say_what_is_unknown(const Case& it, Findings& findings) {
  auto& unknown = findings.unknown;
  if (!it.space) {
    unknown.emplace_back(
        "There is no picture of the space that failed: figures are the message's.");
  } else if (it.space->per_core) {
    unknown.emplace_back(
        "The allocator has a list of addresses per core: one bank does not stand for all, so "
        "nothing was tried out.");
  } else if (!it.space->complete) {
    unknown.emplace_back("Not every block is in the picture: no cure was tried out.");
  } else if (!it.provable && findings.verdict != Verdict::kOther) {
    unknown.emplace_back(
        "The picture and the runtime's figures differ (another thread may have allocated "
        "meanwhile): no cure was tried out.");
  }
  const bool of_l1 = it.message.kind == MessageKind::kOutOfMemory && findings.space == Space::kL1;
  if (of_l1 && !findings.cures.empty() && computes(it.failure.operation)) {
    unknown.push_back(fmt::format(
        "Whether the program of {} then finds room in L1 is not known: the operation failed before "
        "it came to that.",
        it.failure.operation));
  }
  const bool held = it.space && !it.space->blocks.empty();
  const auto has_no_line = [](const ledger::HeldOrigin& origin) { return origin.line.empty(); };
  if (!it.failure.told_to.empty()) {
    unknown.emplace_back(
        fmt::format("Lines, and TT-Metal's message, are told to {} alone.", it.failure.told_to));
  } else if (held && std::ranges::all_of(it.space->origins, has_no_line)) {
    unknown.emplace_back("No holding has its line of Python: `ttmem doctor` says why.");
  }
  if (held) {
    unknown.emplace_back("Whether a tensor is still needed is not known: that is for you to say.");
  }
}

}  // namespace

std::string_view space_title(const std::optional<Space>& space) {
  if (!space) return "memory";
  switch (*space) {
    case Space::kDram:
      return "DRAM";
    case Space::kL1:
      return "L1";
    case Space::kL1Small:
      return "L1_SMALL";
    case Space::kTrace:
      return "the trace region";
    default:
      return "memory";
  }
}

Findings explain_failure(const ledger::FailureView& failure,
                         const ledger::FailurePicture* picture) {
  Case it{failure, read_message(failure.message), nullptr, nullptr, {}, {}, false};
  if (picture) {
    it.space = &picture->failed;
    it.dram = picture->dram ? &*picture->dram : nullptr;
    it.groups = groups_of(*it.space);
    it.own = own_blocks(it);
  }
  it.provable = it.space && is_sound(*it.space) && agrees(it);
  Findings findings;
  findings.space = it.message.space ? it.message.space : failure.space;
  findings.sum = sum_of(it);
  findings.verdict = verdict_of(it, findings);
  if (findings.verdict == Verdict::kClash) describe_clash(it, findings);
  findings.headline = headline_of(it, findings);
  if (it.space) {
    draw_bank(it, findings);
    find_holders(it, findings);
  }
  cure_allocation(it, findings);
  cure_clash(it, findings);
  cure_program(it, findings);
  cure_regions(it, findings);
  say_what_is_unknown(it, findings);
  return findings;
}

}  // namespace ttmem::explain
