# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The tracker by hand: its arithmetic, names, return values and every character it prints."""

import importlib.util
import subprocess
import sys

import pytest
from conftest import PACKAGE

FILE = PACKAGE / "ttmem" / "l1_tracker.py"


@pytest.fixture
def tracker_class():
    """The class, from the file alone, as a model that copied it would have it."""
    spec = importlib.util.spec_from_file_location("copied_tracker", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.L1Tracker


def test_a_circular_buffer_is_tiles_times_tile_size(tracker_class):
    tracker = tracker_class()
    assert tracker.track_cb(1024, 2048) == 2097152
    assert tracker.cb_total == 2097152
    assert tracker.cb == 2097152
    assert tracker.kernel_est == 0 and tracker.num_kernels == 0


def test_a_kernel_is_50_kib_a_core(tracker_class):
    tracker = tracker_class()
    assert tracker.track_kernel(num_cores=16) == 819200
    assert tracker.track_kernel() == 51200
    assert tracker.kernel_est == 819200 + 51200
    assert tracker.kern == tracker.kernel_est
    assert tracker.num_kernels == 2


def test_a_given_size_replaces_the_estimate(tracker_class, capsys):
    tracker = tracker_class()
    assert tracker.track_kernel(16, size_per_core=57344) == 917504
    tracker.summary()
    assert "Kernel Code:            0.9 MB\n" in capsys.readouterr().out
    tracker.track_kernel(1)
    tracker.summary()
    assert "Kernel Code (est):      0.9 MB\n" in capsys.readouterr().out


def test_the_summary_is_printed_to_the_character(tracker_class, capsys):
    tracker = tracker_class()
    tracker.cb_total = round(95.2 * 1024 * 1024)
    tracker.kernel_est = round(15.3 * 1024 * 1024)
    tracker.num_kernels = 128
    assert tracker.summary() is None
    assert capsys.readouterr().out == (
        "\n"
        "============================================================\n"
        "L1 Memory Usage Breakdown\n"
        "============================================================\n"
        "Circular Buffers:      95.2 MB\n"
        "Kernel Code (est):     15.3 MB\n"
        "  (128 kernels)\n"
        "Total L1 Overhead:    110.5 MB\n"
        "============================================================\n"
        "\n"
    )


def test_one_buffer_and_one_kernel_on_16_cores_are_2_8_mb(tracker_class, capsys):
    tracker = tracker_class()
    tracker.track_cb(1024, 2048)
    tracker.track_kernel(num_cores=16)
    assert tracker.cb_total + tracker.kernel_est == 2916352
    tracker.summary()
    lines = capsys.readouterr().out.splitlines()
    assert lines[4] == "Circular Buffers:       2.0 MB"
    assert lines[5] == "Kernel Code (est):      0.8 MB"
    assert lines[6] == "  (1 kernels)"
    assert lines[7] == "Total L1 Overhead:      2.8 MB"


def test_the_short_form_prints_its_own_lines(tracker_class, capsys):
    tracker = tracker_class()
    assert tracker.cb_alloc(1024, 2048) is None
    assert capsys.readouterr().out == "CB: +2.0MB\n"
    assert tracker.kernel_add(16) is None
    assert capsys.readouterr().out == ""
    assert tracker.show() is None
    assert capsys.readouterr().out == "\nL1: CBs=2.0MB, Kernels=0.8MB\n"
    assert (tracker.cb, tracker.kern) == (2097152, 819200)


def test_both_forms_name_the_same_sums_and_can_be_set(tracker_class):
    tracker = tracker_class()
    tracker.cb = 7
    tracker.kern = 9
    assert (tracker.cb_total, tracker.kernel_est) == (7, 9)
    tracker.kernel_add(cores=2)
    tracker.cb_alloc(tiles=1, tile_size=3)
    assert (tracker.cb, tracker.kern, tracker.num_kernels) == (10, 9 + 2 * 51200, 1)


def test_the_copied_file_needs_nothing_but_python():
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from l1_tracker import L1Tracker\n"
        "t = L1Tracker(); t.track_cb(1, 2); t.track_kernel(3)\n"
        "allowed = set(sys.stdlib_module_names)\n"
        "new = {m.split('.')[0] for m in set(sys.modules) - before}\n"
        "assert new - {'l1_tracker'} <= allowed, new\n"
        "try:\n"
        "    L1Tracker(publish=True)\n"
        "except ImportError as reason:\n"
        "    assert 'pip install ttmem' in str(reason), reason\n"
        "else:\n"
        "    sys.exit('published without the package')\n"
    )
    if sys.version_info < (3, 10):
        pytest.skip("sys.stdlib_module_names came with Python 3.10")
    subprocess.run([sys.executable, "-S", "-c", code], cwd=FILE.parent, check=True)


ESTIMATES = """
    import json, ttmem
    from ttmem import command, library
    tracker = ttmem.L1Tracker(publish=True, device=0)
    assert tracker.published
    tracker.track_cb(1024, 2048)
    tracker.track_kernel(num_cores=16)
    print(json.dumps([ttmem.snapshot(), command.document("dump")]))
    tracker.close()
    print(json.dumps(command.document("dump")))
"""


def test_published_figures_are_estimates_outside_every_total(in_process):
    import json

    first, after_close = map(json.loads, in_process(ESTIMATES).splitlines())
    snapshot, dump = first
    assert len(snapshot["devices"]) == 1
    device = snapshot["devices"][0]
    assert device["id"] == 0
    assert device["program_l1"]["allocated"] in (0, None)
    assert device["program_l1"]["resident"] in (0, None)
    assert device["kernels"]["total"]["footprint"] == 0
    held = [one for one in dump["holdings"] if one["kind"] in ("range", "kernel")]
    assert all(one["estimated"] for one in held)
    assert [one["block"] for one in held if one["kind"] == "range"] == [2097152]
    assert [one["footprint"] for one in held if one["kind"] == "kernel"] == [819200]
    assert after_close["holdings"] == []


def test_nothing_is_published_while_hooks_tell_the_truth(in_process):
    code = """
        import ctypes, ttmem
        from ttmem import abi, library
        info = abi.sized(abi.ProcessInfo, source=abi.Source.INJECTOR, hook_names=b"one",
                         hooks_wanted=(1, 0), hooks_bound=(1, 0))
        library.load().ttmem_process_described(ctypes.byref(info))
        tracker = ttmem.L1Tracker(publish=True)
        tracker.track_cb(1024, 2048)
        print(tracker.published, len(ttmem.devices()), tracker.cb_total)
    """
    assert in_process(code) == "False 0 2097152\n"
