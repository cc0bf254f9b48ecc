/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * `_exit` in a process with hooks. It runs no destructors, so the recorder would not learn that the
 * process ended as it chose to: os._exit(0) of a worker would look like a death.
 */
#ifndef TTMEM_INJECT_PRELOAD_LEAVING_H
#define TTMEM_INJECT_PRELOAD_LEAVING_H

/* Whom to tell: a handle of libttmem_observer.so. */
void ttmem_leave_through(void* observer);

/* Tells the observer, if there is one, and ends the process as `_exit` does. May be called wherever
 * `_exit` may: in signal handlers, and between vfork and exec. */
void ttmem_leave(int status) __attribute__((noreturn));

#endif /* TTMEM_INJECT_PRELOAD_LEAVING_H */
