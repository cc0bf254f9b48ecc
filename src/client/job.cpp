// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/job.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace ttmem::client {
namespace {

constexpr std::size_t kMaxValueBytes = 128;

// docs/segment-format.md lists the same; what they mean is decided by readers.
constexpr const char* kVariables[] = {
    "TT_MEM_JOB",
    "TT_MEM_RANK",
    "TT_MEM_RANKS",
    "SLURM_JOB_ID",
    "SLURM_CLUSTER_NAME",
    "SLURM_JOB_NAME",
    "SLURM_STEP_ID",
    "SLURM_PROCID",
    "SLURM_STEP_NUM_TASKS",
    "SLURM_NTASKS",
    "K8S_JOB_UID",
    "K8S_JOB_NAME",
    "POD_NAME",
    "POD_NAMESPACE",
    "JOB_COMPLETION_INDEX",
    "PMIX_NAMESPACE",
    "PMIX_RANK",
    "OMPI_COMM_WORLD_RANK",
    "TT_RUN_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "TT_MESH_ID",
    "OMPI_MCA_orte_hnp_uri",
    "TT_MESH_HOST_RANK",
};

// Whether this byte goes on with a character of UTF-8 that an earlier one began.
bool goes_on(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u; }

// The first line; of a long one, whole characters.
std::size_t value_bytes(const char* value) {
  const std::size_t line = std::strcspn(value, "\r\n");
  if (line <= kMaxValueBytes) return line;
  std::size_t kept = kMaxValueBytes;
  while (kept > 0 && goes_on(value[kept])) --kept;
  return kept;
}

}  // namespace

std::size_t job_of_environment(char* text, std::size_t capacity) {
  std::size_t used = 0;
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    const std::size_t length = value == nullptr ? 0 : value_bytes(value);
    const std::size_t name_length = std::strlen(name);
    if (length == 0 || used + name_length + length + 2 > capacity) continue;
    std::copy_n(name, name_length, text + used);
    used += name_length;
    text[used++] = '=';
    std::copy_n(value, length, text + used);
    used += length;
    text[used++] = '\n';
  }
  return used;
}

}  // namespace ttmem::client
