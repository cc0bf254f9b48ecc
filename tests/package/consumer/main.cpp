// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include <ttmem/ttmem.h>

#include <cstdio>

int main() {
  const int error = ttmem_open();
  std::printf("C++: %s\n", ttmem_segment_path());
  return error != 0 || ttmem_segment_path()[0] == '\0';
}
