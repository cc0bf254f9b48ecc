# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Who proves who they are is told their own words: over the UNIX socket, by a link that works once, or with the
administrator's token. Everybody else sees what is held, and whose it is, and no words."""

import contextlib
import http.client
import json
import os
import re
import subprocess
import time

import pytest

from daemon import Daemon
from support.built import TTMEM
from support.waiting import DEADLINE_SECONDS, eventually

OWNER, STRANGER = 65532, 65533
OVER_TCP = """
import http.client, sys
connection = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2]), timeout=100)
connection.request("GET", sys.argv[3])
answer = connection.getresponse()
while line := answer.readline():
    print(line.decode(), end="")
    if line.startswith(b"data:"):
        break
"""
ASK = """
import http.client, json, socket, sys
class Local(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(sys.argv[1])
connection = Local("localhost", timeout=100)
connection.request(sys.argv[3] if len(sys.argv) > 3 else "GET", sys.argv[2])
answer = connection.getresponse()
print(json.dumps([answer.status, answer.read().decode()]))
"""
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def shared(folder, monkeypatch):
    """A directory that several users write to, with a process of one of them."""
    path = os.path.join(folder, "shared")
    os.chmod(folder, 0o755)
    os.mkdir(path)
    os.chmod(path, 0o3777)
    monkeypatch.setenv("TTMEM_DIR", path)
    demo = subprocess.Popen([TTMEM, "demo", "--hold", "600"], stdout=subprocess.PIPE, text=True, cwd="/",
                            user=OWNER, group=OWNER, extra_groups=[])
    if not demo.stdout.readline():
        pytest.skip("another user cannot reach the program under test")
    yield path
    demo.kill()
    demo.wait()
    demo.stdout.close()


@pytest.fixture
def daemon(shared, tmp_path):
    (tmp_path / "token").write_text("0123456789abcdef0123456789abcdef\n")
    os.chmod(tmp_path / "token", 0o600)
    running = Daemon(os.path.dirname(shared), "--token-file", str(tmp_path / "token"))
    eventually(lambda: running.document("/api/v1/processes")["processes"])
    yield running
    running.stop()


def ask(shared, path, user, method="GET"):
    done = subprocess.run(["python3", "-c", ASK, os.path.join(shared, "serve.sock"), path, method], text=True,
                          capture_output=True, check=True, cwd="/", user=user, group=user, extra_groups=[],
                          timeout=DEADLINE_SECONDS)
    return json.loads(done.stdout)


def words(document):
    process, = document["processes"]
    return process["command"], process["hidden"]


def snapshot(shared, user):
    status, body = ask(shared, "/api/v1/snapshot", user)
    assert status == 200
    return json.loads(body)


def test_the_socket_tells_a_user_their_own_words_and_nobody_elses(shared, daemon):
    assert words(daemon.document("/api/v1/snapshot")) == (None, True)
    command, hidden = words(snapshot(shared, OWNER))
    assert "demo" in command and hidden is False
    assert words(snapshot(shared, STRANGER)) == (None, True)
    assert "demo" in words(snapshot(shared, 0))[0], "root reads every segment anyway"
    status, body = ask(shared, "/api/v1/events", OWNER)
    assert status == 404 and "TCP" in body
    assert ask(shared, "/api/v1/snapshot", OWNER, "POST")[0] == 405


@pytest.fixture
def own_daemon(shared):
    """Of the user whose words they are; the workload begins while it looks."""
    running = Daemon(os.path.dirname(shared), user=OWNER)
    with subprocess.Popen([TTMEM, "demo", "--hold", "600"], stdout=subprocess.PIPE, cwd="/", user=OWNER, group=OWNER,
                          extra_groups=[]) as demo:
        eventually(lambda: "from_torch" in over_tcp(running, "/api/v1/log", OWNER))
        yield running
        demo.kill()
    running.stop()


def over_tcp(daemon, path, user):
    """The body, or the first message of a stream."""
    done = subprocess.run(["python3", "-c", OVER_TCP, daemon.host, str(daemon.port), path], text=True,
                          capture_output=True, check=True, cwd="/", user=user, group=user, extra_groups=[],
                          timeout=DEADLINE_SECONDS)
    return done.stdout


def words_in(value):
    """Every word that is nobody else's business."""
    if isinstance(value, list):
        return [word for each in value for word in words_in(each)]
    if not isinstance(value, dict):
        return []
    own = [value[name] for name in ("line", "stack", "region", "command", "path") if value.get(name)]
    return own + words_in(list(value.values()))


@pytest.mark.parametrize("path", ["snapshot", "processes", "holdings", "origins?by=region", "log", "leaks",
                                  "events", "events?brief=1"])
def test_a_daemon_tells_its_own_users_words_to_nobody_else(own_daemon, path):
    def told(user):
        text = over_tcp(own_daemon, f"/api/v1/{path}", user)
        if path.startswith("events"):
            text = text[text.index("data:") + len("data:"):]
        return words_in(json.loads(text))

    if path not in ("leaks", "events?brief=1"):  # they have no words of this workload
        assert told(OWNER)
    assert told(STRANGER) == []


def test_what_has_no_words_is_as_fresh_for_others(own_daemon):
    def looks():
        time.sleep(0.15)  # an answer may be 100 ms old
        text = over_tcp(own_daemon, "/metrics", STRANGER)
        return float(re.search(r"^ttmem_self_refreshes_total (\S+)$", text, re.MULTILINE)[1])

    seen = [looks() for _ in range(8)]
    assert all(b > a for a, b in zip(seen, seen[1:]))


def test_a_strangers_stream_has_no_words_in_what_changes(own_daemon):
    whole = OVER_TCP.replace("        break\n", "        sys.stdout.flush()\n")
    with subprocess.Popen(["python3", "-c", whole, own_daemon.host, str(own_daemon.port), "/api/v1/events"],
                          stdout=subprocess.PIPE, cwd="/", user=STRANGER, group=STRANGER, extra_groups=[],
                          text=True) as reader:
        messages = (json.loads(line.removeprefix("data:")) for line in reader.stdout if line.startswith("data:"))
        seen = [next(messages)]
        with subprocess.Popen([TTMEM, "demo", "--hold", "600"], stdout=subprocess.PIPE, cwd="/", user=OWNER,
                              group=OWNER, extra_groups=[]) as demo:
            while seen[-1].get("event") != "program_loaded":
                seen.append(next(messages))
            demo.kill()
        reader.kill()
    assert {"snapshot", "delta", "event"} <= {each["document"] for each in seen}
    assert words_in(seen) == []


def test_a_recording_tells_no_words_to_others(shared):
    file = os.path.join(shared, "evening.ttmrec")
    subprocess.run([TTMEM, "record", "-o", file, "--duration", "1"], check=True, capture_output=True, cwd="/", user=OWNER,
                   group=OWNER, extra_groups=[])
    replay = Daemon(os.path.dirname(shared), "--from", file, user=OWNER)
    for path in ("snapshot", "holdings", "log"):
        assert words_in(json.loads(over_tcp(replay, f"/api/v1/{path}", STRANGER))) == []
    assert words_in(json.loads(over_tcp(replay, "/api/v1/snapshot", OWNER)))
    replay.stop()


def test_status_asks_over_the_socket(shared, daemon):
    def status_of(user, **environment):
        done = subprocess.run([TTMEM, "status", "--json"], capture_output=True, text=True, check=False, cwd="/",
                              user=user, group=user, extra_groups=[], env={**os.environ, **environment})
        return json.loads(done.stdout)["processes"]

    assert status_of(STRANGER, TTMEM_SERVE="off") == []
    told, = status_of(STRANGER)
    assert told["hidden"] is True and told["command"] is None
    assert told["sources"][-1] == "daemon"


def test_the_token_sees_everything(shared, daemon):
    def asked(token):
        _, _, body = daemon.ask("/api/v1/snapshot", headers={"Authorization": f"Bearer {token}"})
        return words(json.loads(body))

    assert "demo" in asked("0123456789abcdef0123456789abcdef")[0]
    assert asked("0123456789abcdef0123456789abcdee") == (None, True)


def cookie_of(shared, daemon, user):
    link = json.loads(ask(shared, "/api/v1/link", user)[1])["link"]
    _, headers, _ = daemon.ask(link.removeprefix(f"http://{daemon.host}:{daemon.port}"))
    return headers["Set-Cookie"].split(";")[0]


@contextlib.contextmanager
def streaming(daemon, cookie):
    """(status, messages) of a stream."""
    connection = http.client.HTTPConnection(daemon.host, daemon.port, timeout=DEADLINE_SECONDS)
    connection.request("GET", "/api/v1/events", headers={"Cookie": cookie})
    answer = connection.getresponse()
    yield answer.status, (json.loads(line.removeprefix(b"data:")) for line in answer if line.startswith(b"data:"))
    answer.close()
    connection.close()


def test_a_stream_has_the_words_of_who_proved_to_be_their_user(shared, daemon):
    with streaming(daemon, cookie_of(shared, daemon, STRANGER)) as (_, messages):
        assert words(next(messages)) == (None, True)
    with streaming(daemon, cookie_of(shared, daemon, OWNER)) as (_, messages):
        assert "demo" in words(next(messages))[0]
        with subprocess.Popen([TTMEM, "demo", "--hold", "600"], stdout=subprocess.PIPE, cwd="/", user=OWNER,
                              group=OWNER, extra_groups=[]) as demo:
            told = next(each for each in messages if each.get("region"))
            demo.kill()
        assert told["document"] == "event" and told["pid"] == demo.pid


def test_streams_of_a_few_users_at_a_time_and_answers_for_all(shared, daemon):
    users = range(60_000, 60_005)
    with contextlib.ExitStack() as open_streams:
        for user in users[:4]:
            status, messages = open_streams.enter_context(streaming(daemon, cookie_of(shared, daemon, user)))
            assert (status, next(messages)["document"]) == (200, "snapshot")
        with streaming(daemon, cookie_of(shared, daemon, users[4])) as (status, _):
            assert status == 503
        for user in range(60_000, 60_010):
            assert words(snapshot(shared, user)) == (None, True)
        again, messages = open_streams.enter_context(streaming(daemon, cookie_of(shared, daemon, users[0])))
        assert (again, next(messages)["document"]) == (200, "snapshot")

    def is_let_in():
        with streaming(daemon, cookie_of(shared, daemon, users[4])) as (status, _):
            return status == 200

    eventually(is_let_in)


def test_a_link_works_once_and_stands_for_its_user(shared, daemon):
    link = json.loads(ask(shared, "/api/v1/link", OWNER)[1])["link"]
    path = link.removeprefix(f"http://{daemon.host}:{daemon.port}")
    assert path != link
    status, headers, _ = daemon.ask(path)
    assert (status, headers["Location"]) == (303, "/")
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    _, _, body = daemon.ask("/api/v1/snapshot", headers={"Cookie": "a=b; " + cookie.split(";")[0]})
    assert "demo" in words(json.loads(body))[0]
    assert daemon.error(path)[0] == 403, "it works once"
    assert daemon.error("/enter?key=0")[0] == 403
    _, _, body = daemon.ask("/api/v1/snapshot", headers={"Cookie": "ttmem_session=0"})
    assert words(json.loads(body)) == (None, True)


def test_open_fetches_a_link_of_the_daemon_that_runs(shared, daemon, tmp_path, monkeypatch):
    (tmp_path / "xdg-open").write_text(f"#!/bin/sh\necho \"$1\" > {tmp_path}/asked.part\n"
                                       f"mv {tmp_path}/asked.part {tmp_path}/asked\n")
    (tmp_path / "xdg-open").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    done = subprocess.run([TTMEM, "serve", "--open"], capture_output=True, text=True, check=False)
    assert done.returncode == 4
    eventually((tmp_path / "asked").exists)
    assert (tmp_path / "asked").read_text().startswith(f"http://{daemon.host}:{daemon.port}/enter?key=")


def test_a_socket_that_was_left_behind_is_replaced(shared, daemon, tmp_path):
    daemon.kill()
    assert os.path.exists(os.path.join(shared, "serve.sock"))
    again = Daemon(str(tmp_path))
    try:
        assert "cannot listen" not in again.log()
        assert snapshot(shared, OWNER)["processes"]
    finally:
        again.stop()
    assert not os.path.exists(os.path.join(shared, "serve.sock"))
