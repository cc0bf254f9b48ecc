# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A real Prometheus scrapes a real daemon, and says what `ttmem status --json` says."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request

import pytest

from daemon import workload
from support import built
from support.waiting import DEADLINE_SECONDS, eventually

TTMEM = built.TTMEM

pytestmark = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="prometheus is not installed (Debian package)"
)

CONFIG = """
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: ttmem
    static_configs:
      - targets: ["{address}"]
"""


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Prometheus:
    def __init__(self, folder, address):
        self.port = free_port()
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(address=address))
        self.log = open(os.path.join(folder, "prometheus.log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}",
             f"--web.listen-address=127.0.0.1:{self.port}",
             f"--storage.tsdb.path={os.path.join(folder, 'tsdb')}"],
            stdout=self.log, stderr=self.log)

    def ask(self, question):
        """[(labels, value)] of an instant query; nothing while it is not there yet."""
        assert self.process.poll() is None, self.said()
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode(
            {"query": question})
        try:
            with urllib.request.urlopen(url, timeout=DEADLINE_SECONDS) as answer:
                document = json.load(answer)
        except OSError:
            return []
        assert document["status"] == "success"
        return [(each["metric"], float(each["value"][1])) for each in document["data"]["result"]]

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def end(self):
        self.process.terminate()
        self.process.wait(DEADLINE_SECONDS)
        self.log.close()


def status():
    return json.loads(subprocess.run([TTMEM, "status", "--json"], check=True, text=True,
                                     capture_output=True).stdout)


def expected_memory():
    """What ttmem_memory_bytes must say: (unique id, space, figure) -> bytes."""
    expected = {}
    for device in status()["devices"]:
        for space in ("dram", "l1", "l1_small", "trace", "program_l1", "l1_total"):
            for figure in ("taken", "occupied", "requested", "resident", "reserved", "allocated",
                           "peak", "used"):
                if device[space].get(figure) is not None:
                    expected[device["unique_id"], space, figure] = device[space][figure]
    return expected


@contextlib.contextmanager
def scraping(folder, daemon):
    prometheus = Prometheus(folder, f"{daemon.host}:{daemon.port}")
    try:
        yield prometheus
    finally:
        prometheus.end()


def test_a_real_prometheus_says_what_status_says(folder, daemons):
    with workload(), scraping(folder, daemons()) as prometheus:
        expected = expected_memory()
        assert any(expected.values())

        def told():
            return {(labels["unique_id"], labels["space"], labels["figure"]): int(value)
                    for labels, value in prometheus.ask("ttmem_memory_bytes")}
        eventually(told)
        assert told() == expected
        assert [value for _, value in prometheus.ask('up{job="ttmem"}')] == [1.0]
        kernels = {labels["type"]: int(value)
                   for labels, value in prometheus.ask("ttmem_kernel_footprint_bytes")}
        device = status()["devices"][0]
        assert kernels == {kind: device["kernels"][kind]["footprint"]
                           for kind in ("application", "fabric", "dispatch")}
        assert prometheus.ask("ttmem_self_cpu_seconds_total")
        assert not prometheus.ask("ttmem_process_memory_bytes")


def test_processes_on_request(folder, daemons):
    with workload(), scraping(folder, daemons("--metrics-per-process")) as prometheus:
        told = eventually(lambda: prometheus.ask(
            'ttmem_process_memory_bytes{space="dram",figure="taken"} > 0'), 30)
        by_pid = {process["pid"]: process for process in status()["processes"]}
        for labels, value in told:
            process = by_pid[int(labels["pid"])]
            assert labels["name"] == process["name"]
            assert value == process["devices"][0]["dram"]["taken"]
