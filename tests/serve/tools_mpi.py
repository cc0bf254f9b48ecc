# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`mpirun -n 4 ttmem run …` with a real Open MPI: four ranks, one job."""

import os
import signal
import subprocess

from support import command, tools
from support.built import TTMEM
from support.waiting import DEADLINE_SECONDS, eventually

DRAM_EACH = 26_222_592  # what one demonstration takes on its device


def test_four_ranks_are_one_job():
    mpirun = tools.program("openmpi", "bin/mpirun")
    line = [mpirun, "--oversubscribe", "--bind-to", "none", "-n", "4", TTMEM, "run", TTMEM, "demo", "--hold", "600"]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    try:
        def whole():
            assert process.poll() is None, process.stderr.read()
            jobs = command.document("status", "--by", "job")["jobs"]
            return jobs if jobs and jobs[0]["dram"] == 4 * DRAM_EACH else None
        job, = eventually(whole)
        assert job["source"] == "mpi" and job["key"]
        assert (job["ranks_present"], job["ranks_expected"], job["ranks_missing"]) == (4, 4, [])
        assert [each["rank"] for each in job["ranks"]] == [0, 1, 2, 3]
        assert job["dram_spread"]["least"] == job["dram_spread"]["most"] == DRAM_EACH
        os.kill(job["ranks"][2]["pid"], signal.SIGKILL)
        died = eventually(lambda: [each for each in command.document("status", "--by", "job")["jobs"]
                                   if each["ranks_died"]])[0]
        assert died["first_death"] is None or died["first_death"]["dram"] == DRAM_EACH
    finally:
        process.terminate()
        process.wait(DEADLINE_SECONDS)
        process.stderr.close()
