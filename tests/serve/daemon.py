# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A running `ttmem serve`, a workload to look at, and ways to ask over HTTP."""

import concurrent.futures
import contextlib
import copy
import http.client
import json
import os
import re
import socket
import subprocess
import threading

from support import command
from support.built import TTMEM
from support.waiting import DEADLINE_SECONDS, eventually

ADDRESS = re.compile(r"listening on http://([\d.]+):(\d+)")


class Daemon:
    def __init__(self, folder, *options, http="127.0.0.1:0", legacy="off", history="memory",
                 user=None, **environment):
        self.folder = folder
        self.credentials = {} if user is None else {"user": user, "group": user, "extra_groups": [], "cwd": "/"}
        self.options = ["--http", http, "--legacy-socket", legacy, *options]
        if history is not None:  # None: left to other settings
            self.options += ["--history", history]
        self.environment = {**os.environ, **environment}
        self.host, self.port = "127.0.0.1", 0
        self.start()

    def launch(self):
        self.log_path = os.path.join(self.folder, "daemon.log")
        self.out_path = os.path.join(self.folder, "daemon.out")
        self.log_begin = os.path.getsize(self.log_path) if os.path.exists(self.log_path) else 0
        with open(self.log_path, "ab") as log, open(self.out_path, "ab") as out:
            self.process = subprocess.Popen([TTMEM, "serve", *self.options], stdout=out, stderr=log,
                                            env=self.environment, **self.credentials)

    def start(self):
        self.launch()
        if "off" != self.options[1]:
            found = eventually(self.address)
            self.host, self.port = found.group(1), int(found.group(2))
            if "off" != self.options[3]:  # it opens that socket a moment later, and says how it went
                eventually(lambda: "clients of the original are" in self.log())

    def address(self):
        assert self.process.poll() is None, self.log()
        return ADDRESS.search(self.log())

    def log(self):
        with open(self.log_path, encoding="utf-8") as file:
            file.seek(self.log_begin)
            return file.read()

    def output(self):
        with open(self.out_path, encoding="utf-8") as file:
            return file.read()

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(DEADLINE_SECONDS)

    # ---- asking ---------------------------------------------------------------------------------

    def ask(self, path, method="GET", headers=None):
        """(status, headers, body) of one request on a connection of its own."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=DEADLINE_SECONDS)
        try:
            connection.request(method, path, headers=headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def document(self, path):
        """Asks again while the daemon says that it is busy."""
        status, headers, body = eventually(lambda: (answer := self.ask(path))[0] != 503 and answer)
        assert status == 200, (path, status, body)
        assert headers["Content-Type"] == "application/json"
        return json.loads(body)

    def self_figure(self, name):
        """What /metrics says of the daemon itself: ttmem_self_<name>."""
        return float(re.search(rf"^ttmem_self_{name} (\S+)$", self.ask("/metrics")[2].decode(), re.MULTILINE)[1])

    def catch_up(self):
        """Waits until it began and ended a look at its sources: an answer may be 100 ms old, and have half
        of what was recorded by now."""
        before = self.document("/healthz")["self"]["refreshes"]

        def looked():
            self.ask("/api/v1/snapshot")  # whoever asks makes it look
            return self.document("/healthz")["self"]["refreshes"] >= before + 2
        eventually(looked, "the daemon looks at its sources")

    def error(self, path, method="GET", headers=None):
        """(status, message) of a request that is refused."""
        status, _, body = self.ask(path, method, headers)
        error = json.loads(body)["error"]
        assert error["status"] == status >= 400
        return status, error["message"]

    def socket(self):
        return socket.create_connection((self.host, self.port), timeout=DEADLINE_SECONDS)

    def raw(self, data):
        """Everything that comes back for these bytes until the daemon closes."""
        with self.socket() as connection:
            connection.sendall(data)
            return receive_all(connection)

    def stream(self, last=None, query=""):
        return Stream(self, last, query)


def receive_all(connection):
    data = b""
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            data += piece
    return data


def without_times(value):
    """Two readers tell the same moment to some nanoseconds: everything but the times."""
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items()
                if not name.endswith("_ns")}
    return [without_times(each) for each in value] if isinstance(value, list) else value


class Stream:
    """A reader of /api/v1/events that keeps a snapshot up to date by itself."""

    def __init__(self, daemon, last=None, query=""):
        eventually(lambda: self.begin(daemon, last, query))
        self.last = None
        self.snapshot = None
        self.events = []
        self.all = []  # every message
        self.levels = {}

    def begin(self, daemon, last, query):
        """Whether the daemon was not too busy for it."""
        self.connection = daemon.socket()
        extra = f"Last-Event-ID: {last}\r\n" if last else ""
        self.connection.sendall(
            f"GET /api/v1/events{query} HTTP/1.1\r\nHost: localhost\r\n{extra}\r\n".encode())
        self.file = self.connection.makefile("rb")
        self.status = self.file.readline()
        self.headers = {}
        while (line := self.file.readline().strip()):
            name, value = line.decode().split(": ", 1)
            self.headers[name] = value
        if b" 503 " not in self.status:
            return True
        self.close()
        return False

    def message(self):
        """The next (event, data); comments are left out."""
        fields = {}
        while True:
            line = self.file.readline().decode()
            assert line, "the stream ended"
            line = line.rstrip("\n")
            if not line:
                if "data" in fields:
                    break
                fields = {}
            elif not line.startswith(":"):
                name, value = line.split(": ", 1)
                fields[name] = value
        self.last = fields.get("id", self.last)
        data = json.loads(fields["data"])
        self.all.append((fields["event"], data))
        self.apply(fields["event"], copy.deepcopy(data))
        return fields["event"], data

    def apply(self, event, data):
        if event == "snapshot":
            self.snapshot = data
        elif event == "event":
            self.events.append(data)
        elif event == "cores":
            self.levels.update((device["id"], device) for device in data["devices"])
        else:
            patch(self.snapshot, data)

    def until(self, condition):
        while not condition(self):
            self.message()

    def close(self):
        self.file.close()
        self.connection.close()


def merge(old, new):
    for name, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(name), dict):
            merge(old[name], value)
        elif name == "devices" and value and isinstance(value[0], dict) and old.get(name):
            known = {device["id"]: device for device in old[name]}
            for device in value:
                if device["id"] in known:
                    merge(known[device["id"]], device)
                else:
                    old[name].append(device)
        else:
            old[name] = value


def patch(snapshot, delta):
    """As docs/http.md says."""
    process_key = lambda each: (each["pid"], each["start"], each["segment"])
    device_key = lambda each: each["id"]
    for name, key in (("devices", device_key), ("processes", process_key)):
        gone = {key(each) for each in delta["gone_" + name]}
        known = {key(each): each for each in snapshot[name] if key(each) not in gone}
        for each in delta[name]:
            if key(each) in known:
                merge(known[key(each)], each)
            else:
                known[key(each)] = each
        snapshot[name] = list(known.values())
    snapshot["devices"].sort(key=device_key)
    snapshot["processes"].sort(key=lambda each: (not each["alive"], each["pid"]))
    for name in ("time_ns", "unreadable", "left_behind"):
        snapshot[name] = delta[name]


@contextlib.contextmanager
def reading(daemon):
    """Takes what a stream brings, in a thread of its own, and comes back where a busy machine made it
    so late that the daemon gave it up. Tells how many messages came so far."""
    done, came = threading.Event(), [0]

    def read():
        while not done.is_set():
            with contextlib.suppress(ConnectionError), daemon.socket() as connection:
                connection.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
                while not done.is_set() and (piece := connection.recv(1 << 20)):
                    came[0] += piece.count(b"\nevent: ")

    with concurrent.futures.ThreadPoolExecutor() as pool:
        reader = pool.submit(read)
        try:
            yield lambda: came[0]
        finally:
            done.set()
            reader.result()


@contextlib.contextmanager
def workload(*arguments):
    """`ttmem demo`, from when everything is recorded; gives its pids."""
    with command.workload(*arguments) as demo:
        yield demo.pids


def refused(folder, *options, **environment):
    """How a daemon that cannot start ends: (code, what it says)."""
    done = subprocess.run([TTMEM, "serve", *options], capture_output=True, text=True,
                          timeout=DEADLINE_SECONDS, env={**os.environ, **environment}, check=False, cwd=folder)
    return done.returncode, done.stderr


def own_address():
    """An address of this machine that is not a loopback one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return probe.getsockname()[0]
        except OSError:
            return None
