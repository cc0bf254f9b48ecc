// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/own_recorder.hpp"

#include <pthread.h>
#include <strings.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "client/atomic_words.hpp"
#include "client/errno_keeper.hpp"

extern "C" {
int ttmem_active_ = 0;
}

namespace ttmem::client {

Recorder* own = nullptr;
// initial-exec: the first use in a thread must not call malloc, as other models do.
thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec"))) = {};
constinit std::atomic<ttmem_origin_source> origin_source{nullptr};

namespace {

DescriptorNote inherited;  // survives fork, unlike the recorder

bool is_on(const char* value) {
  return value != nullptr && (std::strcmp(value, "1") == 0 || strcasecmp(value, "true") == 0 ||
                              strcasecmp(value, "yes") == 0 || strcasecmp(value, "on") == 0);
}

// A power of two that a ring may have; 0 = what it has anyway.
std::uint64_t wanted_events() {
  const char* text = std::getenv("TTMEM_EVENTS");
  const std::uint64_t wanted = text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
  return std::bit_floor(std::min<std::uint64_t>(wanted, segment::kMaxEventCapacity));
}

void in_forked_child() {
  const ErrnoKeeper keeper;
  thread_state = {};
  close_inherited(inherited);
}

// 101: before any constructor of the program, which might use a device already.
__attribute__((constructor(101))) void start() {
  const ErrnoKeeper keeper;
  if (is_on(std::getenv("TTMEM_DISABLE"))) return;
  void* page =
      mmap(nullptr, sizeof(Recorder), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  // A forked child must never write into its parent's segment: it finds zero bytes, which are a
  // recorder that is not open.
  if (madvise(page, sizeof(Recorder), MADV_WIPEONFORK) != 0 ||
      pthread_atfork(nullptr, nullptr, in_forked_child) != 0) {
    munmap(page, sizeof(Recorder));
    return;
  }
  own = static_cast<Recorder*>(page);
  ttmem_active_ = 1;
}

__attribute__((destructor)) void stop() {
  if (own != nullptr && own->is_open()) own->close();
}

}  // namespace

int open_own_recorder() {
  if (own == nullptr) return ECANCELED;
  if (own->is_open()) return 0;
  Options options;
  options.descriptor_note = &inherited;
  options.events = wanted_events();
  const int error = own->open(options);
  if (error == 0) own->workloads.tell_launches(is_on(std::getenv("TTMEM_LAUNCHES")));
  const int active = error == 0 ? 1 : 0;
  if (active != get_word(ttmem_active_)) publish(ttmem_active_, active);
  return error;
}

void Call::drop(Recorder& recorder) {
  if (!recorder.is_open()) return;
  recorder.writer.store.count_anomaly(TTMEM_ANOMALY_IN_SIGNAL);
  recorder.writer.store.count_unrecorded();
}

}  // namespace ttmem::client
