/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
int ttmem_test_callee(void);
int ttmem_test_callee(void) { return 1; }
