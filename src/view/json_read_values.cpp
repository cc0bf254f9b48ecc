// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/json_read_values.hpp"

#include <charconv>

namespace ttmem::view::json {

const Json& field(const Json& object, const char* name) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

std::string string(const Json& object, const char* name) {
  const Json& value = field(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

bool boolean(const Json& object, const char* name) {
  const Json& value = field(object, name);
  return value.is_boolean() && value.get<bool>();
}

std::vector<std::string> strings(const Json& object, const char* name) {
  std::vector<std::string> values;
  const Json& list = field(object, name);
  if (!list.is_array()) return values;
  for (const Json& each : list) {
    if (each.is_string()) values.push_back(each.get<std::string>());
  }
  return values;
}

std::optional<std::uint64_t> id(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.get_ref<const std::string&>();
  std::uint64_t number = 0;
  if (text.size() < 3 || !text.starts_with("0x")) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace ttmem::view::json
