# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Who proves who they are is told their own words: over the UNIX socket, by a link that works once, or with the
administrator's token. Everybody else sees what is held, and whose it is, and no words."""

import json
import os
import subprocess

import pytest

from daemon import Daemon
from support.built import TTMEM
from support.waiting import DEADLINE_SECONDS, eventually

OWNER, STRANGER = 65534, 65533
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
