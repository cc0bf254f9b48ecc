# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem push`: what a scrape would tell, sent; nothing is queued, and how it goes is visible."""

import contextlib
import gzip
import http.server
import json
import os
import signal
import threading

import pytest

from daemon import workload
from support import command
from support.waiting import DEADLINE_SECONDS, eventually


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, dict(self.headers), body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.said)))
        self.end_headers()
        self.wfile.write(self.server.said)

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.got, server.status, server.said = [], 200, b""
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def daemon(daemons):
    with workload():
        daemon = daemons()
        daemon.catch_up()
        yield daemon


def push(daemon, *options, **environment):
    return command.run("push", "--daemon", f"{daemon.host}:{daemon.port}", *options, **environment)


def metrics_of(body):
    document, = json.loads(body)["resourceMetrics"]
    resource = {each["key"]: each["value"]["stringValue"] for each in document["resource"]["attributes"]}
    return resource, {each["name"]: each for each in document["scopeMetrics"][0]["metrics"]}


def points(metric):
    return [({each["key"]: each["value"]["stringValue"] for each in point["attributes"]},
             int(point["asInt"]) if "asInt" in point else point["asDouble"])
            for point in (metric.get("gauge") or metric["sum"])["dataPoints"]]


def test_otlp_says_what_status_says(daemon, receiver):
    done = push(daemon, "--otlp", receiver.url, "--json", "--once",
                OTEL_RESOURCE_ATTRIBUTES="rack=r%207,service.name=x", OTEL_SERVICE_NAME="mine",
                OTEL_EXPORTER_OTLP_HEADERS="x-team=a")
    assert done.returncode == 0, done.stderr
    (path, headers, body), = receiver.got
    assert path == "/v1/metrics" and headers["Content-Type"] == "application/json"
    assert headers["x-team"] == "a"
    resource, metrics = metrics_of(body)
    assert resource["service.name"] == "mine" and resource["rack"] == "r 7" and resource["host.name"]
    device, = command.document("status")["devices"]
    told = {(labels["space"], labels["figure"]): value
            for labels, value in points(metrics["ttmem.memory"])}
    assert told["dram", "taken"] == device["dram"]["taken"] > 0
    assert told["l1_total", "used"] == device["l1_total"]["used"]
    assert metrics["ttmem.memory"]["unit"] == "By"
    (labels, usage), = points(metrics["hw.gpu.memory.usage"])
    assert usage == device["dram"]["taken"] and labels["hw.id"] == device["unique_id"]
    assert metrics["ttmem.self_cpu"]["sum"]["isMonotonic"]


def test_the_variables_of_opentelemetry(daemon, receiver):
    done = push(daemon, "--once", OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url + "/base/",
                OTEL_EXPORTER_OTLP_PROTOCOL="http/json")
    assert done.returncode == 0, done.stderr
    assert receiver.got[0][0] == "/base/v1/metrics"
    done = push(daemon, "--once", OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=receiver.url + "/own")
    assert done.returncode == 0 and receiver.got[1][0] == "/own"
    assert receiver.got[1][1]["Content-Type"] == "application/x-protobuf"
    assert b"ttmem.memory" in receiver.got[1][2]
    done = push(daemon, "--once", OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url, OTEL_EXPORTER_OTLP_COMPRESSION="gzip")
    assert done.returncode == 0 and receiver.got[2][1]["Content-Encoding"] == "gzip"
    assert b"ttmem.memory" in gzip.decompress(receiver.got[2][2])
    done = push(daemon, "--once", OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url, OTEL_EXPORTER_OTLP_METRICS_COMPRESSION="zstd")
    assert done.returncode == 2 and "gzip and none" in done.stderr
    done = push(daemon, "--once", OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url,
                OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
    assert done.returncode == 2 and "http/protobuf" in done.stderr
    done = push(daemon, "--once", OTEL_EXPORTER_OTLP_ENDPOINT="", OTEL_EXPORTER_OTLP_METRICS_ENDPOINT="")
    assert done.returncode == 2 and "name a receiver" in done.stderr


def test_the_text_for_victoria_metrics(daemon, receiver, folder):
    token = os.path.join(folder, "token")
    with open(token, "w", encoding="utf-8") as file:
        file.write("secret\n")
    done = push(daemon, "--prometheus", receiver.url, "--once", "--token-file", token, "--collect", "short")
    assert done.returncode == 0, done.stderr
    (path, headers, body), = receiver.got
    assert path.startswith("/api/v1/import/prometheus?extra_label=instance=")
    assert headers["Authorization"] == "Bearer secret"
    assert b"ttmem_push_sent_total 0\n" in body and b"ttmem_headroom_bytes{" in body
    assert b"ttmem_kernel_footprint_bytes" not in body


def test_a_token_is_no_option(daemon, receiver):
    done = push(daemon, "--otlp", receiver.url, "--once", "--header", "Authorization: Bearer x")
    assert done.returncode == 2 and "--token-file" in done.stderr and not receiver.got


@pytest.mark.parametrize("status, said", [
    (401, "401: a token is wanted, or this one is not accepted (--token-file)"), (500, "it answers with status 500")])
def test_a_receiver_that_refuses(daemon, receiver, status, said):
    receiver.status = status
    done = push(daemon, "--otlp", receiver.url, "--once")
    assert done.returncode == 3 and done.stderr.endswith(said + "\n")
    receiver.said = b"no\x1b room \r\n"
    done = push(daemon, "--otlp", receiver.url, "--once")
    assert done.stderr.endswith(said + ": no\\x1b room\n")


def test_what_a_receiver_takes_only_in_part_is_said(daemon, receiver):
    """As OTLP has it: the status is that of a success, and the answer says what was refused."""
    receiver.said = b'{"partialSuccess":{"rejectedDataPoints":"12","errorMessage":"too\\u001b old"}}'
    done = push(daemon, "--otlp", receiver.url, "--json", "--once")
    assert done.returncode == 3 and done.stderr.endswith(": 12 points refused: too\\x1b old\n"), done.stderr
    receiver.said = b"\x0a\x02\x08\x0c"
    state = os.path.join(os.environ["TTMEM_DIR"], "push.json")
    done = push(daemon, "--otlp", receiver.url, "--once", "--state", state)
    assert done.returncode == 3 and done.stderr.endswith(": 12 points refused\n"), done.stderr
    told = daemon.document("/healthz")["push"]
    assert (told["sent"], told["failed"]) == (1, 0) and "12 points refused" in told["problem"]
    assert told["refused_points"] == 12
    assert b"push_refused_points" in receiver.got[-1][2]


def test_counters_start_with_who_counts(daemon, receiver):
    done = push(daemon, "--otlp", receiver.url, "--json", "--once", "--collect", "process", "--collect", "device")
    assert done.returncode == 0, done.stderr
    _, metrics = metrics_of(receiver.got[0][2])

    def starts(name):
        return {int(point["startTimeUnixNano"]) for point in metrics[name]["sum"]["dataPoints"]}

    process, = daemon.document("/api/v1/processes")["processes"]
    daemon_start, = starts("ttmem.self_snapshots")
    push_start, = starts("ttmem.push_sent")
    assert process["started_ns"] < daemon_start < push_start
    process_start, = starts("ttmem.process_dispatches")
    assert abs(process_start - process["started_ns"]) < 1000, "as a number of seconds can say it"


def test_nobody_there(receiver, daemon):
    done = push(daemon, "--otlp", "http://127.0.0.1:1", "--once")
    assert done.returncode == 3 and "Connection refused" in done.stderr
    done = command.run("push", "--daemon", "127.0.0.1:1", "--otlp", receiver.url, "--once")
    assert done.returncode == 3 and "the daemon: 127.0.0.1:1: Connection refused" in done.stderr
    assert receiver.got == []


def test_what_was_not_sent_is_forgotten_and_said(daemon, receiver):
    state = os.path.join(os.environ["TTMEM_DIR"], "push.json")
    receiver.status = 503
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(command.started(
            "push", "--otlp", receiver.url, "--json", "--every", "0.1", "--state", state,
            "--daemon", f"{daemon.host}:{daemon.port}"))
        told = eventually(lambda: daemon.document("/healthz")["push"])
        assert told["failed"] >= 1 and told["sent"] == 0 and "503" in told["problem"]
        assert told["last_sent_ns"] is None
        receiver.status = 200
        told = eventually(lambda: (now := daemon.document("/healthz")["push"]) and now["sent"] >= 2 and now)
        assert told["problem"] is None and told["last_sent_ns"] > 0
        _, metrics = metrics_of(receiver.got[-1][2])
        (_, failed), = points(metrics["ttmem.push_failed"])
        assert failed >= 1
        # One request for each attempt: what failed was not sent again.
        process.send_signal(signal.SIGSTOP)
        told = daemon.document("/healthz")["push"]
        assert len(receiver.got) - (told["sent"] + told["failed"]) in (0, 1)
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE_SECONDS) == 0


def test_a_state_of_somebody_else_is_not_told(daemon):
    if os.geteuid() != 0:
        pytest.skip("only root can make files of others")
    state = os.path.join(os.environ["TTMEM_DIR"], "push.json")
    with open(state, "w", encoding="utf-8") as file:
        json.dump({"to": "evil", "sent": 1}, file)
    assert daemon.document("/healthz")["push"]["to"] == "evil"  # root's own
    os.chown(state, 65534, 65534)
    assert daemon.document("/healthz")["push"] is None
