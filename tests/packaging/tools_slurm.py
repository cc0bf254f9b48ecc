# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A real slurmctld and slurmd of Debian: two tasks of a step are one job, and the epilogs write their peaks."""

import contextlib
import glob
import json
import os
import signal
import socket
import subprocess

import pytest

from support import built, command, tools
from support.waiting import DEADLINE_SECONDS, eventually

EPILOGS = os.path.join(built.SOURCE, "packaging", "slurm")
DRAM_EACH = 26_222_592  # what one demonstration takes on its device

#: Nobody but this user on this machine; no munge, no cgroups, no PMIx.
CONFIG = """
ClusterName=rack
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/none
CredType=cred/none
PluginDir={plugins}
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
Epilog={folder}/epilog
TaskEpilog={folder}/task-epilog
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cpus}
PartitionName=all Nodes=n1 Default=YES OverSubscribe=FORCE:4
"""


class Cluster:
    """One controller and one node."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        libraries = os.path.dirname(glob.glob(os.path.join(root, "usr/lib/*/slurm-wlm"))[0])
        plugins = os.path.join(libraries, "slurm-wlm")
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"),
                            "LD_LIBRARY_PATH": f"{plugins}:{libraries}"}
        for name in ("state", "spool"):
            (folder / name).mkdir()
        # slurmd gives an epilog hardly any variables; the real one reads its settings from a file.
        (folder / "settings").write_text(
            f"TTMEM_SLURM_DIR={folder}/peaks\nTTMEM_SLURM_COMMAND={built.TTMEM}\n"
            f"export TTMEM_DIR={os.environ['TTMEM_DIR']} LD_LIBRARY_PATH={plugins}:{libraries}\n"
            f"PATH={root}/usr/bin:/usr/bin:/bin\n")
        for name in ("epilog", "task-epilog"):
            (folder / name).write_text(f"#!/bin/sh\nTTMEM_SLURM_SETTINGS={folder}/settings /bin/sh {EPILOGS}/{name}\n"
                                       f"echo $? >> {folder}/{name}.codes\n")
            (folder / name).chmod(0o755)
        (folder / "slurm.conf").write_text(CONFIG.format(
            host=socket.gethostname().split(".")[0], plugins=plugins, user="root", folder=folder,
            ports=free_ports(2), cpus=os.cpu_count()))
        self.log = open(folder / "log", "w", encoding="utf-8")
        self.daemons = [self.start("usr/sbin/slurmctld-wlm", "-D"),
                        self.start("usr/sbin/slurmd-wlm", "-D", "-N", "n1", "-d", f"{root}/usr/sbin/slurmstepd-wlm")]

    def start(self, path, *arguments):
        return subprocess.Popen([os.path.join(self.root, path), *arguments], env=self.environment,
                                stdout=self.log, stderr=self.log)

    def run(self, name, *arguments):
        return subprocess.run([os.path.join(self.root, "usr/bin", name), *arguments], env=self.environment,
                              capture_output=True, text=True, check=False, timeout=DEADLINE_SECONDS)

    def said(self):
        return (self.folder / "log").read_text()

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait(DEADLINE_SECONDS)
        self.log.close()


def free_ports(count):
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(contextlib.closing(socket.socket())) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


@pytest.fixture
def cluster(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("slurmd wants to be root")
    running = Cluster(tools.program("slurm", ""), tmp_path)
    try:
        eventually(lambda: "idle" in running.run("sinfo", "-h", "-o", "%T").stdout)
        yield running
    finally:
        running.stop()


def jobs():
    return command.document("status", "--by", "job")["jobs"]


def test_a_step_is_a_job_and_the_epilog_writes_its_peaks(cluster, tmp_path):
    step = subprocess.Popen([os.path.join(cluster.root, "usr/bin/srun"), "-n", "2", "--job-name", "llama", "--overcommit",
                             built.TTMEM, "demo", "--hold", "600"], env=cluster.environment,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        job, = eventually(lambda: [each for each in jobs() if each["dram"] == 2 * DRAM_EACH])
        assert job["source"] == "slurm" and job["name"] == "llama"
        number = job["key"].removeprefix("rack/").removesuffix(".0")
        assert job["key"] == f"rack/{number}.0" and number.isdigit()
        assert (job["ranks_present"], job["ranks_expected"], job["ranks_missing"]) == (2, 2, [])
        for rank in job["ranks"]:
            os.kill(rank["pid"], signal.SIGKILL)
        step.wait(DEADLINE_SECONDS)
    finally:
        step.terminate()
        step.wait(DEADLINE_SECONDS)
        step.stderr.close()
    peaks = tmp_path / "peaks" / f"{number}.n1.json"
    eventually(peaks.exists)
    told, = json.loads(peaks.read_text())["jobs"]
    assert told["key"] == f"rack/{number}.0" and told["ranks_died"] == 2
    assert told["dram_peak"] >= 2 * DRAM_EACH
    comment = f"ttmem: peaks on n1: DRAM {told['dram_peak'] >> 20} MiB, L1 {told['l1_peak'] >> 20} MiB"
    assert f"Comment={comment}" in cluster.run("scontrol", "show", "job", number).stdout, cluster.said()
    eventually(lambda: (tmp_path / "epilog.codes").exists())
    assert (tmp_path / "epilog.codes").read_text() == "0\n"
    assert (tmp_path / "task-epilog.codes").read_text() == "0\n0\n"
    assert "idle" in cluster.run("sinfo", "-h", "-o", "%T").stdout, cluster.said()  # not drained


def test_a_job_that_recorded_nothing_leaves_nothing(cluster, tmp_path):
    done = cluster.run("srun", "-n", "1", "true")
    assert done.returncode == 0, done.stderr + cluster.said()
    eventually(lambda: (tmp_path / "epilog.codes").exists())
    assert (tmp_path / "epilog.codes").read_text() == "0\n"
    assert not list((tmp_path / "peaks").glob("*"))
