# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""How scripts/test counts, what it does not run again, and what scripts/verified writes about it."""

import importlib.machinery
import importlib.util
import os
import sys
import types

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


def test_the_page_has_a_row_for_every_configuration():
    assert {run[0] for run in verified.RUNS} == set(test_script.CONFIGURATIONS)
    for configuration, folder, _, _ in verified.RUNS:
        assert os.path.basename(test_script.build_directory(configuration)) == folder


@pytest.fixture
def pretended(tmp_path, monkeypatch):
    """scripts/test whose builds and tests only note their names; `fails` says which tests fail."""
    done = types.SimpleNamespace(built=[], tested=[], fails=[])

    def run_tests(name):
        done.tested.append(name)
        report = tmp_path / f"{name}.xml"
        status = "fail" if name in done.fails else "run"
        report.write_text(f"<testsuite>{case('a')}{case('b', status)}</testsuite>")
        return report, int(name in done.fails)
    for name, replaced in (("build", done.built.append), ("run_tests", run_tests), ("set_up", lambda names: None),
                           ("build_directory", lambda name: tmp_path), ("count_listed", lambda *_: 0)):
        monkeypatch.setattr(test_script, name, replaced)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["test", *arguments])
        done.built, done.tested = [], []
        monkeypatch.setattr(test_script, "build", done.built.append)
        return test_script.main()
    done.run = run
    return done


def test_check_after_test_runs_only_the_rest_and_counts_all(pretended, capsys):
    assert pretended.run("release") == 0
    assert pretended.run("--unless-passed", "release", "lint", "asan") == 0
    assert pretended.tested == pretended.built == ["lint", "asan"]
    said = capsys.readouterr().out
    assert "release: 2 passed, 0 failed, 0 skipped on the same files" in said
    assert said.endswith("\n6 passed, 0 failed\n")
    assert pretended.run("release") == 0
    assert pretended.tested == ["release"]


def test_what_failed_is_run_again_and_the_others_go_on(pretended, capsys):
    pretended.fails = ["release"]
    assert pretended.run("release", "lint") == 1
    assert capsys.readouterr().out.endswith("Failed:\n  release: b\n\n3 passed, 1 failed\n")
    assert pretended.run("--unless-passed", "release", "lint") == 1
    assert pretended.tested == ["release"]
    assert pretended.run("nonsense") == 2
