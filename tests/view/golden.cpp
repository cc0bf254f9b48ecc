// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/golden.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace ttmem::test {

std::string golden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(TTMEM_SOURCE_DIR "/tests/view/golden/") + name;
  if (std::getenv("TTMEM_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << actual;
    return actual;
  }
  std::ifstream file(path);
  if (!file) return "there is no " + path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace ttmem::test
