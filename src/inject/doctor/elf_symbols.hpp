// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The dynamic symbols of a shared library, and what loads a program: read from their files, without
// loading or running anything.
#pragma once

#include <string>
#include <unordered_map>

#include "base/result.hpp"

namespace ttmem::inject {

struct DynamicSymbol {
  bool defined = false;
  /// Whether the library itself reaches it through a table that a preload can redirect.
  bool interposable = false;
};

Result<std::unordered_map<std::string, DynamicSymbol>> read_symbols(const std::string& path);

/// The dynamic linker that a program asks for; "" = none, it is linked statically.
Result<std::string> dynamic_linker_of(const std::string& path);

}  // namespace ttmem::inject
