# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem export`: what is held, in the formats of other tools, adds up to what `dump` says."""

import csv
import io
import json
import os
import stat

import pytest

from support import command


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
    with command.workload():
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


def test_a_format_that_is_not_there_is_refused(tmp_path):
    done = command.run("export", "--to", "xls", "-o", str(tmp_path / "x"))
    assert done.returncode == 2
    assert "speedscope" in done.stderr
