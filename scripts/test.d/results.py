# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What a run of tests came to: counted from ctest's report, and kept beside the build as JSON.

A test of ctest is one case, or a file of Python tests that says how many cases it had (tests/support/run_pytest.py).
"""

import dataclasses
import json
import os
import re
import xml.etree.ElementTree as ElementTree

CASES = re.compile(r"^cases: (\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)
SKIPPED_CASE = re.compile(r"^skipped: (.+)$", re.MULTILINE)


@dataclasses.dataclass
class Results:
    """Of one configuration. Times are in seconds; `cpu` ones are of the processor, all processes together."""

    configuration: str
    version: str
    commit: str  # ends in + if files differ from it
    when: str  # UTC
    files: str  # hash of all files that git knows or would add
    build_seconds: float = 0.0
    build_cpu_seconds: float = 0.0
    test_seconds: float = 0.0
    test_cpu_seconds: float = 0.0
    passed: int = 0
    failures: list = dataclasses.field(default_factory=list)
    skipped: list = dataclasses.field(default_factory=list)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(dataclasses.asdict(self), file, indent=2)
            file.write("\n")


def read(path):
    """The results that were kept in that file, or None."""
    try:
        with open(path, encoding="utf-8") as file:
            return Results(**json.load(file))
    except (OSError, ValueError, TypeError):
        return None


def path_of(build_directory, configuration):
    return os.path.join(build_directory, f"results-{configuration}.json")


def count(report, results):
    """Adds the cases of ctest's report to the results."""
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        add_case(case.get("name"), case, case.findtext("system-out") or "", results)


def add_case(name, case, output, results):
    cases = CASES.search(output)
    passed, failed, _ = map(int, cases.groups()) if cases else (0, 0, 0)
    results.passed += passed
    results.skipped += [f"{name}: {each}" for each in SKIPPED_CASE.findall(output)] if cases else []
    if case.find("failure") is not None or case.get("status") == "fail":
        results.failures += [name] * max(failed, 1)
    elif cases:
        return
    elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        results.skipped.append(f"{name}: {reason_of_skip(output)}")
    else:
        results.passed += 1


def reason_of_skip(output):
    """GoogleTest prints the reason after `Skipped`, a script in its last line."""
    match = re.search(r": Skipped\n(.+)", output)
    if match:
        return match.group(1).strip()
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no reason given"
