// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "client/book.hpp"
#include "client/core_set.hpp"

namespace ttmem::client {

// The interning calls of ttmem.h: each puts what it gets into its one canonical form first.
class Interning {
 public:
  bool open(Book& book);
  void give_back() { scratch_.give_back(); }

  ttmem_string_t string(const char* text, std::size_t length);
  ttmem_string_t line(const char* file, std::uint32_t number, const char* function);
  ttmem_cores_t cores(std::uint32_t core_type, const ttmem_core_range* ranges, std::uint32_t count);
  ttmem_cores_t banks(const std::uint16_t* banks, std::uint32_t count);
  std::uint32_t addresses(const std::uint64_t* addresses, std::uint32_t count);

 private:
  std::uint32_t intern(segment::BlobKind kind, const void* bytes, std::size_t size);

  struct Scratch {
    CoreSetBuilder builder;
    std::uint8_t blob[segment::kMaxBlobBytes];
  };

  Book* book_ = nullptr;
  PrivateArray<Scratch> scratch_;  // one; too large for a host's stack
};

}  // namespace ttmem::client
