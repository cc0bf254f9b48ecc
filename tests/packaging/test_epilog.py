# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The epilog for Slurm: peaks of a job that has ended, in a file and in the comment; it never fails."""

import json
import os
import signal
import subprocess

import pytest

from support import built, command

EPILOG = os.path.join(built.SOURCE, "packaging", "slurm", "epilog")
SCONTROL = """#!/bin/sh
case $1 in
  show) echo n1; echo n2 ;;
  update) echo "$@" >> {log} ;;
esac
"""


@pytest.fixture
def epilog(tmp_path):
    """Runs it as slurmd would: hardly any variables, settings in a file."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "scontrol").write_text(SCONTROL.format(log=tmp_path / "comments"))
    (programs / "scontrol").chmod(0o700)
    settings = tmp_path / "settings"
    settings.write_text(f"TTMEM_SLURM_DIR={tmp_path}/peaks\nTTMEM_SLURM_COMMENT=1\n"
                        f"TTMEM_SLURM_COMMAND={built.TTMEM}\n")

    def run(node="n1", job="31"):
        return subprocess.run(
            ["/bin/sh", EPILOG], capture_output=True, text=True, check=False,
            env={"PATH": f"{programs}:/usr/bin:/bin", "TTMEM_DIR": os.environ["TTMEM_DIR"],
                 "TTMEM_SLURM_SETTINGS": str(settings), "SLURM_JOB_ID": job, "SLURM_CLUSTER_NAME": "rack",
                 "SLURM_JOB_NODELIST": "n[1-2]", "SLURMD_NODENAME": node})
    return run


def end_a_task_of_job_31():
    environment = {**os.environ, "SLURM_CLUSTER_NAME": "rack", "SLURM_JOB_ID": "31", "SLURM_STEP_ID": "0",
                   "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}
    with command.started("demo", "--hold", "600", env=environment) as process:
        command.Workload(process)
        process.send_signal(signal.SIGKILL)
        process.wait()


def test_peaks_of_a_job_that_has_ended(epilog, tmp_path):
    end_a_task_of_job_31()
    done = epilog()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    job, = json.loads((tmp_path / "peaks" / "31.n1.json").read_text())["jobs"]
    assert job["key"] == "rack/31.0" and job["ranks_died"] == 1
    assert job["dram_peak"] >= 26_222_592 and job["l1_peak"] > 0
    assert (tmp_path / "comments").read_text() == (
        f"update job=31 comment=ttmem: peaks on n1: DRAM {job['dram_peak'] >> 20} MiB, "
        f"L1 {job['l1_peak'] >> 20} MiB\n")


def test_only_the_first_node_writes_the_comment(epilog, tmp_path):
    end_a_task_of_job_31()
    assert epilog(node="n2").returncode == 0
    assert (tmp_path / "peaks" / "31.n2.json").exists()
    assert not (tmp_path / "comments").exists()


@pytest.mark.parametrize("job", ["32", "", "31; touch x", "../31"])
def test_other_jobs_leave_nothing(epilog, tmp_path, job):
    end_a_task_of_job_31()
    assert epilog(job=job).returncode == 0
    assert not (tmp_path / "peaks").exists() or not list((tmp_path / "peaks").iterdir())
