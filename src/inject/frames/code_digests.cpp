// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/frames/code_digests.hpp"

namespace ttmem::inject::frames {

namespace {

// Of a type: the function that frees an object of it. The same in all releases.
constexpr std::size_t kTypeFree = 48;

}  // namespace

constinit CodeDigests code_digests;

void CodeDigests::follow(Address code_type) {
  if (place_) return;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): Python told where its type is
  auto* place = reinterpret_cast<Free*>(code_type + kTypeFree);
  original_ = *place;
  place_ = place;
  __atomic_store_n(place, &ended, __ATOMIC_RELEASE);
}

void CodeDigests::ended(void* code) {
  code_digests.forget(reinterpret_cast<Address>(code));
  code_digests.confirmed_.store(true, std::memory_order_release);
  code_digests.original_(code);
}

void CodeDigests::put(Address code, std::uint64_t digest) {
  Entry& entry = entries_[place_of(code)];
  __atomic_store_n(&entry.digest, digest, __ATOMIC_RELAXED);
  __atomic_store_n(&entry.check, bind(code, digest), __ATOMIC_RELAXED);
}

void CodeDigests::forget(Address code) {
  std::uint64_t digest = 0;
  if (find(code, digest)) put(code, 0);
}

}  // namespace ttmem::inject::frames
