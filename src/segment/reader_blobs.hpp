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
  explicit BlobReader(const Part& part) : part_(part) {}

  // Reads what was added up to `interned_bytes` (from the header). Returns false if the section
  // contradicts itself; blobs before that point stay valid and nothing after it is ever read.
  bool update(const ReadOnlyFile& file, std::uint64_t interned_bytes);

  // The blob of an id, or nothing if there is none or it is of another kind.
  std::optional<BlobView> find(std::uint32_t id) const;
  std::optional<BlobView> find(std::uint32_t id, BlobKind kind) const;

  // Ids in the order of their creation. `from` is a position that the caller keeps.
  const std::vector<std::uint32_t>& ids() const { return ids_; }
  bool broken() const { return broken_; }
  std::uint64_t bytes_read() const { return copy_.size(); }

 private:
  bool parse();

  Part part_;
  std::vector<std::byte> copy_;
  std::vector<bool> starts_;  // by offset / 8: a blob starts here
  std::vector<std::uint32_t> ids_;
  std::size_t parsed_ = 0;
  bool broken_ = false;
};

}  // namespace ttmem::segment
