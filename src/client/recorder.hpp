// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The recorder of one process: what the calls of ttmem.h do, part by part. The library keeps one
// for its own process (abi.cpp); the daemon makes one for each client of the original's socket, in
// that client's name. The parts are public: `recorder.buffers.allocated(...)` is a call.
//
//   writer ─┬─ store      the segment: slots, events, growth
//           ├─ interner   strings and lists by id
//           ├─ origins    where holdings come from: regions, frames, operations
//           ├─ figures    taken bytes, peaks, watermarks
//           └─ peaks      what was held at the moments of the peaks
//
// Zero bytes are a recorder that was never opened: so the process's own one can live in a page that
// the kernel wipes in a forked child. It is never destroyed. Once it is open, its calls may be made
// by any thread; none throws, prints or waits for anything but a short lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "client/allocators.hpp"
#include "client/buffers.hpp"
#include "client/devices.hpp"
#include "client/failures.hpp"
#include "client/interning.hpp"
#include "client/programs.hpp"
#include "client/rings.hpp"
#include "client/segment_writer.hpp"
#include "client/store.hpp"
#include "client/traces.hpp"
#include "client/workloads.hpp"

namespace ttmem::client {

class Recorder {
  // First, and beside it what every launch uses: few pages to touch for a call that comes seldom.
  std::atomic<bool> ready_{false};

 public:
  SegmentWriter writer;
  Buffers buffers;
  Workloads workloads;
  Rings rings;
  Interning interning;
  Devices devices;
  Allocators allocators;
  Programs programs;
  Traces traces;
  Failures failures;

  // 0 or an errno; harmless if it is open already.
  int open(const Options& options);
  bool is_open() const { return ready_.load(std::memory_order_acquire); }

  // Marks the segment as ended. Later calls still record.
  void close();
  // For the daemon, which outlives its clients: gives back memory, mapping and lock. The file
  // stays. No call may follow or be under way.
  void give_back();
  // For the daemon: the client's socket has closed.
  void disconnected();

  void process_described(const ttmem_process_info& info);
  void device_closed(ttmem_device_t device);
  void next_step();
  void anomaly(std::uint32_t kind, std::uint64_t id = 0, ttmem_set_t set = 0);

  // 0, or ENOENT for what is not known.
  int self(ttmem_device_t device, std::uint32_t figure, ttmem_figures* out);
  std::uint32_t watermark_open(ttmem_string_t name);
  int watermark_read(std::uint32_t number, ttmem_device_t device, std::uint32_t figure,
                     ttmem_figures* out);
  void watermark_close(std::uint32_t number);
  // The same for a region, which does without if all are in use.
  std::uint32_t watermark_of_region(ttmem_string_t name);
  std::uint32_t leave_watermark(std::uint32_t number, std::uint64_t* figures, std::uint32_t room);

 private:
  bool open_parts();
  void tell_job();

  std::atomic<std::uint64_t> steps_{0};
};

}  // namespace ttmem::client
