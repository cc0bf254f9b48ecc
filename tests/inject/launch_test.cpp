// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "inject/launch/launch.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace ttmem::inject {
namespace {

TEST(MergedPreload, OursComesLastAndOnce) {
  EXPECT_EQ(merged_preload("", "/a/ours.so"), "/a/ours.so");
  EXPECT_EQ(merged_preload("/b/other.so", "/a/ours.so"), "/b/other.so:/a/ours.so");
  EXPECT_EQ(merged_preload("/a/ours.so", "/a/ours.so"), "/a/ours.so");
  EXPECT_EQ(merged_preload("/b.so /a/ours.so", "/a/ours.so"), "/b.so /a/ours.so");
  EXPECT_EQ(merged_preload("/a/ours.so.old", "/a/ours.so"), "/a/ours.so.old:/a/ours.so");
}

TEST(MergedPythonPath, OursComesFirstAndOnce) {
  EXPECT_EQ(merged_python_path("", "/a/start"), "/a/start");
  EXPECT_EQ(merged_python_path("/b:/c", "/a/start"), "/a/start:/b:/c");
  EXPECT_EQ(merged_python_path("/a/start:/b", "/a/start"), "/a/start:/b");
}

TEST(Environment, IsPrintedForAShell) {
  EXPECT_EQ(as_shell_text({{"LD_PRELOAD", "/a b/ours.so"}}), "export LD_PRELOAD='/a b/ours.so'\n");
  EXPECT_EQ(as_shell_text({{"A", "/it's.so"}, {"B", ""}}),
            "export A='/it'\\''s.so'\nexport B=''\n");
}

TEST(Environment, NamesPythonAndWhetherLinesAreOff) {
  using Variable = std::pair<std::string, std::string>;
  ::setenv("PYTHONPATH", "/mine", 1);
  const Environment none = environment_with("/none/ours.so", {.off = true, .python_start = ""});
  ASSERT_EQ(none.size(), 2u) << "there is no recorder beside that stub";
  EXPECT_EQ(none[0].first, "LD_PRELOAD");
  EXPECT_EQ(none[1], Variable("TTMEM_LINES", "0"));
  const Environment off =
      environment_with("/none/ours.so", {.off = true, .python_start = "/start"});
  ASSERT_EQ(off.size(), 3u);
  EXPECT_EQ(off[2], Variable("PYTHONPATH", "/start:/mine")) << "it still notices RTLD_DEEPBIND";
  const Environment on =
      environment_with("/none/ours.so", {.off = false, .python_start = "/start"});
  ASSERT_EQ(on.size(), 2u);
  EXPECT_EQ(on[1], Variable("PYTHONPATH", "/start:/mine"));
  ::unsetenv("PYTHONPATH");
}

TEST(FindPythonStart, IsInTheShareFolderOfTheCommand) {
  const support::TemporaryDirectory folder;
  const std::filesystem::path root = folder.path();
  std::filesystem::create_directories(root / "bin");
  const auto start = root / "share" / "ttmem" / "python";
  std::filesystem::create_directories(start);
  EXPECT_FALSE(find_python_start((root / "bin").string()));
  std::ofstream(start / "sitecustomize.py") << "";
  EXPECT_EQ(*find_python_start((root / "bin").string()), start.string());
}

TEST(FindPreload, LooksBesideTheCommandAndInLib) {
  const support::TemporaryDirectory folder;
  const std::filesystem::path root = folder.path();
  std::filesystem::create_directories(root / "bin");
  std::filesystem::create_directories(root / "lib");
  EXPECT_FALSE(find_preload((root / "bin").string()));
  std::ofstream(root / "lib" / "libttmem_preload.so") << "";
  EXPECT_EQ(*find_preload((root / "bin").string()),
            (root / "lib" / "libttmem_preload.so").string());
  std::ofstream(root / "bin" / "libttmem_preload.so") << "";
  EXPECT_EQ(*find_preload((root / "bin").string()),
            (root / "bin" / "libttmem_preload.so").string());
}

TEST(FindPreload, RefusesAPathThatThePreloadVariableWouldCut) {
  for (const char* stem : {"ttmem launch-", "ttmem:launch-"}) {
    const support::TemporaryDirectory folder("/tmp", stem);
    std::ofstream(folder / "libttmem_preload.so") << "";
    const auto found = find_preload(folder.path());
    ASSERT_FALSE(found) << *found;
    EXPECT_NE(found.error().message.find("without spaces and colons"), std::string::npos);
  }
}

int code_of(const std::vector<std::string>& command) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(become(command, {}));
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

TEST(Become, AnIgnoredSignalStaysIgnoredAndAnotherDoesNot) {
  const std::vector<std::string> pipe_lost = {"sh", "-c", "kill -PIPE $$; exit 3"};
  ::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(code_of(pipe_lost), 3);
  ::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(code_of(pipe_lost), -SIGPIPE);
}

}  // namespace
}  // namespace ttmem::inject
