// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The tree of origins of one process: which code a holding comes from. A node is a step and the
// node around it; from the root inwards there are the regions that the program named, then the
// frames of its stack, with an operation of ttnn in the place of the frame that called it.
//
//   model > layer 3 > main.py:7 <module> > model.py:81 forward > ttnn.add
//
// The *line* of an origin is its innermost frame outside of ttnn, its *operation* the innermost
// one, its *region* the innermost region. Which nodes say so is worked out once, when a node is
// set: a parent is older than its children, and one that is not known by then is no parent.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ledger/records.hpp"

namespace ttmem::ledger {

// What a process may say in one text. More is cut, and ends in "…".
inline constexpr std::size_t kMostTextBytes = 1024;
// Cuts at a whole character.
std::string cut_text(std::string text);

class Origins {
 public:
  // A writer stays far below; what is deeper begins anew, so that no path is longer.
  static constexpr std::uint32_t kMostSteps = 256;
  static constexpr std::size_t kMostLaunches = 8;  // of a node that are told
  struct Node {
    std::uint32_t depth = 1;
    OriginNode step;
    OriginId line = 0, operation = 0, region = 0;  // the nodes that say it; 0 = none
  };

  void set_frame(OriginFrameId id, OriginFrame frame);
  void set_node(OriginId id, const OriginNode& node);

  // Null if not there. What had to be found out is, by the first who asks.
  const OriginFrame* frame(OriginFrameId id) const;
  const Node* node(OriginId id) const;
  // Operations of the device that the code of this node launches, in the order in which it began
  // to.
  const std::vector<StringId>& launches(OriginId id) const;
  // From the root inwards, the node itself last.
  std::vector<OriginId> path(OriginId id) const;

 private:
  mutable std::unordered_map<OriginFrameId, OriginFrame> frames_;
  std::unordered_map<OriginId, Node> nodes_;
  std::unordered_map<OriginId, std::vector<StringId>> launches_;  // by the node around
};

// "FILE:LINE FUNCTION", as far as it is known.
std::string text_of(const OriginFrame& frame);

}  // namespace ttmem::ledger
