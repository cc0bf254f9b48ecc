/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * ttmem.h: record what a process holds in the memory of Tenstorrent devices.
 *
 * One process has one recorder and one segment (a file in shared memory that only this process
 * writes). Every call below changes that segment; readers such as `ttmem status` see it at once,
 * and still see it after the process was killed.
 *
 * Rules that hold for every call:
 *  - It may be made from any thread, at any time, also during static destruction. It never throws,
 *    prints, blocks on anything but one short lock, or changes errno.
 *  - A call made from a signal handler that interrupted the recorder is dropped and counted.
 *  - Ids that a call hands out (devices, sets, allocators, strings, core sets) are never 0. A call
 *    that gets 0, or an id that it does not know, does nothing and counts an anomaly.
 *  - The size given when a thing is recorded is the size that is released; a release names only
 *    the identity.
 *  - After fork() the child owns no recorder. Its first call starts a segment of its own; ids and
 *    handles of the parent mean nothing there and are counted as unrecorded.
 *  - With TTMEM_DISABLE=1 in the environment every call is one predictable branch.
 *
 * Bytes are bytes. Structs start with `struct_size` = sizeof(the struct) where later versions may
 * append fields; zero-fill them before use.
 */
#ifndef TTMEM_TTMEM_H
#define TTMEM_TTMEM_H

#include <stddef.h>
#include <stdint.h>

#include "ttmem/ttmem_words.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TTMEM_ABI_VERSION 1

#if defined(__GNUC__)
#define TTMEM_API __attribute__((visibility("default")))
#else
#define TTMEM_API
#endif

/* Non-zero while recording. Written by the library alone; read it through ttmem_enabled(). */
TTMEM_API extern int ttmem_active_;

static inline int ttmem_enabled(void) { return ttmem_active_ != 0; }

typedef uint16_t ttmem_device_t;
typedef uint16_t ttmem_set_t;
typedef uint16_t ttmem_allocator_t;
typedef uint16_t ttmem_ring_manager_t;
typedef uint32_t ttmem_string_t;
typedef uint32_t ttmem_cores_t; /* an interned set of cores or banks; 0 = all, or not known */
typedef uint64_t ttmem_workload_t;
typedef uint32_t ttmem_origin_t; /* which code: a node of the tree of origins; 0 = not known */

/* ---- the process ------------------------------------------------------------------------- */

typedef struct ttmem_process_info {
  uint32_t struct_size;
  uint32_t source;           /* TTMEM_SOURCE_* */
  uint32_t attached_late;    /* 1: things existed before recording began and were seeded */
  uint32_t stand_in_kernels; /* 1: kernels were built by a stand-in compiler: sizes are not true */
  const char* runtime_version; /* of TT-Metal or ttnn; NULL = not known */
  const char* runtime_library; /* path of libtt_metal.so; NULL = none */
  const char* hook_names;      /* newline-separated, in bit order; NULL = no hooks */
  uint64_t hooks_wanted[2];    /* bit i belongs to line i of hook_names */
  uint64_t hooks_bound[2];
  uint32_t lines;     /* TTMEM_LINES_*: whether origins have lines of Python */
  uint32_t unreached; /* 1: the runtime was loaded with RTLD_DEEPBIND, so that it calls no hook */
  const char* lines_reason; /* why not; NULL = nothing to say */
} ttmem_process_info;

/* Describes the process and its hooks. May be called again when something changes. */
TTMEM_API void ttmem_process_described(const ttmem_process_info* info);

/* Creates the segment if there is none yet. Recording calls do it by themselves.
 * Returns 0, or an errno that says why this process is not recorded. */
TTMEM_API int ttmem_open(void);

/* Marks the segment as cleanly ended. The library does it at exit; later calls still record. */
TTMEM_API void ttmem_close(void);

/* Path of this process's segment, or "" when there is none. Valid until the next fork. */
TTMEM_API const char* ttmem_segment_path(void);

/* ---- interned data: cold calls, do them once and keep the id ------------------------------ */

typedef struct ttmem_core_range {
  uint8_t x0, y0, x1, y1; /* logical coordinates, both ends included */
} ttmem_core_range;

TTMEM_API ttmem_string_t ttmem_intern_string(const char* text, size_t length);

/* A set of cores of one core type. Overlapping ranges count each core once. */
TTMEM_API ttmem_cores_t ttmem_intern_cores(uint32_t core_type, const ttmem_core_range* ranges,
                                           uint32_t count);

/* So many cores of one core type, of which nobody knows where they are. */
TTMEM_API ttmem_cores_t ttmem_intern_core_count(uint32_t core_type, uint32_t count);

/* A set of DRAM banks, by bank number. */
TTMEM_API ttmem_cores_t ttmem_intern_banks(const uint16_t* banks, uint32_t count);

/* One address per core, in the order of the cores of a set (row by row). Used with per_core
 * buffers.
 */
TTMEM_API uint32_t ttmem_intern_addresses(const uint64_t* addresses, uint32_t count);

/* A source line as "file:line function". */
TTMEM_API ttmem_string_t ttmem_intern_line(const char* file, uint32_t line, const char* function);

/* ---- devices, sets, allocators ------------------------------------------------------------ */

typedef struct ttmem_core {
  uint8_t x, y;         /* logical, within the cores of its type */
  uint8_t role;         /* TTMEM_ROLE_* */
  uint8_t core_type;    /* TTMEM_CORE_* */
  uint8_t noc_x, noc_y; /* position on the chip; 255 = not known */
  uint8_t reserved[2];
} ttmem_core;

/* The L1 of one core of a type, from the bottom: [0, fixed_end) firmware, [ring_base, ring_base +
 * ring_bytes) kernel-config ring, from unreserved_base on program L1 and buffers. 0 = no such core,
 * or not known. */
typedef struct ttmem_core_geometry {
  uint32_t l1_bytes;
  uint32_t fixed_end;
  uint32_t ring_base;
  uint32_t ring_bytes;
  uint32_t unreserved_base;
} ttmem_core_geometry;

typedef struct ttmem_device_info {
  uint32_t struct_size;
  int32_t metal_id;        /* id inside this process; -1 = not known */
  uint64_t unique_id;      /* 64-bit id of the chip */
  uint32_t arch;           /* TTMEM_ARCH_* */
  uint32_t mock;           /* 1 = there is no such chip */
  const char* board;       /* "n150"; NULL = not known */
  uint32_t grid_x, grid_y; /* logical worker grid, dispatch cores left out */
  uint32_t dram_banks;
  uint32_t core_count;
  uint64_t dram_bank_bytes;
  const ttmem_core* cores;
  ttmem_core_geometry geometry[TTMEM_CORE_TYPES];
} ttmem_device_info;

/* Opens a device, or opens it again: the same (unique id, architecture, mock) keeps its id. */
TTMEM_API ttmem_device_t ttmem_device_opened(const ttmem_device_info* info);

/* Ends the residency of every program on this device; buffers belong to their allocators. */
TTMEM_API void ttmem_device_closed(ttmem_device_t device);

/* A list of devices in mesh order. Sets are interned: equal lists, shapes and parents are one set.
 */
typedef struct ttmem_set_info {
  uint32_t struct_size;
  uint32_t device_count;
  const ttmem_device_t* devices;
  uint16_t rows, columns; /* mesh shape; 0, 0 = a plain list */
  ttmem_set_t parent;     /* 0 = none */
  uint16_t reserved;
} ttmem_set_info;

TTMEM_API ttmem_set_t ttmem_device_set(const ttmem_set_info* info);

typedef struct ttmem_space_info {
  uint32_t space;      /* TTMEM_SPACE_* */
  uint32_t banks;      /* 0 = this space does not exist */
  uint64_t base;       /* first address the allocator can give out */
  uint64_t bank_bytes; /* bytes it can give out in each bank */
  uint32_t alignment;
  uint32_t reserved;
  const ttmem_core_range* bank_cores; /* L1: core of bank i (a range of one core); NULL = unknown */
} ttmem_space_info;

typedef struct ttmem_allocator_info {
  uint32_t struct_size;
  uint32_t per_core; /* 0: one free list stands for all banks (lock-step); 1: a list a core */
  ttmem_set_t set;
  uint16_t space_count;
  uint32_t reserved;
  const ttmem_space_info* spaces;
} ttmem_allocator_info;

TTMEM_API ttmem_allocator_t ttmem_allocator_opened(const ttmem_allocator_info* info);
TTMEM_API void ttmem_allocator_resized(ttmem_allocator_t allocator, const ttmem_space_info* space);
/* Releases every buffer of this allocator. */
TTMEM_API void ttmem_allocator_cleared(ttmem_allocator_t allocator);
/* Clears it and ends it. */
TTMEM_API void ttmem_allocator_closed(ttmem_allocator_t allocator);

/* What is recorded as given out in a space, in bytes per bank, and the number of the last event: if
 * it is the same in two answers, nothing happened between them. Buffers that stand on some cores
 * only are left out, as in the runtime's statistics. Returns 0 or ENOENT. */
TTMEM_API int ttmem_allocator_read(ttmem_allocator_t allocator, uint32_t space, uint64_t* bytes,
                                   uint64_t* last_event);

/* A comparison with the runtime's own statistics, in bytes per bank. Equal means exact. */
TTMEM_API void ttmem_audited(ttmem_allocator_t allocator, uint32_t space, uint64_t ours,
                             uint64_t theirs);

/* ---- buffers ------------------------------------------------------------------------------ */

typedef struct ttmem_buffer {
  uint64_t id;         /* unique within (allocator, space) while it lives */
  uint64_t address;    /* in every bank; or an id of ttmem_intern_addresses if per_core */
  uint64_t requested;  /* as the program asked, on one device */
  uint64_t block;      /* bytes taken from each bank; ignored with TTMEM_FLAG_REQUESTED_ONLY */
  ttmem_cores_t cores; /* cores or banks that hold data; 0 = every bank */
  ttmem_allocator_t allocator;
  uint8_t space;
  uint8_t layout;
  uint8_t per_core; /* 1: taken only on `cores`, with an address of its own on each */
  uint8_t reserved[3];
  uint32_t flags; /* TTMEM_FLAG_* */
} ttmem_buffer;

TTMEM_API void ttmem_buffer_allocated_(const ttmem_buffer* buffer);
TTMEM_API void ttmem_buffer_freed_(ttmem_allocator_t allocator, uint32_t space, uint64_t id);

static inline void ttmem_buffer_allocated(const ttmem_buffer* buffer) {
  if (ttmem_enabled()) ttmem_buffer_allocated_(buffer);
}
static inline void ttmem_buffer_freed(ttmem_allocator_t allocator, uint32_t space, uint64_t id) {
  if (ttmem_enabled()) ttmem_buffer_freed_(allocator, space, id);
}

/* A buffer that was there before anybody looked: nobody knows which line made it. */
TTMEM_API void ttmem_buffer_seeded(const ttmem_buffer* buffer);
/* A release that may come after its allocator released everything: nothing, if it is not known. */
TTMEM_API void ttmem_buffer_freed_if_known(ttmem_allocator_t allocator, uint32_t space,
                                           uint64_t id);

/* The operation whose launch followed the allocation on the same thread. Readers show it where the
 * origin of the buffer names none, and call it derived. Nothing, if the buffer is gone. */
TTMEM_API void ttmem_buffer_followed(ttmem_allocator_t allocator, uint32_t space, uint64_t id,
                                     ttmem_string_t operation);

/* Adds flags to a live buffer, for what is known only after the allocation. */
TTMEM_API void ttmem_buffer_flagged(ttmem_allocator_t allocator, uint32_t space, uint64_t id,
                                    uint32_t flags);

/* ---- origins ------------------------------------------------------------------------------ */

/* Which code a holding comes from is a node of a tree: from the outside in, the regions that the
 * program names, then the frames of its stack. Whatever is recorded carries the node of the moment.
 */

/* Enters a region of this thread: "layer 3", inside the one that it is in. `line` is where
 * ("file:line function"), 0 if the stack is told anyway or nobody knows. Regions may be as deep as
 * you like; one that was entered before costs some ten nanoseconds. */
TTMEM_API void ttmem_tag_push(ttmem_string_t name, ttmem_string_t line);
TTMEM_API void ttmem_tag_pop(void);
/* The next step of the program's loop begins, such as a token: one event, for `ttmem leaks`. */
TTMEM_API void ttmem_next_step(void);

enum {
  TTMEM_FRAME_INNER = 1u << 0, /* not the line that people look for: of ttnn, of an import */
  /* A call of native code, for readers to name: `file` is the path of its module, `line` an address
   * in it (as its symbols have them) and `function` its build id. */
  TTMEM_FRAME_NATIVE = 1u << 1,
};

/* A line of code of a stack. Texts need no end of their own. */
TTMEM_API uint32_t ttmem_intern_frame(const char* file, size_t file_length, uint32_t line,
                                      const char* function, size_t function_length, uint32_t flags);

typedef struct ttmem_step {
  uint32_t kind; /* TTMEM_STEP_* */
  uint32_t what; /* an id of ttmem_intern_frame or, for an operation, of ttmem_intern_string */
} ttmem_step;

/* A stack, from the outermost step to the innermost, inside of `around`. Where the tree is full,
 * the innermost line alone; at worst `around`. */
TTMEM_API ttmem_origin_t ttmem_intern_stack(ttmem_origin_t around, const ttmem_step* steps,
                                            uint32_t count);

/* Who tells the stack of a calling thread, inside of its region. It is asked by every call that
 * records something, before any lock is taken, on any thread and in signal handlers, and may call
 * the two above. NULL = nobody. */
typedef ttmem_origin_t (*ttmem_origin_source)(ttmem_origin_t around);
TTMEM_API void ttmem_origins_from(ttmem_origin_source source);
/* Where the calling thread is: its regions and its stack, as a buffer made now would have it. */
TTMEM_API ttmem_origin_t ttmem_origin_here(void);
/* It found a stack that is not as it should be, and told none. */
TTMEM_API void ttmem_stack_odd(void);

/* ---- programs, workloads, dispatches ------------------------------------------------------ */

typedef struct ttmem_kernel {
  ttmem_string_t name;
  ttmem_string_t source;
  uint64_t hash;       /* of the binary: equal code is counted once in unique_bytes; 0 = unknown */
  ttmem_cores_t cores; /* 0 = not known, counted as one core */
  uint32_t packed_bytes;
  uint32_t text_bytes;
  uint8_t processor; /* 0 BRISC, 1 NCRISC, 2..4 TRISC0..2, 5 all of compute, 255 unknown */
  uint8_t core_type;
  uint8_t reserved[2];
} ttmem_kernel;

typedef struct ttmem_range {
  uint64_t address;       /* 0 = not known */
  uint64_t size;          /* bytes on each core */
  uint64_t viewed_buffer; /* TTMEM_PART_VIEW: id of the buffer; else 0 */
  ttmem_cores_t cores;    /* 0 = not known, counted as one core */
  uint32_t page_bytes;
  uint8_t part;  /* TTMEM_PART_* */
  uint8_t index; /* of the circular buffer; TTMEM_INDEX_UNKNOWN = not told */
  uint8_t reserved[6];
} ttmem_range;

typedef struct ttmem_program {
  uint32_t struct_size;
  uint8_t type; /* TTMEM_KERNEL_* */
  uint8_t reserved;
  ttmem_set_t set;
  uint64_t id;
  ttmem_workload_t workload; /* handle of the workload it belongs to; 0 = none yet */
  ttmem_string_t name;
  uint32_t flags; /* TTMEM_FLAG_ESTIMATED, _REQUESTED_ONLY, _LAUNCHES_UNTOLD */
  uint32_t config_bytes[TTMEM_CORE_TYPES]; /* what it takes in the kernel-config ring */
  uint32_t kernel_count;
  uint32_t range_count;
  uint32_t reserved2;
  const ttmem_kernel* kernels;
  const ttmem_range* ranges;
} ttmem_program;

/* Registers a program on a device set with its kernels and its L1 ranges, in one commit. It counts
 * no kernel byte until it is dispatched. The same (id, set) again replaces what was there. */
TTMEM_API void ttmem_program_registered(const ttmem_program* program);

/* Replaces the L1 ranges of a program on a set in one commit. */
TTMEM_API void ttmem_program_ranges_replaced(uint64_t program, ttmem_set_t set,
                                             const ttmem_range* ranges, uint32_t count);
/* Sets what the program takes in the ring of each core type. */
TTMEM_API void ttmem_program_config_sized(uint64_t program, ttmem_set_t set,
                                          const uint32_t config_bytes[TTMEM_CORE_TYPES]);
/* Ends a program on all its sets. */
TTMEM_API void ttmem_program_released(uint64_t program);
/* Ends it on one of them. */
TTMEM_API void ttmem_program_released_on(uint64_t program, ttmem_set_t set);

/* A workload is what is enqueued: 1 to 32 programs, each on its own set. `id` is the caller's. */
TTMEM_API ttmem_workload_t ttmem_workload_created(uint64_t id, ttmem_set_t set);
/* Makes a registered program a member of the workload. */
TTMEM_API void ttmem_workload_joined(ttmem_workload_t workload, uint64_t program, ttmem_set_t set);
/* Names the DRAM buffer that holds the workload's binaries, and flags that buffer. */
TTMEM_API void ttmem_workload_binaries(ttmem_workload_t workload, ttmem_allocator_t allocator,
                                       uint64_t buffer);
TTMEM_API void ttmem_workload_released(ttmem_workload_t workload);

enum {
  TTMEM_DISPATCH_SLOW = 1u << 0,
  /* No launch: the device loads the programs itself while it is opened (Fabric, Dispatch). */
  TTMEM_DISPATCH_BUILT = 1u << 1
};

TTMEM_API void ttmem_dispatched_(ttmem_workload_t workload, uint32_t queue, uint32_t sub_device,
                                 uint32_t flags);

/* One launch of a workload. The first one loads its programs: from then on their kernels count. A
 * later one is a cache hit: it adds no byte, takes no lock and writes one counter and one stamp. */
static inline void ttmem_dispatched(ttmem_workload_t workload, uint32_t queue, uint32_t sub_device,
                                    uint32_t flags) {
  if (ttmem_enabled()) ttmem_dispatched_(workload, queue, sub_device, flags);
}

/* A trace: begin, members as they are captured (not executed), end, replays, release. */
TTMEM_API void ttmem_trace_begun(uint64_t trace, ttmem_set_t set, uint32_t queue);
TTMEM_API void ttmem_trace_captured(uint64_t trace, ttmem_workload_t workload);
TTMEM_API void ttmem_trace_ended(uint64_t trace);
TTMEM_API void ttmem_trace_replayed(uint64_t trace);
TTMEM_API void ttmem_trace_released(uint64_t trace);

/* ---- the kernel-config ring ---------------------------------------------------------------- */

typedef struct ttmem_ring {
  uint32_t core_type;
  uint32_t base;
  uint32_t bytes;
} ttmem_ring;

/* One manager per command queue and sub-device; `observed` = 0 says that the calls below replay the
 * rules instead of following the runtime's own manager. */
TTMEM_API ttmem_ring_manager_t ttmem_ring_manager_opened(ttmem_set_t set, uint32_t queue,
                                                         uint32_t sub_device,
                                                         const ttmem_ring* rings, uint32_t count,
                                                         uint32_t observed);
/* Entries whose completion count is at most `sync` are free again. */
TTMEM_API void ttmem_ring_freed(ttmem_ring_manager_t manager, uint32_t sync);

typedef struct ttmem_ring_launch {
  ttmem_workload_t workload;        /* names its slices */
  uint32_t bytes[TTMEM_CORE_TYPES]; /* one size per ring, in the order of opening */
  uint32_t has_freed;               /* != 0: between its plan and its start, it freed ... */
  uint32_t freed;                   /* ... entries up to this completion count */
  uint32_t sync;                    /* in use until this completion count */
} ttmem_ring_launch;

/* One launch: planned with the ring as it is now, then freed and taken. */
TTMEM_API void ttmem_ring_launched(ttmem_ring_manager_t manager, const ttmem_ring_launch* launch);
/* One entry over everything: after a trace replay, or at the start of a capture. */
TTMEM_API void ttmem_ring_filled(ttmem_ring_manager_t manager, uint32_t sync);
TTMEM_API void ttmem_ring_reset(ttmem_ring_manager_t manager);
/* The state before a capture, kept and given back. */
TTMEM_API void ttmem_ring_saved(ttmem_ring_manager_t manager);
TTMEM_API void ttmem_ring_restored(ttmem_ring_manager_t manager);
/* The whole sequence of one launch by the rules, for a ring that cannot be observed: reserve, free
 * what the launch waits for, take. `first`: the binaries are in flight, everything is freed. */
TTMEM_API void ttmem_ring_simulated(ttmem_ring_manager_t manager, ttmem_workload_t workload,
                                    const uint32_t* bytes, uint32_t count, uint32_t workers,
                                    uint32_t first);
TTMEM_API void ttmem_ring_manager_closed(ttmem_ring_manager_t manager);

/* ---- failures and anomalies ---------------------------------------------------------------- */

typedef struct ttmem_failure {
  uint32_t struct_size;
  uint32_t kind;       /* TTMEM_FAILURE_* */
  const char* message; /* cut after 1,023 bytes */
  uint64_t requested;  /* bytes asked for; 0 = not known */
  uint64_t per_bank;   /* bytes asked for in each bank or core; 0 = not known */
  uint64_t program;    /* 0 = none */
  ttmem_cores_t cores; /* cores concerned; 0 = all */
  ttmem_set_t set;
  ttmem_allocator_t allocator;
  uint32_t space;
  ttmem_string_t operation; /* what failed, if somebody knows; 0 = see the origin */
  ttmem_origin_t origin;    /* where; 0 = where the caller is */
} ttmem_failure;

/* Freezes a picture of what is held on the set (the 4,096 largest), or of the only open allocator
 * if none is named. The first and last four failures are kept. Returns its number, 1, 2, … or 0. */
TTMEM_API uint32_t ttmem_failed(const ttmem_failure* failure);

TTMEM_API void ttmem_anomaly(uint32_t kind);
/* With the id that it is about, on the devices of a set; 0 = not known. */
TTMEM_API void ttmem_anomaly_of(uint32_t kind, uint64_t id, ttmem_set_t set);

/* ---- what this process holds, asked by itself ---------------------------------------------- */

/* 1 while hooks in the runtime record this process: then whoever calls by hand adds names and tags,
 * never bytes. Set by ttmem_process_described with TTMEM_SOURCE_INJECTOR and at least one bound
 * hook. */
TTMEM_API int ttmem_hooked(void);

typedef struct ttmem_device_identity {
  uint32_t struct_size;
  int32_t metal_id; /* -1 = not known */
  uint64_t unique_id;
  uint32_t arch;
  uint32_t mock;
  uint32_t open;
  uint32_t reserved;
} ttmem_device_identity;

/* Which device an id stands for. Ids run from 1 without a gap, so a caller that looks for a device
 * asks for 1, 2, ... until ENOENT. Returns 0 or ENOENT. */
TTMEM_API int ttmem_device_read(ttmem_device_t device, ttmem_device_identity* identity);

typedef struct ttmem_figures {
  uint64_t taken; /* now */
  uint64_t peak;  /* the most since the segment began (self) or since opening (watermark) */
} ttmem_figures;

/* Figure numbers: the spaces, then what programs hold. */
enum { TTMEM_FIGURE_PROGRAM_L1 = 5, TTMEM_FIGURE_KERNELS = 6, TTMEM_FIGURES = 8 };

/* Taken bytes and peak of one space (or program L1: its peak; kernels: footprint) on one device.
 * Returns 0, or ENOENT for a device that is not known. */
TTMEM_API int ttmem_self(ttmem_device_t device, uint32_t figure, ttmem_figures* figures);

/* Up to 16 watermarks: each remembers the peaks since it was opened and what was taken then. They
 * never touch the true peak. Returns a number from 1, or 0 if all are in use. */
TTMEM_API uint32_t ttmem_watermark_open(ttmem_string_t name);
TTMEM_API int ttmem_watermark_read(uint32_t watermark, ttmem_device_t device, uint32_t figure,
                                   ttmem_figures* at_open_and_peak);
TTMEM_API void ttmem_watermark_close(uint32_t watermark);

/* A region that measures as well: ttmem_tag_push(name, 0) and, while one is free, a watermark,
 * whose number it returns; 0 = it only names. */
TTMEM_API uint32_t ttmem_region_enter(ttmem_string_t name);
/* Leaves it and closes its watermark, if it has one. Then `figures` has three words for each figure
 * of each device 1, 2, ...: what was taken when it was entered, the most since, what is taken now.
 * Returns the number of devices; if that is more than `devices`, nothing was done: call again with
 * more room.
 */
TTMEM_API uint32_t ttmem_region_leave(uint32_t watermark, uint64_t* figures, uint32_t devices);

#ifdef __cplusplus
}
#endif

#endif /* TTMEM_TTMEM_H */
