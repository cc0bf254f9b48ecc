# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A job is one thing: in the command, over HTTP and in the metrics, with ranks that come and go."""

import contextlib
import os
import signal
import subprocess

from support import command
from support.built import TTMEM
from support.waiting import eventually, is_gone

DRAM_EACH = 26_222_592  # what one demonstration takes on its device
SLURM = {"SLURM_CLUSTER_NAME": "rack", "SLURM_JOB_ID": "31", "SLURM_STEP_ID": "0",
         "SLURM_JOB_NAME": "train", "SLURM_STEP_NUM_TASKS": "4"}


@contextlib.contextmanager
def ranks(*numbers, **environment):
    """A demonstration for each rank; the workloads, by rank."""
    with contextlib.ExitStack() as stack:
        found = {}
        for number in numbers:
            process = stack.enter_context(command.started(
                "demo", "--hold", "600",
                env={**os.environ, **environment, "SLURM_PROCID": str(number)}))
            found[number] = command.Workload(process)
        yield found


def job_of(document):
    job, = document["jobs"]
    return job


def test_the_ranks_of_a_step_of_slurm():
    with ranks(0, 1, 3, **SLURM):
        job = job_of(command.document("status", "--by", "job"))
        assert (job["key"], job["name"], job["source"]) == ("rack/31.0", "train", "slurm")
        assert (job["ranks_present"], job["ranks_expected"], job["ranks_missing"]) == (3, 4, [2])
        assert [each["rank"] for each in job["ranks"]] == [0, 1, 3]
        assert job["dram"] == 3 * DRAM_EACH == sum(each["dram"] for each in job["ranks"])
        assert job["l1"] == sum(each["l1"] for each in job["ranks"]) > 0
        assert job["dram_spread"]["least"] == job["dram_spread"]["most"] == DRAM_EACH
        assert job["least_headroom"]["headroom"] == min(each["headroom"] for each in job["ranks"])
        assert job["first_death"] is None
        shown = command.text("status", "--by", "job")
        assert shown.startswith('Job rack/31.0 "train": 3 of 4 ranks, user ')
        assert "not here: rank 2 " in shown
        processes = command.document("status")["processes"]
        assert {each["job"]["rank"] for each in processes} == {0, 1, 3}
        assert all(each["pod"] is None for each in processes)


def test_the_first_rank_that_died_and_what_it_held(daemons):
    daemon = daemons()
    with ranks(0, 1, **SLURM) as started:
        eventually(lambda: len(daemon.document("/api/v1/processes")["processes"]) == 2)
        pid, = started[1].pids
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: is_gone(pid))
        job = eventually(lambda: [each for each in daemon.document("/api/v1/jobs")["jobs"]
                                  if each["ranks_died"] == 1])[0]
        assert job["ranks_present"] == 1 and job["dram"] == DRAM_EACH
        first = job["first_death"]
        assert (first["rank"], first["pid"], first["dram"]) == (1, pid, DRAM_EACH)
        assert first["ended_ns"] > 0
        text = daemon.ask("/metrics")[2].decode()
        labels = f'workload="rack/31.0",user="{job["user"]}"'
        assert f"ttmem_job_ranks{{{labels}}} 1\n" in text
        assert f"ttmem_job_expected_ranks{{{labels}}} 4\n" in text
        assert f"ttmem_job_died_ranks{{{labels}}} 1\n" in text
        assert f'ttmem_job_memory_bytes{{{labels},space="dram",figure="taken"}} {DRAM_EACH}\n' in text
        assert f'source="slurm",name="train"}} 1\n' in text
        chosen = daemon.ask("/metrics?collect[]=job&collect[]=process")[2].decode()
        assert "ttmem_memory_bytes{" not in chosen
        info, = [line for line in chosen.splitlines() if line.startswith("ttmem_process_info{")]
        assert 'workload="rack/31.0",rank="0",world_size="4"' in info
        os.kill(started[0].pids[0], signal.SIGKILL)
        eventually(lambda: daemon.document("/api/v1/jobs")["jobs"][0]["ranks_died"] == 2)
        # Two died: the daemon was there, and tells the command which first.
        assert "  first to die: rank 1 " in command.text("status", "--by", "job")
        ends = {each["rank"]: each["ended_ns"] for each in job_of(command.document("status", "--by", "job"))["ranks"]}
        assert ends == {each["rank"]: each["ended_ns"] for each in daemon.document("/api/v1/jobs")["jobs"][0]["ranks"]}
        assert ends[1] < ends[0]
        daemon.stop()
        assert "2 processes died; no daemon was there to tell which first" in command.text("status", "--by", "job")


def test_a_job_that_a_person_names():
    done = subprocess.run([TTMEM, "run", "--job", "train-7", "--print-env"], capture_output=True,
                          text=True, check=False)
    assert "export TT_MEM_JOB='train-7'\n" in done.stdout
    with ranks(0, TT_MEM_JOB="train-7", TT_MEM_RANK="5", TT_MEM_RANKS="6"):
        job = job_of(command.document("status", "--by", "job"))
        assert (job["key"], job["source"], job["ranks_expected"]) == ("train-7", "given", 6)
        assert job["ranks"][0]["rank"] == 5
    assert command.run("run", "--job", "a\nb", "true").returncode == 2


def test_a_long_name_is_cut_between_its_characters():
    with ranks(0, TT_MEM_JOB="a" + 100 * "ü"):
        assert job_of(command.document("status", "--by", "job"))["key"] == "a" + 63 * "ü"


def test_without_a_job_it_says_how_to_have_one():
    with command.workload():
        assert command.document("status", "--by", "job")["jobs"] == []
        assert command.document("status")["processes"][0]["job"] is None
        assert "ttmem run --job NAME" in command.text("status", "--by", "job")
