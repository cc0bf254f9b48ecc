// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Text that must not change by accident: compared with a file in the folder `golden` beside the
// test. With TTMEM_UPDATE_GOLDEN=1 in the environment the files are written instead; look at the
// difference before you commit it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace ttmem::support {

// `test` is the source of the test, as the compiler names it.
inline std::string golden(const char* test, const std::string& name, const std::string& actual) {
  namespace fs = std::filesystem;
  const fs::path path = fs::path(TTMEM_SOURCE_DIR) / fs::path(test).parent_path() / "golden" / name;
  if (std::getenv("TTMEM_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << actual;
  std::ifstream file(path);
  if (!file) return "there is no " + path.string();
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace ttmem::support

#define EXPECT_GOLDEN(name, actual) \
  EXPECT_EQ(::ttmem::support::golden(__FILE__, name, actual), actual)
