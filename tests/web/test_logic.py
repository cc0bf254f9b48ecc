# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The page's logic in node's own test runner (web/test), and whether web/built is what node makes of web/."""

import glob
import json
import os
import shutil
import subprocess

import browser
import pytest
import scenes
from support import built


@pytest.fixture
def node():
    if reason := browser.packages_missing():
        pytest.skip(reason)


def recorded(daemon, stage, path):
    """A stream of the daemon as text, and what it came to."""
    play = stage()
    stream = daemon.stream(query="?events=0&brief=1")
    scenes.model(play, chips=2)
    other = stage("other")
    other("open", count=1, first=1)
    for i in range(1, 6):
        other("allocate", id=i, address=i << 21, block=4096)
        stream.until(lambda s: s.snapshot and any(
            each["pid"] == other.pid and each["held"]["dram"] == i * 4096 * 12 for each in s.snapshot["processes"]))
    text = "".join(f"event: {event}\ndata: {json.dumps(data)}\n\n" for event, data in stream.all)
    path.write_text(json.dumps({"text": text, "last": stream.snapshot}))
    stream.close()


def test_logic(node, daemon, stage, tmp_path, monkeypatch):
    recorded(daemon, stage, tmp_path / "stream.json")
    monkeypatch.setenv("TTMEM_STREAM", str(tmp_path / "stream.json"))
    monkeypatch.setenv("TTMEM_WEB", browser.WEB)
    bundle = os.path.join(browser.WEB, "node_modules", ".bin", "rolldown")
    for source in sorted(glob.glob(os.path.join(browser.WEB, "test", "*.test.ts"))):
        target = tmp_path / (os.path.basename(source)[:-3] + ".mjs")
        subprocess.run([bundle, source, "--platform", "node", "--format", "esm", "--file", str(target)],
                       cwd=browser.WEB, check=True, capture_output=True)
    done = subprocess.run(["node", "--test", str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# fail 0" in done.stdout and "# skipped 0" in done.stdout, done.stdout


def test_what_is_committed_is_what_node_builds(node, tmp_path):
    copy = tmp_path / "ttmem"
    shutil.copytree(os.path.join(built.SOURCE, "scripts"), copy / "scripts")
    shutil.copytree(browser.WEB, copy / "web", ignore=shutil.ignore_patterns("node_modules", "built"))
    os.symlink(os.path.join(browser.WEB, "node_modules"), copy / "web" / "node_modules")
    subprocess.run([copy / "scripts" / "page"], check=True, capture_output=True)
    manifest = [(place / "web" / "built" / "MANIFEST").read_text() for place in (copy, tmp_path.__class__(built.SOURCE))]
    assert manifest[0] == manifest[1]


def test_packages_are_installed_once_however_many_ask(node, tmp_path, monkeypatch):
    """A fresh clone: the first tests that need a browser start together, and npm bears no second one beside it."""
    copy = tmp_path / "ttmem"
    shutil.copytree(os.path.join(built.SOURCE, "scripts"), copy / "scripts")
    (copy / "web").mkdir()
    (copy / "web" / "package-lock.json").write_text("{}")
    npm = tmp_path / "programs" / "npm"
    npm.parent.mkdir()
    npm.write_text(f"""#!/bin/sh
echo called >> {tmp_path}/calls
sleep 1
mkdir -p node_modules && echo {{}} > node_modules/.package-lock.json
""")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:{os.environ['PATH']}")
    askers = [subprocess.Popen([copy / "scripts" / "page", "--packages"]) for _ in range(3)]
    assert [asker.wait() for asker in askers] == [0, 0, 0]
    assert (tmp_path / "calls").read_text().splitlines() == ["called"]
