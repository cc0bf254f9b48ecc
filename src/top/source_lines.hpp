// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The text of a line of Python, where whoever looks may read the file. A path comes from a
// stranger's segment: only plain files that end in .py and are not large are opened, and nothing
// waits. A file that was changed since the process began is not what ran, and the file of another
// host is another one: then there is no text rather than a wrong one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/snapshot.hpp"

namespace ttmem::top {

class SourceLines {
 public:
  // On which host the code ran, and from when on.
  struct Run {
    std::string_view host;
    ledger::TimeNs since;
  };
  // Of a step "FILE:LINE FUNCTION", without the spaces around it; "" if it cannot be told.
  std::string text_of(const std::string& step, const Run& run);

 private:
  struct File {
    ledger::TimeNs changed = 0;  // as the file system says
    std::vector<std::string> lines;
  };
  static std::string this_host();
  const File& file(const std::string& path);

  const std::string host_ = this_host();
  std::map<std::string, File> files_;
};

}  // namespace ttmem::top
