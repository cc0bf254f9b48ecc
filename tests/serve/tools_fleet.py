# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem fleet --from` a real Prometheus and a real VictoriaMetrics, and `ttmem push` into the latter."""

import contextlib
import http.server
import os
import subprocess
import threading

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
        # One of them goes: its figures are in no sum any more, and it is said, long before it is old.
        hosts[1].stop()
        partial = eventually(lambda: (found := fleet(url))["partial"] and found)
        assert partial["dram"] == DRAM_EACH and (partial["hosts_fresh"], partial["devices"]) == (1, 1)
        assert {each["state"] for each in partial["hosts"]} == {"fresh", "stale"}
        assert f"{names[1]} is stale: told " in command.run("fleet", "--from", url, "--host", names[1]).stderr


class Other(http.server.BaseHTTPRequestHandler):
    """Something else that is scraped."""
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(b"other_total 1\n")

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def other_target():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("line_of", [prometheus, victoria_metrics])
@pytest.mark.parametrize("mixed", [False, True])
def test_who_never_answered_is_missed_in_a_job_of_ours(line_of, mixed, folder, daemons):
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(rank_and_daemon(daemons, folder, 0))
        down = f"127.0.0.1:{free_port()}"
        others = [stack.enter_context(other_target())] if mixed else []
        scraper, url = stack.enter_context(running(line_of, folder, f"{daemon.host}:{daemon.port}", down, *others))
        eventually(lambda: len(scraper.ask("up == 0")) == 1 and len(scraper.ask("up == 1")) == 1 + mixed
                   and scraper.ask("ttmem_self_snapshots_total"))
        states = {each["host"]: each["state"] for each in fleet(url)["hosts"]}
        assert states.get(down) == (None if mixed else "silent") and len(states) == 2 - mixed


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
        assert [each["key"] for each in fleet(url)["jobs"]] == ["train"]
        # Nothing more is pushed, and the series stay for minutes: what they say is not said as now.
        late = eventually(lambda: (found := fleet(url, "--stale", "1"))["partial"] and found)
        assert (late["hosts_fresh"], late["dram"], late["jobs"]) == (0, None, [])
        name = told[0][0]["instance"]
        for more in ((), ("--device", "0")):
            asked = command.run("fleet", "--from", url, "--stale", "1", "--host", name, *more)
            assert asked.returncode == 3 and f"{name} is stale: told nothing for " in asked.stderr
