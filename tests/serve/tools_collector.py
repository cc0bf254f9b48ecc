# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What `ttmem push` sends to a real OpenTelemetry Collector is there what `ttmem status --json` and a scrape say."""

import contextlib
import os
import re
import subprocess
import urllib.request

import pytest
from test_push import daemon, push  # noqa: F401  (daemon: a fixture)
from tools_prometheus import expected_memory, free_port

from support import command, tools
from support.waiting import DEADLINE_SECONDS, eventually

CONFIG = """
receivers: {{otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{port}"}}}}}}}}
exporters: {{debug: {{verbosity: detailed}}, prometheus: {{endpoint: "127.0.0.1:{scraped}"}}}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines: {{metrics: {{receivers: [otlp], exporters: [debug, prometheus]}}}}
"""

#: Ways to send it, each with its options and variables.
WAYS = {"protobuf": ((), {}), "JSON": (("--json",), {}),
        "protobuf, gzipped": ((), {"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}),
        "JSON, gzipped": (("--json",), {"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"})}


class Collector:
    """It prints each document that it takes, and tells whoever scrapes it the last of them."""

    def __init__(self, folder):
        program = tools.program("collector", "bin/collector")
        port, scraped = free_port(), free_port()
        self.scraped = f"http://127.0.0.1:{scraped}/metrics"
        self.url = f"http://127.0.0.1:{port}"
        config = os.path.join(folder, "collector.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(port=port, scraped=scraped))
        self.log = open(os.path.join(folder, "collector.log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([program, "--config", config], stdout=self.log, stderr=self.log)

    def said(self):
        assert self.process.poll() is None, self.log.name
        self.log.seek(0)
        return self.log.read()

    def documents(self):
        """Those that are printed to their end: one line of JSON stands there, then."""
        return re.findall(r"ResourceMetrics #0\n(.*?)^\t?\{", self.said(), re.DOTALL | re.MULTILINE)

    def end(self):
        self.process.terminate()
        self.process.wait(DEADLINE_SECONDS)
        self.log.close()


@pytest.fixture
def collector(folder):
    running = Collector(folder)
    try:
        eventually(lambda: "Everything is ready" in running.said())
        yield running
    finally:
        running.end()


def exposed(text):
    """name -> {labels: number} of a text that is scraped; without what the collector says of itself."""
    told = {}
    for name, labels, number in re.findall(r"^(\w+)(?:\{(.*)\})? (\S+)$", text, re.MULTILINE):
        pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)
        kept = frozenset((key, value) for key, value in pairs
                         if value and key not in ("job", "instance") and not key.startswith("otel_scope_"))
        told.setdefault(name, {})[kept] = float(number)
    return told


def attributes(lines):
    found = [re.fullmatch(r" +-> ([\w.]+): Str\((.*)\)", line) for line in lines]
    return {each[1]: each[2] for each in found if each}


def read(document):
    """Of the resource, its attributes; of each metric, how it is described and its points: attributes and number as printed."""
    resource, *metrics = re.split(r"^Metric #\d+\n", document, flags=re.MULTILINE)
    told = {}
    for metric in metrics:
        described, *points = re.split(r"^NumberDataPoints #\d+\n", metric, flags=re.MULTILINE)
        about = dict(re.findall(r"^ +-> (\w+): (.*)$", described, re.MULTILINE))
        told[about.pop("Name")] = about, [
            (attributes(point.splitlines()), re.search(r"^Value: (.*)$", point, re.MULTILINE)[1]) for point in points]
    return attributes(resource.splitlines()), told


def numbers(metric, *names):
    return {tuple(labels[name] for name in names): number for labels, number in metric[1]}


def test_the_collector_prints_what_status_says(collector, daemon):  # noqa: F811
    for way, (options, variables) in WAYS.items():
        done = push(daemon, "--otlp", collector.url, "--once", "--collect", "device", "--collect", "process", *options,
                    OTEL_RESOURCE_ATTRIBUTES="rack=r%207", **variables)
        assert done.returncode == 0, (way, done.stderr)
    documents = eventually(lambda: len(collector.documents()) == len(WAYS) and collector.documents())
    assert not any("Str()" in each for each in documents), "what is not known is left out, as a scraper drops empty labels"
    read_ones = [read(each) for each in documents]
    for resource, metrics in read_ones:
        assert (resource["service.name"], resource["rack"]) == ("ttmem", "r 7") and resource["host.name"]
        assert_is_status(metrics)
    # What does not change by itself is the same, whichever way it came.
    kept = [{name: metric for name, metric in metrics.items() if not name.startswith(("ttmem.self_", "ttmem.history_"))}
            for _, metrics in read_ones]
    assert len(kept[0]) > 20 and all(each == kept[0] for each in kept)


def test_who_scrapes_the_collector_sees_the_series_of_a_daemon(collector, daemon):  # noqa: F811
    """So that one dashboard serves both."""
    sets = ("device", "process", "job")
    done = push(daemon, "--otlp", collector.url, "--once", *[word for each in sets for word in ("--collect", each)])
    assert done.returncode == 0, done.stderr
    _, _, own = daemon.ask("/metrics?" + "&".join(f"collect[]={each}" for each in sets))
    wanted = exposed(own.decode())

    def told():
        with contextlib.suppress(OSError), urllib.request.urlopen(collector.scraped, timeout=DEADLINE_SECONDS) as answer:
            return exposed(answer.read().decode())
        return {}
    found = eventually(lambda: "ttmem_memory_bytes" in (now := told()) and now)
    assert len(wanted) > 20 and set(wanted) <= set(found)
    for name, points in wanted.items():
        assert found[name].keys() == points.keys(), name
        if not name.startswith("ttmem_self_"):  # that goes on
            assert found[name] == points, name


def assert_is_status(metrics):
    status = command.document("status")
    device, = status["devices"]
    assert numbers(metrics["ttmem.memory"], "unique_id", "space", "figure") == {
        labels: str(value) for labels, value in expected_memory().items()}
    assert numbers(metrics["ttmem.memory_capacity"], "space") == {
        (space,): str(device[space]["capacity"]) for space in ("dram", "l1", "l1_small", "trace", "l1_total")
        if device[space].get("capacity") is not None}
    assert numbers(metrics["ttmem.headroom"], "unique_id") == {(device["unique_id"],): str(device["headroom"]["min"])}
    assert metrics["ttmem.memory"][0]["Unit"] == "By" and metrics["ttmem.memory"][0]["DataType"] == "Gauge"
    information, = metrics["ttmem.device_info"][1]
    assert information == ({"device": str(device["id"]), "unique_id": device["unique_id"], "arch": device["arch"],
                            "board": device["board"], "mock": "true"}, "1")
    process, = status["processes"]
    (labels, _), = metrics["ttmem.process_info"][1]
    assert (labels["pid"], labels["name"]) == (str(process["pid"]), process["name"])
    assert numbers(metrics["ttmem.process_memory"], "pid", "space", "figure")[
        str(process["pid"]), "dram", "taken"] == str(process["devices"][0]["dram"]["taken"])
    # By the conventions for hardware.
    hardware = {"hw.id": device["unique_id"], "hw.type": "gpu", "hw.name": f"device {device['id']}", "hw.vendor": "Tenstorrent"}
    taken, capacity = (device["dram"][figure] for figure in ("taken", "capacity"))
    for name, number in (("usage", str(taken)), ("limit", str(capacity)), ("utilization", f"{taken / capacity:f}")):
        about, points = metrics["hw.gpu.memory." + name]
        assert points == [(hardware, number)]
        assert (about["Unit"], about["DataType"]) == (("1", "Gauge") if name == "utilization" else ("By", "Sum"))
    assert metrics["hw.gpu.memory.usage"][0]["IsMonotonic"] == "false"
    assert metrics["ttmem.self_cpu"][0]["IsMonotonic"] == "true"
    assert metrics["ttmem.self_cpu"][0]["AggregationTemporality"] == "Cumulative"
