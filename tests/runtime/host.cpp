// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A program that uses the stock TT-Metal library on mock chips and tells what the library itself
// says about its memory: the truth that every figure of ours is compared with.
//
//   ttmem_runtime_host [--interactive] [--l1-small BYTES] [--trace BYTES] SCENE...

#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>

#include "scene.hpp"

namespace {

using ttmem::runtime::Mesh;
using ttmem::runtime::Options;

constexpr struct {
  const char* name;
  void (*play)(Mesh&);
} kScenes[] = {
    {"buffers", ttmem::runtime::play_buffers},
    {"programs", ttmem::runtime::play_programs},
    {"failures", ttmem::runtime::play_failures},
    {"chip_failure", ttmem::runtime::play_chip_failure},
    {"threads", ttmem::runtime::play_threads},
    {"reopen", ttmem::runtime::play_reopen},
    {"forks", ttmem::runtime::play_forks},
    {"hold", ttmem::runtime::play_hold},
    {"leave_at_once", ttmem::runtime::play_leave_at_once},
    {"leave_open", ttmem::runtime::play_leave_open},
};

bool play(Mesh& mesh, const std::string& name) {
  for (const auto& scene : kScenes) {
    if (name == scene.name) {
      scene.play(mesh);
      return true;
    }
  }
  std::cerr << "host: no scene named " << name << "\n";
  return false;
}

Options parse(int& first, int count, char** arguments) {
  Options options{.l1_small_bytes = 16384};
  for (first = 1; first < count && std::strncmp(arguments[first], "--", 2) == 0; ++first) {
    const std::string name = arguments[first];
    if (name == "--interactive") options.interactive = true;
    if (name == "--l1-small")
      options.l1_small_bytes = std::strtoull(arguments[++first], nullptr, 0);
    if (name == "--trace")
      options.trace_region_bytes = std::strtoull(arguments[++first], nullptr, 0);
  }
  return options;
}

}  // namespace

int main(int count, char** arguments) {
  int first = 1;
  const Options options = parse(first, count, arguments);
  try {
    Mesh mesh(options);
    for (int i = first; i < count; ++i) {
      if (!play(mesh, arguments[i])) return 2;
    }
    mesh.close();
  } catch (const std::exception& error) {
    std::cerr << "host: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
