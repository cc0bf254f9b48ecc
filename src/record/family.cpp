// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "record/recorder.hpp"

namespace ttmem::record {

namespace {

constexpr int kMostGenerations = 64;

// 0 = it is gone.
std::int32_t parent_of(std::int32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t name = text.rfind(')');  // the name may contain spaces and brackets
  if (name == std::string::npos) return 0;
  std::istringstream fields(text.substr(name + 1));
  char state = 0;
  std::int32_t parent = 0;
  fields >> state >> parent;
  return parent;
}

}  // namespace

bool is_of_family(std::int32_t pid, std::int32_t ancestor) {
  for (int i = 0; i < kMostGenerations && pid > 0; ++i) {
    if (pid == ancestor) return true;
    pid = parent_of(pid);
  }
  return false;
}

}  // namespace ttmem::record
