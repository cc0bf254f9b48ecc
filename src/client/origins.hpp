// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The tree of origins: which code a holding comes from. A node is a step (a frame, a region, an
// operation) and the node around it, interned like everything else, so that equal stacks are one
// number. Nodes and their texts never fill more than kMaxOriginBytes: when that is near, of new
// stacks only the line that people look for is kept, and the header says so.
#pragma once

#include <cstddef>
#include <cstdint>

#include "client/interner.hpp"
#include "client/private_memory.hpp"
#include "client/store.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::client {

class Origins {
 public:
  bool open(Store& store, Interner& interner);
  void give_back() { recent_.give_back(); }

  // The region `name` inside the region `around`; `line` may be 0. Needs no lock if it was entered
  // before. 0 if there is no room.
  ttmem_origin_t region(ttmem_origin_t around, ttmem_string_t name, ttmem_string_t line) {
    const segment::OriginRegion wanted = {around, name, line};
    const ttmem_origin_t known =
        __atomic_load_n(&recent(wanted), __ATOMIC_RELAXED);  // checked against the node itself
    return is_region(known, wanted) ? known : intern_region(wanted);
  }
  // The node around a region; 0 = none.
  ttmem_origin_t around(ttmem_origin_t region) const {
    const segment::Blob* blob = interner_->find(region, segment::BlobKind::kRegionNode);
    return blob == nullptr ? 0 : reinterpret_cast<const segment::OriginRegion*>(blob + 1)->parent;
  }

  // Cold, and they take the gate: a line of code; and steps from the outermost to the innermost,
  // inside of `around`.
  std::uint32_t frame(const char* file, std::size_t file_bytes, std::uint32_t line,
                      const char* function, std::size_t function_bytes, std::uint32_t flags);
  ttmem_origin_t stack(ttmem_origin_t around, const ttmem_step* steps, std::uint32_t count);

 private:
  static constexpr std::uint32_t kRecent = 1024;

  std::uint32_t& recent(const segment::OriginRegion& region) const {
    const std::uint64_t key = std::uint64_t{region.parent} << 32 ^
                              std::uint64_t{region.name} * 0x9E3779B97F4A7C15u ^ region.line;
    return recent_[(key * 0xD6E8FEB86659FD93u) >> 54];
  }
  static_assert(kRecent == 1u << (64 - 54));
  bool is_region(std::uint32_t id, const segment::OriginRegion& wanted) const {
    const segment::Blob* blob = interner_->find(id, segment::BlobKind::kRegionNode);
    if (blob == nullptr) return false;
    const auto* region = reinterpret_cast<const segment::OriginRegion*>(blob + 1);
    return region->parent == wanted.parent && region->name == wanted.name &&
           region->line == wanted.line;
  }
  ttmem_origin_t intern_region(const segment::OriginRegion& region);
  ttmem_origin_t innermost_line(ttmem_origin_t around, const ttmem_step* steps,
                                std::uint32_t count);
  bool is_inner(std::uint32_t frame) const;
  // Under the gate, counted; 0 beyond `limit`.
  std::uint32_t intern(segment::BlobKind kind, const void* bytes, std::size_t size,
                       std::uint64_t limit);
  std::uint32_t intern_step(std::uint32_t around, const ttmem_step& step, std::uint64_t limit);
  // New nodes inside of `node`, one inside the other; it becomes the innermost one. False if there
  // is no room for all.
  bool store_new(ttmem_origin_t& node, const ttmem_step* steps, std::uint32_t count);
  Interner::Stored store_step(ttmem_origin_t around, const ttmem_step& step);
  void say_that_stacks_are_cut();

  Store* store_ = nullptr;
  Interner* interner_ = nullptr;
  PrivateArray<std::uint32_t> recent_;  // regions that were entered, by hash
  std::uint64_t spent_ = 0;             // bytes of frames, nodes and their texts
};

}  // namespace ttmem::client
