# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem serve --recording`: the last minutes are there when somebody asks."""

import os
import signal
import stat

import pytest

from daemon import Daemon, refused, workload
from support import command
from support.waiting import eventually


@pytest.fixture
def rolling(tmp_path):
    file = str(tmp_path / "rolling.ttm")
    daemon = Daemon(str(tmp_path), "--recording", file)
    yield daemon, file
    daemon.stop()


def test_what_a_process_did_is_in_the_files_that_are_listed(rolling):
    daemon, file = rolling
    with workload("--scenario", "busy") as pids:
        eventually(lambda: daemon.document("/api/v1/recordings")["events"])
    listed = daemon.document("/api/v1/recordings")["recordings"]
    assert [entry["path"] for entry in listed] == [file]
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    eventually(lambda: str(pids[0]) in command.run("status", "--from", file).stdout)


def test_a_daemon_that_starts_again_keeps_what_was_recorded(rolling):
    daemon, file = rolling
    with workload("--scenario", "busy") as pids:
        eventually(lambda: daemon.document("/api/v1/recordings")["events"])
    daemon.signal(signal.SIGTERM)
    assert daemon.process.wait() == 0
    with open(file, "rb") as recording:
        assert b"TTMEMEND" in recording.read()[-32:]
    daemon.start()
    listed = daemon.document("/api/v1/recordings")["recordings"]
    assert [entry["path"] for entry in listed] == [file, file + ".1"]
    assert str(pids[0]) in command.text("status", "--from", file + ".1", "--at", "start")


def test_a_daemon_without_one_says_so(daemons):
    document = daemons().document("/api/v1/recordings")
    assert document["recordings"] == [] and document["events"] is None


def test_settings_that_make_no_sense_are_refused(tmp_path):
    for name, value in (("minutes", "0"), ("minutes", "soon"), ("size", "1K"), ("size", "1X")):
        code, said = refused(str(tmp_path), "--recording", "r.ttm", f"--recording-{name}", value)
        assert code == 2 and f"recording-{name}" in said
