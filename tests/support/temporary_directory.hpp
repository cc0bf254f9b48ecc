// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// An empty directory for one test, removed with everything in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace ttmem::support {

class TemporaryDirectory {
 public:
  // The name has no more in it than `parent` and `stem`. In shared memory, as segments are.
  explicit TemporaryDirectory(const std::string& parent = "/dev/shm",
                              const std::string& stem = "ttmem-test.") {
    path_ = parent + "/" + stem + "XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      found.push_back(entry.path());
    }
    return found;
  }

 private:
  std::string path_;
};

}  // namespace ttmem::support
