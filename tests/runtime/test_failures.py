# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The gallery of examples/failures on real ttnn: each fails with the verdict that it names, and every
cure that `ttmem explain` prints is taken and must pass."""

import contextlib
import json
import os
import re
import signal
import subprocess

import pytest

import oracle
from support import command
from support.built import LIBRARIES, LIBRARY, SOURCE, TTMEM

CLIENT = os.path.join(oracle.HERE, "gallery_client.py")
GALLERY = os.path.join(SOURCE, "examples", "failures")
# The cures that must be among those that are printed.
EXPECTED = {
    "interleaved_dram": {"deallocate", "data_type"},
    "sharded_dram": {"deallocate", "data_type"},
    "interleaved_l1": {"deallocate", "move_to_dram", "request_in_dram"},
    "sharded_l1": {"shard", "interleave", "request_in_dram"},
    "scattered_l1": {"reallocate", "deallocate", "move_to_dram", "data_type", "request_in_dram"},
    "matmul_clash": {"deallocate", "move_to_dram", "program_config"},
    "softmax_clash": {"reallocate", "deallocate", "move_to_dram"},
    "conv2d_l1_small": {"l1_small_size", "conv_config"},
    "program_too_large": {"program_config"},
    "per_core_list": set(),
    "mesh": {"deallocate", "move_to_dram", "request_in_dram"},
}


@contextlib.contextmanager
def client(board, *scripts):
    values = oracle.environment(board)
    process = subprocess.Popen([TTMEM, "run", oracle.setup("python", "10"), CLIENT, *scripts], env=values,
                               text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def told(process):
    for line in process.stdout:
        if line.startswith("{"):
            return json.loads(line)
    raise AssertionError("the client ended early")


def check_sum(findings):
    total = findings["sum"]
    if total["held"] is not None:
        assert total["held"] + total["holes"] == total["bank"]
    strips = [each for each in findings["picture"] or [] if each["kind"] not in ("needed", "program")]
    for lower, upper in zip(strips, strips[1:]):
        assert lower["end"] == upper["begin"]
    if strips and total["holes"] is not None:
        assert sum(each["free"] for each in strips) == total["holes"]


def unwrapped(text):
    """A line each for what stands between empty lines, whatever its width; without pids and ages, and
    without the text of source lines, which is cut."""
    text = re.sub(r"\((\d+)\)", "(PID)", text.replace(SOURCE, "SOURCE"), count=1)
    text = re.sub(r"^( +SOURCE\S+:\d+: ).*$", r"\1…", re.sub(r"\b\d+ s\b", "AGE", text), flags=re.MULTILINE)
    return "\n".join(" ".join(part.split()) for part in text.split("\n\n")) + "\n"


def check_golden(name, text):
    """The whole screen, as it was looked at once; TTMEM_UPDATE_GOLDEN=1 writes it anew."""
    path = os.path.join(oracle.HERE, "golden", f"{name}.txt")
    if os.environ.get("TTMEM_UPDATE_GOLDEN"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(unwrapped(text))
    with open(path, encoding="utf-8") as file:
        assert file.read() == unwrapped(text)


def check_script(process, name):
    failed = told(process)
    assert failed["script"] == name and failed["failed"], failed
    findings = command.document("explain", "--pid", str(failed["pid"]))
    assert findings["verdict"] == failed["verdict"], findings["failure"]["message"]
    check_sum(findings)
    check_golden(name, command.text("explain", "--pid", str(failed["pid"])))
    kinds = {cure["kind"] for cure in findings["cures"]}
    assert kinds >= EXPECTED[name], f"{name}: {kinds}"
    process.stdin.write(json.dumps(findings["cures"]) + "\n")
    process.stdin.flush()
    outcomes = told(process)["outcomes"]
    for cure, outcome in zip(findings["cures"], outcomes):
        assert outcome is None, f"{name}: {cure['text']}\n{outcome}"
    return findings


@pytest.mark.parametrize(("board", "scripts"), [
    ("n150", ["interleaved_dram", "sharded_dram", "interleaved_l1", "sharded_l1", "scattered_l1",
              "matmul_clash", "softmax_clash", "conv2d_l1_small", "program_too_large"]),
    ("n150", ["per_core_list"]),
    ("n300", ["mesh"]),
], ids=["one chip", "lists per core", "mesh"])
def test_every_cure_that_is_printed_cures(board, scripts):
    with client(board, *scripts) as process:
        for name in scripts:
            check_script(process, name)


def test_a_killed_process_is_explained():
    done = subprocess.run([TTMEM, "run", oracle.setup("python", "10"), os.path.join(GALLERY, "dead_process.py")],
                          env=oracle.environment("n150"), capture_output=True, check=False)
    assert done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    findings = command.document("explain")
    assert findings["verdict"] == "scattered" and not findings["alive"]
    assert [cure["kind"] for cure in findings["cures"]][0] == "reallocate"
    cure = findings["cures"][0]
    assert cure["line"].endswith("gallery.py:22 tensor"), cure["line"]
    assert cure["source"].startswith("return ttnn.empty(")
    text = command.text("explain")
    assert "Scattered: it needs 491,520 B in each of 64 banks of L1" in text
    assert "held 655,360 B + holes 737,952 B = 1,393,312 B" in text


# ---- hints at the moment it happens ---------------------------------------------------------------

TRACKED = """
import sys
import ttmem
ttmem.track(explain=True)
sys.path.insert(0, {gallery!r})
import gallery, scattered_l1, ttnn
device = ttnn.open_device(device_id=0)
try:
    scattered_l1.run(device)
except RuntimeError:
    print("caught", file=sys.stderr)
scattered_l1.run(device)
"""

TEST = """
import sys
sys.path.insert(0, {gallery!r})

def test_model():
    import gallery, scattered_l1, ttnn
    scattered_l1.run(ttnn.open_device(device_id=0))
"""


def python(*words, **changes):
    values = oracle.environment("n150", PYTHONPATH=os.path.join(SOURCE, "python"), TTMEM_LIBRARY=LIBRARY,
                                TTMEM_BIN=TTMEM, TTMEM_INJECTOR_DIR=LIBRARIES, **changes)
    return subprocess.run([*words], env=values, capture_output=True, text=True, check=False)


def test_run_says_why_at_the_end():
    done = python(TTMEM, "run", "--explain", oracle.setup("python", "10"), os.path.join(GALLERY, "scattered_l1.py"))
    assert done.returncode == 1
    hint = done.stderr[done.stderr.index("ttmem: Scattered"):]
    assert "RuntimeError" in done.stderr.split("ttmem: Scattered")[0], "the exception comes first, as it is"
    assert "1. Reallocate" in hint and "shows the rest." in hint


def test_track_says_why_where_nobody_catches_it():
    with open("tracked.py", "w", encoding="utf-8") as file:
        file.write(TRACKED.format(gallery=GALLERY))
    done = python(oracle.setup("python", "10"), "tracked.py")
    assert done.returncode == 1
    before, hint = done.stderr.split("ttmem: Scattered")
    assert "caught" in before and "Traceback" in before
    assert "Reallocate" in hint and "ttmem: " not in hint, "once"


def test_pytest_says_why_in_the_report():
    with open("test_model.py", "w", encoding="utf-8") as file:
        file.write(TEST.format(gallery=GALLERY))
    interpreter = oracle.setup("python", "10")
    if subprocess.run([interpreter, "-c", "import pytest"], capture_output=True, check=False).returncode != 0:
        pytest.skip("the Python with ttnn has no pytest")
    done = python(interpreter, "-m", "pytest", "-p", "ttmem.pytest_plugin", "--ttmem", "test_model.py")
    assert "ttmem explain" in done.stdout and "ttmem: Scattered" in done.stdout
