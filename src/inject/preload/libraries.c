/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
#define _GNU_SOURCE
#include "inject/preload/libraries.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

enum { kPathBytes = 4096 };

static const char kObserver[] = "libttmem_observer.so";
static const char kRuntime[] = "libtt_metal.so";

int ttmem_is_named(const char* path, const char* name) {
  const char* slash = strrchr(path, '/');
  return strncmp(slash ? slash + 1 : path, name, strlen(name)) == 0;
}

int ttmem_is_runtime(const char* path) {
  return ttmem_is_named(path, kRuntime) || ttmem_is_named(path, "libtt_metal-");
}

static int find_runtime(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  if (!ttmem_is_runtime(info->dlpi_name)) return 0;
  *(const char**)found = info->dlpi_name;
  return 1;
}

void* ttmem_loaded_runtime(void) {
  void* handle = dlopen(kRuntime, RTLD_LAZY | RTLD_NOLOAD);
  if (handle) return handle;
  const char* path = NULL;
  dl_iterate_phdr(find_runtime, &path);
  return path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

void* ttmem_load_observer(void) {
  Dl_info self;
  char path[kPathBytes];
  if (!dladdr(kObserver, &self) || !self.dli_fname) return NULL;
  const char* slash = strrchr(self.dli_fname, '/');
  const size_t folder = slash ? (size_t)(slash - self.dli_fname) + 1 : 0;
  if (folder + sizeof kObserver > sizeof path) return NULL;
  memcpy(path, self.dli_fname, folder);
  memcpy(path + folder, kObserver, sizeof kObserver);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}
