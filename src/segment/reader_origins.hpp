// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Frames and nodes of the tree of origins, out of their blobs. What they name is still the writer's
// word: only its form is checked, and that a parent is older than its child, so that a walk to the
// root ends.
#pragma once

#include <optional>

#include "segment/format.hpp"
#include "segment/reader_blobs.hpp"

namespace ttmem::segment {

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
