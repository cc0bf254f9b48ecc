# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A recording that is dropped on the page goes to one's own daemon, and is removed there afterwards."""

import base64
import glob
import http.client
import json
import os
import socket
import urllib.parse

import pytest
from daemon import Daemon
from support import command
from support.waiting import DEADLINE_SECONDS

DRAG = """await page.evaluate(() => {
  const files = new DataTransfer();
  files.items.add(new File(['x'], 'x.ttm'));
  document.body.dispatchEvent(new DragEvent('dragover', { dataTransfer: files, bubbles: true, cancelable: true }));
})"""
DROP = """await page.evaluate(({ name, data }) => {
  const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
  const files = new DataTransfer();
  files.items.add(new File([bytes], name));
  document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }));
}, argument)"""


def drop(tab, name, data):
    """As a person does: drags it over the page until that says what to do, and lets go."""
    def asks():
        tab.run(DRAG)
        return tab.count('[data-banner="drop"]') == 1
    tab.until(asks, "the page wants the file")
    tab.run(DROP, {"name": name, "data": data})


@pytest.fixture
def recorded(tmp_path):
    file = tmp_path / "busy night.ttm"
    with command.workload("--scenario", "busy", "--devices", "2"):
        command.text("record", "-o", str(file), "--duration", "1.5")
    return file


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A daemon of one's own, whose files lie where nobody else looks."""
    place = tmp_path / "dropped"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    daemon = Daemon(str(tmp_path))
    daemon.place = place
    yield daemon
    assert daemon.stop() == 0
    assert list(place.iterdir()) == [], "nothing is left"


def ask_locally(method, path, body=None):
    """Over the UNIX socket, where the kernel says who asks."""
    connection = http.client.HTTPConnection("localhost", timeout=DEADLINE_SECONDS)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(os.path.join(os.environ["TTMEM_DIR"], "serve.sock"))
    try:
        connection.request(method, path, body=body)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def link():
    """What `ttmem serve --open` fetches: it says, once, who asks."""
    return urllib.parse.urlsplit(ask_locally("GET", "/api/v1/link")[1]["link"])


def prove(daemon):
    """The cookie of the daemon's own user."""
    entered = link()
    _, headers, _ = daemon.ask(f"{entered.path}?{entered.query}")
    return headers["Set-Cookie"].split(";")[0]


def post(daemon, path, body=b"", **headers):
    connection = http.client.HTTPConnection(daemon.host, daemon.port, timeout=DEADLINE_SECONDS)
    try:
        connection.request("POST", path, body=body or None, headers={"Origin": f"http://{daemon.host}:{daemon.port}", **headers})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def base64_of(file):
    return base64.b64encode(file.read_bytes()).decode()


def test_a_dropped_file_is_shown_with_a_bar_of_time(chromium, mine, recorded):
    tab = chromium.fresh(mine)
    entered = link()
    tab.open(f"{entered.path}?{entered.query}")
    drop(tab, recorded.name, base64_of(recorded))
    tab.until(lambda: tab.count(".time-bar") == 1 and "busy_night.ttm" in tab.text(".time-bar"), "the recording")
    key = urllib.parse.parse_qs(urllib.parse.urlsplit(tab.path()).query)["recording"][0]
    there, = glob.glob(str(mine.place / "*" / "*"))
    assert os.stat(there).st_size == recorded.stat().st_size and os.stat(os.path.dirname(there)).st_mode & 0o077 == 0
    told = command.document("status", "--from", str(recorded), "--json")
    tab.until(lambda: tab.count("article.card") == 2)
    for device in told["devices"]:
        tab.until(lambda: tab.figures(f'article[data-device="{device["id"]}"]')["dram.taken"] == device["dram"]["taken"])
    tab.press("3")
    tab.until(lambda: f"recording={key}" in tab.path(), "it stays from view to view")
    tab.until(lambda: tab.rows("holdings"))
    tab.click('button:has-text("Close the recording")')
    tab.until(lambda: tab.count(".time-bar") == 0 and "recording" not in tab.path(), "the present again")
    tab.until(lambda: list(mine.place.iterdir()) == [], "it is removed")
    assert tab.wrongs() == []


def test_what_is_no_recording_is_said(chromium, mine):
    tab = chromium.fresh(mine)
    entered = link()
    tab.open(f"{entered.path}?{entered.query}")
    drop(tab, "<img src=x>.ttm", "aGVsbG8=")
    tab.until(lambda: "no recording of ttmem" in tab.text('[data-banner="refused"]'))
    assert tab.count("main img") == 0
    tab.until(lambda: list(mine.place.iterdir()) == [], "it is removed")


def test_a_recording_that_the_daemon_keeps_is_picked(chromium, tmp_path):
    daemon = Daemon(str(tmp_path), "--recording", str(tmp_path / "hour.ttm"))
    try:
        with command.workload("--devices", "1"):
            tab = chromium.fresh(daemon)
            entered = link()
            tab.open(f"{entered.path}?{entered.query}")
            tab.open("/recordings")
            tab.click('button:has-text("Open")')
            tab.until(lambda: tab.count(".time-bar") == 1 and "hour.ttm" in tab.text(".time-bar"))
            assert tab.wrongs() == []
        assert post(daemon, "/api/v1/recordings?kept=/etc/passwd", Cookie=prove(daemon))[0] == 404
    finally:
        daemon.stop()


def test_only_the_daemons_own_user_opens_anything(mine, recorded):
    status, answer = post(mine, "/api/v1/recordings?name=a")
    assert status == 403 and "serve --open" in answer["error"]["message"]
    assert post(mine, "/api/v1/recordings", Cookie="ttmem_session=0")[0] == 403
    cookie = prove(mine)
    assert post(mine, "/api/v1/recordings", Cookie=cookie, Origin="http://evil.example")[0] == 403
    assert mine.ask("/api/v1/recordings", method="POST", headers={"Cookie": cookie})[0] == 403, "a page says whose it is"
    assert mine.ask("/api/v1/recordings", method="PUT", headers={"Cookie": cookie})[0] == 405
    assert list(mine.place.iterdir()) == []
    status, answer = post(mine, "/api/v1/recordings?name=../../x", Cookie=cookie)
    assert status == 200
    there, = glob.glob(str(mine.place / "*" / "*"))
    assert os.path.basename(there) == "recording.._.._x"
    key = answer["key"]
    assert post(mine, f"/api/v1/recordings/{key}?offset=7", b"x", Cookie=cookie)[0] == 409
    assert post(mine, f"/api/v1/recordings/{key}?offset=0", b"x" * 65537, Cookie=cookie)[0] == 413
    assert post(mine, f"/api/v1/recordings/{key}?offset=0", b"x", Cookie="")[0] == 403
    data = recorded.read_bytes()
    for offset in range(0, len(data), 65536):
        status, told = post(mine, f"/api/v1/recordings/{key}?offset={offset}", data[offset:offset + 65536], Cookie=cookie)
        assert status == 200 and told["bytes"] == min(len(data), offset + 65536)
    shown = f"/api/v1/snapshot?recording={key}"
    assert mine.ask(shown)[0] == 403, "others do not see it"
    assert mine.ask(shown, headers={"Cookie": cookie})[0] == 200
    # Nothing that is only asked for closes or changes it.
    assert mine.ask(f"/api/v1/recordings/{key}/close", headers={"Cookie": cookie})[0] == 404
    assert mine.ask(shown, headers={"Cookie": cookie})[0] == 200
    for _ in range(3):
        assert post(mine, "/api/v1/recordings", Cookie=cookie)[0] == 200
    assert len(list(mine.place.iterdir())) == 2, "two at a time: the oldest are closed"
    assert mine.ask(shown, headers={"Cookie": cookie})[0] == 404


def test_the_unix_socket_needs_no_cookie(mine, recorded):
    status, answer = ask_locally("POST", "/api/v1/recordings?name=night.ttm")
    assert (status, answer["bytes"]) == (200, 0)
    place = f"/api/v1/recordings/{answer['key']}"
    data = recorded.read_bytes()
    for offset in range(0, len(data), 65536):
        status, told = ask_locally("POST", f"{place}?offset={offset}", data[offset:offset + 65536])
    assert (status, told["bytes"]) == (200, len(data))
    status, shown = ask_locally("GET", f"/api/v1/snapshot?recording={answer['key']}&at=end")
    assert status == 200
    assert shown["devices"] == command.document("status", "--from", str(recorded))["devices"]
    assert ask_locally("POST", place + "/close") == (200, {"closed": True})
    assert ask_locally("POST", "/api/v1/snapshot")[0] == 405, "nothing else can be sent"
    status, answer = ask_locally("GET", "/api/v1/fleet")
    assert status == 404 and "--fleet" in answer["error"]["message"], "the fleet is asked for here too"
    assert mine.document("/healthz")["status"] == "ok"


def test_the_daemon_of_a_host_takes_no_files(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o3777)
    monkeypatch.setenv("TTMEM_DIR", str(shared))
    daemon = Daemon(str(tmp_path))
    try:
        status, answer = post(daemon, "/api/v1/recordings", Cookie=prove(daemon))
        assert status == 403 and "serve --from" in answer["error"]["message"]
        assert ask_locally("POST", "/api/v1/recordings")[0] == 403
    finally:
        daemon.stop()
