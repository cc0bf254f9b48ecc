# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem explain` and `ttmem run --explain` where there is nothing to explain; the gallery of real failures
is in tests/runtime/test_failures.py."""

import fcntl
import json
import os
import signal
import struct
import subprocess
import termios

from support import command
from support.built import TTMEM
from support.waiting import DEADLINE_SECONDS, eventually


def test_without_a_failure():
    done = command.run("explain")
    assert done.returncode == 1
    assert "no process has kept a failure" in done.stderr
    with command.workload() as workload:
        done = command.run("explain", "--pid", str(workload.pids[0]))
        assert done.returncode == 1 and "has kept no failure" in done.stderr
        assert command.run("explain", "3").returncode == 1
    assert command.run("explain", "0").returncode == 2
    assert command.run("explain", "--pid", "x").returncode == 2


def test_the_parent_ends_as_its_program_does():
    done = command.run("run", "--explain", "sh", "-c", "echo e >&2; exit 77")
    assert (done.returncode, done.stdout, done.stderr) == (77, "", "e\n")
    assert command.run("run", "--explain", "no-such-program").returncode == 127


def test_the_parent_passes_signals_on():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen([TTMEM, "run", "--explain", "sh", "-c", "echo; exec sleep 600"],
                              stdout=subprocess.PIPE) as parent:
            parent.stdout.readline()
            parent.send_signal(number)
            assert parent.wait() == -number


def test_the_program_decides_about_its_signals():
    program = "trap 'echo caught; exit 5' TERM; echo; while :; do sleep 0.05; done"
    with subprocess.Popen([TTMEM, "run", "--explain", "sh", "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        parent.stdout.readline()
        parent.send_signal(signal.SIGTERM)
        assert parent.stdout.read() == "caught\n"
        assert parent.wait() == 5


def test_leaks_without_steps():
    with subprocess.Popen([TTMEM, "leaks"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watching:
        watching.send_signal(signal.SIGINT)
        out, _ = watching.communicate(timeout=DEADLINE_SECONDS)
    assert watching.returncode in (0, -signal.SIGINT)
    assert watching.returncode != 0 or out.startswith("No steps were seen")


def test_leaks_of_a_process_that_is_not_there():
    done = command.run("leaks", "--pid", "999999")
    assert done.returncode == 1 and "999999 is not tracked" in done.stderr


def test_a_number_of_steps_is_one_or_more():
    for steps in ("0", "-1", "x", "1.5"):
        done = command.run("leaks", "--steps", steps)
        assert done.returncode == 2 and "--steps: must be 1 or more" in done.stderr


def unread(pipe):
    """Bytes that nobody has taken out of it yet."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def test_leaks_end_with_the_process_that_they_follow():
    with command.workload() as workload:
        pid = str(workload.pids[0])
        with subprocess.Popen([TTMEM, "leaks", "--mark", "--json", "--pid", pid], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as watching:
            for _ in range(3):
                watching.stdin.write("\n")
                watching.stdin.flush()
                eventually(lambda: unread(watching.stdin) == 0, "it has read what was typed")
            os.kill(int(pid), signal.SIGKILL)
            report = json.loads(watching.communicate(timeout=DEADLINE_SECONDS)[0])
    assert watching.returncode == 0
    process, = report["processes"]
    assert process["pid"] == int(pid) and process["steps_from"] == "marks" and not process["known"]
    assert report["suspects"] == []


def test_a_device_as_it_is_now():
    with command.workload() as workload:
        document = command.document("explain", "--live", "0")
        assert document["device"] == 0
        assert [each["pid"] for each in document["processes"]] == workload.pids
        status, = (each for each in command.document("status")["devices"] if each["id"] == 0)
        for space in document["processes"][0]["spaces"]:
            if space["sum"]["held"] is not None:
                assert space["sum"]["held"] * space["sum"]["banks"] == status[space["space"]]["taken"]
        assert "has it now" in command.text("explain", "--live", "0")
        done = command.run("explain", "--live", "77")
        assert done.returncode == 1 and "there is no device 77" in done.stderr
        assert command.run("explain", "1", "--live", "0").returncode == 2
        assert command.run("explain", "--live", "x").returncode == 2
