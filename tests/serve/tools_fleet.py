# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem fleet --from` a real Prometheus and a real VictoriaMetrics, and `ttmem push` into the latter."""

import contextlib
import os
import subprocess

import pytest
from tools_prometheus import Scraper, free_port, prometheus, victoria_metrics

from support import command
from support.built import TTMEM
from support.waiting import eventually

DRAM_EACH = 26_222_592  # what one demonstration takes on its device

CONFIG = """
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: ttmem
    static_configs:
      - targets: [{targets}]
"""


@contextlib.contextmanager
def running(line_of, folder, *targets):
    config = os.path.join(folder, "scrape.yml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(CONFIG.format(targets=", ".join(f'"{each}"' for each in targets)))
    port = free_port()
    scraper = Scraper(folder, port, line_of(config, os.path.join(folder, "data"), port))
    try:
        yield scraper, f"http://127.0.0.1:{port}"
    finally:
        scraper.end()


@contextlib.contextmanager
def rank_and_daemon(daemons, folder, rank):
    directory = os.path.join(folder, f"host{rank}")
    os.mkdir(directory, 0o700)
    environment = {"TTMEM_DIR": directory, "TT_MEM_JOB": "train", "TT_MEM_RANK": str(rank), "TT_MEM_RANKS": "2"}
    with command.started("demo", "--hold", "600", env={**os.environ, **environment}):
        daemon = daemons(TTMEM_DIR=directory)
        eventually(lambda: daemon.document("/api/v1/snapshot")["processes"])
        yield daemon


def fleet(url, *more):
    return command.document("fleet", "--from", url, *more)


@pytest.mark.parametrize("line_of", [prometheus, victoria_metrics])
def test_the_fleet_says_what_the_hosts_say(line_of, folder, daemons):
    with contextlib.ExitStack() as stack:
        hosts = [stack.enter_context(rank_and_daemon(daemons, folder, rank)) for rank in range(2)]
        names = [f"{each.host}:{each.port}" for each in hosts]
        _, url = stack.enter_context(running(line_of, folder, *names))
        told = eventually(lambda: (found := command.run("fleet", "--from", url, "--json")).returncode == 0
                          and '"hosts_fresh": 2' in found.stdout and '"ranks_present": 2' in found.stdout
                          and fleet(url))
        assert told["dram"] == 2 * DRAM_EACH and not told["partial"] and told["problems"] == []
        direct = hosts[0].document("/api/v1/snapshot")["devices"][0]
        row = next(each for each in told["hosts"] if each["host"] == names[0])
        assert row["dram"] == direct["dram"]["taken"] and row["dram_capacity"] == direct["dram"]["capacity"]
        assert row["l1"] == direct["l1_total"]["used"] and row["l1_capacity"] == direct["l1_total"]["capacity"]
        assert row["headroom"] == direct["headroom"]["min"] and row["processes"] == 1
        job, = told["jobs"]
        assert (job["key"], job["ranks_present"], job["ranks_expected"], job["hosts"]) == ("train", 2, 2, 2)
        assert job["dram"] == 2 * DRAM_EACH and job["dram_least_rank"] == job["dram_most_rank"] == DRAM_EACH
        devices = fleet(url, "--host", names[0])["devices"]
        assert [each["dram"] for each in devices] == [DRAM_EACH]
        figures = {(each["space"], each["figure"]): each["bytes"]
                   for each in fleet(url, "--host", names[0], "--device", "0")["figures"]}
        assert figures["dram", "taken"] == DRAM_EACH and figures["dram", "peak"] == direct["dram"]["peak"]
        assert command.run("fleet", "--from", url, "--host", "nobody").returncode == 1
        # One of them goes: its figures are in no sum any more, and it is said.
        hosts[1].stop()
        partial = eventually(lambda: (found := fleet(url, "--stale", "5"))["partial"] and found)
        assert partial["dram"] == DRAM_EACH and partial["hosts_fresh"] == 1
        assert {each["state"] for each in partial["hosts"]} == {"fresh", "stale"}


def test_push_into_victoria_metrics(folder, daemons):
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(rank_and_daemon(daemons, folder, 0))
        scraper, url = stack.enter_context(running(victoria_metrics, folder))
        eventually(lambda: scraper.ask("vector(1)"))
        done = subprocess.run([TTMEM, "push", "--prometheus", url, "--daemon", f"{daemon.host}:{daemon.port}", "--once"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        told = eventually(lambda: scraper.ask('ttmem_memory_bytes{space="dram",figure="taken",job="ttmem"}'))
        assert told[0][1] == DRAM_EACH and told[0][0]["instance"]
