// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/job_names.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace ttmem::collect {
namespace {

using ledger::Job;
using ledger::JobSource;

Job named(std::string_view lines) {
  ledger::ProcessView process;
  name_job(lines, process);
  return process.job;
}

TEST(JobNames, WhatAPersonSaysComesFirst) {
  const Job job = named("SLURM_JOB_ID=7\nTT_MEM_JOB=train-7\nTT_MEM_RANK=3\nTT_MEM_RANKS=8\n");
  EXPECT_EQ(job.key, "train-7");
  EXPECT_EQ(job.source, JobSource::kGiven);
  EXPECT_EQ(job.rank, 3u);
  EXPECT_EQ(job.ranks, 8u);
}

TEST(JobNames, AStepOfSlurmHasRanks) {
  const Job job = named(
      "SLURM_CLUSTER_NAME=rack\nSLURM_JOB_ID=31\nSLURM_STEP_ID=0\nSLURM_JOB_NAME=train\n"
      "SLURM_PROCID=2\nSLURM_NTASKS=4\n");
  EXPECT_EQ(job.key, "rack/31.0");
  EXPECT_EQ(job.name, "train");
  EXPECT_EQ(job.source, JobSource::kSlurm);
  EXPECT_EQ(job.rank, 2u);
  EXPECT_EQ(job.ranks, 4u);
}

TEST(JobNames, ABatchScriptIsNoRankOfItsJob) {
  for (const char* step : {"", "SLURM_STEP_ID=4294967291\n"}) {
    const Job job = named(std::string("SLURM_JOB_ID=31\nSLURM_PROCID=0\nSLURM_NTASKS=4\n") + step);
    EXPECT_EQ(job.key, "31");
    EXPECT_FALSE(job.rank);
    EXPECT_FALSE(job.ranks);
  }
}

TEST(JobNames, MpirunWithinSlurmIsOneJobOnAllHosts) {
  const std::string mpi = "SLURM_JOB_ID=31\nPMIX_NAMESPACE=prterun-n1-77@1\n";
  const Job first = named(mpi + "OMPI_COMM_WORLD_RANK=0\nOMPI_COMM_WORLD_SIZE=2\n");
  // On other hosts its daemon is a task of a step, and the number of that task is no rank.
  const Job second = named(mpi +
                           "OMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=2\nSLURM_STEP_ID=0\n"
                           "SLURM_PROCID=0\nSLURM_NTASKS=1\n");
  EXPECT_EQ(first.key, "31/prterun-n1-77@1");
  EXPECT_EQ(second.key, first.key);
  EXPECT_EQ(first.rank, 0u);
  EXPECT_EQ(second.rank, 1u);
  EXPECT_EQ(second.ranks, 2u);
}

TEST(JobNames, SrunWithPmixIsAStep) {
  const Job job = named(
      "SLURM_JOB_ID=31\nSLURM_STEP_ID=5\nPMIX_NAMESPACE=slurm.pmix.31.5\nPMIX_RANK=1\n"
      "OMPI_COMM_WORLD_RANK=1\nSLURM_PROCID=1\nSLURM_STEP_NUM_TASKS=2\n");
  EXPECT_EQ(job.key, "31.5");
  EXPECT_EQ(job.rank, 1u);
  EXPECT_EQ(job.ranks, 2u);
}

TEST(JobNames, OpenMpi4IsToldApartByTheHostOfItsMpirun) {
  const Job job = named(
      "PMIX_NAMESPACE=2913959937\nOMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=4\n"
      "OMPI_MCA_orte_hnp_uri=2913959936.0;tcp://10.1.2.3,172.17.0.1:45231\nTT_MESH_ID=1\n"
      "TT_MESH_HOST_RANK=0\nTT_RUN_RANK=9\n");
  EXPECT_EQ(job.key, "2913959937@10.1.2.3");
  EXPECT_EQ(job.source, JobSource::kMpi);
  EXPECT_EQ(job.rank, 1u);
  EXPECT_EQ(job.mesh, 1u);
  EXPECT_EQ(job.mesh_host_rank, 0u);
}

TEST(JobNames, AJobOfKubernetes) {
  ledger::ProcessView process;
  name_job(
      "K8S_JOB_UID=0c5f\nK8S_JOB_NAME=train\nJOB_COMPLETION_INDEX=3\nPOD_NAME=train-3\n"
      "POD_NAMESPACE=ml\n",
      process);
  EXPECT_EQ(process.job.key, "0c5f");
  EXPECT_EQ(process.job.name, "train");
  EXPECT_EQ(process.job.source, JobSource::kKubernetes);
  EXPECT_EQ(process.job.rank, 3u);
  EXPECT_EQ(process.pod.name, "train-3");
  EXPECT_EQ(process.pod.name_space, "ml");
}

TEST(JobNames, AJobThatAPersonNamesWithinSlurm) {
  const Job job =
      named("TT_MEM_JOB=mine\nSLURM_CLUSTER_NAME=rack\nSLURM_JOB_ID=31\nSLURM_STEP_ID=0\n");
  EXPECT_EQ(job.key, "mine");
  EXPECT_EQ(job.slurm, "rack/31.0");
  EXPECT_EQ(named("SLURM_JOB_ID=31\n").slurm, "");
}

TEST(JobNames, WhatAStrangerWroteIsHarmless) {
  EXPECT_EQ(named("").key, "");
  EXPECT_EQ(named("=\nTT_MEM_JOB=\nno sign\n=x").key, "");
  EXPECT_EQ(named("TT_MEM_JOB=a\x1b[2Jb").key, "a?[2Jb");
  const Job job = named("TT_MEM_JOB=x\nTT_MEM_RANK=-1\nTT_MEM_RANKS=99999999999999999999");
  EXPECT_FALSE(job.rank);
  EXPECT_FALSE(job.ranks);
  std::string many;
  for (int i = 0; i < 100000; ++i) many += "A" + std::to_string(i) + "=1\n";
  EXPECT_EQ(named(many + "TT_MEM_JOB=late\n").key, "");
}

TEST(JobNames, TheCgroupOfSlurm) {
  const Job step =
      job_of_cgroup("0::/system.slice/n1_slurmstepd.scope/job_31/step_0/user/task_2\n");
  EXPECT_EQ(step.key, "31.0");
  EXPECT_EQ(step.source, JobSource::kSlurm);
  EXPECT_FALSE(step.rank);
  EXPECT_EQ(job_of_cgroup("5:memory:/slurm/uid_1000/job_9/step_batch/task_0\n").key, "9");
  EXPECT_EQ(job_of_cgroup("0::/user.slice/job_31\n").key, "");
}

constexpr const char* kUid = "1b2c3d4e-0000-4000-8000-123456789abc";

TEST(JobNames, ThePodOfACgroup) {
  const std::string id(64, 'a');
  EXPECT_EQ(pod_of_cgroup("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-"
                          "pod1b2c3d4e_0000_4000_8000_123456789abc.slice/cri-containerd-" +
                          id + ".scope\n"),
            kUid);
  EXPECT_EQ(pod_of_cgroup(std::string("4:cpu:/kubepods/besteffort/pod") + kUid + "/" + id + "\n"),
            kUid);
  EXPECT_EQ(pod_of_cgroup("0::/kubepods.slice/podnonsense.slice\n"), "");
  EXPECT_EQ(pod_of_cgroup("0::/user.slice/user-1000.slice\n"), "");
}

TEST(JobNames, ThePodIsNamedByTheDirectoriesOfItsLogs) {
  const support::TemporaryDirectory directory;
  const HostRoot root(directory.path());
  namespace fs = std::filesystem;
  const std::string pods = directory.path() + "/var/log/pods/";
  fs::create_directories(pods + "ml_train-0_" + kUid + "/trainer");
  fs::create_directories(pods + "ml_other-0_ffffffff-0000-4000-8000-123456789abc/trainer");
  EXPECT_EQ(find_pod(root, kUid, ""), (ledger::Pod{kUid, "train-0", "ml", "trainer"}));
  // A second container: which of them this is, only its own link tells.
  fs::create_directories(pods + "ml_train-0_" + kUid + "/sidecar");
  EXPECT_EQ(find_pod(root, kUid, "abc").container, "");
  fs::create_directories(directory.path() + "/var/log/containers/train-0_ml_trainer-abc.log");
  EXPECT_EQ(find_pod(root, kUid, "abc").container, "trainer");
  EXPECT_EQ(find_pod(root, "", ""), ledger::Pod{});
  EXPECT_EQ(find_pod(root, "00000000-0000-4000-8000-000000000000", "").name, "");
}

}  // namespace
}  // namespace ttmem::collect
