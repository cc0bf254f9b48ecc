// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Loads two different libraries of the runtime's name, as two Python packages that bundle it do,
// and uses both. Prints how often each of them allocated, and waits for a line.
//
//   ttmem_two_runtimes LIBRARY LIBRARY

#include <dlfcn.h>

#include <cstdint>
#include <iostream>
#include <string>

namespace {

struct Runtime {
  explicit Runtime(const char* path) : handle(::dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle) return;
    world = reinterpret_cast<void* (*)()>(::dlsym(handle, "fake_metal_open"))();
  }
  void hold(std::uint64_t bytes) const {
    reinterpret_cast<void (*)(void*, std::uint64_t)>(::dlsym(handle, "fake_metal_hold"))(world,
                                                                                         bytes);
  }
  unsigned allocations() const {
    return reinterpret_cast<unsigned (*)()>(::dlsym(handle, "fake_metal_allocations"))();
  }

  void* handle;
  void* world = nullptr;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const Runtime first(arguments[1]);
  first.hold(4096);
  const Runtime second(arguments[2]);
  if (!first.handle || !second.handle) return 3;
  second.hold(8192);
  second.hold(8192);
  first.hold(4096);
  first.hold(4096);
  std::cout << first.allocations() << " " << second.allocations() << std::endl;
  std::string line;
  std::getline(std::cin, line);
  return 0;
}
