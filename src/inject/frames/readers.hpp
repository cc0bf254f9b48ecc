// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Who is reading frames. An interpreter that ends frees the thread states of threads that are still
// in calls of theirs; so before it does, nobody may be reading any more, and nobody may begin. The
// thread that ends it cannot be reading at that moment and is not counted: it pays nothing.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ttmem::inject::frames {

class Readers {
 public:
  /// `uncounted` is the thread that ends the interpreter. False if there is no memory.
  bool open(pthread_t uncounted);
  void admit() { admitted_.store(true, std::memory_order_seq_cst); }
  /// Returns when nobody reads, or after a second: a thread may have been stopped.
  void dismiss();

  class Reading {
   public:
    explicit Reading(Readers& readers) {
      if (::pthread_self() != readers.uncounted_) {
        count_ = readers.count();
        count_->fetch_add(1, std::memory_order_seq_cst);
      }
      admitted_ = readers.admitted_.load(std::memory_order_seq_cst);
    }
    ~Reading() {
      if (count_) count_->fetch_sub(1, std::memory_order_release);
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    explicit operator bool() const { return admitted_; }

   private:
    std::atomic<std::uint32_t>* count_ = nullptr;
    bool admitted_;
  };

 private:
  struct alignas(64) Count {
    std::atomic<std::uint32_t> threads;
  };
  static constexpr std::size_t kCounts = 16;  // threads are spread over them

  std::atomic<std::uint32_t>* count() const {
    return &counts_[(::pthread_self() * 0x9E3779B97F4A7C15u) >> 60].threads;
  }
  static_assert(kCounts == std::size_t{1} << (64 - 60));

  std::atomic<bool> admitted_{false};
  pthread_t uncounted_ = 0;
  Count* counts_ = nullptr;  // wiped in a forked child, where the other threads are gone
};

}  // namespace ttmem::inject::frames
