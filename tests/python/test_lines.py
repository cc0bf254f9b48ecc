# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Lines and stacks in every CPython of this machine: what is recorded equals what Python says.

The chip is made up, the interpreters and their frames are real: threads, generators, coroutines,
code that was executed from text or freed, imports, deep recursion and a forked child.
"""

import json
import os
import pathlib
import subprocess

import pytest

import interpreters
from conftest import PACKAGE
from support import built

HERE = pathlib.Path(__file__).resolve().parent
FOUND = interpreters.find()


def environment(segments, **more):
    return dict(
        os.environ,
        PYTHONPATH=os.pathsep.join([str(PACKAGE), str(HERE)]),
        PYTHONDONTWRITEBYTECODE="1",
        TTMEM_DIR=str(segments),
        TTMEM_LIBRARY=built.LIBRARY,
        TTMEM_BIN=built.TTMEM,
        TTMEM_OBSERVER=os.path.join(built.LIBRARIES, "libttmem_observer.so"),
        **more,
    )


def documents(python, program, folder, *arguments, **more):
    """What a program prints, line by line."""
    segments = folder / "segments"
    segments.mkdir(mode=0o700)
    done = subprocess.run([python, str(program), *arguments], cwd=folder, check=False, timeout=300,
                          env=environment(segments, **more), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("minor", sorted(FOUND), ids=lambda minor: "%d.%d" % minor)
def test_every_stack_is_the_one_that_python_tells(minor, tmp_path):
    child, parent = documents(FOUND[minor], HERE / "stacks_of_python.py", tmp_path)
    assert len(child["expected"]) == 3 and len(parent["expected"]) > 110
    assert child["found"] == child["expected"]
    assert parent["found"] == parent["expected"]


def test_lines_that_are_off_say_so(tmp_path):
    newest = FOUND[max(FOUND)]
    assert documents(newest, HERE / "stacks_of_python.py", tmp_path, TTMEM_LINES="0") == [
        {"refused": "TTMEM_LINES is off"}]


def test_a_stack_that_is_read_wrong_refuses_the_lines(tmp_path):
    """Python is told to lie about its frames: as good as a layout that is not known."""
    program = tmp_path / "lies.py"
    program.write_text(
        "import ctypes, json, os, sys\n"
        "ctypes.CDLL(os.environ['TTMEM_OBSERVER'])\n"
        "from ttmem import command, lines\n"
        "from fake_chip import Chip\n"
        "told = lines._told\n"
        "def lies(frame):\n"
        "    text, _ = told(frame)\n"
        "    text = text.replace(b'_of_a_call', b'_of_a_lie', 1)\n"
        "    return text, len(text)\n"
        "lines._told = lies\n"
        "reason = lines.start()\n"
        "Chip().allocate(1, 32)\n"
        "process, = command.document('status')['processes']\n"
        "held, = command.document('dump')['holdings']\n"
        "print(json.dumps([reason, process['tracking']['lines'], process['tracking']['lines_reason'], held['line']]))\n",
        encoding="utf-8")
    (reason, state, told, line), = documents(FOUND[max(FOUND)], program, tmp_path)
    assert "its stack is not read right: the function of frame 0 is '_of_a_lie', read as '_of_a_call'" in reason
    assert line is None
    assert (state, told) == (None, None), "the chip is recorded without hooks, which would say it"


FORKS = """
import ctypes, json, os, sys, threading
ctypes.CDLL(os.environ["TTMEM_OBSERVER"])
from ttmem import command, lines
from fake_chip import Chip
assert lines.start() is None
chip = Chip()
stop = threading.Event()

def busy(first):
    number = first
    while not stop.is_set():
        number = first + (number + 1 - first) % 100
        chip.allocate(number, 32)
        chip.free(number)

def in_the_child():
    Chip().allocate(1, 64)

threads = [threading.Thread(target=busy, args=(1000 * n,)) for n in range(1, 4)]
for thread in threads:
    thread.start()
wrong = []
for number in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        in_the_child()
        if number % 50 == 0:
            rows = command.document("status", "--by", "line", "--pid", str(os.getpid()))["origins"]
            os._exit(0 if [r["dram"]["taken"] for r in rows if r["name"] and "fake_chip" in r["name"]] else 7)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status != 0:
        wrong.append((number, status))
stop.set()
for thread in threads:
    thread.join()
print(json.dumps(wrong))
"""


def test_three_hundred_forks_while_threads_allocate(tmp_path):
    program = tmp_path / "forks.py"
    program.write_text(FORKS, encoding="utf-8")
    assert documents(FOUND[max(FOUND)], program, tmp_path, "300") == [[]]
