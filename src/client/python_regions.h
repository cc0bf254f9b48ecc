/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * The two calls of a region as Python calls functions of its own, with METH_O: by ctypes they cost
 * more than the region itself. Whatever they need of the interpreter is handed over, so the
 * recorder links no Python and knows none of its structs.
 */
#ifndef TTMEM_CLIENT_PYTHON_REGIONS_H
#define TTMEM_CLIENT_PYTHON_REGIONS_H

#include "ttmem/ttmem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttmem_python_calls {
  unsigned long (*number_of)(void* object);             /* PyLong_AsUnsignedLongMask */
  void* (*new_number)(unsigned long value);             /* PyLong_FromUnsignedLong */
  void* (*new_bytes)(const void* bytes, intptr_t size); /* PyBytes_FromStringAndSize */
} ttmem_python_calls;

/* Before the first of the others. The functions of an interpreter are the same for ever. */
TTMEM_API void ttmem_python_prepare(const ttmem_python_calls* calls);

/* ttmem_region_enter(name): the number of its watermark. */
TTMEM_API void* ttmem_python_region_enter(void* self, void* name);
/* ttmem_region_leave(watermark): its words as bytes, of as many devices as there are. */
TTMEM_API void* ttmem_python_region_leave(void* self, void* watermark);

#ifdef __cplusplus
}
#endif

#endif /* TTMEM_CLIENT_PYTHON_REGIONS_H */
