#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What `ttmem fleet` costs over many hosts in a real VictoriaMetrics, whose series are made up here.

    bench/fleet.py --hosts 256 --report    also tells what the series cost the engine, for docs/scale.md
"""

import argparse
import collections
import contextlib
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import spoken

DEVICES = 32
LIMIT_SECONDS = 1
ASKED = 5  # times; the one in the middle counts

Asked = collections.namedtuple("Asked", "text ours theirs passed")


def series_of_host(number):
    """The short set of a host and its jobs, as /metrics would have it."""
    job = f'workload="job{number // 8}",user="u{number % 5}"'
    lines = ["ttmem_self_snapshots_total 7", 'ttmem_processes{state="alive"} 4',
             f'ttmem_job_info{{{job},source="slurm",name="train"}} 1', f"ttmem_job_ranks{{{job}}} 4",
             f"ttmem_job_expected_ranks{{{job}}} 32", f"ttmem_job_died_ranks{{{job}}} 0",
             f'ttmem_job_headroom_bytes{{{job},rank="{number % 8}"}} {number * 64}']
    for figure in ("taken", "least_rank", "most_rank"):
        lines.append(f'ttmem_job_memory_bytes{{{job},space="dram",figure="{figure}"}} {number}')
    for device in range(DEVICES):
        here = f'device="{device}",unique_id="0x{number:06x}{device:02x}"'
        lines += [f'ttmem_memory_bytes{{{here},space="dram",figure="taken"}} {number * 1000 + device}',
                  f'ttmem_memory_bytes{{{here},space="l1_total",figure="used"}} {device}',
                  f'ttmem_memory_capacity_bytes{{{here},space="dram"}} 12884901888',
                  f'ttmem_memory_capacity_bytes{{{here},space="l1_total"}} 95944704',
                  f"ttmem_headroom_bytes{{{here}}} 65536", f"ttmem_device_processes{{{here}}} 4"]
    return lines


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def tool(name):
    """The folder of a foreign tool; None with the reason on standard error."""
    done = subprocess.run([os.path.join(spoken.SOURCE, "scripts", "tools"), name], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"fleet: {done.stderr.strip()}", file=sys.stderr)
        return None
    return done.stdout.strip()


class Process:
    """A running engine, what it costs, and `ttmem fleet` that asks it."""

    def __init__(self, url, line, folder):
        self.url = url
        self.process = subprocess.Popen(line, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(self.url + "/-/healthy", timeout=5).close()
                return
            time.sleep(0.1)

    def end(self):
        self.process.terminate()
        self.process.wait()

    def ask(self, build, *options):
        """One `ttmem fleet`: what it told, and the seconds of a core that it and the engine spent on it."""
        theirs, ours, begin = self.cpu_seconds(), spent_by_children(), time.monotonic()
        done = subprocess.run([os.path.join(build, "bin", "ttmem"), "fleet", "--from", self.url, "--json", *options],
                              capture_output=True, text=True, check=False)
        return Asked(done.stdout or done.stderr, spent_by_children() - ours, self.cpu_seconds() - theirs,
                     time.monotonic() - begin)

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_mib(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class Engine(Process):
    """VictoriaMetrics with the series of so many hosts."""

    def __init__(self, program, folder):
        here = f"127.0.0.1:{free_port()}"
        super().__init__(f"http://{here}", [program, f"-httpListenAddr={here}", f"-storageDataPath={folder}",
                                            "-search.latencyOffset=0s"], folder)

    def post(self, path, body=b""):
        urllib.request.urlopen(urllib.request.Request(self.url + path, body), timeout=60).close()

    def fill(self, hosts):
        count = 0
        for number in range(hosts):
            lines = series_of_host(number)
            count += len(lines)
            self.post(f"/api/v1/import/prometheus?extra_label=instance=node{number}:7171&extra_label=job=ttmem",
                      "\n".join(lines).encode() + b"\n")
        self.until_it_knows(hosts)
        return count

    def until_it_knows(self, hosts):
        """What was imported just now can be asked for a moment later."""
        question = urllib.parse.urlencode({"query": "count(ttmem_device_processes)"})
        told = None
        while told != str(hosts * DEVICES):
            self.post("/internal/force_flush")
            with urllib.request.urlopen(f"{self.url}/api/v1/query?{question}", timeout=60) as answer:
                told = next((each["value"][1] for each in json.load(answer)["data"]["result"]), None)


def spent_by_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(build, hosts, report):
    """Time on a core of `ttmem fleet` and the engine together; None with the reason on standard error."""
    victoria = tool("victoria-metrics")
    if victoria is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(os.path.join(victoria, "usr/bin/victoria-metrics"), folder)
        try:
            before = engine.cpu_seconds()
            count = engine.fill(hosts)
            filling = engine.cpu_seconds() - before
            asked = sorted((engine.ask(build) for _ in range(ASKED)), key=lambda each: each.ours + each.theirs)
            told = asked[ASKED // 2]
            wanted = sum(number * 1000 * DEVICES + sum(range(DEVICES)) for number in range(hosts))
            if f'"dram": {wanted},' not in told.text or f'"hosts_fresh": {hosts}' not in told.text:
                print(f"fleet: {hosts} hosts were not told right: {told.text[:400]}", file=sys.stderr)
                return None
            if report:
                print(f"{hosts} hosts, {count} series: engine {engine.resident_mib():.0f} MiB, filled in {filling:.1f} s of a "
                      f"core; ttmem fleet {told.ours:.3f} s of a core, the engine {told.theirs:.2f} s for it, {told.passed:.2f} s passed",
                      file=sys.stderr)
            return told.ours + told.theirs
        finally:
            engine.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--benchmark_format", default="json", help="only json is spoken")
    parser.add_argument("--benchmark_filter", default="", help="regular expression on names")
    parser.add_argument("--build", default=os.path.join(spoken.SOURCE, "build"), help="build directory")
    parser.add_argument("--hosts", type=int, default=256, help="how many")
    parser.add_argument("--report", action="store_true", help="tell what it cost the engine")
    options = parser.parse_args()
    name = f"fleet/hosts:{options.hosts}"
    seconds = measure(options.build, options.hosts, options.report)
    limit = LIMIT_SECONDS if options.hosts == 256 else None
    label = f"s of a core; ttmem fleet and VictoriaMetrics together, {DEVICES} devices each; the middle of {ASKED}"
    return spoken.tell(__file__, [] if seconds is None else [spoken.entry(name, seconds, limit, label)])


if __name__ == "__main__":
    sys.exit(main())
