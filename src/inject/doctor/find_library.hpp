// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Where a program would get libtt_metal.so from.
#pragma once

#include <string>
#include <vector>

namespace ttmem::inject {

struct LibraryPlace {
  std::string path;
  std::string why;  ///< "python3 imports ttnn from here"
};

/// What `program` (a Python interpreter or a binary) would load; without a program, what the
/// environment and the Python on PATH point to. The first is the likeliest.
std::vector<LibraryPlace> find_libraries(const std::vector<std::string>& program);

}  // namespace ttmem::inject
