# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Runs pytest on one file for ctest: exit code 77 if every test was skipped, with the reasons."""

import sys

SKIPPED = 77


class Outcomes:
    def __init__(self):
        self.ran = 0
        self.reasons = []

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            self.reasons.append(report.longrepr[2])
        elif report.when == "call":
            self.ran += 1

    def pytest_collectreport(self, report):
        if report.skipped:
            self.reasons.append(report.longrepr[2])


def main():
    try:
        import pytest
    except ImportError:
        print("skipped: this Python has no pytest")
        return SKIPPED
    outcomes = Outcomes()
    code = pytest.main(["-p", "no:cacheprovider", "-rs", *sys.argv[1:]], plugins=[outcomes])
    if outcomes.ran == 0 and outcomes.reasons and code in (0, 5):
        print("skipped:", "; ".join(sorted(set(outcomes.reasons))))
        return SKIPPED
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
