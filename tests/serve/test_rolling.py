# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem serve --recording`: the last minutes are there when somebody asks."""

import os
import signal
import socket
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


def test_a_daemon_that_cannot_serve_leaves_what_was_recorded(tmp_path):
    """Else one that is started again and again would push all of it out."""
    file = tmp_path / "rolling.ttm"
    file.write_text("what was recorded before")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = refused(str(tmp_path), "--recording", str(file), "--history", "off", "--legacy-socket", "off",
                             "--http", f"127.0.0.1:{taken.getsockname()[1]}")
    assert code == 4 and "cannot listen" in said
    assert [each.name for each in tmp_path.iterdir() if "rolling" in each.name] == ["rolling.ttm"]
    assert file.read_text() == "what was recorded before"


def test_a_daemon_without_one_says_so(daemons):
    document = daemons().document("/api/v1/recordings")
    assert document["recordings"] == [] and document["events"] is None


def test_settings_that_make_no_sense_are_refused(tmp_path):
    for name, value in (("minutes", "0"), ("minutes", "soon"), ("size", "1K"), ("size", "1X")):
        code, said = refused(str(tmp_path), "--recording", "r.ttm", f"--recording-{name}", value)
        assert code == 2 and f"recording-{name}" in said


def test_a_folder_is_no_recording_and_stays_as_it_is(tmp_path):
    folder = tmp_path / "recordings"
    folder.mkdir()
    (folder / "kept").write_text("of the user")
    code, said = refused(str(tmp_path), "--recording", str(folder))
    assert code == 2 and "a file, not a folder" in said
    assert [each.name for each in tmp_path.iterdir() if "recordings" in each.name] == ["recordings"]
    assert (folder / "kept").read_text() == "of the user"


def test_a_folder_in_the_place_of_an_older_part_is_not_renamed(tmp_path, daemons):
    (tmp_path / "r.ttm.1").mkdir()
    running = daemons("--recording", str(tmp_path / "r.ttm"))
    assert running.document("/api/v1/recordings")["recordings"] == []
    assert "it is a folder" in running.log() and (tmp_path / "r.ttm.1").is_dir() and not (tmp_path / "r.ttm.2").exists()
