# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What each test took on the devices, and what it left there.

    pytest --ttmem                       a table at the end: peak and rest of every test
    pytest --ttmem --ttmem-json FILE     the same as JSON
    pytest --ttmem --ttmem-baseline FILE fail where a peak is larger than in FILE, which is written
                                         if it is not there
    @pytest.mark.limit_dram("1 GiB")     fail if the test takes more on any one device
    @pytest.mark.limit_l1("64 MiB")
    @pytest.mark.no_device_leaks         fail if buffers that the test made outlive it
    @pytest.mark.no_growth               fail if what it holds grows from ttmem.step() to ttmem.step()

Without `--ttmem` nothing is hooked and the marks do nothing. Works under xdist: workers measure,
the controller prints.
"""

from __future__ import annotations  # older pytests lack some of the names

from typing import Any, Dict, Generator, List, Optional, Set

import pytest

from . import baseline, explaining, growth, measure, report as reporting

PROPERTY, PEAKS = "ttmem", "ttmem-peaks"
MARKS = {
    "limit_dram(size)": "with --ttmem: fail if a device's DRAM buffers ever exceed this",
    "limit_l1(size)": "with --ttmem: fail if a device's L1 buffers ever exceed this",
    "no_device_leaks": "with --ttmem: fail if buffers made by the test outlive it",
    "no_growth": "with --ttmem: fail if holdings grow from one ttmem.step() of the test to the next",
}


NEEDS = {
    "--ttmem-json": "--ttmem",
    "--ttmem-baseline": "--ttmem",
    "--ttmem-baseline-update": "--ttmem-baseline",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ttmem", "device memory of Tenstorrent devices")
    group.addoption(
        "--ttmem",
        action="store_true",
        help="hook this process and show what each test takes on the devices",
    )
    group.addoption(
        "--ttmem-json", metavar="FILE", help="write the figures of every test as JSON"
    )
    group.addoption(
        "--ttmem-baseline",
        metavar="FILE",
        help="fail tests whose peaks grew beyond those in FILE; write it if it is not there",
    )
    group.addoption(
        "--ttmem-baseline-update",
        action="store_true",
        help="write the peaks of the tests that passed into the baseline, and compare nothing",
    )
    group.addoption(
        "--ttmem-tolerance",
        metavar="PERCENT",
        default="2%",
        help="by how much a peak may grow beyond the baseline (2%%)",
    )


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    for option, needed in NEEDS.items():
        if config.getoption(option) and not config.getoption(needed):
            raise pytest.UsageError(f"{option} needs {needed}")
    if not config.getoption("--ttmem"):
        return
    try:
        budget = Budget(config)
    except ValueError as reason:
        raise pytest.UsageError(f"ttmem: {reason}") from reason
    if not _has_workers(config):
        config.pluginmanager.register(Measuring(budget), "ttmem-measuring")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporting(config, budget), "ttmem-reporting")


def _has_workers(config: pytest.Config) -> bool:
    """Whether this process only hands tests to xdist's workers."""
    if hasattr(config, "workerinput"):
        return False
    return bool(getattr(config.option, "dist", "no") != "no" and getattr(config.option, "tx", None))


class Budget:
    """The baseline that was asked for, if any."""

    def __init__(self, config: pytest.Config) -> None:
        self.path: Optional[str] = config.getoption("--ttmem-baseline")
        self._tolerance = baseline.tolerance_of(config.getoption("--ttmem-tolerance"))
        before = baseline.read(self.path) if self.path else None
        self.before: baseline.Peaks = before or {}
        self.is_written = bool(self.path) and (
            before is None or config.getoption("--ttmem-baseline-update")
        )

    def problems(self, nodeid: str, figures: measure.TestFigures) -> List[str]:
        if self.is_written or nodeid not in self.before:
            return []
        return baseline.grown(figures, self.before[nodeid], self._tolerance)


class Measuring:
    """Runs where the tests run."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._ending: Dict[int, measure.Pause] = {}
        self._torn_down: Optional[pytest.Item] = None
        self._leaks: Optional[List[str]] = None
        self._grown: List[str] = []
        try:
            self._session = measure.Session()
        except (OSError, RuntimeError) as reason:
            raise pytest.UsageError(str(reason)) from reason

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, None, None]:
        self._leaks = None
        self._grown = []
        self._session.begin(item.nodeid)
        yield
        self._session.abandon()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, None, None]:
        """What a fixture of a wider scope allocates does not belong to the test that came first,
        and what it frees not to the one that came last."""
        if fixturedef.scope == "function":
            yield
            return
        began = self._session.pause()
        yield
        self._session.resume(began)
        # Finalizers run last one first: this one before the fixture's own.
        fixturedef.addfinalizer(lambda: self._begin_ending(fixturedef))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        if item.get_closest_marker("no_growth") is None:
            yield
            return
        following = growth.Following()
        yield
        self._grown = following.end()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        self._torn_down = item
        yield
        self._torn_down = None

    def _begin_ending(self, fixturedef: Any) -> None:
        # After the last test a wider fixture may close the device, and what leaked is gone with it.
        if self._torn_down is not None and self._leaks is None:
            self._leaks = _leaks(self._torn_down, self._session.look_at_rest())
        self._ending[id(fixturedef)] = self._session.pause()

    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        began = self._ending.pop(id(fixturedef), None)
        if began is not None:
            self._session.resume(began)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, None]:
        outcome = yield
        result: pytest.TestReport = outcome.get_result()
        if call.excinfo is not None:
            _explain(result, call.excinfo.value)
        if call.when == "call":
            figures = self._session.look()
            _fail(result, self._beyond(item, figures) + self._grown)
            if figures is not None:
                result.user_properties.append((PEAKS, baseline.peaks_of(figures)))
        elif call.when == "teardown":
            figures = self._session.end()
            if figures is not None:
                result.user_properties.append((PROPERTY, figures.as_dict()))
                _fail(result, _leaks(item, figures) if self._leaks is None else self._leaks)


    def _beyond(self, item: pytest.Item, figures: Optional[measure.TestFigures]) -> List[str]:
        if figures is None:
            return []
        return _beyond_limits(item, figures) + self._budget.problems(item.nodeid, figures)


def _beyond_limits(item: pytest.Item, figures: measure.TestFigures) -> List[str]:
    problems: List[str] = []
    for kind in ("dram", "l1"):
        mark = item.get_closest_marker(f"limit_{kind}")
        if mark is not None:
            problems += figures.over_limit(kind, mark.args[0])
    return problems


def _leaks(item: pytest.Item, figures: Optional[measure.TestFigures]) -> List[str]:
    if figures is None or item.get_closest_marker("no_device_leaks") is None:
        return []
    return figures.leaks()


def _explain(result: pytest.TestReport, error: BaseException) -> None:
    """Why something did not fit, and what helps, where that is what the test failed by."""
    text = explaining.hint(error)
    if text:
        result.sections.append(("ttmem explain", text))


def _fail(result: pytest.TestReport, problems: List[str]) -> None:
    if problems and result.outcome == "passed":
        result.outcome = "failed"
        result.longrepr = "\n".join(problems)


class Reporting:
    """Runs where the user looks."""

    def __init__(self, config: pytest.Config, budget: Budget) -> None:
        self._json: Optional[str] = config.getoption("--ttmem-json")
        self._budget = budget
        self._peaks: baseline.Peaks = {}
        self._tests: List[reporting.TestResult] = []
        self._failed: Set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "failed":
            self._failed.add(report.nodeid)
        if report.when == "call":
            self._peaks.update({report.nodeid: value for name, value in report.user_properties if name == PEAKS})
        for name, value in report.user_properties:
            if name == PROPERTY and report.when == "teardown":
                self._tests.append(self._result(report, value))

    def _result(self, test: pytest.TestReport, figures: Any) -> reporting.TestResult:
        return reporting.TestResult(
            nodeid=test.nodeid,
            worker=getattr(test, "worker_id", None),
            failed=test.nodeid in self._failed,
            figures=figures,
        )

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("device memory", sep="-")
        for line in reporting.table(self._tests):
            terminalreporter.write_line(line)
        for line in self._budget_lines():
            terminalreporter.write_line(line)

    def _budget_lines(self) -> Generator[str, None, None]:
        if not self._budget.path:
            return
        if self._budget.is_written:
            yield f"baseline: {len(self._good_peaks())} tests written to {self._budget.path}"
        elif new := sorted(set(self._peaks) - set(self._budget.before)):
            yield f"baseline: not in it, so not compared: {', '.join(new)}"
            yield "baseline: --ttmem-baseline-update adds them"

    def _good_peaks(self) -> baseline.Peaks:
        return {name: peaks for name, peaks in self._peaks.items() if name not in self._failed}

    def pytest_sessionfinish(self) -> None:
        if self._json:
            reporting.write_json(self._json, self._tests)
        if self._budget.is_written and self._budget.path:
            baseline.write(self._budget.path, {**self._budget.before, **self._good_peaks()})
