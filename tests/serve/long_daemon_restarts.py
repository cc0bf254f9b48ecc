# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The daemon killed again and again under load: totals are right after each start."""

from test_daemon import restart_again_and_again


def test_killed_sixty_times_while_others_work(daemons):
    restart_again_and_again(daemons(), 60)
