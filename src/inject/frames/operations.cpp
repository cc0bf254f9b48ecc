// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/frames/operations.hpp"

#include <cstring>

namespace ttmem::inject::frames {

namespace {

std::size_t place_of(Address object) { return (object >> 4) * 0x9E3779B97F4A7C15u >> 51; }

}  // namespace

void Operations::set_call(Address code) {
  if (calls().has(code)) return;
  for (auto& call : calls_) {
    if (call.load(std::memory_order_relaxed) != 0) continue;
    call.store(code, std::memory_order_relaxed);
    return;
  }
}

void Operations::set_name(Address object, const char* name) {
  static_assert(kPlaces == std::size_t{1} << (64 - 51));
  if (object == 0) return;
  for (std::size_t i = 0; i < kPlaces / 2; ++i) {
    Entry& entry = entries_[(place_of(object) + i) % kPlaces];
    const Address there = entry.object.load(std::memory_order_relaxed);
    if (there != 0 && there != object) continue;
    const char* known = entry.name.load(std::memory_order_relaxed);
    if (known && std::strcmp(known, name) == 0) return;
    entry.name.store(::strdup(name), std::memory_order_release);  // readers may have the old one
    entry.object.store(object, std::memory_order_release);
    return;
  }
}

const char* Operations::name(Address object) const {
  if (object == 0) return nullptr;
  for (std::size_t i = 0; i < kPlaces / 2; ++i) {
    const Entry& entry = entries_[(place_of(object) + i) % kPlaces];
    const Address there = entry.object.load(std::memory_order_acquire);
    if (there == object) return entry.name.load(std::memory_order_acquire);
    if (there == 0) return nullptr;
  }
  return nullptr;
}

}  // namespace ttmem::inject::frames
