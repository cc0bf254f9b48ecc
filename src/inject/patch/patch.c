/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
#define _GNU_SOURCE
/* POSIX lets dlsym give functions; ISO C does not know that. */
#pragma GCC diagnostic ignored "-Wpedantic"
#include "inject/patch/patch.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "inject/patch/device_manager.h"
#include "inject/patch/relocations.h"
#include "inject/preload/slots.h"

enum { kPathBytes = 4096 };

static ttmem_hook_slot g_slots[] = {
#define TTMEM_HOOK(id, manner, symbol, lost) {#symbol, NULL, NULL},
#include "inject/hooks.def"
#undef TTMEM_HOOK
};
static const unsigned kSlots = sizeof g_slots / sizeof g_slots[0];

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static int g_bound;

static int named(const char* path, const char* name) {
  const char* slash = strrchr(path, '/');
  return strncmp(slash ? slash + 1 : path, name, strlen(name)) == 0;
}

static int is_runtime(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  if (!named(info->dlpi_name, "libtt_metal.so")) return 0;
  *(const char**)found = info->dlpi_name;
  return 1;
}

/* Originals come from the runtime itself, never from a word that may be patched already. */
static int find_originals(void) {
  const char* path = NULL;
  dl_iterate_phdr(is_runtime, &path);
  void* runtime = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (!runtime) return ENOENT;
  for (unsigned i = 0; i < kSlots; ++i) g_slots[i].original = dlsym(runtime, g_slots[i].name);
  return 0;
}

static void* load_observer(void) {
  static const char observer[] = "libttmem_observer.so";
  Dl_info self;
  char path[kPathBytes];
  if (!dladdr(g_slots, &self) || !self.dli_fname) return NULL;
  const char* slash = strrchr(self.dli_fname, '/');
  const size_t folder = slash ? (size_t)(slash - self.dli_fname) + 1 : 0;
  if (folder + sizeof observer > sizeof path) return NULL;
  memcpy(path, self.dli_fname, folder);
  memcpy(path + folder, observer, sizeof observer);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* What the runtime held before anything was hooked. */
static unsigned catch_up(void* observer) {
  const ttmem_observer_attach_fn attach = dlsym(observer, "ttmem_observer_attach");
  const void* manager = ttmem_find_device_manager();
  return attach && manager ? attach(manager) : 0;
}

static int bind(ttmem_patch_result* result) {
  if (g_bound) return 0;
  if (dlsym(RTLD_DEFAULT, "ttmem_preload_slots")) return EALREADY;
  const int missing = find_originals();
  if (missing) return missing;
  void* observer = load_observer();
  const ttmem_observer_bind_fn bind_slots =
      observer ? dlsym(observer, "ttmem_observer_bind") : NULL;
  if (!bind_slots) return ELIBACC;
  const int refused = bind_slots(g_slots, kSlots);
  if (refused) return refused;
  g_bound = 1;
  result->buffers = catch_up(observer);
  return 0;
}

static const ttmem_hook_slot* find_slot(const char* name) {
  for (unsigned i = 0; i < kSlots; ++i) {
    if (strcmp(g_slots[i].name, name) == 0) return &g_slots[i];
  }
  return NULL;
}

/* What a relocation of this name shall point to; NULL = leave it alone. Names of the runtime all
 * begin alike, which saves a look at the table for nearly every symbol. */
static void* replacement(const char* name, void* unused) {
  (void)unused;
  if (strncmp(name, "_ZN2tt8tt_metal", 15) != 0) return NULL;
  const ttmem_hook_slot* slot = find_slot(name);
  if (!slot || !slot->original || slot->target == slot->original) return NULL;
  return slot->target;
}

static int patch_library(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  ttmem_patch_result* result = data;
  if (named(info->dlpi_name, "libttmem")) return 0;
  const ttmem_relocation_counts counts = ttmem_relocations_replace(info, replacement, NULL);
  result->slots += counts.written;
  result->protected_slots += counts.unprotected;
  result->failed += counts.failed;
  result->libraries += counts.found != 0;
  return 0;
}

int ttmem_patch(ttmem_patch_result* result) {
  pthread_mutex_lock(&g_mutex);
  const int error = bind(result);
  if (error == 0) {
    for (unsigned i = 0; i < kSlots; ++i) result->hooks += g_slots[i].original != NULL;
    dl_iterate_phdr(patch_library, result);
  }
  pthread_mutex_unlock(&g_mutex);
  return error;
}
