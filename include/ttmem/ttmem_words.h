/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * The words of ttmem.h and their numbers: spaces, layouts, cores, kernels, parts, flags, failures
 * and anomalies. Numbers never change their meaning. Include ttmem.h, not this.
 */
#ifndef TTMEM_TTMEM_WORDS_H
#define TTMEM_TTMEM_WORDS_H

/* Memory spaces, numbered as TT-Metal's BufferType. Host memory (2) is never device memory. */
enum {
  TTMEM_SPACE_DRAM = 0,
  TTMEM_SPACE_L1 = 1,
  TTMEM_SPACE_SYSTEM_MEMORY = 2,
  TTMEM_SPACE_L1_SMALL = 3,
  TTMEM_SPACE_TRACE = 4,
  TTMEM_SPACES = 5
};

/* Buffer layouts, numbered as TT-Metal's TensorMemoryLayout; 7 = not known. */
enum {
  TTMEM_LAYOUT_INTERLEAVED = 0,
  TTMEM_LAYOUT_HEIGHT_SHARDED = 2,
  TTMEM_LAYOUT_WIDTH_SHARDED = 3,
  TTMEM_LAYOUT_BLOCK_SHARDED = 4,
  TTMEM_LAYOUT_ND_SHARDED = 5,
  TTMEM_LAYOUT_UNKNOWN = 7
};

/* Programmable core types, numbered as TT-Metal's HalProgrammableCoreType. */
enum {
  TTMEM_CORE_TENSIX = 0,
  TTMEM_CORE_ACTIVE_ETH = 1,
  TTMEM_CORE_IDLE_ETH = 2,
  TTMEM_CORE_DRAM = 3,
  TTMEM_CORE_DISPATCH = 4,
  TTMEM_CORE_TYPES = 5
};

/* What a core of a device is there for. */
enum {
  TTMEM_ROLE_WORKER = 0,
  TTMEM_ROLE_DISPATCH = 1,
  TTMEM_ROLE_ACTIVE_ETH = 2,
  TTMEM_ROLE_IDLE_ETH = 3,
  TTMEM_ROLE_DRAM = 4,
  TTMEM_ROLE_HARVESTED = 5
};

enum {
  TTMEM_ARCH_UNKNOWN = 0,
  TTMEM_ARCH_GRAYSKULL = 1,
  TTMEM_ARCH_WORMHOLE_B0 = 2,
  TTMEM_ARCH_BLACKHOLE = 3,
  TTMEM_ARCH_QUASAR = 4
};

/* Kernel (and program) types, by the scope in which they are built, never by size. */
enum {
  TTMEM_KERNEL_APPLICATION = 0,
  TTMEM_KERNEL_FABRIC = 1,
  TTMEM_KERNEL_DISPATCH = 2,
  TTMEM_KERNEL_TYPES = 3
};

/* Parts of a program's L1. A view aliases a buffer: it is shown and counted 0. */
enum {
  TTMEM_PART_CB = 0,
  TTMEM_PART_DATAFLOW_BUFFER = 1,
  TTMEM_PART_SCRATCHPAD = 2,
  TTMEM_PART_VIEW = 3
};

/* Index of a circular buffer that nobody told. */
enum { TTMEM_INDEX_UNKNOWN = 255 };

/* Flags of a holding. REQUESTED_ONLY: block and banks are not known (basis "requested").
 * ESTIMATED: somebody's guess, shown as such and in no total. LAUNCHES_UNTOLD, of a program: nobody
 * may tell when it is launched, so before a launch is known nobody knows what of it is resident. */
enum {
  TTMEM_FLAG_KERNEL_BINARIES = 1u << 0,
  TTMEM_FLAG_TRACE = 1u << 1,
  TTMEM_FLAG_PROGRAM_CACHE = 1u << 2,
  TTMEM_FLAG_REQUESTED_ONLY = 1u << 3,
  TTMEM_FLAG_ESTIMATED = 1u << 4,
  TTMEM_FLAG_LAUNCHES_UNTOLD = 1u << 5
};

/* Who tells: decides the `sources` label of a process. */
enum {
  TTMEM_SOURCE_API = 0,      /* calls of this header, made by the program itself */
  TTMEM_SOURCE_INJECTOR = 1, /* hooks in a stock TT-Metal */
  TTMEM_SOURCE_PATCHED = 2,  /* a TT-Metal that was patched to call us */
  TTMEM_SOURCE_LEGACY = 3    /* a client of the original's socket, written by the daemon */
};

/* Whether the lines of Python are told. */
enum {
  TTMEM_LINES_UNKNOWN = 0, /* nobody has tried */
  TTMEM_LINES_ON = 1,
  TTMEM_LINES_OFF = 2,    /* as asked for */
  TTMEM_LINES_REFUSED = 3 /* this interpreter's frames are not read */
};

/* Steps of a stack. */
enum {
  TTMEM_STEP_FRAME = 1,
  TTMEM_STEP_OPERATION = 2, /* of ttnn, in the place of the frame that calls it */
  TTMEM_STEP_CUT = 3,       /* there were more frames around */
  TTMEM_STEP_LAUNCH = 4     /* an operation of the device that is launched there; of no holding */
};

/* Why something did not fit. */
enum {
  TTMEM_FAILURE_OUT_OF_MEMORY = 1,
  TTMEM_FAILURE_CB_CLASH = 2,
  TTMEM_FAILURE_DATAFLOW_BUFFER_CLASH = 3,
  TTMEM_FAILURE_RING_TOO_SMALL = 4,
  TTMEM_FAILURE_OTHER = 5
};

/* What could not be matched. Counted and shown; never changes a total. */
enum {
  TTMEM_ANOMALY_UNKNOWN_FREE = 0,      /* a release of something that is not held */
  TTMEM_ANOMALY_REPLACED = 1,          /* an id that is live was recorded again */
  TTMEM_ANOMALY_UNKNOWN_ALLOCATOR = 2, /* an id of a set, allocator or device that is not known */
  TTMEM_ANOMALY_UNKNOWN_PROGRAM = 3,
  TTMEM_ANOMALY_UNKNOWN_WORKLOAD = 4,
  TTMEM_ANOMALY_UNKNOWN_TRACE = 5,
  TTMEM_ANOMALY_BAD_VALUE = 6,  /* a size, space or count beyond every limit */
  TTMEM_ANOMALY_IN_SIGNAL = 7,  /* dropped: a signal handler interrupted the recorder */
  TTMEM_ANOMALY_TABLE_FULL = 8, /* unrecorded: shared memory is full */
  TTMEM_ANOMALY_INTERN_FULL = 9,
  TTMEM_ANOMALY_LIMIT = 10,          /* too many devices, sets, allocators or managers */
  TTMEM_ANOMALY_STALE_HANDLE = 11,   /* a handle of before a fork */
  TTMEM_ANOMALY_KIND_BY_SOURCE = 12, /* scope and source path disagree on a kernel's type */
  TTMEM_ANOMALY_AUDIT = 13,          /* two audits agree that we differ from the runtime */
  TTMEM_ANOMALY_OVERLAP = 14,        /* two live buffers own one address on one device */
  TTMEM_ANOMALY_SECOND_RUNTIME = 15, /* another libtt_metal.so in the process is not recorded */
  TTMEM_ANOMALIES = 16
};

#endif /* TTMEM_TTMEM_WORDS_H */
