# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Waiting for what happens in another process: for the thing itself, never for a time."""

import time

#: A machine with many other jobs is slow. Whoever waits so long waits for something that never comes.
DEADLINE_SECONDS = 120


def eventually(probe, what="it", seconds=DEADLINE_SECONDS):
    """What the probe returns as soon as that is true."""
    deadline = time.monotonic() + seconds
    pause = 0.005
    while True:
        found = probe()
        if found:
            return found
        assert time.monotonic() < deadline, f"did not happen in {seconds} s: {what}"
        time.sleep(pause)
        pause = min(2 * pause, 0.1)


def is_gone(pid):
    """No such process any more, or only a zombie that nobody has waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True
