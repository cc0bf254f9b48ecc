// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/doctor/find_library.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/file_descriptor.hpp"
#include "inject/doctor/elf_symbols.hpp"
#include "inject/launch/launch.hpp"

extern char** environ;

namespace ttmem::inject {

namespace {

using Places = Result<std::vector<LibraryPlace>>;

constexpr const char* kLibrary = "libtt_metal.so";
constexpr std::streamsize kMaxFirstLine = 256;

enum class Complaints { kDropped, kAmongTheOutput };

/// What a program prints. Nothing is run through a shell.
std::string output_of(const std::vector<std::string>& command, Complaints complaints) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const FileDescriptor output(ends[0]);
  FileDescriptor input(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
  if (complaints == Complaints::kAmongTheOutput) {
    ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDERR_FILENO);
  } else {
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  input.reset();
  std::string text;
  char part[4096];
  for (ssize_t got = 0; !failed && (got = ::read(output.get(), part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  if (!failed) ::waitpid(child, nullptr, 0);
  return text;
}

Error error(std::string message) { return {ErrorCode::kNotFound, std::move(message)}; }

/// Takes what comes before `end` from the front, and drops the end itself.
std::string_view take(std::string_view& text, char end) {
  const auto at = text.find(end);
  const auto part = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + 1);
  return part;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_python(std::string_view program) { return file_name(program).starts_with("python"); }

bool is_library(std::string_view program) {
  const auto name = file_name(program);
  return name.ends_with(".so") || name.find(".so.") != name.npos;
}

/// The file that a shell would run; "" if there is none.
std::string file_of(const std::string& program) {
  if (program.find('/') != program.npos) return ::access(program.c_str(), R_OK) ? "" : program;
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path ? path : ""; !rest.empty();) {
    const std::string place = std::string(take(rest, ':')) + "/" + program;
    if (::access(place.c_str(), X_OK) == 0) return place;
  }
  return {};
}

/// The program that the first line of a script names; "" if it is no script.
std::string interpreter_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string line(kMaxFirstLine, '\0');
  stream.read(line.data(), kMaxFirstLine);
  line.resize(static_cast<std::size_t>(stream.gcount()));
  if (!line.starts_with("#!")) return {};
  std::istringstream words(line.substr(2, line.find('\n') - 2));
  std::string word;
  words >> word;
  if (file_name(word) != "env") return word;
  while (words >> word && word.starts_with('-')) {
  }
  return word;
}

/// Finds packages without importing them: ttnn, and whatever else brings the library.
constexpr const char* kAskPython = R"(
import importlib.metadata as metadata, importlib.util, os
found = []
def add(path, package, version):
    if os.path.exists(path):
        found.append((os.path.realpath(path), package, version))
spec = importlib.util.find_spec("ttnn")
for folder in (spec and spec.submodule_search_locations) or []:
    try:
        version = metadata.version("ttnn")
    except metadata.PackageNotFoundError:
        version = ""
    for lib in ("build/lib", "../../build/lib"):
        add(os.path.join(folder, lib, "libtt_metal.so"), "ttnn", version)
for package in metadata.distributions():
    if "libtt_metal" not in (package.read_text("RECORD") or ""):
        continue
    for file in package.files:
        if file.name.startswith("libtt_metal") and ".so" in file.name:
            add(str(file.locate()), package.metadata["Name"], package.version)
for line in found:
    print(*line, sep="\t", flush=True)
)";

/// Makes the test that decides whether lines of Python are told, as a recorded process would.
/// Arguments: the folder of the start file, the observer.
constexpr const char* kAskForLines = R"(
import ctypes, platform, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
try:
    ctypes.CDLL(sys.argv[2])
    import ttmem_start.lines
    reason = ttmem_start.lines.start()
except Exception as problem:
    reason = str(problem)
name = "%s %s: " % (platform.python_implementation(), platform.python_version())
print(name + ("NOT told: " + reason if reason else "told"))
)";

/// Of the options of a Python, in front of its program: one that keeps the start file away; or 0.
char option_without_start_file(const std::vector<std::string>& program) {
  for (std::size_t i = 1; i < program.size() && program[i].size() > 1 && program[i][0] == '-';
       ++i) {
    for (const char option : program[i].substr(1)) {
      if (std::strchr("IES", option)) return option;
      if (std::strchr("-cm", option)) return 0;
      if (!std::strchr("WX", option)) continue;
      if (program[i].back() == option) ++i;  // its value stands by itself
      break;
    }
  }
  return 0;
}

std::string lines_of(const std::string& python) {
  const auto start = find_python_start();
  const auto preload = find_preload();
  if (!start || !preload) return {};
  const std::string observer = preload->substr(0, preload->rfind('/') + 1) + "libttmem_observer.so";
  const std::string text =
      output_of({python, "-c", kAskForLines, *start, observer}, Complaints::kDropped);
  return text.substr(0, text.find('\n'));
}

void add_from_python(std::vector<LibraryPlace>& places, const std::string& python) {
  const std::string text = output_of({python, "-c", kAskPython}, Complaints::kDropped);
  const std::string lines = text.empty() ? "" : lines_of(python);
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = take(rest, '\n');
    const std::string path(take(line, '\t'));
    const std::string package(take(line, '\t'));
    places.push_back(
        {path, python + " imports " + package + " from here", std::string(line), lines});
  }
}

/// "\tlibtt_metal.so => /path/libtt_metal.so (0x…)", or the path alone where that is what was
/// linked. A complaint has no tab before it, and gives "".
std::string path_in(std::string_view line) {
  if (!line.starts_with('\t')) return {};
  const auto arrow = line.find("=> ");
  line.remove_prefix(arrow == line.npos ? 1 : arrow + 3);
  return std::string(line.substr(0, line.find(" (")));
}

/// Asks the dynamic linker, which lists what it would load.
Places from_binary(const std::string& file) {
  const auto linker = dynamic_linker_of(file);
  if (!linker) return linker.error();
  if (linker->empty()) {
    return error(file + " is linked statically: a preload does not reach it");
  }
  const std::string text = output_of({*linker, "--list", file}, Complaints::kAmongTheOutput);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take(rest, '\n');
    if (line.find(kLibrary) == line.npos) continue;
    const std::string path = path_in(line);
    if (path.empty()) return error(file + " does not find its " + kLibrary);
    return std::vector<LibraryPlace>{{path, file + " is linked to it", "", ""}};
  }
  return std::vector<LibraryPlace>{};
}

void add_from_environment(std::vector<LibraryPlace>& places, const char* variable) {
  const char* value = std::getenv(variable);
  for (std::string_view rest = value ? value : ""; !rest.empty();) {
    const std::filesystem::path root = take(rest, ':');
    for (const auto& place :
         {root / kLibrary, root / "build" / "lib" / kLibrary, root / "lib" / kLibrary}) {
      std::error_code failed;
      const auto path = std::filesystem::canonical(place, failed);
      if (!failed) {
        places.push_back({path.string(), std::string("$") + variable + " points here", "", ""});
      }
    }
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

Places from_python(const std::string& python, char without_start_file = 0) {
  std::vector<LibraryPlace> places;
  add_from_python(places, python);
  drop_repeated(places);
  if (without_start_file == 0) return places;
  for (LibraryPlace& place : places) {
    if (place.lines.empty()) continue;
    place.lines = place.lines.substr(0, place.lines.find(": ")) + ": NOT told: with -" +
                  without_start_file + " Python does not load ttmem's start file";
  }
  return places;
}

Places from_program(const std::vector<std::string>& command) {
  const std::string& program = command[0];
  if (is_library(program)) return std::vector<LibraryPlace>{{program, "it was named", "", ""}};
  const std::string file = file_of(program);
  if (file.empty()) return error("there is no program " + program);
  if (is_python(program)) return from_python(file, option_without_start_file(command));
  const std::string interpreter = interpreter_of(file);
  if (interpreter.empty()) return from_binary(file);
  if (is_python(interpreter)) return from_python(interpreter);
  return error(file + " is a script: name the Python or the program that it starts");
}

}  // namespace

Result<std::vector<LibraryPlace>> find_libraries(const std::vector<std::string>& program) {
  if (!program.empty()) return from_program(program);
  std::vector<LibraryPlace> places;
  for (const char* variable : {"TT_METAL_RUNTIME_ROOT", "TT_METAL_HOME", "LD_LIBRARY_PATH"}) {
    add_from_environment(places, variable);
  }
  for (const char* python : {"python3", "python"}) add_from_python(places, python);
  drop_repeated(places);
  return places;
}

}  // namespace ttmem::inject
