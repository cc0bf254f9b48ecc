// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/origins.hpp"

#include <algorithm>
#include <utility>

namespace ttmem::ledger {

std::string text_of(const OriginFrame& frame) {
  std::string text = frame.file.empty() ? "?" : frame.file;
  if (frame.line != 0) text += ":" + std::to_string(frame.line);
  if (!frame.function.empty()) text += " " + frame.function;
  return text;
}

std::string cut_text(std::string text) {
  if (text.size() <= kMostTextBytes) return text;
  std::size_t end = kMostTextBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  text.shrink_to_fit();
  return text + "…";
}

namespace {

void make_text(OriginFrame& frame) {
  frame.file = cut_text(std::move(frame.file));
  frame.function = cut_text(std::move(frame.function));
  frame.text = text_of(frame);
}

}  // namespace

void Origins::set_frame(OriginFrameId id, OriginFrame frame) {
  make_text(frame);
  frames_.insert_or_assign(id, std::move(frame));
}

void Origins::set_node(OriginId id, const OriginNode& step) {
  if (step.kind == OriginKind::kLaunch) {
    auto& names = launches_[step.parent];
    const bool known = std::ranges::find(names, step.name) != names.end();
    if (!known && names.size() < kMostLaunches) names.push_back(step.name);
    return;
  }
  Node added;
  added.step = step;
  const Node* around = step.parent < id ? node(step.parent) : nullptr;
  if (around && around->depth < kMostSteps) {
    added.depth = around->depth + 1;
    added.line = around->line;
    added.operation = around->operation;
    added.region = around->region;
  } else {
    added.step.parent = 0;
  }
  switch (step.kind) {
    case OriginKind::kFrame:
      if (const auto of = frames_.find(step.frame); of != frames_.end() && !of->second.inner) {
        added.line = id;
      }
      break;
    case OriginKind::kRegion:
      if (step.name != 0) added.region = id;
      if (step.line != 0) added.line = id;
      break;
    case OriginKind::kOperation:
      added.operation = id;
      break;
    case OriginKind::kCut:
    case OriginKind::kLaunch:
      break;
  }
  nodes_.insert_or_assign(id, added);
}

const OriginFrame* Origins::frame(OriginFrameId id) const {
  const auto found = frames_.find(id);
  if (found == frames_.end()) return nullptr;
  if (const auto find_out = std::exchange(found->second.find_out, nullptr)) {
    find_out(found->second);
    make_text(found->second);
  }
  return &found->second;
}

const Origins::Node* Origins::node(OriginId id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

const std::vector<StringId>& Origins::launches(OriginId id) const {
  static const std::vector<StringId> kNone;
  const auto found = launches_.find(id);
  return found == launches_.end() ? kNone : found->second;
}

std::vector<OriginId> Origins::path(OriginId id) const {
  std::vector<OriginId> steps;
  for (const Node* at = node(id); at; id = at->step.parent, at = node(id)) steps.push_back(id);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace ttmem::ledger
