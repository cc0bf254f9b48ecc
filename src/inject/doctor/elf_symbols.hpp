// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The dynamic symbols of a shared library, read from its file without loading it.
#pragma once

#include <string>
#include <unordered_map>

#include "segment/result.hpp"

namespace ttmem::inject {

struct DynamicSymbol {
  bool defined = false;
  /// Whether the library itself reaches it through a table that a preload can redirect.
  bool interposable = false;
};

segment::Result<std::unordered_map<std::string, DynamicSymbol>> read_symbols(
    const std::string& path);

}  // namespace ttmem::inject
