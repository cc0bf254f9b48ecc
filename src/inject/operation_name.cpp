// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/operation_name.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdlib>
#include <memory>

namespace ttmem::inject {

namespace {

/// From `from` to the comma or bracket that ends the first template argument.
std::string_view first_argument(std::string_view text, std::size_t from) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (depth == 0 && (text[i] == ',' || text[i] == '>')) return text.substr(from, i - from);
    if (text[i] == '>') --depth;
  }
  return {};
}

std::string_view last_component(std::string_view name) {
  const std::string_view head = name.substr(0, name.find('<'));
  const auto colons = head.rfind("::");
  return colons == head.npos ? head : head.substr(colons + 2);
}

}  // namespace

std::string operation_in(std::string_view demangled) {
  constexpr std::string_view kTemplates[] = {"enqueue_mesh_workload<", "launch_operation<",
                                             "dispatch_to_mesh_workload_factory<"};
  for (const std::string_view name : kTemplates) {
    const auto at = demangled.find(name);
    if (at != demangled.npos) {
      return std::string(last_component(first_argument(demangled, at + name.size())));
    }
  }
  return {};
}

ttmem_string_t operation_name(const void* return_address) {
  Dl_info info;
  if (!return_address || !::dladdr(return_address, &info) || !info.dli_sname) return 0;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), &std::free);
  if (!demangled) return 0;
  const std::string name = operation_in(demangled.get());
  return name.empty() ? 0 : ttmem_intern_string(name.data(), name.size());
}

}  // namespace ttmem::inject
