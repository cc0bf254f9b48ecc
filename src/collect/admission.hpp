// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which of the files that are there are followed. Anybody may put files into a shared directory, so
// each owner has a budget, of files, bytes and time; who exceeds it loses what is beyond it, by
// name, and nobody else loses anything. Those who may speak for others (collect/directories.hpp)
// have no limit of bytes and time: they could do worse.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collect/directories.hpp"

namespace ttmem::collect {

// Of one owner. A process with a million holdings has about 70 MB; what a reader keeps of a segment
// is up to four times its size.
inline constexpr std::size_t kMostFilesOfOne = 4096;
inline constexpr std::uint64_t kMostBytesOfOne = 128ull << 20;
// A host has some dozens of chips, each of which a process opens once. Every answer names them all.
inline constexpr std::size_t kMostDevicesOfOne = 512;
inline constexpr std::size_t kMostOpenedOfOne = 16384;
inline constexpr std::uint64_t kMostLookNs = 2'000'000'000;  // of the processor, at each look

struct Candidate {
  Found file;
  bool followed = false;  // already: has the preference among the files of its owner
};

// An owner who has too much, and how much of it is left out.
struct Excess {
  std::uint32_t owner = 0;
  std::size_t files = 0;
  std::string reason;
};

// Leaves the files that are followed, at most `most_files` in all, and tells who lost some.
std::vector<Excess> admit(std::vector<Candidate>& candidates, std::size_t most_files);

// Each process costs two descriptors; the usual soft limit is made for fewer.
void raise_descriptor_limit();

// How many files may be followed with the descriptors of this process: half of them, two each.
std::size_t most_followed();

// Fairness between owners: what there is, in equal parts; what some do not use is for the others.

// The most that each may have so that all together have at most `all`.
inline std::uint64_t fair_share(std::vector<std::uint64_t> wants, std::uint64_t all) {
  std::ranges::sort(wants);
  for (std::size_t i = 0; i < wants.size(); ++i) {
    const std::uint64_t share = all / (wants.size() - i);
    if (wants[i] > share) return share;
    all -= wants[i];
  }
  return ~std::uint64_t{0};
}

}  // namespace ttmem::collect
