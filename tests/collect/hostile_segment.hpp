// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a stranger may write: a real segment with a bit of everything, in which words are replaced
// by the values at which mistakes happen: sizes, counts, ids, names, versions, offsets and claims.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "segment/format.hpp"
#include "segment/segment_builder.hpp"

namespace ttmem::support {

using Bytes = std::vector<char>;

// Leaves no file behind.
inline Bytes honest_segment(const std::string& path, std::uint64_t chip) {
  Bytes bytes;
  {
    SegmentBuilder builder(path, Places::compact());
    builder.add_usual_device(chip);
    const std::uint32_t cores = builder.add_blob(segment::BlobKind::kCores,
                                                 std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 3, 3});
    const std::uint32_t addresses =
        builder.add_list(segment::BlobKind::kAddresses, std::vector<std::uint64_t>(16, 200'000));
    const std::uint32_t name = builder.add_string("matmul");
    std::uint32_t slot = 0;
    const auto add = [&](segment::Kind kind, unsigned flags, Payload payload) {
      payload.meta = Meta::pack(kind, true, 1, 0, flags, 4096);
      payload.set = 1;
      payload.cores = cores;
      builder.put(slot++, payload);
    };
    builder.put(slot++, buffer_payload(1, 64, 4096));
    Payload per_core = buffer_payload(2, addresses, 4096, 1);
    per_core.allocator = 1;
    add(segment::Kind::kBuffer, segment::kFlagPerCore, per_core);
    Payload program{};
    program.id = program.a = 7;
    program.operation = name;
    add(segment::Kind::kProgram, segment::kFlagLoaded, program);
    add(segment::Kind::kKernel, 0, program);
    Payload range = program;
    range.a = 110'000;
    range.operation = 0;
    add(segment::Kind::kRange, 0, range);
    Payload workload{};
    workload.id = 7;
    workload.a = workload.b = 3;
    add(segment::Kind::kWorkload, 0, workload);
    builder.put_note(segment::Note::kDeviceOpened);
    builder.header().order = 3;
    builder.flush();
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  ::unlink(path.c_str());
  return bytes;
}

// Where nothing stands there is a hole, as in what a recorder writes.
inline bool write_with_holes(int file, const Bytes& bytes) {
  constexpr std::size_t kPage = 4096;
  bool written = ::ftruncate(file, static_cast<off_t>(bytes.size())) == 0;
  for (std::size_t at = 0; at < bytes.size(); at += kPage) {
    const auto page = std::span(bytes).subspan(at, std::min(kPage, bytes.size() - at));
    if (std::ranges::all_of(page, [](char byte) { return byte == 0; })) continue;
    written &= ::pwrite(file, page.data(), page.size(), static_cast<off_t>(at)) > 0;
  }
  return written;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  // One word somewhere, of a size and at a place where the format has words. Returns where.
  std::size_t change(Bytes& bytes) {
    static constexpr std::array<std::size_t, 4> kWidths = {1, 2, 4, 8};
    const std::size_t width = kWidths[below(4)];
    const std::size_t at = place(bytes.size()) / width * width;
    if (at + width > bytes.size()) return at;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, width);
    value = other(value, bytes);
    std::memcpy(bytes.data() + at, &value, width);
    return at;
  }

 private:
  // Most of the time where much depends on it.
  std::size_t place(std::size_t size) {
    switch (below(6)) {
      case 0:
        return offsetof(segment::Header, sections) + below(sizeof(segment::Header::sections));
      case 1:
        return segment::kLiveHeaderOffset + below(segment::kLiveHeaderBytes);
      case 2:
        return offsetof(segment::Header, subject) + below(2 * sizeof(segment::Identity));
      case 3:
        return below(sizeof(segment::Header));
      case 4:
        return sizeof(segment::Header) + below(kCompactBytes - sizeof(segment::Header));
      default:
        return sizeof(segment::Header) + below(size - sizeof(segment::Header));
    }
  }
  std::uint64_t other(std::uint64_t value, const Bytes& bytes) {
    switch (below(7)) {
      case 0:
        return 0;
      case 1:
        return ~0ull;
      case 2:
        return value + 1;
      case 3:
        return value - 1;
      case 4:
        return (1ull << below(64)) - below(2);
      case 5: {
        std::memcpy(&value, bytes.data() + below(bytes.size() - 8), sizeof value);
        return value;
      }
      default:
        return random_();
    }
  }
  std::mt19937_64 random_;
};

}  // namespace ttmem::support
