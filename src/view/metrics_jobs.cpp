// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/metrics_jobs.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ledger/jobs.hpp"
#include "view/answer_shares.hpp"

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

// Who died first is known if a daemon was there; over many hosts the least of these is the first.
void add_first_death(MetricFamilies& families, const Labels& labels, const JobView& job) {
  if (!job.first_death) return;
  const ledger::RankView& first = job.ranks[*job.first_death];
  if (first.process->ended_at == 0) return;
  Labels own = labels;
  add_label(own, "rank", first.rank);
  constexpr double kSecond = 1e9;
  families.gauge("ttmem_job_first_death_seconds",
                 "When a process of a job died first on this host, and which rank it was.", own,
                 static_cast<double>(first.process->ended_at) / kSecond);
  const auto add = [&](std::string_view space, const ledger::Figure& bytes) {
    if (!bytes) return;
    families.gauge("ttmem_job_first_death_bytes", "What that process held when it died.",
                   own.with("space", space), *bytes);
  };
  add("dram", first.dram);
  add("l1", first.l1);
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
  add_first_death(families, labels, job);
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
  AnswerShares shares(kMostJobsTold);
  for (const JobView& job : jobs) shares.add(*job.ranks.front().process);
  for (const JobView& job : jobs) {
    if (shares.take(job.ranks.front().process->key, 1)) add_job(families, job);
  }
  families.gauge("ttmem_job_series_left_out", "Jobs without series, because there are too many.",
                 {}, shares.left_out());
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
