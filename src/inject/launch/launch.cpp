// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/launch/launch.hpp"

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
constexpr const char* kPreloadSeparators = ": ";

Result<std::string> command_directory() {
  std::error_code error;
  const auto command = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return command.parent_path().string();
  return Error{ErrorCode::kSystem, "cannot read /proc/self/exe: " + error.message()};
}

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

/// Whether one of the words between separators is this one.
bool has_word(std::string_view list, std::string_view separators, std::string_view word) {
  while (!list.empty()) {
    const auto end = list.find_first_of(separators);
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(end == list.npos ? list.size() : end + 1);
  }
  return false;
}

/// LD_PRELOAD is cut at spaces and colons, and knows no way to write one.
Result<std::string> usable(std::string preload) {
  if (preload.find_first_of(kPreloadSeparators) == preload.npos) return preload;
  return Error{ErrorCode::kNotFound,
               preload +
                   " cannot be preloaded: install ttmem in a folder whose path is "
                   "without spaces and colons"};
}

std::vector<char*> as_arguments(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

}  // namespace

Result<std::string> find_preload() {
  const auto directory = command_directory();
  return directory ? find_preload(*directory) : directory;
}

Result<std::string> find_python_start() {
  const auto directory = command_directory();
  return directory ? find_python_start(*directory) : directory;
}

Result<std::string> find_python_start(const std::string& command_directory) {
  const auto place = std::filesystem::path(command_directory) / ".." / "share" / "ttmem" / "python";
  std::error_code error;
  const auto file = std::filesystem::canonical(place / "sitecustomize.py", error);
  if (!error) return file.parent_path().string();
  return Error{ErrorCode::kNotFound,
               "share/ttmem/python/sitecustomize.py, which names the lines of Python, is "
               "missing: install ttmem completely, or run with --no-lines"};
}

Result<std::string> find_preload(const std::string& command_directory) {
  const std::filesystem::path here = command_directory;
  const std::array<std::filesystem::path, 3> places = {
      here / kPreload, here / ".." / "lib" / kPreload, here / ".." / "lib" / "ttmem" / kPreload};
  for (const auto& place : places) {
    std::error_code error;
    const auto path = std::filesystem::canonical(place, error);
    if (!error) return usable(path.string());
  }
  return Error{ErrorCode::kNotFound, std::string(kPreload) +
                                         " is neither beside the ttmem command nor in ../lib: "
                                         "install ttmem completely, or build it (make build)"};
}

std::string merged_preload(std::string_view existing, std::string_view ours) {
  if (existing.empty()) return std::string(ours);
  if (has_word(existing, kPreloadSeparators, ours)) return std::string(existing);
  return std::string(existing) + ":" + std::string(ours);
}

std::string merged_python_path(std::string_view existing, std::string_view ours) {
  if (existing.empty()) return std::string(ours);
  if (has_word(existing, ":", ours)) return std::string(existing);
  return std::string(ours) + ":" + std::string(existing);
}

bool lines_are_off() { return value_of("TTMEM_LINES") == "0"; }

Environment environment_with(const std::string& preload, const Lines& lines, const Extras& extras) {
  Environment environment = {{"LD_PRELOAD", merged_preload(value_of("LD_PRELOAD"), preload)}};
  if (lines.off) environment.emplace_back("TTMEM_LINES", "0");
  if (extras.native_stacks) environment.emplace_back("TTMEM_NATIVE_STACKS", "1");
  if (!extras.job.empty()) environment.emplace_back("TT_MEM_JOB", extras.job);
  if (extras.launches) environment.emplace_back("TTMEM_LAUNCHES", "1");
  if (extras.events != 0 && value_of("TTMEM_EVENTS").empty()) {
    environment.emplace_back("TTMEM_EVENTS", std::to_string(extras.events));
  }
  // Also with lines off: it notices libraries that will pass the hooks by.
  if (!lines.python_start.empty()) {
    environment.emplace_back("PYTHONPATH",
                             merged_python_path(value_of("PYTHONPATH"), lines.python_start));
  }
  // Python must use the recorder that the observer uses, which lies beside the stub.
  const auto recorder = std::filesystem::path(preload).parent_path() / "libttmem.so.1";
  std::error_code error;
  if (std::filesystem::exists(recorder, error)) {
    environment.emplace_back("TTMEM_LIBRARY", recorder.string());
  }
  return environment;
}

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

std::string as_shell_text(const Environment& environment) {
  std::string text;
  for (const auto& [name, value] : environment) {
    text += "export " + name + "=" + shell_quoted(value) + "\n";
  }
  return text;
}

int become(const std::vector<std::string>& command, const Environment& environment) {
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  auto arguments = as_arguments(command);
  ::execvp(arguments[0], arguments.data());
  const int reason = errno;
  std::fprintf(stderr, "ttmem: cannot run %s: %s\n", command[0].c_str(), std::strerror(reason));
  return reason == ENOENT ? kNoSuchProgram : kCannotExecute;
}

}  // namespace ttmem::inject
