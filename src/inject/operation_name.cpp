// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/operation_name.hpp"

#include <dlfcn.h>

#include <cctype>

namespace ttmem::inject {

namespace {

bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

/// Drops "S_", "S4_" or "St": a name that was spelled out before.
void skip_substitution(std::string_view& text) {
  if (!text.starts_with('S')) return;
  const auto end = text.starts_with("St") ? 1 : text.find('_');
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
}

/// Takes "18IndexFillOperation" from the front; "" if there is no such thing.
std::string_view take_identifier(std::string_view& text) {
  std::size_t length = 0;
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) {
    length = length * 10 + static_cast<std::size_t>(text[digits++] - '0');
  }
  if (digits == 0 || digits + length > text.size()) return {};
  const auto identifier = text.substr(digits, length);
  text.remove_prefix(digits + length);
  return identifier;
}

}  // namespace

std::string operation_in(std::string_view mangled) {
  constexpr std::string_view kAdapter = "MeshDeviceOperationAdapterI";
  const auto at = mangled.find(kAdapter);
  if (at == mangled.npos) return {};
  std::string_view rest = mangled.substr(at + kAdapter.size());
  if (rest.starts_with('N')) rest.remove_prefix(1);
  skip_substitution(rest);
  std::string_view last;
  for (auto next = take_identifier(rest); !next.empty(); next = take_identifier(rest)) last = next;
  return std::string(last);
}

ttmem_string_t operation_name(const void* return_address) {
  Dl_info info;
  if (!return_address || !::dladdr(return_address, &info) || !info.dli_sname) return 0;
  const std::string name = operation_in(info.dli_sname);
  return name.empty() ? 0 : ttmem_intern_string(name.data(), name.size());
}

}  // namespace ttmem::inject
