// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Strings and lists that slots refer to by id. Equal bytes of one kind are stored once and never
// change. Interning is cold (call it under the gate); looking an id up is not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "client/slot_index.hpp"
#include "client/store.hpp"

namespace ttmem::client {

class Interner {
 public:
  bool open(Store& store);
  void give_back() {
    ids_.give_back();
    overflow_.give_back();
  }

  // 0 if the section or the file system is full. `spare`: bytes of the file system that are left to
  // others beyond what every growth leaves.
  std::uint32_t intern(segment::BlobKind kind, const void* bytes, std::size_t size,
                       std::uint64_t spare = 0);
  // The same for bytes that are certainly new, in two steps, so that many of them do not wait one
  // for the other: stored at once, found again only after enter().
  struct Stored {
    std::uint32_t tag, id;  // id 0: there was no room
  };
  Stored store(segment::BlobKind kind, const void* bytes, std::size_t size, std::uint64_t spare);
  void enter(const Stored& stored);
  // The same without storing: 0 if it is not known yet.
  std::uint32_t find(segment::BlobKind kind, const void* bytes, std::size_t size) const;

  // Null for an id that was never handed out, or is of another kind.
  const segment::Blob* find(std::uint32_t id, segment::BlobKind kind) const;

  // How many cores a set of cores has; 1 for "not known", the number of banks for a set of banks.
  std::uint64_t core_count(std::uint32_t id) const;

 private:
  const segment::Blob* at(std::uint32_t id) const;
  std::uint32_t find(std::uint32_t tag, segment::BlobKind kind, const void* bytes,
                     std::size_t size) const;
  std::uint32_t append(segment::BlobKind kind, const void* bytes, std::size_t size,
                       std::uint64_t spare);

  Store* store_ = nullptr;
  SlotIndex ids_;
  IndexOverflow overflow_;
};

}  // namespace ttmem::client
