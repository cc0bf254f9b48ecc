# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Old and new together (docs/versions.md): libraries, programs, segments, documents and histories that were kept."""

import contextlib
import json
import lzma
import os
import pathlib
import platform
import shutil
import subprocess
import urllib.request

import pytest

from support import built, command
from support.waiting import DEADLINE_SECONDS

HERE = pathlib.Path(__file__).resolve().parent
KEPT = sorted(path for path in HERE.iterdir() if (path / "libttmem.so.1").exists())
MIB = 1 << 20
#: Of the machine, and not of what was recorded. Times are computed from the clock of the reader.
PASSING = {"host", "boot_id", "age_ms", "directories", "uid", "user", "cpu_percent", "rss_bytes", "path", "unreadable",
           "left_behind"}

pytestmark = pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.name)
on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the kept programs are for x86-64")


def test_something_is_kept(kept):
    assert {"host", "libttmem.so.1", "segment.xz", "status.json", "dump.json", "history.db.xz"} <= {
        path.name for path in kept.iterdir()}


@contextlib.contextmanager
def recording(kept, library):
    """The old program with a library; it holds 1 MiB of DRAM in each bank, and 1 MiB more with every line."""
    process = subprocess.Popen([kept / "host"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "LD_LIBRARY_PATH": str(library)})
    try:
        assert process.stdout.readline().strip() == str(process.pid)
        yield process
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE_SECONDS)


def figures(pid):
    device, = command.process_of(pid)["devices"]
    return {"dram": device["dram"]["taken"], "l1": device["l1"]["taken"], "program_l1": device["program_l1"]["resident"],
            "kernels": device["kernels"]["total"]["footprint"], "dispatches": device["kernels"]["dispatches"]}


def expected(dram):
    return {"dram": dram, "l1": 64 * 2048, "program_l1": 64 * 8192, "kernels": 64 * 4096, "dispatches": 2}


@on_x86
@pytest.mark.parametrize("which", ["its own", "the new"])
def test_an_old_program_with_either_library_and_the_new_reader(kept, which):
    with recording(kept, kept if which == "its own" else built.LIBRARIES) as process:
        assert figures(process.pid) == expected(12 * MIB)
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()
        assert figures(process.pid) == expected(24 * MIB)
        assert command.process_of(process.pid)["tracking"]["anomalies"] == {}
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
            used = {os.path.realpath(line.split()[-1]) for line in maps if "libttmem" in line}
        assert used == {os.path.realpath(os.path.join(kept if which == "its own" else built.LIBRARIES, "libttmem.so.1"))}


def put_segment(kept):
    """The kept segment among those that are read; it is mostly holes."""
    place = pathlib.Path(os.environ["TTMEM_DIR"], "ttmem-11-269649-e8a1c6b1463d0d12")
    block = 1 << 16
    with lzma.open(kept / "segment.xz") as packed, open(place, "wb") as file:
        while piece := packed.read(block):
            if piece.strip(b"\0"):
                file.write(piece)
            else:
                file.seek(len(piece), os.SEEK_CUR)
        file.truncate()


def differences(old, new, where=""):
    """What a reader of the old document would miss in the new one, or find changed. Null may become known."""
    if isinstance(old, dict):
        for name, value in old.items():
            if name in PASSING or name.endswith("_ns"):
                continue
            if not isinstance(new, dict) or name not in new:
                yield f"{where}.{name} is gone"
            else:
                yield from differences(value, new[name], f"{where}.{name}")
    elif isinstance(old, list):
        if not isinstance(new, list) or len(old) != len(new):
            yield f"{where}: {old} has become {new}"
        else:
            for index, (before, after) in enumerate(zip(old, new)):
                yield from differences(before, after, f"{where}[{index}]")
    elif old is not None and old != new:
        yield f"{where}: {old} has become {new}"


@pytest.mark.parametrize("document, line", [("status.json", ["status"]), ("dump.json", ["dump", "--pid", "11"])])
def test_what_an_old_segment_says(kept, document, line):
    put_segment(kept)
    old = json.loads((kept / document).read_text())
    assert list(differences(old, command.document(*line))) == []
    assert list(differences({"a": [1], "b": 1}, {"a": [2]})) == [".a[0]: 1 has become 2", ".b is gone"]


def test_an_old_history_is_taken_over(kept, tmp_path):
    history = tmp_path / "history.db"
    with lzma.open(kept / "history.db.xz") as packed, open(history, "wb") as file:
        shutil.copyfileobj(packed, file)
    with command.started("serve", "--http", "127.0.0.1:0", "--legacy-socket", "off", "--history", str(history),
                         stderr=subprocess.PIPE) as daemon:
        address = next(word for line in daemon.stderr for word in line.split() if word.startswith("http://"))
        with urllib.request.urlopen(f"{address}/api/v1/runs", timeout=DEADLINE_SECONDS) as answer:
            run, = json.load(answer)["runs"]
    assert (run["name"], run["ended"], run["devices"][0]["peak_dram"]) == ("host", "died", 36 * MIB)
