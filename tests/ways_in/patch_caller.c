/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/* Calls another library in the two ways that are patched: by name, and through a table that the
 * dynamic linker fills and then makes read-only, as a vtable is. */
int ttmem_test_callee(void);
int ttmem_test_call(void);
int ttmem_test_call_by_table(void);

typedef int (*function)(void);
static const function kTable[] = {ttmem_test_callee};
static const function* volatile g_table = kTable;

int ttmem_test_call(void) { return ttmem_test_callee(); }
int ttmem_test_call_by_table(void) { return g_table[0](); }
