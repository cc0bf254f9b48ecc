# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem top` in a terminal beside the stock runtime: at every checkpoint the figures on the screen,
in exact bytes, are those of `ttmem status --json`, which are those of the runtime.
"""

import re

import pytest

import oracle
from support import command
from support.built import TTMEM
from support.waiting import eventually

COLUMNS, ROWS = 200, 60


def number(text):
    return int(text.replace(",", ""))


def devices_on(screen):
    """Of each device in the overview: DRAM taken and capacity, L1 used and capacity, parts of L1."""
    found = {}
    for line in screen.split("\n"):
        if title := re.match(r"│ (\d+) {2}\S+ {2}\S+ {2}\d+x\d+ cores", line):
            device = found[int(title[1])] = {}
        elif bar := re.match(r"│ +(DRAM|L1) .* ([\d,]+) of ([\d,]+) ", line):
            device[bar[1]] = (number(bar[2]), number(bar[3]))
        elif "■ buffers" in line:
            parts = re.findall(r"■ ([\w ]+?) ([\d,]+)", line)
            device["parts"] = {name: number(value) for name, value in parts}
    return found


def devices_in(document):
    return {
        one["id"]: {
            "DRAM": (one["dram"]["taken"], one["dram"]["capacity"]),
            "L1": (one["l1_total"]["used"], one["l1_total"]["capacity"]),
        }
        for one in document["devices"]
    }


def parts_in(device):
    return {
        "buffers": device["l1"]["taken"],
        "program L1": device["program_l1"]["resident"],
    }


def process_on(screen, pid):
    """DRAM, L1, program L1 and kernels of a process."""
    for line in screen.split("\n"):
        if re.match(rf"│ +{pid} ", line):
            return [number(word) for word in re.findall(r" ([\d,]+)", line)][2:6]
    return None


def process_in(document, pid):
    process = next(one for one in document["processes"] if one["pid"] == pid)
    def total(figure):
        return sum(figure(device) or 0 for device in process["devices"])
    return [
        total(lambda device: device["dram"]["taken"]),
        total(lambda device: device["l1_total"]["used"]),
        total(lambda device: device["program_l1"]["resident"]),
        total(lambda device: device["kernels"]["total"]["footprint"]),
    ]


def launches_on(screen):
    found = re.search(r"dispatches ([\d,]+) +hits ([\d,]+) +reloads ([\d,]+)", screen)
    return [number(word) for word in found.groups()] if found else None


def differences(screen, document, pid):
    """What the overview says that the document does not; empty: 0 bytes apart."""
    shown, told = devices_on(screen), devices_in(document)
    wrong = []
    for device in document["devices"]:
        on = dict(shown.get(device["id"], {}))
        parts = on.pop("parts", {})
        if on != told[device["id"]]:
            wrong.append(f"device {device['id']}: {on}, expected {told[device['id']]}")
        for name, value in parts_in(device).items():
            if value and parts.get(name) != value:
                wrong.append(f"device {device['id']} {name}: {parts.get(name)}, expected {value}")
    if process_on(screen, pid) != process_in(document, pid):
        wrong.append(f"process: {process_on(screen, pid)}, expected {process_in(document, pid)}")
    return wrong


class Watched:
    """The live screen, and how often it was compared."""

    def __init__(self, screen):
        self.screen = screen
        self.screen.shows("Devices")
        self.screen.press("b")
        self.compared = 0

    def compare(self, point):
        """Waits for the state of the checkpoint to be on the screen: the host program stands still."""
        document = command.document("status")
        wrong = ["nothing was on the screen"]

        def agrees():
            wrong[:] = differences(self.screen.screen(), document, point["pid"])
            return not wrong

        try:
            eventually(agrees, "the screen of the checkpoint")
        except AssertionError as error:
            raise AssertionError("\n".join([point["checkpoint"], str(error), *wrong,
                                            self.screen.screen()])) from None
        self.compared += len(document["devices"]) * 4 + 4

    def compare_launches(self):
        """Dispatches, hits and reloads in the device view, of all kernels and in their table."""
        kernels = command.document("status")["devices"][0]["kernels"]
        expected = [kernels["dispatches"], kernels["cache_hits"], kernels["reloads"]]
        self.screen.press("2")
        eventually(lambda: launches_on(self.screen.screen()) == expected,
                   f"launches {expected}\n{self.screen.screen()}")
        self.screen.shows("RELOADS")
        self.screen.press("1")
        self.compared += len(expected)


@pytest.mark.parametrize("board", ["n150", "n300"])
def test_the_screen_says_what_status_says(board, new_terminal):
    values = oracle.environment(board, oracle.package())
    with oracle.running([oracle.HOST, "--interactive", "buffers", "programs"], values) as client:
        watched = Watched(new_terminal(f"{TTMEM} top --interval 0.2", COLUMNS, ROWS))
        for point in client.checkpoints():
            if not point.get("chips"):
                continue
            watched.compare(point)
            if point.get("cb_allocated"):
                watched.compare_launches()
    assert watched.compared
