# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Processes with a segment that a stock TT-Metal tells about as well: counted once, and compared."""

import os
import shutil

from daemon import workload
from support.upstream_region import region
from support.waiting import eventually

def test_two_segments_beside_the_runtime_s_own_region(daemons, folder):
    root = os.path.join(folder, "host")
    os.makedirs(os.path.join(root, "dev", "shm"))
    daemon = daemons(TTMEM_HOST_ROOT=root)
    with workload("--processes", "2") as pids:
        daemon.catch_up()
        snapshot = daemon.document("/api/v1/snapshot")
        device = snapshot["devices"][0]
        held = {each["pid"]: [each["devices"][0][space]["requested"]
                              for space in ("dram", "l1", "l1_small", "trace")]
                for each in snapshot["processes"]}
        for each in snapshot["processes"]:
            assert each["tracking"]["upstream_difference_bytes"] is None
        for pid in pids:
            os.makedirs(os.path.join(root, "proc", str(pid)))
            shutil.copy(f"/proc/{pid}/stat", os.path.join(root, "proc", str(pid), "stat"))
        unique_id = int(device["unique_id"], 16)
        first, second = pids
        rows = [(first, *held[first], b"same"),
                (second, held[second][0] + 4096, *held[second][1:], b"more")]
        with open(os.path.join(root, "dev", "shm", f"tt_device_{unique_id}_memory"), "wb") as file:
            file.write(region(unique_id, rows))

        def differences():
            document = daemon.document("/api/v1/snapshot")
            found = {each["pid"]: each["tracking"]["upstream_difference_bytes"]
                     for each in document["processes"]}
            return document if found == {first: 0, second: -4096} else None
        document = eventually(differences)
        assert len(document["processes"]) == 2
        for space in ("dram", "l1", "l1_small", "trace"):
            assert document["devices"][0][space] == device[space]
            assert device[space]["requested"] == sum(
                held[pid][("dram", "l1", "l1_small", "trace").index(space)] for pid in pids)
