// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/admission.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/assert.hpp"

namespace ttmem::collect {
namespace {

struct Used {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  std::size_t too_many = 0, too_large = 0;
};

}  // namespace

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t most_followed() {
  constexpr std::uint64_t kMost = 1 << 16;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMost / 4;
  return static_cast<std::size_t>(std::min<std::uint64_t>(limit.rlim_cur, kMost) / 4);
}

std::vector<Excess> admit(std::vector<Candidate>& candidates, std::size_t most_files) {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (const Candidate& each : candidates) ++counts[each.file.uid];
  std::vector<std::uint64_t> wants;
  for (const auto& [owner, count] : counts) wants.push_back(count);
  const std::uint64_t share =
      std::min<std::uint64_t>(fair_share(std::move(wants), most_files), kMostFilesOfOne);

  std::ranges::stable_partition(candidates, &Candidate::followed);
  std::map<std::uint32_t, Used> all;
  std::erase_if(candidates, [&](const Candidate& each) {
    Used& used = all[each.file.uid];
    const bool limited = !speaks_for_others(each.file, each.file.uid);
    if (used.files >= share) {
      ++used.too_many;
      return true;
    }
    if (limited && each.file.bytes > kMostBytesOfOne - std::min(used.bytes, kMostBytesOfOne)) {
      ++used.too_large;
      return true;
    }
    ++used.files;
    used.bytes += each.file.bytes;
    return false;
  });

  TTMEM_DCHECK(candidates.size() <= most_files);
  std::vector<Excess> excesses;
  for (const auto& [owner, used] : all) {
    if (used.too_many > 0) {
      excesses.push_back({owner, used.too_many, fmt::format("only {} are read", share)});
    }
    if (used.too_large > 0) {
      excesses.push_back(
          {owner, used.too_large, fmt::format("only {} MiB are read", kMostBytesOfOne >> 20)});
    }
  }
  return excesses;
}

}  // namespace ttmem::collect
