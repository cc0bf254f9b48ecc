// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The text of a line of Python, where whoever looks may read the file. A path comes from a
// stranger's segment: only plain files that end in .py and are not large are opened, and nothing
// waits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ttmem::top {

class SourceLines {
 public:
  // Of a step "FILE:LINE FUNCTION", without the spaces around it; "" if it cannot be told.
  std::string text_of(const std::string& step);

 private:
  struct File {
    std::int64_t changed = 0;  // as the file system says
    std::vector<std::string> lines;
  };
  const File& file(const std::string& path);

  std::map<std::string, File> files_;
};

}  // namespace ttmem::top
