/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * The two libraries that whoever binds the hooks looks for. Neither call loads the runtime.
 */
#ifndef TTMEM_INJECT_PRELOAD_LIBRARIES_H
#define TTMEM_INJECT_PRELOAD_LIBRARIES_H

/* Whether the last part of a path begins so. */
int ttmem_is_named(const char* path, const char* name);

/* Whether a path is that of the runtime: libtt_metal.so, whatever version follows, or
 * libtt_metal-1a2b3c4d.so, as packages that bundle it call it. */
int ttmem_is_runtime(const char* path);

/* A handle of the loaded runtime; NULL if there is none.
 */
void* ttmem_loaded_runtime(void);

/* Loads libttmem_observer.so, which lies beside the library that this is part of; NULL if it
 * cannot. */
void* ttmem_load_observer(void);

#endif /* TTMEM_INJECT_PRELOAD_LIBRARIES_H */
