# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem.track()` on real ttnn and mock chips: to the byte what `ttmem run` and the runtime say."""

import functools
import json
import os
import subprocess
import sys

import pytest
from conftest import PACKAGE, SOURCE, named_file

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
        descriptors = need("descriptors")
        command = named_file("TTMEM_BIN")
        directory = self._directory / f"{minor}-{board}-{how}"
        segments = directory / "segments"
        segments.mkdir(parents=True, mode=0o700)
        environment = dict(
            os.environ,
            PYTHONPATH=str(PACKAGE),
            PYTHONDONTWRITEBYTECODE="1",
            TTMEM_DIR=str(segments),
            TTMEM_LIBRARY=named_file("TTMEM_LIB"),
            TTMEM_BIN=command,
            TTMEM_INJECTOR_DIR=named_file("TTMEM_INJECTOR_DIR"),
            TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(descriptors, f"{board}.yaml"),
            TT_METAL_CACHE=os.path.join(os.path.dirname(descriptors), "kernels-python"),
            TT_LOGGER_LEVEL="error",
            TTNN_CONFIG_OVERRIDES="{}",
        )
        rows, columns = BOARDS[board]
        arguments = [interpreter, str(WORKLOAD), how, str(rows), str(columns)]
        if how == "run":
            arguments = [command, "run", *arguments]
        done = subprocess.run(
            arguments,
            env=environment,
            cwd=directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
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


@pytest.mark.parametrize("minor, board", CASES)
def test_the_process_itself_sees_what_others_see(runs, minor, board):
    for how in ("run", "patched"):
        steps, _ = runs.get(minor, board, how)
        for step in steps.values():
            for device in step["process"]["devices"]:
                own = step["self"][str(device["metal_id"])]
                for space in SPACES:
                    assert own[space] == (device[space]["taken"] or 0), (step["step"], space)
