// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/python_regions.h"

#include "segment/limits.hpp"

namespace {

ttmem_python_calls python;

constexpr std::uint32_t kWordsOfDevice = 3 * TTMEM_FIGURES;

std::uint32_t number_of(void* object) {
  return static_cast<std::uint32_t>(python.number_of(object));
}

}  // namespace

extern "C" {

void ttmem_python_prepare(const ttmem_python_calls* calls) { python = *calls; }

void* ttmem_python_region_enter(void* /*self*/, void* name) {
  return python.new_number(ttmem_region_enter(number_of(name)));
}

void* ttmem_python_region_leave(void* /*self*/, void* watermark) {
  constexpr std::uint32_t kMost = ttmem::segment::kMaxDevices;
  std::uint64_t words[std::size_t{kMost} * kWordsOfDevice];
  const std::uint32_t devices = ttmem_region_leave(number_of(watermark), words, kMost);
  return python.new_bytes(
      words, static_cast<intptr_t>(std::size_t{devices} * kWordsOfDevice * sizeof *words));
}
}
