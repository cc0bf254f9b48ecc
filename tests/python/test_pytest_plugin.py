# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The pytest plugin, on a chip that exists only in the tests' own segments."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from conftest import PACKAGE, SOURCE
from test_track import need
from support import built

CONFTEST = """
    import pytest
    from fake_chip import Chip

    @pytest.fixture(scope="session")
    def chip():
        chip = Chip()
        chip.allocate(1000, 512)
        return chip
"""

TESTS = """
    import pytest
    import ttmem

    def test_first(chip):
        chip.allocate(1, 4096)
        chip.free(1)

    @pytest.mark.no_device_leaks
    def test_clean(chip):
        chip.allocate(2, 2048)
        chip.allocate(3, 64, space=1)
        chip.free(2)
        chip.free(3, space=1)

    @pytest.mark.no_device_leaks
    def test_leaky(chip):
        with ttmem.region("attention"):
            chip.allocate(4, 1024)

    @pytest.mark.limit_dram("24 KiB")
    def test_within(chip):
        pass

    @pytest.mark.limit_dram("40 KiB")
    @pytest.mark.limit_l1("1 KiB")
    def test_beyond(chip):
        with ttmem.region("softmax"):
            chip.allocate(5, 4096)
            chip.allocate(6, 32, space=1)
        chip.free(5)
        chip.free(6, space=1)

    def test_of_nothing():
        pass
"""


GROWING = """
    import time
    import pytest
    import ttmem

    def decode(chip, first, leak):
        for step in range(40):
            ttmem.step()
            chip.allocate(first, 4096, space=1)
            if leak:
                with ttmem.region("sampling"):
                    chip.allocate(first + 1 + step, 64)
            time.sleep(0.03)
            chip.free(first, space=1)

    @pytest.mark.no_growth
    def test_steady(chip):
        decode(chip, 10, leak=False)

    @pytest.mark.no_growth
    def test_growing(chip):
        decode(chip, 100, leak=True)

    @pytest.mark.no_growth
    def test_of_two_steps(chip):
        ttmem.step()
        ttmem.step()

    def test_unmarked(chip):
        decode(chip, 200, leak=True)
"""


@pytest.fixture
def run_pytest(tmp_path):
    library, command = built.LIBRARY, built.TTMEM
    injector = built.LIBRARIES
    (tmp_path / "segments").mkdir(mode=0o700)
    (tmp_path / "conftest.py").write_text(textwrap.dedent(CONFTEST))
    (tmp_path / "test_sample.py").write_text(textwrap.dedent(TESTS))

    def run(*arguments):
        environment = dict(
            os.environ,
            PYTHONPATH=os.pathsep.join([str(PACKAGE), str(SOURCE / "tests" / "python")]),
            PYTHONDONTWRITEBYTECODE="1",
            TTMEM_DIR=str(tmp_path / "segments"),
            TTMEM_LIBRARY=library,
            TTMEM_BIN=command,
            TTMEM_INJECTOR_DIR=injector,
        )
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "ttmem.pytest_plugin", "-p", "no:cacheprovider"]
            + ["--strict-markers", "--rootdir", str(tmp_path), *arguments, str(tmp_path)],
            env=environment,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run


def outcomes(output):
    return [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]


def test_what_grows_from_step_to_step_fails(run_pytest, tmp_path):
    (tmp_path / "test_sample.py").write_text(textwrap.dedent(GROWING))
    done = run_pytest("--ttmem")
    assert "2 failed, 2 passed" in done.stdout, done.stdout
    assert "::test_growing" in outcomes(done.stdout)[0] and "::test_of_two_steps" in outcomes(done.stdout)[1]
    assert "grows by 768 B per step in dram of device 0" in done.stdout, "64 B in each of 12 banks"
    assert "whether it grows is not known" in done.stdout


def test_without_the_option_nothing_happens(run_pytest, tmp_path):
    done = run_pytest("-k", "leaky or beyond or nothing")
    assert "3 passed" in done.stdout, done.stdout
    assert "device memory" not in done.stdout


def test_the_table_shows_peaks_and_rests(run_pytest):
    done = run_pytest("--ttmem")
    rows = [line.split("  ") for line in done.stdout.splitlines() if "test_sample.py::" in line]
    table = {row[-1].split("::")[1]: row for row in rows if len(row) > 4 or "KiB" in row[0]}
    cells = {
        name: [cell.strip() for cell in row if cell.strip()][:-1] for name, row in table.items()
    }
    # The session's own 512 x 12 bytes are part of the peak and of nobody's rest.
    assert cells["test_first"] == ["54.0 KiB", "0 B", "0 B", "0 B"], done.stdout
    assert cells["test_clean"] == ["30.0 KiB", "4.0 KiB", "0 B", "0 B"]
    assert cells["test_leaky"] == ["18.0 KiB", "0 B", "12.0 KiB", "0 B"]
    assert cells["test_beyond"] == ["66.0 KiB", "2.0 KiB", "0 B", "0 B"]


def test_leaks_and_limits_fail_with_the_holdings(run_pytest):
    done = run_pytest("--ttmem")
    assert done.returncode == 1
    text = done.stdout
    assert "1 buffer outlives the test (12.0 KiB per device):" in text, text
    assert "12.0 KiB of dram on device 0 by attention at" in text
    assert "dram of device 0: the test took 66.0 KiB (67584 bytes), the limit is 40.0 KiB" in text
    assert "l1 of device 0: the test took 2.0 KiB (2048 bytes), the limit is 1.0 KiB" in text
    assert "48.0 KiB of dram on device 0 by softmax at" in text
    failed = {line.split("::")[1].split()[0] for line in outcomes(text)}
    assert failed == {"test_leaky", "test_beyond"}


def test_a_leak_of_the_last_test_is_found_though_its_device_is_closed(run_pytest, tmp_path):
    (tmp_path / "test_sample.py").write_text(textwrap.dedent("""
        import pytest
        from fake_chip import Chip

        @pytest.fixture(scope="module")
        def device():
            chip = Chip()
            yield chip
            chip.close()

        @pytest.mark.no_device_leaks
        def test_clean(device):
            device.allocate(1, 4096)
            device.free(1)

        @pytest.mark.no_device_leaks
        def test_leaky(device):
            device.allocate(2, 1024)
    """))
    done = run_pytest("--ttmem")
    assert "2 passed, 1 error" in done.stdout, done.stdout
    assert "ERROR at teardown of test_leaky" in done.stdout
    assert "1 buffer outlives the test (12.0 KiB per device):" in done.stdout


def test_the_figures_are_there_as_json(run_pytest, tmp_path):
    path = tmp_path / "figures.json"
    run_pytest("--ttmem", "--ttmem-json", str(path))
    document = json.loads(path.read_text())
    assert (document["schema"], document["document"]) == (1, "pytest")
    tests = {one["nodeid"].split("::")[1]: one for one in document["tests"]}
    assert len(tests) == 6
    leaky = tests["test_leaky"]
    assert leaky["failed"] and not tests["test_first"]["failed"]
    (device,) = leaky["devices"]
    assert device["metal_id"] == 0
    assert device["peak"]["dram"] == 12 * 1536
    assert device["left"] == {
        "dram": 12 * 1024,
        "l1": 0,
        "l1_small": 0,
        "trace": 0,
        "program_l1": 0,
        "kernels": 0,
    }


def test_json_alone_is_a_mistake(run_pytest, tmp_path):
    done = run_pytest("--ttmem-json", str(tmp_path / "figures.json"))
    assert done.returncode == 4
    assert "--ttmem-json needs --ttmem" in done.stdout


def test_workers_of_xdist_measure_and_the_controller_prints(run_pytest, tmp_path):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    path = tmp_path / "figures.json"
    done = run_pytest("--ttmem", "--ttmem-json", str(path), "-n", "2")
    document = json.loads(path.read_text())
    tests = {one["nodeid"].split("::")[1]: one for one in document["tests"]}
    assert len(tests) == 6, done.stdout
    assert {one["worker"] for one in tests.values()} <= {"gw0", "gw1"}
    assert tests["test_leaky"]["devices"][0]["left"]["dram"] == 12 * 1024
    assert "1 buffer outlives the test" in done.stdout
    assert done.stdout.count("- device memory -") == 1


BUDGET = """
    def test_fixed(chip):
        chip.allocate(1, 4096)
        chip.free(1)

    def test_grows(chip):
        chip.allocate(2, {size})
        chip.free(2)
"""


def test_a_baseline_is_written_and_then_kept(run_pytest, tmp_path):
    sample, kept = tmp_path / "test_sample.py", tmp_path / "memory.json"
    budget = ("--ttmem", "--ttmem-baseline", str(kept))
    sample.write_text(textwrap.dedent(BUDGET.format(size=100_000)))
    done = run_pytest(*budget)
    assert "2 passed" in done.stdout and "2 tests written to" in done.stdout, done.stdout
    peaks = json.loads(kept.read_text())["tests"]
    assert peaks["test_sample.py::test_fixed"]["dram"] == 12 * (512 + 4096)
    before = kept.read_text()
    sample.write_text(textwrap.dedent(BUDGET.format(size=101_600)))
    assert "2 passed" in run_pytest(*budget).stdout, "2 % may be taken more"
    sample.write_text(textwrap.dedent(BUDGET.format(size=103_000) + """
    def test_new(chip):
        pass
    """))
    done = run_pytest(*budget)
    assert "1 failed, 2 passed" in done.stdout and done.returncode == 1, done.stdout
    assert "::test_grows" in outcomes(done.stdout)[0]
    assert f"{12 * 3000} more than its baseline of {12 * (512 + 100_000)}" in done.stdout, done.stdout
    assert "of dram on device 0" in done.stdout, "with the allocations"
    assert "not in it, so not compared: test_sample.py::test_new" in done.stdout
    assert kept.read_text() == before, "a comparison changes nothing"
    assert "3 passed" in run_pytest(*budget, "--ttmem-tolerance", "5%").stdout
    done = run_pytest(*budget, "--ttmem-baseline-update", "-k", "grows")
    assert "1 tests written" in done.stdout and "1 passed" in done.stdout, done.stdout
    after = json.loads(kept.read_text())["tests"]
    assert after["test_sample.py::test_fixed"] == peaks["test_sample.py::test_fixed"], "others stay"
    assert after["test_sample.py::test_grows"]["dram"] > peaks["test_sample.py::test_grows"]["dram"]


def test_a_baseline_that_cannot_be_read_compares_nothing(run_pytest, tmp_path):
    kept = tmp_path / "memory.json"
    for text, words in (("[1]", "this is no baseline"), ("{", "cannot be read"),
                        ('{"schema": 1, "document": "pytest-baseline", "tests": {"a": {"dram": -1}}}', "no number of bytes")):
        kept.write_text(text)
        done = run_pytest("--ttmem", "--ttmem-baseline", str(kept))
        assert done.returncode == 4 and words in done.stdout, done.stdout
    assert "--ttmem-baseline-update needs --ttmem-baseline" in run_pytest("--ttmem", "--ttmem-baseline-update").stdout


TTNN_TESTS = """
    import pytest
    import ttnn

    TENSOR = 2113536  # 1024 x 1024 of bfloat16: 86 tiles of 2 KiB in each of 12 banks

    @pytest.fixture(scope="module")
    def device():
        device = ttnn.open_device(device_id=0)
        yield device
        ttnn.close_device(device)

    def ones(device):
        return ttnn.ones(
            (1024, 1024), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
        )

    kept = []

    @pytest.mark.no_device_leaks
    def test_clean(device):
        ttnn.add(ones(device), ones(device))

    @pytest.mark.no_device_leaks
    def test_leaky(device):
        kept.append(ones(device))

    @pytest.mark.limit_dram("3 MiB")
    def test_beyond(device):
        ttnn.add(ones(device), ones(device))
"""


def test_real_ttnn_on_a_mock_chip(tmp_path):
    interpreter, descriptors = need("python", 10), need("descriptors")
    (tmp_path / "segments").mkdir(mode=0o700)
    (tmp_path / "test_model.py").write_text(textwrap.dedent(TTNN_TESTS))
    environment = dict(
        os.environ,
        PYTHONPATH=str(PACKAGE),
        PYTHONDONTWRITEBYTECODE="1",
        TTMEM_DIR=str(tmp_path / "segments"),
        TTMEM_LIBRARY=built.LIBRARY,
        TTMEM_BIN=built.TTMEM,
        TTMEM_INJECTOR_DIR=built.LIBRARIES,
        TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(descriptors, "n150.yaml"),
        TT_METAL_CACHE=os.path.join(os.path.dirname(descriptors), "kernels-python"),
        TT_LOGGER_LEVEL="error",
    )
    done = subprocess.run(
        [interpreter, "-m", "pytest", "-p", "ttmem.pytest_plugin", "-p", "no:cacheprovider"]
        + ["--ttmem", "--ttmem-json", "figures.json", "test_model.py"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=240,
        check=False,
    )
    assert "1 failed, 2 passed, 1 error" in done.stdout, done.stdout
    tests = {
        one["nodeid"].split("::")[1]: one
        for one in json.loads((tmp_path / "figures.json").read_text())["tests"]
    }
    tensor = 2113536
    assert not tests["test_clean"]["failed"]
    (clean,), (leaky,), (beyond,) = (tests[n]["devices"] for n in
                                     ("test_clean", "test_leaky", "test_beyond"))
    assert clean["peak"]["dram"] == 3 * tensor and clean["left"]["dram"] == 0
    assert leaky["peak"]["dram"] == tensor and leaky["left"]["dram"] == tensor
    assert beyond["peak"]["dram"] == 4 * tensor and beyond["left"]["dram"] == 0
    assert tests["test_leaky"]["failed"] and tests["test_beyond"]["failed"]
    assert "1 buffer outlives the test (2.0 MiB per device):" in done.stdout
    assert "the limit is 3.0 MiB" in done.stdout
    # The operation, and the line outside ttnn that called it.
    source = textwrap.dedent(TTNN_TESTS).splitlines()
    line = 1 + next(i for i, text in enumerate(source) if "return ttnn.ones(" in text)
    allocated = f"2.0 MiB of dram on device 0 by ttnn.ones at {tmp_path}/test_model.py:{line} ones"
    # With CI set in the environment pytest says it all a second time, in its summary.
    told = done.stdout.partition("short test summary info")[0]
    assert told.count(allocated) == 3, done.stdout
    assert "2.0 MiB of dram on device 0 by ttnn.add at" in done.stdout
