// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/origins.hpp"

#include "client/atomic_words.hpp"
#include "client/segment_writer.hpp"

namespace ttmem::client {

using segment::BlobKind;
using segment::kMaxOriginBytes;
using segment::kMaxStackBytes;

namespace {

// A text is cut at its front: the end of a path tells more than its beginning.
constexpr std::size_t kMostTextBytes = 1000;

// What origins leave to the table in a file system that is nearly full.
constexpr std::uint64_t kSpareBytes = 8ull << 20;

const char* cut_front(const char* text, std::size_t& bytes) {
  if (bytes <= kMostTextBytes) return text;
  const char* start = text + (bytes - kMostTextBytes);
  bytes = kMostTextBytes;
  while (bytes > 0 && (static_cast<unsigned char>(*start) & 0xC0) == 0x80) ++start, --bytes;
  return start;
}

BlobKind kind_of(std::uint32_t step) {
  switch (step) {
    case TTMEM_STEP_FRAME:
      return BlobKind::kFrameNode;
    case TTMEM_STEP_OPERATION:
      return BlobKind::kOperationNode;
    case TTMEM_STEP_LAUNCH:
      return BlobKind::kLaunchNode;
    default:
      return BlobKind::kCutNode;
  }
}

segment::OriginNode node_of(ttmem_origin_t around, const ttmem_step& step) {
  return {around, step.kind == TTMEM_STEP_CUT ? 0 : step.what};
}

}  // namespace

bool Origins::open(Store& store, Interner& interner) {
  store_ = &store;
  interner_ = &interner;
  return recent_.reserve(kRecent) && recent_.prepare(kRecent);
}

std::uint32_t Origins::intern(BlobKind kind, const void* bytes, std::size_t size,
                              std::uint64_t limit) {
  const std::uint64_t before = store_->header().interned_bytes;
  const bool room = spent_ + sizeof(segment::Blob) + size + 7 <= limit;
  const std::uint32_t id =
      room ? interner_->intern(kind, bytes, size, kSpareBytes) : interner_->find(kind, bytes, size);
  spent_ += store_->header().interned_bytes - before;
  return id;
}

ttmem_origin_t Origins::intern_region(const segment::OriginRegion& region) {
  const ColdCall call(*store_);
  const std::uint32_t id = intern(BlobKind::kRegionNode, &region, sizeof region, kMaxOriginBytes);
  if (id == 0) {
    say_that_stacks_are_cut();
  } else {
    __atomic_store_n(&recent(region), id, __ATOMIC_RELAXED);
  }
  return id;
}

std::uint32_t Origins::frame(const char* file, std::size_t file_bytes, std::uint32_t line,
                             const char* function, std::size_t function_bytes,
                             std::uint32_t flags) {
  const ColdCall call(*store_);
  file = cut_front(file, file_bytes);
  function = cut_front(function, function_bytes);
  const segment::OriginFrame frame = {
      intern(BlobKind::kString, file, file_bytes, kMaxOriginBytes),
      function_bytes == 0 ? 0
                          : intern(BlobKind::kString, function, function_bytes, kMaxOriginBytes),
      line,
      flags & (segment::kFrameInner | segment::kFrameNative),
  };
  const bool complete = frame.file != 0 && (frame.function != 0 || function_bytes == 0);
  const std::uint32_t id =
      complete ? intern(BlobKind::kFrame, &frame, sizeof frame, kMaxOriginBytes) : 0;
  if (id == 0) say_that_stacks_are_cut();
  return id;
}

std::uint32_t Origins::intern_step(std::uint32_t around, const ttmem_step& step,
                                   std::uint64_t limit) {
  const segment::OriginNode node = node_of(around, step);
  return intern(kind_of(step.kind), &node, sizeof node, limit);
}

ttmem_origin_t Origins::stack(ttmem_origin_t around, const ttmem_step* steps, std::uint32_t count) {
  const ColdCall call(*store_);
  ttmem_origin_t node = around;
  std::uint32_t i = 0;
  for (; i < count; ++i) {
    const segment::OriginNode wanted = node_of(node, steps[i]);
    const ttmem_origin_t known = interner_->find(kind_of(steps[i].kind), &wanted, sizeof wanted);
    if (known == 0) break;
    node = known;
  }
  const bool whole = store_new(node, steps + i, count - i);
  return whole ? node : innermost_line(around, steps, count);
}

// Inside of a node that is new, every node is new: nobody has to look.
bool Origins::store_new(ttmem_origin_t& node, const ttmem_step* steps, std::uint32_t count) {
  constexpr std::uint32_t kAtOnce = 32;
  Interner::Stored stored[kAtOnce];
  bool room = true;
  while (count > 0 && room) {
    std::uint32_t made = 0;
    while (made < kAtOnce && made < count && room) {
      stored[made] = store_step(node, steps[made]);
      room = stored[made].id != 0;
      if (room) node = stored[made++].id;
    }
    for (std::uint32_t i = 0; i < made; ++i) interner_->enter(stored[i]);
    steps += made;
    count -= made;
  }
  return room;
}

Interner::Stored Origins::store_step(ttmem_origin_t around, const ttmem_step& step) {
  const segment::OriginNode node = node_of(around, step);
  if (spent_ + sizeof(segment::Blob) + sizeof node > kMaxStackBytes) return {0, 0};
  const Interner::Stored stored =
      interner_->store(kind_of(step.kind), &node, sizeof node, kSpareBytes);
  if (stored.id != 0) spent_ += sizeof(segment::Blob) + sizeof node;
  return stored;
}

// The innermost line outside ttnn, and the operation that it called.
ttmem_origin_t Origins::innermost_line(ttmem_origin_t around, const ttmem_step* steps,
                                       std::uint32_t count) {
  say_that_stacks_are_cut();
  std::uint32_t line = count;
  std::uint32_t operation = count;
  for (std::uint32_t i = count; i-- > 0 && line == count;) {
    if (steps[i].kind == TTMEM_STEP_FRAME && !is_inner(steps[i].what)) line = i;
    if (steps[i].kind == TTMEM_STEP_OPERATION && operation == count) operation = i;
  }
  ttmem_origin_t node = around;
  for (const std::uint32_t i : {line, operation}) {
    if (i == count) continue;
    const ttmem_origin_t inside = intern_step(node, steps[i], kMaxOriginBytes);
    if (inside == 0) break;
    node = inside;
  }
  return node;
}

bool Origins::is_inner(std::uint32_t frame) const {
  const segment::Blob* blob = interner_->find(frame, BlobKind::kFrame);
  return blob != nullptr && (reinterpret_cast<const segment::OriginFrame*>(blob + 1)->flags &
                             segment::kFrameInner) != 0;
}

void Origins::say_that_stacks_are_cut() {
  auto& header = store_->header();
  if ((header.flags & segment::kHeaderStacksCut) != 0) return;
  const LockGuard guard(store_->lock);
  set_word(header.flags, header.flags | segment::kHeaderStacksCut);
  store_->changed();
}

}  // namespace ttmem::client
