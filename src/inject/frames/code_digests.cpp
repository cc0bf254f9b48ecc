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
  const std::size_t bit = mark_of(code);
  const std::uint64_t marks = marks_[bit / 64].load(std::memory_order_relaxed);
  if ((marks >> bit % 64 & 1) != 0) grow_older();
}

// With Python's lock held. The marks go first: whoever knows the new age marks after that.
void CodeDigests::grow_older() {
  for (auto& marks : marks_) marks.store(0, std::memory_order_relaxed);
  age_.store(age_.load(std::memory_order_relaxed) + kNextAge, std::memory_order_release);
}

}  // namespace ttmem::inject::frames
