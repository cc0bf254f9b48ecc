# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The epilogs for Slurm: peaks of a job, in a file when it has ended, in its comment before; they never fail."""

import json
import os
import signal
import subprocess

import pytest

from support import built, command

SLURM = os.path.join(built.SOURCE, "packaging", "slurm")
SCONTROL = """#!/bin/sh
echo "$@" >> {log}
"""


@pytest.fixture
def epilog(tmp_path):
    """Runs one of them as slurmd would: hardly any variables, settings in a file."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "scontrol").write_text(SCONTROL.format(log=tmp_path / "comments"))
    (programs / "scontrol").chmod(0o700)
    settings = tmp_path / "settings"
    settings.write_text(f"TTMEM_SLURM_DIR={tmp_path}/peaks\nTTMEM_SLURM_COMMAND={built.TTMEM}\n")

    def run(job="31", name="epilog", task=""):
        return subprocess.run(
            ["/bin/sh", os.path.join(SLURM, name)], capture_output=True, text=True, check=False,
            env={"PATH": f"{programs}:/usr/bin:/bin", "TTMEM_DIR": os.environ["TTMEM_DIR"],
                 "TTMEM_SLURM_SETTINGS": str(settings), "SLURM_JOB_ID": job, "SLURM_CLUSTER_NAME": "rack",
                 "SLURM_PROCID": task, "SLURMD_NODENAME": "n1"})
    return run


def end_a_task_of_job_31(how=signal.SIGKILL, **more):
    environment = {**os.environ, "SLURM_CLUSTER_NAME": "rack", "SLURM_JOB_ID": "31", "SLURM_STEP_ID": "0",
                   "SLURM_PROCID": "0", "SLURM_NTASKS": "1", **more}
    with command.started("demo", "--hold", "600", env=environment) as process:
        command.Workload(process)
        process.send_signal(how)
        process.wait()


def test_peaks_of_a_job_that_has_ended(epilog, tmp_path):
    end_a_task_of_job_31()
    done = epilog()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    job, = json.loads((tmp_path / "peaks" / "31.n1.json").read_text())["jobs"]
    assert job["key"] == "rack/31.0" and job["ranks_died"] == 1
    assert job["dram_peak"] >= 26_222_592 and job["l1_peak"] > 0
    assert not (tmp_path / "comments").exists()


def test_the_first_task_writes_the_comment(epilog, tmp_path):
    end_a_task_of_job_31()
    for task in ("1", "0"):
        assert not (tmp_path / "comments").exists()
        done = epilog(name="task-epilog", task=task)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    job, = command.document("status", "--by", "job")["jobs"]
    assert (tmp_path / "comments").read_text() == (
        f"update job=31 comment=ttmem: peaks on n1: DRAM {job['dram_peak'] >> 20} MiB, "
        f"L1 {job['l1_peak'] >> 20} MiB\n")


def test_a_job_with_a_name_of_its_own_is_that_of_slurm(epilog, tmp_path):
    end_a_task_of_job_31(TT_MEM_JOB="mine")
    end_a_task_of_job_31(TT_MEM_JOB="mine", SLURM_JOB_ID="32")
    assert epilog().returncode == 0
    job, = json.loads((tmp_path / "peaks" / "31.n1.json").read_text())["jobs"]
    assert (job["key"], len(job["ranks"])) == ("mine", 1)


def test_steps_one_after_the_other_are_not_added_up(epilog, tmp_path):
    for step in ("0", "1", "2"):
        end_a_task_of_job_31(signal.SIGTERM, SLURM_STEP_ID=step)
    epilog(name="task-epilog", task="0")
    told = command.document("status", "--by", "job")
    assert len(told["jobs"]) == 3
    assert all((each["dram_peak"], each["l1_peak"]) == (told["dram_peak"], told["l1_peak"]) for each in told["jobs"])
    assert f"DRAM {told['dram_peak'] >> 20} MiB, L1 {told['l1_peak'] >> 20} MiB" in (tmp_path / "comments").read_text()


@pytest.mark.parametrize("job", ["32", "", "31; touch x", "../31"])
def test_other_jobs_leave_nothing(epilog, tmp_path, job):
    end_a_task_of_job_31()
    for name in ("epilog", "task-epilog"):
        assert epilog(job=job, name=name, task="0").returncode == 0
    assert not (tmp_path / "peaks").exists() or not list((tmp_path / "peaks").iterdir())
    assert not (tmp_path / "comments").exists()
