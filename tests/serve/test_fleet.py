# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Many hosts as one: `ttmem fleet` asks daemons, ssh and a Prometheus API, also on bad days."""

import contextlib
import http.server
import json
import os
import shutil
import ssl
import stat
import subprocess
import threading
import urllib.parse

import pytest

from support import command
from support.waiting import DEADLINE_SECONDS, eventually

DRAM_EACH = 26_222_592  # what one demonstration takes on its device


@pytest.fixture
def two_hosts(daemons, folder):
    """Two daemons, each with a directory and a rank of a job of its own."""
    with contextlib.ExitStack() as stack:
        found = []
        for rank in range(2):
            directory = os.path.join(folder, f"host{rank}")
            os.mkdir(directory, 0o700)
            command.Workload(stack.enter_context(command.started(
                "demo", "--hold", "600",
                env={**os.environ, "TTMEM_DIR": directory, "TT_MEM_JOB": "train",
                     "TT_MEM_RANK": str(rank), "TT_MEM_RANKS": "3"})))
            daemon = daemons(TTMEM_DIR=directory)
            daemon.catch_up()
            found.append(daemon)
        yield found


def hosts_file(folder, *lines):
    path = os.path.join(folder, "hosts.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def address(daemon):
    return f"{daemon.host}:{daemon.port}"


def test_hosts_and_a_job_over_them(two_hosts, folder):
    path = hosts_file(folder, "# the rack", *map(address, two_hosts))
    fleet = command.document("fleet", "--hosts", path)
    assert (fleet["document"], fleet["partial"], fleet["hosts_fresh"]) == ("fleet", False, 2)
    assert fleet["dram"] == 2 * DRAM_EACH and fleet["devices"] == 2
    assert fleet["dram"] == sum(host["dram"] for host in fleet["hosts"])
    job, = fleet["jobs"]
    assert (job["key"], job["ranks_present"], job["ranks_expected"], job["hosts"]) == ("train", 2, 3, 2)
    assert job["dram"] == 2 * DRAM_EACH and job["dram_least_rank"] == DRAM_EACH
    # They are one machine, and it says so.
    assert "counted 2 times" in fleet["problems"][0]
    shown = command.text("fleet", "--hosts", path)
    assert shown.startswith("2 hosts, 2 devices, 2 in use: DRAM 50.0 MiB of ")
    assert "2 of 3" in command.text("fleet", "--hosts", path, "--jobs")


def test_one_host_is_its_status(two_hosts, folder):
    path = hosts_file(folder, *map(address, two_hosts))
    wanted = ("fleet", "--hosts", path, "--host", address(two_hosts[1]))
    snapshot = command.document(*wanted)
    assert snapshot["document"] == "snapshot" and len(snapshot["processes"]) == 1
    assert "DRAM" in command.text(*wanted, "--device", "0")
    assert command.run(*wanted, "--device", "7").returncode == 1
    assert command.run("fleet", "--hosts", path, "--host", "nobody").returncode == 1


def test_who_does_not_answer_is_said_and_holds_up_nobody(two_hosts, folder):
    with contextlib.closing(_silent()) as silent:
        path = hosts_file(folder, address(two_hosts[0]), f"127.0.0.1:{silent.getsockname()[1]}",
                          "127.0.0.1:1", "no-such-host.invalid:7171")
        fleet = command.document("fleet", "--hosts", path, "--timeout", "10")
    assert fleet["partial"] and fleet["hosts_fresh"] == 1 and fleet["dram"] == DRAM_EACH
    states = {host["host"]: host for host in fleet["hosts"]}
    assert states[f"127.0.0.1:{silent_port(states)}"]["problem"].endswith("no answer in time")
    assert "Connection refused" in states["127.0.0.1:1"]["problem"]
    assert states["no-such-host.invalid:7171"]["state"] == "silent"
    assert states["127.0.0.1:1"]["dram"] is None
    alone = hosts_file(folder, "127.0.0.1:1")
    done = command.run("fleet", "--hosts", alone)
    assert done.returncode == 3 and "Partial: 1 of 1 host" in done.stdout


def _silent():
    import socket
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    return listener


def silent_port(states):
    return next(name.split(":")[1] for name in states
                if name.startswith("127.0.0.1:") and states[name]["problem"]
                and "in time" in states[name]["problem"])


SSH = """#!/bin/sh
# As ssh: options, --, host, command.
echo "$@" >> {log}
while [ "$1" != -- ]; do shift; done
case $2 in
  good) exec {ttmem} status --json ;;
  bare) echo "sh: ttmem: not found" >&2; exit 127 ;;
  slow) exec sleep 600 ;;
  *) echo "ssh: Could not resolve hostname $2" >&2; exit 255 ;;
esac
"""


def test_by_ssh(folder):
    from support.built import TTMEM
    program = os.path.join(folder, "ssh")
    log = os.path.join(folder, "ssh.log")
    with open(program, "w", encoding="utf-8") as file:
        file.write(SSH.format(log=log, ttmem=TTMEM))
    os.chmod(program, stat.S_IRWXU)
    path = hosts_file(folder, "good", "bare", "slow", "me@gone")
    with command.workload():
        fleet = command.document("fleet", "--hosts", path, "--ssh", program, "--timeout", "10")
    states = {host["host"]: host for host in fleet["hosts"]}
    assert states["good"]["state"] == "fresh" and states["good"]["dram"] == DRAM_EACH
    assert states["bare"]["problem"] == "ttmem is not found there: sh: ttmem: not found"
    assert states["slow"]["problem"] == "no answer in time"
    assert "Could not resolve" in states["me@gone"]["problem"]
    with open(log, encoding="utf-8") as file:
        assert "-o BatchMode=yes -o ConnectTimeout=10 -- good ttmem status --json" in file.read()


@pytest.mark.parametrize("line", ["-oProxyCommand=x", "a;b", "$(a)", "a b"])
def test_a_name_that_is_none_is_refused(folder, line):
    done = command.run("fleet", "--hosts", hosts_file(folder, "good", line))
    assert done.returncode == 2 and "line 2: " in done.stderr


def test_usage():
    assert command.run("fleet").returncode == 2
    assert command.run("fleet", "--hosts", "a", "--from", "b").returncode == 2
    assert command.run("fleet", "--hosts", "/no/such/file").returncode == 1
    assert command.run("fleet", "--from", "http://x", "--match", "a}").returncode == 2


# ---- an engine that has bad days -----------------------------------------------------------------


class Engine(http.server.BaseHTTPRequestHandler):
    """Answers queries from a table: the first whose key stands in the query."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        query = urllib.parse.parse_qs(body)["query"][0]
        self.server.asked.append((query, self.headers))
        status, text = self.server.behave(query, self.headers)
        self.send_response(status)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for begin in range(0, len(text), 1000):
            piece = text[begin:begin + 1000].encode()
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def engine(behave, certificate=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    server.behave, server.asked = behave, []
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        server.url = f"http{'s' if certificate else ''}://127.0.0.1:{server.server_address[1]}"
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def certificate(folder):
    """Of 127.0.0.1 and of nobody else, by itself; with its key."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl, which makes a certificate")
    path = os.path.join(folder, "certificate.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=engine", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path,
                    "-out", path + ".part"], check=True, capture_output=True)
    with open(path + ".part", encoding="utf-8") as part, open(path, "a", encoding="utf-8") as whole:
        whole.write(part.read())
    return path


def test_an_engine_that_speaks_https(certificate):
    with engine(half_stale, certificate) as server:
        trusting = {"SSL_CERT_FILE": certificate}
        done = command.run("fleet", "--from", server.url, "--json", **trusting)
        assert done.returncode == 0 and json.loads(done.stdout)["dram"] == 50, done.stderr
        # Nobody vouches for it; and it is not who was asked for.
        done = command.run("fleet", "--from", server.url)
        assert done.returncode == 3 and "its certificate is not accepted" in done.stderr
        other = server.url.replace("127.0.0.1", "localhost")
        done = command.run("fleet", "--from", other, **trusting)
        assert done.returncode == 3 and "its certificate is not accepted: " in done.stderr
        assert "SSL_CERT_FILE names other authorities" in done.stderr


def test_https_where_nobody_speaks_it():
    with engine(lambda *_: vector()) as server:
        done = command.run("fleet", "--from", server.url.replace("http:", "https:"))
    assert done.returncode == 3 and "it does not speak TLS" in done.stderr and done.stderr.count("\n") == 1


def vector(*samples, **more):
    return 200, json.dumps({"status": "success", **more, "data": {"resultType": "vector", "result": [
        {"metric": labels, "value": [1, str(value)]} for labels, value in samples]}})


#: Those whose series an engine has now: that of host b is old.
PRESENT = "count by (instance) (ttmem_self_snapshots_total{"


def half_stale(query, _headers):
    if "max_over_time" in query:
        return vector(({"instance": "a"}, 5), ({"instance": "b"}, 400), ({"instance": "c"}, 3000))
    if query.startswith("time() - max by (instance) (timestamp("):
        return vector(({"instance": "a"}, 5), ({"instance": "b"}, 200))
    if query.startswith(PRESENT):
        return vector(({"instance": "a"}, 2), ({"instance": "b"}, 1), warnings=["one store is missing"])
    if query.startswith('count_values by (instance) ("in_use"'):
        return vector(({"instance": "a", "in_use": "1"}, 1), ({"instance": "b", "in_use": "1"}, 1))
    if query.startswith("count_values by (instance)") and "capacity" in query and "dram" in query:
        return vector(({"instance": "a", "bytes": "200"}, 1), ({"instance": "b", "bytes": "200"}, 1))
    if query.startswith("sum by (instance)") and "dram" in query:
        return vector(({"instance": "a"}, 50), ({"instance": "b"}, 60))
    if query.startswith("count by (instance)"):
        return vector(({"instance": "a"}, 1), ({"instance": "b"}, 1))
    return vector()


def test_half_of_the_hosts_are_stale():
    with engine(half_stale) as server:
        fleet = command.document("fleet", "--from", server.url)
        assert fleet["partial"] and fleet["hosts_fresh"] == 1
        assert (fleet["dram"], fleet["dram_capacity"], fleet["l1"]) == (50, 200, None)
        states = {host["host"]: (host["state"], host["dram"]) for host in fleet["hosts"]}
        assert states == {"a": ("fresh", 50), "b": ("stale", None), "c": ("stale", None)}
        assert any("scraped 2 times" in each for each in fleet["problems"])
        assert any("one store is missing" in each for each in fleet["problems"])
        shown = command.text("fleet", "--from", server.url, "--match", 'rack="7"')
        assert "Partial: 2 of 3 hosts do not tell now" in shown
        assert "stale: told nothing for 50 m" in shown
        assert all('rack="7"' in query for query, _ in server.asked[len(server.asked) // 2:])
        # What is old of a job is in no sum either.
        assert all("<= 120" in query for query, _ in server.asked if "ttmem_job" in query)
        jobs = command.text("fleet", "--from", server.url, "--jobs")
        assert jobs.startswith("Partial: 2 of 3 hosts do not tell now")


def test_whose_series_have_just_ended_does_not_tell_now():
    """As VictoriaMetrics answers: it tells the age of series that have ended, and no figure."""
    def behave(query, headers):
        if query.startswith(PRESENT):
            return vector(({"instance": "a"}, 1))
        if query.startswith("time() - max by (instance) (timestamp("):
            return vector(({"instance": "a"}, 5), ({"instance": "b"}, 15))
        return half_stale(query, headers)

    with engine(behave) as server:
        fleet = command.document("fleet", "--from", server.url)
        assert (fleet["hosts_fresh"], fleet["devices"]) == (1, 1)
        row = next(each for each in fleet["hosts"] if each["host"] == "b")
        assert (row["state"], row["devices"], row["problem"]) == ("stale", None, "told nothing for 15 s")
        assert all("<= 120" not in query for query, _ in server.asked if "ttmem_job" in query)


def test_a_host_that_does_not_tell_now_is_known():
    def behave(query, headers):
        return vector() if "<= 120" in query else half_stale(query, headers)

    with engine(behave) as server:
        for more in ((), ("--device", "0")):
            done = command.run("fleet", "--from", server.url, "--host", "b", *more)
            assert (done.returncode, done.stdout) == (3, "") and "b is stale: told nothing for 3 m" in done.stderr


def test_devices_of_which_nobody_tells_what_is_taken():
    """Five devices: three in use, four whose capacity is known, of two kinds, and two that tell; of host c, nobody tells
    anything."""
    def behave(query, headers):
        if query.startswith(PRESENT):
            return vector(({"instance": "a"}, 1), ({"instance": "c"}, 1))
        if query.startswith("time() - max by (instance) (timestamp("):
            return vector(({"instance": "a"}, 5), ({"instance": "c"}, 5))
        if query.startswith('count_values by (instance) ("bytes"'):
            return vector(({"instance": "a", "bytes": "12884901888"}, 3), ({"instance": "a", "bytes": "3.4359738368e+10"}, 1))
        if query.startswith('count_values by (instance) ("in_use"'):
            return vector(({"instance": "a", "in_use": "1"}, 3), ({"instance": "a", "in_use": "0"}, 2),
                          ({"instance": "c", "in_use": "0"}, 7))
        if query.startswith("count by (instance)") and "ttmem_memory_bytes" in query:
            return vector(({"instance": "a"}, 2))
        return half_stale(query, headers)

    with engine(behave) as server:
        rows = {each["host"]: each for each in command.document("fleet", "--from", server.url)["hosts"]}
    assert [rows["a"][name] for name in ("devices", "devices_in_use", "devices_untold")] == [5, 3, 3]
    assert rows["a"]["dram_capacity"] == 3 * 12884901888 + 34359738368
    assert [rows["c"][name] for name in ("devices", "devices_in_use", "devices_untold")] == [7, 0, 7]
    assert rows["c"]["dram_capacity"] is None


def test_several_questions_are_on_their_way_at_once():
    """The first is answered only when another one has come."""
    others = threading.Event()
    first = threading.Lock()

    def behave(query, headers):
        if first.acquire(blocking=False):
            assert others.wait(DEADLINE_SECONDS), "no other question comes while one is open"
        else:
            others.set()
        return half_stale(query, headers)

    with engine(behave) as server:
        done = command.run("fleet", "--from", server.url, "--json", "--timeout", str(DEADLINE_SECONDS))
    assert done.returncode == 0 and json.loads(done.stdout)["dram"] == 50, done.stderr


def test_who_never_told_anything_is_missed():
    def behave(query, headers):
        if query.startswith("group by (instance) (up{"):
            assert "on (job)" in query, "of other things that are scraped, nothing is said"
            return vector(({"instance": "b"}, 1), ({"instance": "d"}, 1))
        return half_stale(query, headers)

    with engine(behave) as server:
        fleet = command.document("fleet", "--from", server.url)
    assert {host["host"]: host["state"] for host in fleet["hosts"]} == {"a": "fresh", "b": "stale", "c": "stale", "d": "silent"}
    assert "gets no answer" in fleet["hosts"][-1]["problem"]


@pytest.mark.parametrize("answer, said", [
    ((401, "no"), "401: a token is wanted"),
    ((404, "no"), "404: there is no such page"),
    ((503, "no"), "not that of a Prometheus API"),
    ((422, json.dumps({"status": "error", "error": "query timed out"})), "it says: query timed out"),
    ((413, '{"error":{"status":413,"message":"no body"}}'), "is no Prometheus server but a daemon of ttmem"),
    ((200, "<html>"), "not that of a Prometheus API"),
    (vector(*[({"instance": str(i)}, 1) for i in range(20001)]), "choose hosts with --match"),
])
def test_a_clear_line_on_bad_days(answer, said):
    with engine(lambda *_: answer) as server:
        done = command.run("fleet", "--from", server.url)
    assert done.returncode == 3 and done.stdout == ""
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_an_engine_that_is_down():
    done = command.run("fleet", "--from", "http://127.0.0.1:1")
    assert done.returncode == 3 and "127.0.0.1:1: Connection refused" in done.stderr


def test_token_and_headers_are_sent(folder):
    token = os.path.join(folder, "token")
    with open(token, "w", encoding="utf-8") as file:
        file.write("secret\n")

    def behave(_query, headers):
        right = headers["Authorization"] == "Bearer secret" and headers["X-Scope-OrgID"] == "team"
        return vector() if right else (401, "")

    with engine(behave) as server:
        asked = ("fleet", "--from", server.url, "--header", "X-Scope-OrgID: team")
        assert command.run(*asked).returncode == 3
        done = command.run(*asked, "--token-file", token)
        assert done.returncode == 0 and "No host" in done.stdout
        assert command.run(*asked, "--token-file", "/no/such").returncode == 3


def test_a_token_is_no_option(folder):
    password = os.path.join(folder, "password")
    with open(password, "w", encoding="utf-8") as file:
        file.write("Basic dTpw\n")
    with engine(lambda _query, headers: vector() if headers["Authorization"] == "Basic dTpw" else (401, "")) as server:
        for name in ("fleet", "top"):
            done = command.run(name, "--from", server.url, "--header", "authorization: Basic dTpw")
            assert done.returncode == 2 and "--token-file" in done.stderr, done
        assert not server.asked
        done = command.run("fleet", "--from", server.url, "--token-file", password)
        assert done.returncode == 0, done.stderr


def test_a_host_name_stays_a_name():
    with engine(lambda *_: vector()) as server:
        done = command.run("fleet", "--from", server.url, "--host", 'a"} or up{x="')
        assert done.returncode == 1 and "knows no host" in done.stderr
        assert 'instance="a\\"} or up{x=\\""' in server.asked[0][0]


# ---- the same on the live screen -----------------------------------------------------------------


def train(query, _headers):
    """A job of eight ranks of which one died, on two hosts."""
    job = {"workload": "train", "user": "me"}
    if "ttmem_job_ranks" in query and query.startswith("sum"):
        return vector(({**job, "instance": "a"}, 3), ({**job, "instance": "b"}, 4)) if "by (instance" in query[:20] \
            else vector((job, 7))
    if "ttmem_job_expected_ranks" in query:
        return vector((job, 8))
    if "ttmem_job_first_death_seconds" in query:
        return vector(({**job, "instance": "b", "rank": "6"}, 1790000000))
    if "ttmem_job_first_death_bytes" in query and "dram" in query:
        return vector(({**job, "instance": "a", "rank": "1"}, 5), ({**job, "instance": "b", "rank": "6"}, 4096))
    if query.startswith("ALERTS{"):
        return vector(({**job, "alertname": "TtmemRankMissing"}, 1),
                      ({"alertname": "TtmemClash", "instance": "a", "device": "3"}, 1))
    return half_stale(query, _headers)


def test_the_fleet_on_the_screen():
    with engine(train) as server:
        screen = command.text("top", "--from", server.url, "--once", "--size", "140x30")
        assert "Partial: 2 of 3 hosts do not tell now" in screen and "Σ 1 fresh" in screen
        assert "1 Hosts" in screen and "3 Jobs" in screen
        jobs = command.text("top", "--from", server.url, "--once", "--size", "140x30", "--view", "jobs")
        assert "train" in jobs and "7 of 8" in jobs
        assert command.document("fleet", "--from", server.url)["alerts"] == [
            "TtmemClash on a device 3", "TtmemRankMissing for job train of me"]
        told, = command.document("fleet", "--from", server.url)["jobs"]
        assert told["first_death"] == {"time_ns": 1790000000 * 10**9, "rank": "6", "host": "b", "dram": 4096, "l1": None}
        assert "train: first to die: rank 6 on b, holding DRAM 4.0 KiB, L1 ?" in command.text("fleet", "--from", server.url)


@pytest.mark.parametrize("options, code, said", [
    (("--view", "device"), 2, "there is no view device of a fleet"),
    (("--at", "peak"), 2, "--at is a moment of a recording"),
    (("--json",), 2, "ttmem fleet --from URL --json"),
    (("--once",), 3, "Connection refused"),
])
def test_a_screen_of_a_fleet_that_cannot_be(options, code, said):
    done = command.run("top", "--from", "http://127.0.0.1:1", *options)
    assert (done.returncode, done.stdout) == (code, "") and said in done.stderr


def test_a_file_is_no_address():
    done = command.run("top", "--from", "/no/such/file.ttm", "--once")
    assert done.returncode == 1 and "/no/such/file.ttm" in done.stderr
    assert "there is no view hosts of one host" in command.run("top", "--view", "hosts").stderr
