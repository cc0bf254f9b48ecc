// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Of which job a process is a part, and in which pod it runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/enums.hpp"

namespace ttmem::ledger {

// Who named the job.
enum class JobSource : std::uint8_t { kNone, kGiven, kSlurm, kKubernetes, kMpi };
template <>
inline constexpr std::array<std::string_view, 5> kNamesOf<JobSource> = {"", "given", "slurm",
                                                                        "kubernetes", "mpi"};

struct Job {
  std::string key;   // what all its ranks on all hosts have in common; "" = no job is known
  std::string name;  // as people call it; "" = as its key
  JobSource source = JobSource::kNone;
  std::optional<std::uint32_t> rank, ranks;           // which of how many
  std::optional<std::uint32_t> mesh, mesh_host_rank;  // as tt-run numbers them
  std::string slurm;  // the job of Slurm it runs in, where the key is another: rack/31.0
  bool operator==(const Job&) const = default;
};

// A pod of Kubernetes; "" = not known.
struct Pod {
  std::string uid, name, name_space, container;
  bool operator==(const Pod&) const = default;
};

}  // namespace ttmem::ledger
