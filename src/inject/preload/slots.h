/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * The table between a hooked name and the code that runs for it.
 *
 * The preloaded stub exports every hooked name; each is one jump through `target`. Before the first
 * call `target` is the stub's own resolver. Whoever fills the table (the stub, or a patcher of
 * global offset tables that brings a table of its own) finds the originals, hands the table to
 * ttmem_observer_bind, and sends what the observer left alone straight to the original.
 */
#ifndef TTMEM_INJECT_PRELOAD_SLOTS_H
#define TTMEM_INJECT_PRELOAD_SLOTS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttmem_hook_slot {
  const char* name; /* mangled */
  void* target;     /* where a call goes */
  void* original;   /* in libtt_metal.so; NULL = this release has no such function */
} ttmem_hook_slot;

/* Exported by libttmem_observer.so: sets `target` of each slot whose original is known and which
 * the observer follows, and begins to record. Slots are found by name. Returns 0, or an errno after
 * which the caller uses the originals. Call it once. */
int ttmem_observer_bind(ttmem_hook_slot* slots, unsigned count);
typedef int (*ttmem_observer_bind_fn)(ttmem_hook_slot* slots, unsigned count);

/* Exported by libttmem_observer.so: records what a runtime that worked before the hooks were bound
 * holds; returns the number of buffers found. Call it after ttmem_observer_bind and before any hook
 * can be called. */
unsigned ttmem_observer_attach(const void* device_manager);
typedef unsigned (*ttmem_observer_attach_fn)(const void* device_manager);

/* Exported by libttmem_observer.so: a second runtime is at work in this process. It is left alone,
 * and the process says so. */
void ttmem_observer_second_runtime(void);
typedef void (*ttmem_observer_second_runtime_fn)(void);

/* Exported by libttmem_observer.so: the runtime is being loaded in a way that keeps it from calling
 * the hooks (RTLD_DEEPBIND). */
void ttmem_observer_unreached(void);

/* Exported by libttmem_observer.so: this process is about to leave by `_exit`, which runs no
 * destructors. It ends as it chose to; it did not die. */
void ttmem_observer_leaving(void);
typedef void (*ttmem_observer_leaving_fn)(void);

/* Exported by libttmem_preload.so: its table. */
ttmem_hook_slot* ttmem_preload_slots(unsigned* count);

#ifdef __cplusplus
}
#endif

#endif /* TTMEM_INJECT_PRELOAD_SLOTS_H */
