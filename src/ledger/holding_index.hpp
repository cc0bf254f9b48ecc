// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which slots of a process hold what, by kind, space and device set: so that a page of a million
// holdings costs a page, whatever was asked for and wherever it begins. Slots are counted in blocks
// of neighbours; a block that has nothing of what is wanted is stepped over.
//
// Kernels and ranges are told with their programs: for them the slots of programs are wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ledger/records.hpp"

namespace ttmem::ledger {

class HoldingIndex {
 public:
  enum class Kind : std::uint8_t { kBuffer, kProgram, kTrace };
  // All that a filter looks at.
  struct Class {
    Kind kind = Kind::kBuffer;
    Space space = Space::kDram;    // of buffers
    AllocatorIndex allocator = 0;  // of buffers that name no set: it decides, and may come later
    SetIndex set = 0;
    friend bool operator==(const Class&, const Class&) = default;
  };
  struct ClassHash {
    std::size_t operator()(const Class& of) const;
  };

  // Empty: it is no holding by itself.
  static std::optional<Class> class_of(const Record& record);

  // Called for every record that comes, and for every one that goes.
  void add(SlotIndex slot, const Record& record) { count(slot, record, true); }
  void remove(SlotIndex slot, const Record& record) { count(slot, record, false); }

  // How many slots there are of each class.
  const std::unordered_map<Class, std::uint64_t, ClassHash>& counts() const { return all_; }

  // Calls visit(slot) from a slot on, ascending, for all of the classes that are wanted, until it
  // says that this is enough. Slots of other classes may come as well.
  void visit(SlotIndex from, const std::function<bool(const Class&)>& wanted,
             const std::function<bool(SlotIndex)>& visit) const;

 private:
  static constexpr SlotIndex kBlockSlots = 512;
  struct Count {
    Class of;
    std::uint32_t slots = 0;
  };
  using Block = std::vector<Count>;  // few: neighbours are much alike

  void count(SlotIndex slot, const Record& record, bool up);

  std::unordered_map<Class, std::uint64_t, ClassHash> all_;
  std::vector<Block> blocks_;
};

}  // namespace ttmem::ledger
