// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "inject/launch/launch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace ttmem::inject {
namespace {

TEST(MergedPreload, OursComesLastAndOnce) {
  EXPECT_EQ(merged_preload("", "/a/ours.so"), "/a/ours.so");
  EXPECT_EQ(merged_preload("/b/other.so", "/a/ours.so"), "/b/other.so:/a/ours.so");
  EXPECT_EQ(merged_preload("/a/ours.so", "/a/ours.so"), "/a/ours.so");
  EXPECT_EQ(merged_preload("/b.so /a/ours.so", "/a/ours.so"), "/b.so /a/ours.so");
  EXPECT_EQ(merged_preload("/a/ours.so.old", "/a/ours.so"), "/a/ours.so.old:/a/ours.so");
}

TEST(Environment, IsPrintedForAShell) {
  EXPECT_EQ(as_shell_text("/a b/ours.so"), "export LD_PRELOAD='/a b/ours.so'\n");
  EXPECT_EQ(as_shell_text("/it's.so"), "export LD_PRELOAD='/it'\\''s.so'\n");
}

TEST(FindPreload, LooksBesideTheCommandAndInLib) {
  char name[] = "/tmp/ttmem-launch-XXXXXX";
  const std::filesystem::path root = ::mkdtemp(name);
  std::filesystem::create_directories(root / "bin");
  std::filesystem::create_directories(root / "lib");
  EXPECT_FALSE(find_preload((root / "bin").string()));
  std::ofstream(root / "lib" / "libttmem_preload.so") << "";
  EXPECT_EQ(*find_preload((root / "bin").string()),
            (root / "lib" / "libttmem_preload.so").string());
  std::ofstream(root / "bin" / "libttmem_preload.so") << "";
  EXPECT_EQ(*find_preload((root / "bin").string()),
            (root / "bin" / "libttmem_preload.so").string());
  std::filesystem::remove_all(root);
}

int code_of(const std::vector<std::string>& command) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(become(command, ""));
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Become, TheProgramsCodeAndSignalsAreItsOwn) {
  EXPECT_EQ(code_of({"sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(code_of({"sh", "-c", "kill -TERM $$"}), -SIGTERM);
  EXPECT_EQ(code_of({"no-such-program-anywhere"}), kNoSuchProgram);
  EXPECT_EQ(code_of({"/"}), kCannotExecute);
}

}  // namespace
}  // namespace ttmem::inject
