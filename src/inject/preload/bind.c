/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * The stub's only code besides the trampolines. It runs at the first call of a hooked name, which
 * never comes in a process that does not use TT-Metal: no constructor, no thread, no file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inject/preload/leaving.h"
#include "inject/preload/libraries.h"
#include "inject/preload/slots.h"

#define EXPORTED __attribute__((visibility("default")))

enum { kMaxHooks = 128, kSymbolLookupFailed = 127 };

extern ttmem_hook_slot ttmem_preload_table[];
extern const unsigned ttmem_preload_count;
void* ttmem_preload_resolve(unsigned index, const void* caller);

/* Every runtime makes its chips by this one, long before it uses them, and rarely: it is resolved
 * at each call, so that a second runtime is noticed in time. */
static const char kWatched[] =
    "_ZN2tt8tt_metal6DeviceC1EPNS0_8MetalEnvEPNS0_12MetalContextEihmmSt4spanIKjLm"
    "18446744073709551615EEbjjm";
static void* g_first_targets[kMaxHooks]; /* into the resolver */
static void* g_bound_targets[kMaxHooks]; /* of the runtime that is observed */
static ttmem_observer_second_runtime_fn g_tell;
static int g_two_runtimes;
static pthread_once_t g_once = PTHREAD_ONCE_INIT;
static __thread int g_binding __attribute__((tls_model("initial-exec")));
/* The call that binds: only its own thread looks at it. */
static __thread const char* g_first_name __attribute__((tls_model("initial-exec")));
static __thread const void* g_first_caller __attribute__((tls_model("initial-exec")));

EXPORTED ttmem_hook_slot* ttmem_preload_slots(unsigned* count) {
  *count = ttmem_preload_count;
  return ttmem_preload_table;
}

EXPORTED void _exit(int status) { ttmem_leave(status); }
EXPORTED void _Exit(int status) { ttmem_leave(status); }

static int disabled(void) {
  const char* value = getenv("TTMEM_DISABLE");
  return value && *value && strcmp(value, "0") != 0;
}

/* A library that Python loaded is in no global scope: RTLD_NEXT does not see it, its handle does.
 */
static void* original_of(void* handle, const char* name) {
  void* original = handle ? dlsym(handle, name) : NULL;
  return original ? original : dlsym(RTLD_NEXT, name);
}

/* The function of this name in the runtime that the caller was linked to: its own library and what
 * that needs are searched, not what was preloaded. NULL if the caller does not say. */
static void* original_for(const void* caller, const char* name) {
  Dl_info info;
  if (!dladdr(caller, &info) || !info.dli_fname) return NULL;
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void* found = library ? dlsym(library, name) : NULL;
  if (library) dlclose(library);
  Dl_info self;
  const int is_ours = found && dladdr(found, &info) && dladdr(ttmem_preload_table, &self) &&
                      info.dli_fbase == self.dli_fbase;
  return is_ours ? NULL : found;
}

/* Whatever its name: the library that the first call would have reached without us. */
static void* first_called_library(void) {
  Dl_info info;
  const void* function = original_for(g_first_caller, g_first_name);
  if (!function || !dladdr(function, &info) || !info.dli_fname) return NULL;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

static void find_originals(void) {
  void* handle = ttmem_loaded_runtime();
  if (!handle) handle = first_called_library();
  for (unsigned i = 0; i < ttmem_preload_count; ++i) {
    ttmem_preload_table[i].original = original_of(handle, ttmem_preload_table[i].name);
  }
}

/* Where the observer did not set a target (still its first one), calls go to the original. */
static void* bound_target(unsigned index) {
  const ttmem_hook_slot* slot = &ttmem_preload_table[index];
  return slot->target == g_first_targets[index] ? slot->original : slot->target;
}

static void set_target(unsigned index, void* target) {
  __atomic_store_n(&ttmem_preload_table[index].target, target, __ATOMIC_RELEASE);
}

static void bind_observer(void) {
  void* observer = disabled() ? NULL : ttmem_load_observer();
  if (!observer) return;
  ttmem_leave_through(observer);
  void* bind = dlsym(observer, "ttmem_observer_bind");
  void* tell = dlsym(observer, "ttmem_observer_second_runtime");
  ttmem_observer_bind_fn function;
  memcpy(&function, &bind, sizeof function);
  memcpy(&g_tell, &tell, sizeof g_tell);
  if (function) function(ttmem_preload_table, ttmem_preload_count);
}

static void bind_once(void) {
  g_binding = 1;
  find_originals();
  for (unsigned i = 0; i < ttmem_preload_count; ++i)
    g_first_targets[i] = ttmem_preload_table[i].target;
  bind_observer();
  for (unsigned i = 0; i < ttmem_preload_count; ++i) {
    if (!ttmem_preload_table[i].original) continue;
    g_bound_targets[i] = bound_target(i);
    const int watched = strcmp(ttmem_preload_table[i].name, kWatched) == 0;
    set_target(i, watched ? g_first_targets[i] : g_bound_targets[i]);
  }
  g_binding = 0;
}

/* From now on every call is sent to the runtime of its caller; only the first one is observed. */
static void tell_runtimes_apart(void) {
  if (__atomic_exchange_n(&g_two_runtimes, 1, __ATOMIC_ACQ_REL)) return;
  for (unsigned i = 0; i < ttmem_preload_count; ++i) set_target(i, g_first_targets[i]);
  if (g_tell) g_tell();
}

/* Where a call goes that is resolved each time. */
static void* target_for(unsigned index, const void* caller) {
  const ttmem_hook_slot* slot = &ttmem_preload_table[index];
  void* theirs = original_for(caller, slot->name);
  if (!theirs || theirs == slot->original) return g_bound_targets[index];
  tell_runtimes_apart();
  return theirs;
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

/* Where this call shall go. After the first time every slot that has an original points past us,
 * but for the watched one, and for all of them once there are two runtimes. */
void* ttmem_preload_resolve(unsigned index, const void* caller) {
  const int saved_errno = errno;
  const ttmem_hook_slot* slot = &ttmem_preload_table[index];
  void* target = NULL;
  if (!g_binding) {
    g_first_name = slot->name;
    g_first_caller = caller;
    pthread_once(&g_once, bind_once);
    if (slot->original) target = target_for(index, caller);
  }
  if (!target) target = original_for(caller, slot->name);
  if (!target) target = original_of(ttmem_loaded_runtime(), slot->name);
  if (!target) die_unresolved(slot->name);
  errno = saved_errno;
  return target;
}
