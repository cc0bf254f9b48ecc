// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Errors are values: a result holds what was asked for, or a code for programs and a message for
// people that says what is wrong and what to do.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "base/assert.hpp"

namespace ttmem {

enum class ErrorCode : std::uint8_t {
  kNotFound,      // there is no such file any more
  kNotPermitted,  // it may not be read by this user
  kWrongKind,     // something else stands there: no regular file, a stranger's, another format
  kWrongVersion,  // another major version
  kCorrupt,       // contradicts itself, or exceeds a limit
  kSystem,        // the system refused for another reason
};

struct Error {
  ErrorCode code = ErrorCode::kSystem;
  std::string message;
};

// Look whether it holds a value before taking it.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return *get<0>(state_); }
  const T& operator*() const { return *get<0>(state_); }
  T* operator->() { return get<0>(state_); }
  const T* operator->() const { return get<0>(state_); }
  const Error& error() const { return *get<1>(state_); }

 private:
  template <std::size_t Which, typename State>
  static auto* get(State& state) {
    auto* held = std::get_if<Which>(&state);
    TTMEM_CHECK(held != nullptr);
    return held;
  }

  std::variant<T, Error> state_;
};

}  // namespace ttmem
