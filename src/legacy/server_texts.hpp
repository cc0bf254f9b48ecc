// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the original's server prints, byte for byte, because scripts read it: its log and its dumps.
// Each function gives whole lines, the line break included.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "legacy/client_holdings.hpp"

namespace ttmem::legacy {

std::string_view kind_name(std::uint8_t kind);         // "DRAM", "L1", ...
std::string_view kernel_type_name(std::uint8_t type);  // "Application", ..., "Unknown"

// ---- buffers ---------------------------------------------------------------------------------

// References above 1 are told.
std::string allocated_line(std::int32_t pid, const Place& place, std::uint8_t kind,
                           std::uint64_t size, std::uint32_t references);
// The debugging server's line for a live buffer that comes again with another size.
std::string replaced_line(std::int32_t pid, const Place& place, std::uint64_t before,
                          std::uint64_t size);
std::string freed_line(std::int32_t pid, const Place& place, const Buffer& buffer);
std::string unknown_free_line(std::int32_t pid, const Place& place);

// ---- circular buffers and kernels -------------------------------------------------------------

// `total` is the device's figure after the change.
std::string cb_line(bool added, std::int32_t device, std::uint64_t size, std::uint64_t total);
std::string kernel_line(bool loaded, std::int32_t device, const Kernel& kernel,
                        std::uint64_t total);

// ---- refusals ----------------------------------------------------------------------------------

std::string bad_device_line(std::int32_t device);
std::string bad_size_line(std::uint64_t size);
std::string bad_kind_line(std::uint8_t kind, const Place& place);
std::string unknown_type_line(std::uint8_t type);
std::string refused_stream_line(std::string_view why);

// ---- blocks ------------------------------------------------------------------------------------

// A process that died, with what was removed.
std::string death_lines(std::int32_t pid, const Tally& held);

struct StatisticsLine {
  std::int32_t device = 0;
  std::uint64_t buffers = 0, dram = 0, l1 = 0, total = 0, kernels = 0;
  std::uint64_t cbs = 0;
  std::uint64_t covered = 0;  // by circular buffers, those at one address counted once
};
std::string statistics_head();
std::string statistics_lines(const StatisticsLine& line);
std::string statistics_end(std::uint64_t active_allocations, std::uint64_t ambiguous_frees);

// ---- dumps -------------------------------------------------------------------------------------

struct DumpedBuffer {
  Place place;
  Buffer buffer;
  std::int32_t pid = 0;
};

struct DumpedKernel {
  Place place;
  Kernel kernel;
  std::int32_t pid = 0;
};

std::string dump_remaining(std::vector<DumpedBuffer> buffers);
std::string dump_kernels(std::vector<DumpedKernel> kernels, std::uint64_t now_ns);

}  // namespace ttmem::legacy
