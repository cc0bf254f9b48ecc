// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How a walk reads. In a hook directly: a thread's own frames and what they refer to stay where
// they are while it is in a call. In the self-test through the kernel, which cannot fault; in the
// fuzz target out of a buffer. All of them offer:
//
//   bool read(Address, T&)                          false: there is nothing to read
//   const std::uint8_t* bytes(Address, std::size_t) null likewise; good until the next call
#pragma once

#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "inject/frames/layout.hpp"

namespace ttmem::inject::frames {

struct DirectMemory {
  template <class T>
  bool read(Address address, T& value) const {
    // The words of texts that are worked out late are written by whoever needs them first.
    value = __atomic_load_n(reinterpret_cast<const T*>(address), __ATOMIC_RELAXED);
    return true;
  }
  const std::uint8_t* bytes(Address address, std::size_t) const {
    return reinterpret_cast<const std::uint8_t*>(address);
  }
};

class CheckedMemory {
 public:
  template <class T>
  bool read(Address address, T& value) const {
    return copy(address, &value, sizeof value);
  }
  const std::uint8_t* bytes(Address address, std::size_t count) const {
    return count <= sizeof bytes_ && copy(address, bytes_, count) ? bytes_ : nullptr;
  }
  /// Whether the kernel lets a process read itself this way.
  static bool works() {
    const int here = 1;
    int seen = 0;
    return copy(reinterpret_cast<Address>(&here), &seen, sizeof seen) && seen == here;
  }

 private:
  static bool copy(Address address, void* to, std::size_t count) {
    const iovec local = {to, count};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel checks it
    const iovec remote = {reinterpret_cast<void*>(address), count};
    return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(count);
  }
  mutable std::uint8_t bytes_[4096] = {};
};

}  // namespace ttmem::inject::frames
