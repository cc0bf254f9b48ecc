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

from conftest import eventually

TTMEM = os.environ["TTMEM_BIN"]

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
            with urllib.request.urlopen(url, timeout=5) as answer:
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
        self.process.wait(20)
        self.log.close()


@pytest.fixture
def workload():
    """The built-in workload, which holds its memory until it is ended."""
    process = subprocess.Popen([TTMEM, "demo", "--hold", "120"], stdout=subprocess.DEVNULL)
    yield process
    process.terminate()
    process.wait(20)


def status():
    return json.loads(subprocess.run([TTMEM, "status", "--json"], check=True, text=True,
                                     capture_output=True).stdout)


def test_a_real_prometheus_says_what_status_says(folder, daemons, workload):
    daemon = daemons()
    eventually(lambda: len(status()["devices"]) > 0 and status()["processes"])
    prometheus = Prometheus(folder, f"{daemon.host}:{daemon.port}")
    try:
        expected = {}
        def settled():
            """The workload has reached its figures, and Prometheus has seen them."""
            expected.clear()
            for device in status()["devices"]:
                for space in ("dram", "l1", "l1_small", "trace"):
                    for figure in ("taken", "occupied", "requested", "peak"):
                        key = (device["unique_id"], space, figure)
                        expected[key] = device[space][figure]
                for figure in ("resident", "reserved", "allocated", "peak"):
                    key = (device["unique_id"], "program_l1", figure)
                    expected[key] = device["program_l1"][figure]
                expected[(device["unique_id"], "l1_total", "used")] = device["l1_total"]["used"]
            told = {(labels["unique_id"], labels["space"], labels["figure"]): int(value)
                    for labels, value in prometheus.ask("ttmem_memory_bytes")}
            known = {key: value for key, value in expected.items() if value is not None}
            return known and told == known
        eventually(settled, 30)
        assert any(value > 0 for value in expected.values() if value)
        up = prometheus.ask('up{job="ttmem"}')
        assert [value for _, value in up] == [1.0]
        kernels = {labels["type"]: int(value)
                   for labels, value in prometheus.ask("ttmem_kernel_footprint_bytes")}
        device = status()["devices"][0]
        assert kernels == {each: device["kernels"][each]["footprint"] for each in kernels}
        assert set(kernels) == {"application", "fabric", "dispatch"}
        assert prometheus.ask("ttmem_self_cpu_seconds_total")
        assert not prometheus.ask("ttmem_process_memory_bytes")
    finally:
        prometheus.end()


def test_processes_on_request(folder, daemons, workload):
    daemon = daemons("--metrics-per-process")
    eventually(lambda: status()["processes"])
    prometheus = Prometheus(folder, f"{daemon.host}:{daemon.port}")
    try:
        told = eventually(lambda: prometheus.ask(
            'ttmem_process_memory_bytes{space="dram",figure="taken"} > 0'), 30)
        by_pid = {process["pid"]: process for process in status()["processes"]}
        for labels, value in told:
            process = by_pid[int(labels["pid"])]
            assert labels["name"] == process["name"]
            assert value == process["devices"][0]["dram"]["taken"]
    finally:
        prometheus.end()
