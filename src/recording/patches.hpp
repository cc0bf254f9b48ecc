// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Changes of a segment's file as bytes: made by whoever sees the file change, applied by whoever
// puts it together again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "recording/format.hpp"

namespace ttmem::recording {

using Bytes = std::vector<std::byte>;

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

inline void append(Bytes& into, std::span<const std::byte> bytes) {
  into.insert(into.end(), bytes.begin(), bytes.end());
}

// Appends one patch, padded to 8.
void add_patch(std::uint64_t offset, std::span<const std::byte> bytes, Bytes& into);

// Calls visit(offset, bytes) for each patch; false if the bytes are no list of patches. What comes
// before the fault has been visited.
bool for_each_patch(std::span<const std::byte> patches,
                    const std::function<bool(std::uint64_t, std::span<const std::byte>)>& visit);

// A region of the file as it was last told: what differs from it becomes patches, of 64 bytes and
// more each.
class Shadow {
 public:
  void tell(std::uint64_t offset, std::span<const std::byte> now, Bytes& into);
  // Everything from its beginning, as after a cut of the file.
  void forget() { known_.clear(); }

 private:
  Bytes known_;
};

}  // namespace ttmem::recording
