// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/metal.hpp"

#include <dlfcn.h>

#include <typeinfo>

#include "inject/hot_data.hpp"

namespace ttmem::inject::metal {

TTMEM_HOT_DATA Functions functions;

namespace {

struct Library {
  std::string path;
  const std::type_info* mesh_type = nullptr;
};

/// What a command queue that writes programs itself points to first.
TTMEM_HOT_DATA const void* slow_queue_functions = nullptr;

Library& library() {
  static Library& library = *new Library;
  return library;
}

}  // namespace

void load(void* anchor) {
  Dl_info info;
  if (!::dladdr(anchor, &info) || !info.dli_fname) return;
  void* handle = ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return;
  library().path = info.dli_fname;
#define METAL_FUNCTION(name, result, arguments, symbol) \
  functions.name = reinterpret_cast<result(*) arguments>(::dlsym(handle, symbol));
#include "inject/metal_functions.def"
#undef METAL_FUNCTION
  library().mesh_type = static_cast<const std::type_info*>(
      ::dlsym(handle, "_ZTIN2tt8tt_metal11distributed10MeshDeviceE"));
  constexpr std::size_t kFirstFunction = 2 * sizeof(void*);
  const void* table = ::dlsym(handle, "_ZTVN2tt8tt_metal11distributed18SDMeshCommandQueueE");
  if (table) slow_queue_functions = static_cast<const std::byte*>(table) + kFirstFunction;
}

const std::string& library_path() { return library().path; }

bool is_mesh(const void* device) {
  if (!device || !library().mesh_type) return false;
  const auto* table = *static_cast<const std::type_info* const* const*>(device);
  return *table[-1] == *library().mesh_type;
}

[[gnu::hot]] bool is_slow_queue(const void* queue) {
  return slow_queue_functions && *static_cast<const void* const*>(queue) == slow_queue_functions;
}

}  // namespace ttmem::inject::metal
