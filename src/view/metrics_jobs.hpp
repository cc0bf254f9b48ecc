// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The metrics of jobs. A job on many hosts has the same `workload` on each: engines add them up.
// The label is not called job, pod or namespace: scrapers overwrite those with their own.
#pragma once

#include <cstddef>

#include "ledger/snapshot.hpp"
#include "view/metric_families.hpp"

namespace ttmem::view {

// Series are told for so many jobs of a host, the largest of each user first.
inline constexpr std::size_t kMostJobsTold = 256;

void add_jobs(MetricFamilies& families, const ledger::Snapshot& snapshot);

// The labels of ttmem_process_info, with job and pod as far as they are known.
Labels with_job(Labels labels, const ledger::ProcessView& process);

}  // namespace ttmem::view
