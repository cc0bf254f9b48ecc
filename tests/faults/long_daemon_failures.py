# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Every call of a daemon, allocations too, until its figures are right fails once, one in each of its runs."""

from daemon_with_failures import count_calls, fail
from support import command

MOST = 8000  # of what comes later it does the same again


def test_every_failure():
    with command.workload(hold=86_400):
        for number in range(1, min(count_calls(allocations=True), MOST) + 1):
            fail(number, allocations=True)
