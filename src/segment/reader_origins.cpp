// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "segment/reader_origins.hpp"

#include <cstring>

namespace ttmem::segment {

namespace {

template <typename T>
std::optional<T> record_in(const BlobView& blob) {
  if (blob.bytes.size() != sizeof(T)) return std::nullopt;
  T record;
  std::memcpy(&record, blob.bytes.data(), sizeof record);
  return record;
}

}  // namespace

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
             blob.kind == BlobKind::kCutNode) {
    const auto node = record_in<OriginNode>(blob);
    if (!node) return std::nullopt;
    view.parent = node->parent;
    view.what = node->what;
  } else {
    return std::nullopt;
  }
  if (view.parent >= blob.id) view.parent = 0;
  return view;
}

}  // namespace ttmem::segment
