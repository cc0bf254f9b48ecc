# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Runs pytest on one file for ctest: exit code 77 if every test was skipped.

The last lines say what scripts/test counts: `cases: PASSED passed, FAILED failed, SKIPPED skipped`, and before it one
line `skipped: NAME: REASON` for each case that was left out.
"""

import sys

import pytest

SKIPPED = 77


class Outcomes:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = []

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            self.skipped.append((report.nodeid.split("::", 1)[-1], report.longrepr[2]))
        elif report.when == "call" and report.passed:
            self.passed += 1
        elif report.failed:
            self.failed += 1

    def pytest_collectreport(self, report):
        if report.skipped:
            self.skipped.append((report.nodeid, report.longrepr[2]))


def main():
    outcomes = Outcomes()
    # One process: ctest is what runs several at the same time.
    code = pytest.main(["-p", "no:cacheprovider", "-p", "no:xdist", "--durations=3", *sys.argv[1:]],
                       plugins=[outcomes])
    for name, reason in outcomes.skipped:
        print(f"skipped: {name}: {reason.removeprefix('Skipped: ')}")
    print(f"cases: {outcomes.passed} passed, {outcomes.failed} failed, {len(outcomes.skipped)} skipped")
    if not outcomes.passed and outcomes.skipped and code in (0, 5):
        return SKIPPED
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
