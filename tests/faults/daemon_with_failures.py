# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A daemon of which one call fails: it says so and ends, or it is right after the next look."""

import contextlib
import functools
import http.client
import json
import os
import re
import signal
import subprocess
import time
import urllib.request

from support.built import TTMEM, program
from support.waiting import DEADLINE_SECONDS

DEMO_DRAM = 26_214_400  # requested by the process of the demonstration


@functools.lru_cache
def never_failing():
    """Where the library for JSON gives memory back: it needs some for that, a list of values, and ends without."""
    symbols = subprocess.run(["nm", "-S", "-C", TTMEM], check=True, capture_output=True, text=True).stdout
    return ",".join(f"{int(begin, 16):x}-{int(begin, 16) + int(size, 16):x}" for begin, size in re.findall(
        r"^(\w+) (\w+) \w .*(?:json_value::destroy|vector<nlohmann\S.*>::(?:reserve|emplace_back|_M_realloc_insert))\b",
        symbols, re.MULTILINE))


class FailingDaemon:
    """`ttmem serve` in which call n of the program itself fails; 0: none. Allocations are calls if wanted."""

    def __init__(self, number, allocations=False):
        environment = {**os.environ, "LD_PRELOAD": program("libfailing_calls.so"),
                       "TTMEM_FAIL_AT": str(number), "TTMEM_FAIL_REPORT": "calls.txt",
                       **({"TTMEM_FAIL_NEW": "1", "TTMEM_FAIL_NOT_IN": never_failing()} if allocations else {})}
        self.process = subprocess.Popen(
            [TTMEM, "serve", "--http", "127.0.0.1:0", "--legacy-socket", "off", "--history", "memory"],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.address = None
        self.words = ""
        for line in self.process.stderr:
            self.words += line
            if found := re.search(r"http://[0-9.]+:\d+", line):
                self.address = found[0]
                break

    def requested(self):
        try:
            with urllib.request.urlopen(f"{self.address}/api/v1/snapshot", timeout=10) as answer:
                document = json.load(answer)
        except (OSError, http.client.HTTPException):  # it may fail in the middle of an answer
            return None
        return sum(device["dram"]["requested"] or 0 for device in document["devices"])

    def until_right(self):
        """Whether its figures become what they are."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if self.requested() == DEMO_DRAM:
                return True
            time.sleep(0.1)
        return False

    def end(self):
        """Its exit code, and how many calls it made. The call that fails may be the one that tells of the signal."""
        for _ in range(2):
            self.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(DEADLINE_SECONDS / 4)
                break
        self.words += self.process.communicate(timeout=DEADLINE_SECONDS)[1]
        with open("calls.txt", encoding="utf-8") as file:
            return self.process.returncode, int(file.read())


def count_calls(allocations=False):
    daemon = FailingDaemon(0, allocations)
    assert daemon.until_right(), daemon.words
    code, calls = daemon.end()
    assert code == 0 and calls > 50, f"{code}, {calls} calls"
    return calls


def fail(number, allocations=False):
    """Call `number` of a daemon fails, whichever it is."""
    daemon = FailingDaemon(number, allocations)
    if daemon.address is None:  # it did not come so far: then it says why
        code = daemon.process.wait(DEADLINE_SECONDS)
        assert code > 0, f"call {number}: ended with {code}: {daemon.words}"
        assert daemon.words.strip(), f"call {number}: no word"
        return
    right = daemon.until_right()
    code, _ = daemon.end()
    assert right or code > 0, f"call {number}: wrong figures: {daemon.words}"
    assert code >= 0, f"call {number}: ended by signal {-code}: {daemon.words}"
