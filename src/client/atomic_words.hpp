// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Stores that other processes, and threads without the lock, may read at the same time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "segment/format.hpp"

namespace ttmem::client {

template <class T>
void publish(T& word, T value) {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}
template <class T>
void set_word(T& word, T value) {
  __atomic_store_n(&word, value, __ATOMIC_RELAXED);
}
template <class T>
T get_word(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}
template <class T>
T add_to(T& word, std::type_identity_t<T> amount) {
  return __atomic_add_fetch(&word, amount, __ATOMIC_RELAXED);
}

inline constexpr std::size_t kPayloadWords = sizeof(segment::Payload) / 8;
struct PayloadWords {
  std::uint64_t word[kPayloadWords];
};

// Put together in registers: a word that is read back from memory as other sizes than it was
// written in waits for its stores.
inline PayloadWords words_of(const segment::Payload& payload) {
  return {
      {payload.meta, payload.id, payload.a, payload.b, payload.time,
       payload.set | std::uint64_t{payload.allocator} << 16 | std::uint64_t{payload.cores} << 32,
       payload.operation | std::uint64_t{payload.origin} << 32}};
}
static_assert(offsetof(segment::Payload, set) == 40 && offsetof(segment::Payload, cores) == 44 &&
              offsetof(segment::Payload, operation) == 48);

inline constexpr std::size_t kMetaWord = 0, kTimeWord = 4, kOperationWord = 6;
static_assert(offsetof(segment::Payload, meta) == 8 * kMetaWord &&
              offsetof(segment::Payload, time) == 8 * kTimeWord &&
              offsetof(segment::Payload, operation) == 8 * kOperationWord);
static_assert(offsetof(segment::Payload, a) == 2 * 8 && offsetof(segment::Payload, b) == 3 * 8);

// Each word is a release, so it comes after whatever was stored before it: the odd version.
inline void store_words(segment::Payload& to, const PayloadWords& words) {
  auto* out = reinterpret_cast<std::uint64_t*>(&to);
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kPayloadWords; ++i) publish(out[i], words.word[i]);
}
inline PayloadWords load_words(const segment::Payload& from) {
  PayloadWords words;
  const auto* in = reinterpret_cast<const std::uint64_t*>(&from);
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kPayloadWords; ++i) words.word[i] = get_word(in[i]);
  return words;
}
inline segment::Payload load_payload(const segment::Payload& from) {
  return std::bit_cast<segment::Payload>(load_words(from));
}

}  // namespace ttmem::client
