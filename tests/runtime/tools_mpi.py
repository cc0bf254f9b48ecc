# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`mpirun -n 4 ttmem run python …` with a real Open MPI and the stock ttnn, as docs/how-to/mpi.md says."""

import json
import os
import subprocess
import tempfile

import oracle

from support import command, tools
from support.built import TTMEM
from support.waiting import DEADLINE_SECONDS

CLIENT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "rank_client.py")
#: Each rank has its own devices, and is a world of its own for the runtime.
EACH_ALONE = 'TT_RUN_SUBCONTEXT_ID=$OMPI_COMM_WORLD_RANK exec "$@"'


def told_by_ranks(process, count):
    ranks = {}
    for line in process.stdout:
        if line.startswith('{"rank"'):
            told = json.loads(line)
            ranks[told["rank"]] = told["dram"]
            if len(ranks) == count:
                break
    return ranks


def compare(theirs):
    job, = command.document("status", "--by", "job")["jobs"]
    assert (job["source"], job["ranks_present"], job["ranks_expected"]) == ("mpi", 4, 4)
    assert {each["rank"]: each["dram"] for each in job["ranks"]} == theirs and len(set(theirs.values())) == 4
    assert job["dram"] == sum(theirs.values())
    assert (job["dram_spread"]["least_rank"], job["dram_spread"]["most_rank"]) == (0, 3)


def test_ranks_of_the_stock_runtime_are_one_job():
    mpirun = tools.program("openmpi", "bin/mpirun")
    line = [mpirun, "--oversubscribe", "--bind-to", "none", "-n", "4", "sh", "-c", EACH_ALONE, "sh",
            TTMEM, "run", oracle.setup("python", "10"), CLIENT]
    values = oracle.environment("n150", TT_RUN_SUBCONTEXT_SIZES="1,1,1,1", OMPI_ALLOW_RUN_AS_ROOT="1",
                                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", PRTE_ALLOW_RUN_AS_ROOT="1",
                                PRTE_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        process = subprocess.Popen(line, env=values, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            theirs = told_by_ranks(process, 4)
            log.seek(0)
            assert len(theirs) == 4, log.read()
            compare(theirs)
        finally:
            process.terminate()
            process.wait(DEADLINE_SECONDS)
            process.stdout.close()
