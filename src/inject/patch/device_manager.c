/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
#define _GNU_SOURCE
/* POSIX lets dlsym give functions; ISO C does not know that. */
#pragma GCC diagnostic ignored "-Wpedantic"
#include "inject/patch/device_manager.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "inject/patch/relocations.h"
#include "inject/preload/libraries.h"

static const char kAsked[] = "_ZN2tt8tt_metal6detail15GetActiveDeviceEi";
static const char kPassedOnTo[] = "_ZNK2tt8tt_metal13DeviceManager17get_active_deviceEi";

typedef void* (*get_active_device_fn)(const void* manager, int id);
typedef void* (*ask_fn)(int id);

static get_active_device_fn g_original;
static pthread_t g_asker;
static const void* g_found;

/* Other threads may ask at the same time: they get their answer. */
static void* look(const void* manager, int id) {
  if (!pthread_equal(pthread_self(), g_asker)) return g_original(manager, id);
  g_found = manager;
  return NULL;
}

typedef struct Swap {
  void* value;
  unsigned written;
} Swap;

static void* replacement(const char* name, void* context) {
  return strcmp(name, kPassedOnTo) == 0 ? context : NULL;
}

static int swap_in_runtime(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  Swap* swap = data;
  if (!ttmem_is_runtime(info->dlpi_name)) return 0;
  swap->written += ttmem_relocations_replace(info, replacement, swap->value).written;
  return 1;
}

static unsigned swap_all(void* value) {
  Swap swap = {value, 0};
  dl_iterate_phdr(swap_in_runtime, &swap);
  return swap.written;
}

const void* ttmem_find_device_manager(void) {
  void* runtime = ttmem_loaded_runtime();
  if (!runtime) return NULL;
  const ask_fn ask = dlsym(runtime, kAsked);
  g_original = dlsym(runtime, kPassedOnTo);
  if (!ask || !g_original) return NULL;
  g_asker = pthread_self();
  g_found = NULL;
  /* Without a word to replace, the question would be answered, with an error if there is no device.
   */
  if (swap_all(look)) ask(0);
  swap_all(g_original);
  return g_found;
}
