# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem serve --from`: the documents of a recording, at any moment of it."""

import urllib.parse

import pytest

from daemon import Daemon
from support import command
from support.waiting import eventually


@pytest.fixture
def recording(tmp_path):
    """Some seconds of a busy workload, that ends before the recording does."""
    file = str(tmp_path / "busy.ttm")
    with command.workload("--scenario", "busy", "--devices", "2"):
        command.text("record", "-o", file, "--duration", "1.5")
    return file


@pytest.fixture
def past(recording, tmp_path):
    daemon = Daemon(str(tmp_path), "--from", recording)
    yield daemon
    daemon.stop()


def at(path, moment):
    return f"{path}?at={urllib.parse.quote(str(moment))}"


def test_every_document_is_that_of_the_command_at_that_moment(recording, past):
    about = past.document("/api/v1/recording")
    middle = (about["first_ns"] + about["last_ns"]) // 2
    for moment in ("start", middle, "end", "peak", "+0.4"):
        told = past.document(at("/api/v1/snapshot", moment))
        shown = command.document("status", "--from", recording, "--at", str(moment))
        assert told == shown
        programs = past.document(at("/api/v1/programs", moment))
        assert programs["time_ns"] == told["time_ns"]
        holdings = past.document(at("/api/v1/holdings", moment) + "&limit=10000")["holdings"]
        assert holdings == command.document("dump", "--from", recording, "--at",
                                            str(moment))["holdings"]
    for name in ("devices/0", "devices/0/cores", "devices/0/banks", "devices/0/rings", "processes",
                 "origins", "failures", "log"):
        assert past.document(at(f"/api/v1/{name}", middle))["time_ns"] == middle, name


def test_two_readers_at_different_moments_do_not_disturb_each_other(past):
    early = past.document(at("/api/v1/snapshot", "start"))
    late = past.document("/api/v1/snapshot")
    assert early["time_ns"] < late["time_ns"]
    assert past.document(at("/api/v1/snapshot", "start")) == early
    assert past.document("/api/v1/snapshot") == late


def test_marks_name_the_peak_and_whoever_goes_there_sees_it(past):
    about = eventually(lambda: (document := past.document("/api/v1/recording"))["marks"]
                       and document)
    peaks = {mark["space"]: mark for mark in about["marks"] if mark["kind"] == "peak"}
    for space in ("dram", "l1"):
        devices = past.document(at("/api/v1/snapshot", peaks[space]["time_ns"]))["devices"]
        assert sum(device[space]["taken"] for device in devices) == peaks[space]["bytes"]
        assert max(about["curve"]["most"][space]) == peaks[space]["bytes"]
    assert about["first_ns"] <= peaks[None]["time_ns"] <= about["last_ns"]


def test_a_stream_gives_the_snapshot_of_its_moment(past):
    reader = past.stream(query="?at=start&cores=1")
    reader.until(lambda each: each.levels)
    reader.close()
    assert reader.snapshot == past.document(at("/api/v1/snapshot", "start"))


def test_the_history_is_what_a_daemon_would_have_kept(past):
    eventually(lambda: past.ask("/api/v1/history")[0] == 200)
    answer = past.document("/api/v1/history?metric=dram.taken&device=0&from=-1m")
    assert any(point for series in answer["series"] for point in series["last"])


def test_moments_that_are_none_are_refused(past):
    for moment, status in (("yesterday", 400), ("+3600", 404), ("failure", 404)):
        assert past.ask(at("/api/v1/snapshot", moment))[0] == status
    assert past.ask("/metrics")[0] == 404


def test_a_file_that_is_no_recording_is_refused(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("nothing")
    done = command.run("serve", "--from", str(file))
    assert done.returncode == 1
    assert "no recording" in done.stderr


def test_the_present_is_no_recording(daemons):
    assert daemons().document("/api/v1/recording")["file"] is None
