// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The C ABI: what a process asks about its own recording. A question starts no segment.
#include <cerrno>

#include "client/atomic_words.hpp"
#include "client/own_recorder.hpp"

namespace {

using ttmem::client::Recorder;

Recorder* open_recorder() {
  Recorder* recorder = ttmem::client::own_recorder();
  return recorder != nullptr && recorder->is_open() ? recorder : nullptr;
}

}  // namespace

extern "C" {

int ttmem_hooked(void) {
  Recorder* recorder = open_recorder();
  if (recorder == nullptr) return 0;
  const auto& header = recorder->writer.store.header();
  return header.source == TTMEM_SOURCE_INJECTOR &&
         (header.hooks_bound[0] != 0 || header.hooks_bound[1] != 0);
}

int ttmem_device_read(ttmem_device_t device, ttmem_device_identity* identity) {
  Recorder* recorder = open_recorder();
  if (recorder == nullptr || identity == nullptr || !recorder->devices.knows(device)) return ENOENT;
  const ttmem::client::LockGuard guard(recorder->writer.store.lock);
  const auto& record =
      recorder->writer.store.at<ttmem::segment::Device>(ttmem::segment::kDevicesOffset)[device];
  identity->metal_id = record.metal_id;
  identity->unique_id = record.unique_id;
  identity->arch = record.arch;
  identity->mock = record.mock;
  identity->open = record.open;
  return 0;
}

}  // extern "C"
