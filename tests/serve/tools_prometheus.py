# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A real Prometheus and a real VictoriaMetrics scrape a real daemon, and say what `ttmem status --json` says."""

import contextlib
import json
import os
import socket
import subprocess
import urllib.parse
import urllib.request

import pytest

from daemon import workload
from support import command, tools
from support.waiting import DEADLINE_SECONDS, eventually

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


class Scraper:
    """A running program that scrapes every second and answers the queries of Prometheus."""

    def __init__(self, folder, port, line):
        self.port = port
        self.log = open(os.path.join(folder, "scraper.log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(line, stdout=self.log, stderr=self.log)

    def ask(self, question):
        """[(labels, value)] of an instant query; nothing while it is not there yet."""
        assert self.process.poll() is None, self.said()
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": question})
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


def prometheus(config, data, port):
    return [tools.program("prometheus", "usr/bin/prometheus"), f"--config.file={config}",
            f"--web.listen-address=127.0.0.1:{port}", f"--storage.tsdb.path={data}"]


def victoria_metrics(config, data, port):
    # What was scraped just now is told at once, not after half a minute.
    return [tools.program("victoria-metrics", "usr/bin/victoria-metrics"), f"-promscrape.config={config}",
            f"-httpListenAddr=127.0.0.1:{port}", f"-storageDataPath={data}", "-search.latencyOffset=0s"]


@contextlib.contextmanager
def scraping(line_of, folder, daemon):
    config = os.path.join(folder, "scrape.yml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(CONFIG.format(address=f"{daemon.host}:{daemon.port}"))
    port = free_port()
    scraper = Scraper(folder, port, line_of(config, os.path.join(folder, "data"), port))
    try:
        yield scraper
    finally:
        scraper.end()


def expected_memory():
    """What ttmem_memory_bytes must say: (unique id, space, figure) -> bytes."""
    expected = {}
    for device in command.document("status")["devices"]:
        for space in ("dram", "l1", "l1_small", "trace", "program_l1", "l1_total"):
            for figure in ("taken", "occupied", "requested", "resident", "reserved", "allocated",
                           "peak", "used"):
                if device[space].get(figure) is not None:
                    expected[device["unique_id"], space, figure] = device[space][figure]
    return expected


@pytest.mark.parametrize("line_of", [prometheus, victoria_metrics])
def test_it_says_what_status_says(line_of, folder, daemons):
    with workload(), scraping(line_of, folder, daemons()) as scraper:
        expected = expected_memory()
        assert any(expected.values())

        def told():
            return {(labels["unique_id"], labels["space"], labels["figure"]): int(value)
                    for labels, value in scraper.ask("ttmem_memory_bytes")}
        eventually(told)
        assert told() == expected
        assert [value for _, value in scraper.ask('up{job="ttmem"}')] == [1.0]
        kernels = {labels["type"]: int(value)
                   for labels, value in scraper.ask("ttmem_kernel_footprint_bytes")}
        device = command.document("status")["devices"][0]
        assert kernels == {kind: device["kernels"][kind]["footprint"]
                           for kind in ("application", "fabric", "dispatch")}
        assert scraper.ask("ttmem_self_cpu_seconds_total")
        assert not scraper.ask("ttmem_process_memory_bytes")


def test_processes_on_request(folder, daemons):
    with workload(), scraping(prometheus, folder, daemons("--metrics-per-process")) as scraper:
        told = eventually(lambda: scraper.ask(
            '(ttmem_process_memory_bytes{space="dram",figure="taken"} > 0) '
            '* on (instance, pid, start, segment) group_left (name) ttmem_process_info'))
        by_pid = {process["pid"]: process for process in command.document("status")["processes"]}
        for labels, value in told:
            process = by_pid[int(labels["pid"])]
            assert labels["name"] == process["name"]
            assert value == process["devices"][0]["dram"]["taken"]


@pytest.mark.parametrize("options", [(), ("--metrics-per-process",)])
def test_promtool_has_nothing_to_say(options, daemons):
    promtool = tools.program("prometheus", "usr/bin/promtool")
    with workload():
        _, _, metrics = daemons(*options).ask("/metrics")
    done = subprocess.run([promtool, "check", "metrics"], input=metrics, capture_output=True, check=False)
    assert metrics.count(b"# TYPE ttmem_") > 10
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
