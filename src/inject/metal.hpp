// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the observer knows of TT-Metal: exported functions by name, and the few public structures
// that they return. No TT-Metal header is used; every object of the runtime is an opaque pointer.
// Calls into the runtime may throw, and some take its locks: make them with no lock of ours held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ttmem::inject::metal {

struct CoreCoord {
  std::size_t x = 0;
  std::size_t y = 0;
  bool operator==(const CoreCoord&) const = default;
};

struct CoreRange {
  CoreCoord start;
  CoreCoord end;
};

/// Only walked, never searched: the order and the hash are the runtime's.
struct NeverCompared {
  bool operator()(const CoreCoord&, const CoreCoord&) const { return false; }
};
struct NeverHashed {
  std::size_t operator()(const CoreCoord&) const { return 0; }
};

using OrderedCores = std::set<CoreCoord, NeverCompared>;
using CoreSet = std::unordered_set<CoreCoord, NeverHashed>;
using CoreAddresses = std::unordered_map<CoreCoord, std::uint64_t, NeverHashed>;
using ChipIds = std::unordered_map<int, std::uint64_t>;
using KernelMap = std::unordered_map<std::uint32_t, std::shared_ptr<void>>;
/// Kernels are kept by the kind of core: Tensix, active and idle ethernet.
inline constexpr std::uint32_t kCoreTypes = 3;

/// A CoreRangeSet is a vector of ranges.
using CoreGroups = std::tuple<std::uint32_t, std::vector<CoreRange>, std::vector<CoreRange>,
                              std::vector<CoreRange>, std::uint32_t, std::uint32_t>;

/// A ShardSpecBuffer starts with its grid; what follows differs between releases and owns nothing.
struct ShardSpecBytes {
  alignas(16) std::byte bytes[512];
};

struct Statistics {
  std::size_t allocatable = 0;
  std::size_t allocated = 0;
  std::size_t free = 0;
  std::size_t largest_free = 0;
};

/// The runtime's enumeration of memories, in a word so that its width does not matter.
struct MemoryType {
  std::uint64_t value;
};
inline constexpr MemoryType kMemoryL1{0};
inline constexpr MemoryType kMemoryDram{1};

struct BinaryMeta {
  std::uint32_t processor;
  std::size_t packed_bytes;
};

struct KernelMeta {
  std::string_view name;
  std::string_view source;
  std::uint8_t processor_class;  ///< 0 data movement, 1 compute
  int core_type;
  std::optional<std::uint8_t> math_fidelity;
  std::vector<BinaryMeta> binaries;
};

struct LLKMetadata;
using ScratchpadVisitor =
    std::function<void(const std::string&, std::uint32_t, std::uint32_t, const void*)>;
using OldScratchpadVisitor = std::function<void(const std::string&, std::uint32_t, std::uint32_t)>;

struct alignas(64) Functions {
#define METAL_FUNCTION(name, result, arguments, symbol) result(*name) arguments = nullptr;
#include "inject/metal_functions.def"
#undef METAL_FUNCTION
};

/// Valid after load(); never changes afterwards.
extern Functions functions;

/// Finds the functions in the library that holds `anchor`, one of its functions.
void load(void* anchor);

/// The library's file.
const std::string& library_path();

/// Whether this object of class IDevice is a mesh of several chips.
bool is_mesh(const void* device);
/// Whether this command queue writes programs without dispatch kernels.
bool is_slow_queue(const void* queue);

/// MeshCommandQueue: its mesh and its number follow the table of virtual functions.
inline const void* mesh_of_queue(const void* queue) {
  return static_cast<const void* const*>(queue)[1];
}
inline std::uint32_t number_of_queue(const void* queue) {
  return *reinterpret_cast<const std::uint32_t*>(static_cast<const std::byte*>(queue) + 16);
}
/// Program and MeshWorkload hold a pointer to what does the work.
inline const void* implementation(const void* program_or_workload) {
  return *static_cast<const void* const*>(program_or_workload);
}

}  // namespace ttmem::inject::metal
