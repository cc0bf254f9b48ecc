// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/job_names.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace ttmem::collect {
namespace {

using ledger::Job;
using ledger::JobSource;

constexpr std::size_t kMostVariables = 64;
constexpr std::uint64_t kMostRanks = 1u << 20;
constexpr std::size_t kMostPods = 4096;
// Steps from here on are no steps that somebody started: the batch script, a shell of salloc.
constexpr std::uint64_t kFirstSpecialStep = 0xFFFF'FFF0;

// The variables by name; what may not reach a terminal is replaced.
class Variables {
 public:
  explicit Variables(std::string_view lines) {
    while (!lines.empty() && values_.size() < kMostVariables) {
      const std::string_view line = lines.substr(0, lines.find('\n'));
      lines.remove_prefix(std::min(line.size() + 1, lines.size()));
      const std::size_t sign = line.find('=');
      if (sign == line.npos || sign + 1 == line.size()) continue;
      std::string value(line.substr(sign + 1));
      std::ranges::replace_if(
          value, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
      values_.emplace(line.substr(0, sign), std::move(value));
    }
  }

  std::string text(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? "" : found->second;
  }
  bool has(std::string_view name) const { return values_.contains(name); }
  std::optional<std::uint32_t> number(std::string_view name) const {
    const auto value = decimal(text(name));
    if (!value || *value > kMostRanks) return std::nullopt;
    return static_cast<std::uint32_t>(*value);
  }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

// A step that srun started, and no script or shell.
bool is_in_step(const Variables& of) {
  const auto step = decimal(of.text("SLURM_STEP_ID"));
  return step && *step < kFirstSpecialStep;
}

// Open MPI 4 numbers its jobs on each host: the address of their mpirun tells them apart.
// "2913959936.0;tcp://10.1.2.3,172.17.0.1:45231" has it.
std::string mpi_key(const Variables& of) {
  std::string space = of.text("PMIX_NAMESPACE");
  const std::string uri = of.text("OMPI_MCA_orte_hnp_uri");
  const std::size_t at = uri.find("://");
  if (space.empty() || at == std::string::npos) return space;
  const std::size_t end = uri.find_first_of(",:", at + 3);
  return fmt::format("{}@{}", space, uri.substr(at + 3, end - at - 3));
}

// mpirun within a job of Slurm: the variables of Slurm are those of the daemons of mpirun.
bool is_of_mpirun(const Variables& of) {
  return of.has("OMPI_COMM_WORLD_RANK") && of.has("PMIX_NAMESPACE") &&
         !of.text("PMIX_NAMESPACE").starts_with("slurm.");
}

std::string slurm_key(const Variables& of) {
  const std::string cluster = of.text("SLURM_CLUSTER_NAME");
  std::string key = (cluster.empty() ? "" : cluster + "/") + of.text("SLURM_JOB_ID");
  if (is_of_mpirun(of)) return key + "/" + mpi_key(of);
  return is_in_step(of) ? key + "." + of.text("SLURM_STEP_ID") : key;
}

std::optional<std::uint32_t> first_number(const Variables& of,
                                          std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto number = of.number(name)) return number;
  }
  return std::nullopt;
}

void count(const Variables& of, Job& job) {
  const bool in_step = is_in_step(of) && !is_of_mpirun(of);
  job.rank = first_number(of, {"TT_MEM_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"});
  if (!job.rank && in_step) job.rank = of.number("SLURM_PROCID");
  if (!job.rank) job.rank = first_number(of, {"TT_RUN_RANK", "JOB_COMPLETION_INDEX"});
  job.ranks = first_number(of, {"TT_MEM_RANKS", "OMPI_COMM_WORLD_SIZE"});
  if (!job.ranks && in_step) {
    job.ranks = first_number(of, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"});
  }
  job.mesh = of.number("TT_MESH_ID");
  job.mesh_host_rank = of.number("TT_MESH_HOST_RANK");
}

Job job_of(const Variables& of) {
  Job job;
  if (of.has("TT_MEM_JOB")) {
    job.key = of.text("TT_MEM_JOB");
    job.source = JobSource::kGiven;
    if (of.has("SLURM_JOB_ID")) job.slurm = slurm_key(of);
  } else if (of.has("SLURM_JOB_ID")) {
    job.key = slurm_key(of);
    job.name = of.text("SLURM_JOB_NAME");
    job.source = JobSource::kSlurm;
  } else if (of.has("K8S_JOB_UID")) {
    job.key = of.text("K8S_JOB_UID");
    job.name = of.text("K8S_JOB_NAME");
    job.source = JobSource::kKubernetes;
  } else if (of.has("PMIX_NAMESPACE")) {
    job.key = mpi_key(of);
    job.source = JobSource::kMpi;
  }
  if (!job.key.empty()) count(of, job);
  return job;
}

// The number behind a word at the start of a component: "job_31" has 31.
std::optional<std::uint64_t> number_after(std::string_view component, std::string_view word) {
  return component.starts_with(word) ? decimal(component.substr(word.size())) : std::nullopt;
}

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find_first_of("/\n"), path.size());
    parts.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

bool is_uid(std::string_view text) {
  constexpr std::size_t kLength = 36;
  return text.size() == kLength && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
         });
}

// /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log
std::string container_name(const HostRoot& root, const ledger::Pod& pod, const std::string& id) {
  const std::string front = fmt::format("{}_{}_", pod.name, pod.name_space);
  const std::string back = fmt::format("-{}.log", id);
  for (const std::string& file : root.list("/var/log/containers", kMostPods)) {
    if (!file.starts_with(front) || !file.ends_with(back)) continue;
    if (file.size() <= front.size() + back.size()) continue;
    return file.substr(front.size(), file.size() - front.size() - back.size());
  }
  return {};
}

}  // namespace

void name_job(std::string_view lines, ledger::ProcessView& process) {
  const Variables variables(lines);
  process.job = job_of(variables);
  process.pod.name = variables.text("POD_NAME");
  process.pod.name_space = variables.text("POD_NAMESPACE");
}

Job job_of_cgroup(std::string_view cgroup) {
  if (cgroup.find("slurm") == cgroup.npos) return {};
  std::optional<std::uint64_t> number, step;
  for (const std::string_view part : components(cgroup)) {
    if (const auto found = number_after(part, "job_")) number = found;
    if (const auto found = number_after(part, "step_")) step = found;
  }
  if (!number) return {};
  Job job;
  job.key = step ? fmt::format("{}.{}", *number, *step) : std::to_string(*number);
  job.source = JobSource::kSlurm;
  return job;
}

std::string pod_of_cgroup(std::string_view cgroup) {
  if (cgroup.find("kubepods") == cgroup.npos) return {};
  for (const std::string_view part : components(cgroup)) {
    const std::size_t at = part.rfind("pod");
    if (at == part.npos) continue;
    std::string uid(part.substr(at + 3, part.find(".slice") - at - 3));
    std::ranges::replace(uid, '_', '-');
    if (is_uid(uid)) return uid;
  }
  return {};
}

ledger::Pod find_pod(const HostRoot& root, const std::string& uid,
                     const std::string& container_id) {
  ledger::Pod pod;
  if (uid.empty()) return pod;
  pod.uid = uid;
  for (const std::string& directory : root.list("/var/log/pods", kMostPods)) {
    if (!directory.ends_with("_" + uid)) continue;
    const std::size_t first = directory.find('_');
    const std::size_t last = directory.size() - uid.size() - 1;
    if (first >= last) continue;
    pod.name_space = directory.substr(0, first);
    pod.name = directory.substr(first + 1, last - first - 1);
    pod.container = container_name(root, pod, container_id);
    const auto containers = root.list("/var/log/pods/" + directory, 2);
    if (pod.container.empty() && containers.size() == 1) pod.container = containers.front();
    break;
  }
  return pod;
}

}  // namespace ttmem::collect
