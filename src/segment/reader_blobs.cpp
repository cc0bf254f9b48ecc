// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "segment/reader_blobs.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"

namespace ttmem::segment {
namespace {

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

template <typename T>
std::optional<T> record_in(const BlobView& blob) {
  if (blob.bytes.size() != sizeof(T)) return std::nullopt;
  T record;
  std::memcpy(&record, blob.bytes.data(), sizeof record);
  return record;
}

}  // namespace

bool BlobReader::update(const ReadOnlyFile& file, std::uint64_t interned_bytes) {
  if (broken_) return false;
  const std::uint64_t most =
      std::min({place_.max_bytes, kMaxInternedBytes, file.data_bytes() + kUnbackedBytes});
  if (interned_bytes > most || interned_bytes % 8 != 0) {
    broken_ = true;
    return false;
  }
  const std::size_t known = copy_.size();
  if (interned_bytes <= known) return true;
  copy_.resize(interned_bytes);
  if (!file.read(place_.offset + known, copy_.data() + known, copy_.size() - known)) {
    copy_.resize(known);
    return true;  // shrunk or vanished: the next look at the file says so
  }
  starts_.resize(copy_.size() / 8);
  broken_ = !parse();
  return !broken_;
}

bool BlobReader::parse() {
  while (parsed_ < copy_.size()) {
    Blob head;
    if (copy_.size() - parsed_ < sizeof head) return false;
    std::memcpy(&head, copy_.data() + parsed_, sizeof head);
    const std::size_t whole = sizeof head + padded(head.bytes);
    if (head.bytes > kMaxBlobBytes || whole > copy_.size() - parsed_) return false;
    // An id that points into the middle of a blob names nothing: only starts do.
    starts_[parsed_ / 8] = true;
    ids_.push_back(static_cast<std::uint32_t>(parsed_ / 8 + 1));
    parsed_ += whole;
  }
  TTMEM_DCHECK(parsed_ == copy_.size());
  return true;
}

std::optional<BlobView> BlobReader::find(std::uint32_t id) const {
  if (id == 0 || id > starts_.size() || !starts_[id - 1]) return std::nullopt;
  const std::size_t offset = std::size_t{id - 1} * 8;
  Blob head;
  std::memcpy(&head, copy_.data() + offset, sizeof head);
  return BlobView{id, static_cast<BlobKind>(head.kind),
                  std::span(copy_).subspan(offset + sizeof head, head.bytes)};
}

std::optional<BlobView> BlobReader::find(std::uint32_t id, BlobKind kind) const {
  auto blob = find(id);
  if (blob && blob->kind != kind) return std::nullopt;
  return blob;
}

std::optional<OriginFrame> frame_in(const BlobView& blob) {
  return blob.kind == BlobKind::kFrame ? record_in<OriginFrame>(blob) : std::nullopt;
}

std::optional<OriginView> node_in(const BlobView& blob) {
  OriginView view;
  view.kind = blob.kind;
  if (blob.kind == BlobKind::kRegionNode) {
    const auto region = record_in<OriginRegion>(blob);
    if (!region) return std::nullopt;
    view.parent = region->parent;
    view.what = region->name;
    view.line = region->line;
  } else if (blob.kind == BlobKind::kFrameNode || blob.kind == BlobKind::kOperationNode ||
             blob.kind == BlobKind::kCutNode || blob.kind == BlobKind::kLaunchNode) {
    const auto node = record_in<OriginNode>(blob);
    if (!node) return std::nullopt;
    view.parent = node->parent;
    view.what = node->what;
  } else {
    return std::nullopt;
  }
  // Parents are older than their children. Anything else could be a loop.
  if (view.parent >= blob.id) view.parent = 0;
  return view;
}

}  // namespace ttmem::segment
