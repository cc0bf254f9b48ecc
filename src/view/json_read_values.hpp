// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Fields of JSON objects as C++ values: a field that is missing, null or of another type is empty
// or the default, whatever a stranger wrote there.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "ledger/figures.hpp"

namespace ttmem::view::json {

using Json = nlohmann::ordered_json;

// The field, or null.
const Json& field(const Json& object, const char* name);

template <typename T>
std::optional<T> number(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (value.is_number_unsigned()) {
    const auto wide = value.get<std::uint64_t>();
    if (wide > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) return std::nullopt;
    return static_cast<T>(wide);
  }
  if (!value.is_number_integer()) return std::nullopt;
  const auto wide = value.get<std::int64_t>();
  if (wide < static_cast<std::int64_t>(std::numeric_limits<T>::min())) return std::nullopt;
  return static_cast<T>(wide);
}

template <typename T>
T number_or_0(const Json& object, const char* name) {
  return number<T>(object, name).value_or(0);
}

std::string string(const Json& object, const char* name);
bool boolean(const Json& object, const char* name);
std::vector<std::string> strings(const Json& object, const char* name);
// "0x1a"; empty if it is no such text.
std::optional<std::uint64_t> id(const Json& value);

// The enumerator that the field names.
template <ledger::Named Enum>
std::optional<Enum> enumerator(const Json& object, const char* name) {
  return ledger::named<Enum>(string(object, name));
}

// The table Figures of docs/json.md.
ledger::DeviceFigures read_figures(const Json& device);

}  // namespace ttmem::view::json
