# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Every alert fires and ends for real: Prometheus or VictoriaMetrics with vmalert, and an Alertmanager that calls us.

The rules are those that are shipped, with their minutes made seconds; what they see is served by this test.
"""

import collections
import contextlib
import http.server
import json
import os
import re
import subprocess
import threading
import time
import urllib.request

import pytest
from tools_prometheus import free_port, prometheus, victoria_metrics

from support import tools
from support.waiting import DEADLINE_SECONDS, eventually

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
RULES = os.path.join(SOURCE, "packaging", "prometheus", "ttmem.rules.yml")

DEVICE = 'device="0",unique_id="0x1"'
GOOD = f"""
ttmem_memory_bytes{{{DEVICE},space="dram",figure="taken"}} 50
ttmem_memory_capacity_bytes{{{DEVICE},space="dram"}} 100
ttmem_headroom_bytes{{{DEVICE}}} 4096
ttmem_failures_total 0
ttmem_deaths_total 0
ttmem_unreadable_segments 0
ttmem_leak_suspects{{{DEVICE},kind="line"}} 0
ttmem_job_expected_ranks{{workload="train",user="me"}} 4
ttmem_job_ranks{{workload="train",user="me"}} 4
ttmem_self_snapshots_total 1
"""
BAD = f"""
ttmem_memory_bytes{{{DEVICE},space="dram",figure="taken"}} %d
ttmem_memory_capacity_bytes{{{DEVICE},space="dram"}} 100
ttmem_headroom_bytes{{{DEVICE}}} -192
ttmem_failures_total 3
ttmem_deaths_total 2
ttmem_unreadable_segments 1
ttmem_leak_suspects{{{DEVICE},kind="line"}} 1
ttmem_job_expected_ranks{{workload="train",user="me"}} 4
ttmem_job_ranks{{workload="train",user="me"}} 3
ttmem_self_snapshots_total 1
"""


class World(http.server.BaseHTTPRequestHandler):
    """Two hosts that are scraped, and the one whom the Alertmanager calls."""

    def do_GET(self):
        server = self.server
        server.scrapes[self.path] += 1
        if self.path == "/there" and server.bad_since:
            self.send_error(503)
            return
        text = GOOD
        if server.bad_since:  # DRAM fills up to 95 %
            text = BAD % min(95, 50 + 5 * int(time.monotonic() - server.bad_since))
        self.answer(text if self.path == "/metrics" else "ttmem_self_snapshots_total 1\n")

    def do_POST(self):
        for alert in json.loads(self.rfile.read(int(self.headers["Content-Length"])))["alerts"]:
            self.server.told.setdefault(alert["status"], set()).add(alert["labels"]["alertname"])
        self.answer("")

    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def world():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), World)
    server.bad_since, server.told, server.scrapes = 0, {}, collections.Counter()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    server.address = f"127.0.0.1:{server.server_address[1]}"
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def fast_rules(folder):
    """The shipped rules with seconds for minutes; a prediction over the next hours is one over the next seconds."""
    with open(RULES, encoding="utf-8") as file:
        text = file.read()
    names = re.findall(r"alert: (\w+)", text)
    for slow, fast in ((r"for: \d+m", "for: 2s"), (r"\[1h\]", "[4s]"), (r"4 \* 3600", "20"), (r"\[10m\]", "[8s]"),
                       (r"\[1d\]", "[1m]")):
        text, count = re.subn(slow, fast, text)
        assert count, slow
    path = os.path.join(folder, "fast.rules.yml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path, set(names)


@contextlib.contextmanager
def started(folder, *line):
    with open(os.path.join(folder, os.path.basename(line[0]) + ".log"), "w", encoding="utf-8") as log:
        process = subprocess.Popen(line, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(DEADLINE_SECONDS)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


@contextlib.contextmanager
def engine(kind, folder, world, told):
    """Scrapes the world, weighs the rules, and tells the Alertmanager."""
    rules, _ = fast_rules(folder)
    scrape = f"""
scrape_configs:
  - job_name: ttmem
    static_configs: [{{targets: ["{world.address}"]}}]
  - job_name: there
    metrics_path: /there
    static_configs: [{{targets: ["{world.address}"]}}]
"""
    port = free_port()
    with contextlib.ExitStack() as stack:
        if kind == "prometheus":
            config = write(folder, "scrape.yml", f"""
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["{told}"]}}]}}]}}
{scrape}""")
            stack.enter_context(started(folder, *prometheus(config, os.path.join(folder, "data"), port)))
        else:
            config = write(folder, "scrape.yml", f"global: {{scrape_interval: 1s}}\n{scrape}")
            stack.enter_context(started(folder, *victoria_metrics(config, os.path.join(folder, "data"), port)))
            url = f"http://127.0.0.1:{port}"
            stack.enter_context(started(
                folder, tools.program("victoria-metrics", "usr/bin/vmalert"), f"-rule={rules}", f"-datasource.url={url}",
                f"-remoteWrite.url={url}", f"-remoteRead.url={url}", f"-notifier.url=http://{told}",
                "-evaluationInterval=1s", f"-httpListenAddr=127.0.0.1:{free_port()}"))
        yield


#: Debian's Alertmanager reads templates of its package below /usr/share: it alone sees them there.
WITH_SHARE = ("unshare", "--map-root-user", "--mount", "sh", "-c",
              'mount -t overlay -o "lowerdir=$0:/usr/share" overlay /usr/share && exec "$@"')


@contextlib.contextmanager
def alertmanager(folder, world):
    """Its address; it calls the world."""
    share = tools.program("alertmanager", "usr/share")
    can = subprocess.run([*WITH_SHARE, share, "true"], capture_output=True, text=True, check=False)
    if can.returncode != 0:
        pytest.skip(f"no mount namespace for the templates of the Alertmanager: {can.stderr.strip()}")
    config = write(folder, "alertmanager.yml", f"""
route: {{receiver: us, group_by: ["..."], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}}
receivers: [{{name: us, webhook_configs: [{{url: "http://{world.address}/", send_resolved: true}}]}}]
""")
    address = f"127.0.0.1:{free_port()}"
    with started(folder, *WITH_SHARE, share, tools.program("alertmanager", "usr/bin/prometheus-alertmanager"),
                 f"--config.file={config}", f"--storage.path={folder}/alerts", f"--web.listen-address={address}",
                 "--cluster.listen-address=") as process:
        def ready():
            assert process.poll() is None, "it ended"
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://{address}/-/ready"):
                return True
        eventually(ready, "the Alertmanager is ready")
        yield address


def wait_for(world, status, names):
    with contextlib.suppress(AssertionError):
        eventually(lambda: world.told.get(status) == names)
    assert world.told.get(status) == names, status


@pytest.mark.parametrize("kind", ["prometheus", "vmalert"])
def test_every_alert_fires_and_ends(kind, folder, world):
    _, names = fast_rules(folder)
    with alertmanager(folder, world) as address, engine(kind, folder, world, address):
        eventually(lambda: min(world.scrapes["/metrics"], world.scrapes["/there"]) >= 5)  # a time in which all is well
        assert world.told == {}
        world.bad_since = time.monotonic()
        wait_for(world, "firing", names)
        world.bad_since = 0
        wait_for(world, "resolved", names)
