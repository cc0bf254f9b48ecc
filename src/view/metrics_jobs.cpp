// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/metrics_jobs.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ledger/jobs.hpp"

namespace ttmem::view {
namespace {

using ledger::JobView;

// An empty label is none: it is left out, and costs nothing.
void add_label(Labels& labels, std::string_view name, const std::string& value) {
  if (!value.empty()) labels = std::move(labels).with(name, value);
}

void add_label(Labels& labels, std::string_view name, const std::optional<std::uint32_t>& value) {
  if (value) labels = std::move(labels).with(name, std::to_string(*value));
}

void add_bytes(MetricFamilies& families, const Labels& labels, std::string_view space,
               const ledger::Figure& sum, const ledger::JobSpread& spread) {
  const auto add = [&](std::string_view figure, const ledger::Figure& bytes) {
    if (!bytes) return;
    families.gauge("ttmem_job_memory_bytes",
                   "Memory of the ranks of a job on this host: their sum, and the ranks that hold "
                   "least and most.",
                   labels.with("space", space).with("figure", figure), *bytes);
  };
  add("taken", sum);
  add("least_rank", spread.least);
  add("most_rank", spread.most);
}

void add_job(MetricFamilies& families, const JobView& job) {
  // Two users may choose one key; the user is a part of what identifies a job.
  const Labels labels = Labels("workload", job.job.key)
                            .with("user", job.user.empty() ? std::to_string(job.uid) : job.user);
  Labels info = labels.with("source", name(job.job.source));
  add_label(info, "name", job.job.name);
  families.gauge("ttmem_job_info", "Always 1; the labels say which job it is.", info,
                 std::uint64_t{1});
  families.gauge("ttmem_job_ranks", "Ranks of a job that live on this host.", labels,
                 std::uint64_t{job.present});
  if (job.expected) {
    families.gauge("ttmem_job_expected_ranks", "Ranks that a job should have, on all hosts.",
                   labels, std::uint64_t{*job.expected});
  }
  families.gauge("ttmem_job_died_ranks", "Processes of a job that died on this host.", labels,
                 std::uint64_t{job.died});
  if (job.present == 0) return;
  add_bytes(families, labels, "dram", job.dram, job.dram_spread);
  add_bytes(families, labels, "l1", job.l1, job.l1_spread);
  if (!job.tightest) return;
  const ledger::RankView& tightest = job.ranks[*job.tightest];
  Labels own = labels;
  add_label(own, "rank", tightest.rank);
  families.gauge("ttmem_job_headroom_bytes",
                 "Least L1 headroom of the ranks of a job on this host, and whose it is.", own,
                 *tightest.headroom);
}

}  // namespace

void add_jobs(MetricFamilies& families, const ledger::Snapshot& snapshot) {
  const std::vector<JobView> jobs = ledger::jobs_of(snapshot);
  const std::size_t told = std::min(jobs.size(), kMostJobsTold);
  for (std::size_t i = 0; i < told; ++i) add_job(families, jobs[i]);
  families.gauge("ttmem_job_series_left_out", "Jobs without series, because there are too many.",
                 {}, std::uint64_t{jobs.size() - told});
}

Labels with_job(Labels labels, const ledger::ProcessView& process) {
  add_label(labels, "workload", process.job.key);
  add_label(labels, "rank", process.job.rank);
  add_label(labels, "world_size", process.job.ranks);
  add_label(labels, "mesh", process.job.mesh);
  add_label(labels, "k8s_pod_uid", process.pod.uid);
  add_label(labels, "k8s_pod_name", process.pod.name);
  add_label(labels, "k8s_namespace_name", process.pod.name_space);
  add_label(labels, "k8s_container_name", process.pod.container);
  return labels;
}

}  // namespace ttmem::view
