// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What names a job, made to a key that all its ranks share, a rank and a number of ranks. Two
// things tell it: the variables that a recorder copied into its segment, and the cgroup that Slurm
// or a kubelet put a process into. docs/jobs.md has the rules.
#pragma once

#include <string>
#include <string_view>

#include "collect/host_root.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::collect {

// From the lines NAME=VALUE of a segment, written by a stranger: job and pod of the process.
void name_job(std::string_view lines, ledger::ProcessView& process);

// "…/job_31/step_0/user/task_2": the step of Slurm; without a key if it is none.
ledger::Job job_of_cgroup(std::string_view cgroup);

// "…-pod1b2c_….slice/…", "…/pod1b2c-…/…": the UID of the pod, with dashes; "" if there is none.
std::string pod_of_cgroup(std::string_view cgroup);

// The names of the pod of this UID and of its container, from the directories in which a kubelet
// keeps logs: /var/log/pods/NAMESPACE_POD_UID/CONTAINER/.
ledger::Pod find_pod(const HostRoot& root, const std::string& uid, const std::string& container_id);

}  // namespace ttmem::collect
