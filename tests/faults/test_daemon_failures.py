# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Some calls of a daemon fail, one in each of its runs. long_daemon_failures.py has many more."""

import random

from daemon_with_failures import count_calls, fail
from support import command

RUNS = 6


def test_some_failures():
    with command.workload():
        calls = count_calls()
        for number in sorted(random.sample(range(1, calls + 1), RUNS)):
            print(f"call {number} of {calls}")
            fail(number)
