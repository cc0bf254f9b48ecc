# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The daemon killed every 300 ms for 30 seconds under load: totals are right after each start."""

from test_daemon import restart_for


def test_killed_every_300_ms_for_30_seconds(daemons):
    assert restart_for(daemons(), 30) >= 30
