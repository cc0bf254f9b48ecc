# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The lines of docs/http.md do what they say, and the pages know the same paths as the server."""

import json
import os
import re
import shutil
import subprocess

import pytest

from daemon import workload
from support import built
from support.waiting import DEADLINE_SECONDS, eventually

DOCS = os.path.join(built.SOURCE, "docs")


def read(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as file:
        return file.read()


def curl_lines():
    block = re.search(r"```sh\n(.*?)```", read("http.md"), re.DOTALL).group(1)
    return block.splitlines()


def run(line):
    return subprocess.run(["bash", "-c", line + " --fail"], capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)


def test_the_curl_lines(daemons):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    lines = curl_lines()
    assert len(lines) == 22
    daemon = daemons()
    with workload("--devices", "2"):
        eventually(lambda: daemon.document("/api/v1/processes")["processes"])
        for line in lines:
            assert line.startswith("curl -s ")
            command = line.replace("127.0.0.1:7171", f"{daemon.host}:{daemon.port}")
            if "/events" in line:  # a second of a stream that never ends, in which a busy machine may get nowhere
                eventually(lambda: (done := run(command)).returncode == 28 and "event: snapshot\ndata: {" in done.stdout)
                continue
            done = run(command)
            assert done.returncode == 0, (line, done.stderr)
            if "-I" in line:
                assert done.stdout.startswith("HTTP/1.1 200 OK")
            elif "/metrics" in line:
                assert "ttmem_memory_bytes" in done.stdout
            else:
                assert json.loads(done.stdout)["schema"] == 1


def test_all_pages_name_the_same_paths(daemons):
    told = set(re.findall(r"^\| `(/[^`?]*)`", read("http.md"), re.MULTILINE))
    specified = set(re.findall(r"^  (/[^:]*):\n    get:$", read("openapi.yaml"), re.MULTILINE))
    assert told == specified
    told_to_send = {path.replace("KEY", "{key}") for path in re.findall(r"`POST (/[^`? ]*)", read("http.md"))}
    assert told_to_send == set(re.findall(r"^  (/[^:]*):\n(?:    get:\n(?:      .*\n)+)?    post:$", read("openapi.yaml"), re.MULTILINE))
    daemon = daemons()
    listed = daemon.ask("/api")[2].decode().replace("ID", "{id}")
    assert [path for path in told - {"/", "/api"} if not re.search(rf">{re.escape(path)}[<,]", listed)] == []
    with workload():
        eventually(lambda: daemon.document("/api/v1/processes")["processes"])
        # Of explanations there are none where nothing failed, and no fleet without an engine.
        for path in ("/api/v1/explain", "/api/v1/fleet"):
            assert daemon.ask(path)[0] == 404
        for path in told - {"/api/v1/events", "/api/v1/explain", "/api/v1/fleet"}:
            id = "all" if "/programs/" in path else "0"
            assert daemon.ask(path.replace("{id}", id))[0] == 200, path
