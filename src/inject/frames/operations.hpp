// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The operations of ttnn: each is an object, and its call passes through a frame whose first local
// variable is that object. So one comparison of code objects finds the frame, and this table the
// name. Entries are made with Python's lock held, one at a time; they are read without any.
#pragma once

#include <atomic>
#include <cstddef>

#include "inject/frames/layout.hpp"

namespace ttmem::inject::frames {

class Operations {
 public:
  /// The code of the function that calls an operation; there may be a few of them.
  void set_call(Address code);
  /// As they are now: read once for each stack.
  struct Calls {
    Address codes[2];
    bool has(Address code) const { return code == codes[0] || code == codes[1]; }
  };
  Calls calls() const {
    return {{calls_[0].load(std::memory_order_relaxed), calls_[1].load(std::memory_order_relaxed)}};
  }

  /// An object whose place is used again has the name of the last one. `name` is copied.
  void set_name(Address object, const char* name);
  /// Null if the object is not known.
  const char* name(Address object) const;

 private:
  struct Entry {
    std::atomic<Address> object;
    std::atomic<const char*> name;
  };
  static constexpr std::size_t kPlaces = 1u << 13;

  std::atomic<Address> calls_[2];
  Entry entries_[kPlaces];
};

}  // namespace ttmem::inject::frames
