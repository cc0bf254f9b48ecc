# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem.track()` on real ttnn and mock chips: to the byte what `ttmem run` and the runtime say."""

import functools
import json
import os
import subprocess
import sys

import pytest
from conftest import SOURCE, output_of, tracking_environment
from support import built

SETUP = SOURCE / "tests" / "runtime" / "setup"
WORKLOAD = SOURCE / "tests" / "python" / "ttnn_workload.py"
BOARDS = {"n150": (1, 1), "n300": (1, 2), "t3k": (2, 4)}
MINORS = (10, 12)


@functools.lru_cache(maxsize=None)
def prepared(*arguments):
    """What tests/runtime/setup prepares; None and the reason where it cannot."""
    done = subprocess.run(
        [sys.executable, str(SETUP), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    return (done.stdout.strip() if done.returncode == 0 else None), done.stderr.strip()


def need(*arguments):
    path, reason = prepared(*arguments)
    if path is None:
        pytest.skip(reason or "tests/runtime/setup failed")
    return path


def environment(board, segments):
    descriptors = need("descriptors")
    return tracking_environment(
        segments,
        TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(descriptors, f"{board}.yaml"),
        TT_METAL_CACHE=os.path.join(os.path.dirname(descriptors), "kernels-python"),
        TT_LOGGER_LEVEL="error",
        TTNN_CONFIG_OVERRIDES="{}",
    )


def documents_of(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


class Runs:
    """Each way of each board once, when it is first asked for."""

    def __init__(self, directory):
        self._directory = directory
        self._done = {}

    def get(self, minor, board, how):
        key = (minor, board, how)
        if key not in self._done:
            self._done[key] = self._run(*key)
        return self._done[key]

    def _run(self, minor, board, how):
        interpreter = need("python", minor)
        command = built.TTMEM
        directory = self._directory / f"{minor}-{board}-{how}"
        segments = directory / "segments"
        segments.mkdir(parents=True, mode=0o700)
        rows, columns = BOARDS[board]
        arguments = [interpreter, str(WORKLOAD), how, str(rows), str(columns)]
        if how == "run":
            arguments = [command, "run", *arguments]
        lines = documents_of(output_of(arguments, directory, environment(board, segments)))
        return {one["step"]: one for one in lines[:-1]}, lines[-1]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Runs(tmp_path_factory.mktemp("runs"))


CASES = [(10, "n150"), (10, "n300"), (10, "t3k"), (12, "n150")]
SPACES = ("dram", "l1", "l1_small", "trace")


def figures(step):
    """The figures of all devices in a step, without what cannot be equal in two processes."""
    return {one["id"]: {k: v for k, v in one.items() if k != "rings"} for one in
            step["process"]["devices"]}


@pytest.mark.parametrize("how, answer", [("run", "preloaded"), ("ahead", "ahead"),
                                         ("patched", "patched"), ("late", "patched")])
@pytest.mark.parametrize("minor, board", CASES)
def test_every_step_agrees_with_the_runtime(runs, minor, board, how, answer):
    steps, last = runs.get(minor, board, how)
    assert set(last["answers"]) == {answer}
    tracked = [one for one in steps.values() if one["process"] is not None]
    assert len(tracked) >= (7 if how == "late" else 9)
    for one in tracked:
        for device in one["process"]["devices"]:
            if not device["in_mesh"] and one["step"] != "closed":
                continue
            for space in SPACES:
                taken = device[space]["taken"] or 0
                assert taken == one["oracle"][space], (one["step"], device["id"], space)
    for device in steps["add"]["process"]["devices"]:
        assert one["step"] == "closed" or device["dram"]["count"] > 0


@pytest.mark.parametrize("how", ["ahead", "patched"])
@pytest.mark.parametrize("minor, board", CASES)
def test_track_and_run_say_the_same_to_the_byte(runs, minor, board, how):
    expected, _ = runs.get(minor, board, "run")
    found, last = runs.get(minor, board, how)
    assert list(found) == list(expected)
    for name, step in expected.items():
        assert figures(found[name]) == figures(step), name
        assert found[name]["process"]["tracking"]["since"] == "open"
        assert found[name]["process"]["sources"] == step["process"]["sources"]
        assert found[name]["process"]["tracking"]["hooks_missing"] == \
            step["process"]["tracking"]["hooks_missing"]
    if how == "patched":
        assert last["slots"] >= 40


@pytest.mark.parametrize("minor, board", CASES)
def test_what_was_there_before_is_read_from_the_allocator(runs, minor, board):
    expected, _ = runs.get(minor, board, "run")
    found, _ = runs.get(minor, board, "late")
    assert found["tensors"]["process"] is None
    assert found["attached"]["process"]["tracking"]["since"] == "attach"
    for name in ("add", "softmax", "two freed", "all freed", "closed"):
        for device, known in figures(expected[name]).items():
            mine = figures(found[name])[device]
            for space in SPACES:
                for word in ("taken", "occupied", "requested", "count", "largest_free", "capacity"):
                    assert mine[space][word] == known[space][word], (name, device, space, word)


ALONE = """
import json
import subprocess
import ttmem
import ttnn
from ttmem import command

device = ttnn.open_device(device_id=0)
tensor = ttnn.ones((64, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
sums = [ttnn.add(tensor, tensor)]
ttmem.track()

def told():
    (process,) = [one for one in ttmem.snapshot()["processes"] if one["segment"]]
    view = ttnn.get_memory_view(device, ttnn.BufferType.DRAM)
    process["oracle"] = view.num_banks * view.total_bytes_allocated_per_bank
    process["programs"] = [one["name"] for one in command.document("status", "--programs")["programs"]]
    process["text"] = subprocess.run([command.find(), "status"], capture_output=True, text=True).stdout
    print(json.dumps(process))

told()
sums.append(ttnn.add(tensor, tensor))
sums.append(ttnn.softmax(tensor))
told()
sums.clear()
told()
ttnn.close_device(device)
"""


def test_what_a_late_hook_cannot_know_is_said(tmp_path):
    """`open_device`, a program before track(): its buffers are exact, the program is missing."""
    (tmp_path / "segments").mkdir(mode=0o700)
    values = environment("n150", tmp_path / "segments")
    steps = documents_of(output_of([need("python", 10), "-c", ALONE], tmp_path, values))
    assert len(steps) == 3
    for step in steps:
        assert step["devices"][0]["dram"]["taken"] == step["oracle"] > 0
        assert step["tracking"]["anomalies"] == {}
        assert step["tracking"]["exact"] is not False
        assert (step["tracking"]["since"], step["tracking"]["partial"]) == ("attach", True)
        assert "programs compiled before are unknown" in step["text"]
    assert steps[0]["programs"] == []
    assert steps[1]["programs"] == ["SoftmaxDeviceOperation"]


@pytest.mark.parametrize("minor, board", CASES)
def test_the_process_itself_sees_what_others_see(runs, minor, board):
    for how in ("run", "patched"):
        steps, _ = runs.get(minor, board, how)
        for step in steps.values():
            for device in step["process"]["devices"]:
                own = step["self"][str(device["metal_id"])]
                for space in SPACES:
                    assert own[space] == (device[space]["taken"] or 0), (step["step"], space)
