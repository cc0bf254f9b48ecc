// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/event.hpp"

namespace ttmem::ledger {

std::string_view name(EventKind kind) {
  switch (kind) {
    case EventKind::kProcessStarted:
      return "process_started";
    case EventKind::kProcessEnded:
      return "process_ended";
    case EventKind::kGap:
      return "gap";
    case EventKind::kDeviceOpened:
      return "device_opened";
    case EventKind::kDeviceClosed:
      return "device_closed";
    case EventKind::kAllocatorOpened:
      return "allocator_opened";
    case EventKind::kAllocatorResized:
      return "allocator_resized";
    case EventKind::kAllocatorCleared:
      return "allocator_cleared";
    case EventKind::kAllocatorClosed:
      return "allocator_closed";
    case EventKind::kBufferAllocated:
      return "buffer_allocated";
    case EventKind::kBufferFreed:
      return "buffer_freed";
    case EventKind::kBufferChanged:
      return "buffer_changed";
    case EventKind::kProgramRegistered:
      return "program_registered";
    case EventKind::kProgramLoaded:
      return "program_loaded";
    case EventKind::kProgramChanged:
      return "program_changed";
    case EventKind::kProgramReleased:
      return "program_released";
    case EventKind::kWorkloadCreated:
      return "workload_created";
    case EventKind::kWorkloadChanged:
      return "workload_changed";
    case EventKind::kWorkloadReleased:
      return "workload_released";
    case EventKind::kReloaded:
      return "reloaded";
    case EventKind::kTraceBegun:
      return "trace_begun";
    case EventKind::kTraceCaptured:
      return "trace_captured";
    case EventKind::kTraceEnded:
      return "trace_ended";
    case EventKind::kTraceReplayed:
      return "trace_replayed";
    case EventKind::kTraceReleased:
      return "trace_released";
    case EventKind::kFailed:
      return "failed";
    case EventKind::kAnomaly:
      return "anomaly";
    case EventKind::kRingFull:
      return "ring_full";
  }
  return "unknown";
}

}  // namespace ttmem::ledger
