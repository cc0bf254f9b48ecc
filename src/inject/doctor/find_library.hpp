// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Where a program would get libtt_metal.so from.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace ttmem::inject {

struct LibraryPlace {
  std::string path;
  std::string why;      ///< "python3 imports ttnn from here"
  std::string version;  ///< of the package it belongs to; "" = not known
  std::string lines;    ///< what the Python that imports it says of its lines; "" = no Python
};

/// What `program` (a Python interpreter, a script for one, a binary, or the library itself) would
/// load; without a program, what the environment and the Python on PATH point to. The first is the
/// likeliest. The program itself is never run. An error says why it cannot be looked at.
Result<std::vector<LibraryPlace>> find_libraries(const std::vector<std::string>& program);

}  // namespace ttmem::inject
