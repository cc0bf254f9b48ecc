/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * libttmem_patch.so: hooks for a process that runs already.
 *
 * Where nothing was preloaded, a call from one library into another still goes through a word of
 * memory: a slot of the caller's global offset table, or an entry of a vtable. This library finds
 * those words for the hooked names in every loaded library and makes them point to the observer.
 */
#ifndef TTMEM_INJECT_PATCH_PATCH_H
#define TTMEM_INJECT_PATCH_PATCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttmem_patch_result {
  uint32_t struct_size;
  uint32_t hooks;           /* hooked names that the runtime has */
  uint32_t slots;           /* words that point to the observer because of this call */
  uint32_t protected_slots; /* of those: words that had to be made writable for it */
  uint32_t failed;          /* words that could not be written */
  uint32_t libraries;       /* libraries that own such words */
  uint32_t buffers;         /* buffers that existed before and were read from the allocators */
} ttmem_patch_result;

/* Binds the observer, once, reads what is held already, and patches every loaded library. No other
 * thread may use the runtime during the first call. Call it again after more libraries
 * were loaded: what is patched stays as it is. Returns 0; ENOENT: libtt_metal.so is not loaded;
 * EALREADY: the stub was preloaded and has the hooks; ELIBACC: no observer beside this library;
 * another errno: the observer refused. */
__attribute__((visibility("default"))) int ttmem_patch(ttmem_patch_result* result);

#ifdef __cplusplus
}
#endif

#endif /* TTMEM_INJECT_PATCH_PATCH_H */
