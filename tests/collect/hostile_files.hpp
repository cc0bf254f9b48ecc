// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Segments that ask for far more work than honest ones of their size. Tests look at what is said of
// them; what a look at them costs is measured in bench/hostile.cpp.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "segment/segment_builder.hpp"

namespace ttmem::support {

using HostileFile = void(SegmentBuilder&);

inline Payload list_per_core(std::uint32_t number, std::uint32_t cores) {
  Payload payload = buffer_payload(number + 1, 102400 + 64 * number, 64, 1);
  payload.meta |= std::uint64_t{segment::kFlagPerCore} << Meta::kFlagsShift;
  payload.a = 0;
  payload.cores = cores;
  return payload;
}

inline void wrapping_failures(SegmentBuilder& builder) {
  builder.add_usual_device();
  builder.header().failure_count = 0xFFFFFFFF;
  builder.flush();
}

// The mask of a set covers the whole grid of 256 by 256 that a set of cores can name.
inline void lists_on_every_core(SegmentBuilder& builder) {
  builder.add_usual_device();
  const std::uint32_t all = builder.add_blob(segment::BlobKind::kCores,
                                             std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 255, 255});
  const std::uint32_t chip = builder.add_blob(segment::BlobKind::kCores,
                                              std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 31, 31});
  for (std::uint32_t i = 0; i < 4000; ++i) {
    builder.put(i, list_per_core(i, i % 2 == 0 ? all : chip));
  }
}

inline void groups_on_many_devices(SegmentBuilder& builder) {
  std::vector<std::uint16_t> devices;
  for (std::uint32_t i = 1; i < segment::kMaxDevices; ++i) {
    devices.push_back(static_cast<std::uint16_t>(builder.add_device(i)));
  }
  builder.add_allocator(builder.add_set(devices));
  std::vector<segment::Slot> slots;
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    Payload payload = buffer_payload(i + 1, 64 * i, 64);
    payload.cores = i + 1;
    slots.push_back({2, payload});
  }
  builder.put_table(slots);
}

// Every record of a program counts all that the program has: turn by turn, they cost the square.
inline void kernels_turn_by_turn(SegmentBuilder& builder) {
  builder.add_usual_device();
  std::vector<segment::Slot> slots;
  for (std::uint32_t i = 0; i < 400'000; ++i) {
    Payload payload{};
    const bool program = i < 80;
    const auto kind = program ? Kind::kProgram : Kind::kKernel;
    payload.meta = Meta::pack(kind, true, 0, 0, program ? segment::kFlagLoaded : 0u, 0);
    payload.id = 1 + i % 80;
    payload.set = 1;
    slots.push_back({2, payload});
  }
  builder.put_table(slots);
}

inline void slots_that_never_settle(SegmentBuilder& builder) {
  builder.add_usual_device();
  builder.put_table(std::vector<segment::Slot>(300'000, {3, buffer_payload(1, 64, 64)}));
}

// Of another user, for whom the reader is a stranger; of a process that nobody can look up.
inline void give_to_stranger(SegmentBuilder& builder) {
  constexpr uid_t kMallory = 65533;
  if (::fchown(builder.descriptor(), kMallory, kMallory) != 0) throw std::runtime_error("chown");
  builder.header().subject.pid_namespace = 1;
  builder.header().writer = builder.header().subject;
}

// Just below what one process may cost; many of them are too much for one question.
inline void expensive_with_others(SegmentBuilder& builder) {
  builder.add_usual_device(0xBEEF);
  const std::uint32_t chip = builder.add_blob(segment::BlobKind::kCores,
                                              std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 31, 31});
  std::vector<segment::Slot> slots;
  for (std::uint32_t i = 0; i < 100; ++i) slots.push_back({2, list_per_core(i, chip)});
  builder.put_table(slots);
}

// As many L1 buffers as a chip can hold, from the top of the L1 downwards, are no attack: two
// million places on cores.
inline constexpr std::uint32_t kMostL1Buffers = 32'000, kL1BufferBytes = 32;
inline void l1_full_of_buffers(SegmentBuilder& builder) {
  constexpr std::uint32_t kStep = 40;
  builder.add_usual_device(0xBEEF);
  std::vector<segment::Slot> slots;
  for (std::uint32_t i = 0; i < kMostL1Buffers; ++i) {
    const std::uint64_t address = 102400 + kStep * (kMostL1Buffers - i);
    slots.push_back({2, buffer_payload(i + 1, address, kL1BufferBytes, 1)});
  }
  builder.put_table(slots);
}

}  // namespace ttmem::support
