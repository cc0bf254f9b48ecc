# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What a fleet costs an engine that scrapes it: one real daemon, told again and again as so many hosts.

    python3 bench/many_hosts.py --hosts 10000 --engine prometheus    prints a row for docs/scale.md
"""

import argparse
import contextlib
import gzip
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

import fleet
import spoken

DEVICES = 32
RANKS_ON_A_HOST = 4
HOSTS_OF_A_JOB = 8
ASKED = 3  # times; the one in the middle counts
SETS = {"short": ("short", "job"), "device": ("device", "job")}


def one_host(build, folder, collect):
    """What a real daemon of 32 devices and a job tells."""
    ttmem = os.path.join(build, "bin", "ttmem")
    environment = {**os.environ, "TTMEM_DIR": os.path.join(folder, "segments"), "TT_MEM_JOB": "@JOB@", "TT_RUN_RANK": "3",
                   "TTMEM_HOST_ROOT": folder}  # what else runs here is not of this fleet
    query = "&".join(f"collect[]={each}" for each in collect)
    with contextlib.ExitStack() as stack:
        def start(*words, until):
            process = stack.enter_context(ended(subprocess.Popen(
                [ttmem, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)))
            for line in process.stdout:
                if found := re.search(until, line):
                    return found
            raise RuntimeError(f"{words} ended")
        start("demo", "--hold", "600", "--devices", str(DEVICES), "--processes", str(RANKS_ON_A_HOST), until="holding")
        daemon = start("serve", "--http", "127.0.0.1:0", "--legacy-socket", "off", "--history", "memory",
                       until=r"listening on (http://\S+)").group(1)
        while True:
            with urllib.request.urlopen(f"{daemon}/metrics?{query}", timeout=60) as answer:
                text = answer.read().decode()
            if 'workload="@JOB@"' in text:
                return text


@contextlib.contextmanager
def ended(process):
    try:
        yield process
    finally:
        process.kill()
        process.wait()


class Hosts(http.server.BaseHTTPRequestHandler):
    """Each path is a host: the same figures under names of its own."""
    template = ""

    def do_GET(self):
        number = int(self.path.split("?")[0].strip("/"))
        text = self.template.replace('unique_id="0x', f'unique_id="0x{number:x}').replace("@JOB@", f"job{number // HOSTS_OF_A_JOB}")
        body = gzip.compress(text.encode(), 1)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, *_):
        """A scraper that went away."""


def serve_hosts(template):
    """The port, and the process that answers there."""
    Hosts.template = template
    server = Server(("127.0.0.1", 0), Hosts)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        server.serve_forever()
    server.server_close()
    return server.server_address[1], child


class Engine(fleet.Process):
    """A Prometheus or VictoriaMetrics that scrapes them."""

    def __init__(self, name, folder, port, options):
        self.name, self.hosts, self.data = name, options.hosts, os.path.join(folder, "data")
        config = os.path.join(folder, "scrape.yml")
        with open(os.path.join(folder, "hosts.json"), "w", encoding="utf-8") as file:
            json.dump([{"targets": [f"127.0.0.1:{port}"], "labels": {"__metrics_path__": f"/{n}", "instance": f"node{n}:7171"}}
                       for n in range(options.hosts)], file)
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"global: {{scrape_interval: {options.every}s, scrape_timeout: {options.every}s}}\n"
                       "scrape_configs: [{job_name: ttmem, file_sd_configs: [{files: [hosts.json]}]}]\n")
        here = f"127.0.0.1:{fleet.free_port()}"
        lines = {
            "prometheus": ["usr/bin/prometheus", f"--config.file={config}", f"--web.listen-address={here}",
                           f"--storage.tsdb.path={self.data}", "--log.level=error"],
            "victoria-metrics": ["usr/bin/victoria-metrics", f"-promscrape.config={config}", f"-httpListenAddr={here}",
                                 f"-storageDataPath={self.data}", "-search.latencyOffset=0s",
                                 f"-search.maxUniqueTimeseries={options.most_series}", "-loggerLevel=ERROR"],
        }
        program, *rest = lines[name]
        super().__init__(f"http://{here}", [os.path.join(fleet.tool(name), program), *rest], folder)

    def count(self, what):
        question = urllib.parse.urlencode({"query": what})
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"{self.url}/api/v1/query?{question}", timeout=120) as answer:
                return next((int(float(each["value"][1])) for each in json.load(answer)["data"]["result"]), 0)
        return None

    def until_all_are_scraped(self, patience):
        end = time.monotonic() + patience
        while time.monotonic() < end:
            known = self.count("count(ttmem_self_snapshots_total)")
            if known == self.hosts:
                return
            print(f"  {known} hosts are known", file=sys.stderr)
            time.sleep(10)
        raise RuntimeError(f"only {known} of {self.hosts} hosts were scraped in {patience} s")

    def disk_bytes(self):
        return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(self.data) for name in names
                   if os.path.exists(os.path.join(folder, name)))


def measure(options):
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        template = one_host(options.build, folder, SETS[options.set])
        per_host = sum(1 for line in template.splitlines() if line and not line.startswith("#"))
        port, child = serve_hosts(template)
        stack.callback(lambda: (os.kill(child, signal.SIGTERM), os.waitpid(child, 0)))
        engine = Engine(options.engine, folder, port, options)
        stack.callback(engine.end)
        engine.until_all_are_scraped(20 * options.every)
        before, begin = engine.cpu_seconds(), time.monotonic()
        time.sleep(2 * options.every)
        cores = (engine.cpu_seconds() - before) / (time.monotonic() - begin)
        print(f"{options.engine}, {options.hosts} hosts x {per_host} series ({options.set}) every {options.every} s: "
              f"{options.hosts * per_host} series, {cores:.2f} cores, {engine.resident_mib():.0f} MiB, "
              f"{engine.disk_bytes() / 2**20:.0f} MiB on disk; a host {len(template)} bytes, "
              f"{len(gzip.compress(template.encode(), 1))} gzipped", flush=True)
        asked = [engine.ask(options.build, "--timeout", "120") for _ in range(ASKED)]
        told = sorted(asked, key=lambda each: each.passed)[ASKED // 2]
        print(f"ttmem fleet: {told.passed:.1f} s passed, {told.ours:.2f} s of a core, the engine {told.theirs:.1f} s; "
              f"engine {engine.resident_mib():.0f} MiB after it", flush=True)
        try:
            document = json.loads(told.text)
        except ValueError:
            print(told.text.strip())
            return
        print({key: document[key] for key in ("hosts_fresh", "partial", "devices", "dram")}, len(document["jobs"]), "jobs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(spoken.SOURCE, "build"), help="build directory")
    parser.add_argument("--hosts", type=int, default=10000, help="how many")
    parser.add_argument("--engine", choices=("prometheus", "victoria-metrics"), default="victoria-metrics", help="who scrapes")
    parser.add_argument("--set", choices=SETS, default="short", help="what they tell, besides the jobs")
    parser.add_argument("--every", type=int, default=60, help="seconds between two scrapes of a host")
    parser.add_argument("--most-series", type=int, default=300000, help="of VictoriaMetrics: that a question may look at")
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
