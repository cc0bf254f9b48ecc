// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Interned data as a reader keeps it: an ever-growing copy of the section, of which only complete,
// valid blobs are known. Blobs never change, so one read of each byte is enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "segment/format.hpp"
#include "segment/reader_file.hpp"
#include "segment/reader_header.hpp"

namespace ttmem::segment {

struct BlobView {
  std::uint32_t id = 0;
  BlobKind kind = BlobKind::kString;
  std::span<const std::byte> bytes;
};

class BlobReader {
 public:
  explicit BlobReader(const SectionPlace& place) : place_(place) {}

  // Reads what was added up to `interned_bytes` (from the header). Returns false if the section
  // contradicts itself; blobs before that point stay valid and nothing after it is ever read.
  bool update(const ReadOnlyFile& file, std::uint64_t interned_bytes);

  // The blob of an id, or nothing if there is none or it is of another kind.
  std::optional<BlobView> find(std::uint32_t id) const;
  std::optional<BlobView> find(std::uint32_t id, BlobKind kind) const;

  // Whether bytes that should be there could not be read, though nothing is wrong with them.
  bool is_behind(std::uint64_t interned_bytes) const {
    return !broken_ && copy_.size() < interned_bytes;
  }
  // Ids in the order of their creation. `from` is a position that the caller keeps.
  const std::vector<std::uint32_t>& ids() const { return ids_; }
  bool broken() const { return broken_; }
  // The section as it was read: whole blobs.
  std::span<const std::byte> bytes() const { return copy_; }

 private:
  bool parse();

  SectionPlace place_;
  std::vector<std::byte> copy_;
  std::vector<bool> starts_;  // by offset / 8: a blob starts here
  std::vector<std::uint32_t> ids_;
  std::size_t parsed_ = 0;
  bool broken_ = false;
};

// ---- the tree of origins -----------------------------------------------------------------------

// Frames and nodes of the tree of origins, out of their blobs. What they name is still the writer's
// word: only its form is checked, and that a parent is older than its child, so that a walk to the
// root ends.
struct OriginView {
  BlobKind kind = BlobKind::kCutNode;  // of a node
  std::uint32_t parent = 0;
  std::uint32_t what = 0;  // frame, or the string of an operation or region; 0 = none
  std::uint32_t line = 0;  // string, of a region; 0 = none
};

// Nothing if the blob is no frame, or no node.
std::optional<OriginFrame> frame_in(const BlobView& blob);
std::optional<OriginView> node_in(const BlobView& blob);

}  // namespace ttmem::segment
