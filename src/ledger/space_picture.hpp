// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One memory space of one allocator at one moment: the bank, every block in it, where each comes
// from, and the programs beside it. It is what findings are made of, so it is small: a block is a
// few words, and the texts of an origin stand there once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/address_map.hpp"
#include "ledger/enums.hpp"
#include "ledger/figures.hpp"
#include "ledger/records.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::ledger {

struct LiveState;

// The texts of what many blocks have in common.
struct HeldOrigin {
  std::string operation, line, region;
  bool operator==(const HeldOrigin&) const = default;
};

// Blocks that nobody who writes a model has allocated.
enum class HeldKind : std::uint8_t { kBuffer, kKernelBinaries, kTrace, kProgramCache };
template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<HeldKind> = {"buffer", "kernel_binaries",
                                                                       "trace", "program_cache"};

struct HeldBlock {
  AddressRange range;  // in each bank
  std::uint64_t id = 0, requested = 0;
  std::uint32_t origin = 0;  // in SpacePicture::origins
  HeldKind kind = HeldKind::kBuffer;
  Layout layout = Layout::kInterleaved;
  std::uint32_t cores = 0;  // or banks with data; 0 = all
  TimeNs since = 0;
  TimeNs last_use = 0;  // 0 = not known
};

struct HeldPart {
  Part part = Part::kCb;
  std::uint32_t index = 0;
  AddressRange range;
};

struct HeldProgram {
  std::uint64_t id = 0;
  std::string name, line;
  std::string core_set;         // "0,0-7,7"
  std::uint64_t end = 0;        // of its region in L1; 0 = none
  std::vector<HeldPart> parts;  // views left out
  std::uint64_t dispatches = 0;
  TimeNs last_dispatch = 0;
};

struct SpacePicture {
  Space space = Space::kDram;
  Arch arch = Arch::kUnknown;
  std::uint32_t banks = 0, alignment = 0;
  AddressRange bank;              // what the allocator gives out
  bool per_core = false;          // a list of addresses per core: one bank does not stand for all
  bool complete = true;           // every block is there
  std::vector<HeldBlock> blocks;  // by address
  std::vector<HeldOrigin> origins;
  std::vector<HeldProgram> programs;     // of L1
  Figure l1_bytes, unreserved_base;      // of a worker
  std::optional<AddressRange> l1_small;  // the region beside L1
  Figure l1_small_held;                  // bytes in each bank of it
};

// What was held when a failure happened: the space that failed, and the others as far as they are
// known.
struct FailurePicture {
  SpacePicture failed;
  std::optional<SpacePicture> dram;  // beside a failure in L1
};

// One space as one living process has it.
struct LiveSpace {
  Owner process = nobody();
  SpacePicture picture;
};

struct PictureQuestion {
  AllocatorIndex allocator = 0;  // 0: the one that holds most on `device`
  DeviceIndex device = 0;
  Space space = Space::kDram;
};

// Empty if no allocator with such a space is known.
std::optional<SpacePicture> space_picture(const LiveState& live, const PictureQuestion& question,
                                          const Naming& naming);

}  // namespace ttmem::ledger
