// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Any bytes as the region of a stock TT-Metal: refused, or rows that make sense.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "collect/upstream.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttmem::collect;
  if (upstream_id({reinterpret_cast<const char*>(data), size}).has_value() && size > 64) {
    std::abort();
  }
  // Short inputs are laid over a good region, so that the checks are passed often.
  std::vector<std::byte> bytes(kUpstreamBytes);
  const std::uint32_t layout = 2 + (size > 0 ? data[0] % 3u : 0u);
  const std::uint64_t id = 161;
  const std::uint32_t ready = 0x52454459;
  std::memcpy(bytes.data(), &layout, sizeof layout);
  std::memcpy(bytes.data() + 32, &id, sizeof id);
  std::memcpy(bytes.data() + 8536, &ready, sizeof ready);
  if (size > 1) {
    const std::size_t at = data[1] * 32u;
    const std::size_t count = std::min(size - 2, bytes.size() - at);
    std::memcpy(bytes.data() + at, data + 2, count);
  }
  if (const auto region = parse_upstream(bytes, id)) {
    if (region->rows.size() > kUpstreamRows) std::abort();
    for (const UpstreamRow& row : region->rows) {
      if (row.pid <= 0 || row.name.size() > 64 || row.dram.value_or(0) > 1ull << 44) std::abort();
    }
  }
  if (size != kUpstreamBytes && parse_upstream(std::as_bytes(std::span(data, size)), id)) {
    std::abort();
  }
  return 0;
}
