// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "recording/patches.hpp"

#include <algorithm>
#include <cstring>

namespace ttmem::recording {

namespace {

constexpr std::size_t kStep = 64;

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

}  // namespace

void add_patch(std::uint64_t offset, std::span<const std::byte> bytes, Bytes& into) {
  append(into, bytes_of(PatchHead{offset, bytes.size()}));
  append(into, bytes);
  into.resize(padded(into.size()));
}

bool for_each_patch(std::span<const std::byte> patches,
                    const std::function<bool(std::uint64_t, std::span<const std::byte>)>& visit) {
  while (!patches.empty()) {
    PatchHead head;
    if (patches.size() < sizeof head) return false;
    std::memcpy(&head, patches.data(), sizeof head);
    patches = patches.subspan(sizeof head);
    if (head.bytes > patches.size() || padded(head.bytes) > patches.size()) return false;
    if (!visit(head.offset, patches.first(head.bytes))) return false;
    patches = patches.subspan(padded(head.bytes));
  }
  return true;
}

void Shadow::tell(std::uint64_t offset, std::span<const std::byte> now, Bytes& into) {
  // Bytes never told before are zero in the file that is put together.
  known_.resize(std::max(known_.size(), now.size()));
  const auto differs = [&](std::size_t at) {
    return std::memcmp(now.data() + at, known_.data() + at, std::min(kStep, now.size() - at)) != 0;
  };
  for (std::size_t at = 0; at < now.size();) {
    if (!differs(at)) {
      at += kStep;
      continue;
    }
    std::size_t end = at;
    while (end < now.size() && differs(end)) end += kStep;
    end = std::min(end, now.size());
    add_patch(offset + at, now.subspan(at, end - at), into);
    at = end;
  }
  std::ranges::copy(now, known_.begin());
}

}  // namespace ttmem::recording
