/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/* The fields of a recorded buffer as an LTTng event; included twice, as LTTng wants it. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ttmem_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "record_lttng_event.h"

#if !defined(TTMEM_BENCH_RECORD_LTTNG_EVENT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TTMEM_BENCH_RECORD_LTTNG_EVENT_H

#include <lttng/tracepoint.h>

#include "ttmem/ttmem.h"

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(
    ttmem_bench, buffer_allocated,
    LTTNG_UST_TP_ARGS(const ttmem_buffer*, buffer),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint64_t, id, buffer->id)
        lttng_ust_field_integer(uint64_t, address, buffer->address)
        lttng_ust_field_integer(uint64_t, requested, buffer->requested)
        lttng_ust_field_integer(uint64_t, block, buffer->block)
        lttng_ust_field_integer(uint32_t, cores, buffer->cores)
        lttng_ust_field_integer(uint16_t, allocator, buffer->allocator)
        lttng_ust_field_integer(uint32_t, flags, buffer->flags)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
