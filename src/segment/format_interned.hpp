// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The interned part of a segment: strings, sets of cores and lists that records name by id, and the
// tree of origins.
#pragma once

#include <cstdint>

#include "segment/limits.hpp"

namespace ttmem::segment {

// ---- interned data -------------------------------------------------------------------------

// A blob: this head, then `bytes` bytes, padded to 8. Its id is its offset in the section / 8,
// plus 1. Blobs never change or move.
enum class BlobKind : std::uint16_t {
  kString = 1,
  // u8 core type, 3 x 0, then ranges of 4 bytes: x0 y0 x1 y1, disjoint, sorted; or without a range,
  // where nobody knows where the cores are: u8 core type, u24 how many
  kCores = 2,
  kBanks = 3,        // u16 bank numbers, ascending
  kAddresses = 4,    // u64 a core
  kDeviceList = 5,   // u16 device indices
  kCoreList = 6,     // 8 bytes per core: x y role core_type noc_x noc_y 0 0
  kBankCores = 7,    // 2 bytes per bank: x y
  kConfigSizes = 8,  // u32 a core type
  kMembers = 9,      // u64 program id, u16 set, 6 x 0: what a trace captured, in order, each once
  kFrame = 10,       // OriginFrame
  // Nodes of the tree of origins.
  kFrameNode = 11,      // OriginNode of a frame
  kRegionNode = 12,     // OriginRegion
  kOperationNode = 13,  // OriginNode of a string: ttnn's operation
  kCutNode = 14,        // OriginNode of nothing: there were more frames around
  // OriginNode of a string: the parent's code launches this operation of the device. Of no holding.
  kLaunchNode = 15,
};
struct Blob {
  std::uint32_t bytes;
  std::uint16_t kind;
  std::uint16_t reserved;
};
static_assert(sizeof(Blob) == 8);

inline constexpr std::uint32_t kCoreCountBytes = 4;  // of a set of cores that is only a count
constexpr std::uint32_t told_cores(const std::uint8_t* bytes) {
  return bytes[1] | std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]} << 16;
}

// ---- origins -------------------------------------------------------------------------------

// Where a holding comes from is a node of a tree: a frame, a region or an operation, and the node
// around it. From the root inwards: regions, then frames, an operation in the place of the frame
// that called it. A parent has a smaller id than its children; 0 = no parent.
struct OriginFrame {
  std::uint32_t file;      // string
  std::uint32_t function;  // string; 0 = not known
  std::uint32_t line;      // 0 = not known
  std::uint32_t flags;
};
// The frame is ttnn's, Python's import's or our own: not the line that people look for.
inline constexpr std::uint32_t kFrameInner = 1u << 0;
// A call of native code: `file` is the path of a module, `line` an address in it and `function` its
// build id in hexadecimal digits.
inline constexpr std::uint32_t kFrameNative = 1u << 1;

struct OriginNode {
  std::uint32_t parent;
  std::uint32_t what;
};
struct OriginRegion {
  std::uint32_t parent;
  std::uint32_t name;  // string; 0 = none
  std::uint32_t line;  // string, "FILE:LINE FUNCTION"; 0 = none
};
static_assert(sizeof(OriginFrame) == 16 && sizeof(OriginNode) == 8 && sizeof(OriginRegion) == 12);

}  // namespace ttmem::segment
