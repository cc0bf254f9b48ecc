/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
#define _GNU_SOURCE
#include "inject/preload/leaving.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/preload/slots.h"

static ttmem_observer_leaving_fn g_leaving;

void ttmem_leave_through(void* observer) {
  void* found = dlsym(observer, "ttmem_observer_leaving");
  ttmem_observer_leaving_fn leaving;
  memcpy(&leaving, &found, sizeof leaving);
  __atomic_store_n(&g_leaving, leaving, __ATOMIC_RELEASE);
}

void ttmem_leave(int status) {
  const ttmem_observer_leaving_fn leaving = __atomic_load_n(&g_leaving, __ATOMIC_ACQUIRE);
  if (leaving) leaving();
  /* The system call itself, not the C library's function: looking that up is not allowed here. */
  for (;;) syscall(SYS_exit_group, status);
}
