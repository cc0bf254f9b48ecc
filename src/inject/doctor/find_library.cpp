// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/doctor/find_library.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

extern char** environ;

namespace ttmem::inject {

namespace {

constexpr const char* kLibrary = "libtt_metal.so";

/// What a program prints. Nothing is run through a shell.
std::string output_of(const std::vector<std::string>& command, const char* extra_environment) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> variables;
  for (char** variable = environ; *variable; ++variable) variables.push_back(*variable);
  if (extra_environment) variables.push_back(const_cast<char*>(extra_environment));
  variables.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got = 0; !failed && (got = ::read(ends[0], part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  if (!failed) ::waitpid(child, nullptr, 0);
  return text;
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

bool is_python(std::string_view program) {
  const auto slash = program.rfind('/');
  return program.substr(slash == program.npos ? 0 : slash + 1).starts_with("python");
}

/// Finds the package without importing it.
void add_from_python(std::vector<LibraryPlace>& places, const std::string& python) {
  const std::string folder =
      trimmed(output_of({python, "-c",
                         "import importlib.util as u; s = u.find_spec('ttnn'); "
                         "print(s.submodule_search_locations[0] if s else '')"},
                        nullptr));
  if (folder.empty()) return;
  const std::filesystem::path root = folder;
  for (const auto& place :
       {root / "build" / "lib" / kLibrary, root / ".." / ".." / "build" / "lib" / kLibrary}) {
    std::error_code error;
    const auto path = std::filesystem::canonical(place, error);
    if (!error) places.push_back({path.string(), python + " imports ttnn from here"});
  }
}

/// Asks the dynamic linker, which prints instead of running the program.
void add_from_binary(std::vector<LibraryPlace>& places, const std::string& binary) {
  const std::string text = output_of({binary}, "LD_TRACE_LOADED_OBJECTS=1");
  const auto name = text.find(kLibrary);
  const auto arrow = text.find("=> ", name == text.npos ? text.size() : name);
  if (arrow == text.npos) return;
  const auto end = text.find(" (", arrow);
  places.push_back({text.substr(arrow + 3, end - arrow - 3), binary + " is linked to it"});
}

void add_from_environment(std::vector<LibraryPlace>& places, const char* variable) {
  const char* value = std::getenv(variable);
  std::string_view rest = value ? value : "";
  while (!rest.empty()) {
    const auto end = rest.find(':');
    const std::filesystem::path root = rest.substr(0, end);
    for (const auto& place :
         {root / kLibrary, root / "build" / "lib" / kLibrary, root / "lib" / kLibrary}) {
      std::error_code error;
      const auto path = std::filesystem::canonical(place, error);
      if (!error) places.push_back({path.string(), std::string("$") + variable + " points here"});
    }
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
}

/// Keeps the first of each path.
void drop_repeated(std::vector<LibraryPlace>& places) {
  std::vector<LibraryPlace> kept;
  for (auto& place : places) {
    const auto same = [&place](const LibraryPlace& other) { return other.path == place.path; };
    if (std::none_of(kept.begin(), kept.end(), same)) kept.push_back(std::move(place));
  }
  places = std::move(kept);
}

}  // namespace

std::vector<LibraryPlace> find_libraries(const std::vector<std::string>& program) {
  std::vector<LibraryPlace> places;
  if (!program.empty()) {
    if (std::string_view(program[0]).ends_with(".so")) {
      places.push_back({program[0], "it was named"});
    } else if (is_python(program[0])) {
      add_from_python(places, program[0]);
    } else {
      add_from_binary(places, program[0]);
    }
    return places;
  }
  for (const char* variable : {"TT_METAL_RUNTIME_ROOT", "TT_METAL_HOME", "LD_LIBRARY_PATH"}) {
    add_from_environment(places, variable);
  }
  for (const char* python : {"python3", "python"}) add_from_python(places, python);
  drop_repeated(places);
  return places;
}

}  // namespace ttmem::inject
