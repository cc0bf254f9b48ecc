// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One failure while it is being explained: what the runtime said, the picture, and what was found
// so far. The files of this room each add their part to it; nothing outside includes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/findings.hpp"
#include "explain/free_list.hpp"
#include "explain/message.hpp"

namespace ttmem::explain {

// Blocks that come from one line of code, largest groups first.
struct HeldGroup {
  std::uint32_t origin = 0;
  ledger::HeldKind kind = ledger::HeldKind::kBuffer;
  std::uint64_t bytes = 0;            // in each bank
  std::vector<std::uint32_t> blocks;  // indices in the picture, by address
};

struct Case {
  const ledger::FailureView& failure;
  Message message;
  const ledger::SpacePicture* space = nullptr;  // null: there is none
  const ledger::SpacePicture* dram = nullptr;
  std::vector<HeldGroup> groups;
  // What the operation that failed is taken to have made itself (indices, by address): its result,
  // and tensors on the way to it. Nobody can free those before.
  std::vector<std::uint32_t> own;
  // Whether the picture is every block, and says the same as the runtime: only then is anything
  // tried out on it.
  bool provable = false;

  const ledger::HeldBlock& block(std::uint32_t index) const { return space->blocks[index]; }
  const ledger::HeldOrigin& origin(const HeldGroup& group) const {
    return space->origins[group.origin];
  }
  FreeList free_list() const;
};

inline std::uint64_t size_of(const ledger::AddressRange& range) { return range.end - range.begin; }

// Whether the blocks lie side by side in the bank: others wrote them, and sums rest on it.
bool is_sound(const ledger::SpacePicture& picture);
// What is `Case::own`, once the message is read.
std::vector<std::uint32_t> own_blocks(const Case& it);
// Whether a model's author can free this block before the operation that failed.
bool can_be_freed(const Case& it, std::uint32_t block);
// The program that failed; null if it is not in the picture.
const ledger::HeldProgram* failed_program(const Case& it);

std::vector<ledger::AddressRange> ranges_of(const ledger::SpacePicture& picture);
FreeList free_list_of(const ledger::SpacePicture& picture);
// The lowest of the largest holes, if these blocks (indices, by address) were free as well; an
// empty one at the bottom if there is none.
ledger::AddressRange largest_hole(const ledger::SpacePicture& picture,
                                  const std::vector<std::uint32_t>& freed = {});
std::vector<HeldGroup> groups_of(const ledger::SpacePicture& picture);

// "L1", "the trace region"; "memory" if it is not known which.
std::string_view space_title(const std::optional<ledger::Space>& space);
// "1,393,312 B"
std::string bytes_text(std::uint64_t bytes);
// "model.py:81 forward" with its operation, as a sentence names it: "the tensor made at model.py:81
// forward (ttnn.add)"; several: "the 4 tensors made at …".
std::string tensors_text(const ledger::HeldOrigin& origin, std::size_t count);
std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to);
// Whether it runs a program, as far as its name says; what only makes a tensor does not.
bool computes(std::string_view operation);
// Whether a model's author can free blocks of this kind by hand.
inline bool is_tensor(ledger::HeldKind kind) { return kind == ledger::HeldKind::kBuffer; }

// What is asked for in each bank, as a block; 0 = not known.
std::uint64_t needed_block(const Case& it);

void draw_bank(const Case& it, Findings& findings);
void find_holders(const Case& it, Findings& findings);
void cure_allocation(const Case& it, Findings& findings);
void cure_clash(const Case& it, Findings& findings);
void cure_program(const Case& it, Findings& findings);
void cure_regions(const Case& it, Findings& findings);

}  // namespace ttmem::explain
