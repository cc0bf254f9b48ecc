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
#include "inject/preload/leaving.h"
#include "inject/preload/libraries.h"
#include "inject/preload/slots.h"

static ttmem_hook_slot g_slots[] = {
#define TTMEM_HOOK(id, manner, symbol, lost) {#symbol, NULL, NULL},
#include "inject/hooks.def"
#undef TTMEM_HOOK
};
static const unsigned kSlots = sizeof g_slots / sizeof g_slots[0];

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static int g_bound;

/* Originals come from the runtime itself, never from a word that may be patched already. */
static int find_originals(void) {
  void* runtime = ttmem_loaded_runtime();
  if (!runtime) return ENOENT;
  for (unsigned i = 0; i < kSlots; ++i) g_slots[i].original = dlsym(runtime, g_slots[i].name);
  return 0;
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
  void* observer = ttmem_load_observer();
  const ttmem_observer_bind_fn bind_slots =
      observer ? dlsym(observer, "ttmem_observer_bind") : NULL;
  if (!bind_slots) return ELIBACC;
  const int refused = bind_slots(g_slots, kSlots);
  if (refused) return refused;
  g_bound = 1;
  ttmem_leave_through(observer);
  result->buffers = catch_up(observer);
  return 0;
}

static const ttmem_hook_slot* find_slot(const char* name) {
  for (unsigned i = 0; i < kSlots; ++i) {
    if (strcmp(g_slots[i].name, name) == 0) return &g_slots[i];
  }
  return NULL;
}

static void* leaving(const char* name, void* function) {
  return strcmp(name, "_exit") == 0 || strcmp(name, "_Exit") == 0 ? function : NULL;
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
  if (ttmem_is_named(info->dlpi_name, "libttmem")) return 0;
  const ttmem_relocation_counts counts = ttmem_relocations_replace(info, replacement, NULL);
  result->slots += counts.written;
  result->protected_slots += counts.unprotected;
  result->failed += counts.failed;
  result->libraries += counts.found != 0;
  ttmem_relocations_replace(info, leaving, ttmem_leave);
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
