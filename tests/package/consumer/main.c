/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */

#include <stdio.h>
#include <ttmem/ttmem.h>

int main(void) {
  int error = ttmem_open();
  printf("C: %s\n", ttmem_segment_path());
  return error != 0 || ttmem_segment_path()[0] == '\0';
}
