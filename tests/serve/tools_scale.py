# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""256 real daemons, each at an address of its own, scraped by a real Prometheus and a real VictoriaMetrics at once."""

import contextlib
import os
import subprocess

import pytest
from tools_prometheus import Scraper, free_port, prometheus, victoria_metrics

from daemon import workload
from support import command
from support.built import TTMEM
from support.waiting import DEADLINE_SECONDS, eventually

#: A smaller machine may choose fewer.
HOSTS = int(os.environ.get("TTMEM_TEST_HOSTS", "256"))
PORT = 7179
CONFIG = """
global: {{scrape_interval: 5s, scrape_timeout: 5s}}
scrape_configs:
  - job_name: ttmem
    params: {{"collect[]": [short, job]}}
    static_configs: [{{targets: [{targets}]}}]
"""


def address(number):
    return f"127.{77 + number // 65536}.{number // 256 % 256}.{number % 256 or 255}:{PORT}"


@pytest.fixture
def hosts(folder):
    """They all look at the same process, each in a directory of its own, so each of them tells the same."""
    running = []
    try:
        with workload(), open(os.path.join(folder, "daemons.log"), "wb") as log:
            for number in range(1, HOSTS + 1):
                running.append(subprocess.Popen(
                    [TTMEM, "serve", "--http", address(number), "--legacy-socket", "off", "--history", "memory"],
                    stdout=log, stderr=log, env={**os.environ, "TTMEM_DIR": linked(folder, number)}))
            yield [address(number) for number in range(1, HOSTS + 1)]
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(DEADLINE_SECONDS)


def linked(folder, number):
    """A directory of its own with the same segments: there is one daemon for each directory."""
    there = os.path.join(folder, f"host{number}")
    os.mkdir(there, 0o700)
    for each in os.scandir(os.environ["TTMEM_DIR"]):
        os.link(each.path, os.path.join(there, each.name))
    return there


def test_the_sum_of_all_hosts(folder, hosts):
    config = os.path.join(folder, "scrape.yml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(CONFIG.format(targets=", ".join(f'"{each}"' for each in hosts)))
    with contextlib.ExitStack() as stack:
        each = sum(device["dram"]["taken"] for device in command.document("status")["devices"])
        assert each > 0
        for line_of in (prometheus, victoria_metrics):
            port = free_port()
            below = os.path.join(folder, line_of.__name__)
            os.mkdir(below)
            scraper = Scraper(below, port, line_of(config, os.path.join(below, "data"), port))
            stack.callback(scraper.end)
            eventually(lambda asked=scraper: asked.ask("count(ttmem_self_snapshots_total)")[-1:] and
                       asked.ask("count(ttmem_self_snapshots_total)")[0][1] == HOSTS, line_of.__name__)
            told = command.document("fleet", "--from", f"http://127.0.0.1:{port}")
            assert (told["hosts_fresh"], told["partial"]) == (HOSTS, False)
            assert told["dram"] == HOSTS * each
