/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * The lines of Python behind what is recorded. A start file (or ttmem.track()) hands over the
 * interpreter, shows by a test that its frames are read right, and switches the lines on; from then
 * on the recorder asks here at every allocation. These calls are made by Python, with its lock
 * held.
 */
#ifndef TTMEM_INJECT_FRAMES_LINES_H
#define TTMEM_INJECT_FRAMES_LINES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttmem_interpreter {
  uint32_t struct_size;
  uint32_t version;       /* 0x030C = 3.12 */
  const void* frame_type; /* addresses of Python's own types */
  const void* code_type;
  const void* text_type;
  const void* bytes_type;
  void* (*this_thread)(void); /* PyGILState_GetThisThreadState */
  const void* runtime;        /* _PyRuntime, since 3.13; NULL = not exported */
  uint64_t main_thread;       /* pthread_self() of the thread that will end the interpreter */
} ttmem_interpreter;

/* Takes the interpreter. NULL, or why its frames are not read. */
const char* ttmem_lines_prepare(const ttmem_interpreter* interpreter);

/* Compares the stack of this call, read as carefully as can be, with what Python says of it: file,
 * function and line of each frame, the innermost first, each text ended by a NUL byte. NULL, or
 * what differs. */
const char* ttmem_lines_compare(const char* told, size_t bytes);

/* Frames of files that start like this are not the lines that people look for. With `leave_out`,
 * as for those of ttmem itself, they are not told at all. */
void ttmem_lines_pass_over(const char* prefix, int leave_out);

/* TTMEM_LINES_*. */
uint32_t ttmem_lines_state(void);
void ttmem_lines_switch_on(void);
/* `state` is TTMEM_LINES_OFF or TTMEM_LINES_REFUSED, with the reason or NULL. */
void ttmem_lines_switch_off(uint32_t state, const char* reason);
/* The interpreter ends. Returns when no thread is reading its frames any more. */
void ttmem_lines_end(void);

/* The operations of ttnn: the code of the function that calls them, and objects by name. */
void ttmem_lines_operation_call(const void* code);
void ttmem_lines_operation(const void* object, const char* name);

#ifdef __cplusplus
}
#endif

#endif /* TTMEM_INJECT_FRAMES_LINES_H */
