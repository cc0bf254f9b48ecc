# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What each test took on the devices, and what it left there.

    pytest --ttmem                       a table at the end: peak and rest of every test
    pytest --ttmem --ttmem-json FILE     the same as JSON
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

from . import explaining, growth, measure, report as reporting

PROPERTY = "ttmem"
MARKS = {
    "limit_dram(size)": "with --ttmem: fail if a device's DRAM buffers ever exceed this",
    "limit_l1(size)": "with --ttmem: fail if a device's L1 buffers ever exceed this",
    "no_device_leaks": "with --ttmem: fail if buffers made by the test outlive it",
    "no_growth": "with --ttmem: fail if holdings grow from one ttmem.step() of the test to the next",
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


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    if config.getoption("--ttmem-json") and not config.getoption("--ttmem"):
        raise pytest.UsageError("--ttmem-json needs --ttmem")
    if not config.getoption("--ttmem"):
        return
    if not _has_workers(config):
        config.pluginmanager.register(Measuring(), "ttmem-measuring")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporting(config), "ttmem-reporting")


def _has_workers(config: pytest.Config) -> bool:
    """Whether this process only hands tests to xdist's workers."""
    if hasattr(config, "workerinput"):
        return False
    return bool(getattr(config.option, "dist", "no") != "no" and getattr(config.option, "tx", None))


class Measuring:
    """Runs where the tests run."""

    def __init__(self) -> None:
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
        if call.when == "call" and call.excinfo is not None:
            _explain(result)
        if call.when == "call":
            figures = self._session.look()
            _fail(result, (_beyond_limits(item, figures) if figures else []) + self._grown)
        elif call.when == "teardown":
            figures = self._session.end()
            if figures is not None:
                result.user_properties.append((PROPERTY, figures.as_dict()))
                _fail(result, _leaks(item, figures) if self._leaks is None else self._leaks)


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


def _explain(result: pytest.TestReport) -> None:
    """Why something did not fit while the test ran, and what helps."""
    text = explaining.hint()
    if text:
        result.sections.append(("ttmem explain", text))


def _fail(result: pytest.TestReport, problems: List[str]) -> None:
    if problems and result.outcome == "passed":
        result.outcome = "failed"
        result.longrepr = "\n".join(problems)


class Reporting:
    """Runs where the user looks."""

    def __init__(self, config: pytest.Config) -> None:
        self._json: Optional[str] = config.getoption("--ttmem-json")
        self._tests: List[reporting.TestResult] = []
        self._failed: Set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "failed":
            self._failed.add(report.nodeid)
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

    def pytest_sessionfinish(self) -> None:
        if self._json:
            reporting.write_json(self._json, self._tests)
