// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The recorder of this process and its life: made at the first call, wiped by fork, closed at exit.
#pragma once

#include <atomic>
#include <cstdint>

#include "client/origins.hpp"
#include "client/recorder.hpp"

namespace ttmem::client {

// What a thread carries: the region it is in, and a mark that it is inside the recorder. At most 64
// bytes and initial-exec, because a library that is loaded late gets no more.
struct ThreadState {
  ttmem_origin_t region;  // the innermost; a node knows the one around it
  std::uint32_t owner;    // low bits of the recorder's nonce: regions of before a fork mean nothing
  std::uint32_t unnamed;  // regions inside of it that found no room: their exits match
  bool inside;

  void enter(std::uint32_t recorder, Origins& origins, ttmem_string_t name, ttmem_string_t line) {
    if (owner != recorder) {
      region = 0;
      unnamed = 0;
      owner = recorder;
    }
    const ttmem_origin_t entered = unnamed == 0 ? origins.region(region, name, line) : 0;
    if (entered != 0) {
      region = entered;
    } else {
      ++unnamed;
    }
  }
  void leave(std::uint32_t recorder, const Origins& origins) {
    if (owner != recorder) return;
    if (unnamed != 0) {
      --unnamed;
    } else {
      region = origins.around(region);
    }
  }
  ttmem_origin_t region_in(std::uint32_t recorder) const { return owner == recorder ? region : 0; }
};
static_assert(sizeof(ThreadState) <= 64);

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): it is constinit
extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

// The recorder in its wiped-on-fork page; null before the library's constructor ran or if there is
// no memory for it.
extern Recorder* own;  // NOLINT(bugprone-dynamic-static-initializers): a null pointer
inline Recorder* own_recorder() { return own; }

// Opens it if it is not. 0 or an errno. A failure turns recording off.
int open_own_recorder();

// Tells the stack of the calling thread, inside of a region; null = nobody does. Not in the
// recorder's memory: it stays after a fork.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): it is constinit
extern constinit std::atomic<ttmem_origin_source> origin_source;

// Where the calling thread is: its regions and its stack. Ask before the Call: whoever tells the
// stack makes calls of its own.
inline ttmem_origin_t here() {
  const Recorder* recorder = own_recorder();
  if (recorder == nullptr || thread_state.inside) return 0;
  const ttmem_origin_t region =
      recorder->is_open()
          ? thread_state.region_in(static_cast<std::uint32_t>(recorder->writer.store.instance()))
          : 0;
  const ttmem_origin_source source = origin_source.load(std::memory_order_acquire);
  return source == nullptr ? region : source(region);
}

// One call of ttmem.h: `if (Call call; call) call->...`. False if recording is off, if it cannot be
// opened, or if this is a signal handler that interrupted the recorder in the same thread.
class Call {
 public:
  Call() {
    Recorder* recorder = own_recorder();
    if (recorder == nullptr || ttmem_active_ == 0) return;
    if (thread_state.inside) [[unlikely]] {
      drop(*recorder);
      return;
    }
    thread_state.inside = true;
    if (recorder->is_open() || open_own_recorder() == 0) {
      recorder_ = recorder;
    } else {
      thread_state.inside = false;
    }
  }
  ~Call() {
    if (recorder_ != nullptr) thread_state.inside = false;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  explicit operator bool() const { return recorder_ != nullptr; }
  Recorder* operator->() const { return recorder_; }
  Recorder& operator*() const { return *recorder_; }
  std::uint32_t owner() const {
    return static_cast<std::uint32_t>(recorder_->writer.store.instance());
  }

 private:
  static void drop(Recorder& recorder);
  Recorder* recorder_ = nullptr;
};

}  // namespace ttmem::client
