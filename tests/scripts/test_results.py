# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""How scripts/test counts, what it does not run again, and what scripts/verified writes about it."""

import importlib.machinery
import importlib.util
import os
import sys

import pytest

from support.built import SOURCE


def load(path):
    """A script as a module."""
    name = "script_" + os.path.basename(path).replace(".", "_")
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(SOURCE, path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


test_script = load("scripts/test")
verified = load("scripts/verified")
kept = sys.modules["results"]


def results(**fields):
    return kept.Results("release", "1.2.3", "abc", "2030-01-01 00:00", "files", **fields)


def counted(tmp_path, *cases):
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuite>{''.join(cases)}</testsuite>")
    found = results()
    kept.count(report, found)
    return found.passed, found.failures, found.skipped


def case(name, status="run", output="", inner=""):
    return f'<testcase name="{name}" status="{status}">{inner}<system-out>{output}</system-out></testcase>'


def test_one_case_of_each_kind(tmp_path):
    assert counted(tmp_path, case("a"), case("b"), case("c", "fail", inner="<failure/>"),
                   case("d", "notrun", "x_test.cpp:7: Skipped\nno device\n", "<skipped/>")) == (
        2, ["c"], ["d: no device"])


def test_a_file_of_python_tests_counts_its_cases(tmp_path):
    says = "skipped: test_b: no tmux\ncases: 5 passed, 0 failed, 1 skipped\n"
    assert counted(tmp_path, case("cli.top", output=says)) == (5, [], ["cli.top: test_b: no tmux"])
    says = "cases: 5 passed, 2 failed, 0 skipped\n"
    assert counted(tmp_path, case("cli.top", "fail", says, "<failure/>")) == (5, ["cli.top"] * 2, [])


def test_a_file_that_broke_off_is_a_failure(tmp_path):
    assert counted(tmp_path, case("cli.top", "fail", "Segmentation fault", "<failure/>")) == (0, ["cli.top"], [])
    # It ended badly although every case that it came to passed.
    assert counted(tmp_path, case("cli.top", "fail", "cases: 5 passed, 0 failed, 0 skipped\n", "<failure/>")) == (
        5, ["cli.top"], [])


def test_a_file_that_was_skipped_says_why_once(tmp_path):
    says = "skipped: test_a: no ttnn\ncases: 0 passed, 0 failed, 1 skipped\n"
    assert counted(tmp_path, case("runtime.model", "notrun", says, "<skipped/>")) == (
        0, [], ["runtime.model: test_a: no ttnn"])


@pytest.mark.parametrize("fields, files, again", [
    ({"passed": 3}, "files", False),
    ({"passed": 3}, "other files", True),
    ({"passed": 3}, "", True),
    ({"passed": 3, "failures": ["x"]}, "files", True),
])
def test_only_what_passed_on_the_same_files_is_not_run_again(tmp_path, monkeypatch, fields, files, again):
    monkeypatch.setattr(test_script, "build_directory", lambda name: tmp_path)
    assert test_script.passed_before("release", files) is None
    results(**fields).write(kept.path_of(tmp_path, "release"))
    assert (test_script.passed_before("release", files) is None) == again


def test_the_page_says_what_ran_and_what_did_not(tmp_path):
    (tmp_path / "build").mkdir()
    found = results(passed=812, failures=["cli.top"], skipped=["runtime.model: no ttnn"], test_seconds=99.6)
    found.write(kept.path_of(tmp_path / "build", "release"))
    page = verified.page(str(tmp_path))
    assert "| 2030-01-01 00:00 | 1.2.3, `abc` | 812 | 1 | 1 | 100 s | 0 s |" in page
    assert "## Failed\n\n- release: cli.top\n" in page
    assert "## Left out\n\n- release: runtime.model: no ttnn\n" in page
    assert page.count("| not run |") == len(verified.RUNS) - 1
    assert "`make bench` was not run" in page
