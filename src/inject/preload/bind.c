/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * The stub's only code besides the trampolines. It runs at the first call of a hooked name, which
 * never comes in a process that does not use TT-Metal: no constructor, no thread, no file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inject/preload/slots.h"

#define EXPORTED __attribute__((visibility("default")))

enum { kPathBytes = 4096, kMaxHooks = 128, kSymbolLookupFailed = 127 };

extern ttmem_hook_slot ttmem_preload_table[];
extern const unsigned ttmem_preload_count;
void* ttmem_preload_resolve(unsigned index);

static const char kObserver[] = "libttmem_observer.so";
static const char kRuntime[] = "libtt_metal.so";
static pthread_once_t g_once = PTHREAD_ONCE_INIT;
static __thread int g_binding __attribute__((tls_model("initial-exec")));

EXPORTED ttmem_hook_slot* ttmem_preload_slots(unsigned* count) {
  *count = ttmem_preload_count;
  return ttmem_preload_table;
}

static int disabled(void) {
  const char* value = getenv("TTMEM_DISABLE");
  return value && *value && strcmp(value, "0") != 0;
}

static int is_runtime(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* name = slash ? slash + 1 : info->dlpi_name;
  if (strncmp(name, kRuntime, sizeof kRuntime - 1) != 0) return 0;
  *(const char**)found = info->dlpi_name;
  return 1;
}

/* A library that Python loaded is in no global scope: RTLD_NEXT does not see it, its handle does.
 */
static void* runtime_handle(void) {
  void* handle = dlopen(kRuntime, RTLD_LAZY | RTLD_NOLOAD);
  if (handle) return handle;
  const char* path = NULL;
  dl_iterate_phdr(is_runtime, &path);
  return path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

static void* original_of(void* handle, const char* name) {
  void* original = handle ? dlsym(handle, name) : NULL;
  return original ? original : dlsym(RTLD_NEXT, name);
}

static void find_originals(void) {
  void* handle = runtime_handle();
  for (unsigned i = 0; i < ttmem_preload_count; ++i) {
    ttmem_preload_table[i].original = original_of(handle, ttmem_preload_table[i].name);
  }
}

/* The observer lies beside the stub. */
static ttmem_observer_bind_fn load_observer(void) {
  Dl_info self;
  char path[kPathBytes];
  if (!dladdr(ttmem_preload_table, &self) || !self.dli_fname) return NULL;
  const char* slash = strrchr(self.dli_fname, '/');
  const size_t folder = slash ? (size_t)(slash - self.dli_fname) + 1 : 0;
  if (folder + sizeof kObserver > sizeof path) return NULL;
  memcpy(path, self.dli_fname, folder);
  memcpy(path + folder, kObserver, sizeof kObserver);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* bind = handle ? dlsym(handle, "ttmem_observer_bind") : NULL;
  ttmem_observer_bind_fn function;
  memcpy(&function, &bind, sizeof function);
  return function;
}

/* Sends what the observer did not take (still at its first target) to the original. */
static void use_originals(void* const* first_targets) {
  for (unsigned i = 0; i < ttmem_preload_count; ++i) {
    ttmem_hook_slot* slot = &ttmem_preload_table[i];
    if (slot->original && slot->target == first_targets[i]) {
      __atomic_store_n(&slot->target, slot->original, __ATOMIC_RELEASE);
    }
  }
}

static void bind_once(void) {
  void* first_targets[kMaxHooks];
  g_binding = 1;
  find_originals();
  for (unsigned i = 0; i < ttmem_preload_count; ++i)
    first_targets[i] = ttmem_preload_table[i].target;
  const ttmem_observer_bind_fn bind = disabled() ? NULL : load_observer();
  if (bind) bind(ttmem_preload_table, ttmem_preload_count);
  use_originals(first_targets);
  g_binding = 0;
}

/* As the dynamic linker would, had the name not been found without us. */
static void die_unresolved(const char* name) {
  static const char text[] = "symbol lookup error: undefined symbol: ";
  ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  written += write(STDERR_FILENO, name, strlen(name));
  written += write(STDERR_FILENO, "\n", 1);
  (void)written;
  _exit(kSymbolLookupFailed);
}

/* Where this call shall go. After the first time every slot that has an original points past us. */
void* ttmem_preload_resolve(unsigned index) {
  const int saved_errno = errno;
  ttmem_hook_slot* slot = &ttmem_preload_table[index];
  void* target = NULL;
  if (!g_binding) {
    pthread_once(&g_once, bind_once);
    if (slot->original) target = __atomic_load_n(&slot->target, __ATOMIC_ACQUIRE);
  }
  if (!target) target = original_of(runtime_handle(), slot->name);
  if (!target) die_unresolved(slot->name);
  errno = saved_errno;
  return target;
}
