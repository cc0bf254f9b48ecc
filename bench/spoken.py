# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The language of the benchmark programs (README.md), for the scripts that speak it."""

import argparse
import json
import os
import re
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def arguments(description):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--benchmark_format", default="json", help="only json is spoken")
    parser.add_argument("--benchmark_filter", default="", help="regular expression on names")
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"), help="build directory")
    return parser.parse_args()


def entry(name, value, limit, label):
    return dict(name=name, run_name=name, run_type="iteration", value=value, limit=limit, label=label)


def tell(script, entries):
    """Prints the figures of a script; an exit code."""
    executable = f"bench/{os.path.basename(script)}"
    json.dump({"context": {"executable": executable}, "benchmarks": entries}, sys.stdout)
    return 0


def result_of(command, folder, environment):
    """What a child printed after RESULT, or None, and how it ended."""
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True,
                          check=False)
    found = re.search(r"^RESULT (.*)$", done.stdout, re.MULTILINE)
    return json.loads(found.group(1)) if found else None, done
