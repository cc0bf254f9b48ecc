# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The server killed every 300 ms for 30 seconds under load: totals are right after each start."""

import random
import time

from conftest import status
from legacy_client import DRAM, L1
from support.waiting import eventually


def test_totals_are_right_after_each_start(server):
    chooser = random.Random(5)
    processes = [server.process() for _ in range(5)]
    held = {process.pid: {} for process in processes}
    number = 0
    rounds = 0
    end = time.monotonic() + 30
    while time.monotonic() < end:
        stop = time.monotonic() + 0.3
        while time.monotonic() < stop:
            process = chooser.choice(processes)
            mine = held[process.pid]
            if mine and chooser.random() < 0.45:
                identity = chooser.choice(list(mine))
                process.free(0, identity)
                del mine[identity]
            else:
                number += 1
                mine[number] = (chooser.choice((DRAM, L1)), chooser.randrange(1, 1 << 20))
                process.alloc(0, mine[number][1], mine[number][0], number)
        for process in processes:
            process.query(0)
        server.kill()
        server.start()
        rounds += 1
        totals = [sum(size for mine in held.values() for kind, size in mine.values()
                      if kind == wanted) for wanted in (DRAM, L1)]
        counters = server.client().query(0)
        assert [counters["dram"], counters["l1"]] == totals, rounds
        device = eventually(lambda: status()["devices"], seconds=1)[0]
        assert [device["dram"]["requested"], device["l1"]["requested"]] == totals, rounds
        for process in processes:
            process.reconnect()
    assert rounds > 20
