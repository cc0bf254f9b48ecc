// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/launch/launch.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace ttmem::inject {

namespace {

constexpr const char* kPreload = "libttmem_preload.so";

std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      result += "'\\''";
    } else {
      result += letter;
    }
  }
  return result + "'";
}

std::vector<char*> as_arguments(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

}  // namespace

segment::Result<std::string> find_preload() {
  std::error_code error;
  const auto command = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return segment::Error{segment::ErrorCode::kSystem,
                          "cannot read /proc/self/exe: " + error.message()};
  }
  return find_preload(command.parent_path().string());
}

segment::Result<std::string> find_preload(const std::string& command_directory) {
  const std::filesystem::path here = command_directory;
  const std::array<std::filesystem::path, 3> places = {
      here / kPreload, here / ".." / "lib" / kPreload, here / ".." / "lib" / "ttmem" / kPreload};
  for (const auto& place : places) {
    std::error_code error;
    const auto path = std::filesystem::canonical(place, error);
    if (!error) return path.string();
  }
  return segment::Error{segment::ErrorCode::kNotFound,
                        std::string(kPreload) +
                            " is neither beside the ttmem command nor in ../lib: "
                            "install ttmem completely, or build it (make build)"};
}

std::string merged_preload(std::string_view existing, std::string_view ours) {
  std::string_view rest = existing;
  while (!rest.empty()) {
    const auto end = rest.find_first_of(": ");
    if (rest.substr(0, end) == ours) return std::string(existing);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
  return existing.empty() ? std::string(ours) : std::string(existing) + ":" + std::string(ours);
}

std::string as_shell_text(std::string_view preload) {
  return "export LD_PRELOAD=" + shell_quoted(preload) + "\n";
}

int become(const std::vector<std::string>& command, const std::string& preload) {
  ::setenv("LD_PRELOAD", preload.c_str(), 1);
  // The command ignores it for its own output; a program must not inherit that.
  ::signal(SIGPIPE, SIG_DFL);
  auto arguments = as_arguments(command);
  ::execvp(arguments[0], arguments.data());
  const int reason = errno;
  std::fprintf(stderr, "ttmem: cannot run %s: %s\n", command[0].c_str(), std::strerror(reason));
  return reason == ENOENT ? kNoSuchProgram : kCannotExecute;
}

}  // namespace ttmem::inject
