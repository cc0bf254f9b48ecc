// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The recorder of this process and its life: made at the first call, wiped by fork, closed at exit.
#pragma once

#include "client/recorder.hpp"
#include "client/thread_state.hpp"

namespace ttmem::client {

// The recorder in its wiped-on-fork page; null before the library's constructor ran or if there is
// no memory for it.
extern Recorder* own;  // NOLINT(bugprone-dynamic-static-initializers): a null pointer
inline Recorder* own_recorder() { return own; }

// Opens it if it is not. 0 or an errno. A failure turns recording off.
int open_own_recorder();

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
    return static_cast<std::uint32_t>(recorder_->book.store.instance());
  }
  Origin origin() const { return thread_state.origin(owner()); }

 private:
  static void drop(Recorder& recorder);
  Recorder* recorder_ = nullptr;
};

}  // namespace ttmem::client
