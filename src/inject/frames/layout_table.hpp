// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The layouts as constants, so that the walk of each release can be compiled for itself.
#pragma once

#include "inject/frames/layout.hpp"

namespace ttmem::inject::frames {

inline constexpr std::uint8_t kNoShims = 0xFF;

constexpr Layout before_311(std::uint16_t version, std::uint16_t instruction, std::uint16_t local,
                            LineFormat lines) {
  return {.version = version,
          .thread_frame = 24,
          .c_frame = kNone,
          .frame_code = 32,
          .frame_back = 24,
          .frame_instruction = instruction,
          .frame_owner = kNone,
          .frame_local = local,
          .first_shim = kNoShims,
          .code_file = 104,
          .code_function = 112,
          .code_first_line = 40,
          .code_lines = 120,
          .code_start = kNone,
          .code_traceable = kNone,
          .code_serial = kNone,
          .ascii_bytes = 48,
          .compact_bytes = 72,
          .lines = lines};
}

constexpr Layout since_313(std::uint16_t version, std::uint16_t owner, std::uint16_t local,
                           std::uint16_t start) {
  return {.version = version,
          .thread_frame = 72,
          .c_frame = kNone,
          .frame_code = 0,
          .frame_back = 8,
          .frame_instruction = 56,
          .frame_owner = owner,
          .frame_local = local,
          .first_shim = 3,
          .code_file = 112,
          .code_function = 120,
          .code_first_line = 68,
          .code_lines = 136,
          .code_start = start,
          .code_traceable = static_cast<std::uint16_t>(start - 16),
          .code_serial = 92,
          .ascii_bytes = 40,
          .compact_bytes = 56,
          .lines = LineFormat::kLocations};
}

inline constexpr Layout kLayouts[] = {
    before_311(0x0308, 104, 360, LineFormat::kIncrements),
    before_311(0x0309, 104, 360, LineFormat::kIncrements),
    before_311(0x030A, 96, 352, LineFormat::kRanges),
    {.version = 0x030B,
     .thread_frame = 56,
     .c_frame = 8,
     .frame_code = 32,
     .frame_back = 48,
     .frame_instruction = 56,
     .frame_owner = 69,
     .frame_local = 72,
     .first_shim = kNoShims,
     .code_file = 112,
     .code_function = 120,
     .code_first_line = 72,
     .code_lines = 136,
     .code_start = 184,
     .code_traceable = 168,
     .code_serial = kNone,
     .ascii_bytes = 48,
     .compact_bytes = 72,
     .lines = LineFormat::kLocations},
    {.version = 0x030C,
     .thread_frame = 56,
     .c_frame = 0,
     .frame_code = 0,
     .frame_back = 8,
     .frame_instruction = 56,
     .frame_owner = 70,
     .frame_local = 72,
     .first_shim = 3,
     .code_file = 112,
     .code_function = 120,
     .code_first_line = 68,
     .code_lines = 136,
     .code_start = 192,
     .code_traceable = 176,
     .code_serial = 92,
     .ascii_bytes = 40,
     .compact_bytes = 56,
     .lines = LineFormat::kLocations},
    since_313(0x030D, 70, 72, 200),
    since_313(0x030E, 74, 80, 208),
};

}  // namespace ttmem::inject::frames
