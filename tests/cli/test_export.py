# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem export`: what is held, in the formats of other tools, adds up to what `dump` says."""

import contextlib
import csv
import io
import json
import os
import pickle
import pickletools
import shutil
import sqlite3
import stat
import subprocess

import pytest

from support import command
from support.built import TTMEM
from support.stage import staged


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of each field of a protobuf message; a value is an int or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            assert key & 7 == 2
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def numbers(packed):
    at, all_of_them = 0, []
    while at < len(packed):
        value, at = varint(packed, at)
        all_of_them.append(value)
    return all_of_them


@pytest.fixture(name="held", scope="module")
def fixture_held(tmp_path_factory):
    """A recording, and the bytes of its buffers by space, over all devices."""
    os.environ["TTMEM_DIR"] = str(tmp_path_factory.mktemp("segments"))
    file = str(tmp_path_factory.mktemp("recording") / "run.ttm")
    with command.workload("--scenario", "busy", "--devices", "2"):
        command.text("record", "-o", file, "--duration", "0.2")
    sums = {}
    for holding in command.document("dump", "--kind", "buffer", "--from", file)["holdings"]:
        bytes_ = holding["taken"] * len(holding["devices"])
        sums[holding["space"]] = sums.get(holding["space"], 0) + bytes_
    assert sum(sums.values()) > 0
    return file, sums


def exported(held, form):
    done = command.run("export", "--to", form, "--from", held, "-o", "-")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_folded_lines_add_up_by_space(held):
    file, sums = held
    found = {}
    for line in exported(file, "folded").splitlines():
        way, size = line.rsplit(" ", 1)
        space = way.split(";")[0]
        found[space] = found.get(space, 0) + int(size)
    assert found == sums


def test_speedscope_has_a_profile_for_each_device_and_space(held):
    file, sums = held
    document = json.loads(exported(file, "speedscope"))
    frames = len(document["shared"]["frames"])
    found = {}
    for profile in document["profiles"]:
        assert profile["unit"] == "bytes"
        assert sum(profile["weights"]) == profile["endValue"]
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= frame < frames for way in profile["samples"] for frame in way)
        space = profile["name"].split()[-1]
        found[space] = found.get(space, 0) + profile["endValue"]
    assert found == sums


def test_pprof_has_samples_with_labels(held, tmp_path):
    file, sums = held
    path = str(tmp_path / "held.pb")
    done = command.run("export", "--to", "pprof", "--from", file, "-o", path)
    assert done.returncode == 0, done.stderr
    assert "holds one moment" in done.stderr
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with open(path, "rb") as profile:
        data = list(fields(profile.read()))
    strings = [value.decode() for number, value in data if number == 6]
    assert strings[0] == ""
    locations = {dict(fields(value))[1] for number, value in data if number == 4}
    found = {}
    for number, value in data:
        if number != 2:
            continue
        sample = list(fields(value))
        assert set(numbers(dict(sample)[1])) <= locations
        labels = {strings[pair[1]]: strings[pair[2]]
                  for pair in (dict(fields(label)) for key, label in sample if key == 3)}
        found[labels["space"]] = found.get(labels["space"], 0) + numbers(dict(sample)[2])[1]
    assert found == sums
    assert command.run("export", "--to", "pprof", "--from", file, "-o", path).returncode == 3


def test_csv_has_a_row_for_each_holding(held):
    file, sums = held
    rows = list(csv.DictReader(io.StringIO(exported(file, "csv"), newline="")))
    assert len(rows) == len(command.document("dump", "--from", file)["holdings"])
    found = {}
    for row in rows:
        if row["kind"] == "buffer":
            size = int(row["taken"]) * len(row["devices"].split())
            found[row["space"]] = found.get(row["space"], 0) + size
    assert found == sums


def exported_bytes(held, *arguments):
    done = subprocess.run([TTMEM, "export", "--from", held, "-o", "-", *arguments], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def by_space(rows):
    """The last bytes of each process, device and space, summed up by space; what is 0 left out."""
    last = {}
    for process, device, space, taken in rows:
        last[process, device, space] = taken
    sums = {}
    for (_, _, space), taken in last.items():
        sums[space] = sums.get(space, 0) + taken
    return {space: taken for space, taken in sums.items() if taken}


def held_now(file):
    """The ids of what is held at the end; those of different spaces may be the same."""
    return [holding["id"] for holding in command.document("dump", "--kind", "buffer", "--from", file)["holdings"]]


def test_perfetto_counts_to_what_is_held(held):
    file, sums = held
    tracks, interned, levels, begun, ended = {}, {}, [], 0, 0
    packets = [list(fields(value)) for number, value in fields(exported_bytes(file, "--to", "perfetto")) if number == 1]
    assert dict(packets[0])[13] == 1 and all(dict(packet)[13] == 2 for packet in packets[1:])
    for packet in map(dict, packets):
        if 60 in packet:
            track = dict(fields(packet[60]))
            tracks[track[1]] = track
            assert 5 not in track or track[5] in tracks
        for number, value in fields(packet.get(12, b"")):
            entry = dict(fields(value))
            interned[number, entry[1]] = entry[2].decode()
        if 11 in packet:
            event = dict(fields(packet[11]))
            name = tracks[event[11]][2].decode()
            if event[9] == 4 and "program" not in name:
                levels.append((tracks[event[11]][5], name.split()[1], name.split()[2], event[30]))
            begun += event[9] == 1 and name.startswith("buffers")
            ended += event[9] == 2 and name.startswith("buffers")
            assert 10 not in event or (2, event[10]) in interned
    assert by_space(levels) == sums
    assert begun - ended == len(held_now(file))
    for track in tracks.values():
        if 12 in track:  # a rank counts below a track that asks for it (11), but not below a process (3)
            assert tracks[track[5]][11] == 3 and 3 not in tracks[track[5]]


def test_chrome_json_counts_to_what_is_held(held):
    file, sums = held
    events = json.loads(exported_bytes(file, "--to", "chrome-json"))["traceEvents"]
    levels = [(event["pid"], *event["name"].split()[1:], event["args"]["bytes"]) for event in events if event["ph"] == "C"]
    assert by_space(levels) == sums
    slices = [event for event in events if event["ph"] == "X" and event["cat"].startswith("buffers")]
    assert {hex(event["args"]["id"]) for event in slices} >= set(held_now(file))
    for lane in {(event["pid"], event["tid"]) for event in slices}:
        lives = sorted((event["ts"], event["ts"] + event["dur"]) for event in slices if (event["pid"], event["tid"]) == lane)
        assert all(end <= begin + 0.001 for (_, end), (begin, _) in zip(lives, lives[1:])), "lives overlap on a lane"


def whole_numbers(exported):
    """The large ones, as they are written: an opcode, a length, the bytes."""
    steps = [(code.name, position) for code, _, position in pickletools.genops(exported)]
    return [exported[position:end] for (name, position), (_, end) in zip(steps, steps[1:]) if name == "LONG1"]


def test_pytorch_has_a_device_for_each_chip_and_space(held):
    file, sums = held
    exported = exported_bytes(file, "--to", "pytorch")
    assert max(len(told) - 2 for told in whole_numbers(exported)) <= 8, "a browser adds no longer numbers"
    snapshot = pickle.loads(exported)
    legend = snapshot["allocator_settings"]
    assert len(snapshot["device_traces"]) == sum(name.startswith("device ") for name in legend)
    found = {}
    for segment in snapshot["segments"]:
        assert sum(block["size"] for block in segment["blocks"]) == segment["total_size"]
        assert segment["address"] >> 40 == segment["device"]
        name, banks = legend[f"device {segment['device']}"], legend[f"banks of device {segment['device']}"]
        held_bytes = sum(block["size"] for block in segment["blocks"]
                         if block["state"] == "active_allocated" and not block["frames"][0]["name"].startswith("program "))
        space = name.split(", ")[-1]
        found[space] = found.get(space, 0) + held_bytes * banks
    assert {space: size for space, size in found.items() if size} == sums
    for trace in snapshot["device_traces"]:
        for event in trace:
            assert event["frames"] and all(isinstance(frame["line"], int) for frame in event["frames"])


def test_visualizer_has_the_line_and_the_operation_of_a_failure(tmp_path):
    """The tool names an operation by the first line of its trace, which ttnn writes innermost first."""
    def frames(line):
        return [["model/main.py", 5, "main"], ["model/mlp.py", line, "forward"]]

    with staged() as play:
        play("open")
        for number in (1, 2):
            play("stand", frames=frames(20 + number), operation="ttnn.ones")
            play("allocate", id=number, address=(2 + number) << 20, block=1 << 20)
        play("stand", frames=frames(22), operation="ttnn.ones")
        play("fail", message="Out of Memory: Not enough space\nto allocate", requested=99, per_bank=9)
        for form, name in (("ttnn-visualizer", "db.sqlite"), ("perfetto", "trace")):
            done = command.run("export", "--to", form, "-o", str(tmp_path / name))
            assert done.returncode == 0, done.stderr
    with contextlib.closing(sqlite3.connect(tmp_path / "db.sqlite")) as database:
        operations = database.execute("select operation_id, name from operations").fetchall()
        traces = dict(database.execute("select operation_id, stack_trace from stack_traces"))
        errors = database.execute("select operation_id, operation_name, stack_trace, error_message from errors").fetchall()
    assert [name for _, name in operations] == ["ttnn.ones", "ttnn.ones", "ttnn.ones", "(held at the end)"]
    assert traces[1] == '  File "model/mlp.py", line 21, in forward\n  File "model/main.py", line 5, in main\n'
    assert errors == [(3, "ttnn.ones", traces[2], "Out of Memory: Not enough space\nto allocate")]
    trace = (tmp_path / "trace").read_bytes()
    assert b"failed: out_of_memory" in trace and trace.count(b"model/mlp.py:22 forward") == 2


def test_visualizer_has_as_many_operations_as_it_says(tmp_path):
    """What came and went again takes no room in the operations after it."""
    with staged() as play:
        play("open")
        for number in range(2100):
            play("push", name=f"ttnn.op{number % 2}", line="model/mlp.py:7 forward")
            play("allocate", id=number, address=(1 + number % 2) << 20, block=1 << 20)
            play("pop")
            if number > 0:
                play("free", id=number - 1)
        done = command.run("export", "--to", "ttnn-visualizer", "-o", str(tmp_path / "db.sqlite"))
    assert "the last 2000 operations are in it; 100 older ones are left out" in done.stderr
    with contextlib.closing(sqlite3.connect(tmp_path / "db.sqlite")) as database:
        (operations,), = database.execute("select count(*) from operations")
        (rows,), = database.execute("select count(*) from buffers")
    assert operations == 2001 and 2000 <= rows <= 4001


def test_tables_of_events_and_series(held):
    file, sums = held
    rows = list(csv.DictReader(io.StringIO(exported_bytes(file, "--to", "csv", "--table", "series").decode(), newline="")))
    assert by_space((row["pid"], row["device"], row["space"], int(row["taken"])) for row in rows) == sums
    events = list(csv.DictReader(io.StringIO(exported_bytes(file, "--to", "csv", "--table", "events").decode(), newline="")))
    told = command.text("events", "--json", "--from", file).splitlines()
    assert [row["event"] for row in events] == [json.loads(line)["event"] for line in told]


def test_parquet_is_framed_as_such(held):
    file, _ = held
    data = exported_bytes(file, "--to", "parquet")
    assert data[:4] == data[-4:] == b"PAR1"
    assert b"since_ns" in data[-8 - int.from_bytes(data[-8:-4], "little"):]


def test_tables_go_with_csv_and_parquet(tmp_path):
    done = command.run("export", "--to", "pprof", "--table", "events", "-o", str(tmp_path / "x"))
    assert done.returncode == 2 and "csv" in done.stderr


def test_what_fails_leaves_no_file(tmp_path):
    path = tmp_path / "x"
    done = command.run("export", "--to", "perfetto", "--from", str(tmp_path / "none.ttm"), "-o", str(path))
    assert done.returncode == 1
    assert not path.exists()
    os.symlink(tmp_path / "target", tmp_path / "link")
    assert command.run("export", "--to", "csv", "--force", "-o", str(tmp_path / "link")).returncode == 3
    assert not (tmp_path / "target").exists()


def test_what_fails_leaves_the_file_that_was_there(tmp_path):
    path = tmp_path / "x"
    path.write_text("mine")
    done = command.run("export", "--to", "csv", "--from", str(tmp_path / "none.ttm"), "-o", str(path), "--force")
    assert done.returncode == 1
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["x"]


def test_what_is_read_is_never_replaced(held, tmp_path):
    file = tmp_path / "run.ttm"
    shutil.copy(held[0], file)
    recording = file.read_bytes()
    for words in (("export", "--to", "csv", "--from"), ("export", "--to", "perfetto", "--from"), ("report",)):
        done = command.run(*words, str(file), "-o", str(file), "--force")
        assert done.returncode == 3 and "it is what is read" in done.stderr, words
        assert file.read_bytes() == recording
    assert os.listdir(tmp_path) == ["run.ttm"]


def test_redacted_exports_name_nobody(held):
    file, sums = held
    plain = command.document("status", "--from", file)
    process = plain["processes"][0]
    for form in ("perfetto", "chrome-json", "pytorch", "pprof", "csv"):
        data = exported_bytes(file, "--to", form, "--redact").decode(errors="replace")
        for secret in (process["command"], plain["host"], process["segment"]):
            assert secret and secret not in data, (form, secret)
    assert "command-1" in exported_bytes(file, "--to", "csv", "--redact").decode()
    lines = {row["line"] for row in csv.DictReader(io.StringIO(exported_bytes(file, "--to", "csv", "--redact").decode(), newline=""))}
    assert all(not line or line.startswith("path-") for line in lines)


def test_a_format_that_is_not_there_is_refused(tmp_path):
    done = command.run("export", "--to", "xls", "-o", str(tmp_path / "x"))
    assert done.returncode == 2
    assert "speedscope" in done.stderr


def test_kinds_are_chosen_only_where_one_moment_is_written():
    for words in (["perfetto"], ["pytorch"], ["csv", "--table", "events"]):
        done = command.run("export", "-o", "-", "--kind", "buffer", "--to", *words)
        assert done.returncode == 2 and "--kind: goes with" in done.stderr, words
        assert "folded, " in done.stderr and "csv --table holdings" in done.stderr, words
    assert command.run("export", "-o", "-", "--kind", "buffer", "--to", "csv").returncode == 0
