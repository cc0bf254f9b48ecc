/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * Allocations as a hook records them, timed inside a library that Python calls: the stack of Python
 * around them is the one of the caller. Used by origins.py.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "ttmem/ttmem.h"

enum { kBatch = 64 };

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int ascending(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

static void allocate(ttmem_allocator_t allocator, uint64_t id) {
  ttmem_buffer buffer = {0};
  buffer.id = id;
  buffer.address = id << 12;
  buffer.requested = buffer.block = 2048;
  buffer.allocator = allocator;
  ttmem_buffer_allocated(&buffer);
}

ttmem_allocator_t bench_open_allocator(void) {
  ttmem_device_info device = {.struct_size = sizeof device, .unique_id = 7, .mock = 1};
  const ttmem_device_t opened = ttmem_device_opened(&device);
  const ttmem_set_info set = {.struct_size = sizeof set, .device_count = 1, .devices = &opened};
  const ttmem_space_info dram = {.space = TTMEM_SPACE_DRAM, .banks = 12, .bank_bytes = 1u << 30};
  const ttmem_allocator_info info = {
      .struct_size = sizeof info, .set = ttmem_device_set(&set), .space_count = 1, .spaces = &dram};
  return ttmem_allocator_opened(&info);
}

/* Nanoseconds of an allocation, the median of `rounds` batches. */
double bench_allocations(ttmem_allocator_t allocator, unsigned rounds) {
  double* times = malloc(rounds * sizeof *times);
  if (!times) return 0;
  for (unsigned round = 0; round < rounds; ++round) {
    const uint64_t start = now_ns();
    for (unsigned i = 0; i < kBatch; ++i) allocate(allocator, 1 + i);
    times[round] = (double)(now_ns() - start) / kBatch;
    for (unsigned i = 0; i < kBatch; ++i) ttmem_buffer_freed(allocator, TTMEM_SPACE_DRAM, 1 + i);
  }
  qsort(times, rounds, sizeof *times, ascending);
  const double median = times[rounds / 2];
  free(times);
  return median;
}

/* Nanoseconds of one allocation. */
double bench_allocation(ttmem_allocator_t allocator) {
  const uint64_t start = now_ns();
  allocate(allocator, 1);
  const double time = (double)(now_ns() - start);
  ttmem_buffer_freed(allocator, TTMEM_SPACE_DRAM, 1);
  return time;
}

/* Nanoseconds of entering and leaving a region, the median of `rounds` batches. */
double bench_regions(ttmem_string_t name, unsigned rounds) {
  double* times = malloc(rounds * sizeof *times);
  if (!times) return 0;
  for (unsigned round = 0; round < rounds; ++round) {
    const uint64_t start = now_ns();
    for (unsigned i = 0; i < kBatch; ++i) {
      ttmem_tag_push(name, 0);
      ttmem_tag_pop();
    }
    times[round] = (double)(now_ns() - start) / kBatch;
  }
  qsort(times, rounds, sizeof *times, ascending);
  const double median = times[rounds / 2];
  free(times);
  return median;
}
