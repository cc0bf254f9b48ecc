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
import sys

import pytest

import oracle
from support import command
from support.built import LIBRARIES, LIBRARY, SOURCE, TTMEM
from support.waiting import eventually

sys.path.insert(0, os.path.join(os.path.dirname(oracle.HERE), "serve"))
from daemon import Daemon  # noqa: E402

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
    "clash_by_little": {"deallocate", "move_to_dram", "l1_small_size"},
    "conv2d_l1_small": {"l1_small_size", "conv_config"},
    "program_too_large": {"program_config"},
    "per_core_list": set(),
    "freed_late": {"deallocate", "move_to_dram", "data_type", "request_in_dram"},
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
    """A line each for what stands between empty lines, whatever its width; without pids, ages and numbers
    of devices, which depend on who else runs, and without the text of source lines, which is cut."""
    text = re.sub(r"\((\d+)\)", "(PID)", text.replace(SOURCE, "SOURCE"), count=1)
    text = re.sub(r" on (devices?) [\d,-]+,", r" on \1 N,", text, count=1)
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
              "matmul_clash", "softmax_clash", "clash_by_little", "conv2d_l1_small", "program_too_large"]),
    ("n150", ["freed_late"]),
    ("n150", ["per_core_list"]),
    ("n300", ["mesh"]),
], ids=["one chip", "freed late", "lists per core", "mesh"])
def test_every_cure_that_is_printed_cures(board, scripts):
    with client(board, *scripts) as process:
        for name in scripts:
            check_script(process, name)


def timeless(value):
    """Without times: readers translate the recorder's ticks, each with a clock reading of its own."""
    if isinstance(value, list):
        return [timeless(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: timeless(each) for name, each in value.items() if not name.endswith("_ns")}


def check_everybody_says(findings, folder):
    """The page asks the daemon, Python the command: both have the same findings."""
    words = ["-c", "import json, ttmem; print(json.dumps(ttmem.explain()))"]
    done = python(sys.executable, *words)
    assert timeless(json.loads(done.stdout)) == timeless(findings), done.stderr
    daemon = Daemon(folder)
    try:
        path = f"/api/v1/explain?pid={findings['pid']}&number={findings['failure']['number']}"
        eventually(lambda: daemon.ask(path)[0] == 200)
        assert timeless(daemon.document(path)) == timeless(daemon.document("/api/v1/explain"))
        for cure in findings["cures"]:
            cure["source"] = None  # a daemon opens no files that a program names
        assert timeless(daemon.document(path)) == timeless(findings)
    finally:
        daemon.stop()


def test_a_killed_process_is_explained(tmp_path):
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
    check_everybody_says(findings, str(tmp_path))


def test_the_first_cure_frees_what_the_operation_reads_least_likely():
    with client("n150", "freed_late") as process:
        findings = check_script(process, "freed_late")
    first = findings["cures"][0]
    assert first["kind"] == "deallocate" and first["given"] == "ttnn.add does not read it"
    assert first["line"].endswith("gallery.py:22 tensor"), "not what the step before has made"


def test_what_an_operation_refuses_in_words_of_its_own_is_kept():
    script = os.path.join(GALLERY, "refused_by_operation.py")
    done = python(TTMEM, "run", "--explain", oracle.setup("python", "10"), script)
    assert done.returncode == 1
    assert "ttmem: TT-Metal's message is none" in done.stderr.split("Traceback")[1], "after the exception"
    findings = command.document("explain")
    assert findings["verdict"] == "other" and findings["cures"] == []
    failure = findings["failure"]
    assert failure["number"] == 1 and failure["kind"] == "other"
    assert failure["message"].startswith("LayerNorm streaming circular buffers require")
    assert failure["operation"] == "ttnn.layer_norm"
    assert failure["line"].endswith("refused_by_operation.py:16 run")
    check_sum(findings)
    assert findings["sum"]["held"] == 76 * (1 << 20) // 64
    assert findings["holders"][0]["line"].endswith("gallery.py:22 tensor")
    assert "TT-Metal said: LayerNorm streaming" in command.text("explain")


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

# Three ways out of a program: an IPython cell, a thread, and an error that came of the failure. What
# was caught before, and what has nothing to do with it, is not explained.
WAYS_OUT = """
import sys
import threading
import types

class Shell:
    def showtraceback(self, exc_tuple=None, running_compiled_code=False):
        print("shown:", (exc_tuple or sys.exc_info())[1], file=sys.stderr)

shell = Shell()
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
import ttmem
ttmem.track(explain=True)
sys.path.insert(0, {gallery!r})
import gallery, scattered_l1, ttnn
device = ttnn.open_device(device_id=0)

def say(word):
    print(f"[{{word}}]", file=sys.stderr)

def cell(body):
    try:
        body()
    except Exception:
        shell.showtraceback(running_compiled_code=True)

say("cell")
cell(lambda: scattered_l1.run(device))
say("unrelated")
cell(lambda: 1 / 0)
say("thread")
thread = threading.Thread(target=scattered_l1.run, args=(device,))
thread.start()
thread.join()
say("uncaught")
try:
    scattered_l1.run(device)
except RuntimeError as error:
    try:
        scattered_l1.run(device)  # a second try, which is given up
    except RuntimeError:
        pass
    raise ValueError("no room for the model") from error
"""

TEST = """
import sys
import pytest
sys.path.insert(0, {gallery!r})
import gallery, scattered_l1, ttnn

@pytest.fixture(scope="module")
def device():
    return ttnn.open_device(device_id=0)

@pytest.fixture
def weights(device):
    scattered_l1.run(device)

def test_that_expects_it(device):
    with pytest.raises(RuntimeError):
        scattered_l1.run(device)

def test_that_fails_otherwise():
    assert 1 == 2

def test_model(device):
    scattered_l1.run(device)

def test_of_weights(weights):
    pass
"""


def python(*words, **changes):
    values = oracle.environment("n150", PYTHONPATH=os.path.join(SOURCE, "python"), TTMEM_LIBRARY=LIBRARY,
                                TTMEM_BIN=TTMEM, TTMEM_INJECTOR_DIR=LIBRARIES, **changes)
    return subprocess.run([*words], env=values, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("started_by", ["ttmem", "a script"])
def test_run_says_why_at_the_end(started_by):
    words = [oracle.setup("python", "10"), os.path.join(GALLERY, "scattered_l1.py")]
    if started_by == "a script":
        words = ["sh", "-c", '"$@"; exit 7', "sh", *words]
    done = python(TTMEM, "run", "--explain", *words)
    assert done.returncode == (7 if started_by == "a script" else 1)
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


def test_track_says_why_wherever_it_leaves_the_program():
    with open("tracked.py", "w", encoding="utf-8") as file:
        file.write(WAYS_OUT.format(gallery=GALLERY))
    done = python(oracle.setup("python", "10"), "tracked.py")
    parts = dict(part.split("]", 1) for part in re.split(r"^\[", done.stderr, flags=re.MULTILINE)[1:])
    assert done.returncode == 1
    for way in ("cell", "thread", "uncaught"):
        assert parts[way].count("ttmem: Scattered") == 1, f"{way}: {done.stderr}"
    assert "ttmem: " not in parts["unrelated"] and "shown: division by zero" in parts["unrelated"]
    assert re.search(r"ttmem explain --pid \d+ 3 shows", parts["uncaught"]), "the first of the two tries"


def test_pytest_says_why_in_the_report():
    with open("test_model.py", "w", encoding="utf-8") as file:
        file.write(TEST.format(gallery=GALLERY))
    interpreter = oracle.setup("python", "10")
    if subprocess.run([interpreter, "-c", "import pytest"], capture_output=True, check=False).returncode != 0:
        pytest.skip("the Python with ttnn has no pytest")
    done = python(interpreter, "-m", "pytest", "-p", "ttmem.pytest_plugin", "--ttmem", "test_model.py")
    titles = re.split(r"^_+ (.*test_\w+) _+$", done.stdout, flags=re.MULTILINE)
    reports = dict(zip(titles[1::2], titles[2::2]))
    told = {name for name, text in reports.items() if "- ttmem explain -" in text}
    assert set(reports) == {"test_that_fails_otherwise", "test_model", "ERROR at setup of test_of_weights"}, done.stdout
    assert told == {"test_model", "ERROR at setup of test_of_weights"}, done.stdout
