# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Cluster descriptors of boards that TT-Metal can open as mock devices, made from their geometry.

A descriptor lists the chips of a host, the ethernet links between them, which of them have a PCIe
link, and which rows or columns of each chip are harvested. JSON is YAML, so they are written as JSON.
"""

import json
import os

# The product code that a board id carries in bits 36 to 55.
PRODUCT_CODES = {"n150": 0x18, "n300": 0x14, "ubb": 0x35, "p150": 0x40, "p300": 0x45}


def harvesting(mask, eth=0, pcie=0):
    return {
        "noc_translation": True,
        "harvest_mask": mask,
        "dram_harvesting_mask": 0,
        "eth_harvesting_mask": eth,
        "pcie_harvesting_mask": pcie,
    }


def link(chip, channel, other, other_channel):
    return [{"chip": chip, "chan": channel}, {"chip": other, "chan": other_channel}]


def board(number, kind, chips):
    board_id = (1 << 56) + (PRODUCT_CODES[kind] << 36) + number
    return [{"board_id": board_id}, {"board_type": kind}, {"chips": chips}]


def descriptor(arch, masks, links, with_pcie, boards, positions, unique_ids=None):
    chips = range(len(masks))
    result = {
        "arch": {c: arch for c in chips},
        "chips": positions,
        "ethernet_connections": links,
        "ethernet_connections_to_remote_devices": [],
        "chips_with_mmio": [{c: i} for i, c in enumerate(with_pcie)],
        "harvesting": dict(enumerate(masks)),
        "boards": boards,
    }
    if unique_ids:
        result["chip_unique_ids"] = dict(enumerate(unique_ids))
    return result


def n150():
    return descriptor(
        "wormhole_b0",
        [harvesting(0b0001000000)],
        [],
        [0],
        [board(1, "n150", [0])],
        {0: [0, 0, 0, 0]},
        [0x1000018611800001],
    )


def n300():
    return descriptor(
        "wormhole_b0",
        [harvesting(0b1000001), harvesting(0b0000101)],
        [link(0, 8, 1, 0), link(0, 9, 1, 1)],
        [0],
        [board(1, "n300", [0, 1])],
        {0: [0, 0, 0, 0], 1: [1, 0, 0, 0]},
        [0x1000014611800001, 0x1000014611800002],
    )


def t3k():
    """Four n300 boards, the left chips 0..3 with PCIe, the right ones 4..7 behind them: a 2x4 mesh."""
    links = []
    for left in range(4):
        links += [link(left, 8 + i, left + 4, i) for i in range(2)]
    for a, b, channel in ((0, 1, 14), (2, 3, 14), (0, 2, 6), (4, 5, 6), (6, 7, 6)):
        links += [link(a, channel + i, b, channel + i) for i in range(2)]
    links += [link(1, i, 3, i) for i in range(2)]
    columns = {4: 0, 0: 1, 2: 2, 6: 3}
    positions = {}
    for chip, column in columns.items():
        positions[chip] = [column, 0, 0, 0]
        positions[chip + 1] = [column, 1, 0, 0]
    return descriptor(
        "wormhole_b0",
        [harvesting(0b1000000001) for _ in range(8)],
        links,
        [0, 1, 3, 2],
        [board(i + 1, "n300", [i, i + 4]) for i in range(4)],
        positions,
        [0x261900000 + 0x1000000 * (c // 4) + 0x111 * c for c in range(8)],
    )


def galaxy():
    """Four trays of eight chips; chip = 4 * (location - 1) + tray. A tray is 4 rows of 2 columns.

    Trays 0 and 3 face each other with their left columns, 0 and 2 with their first rows, and the
    last rows and right columns close the rings: an 8x4 torus with four links on every edge.
    """

    def four(a, channel, b, other):
        return [link(a, channel + i, b, other + i) for i in range(4)]

    def chip(tray, row, column):
        return 4 * (4 * column + row) + tray

    links = []
    for tray in range(4):
        for row in range(4):
            links += four(chip(tray, row, 0), 12, chip(tray, row, 1), 0)
            if row < 3:
                for column in range(2):
                    links += four(chip(tray, row, column), 8, chip(tray, row + 1, column), 4)
    for a, b in ((0, 3), (1, 2)):
        for row in range(4):
            links += four(chip(a, row, 0), 0, chip(b, row, 0), 0)
            links += four(chip(a, row, 1), 12, chip(b, row, 1), 12)
    for a, b in ((0, 2), (1, 3)):
        for column in range(2):
            links += four(chip(a, 0, column), 4, chip(b, 0, column), 4)
            links += four(chip(a, 3, column), 8, chip(b, 3, column), 8)
    result = descriptor(
        "wormhole_b0",
        [harvesting(0) for _ in range(32)],
        links,
        list(range(32)),
        [board(1, "ubb", list(range(32)))],
        {},
        [0x0135303430303000 + (c // 4 << 56) + c % 4 for c in range(32)],
    )
    bus_of_tray = [0xC0, 0x40, 0x00, 0x80]
    result["chip_to_boardtype"] = {c: "ubb" for c in range(32)}
    result["chip_to_bus_id"] = {
        c: f"0x{bus_of_tray[c % 4] + 1 + c // 4:02x}" for c in range(32)
    }
    result["asic_locations"] = {c: 1 + c // 4 for c in range(32)}
    return result


def p150():
    result = descriptor(
        "blackhole",
        [harvesting(0b11000000, eth=0b100100000, pcie=0b10)],
        [],
        [0],
        [board(1, "p150", [0])],
        {},
        [0x4123400000D],
    )
    result["asic_locations"] = {0: 0}
    return result


def p300():
    """Two chips on one board, each with PCIe, joined by two links."""
    result = descriptor(
        "blackhole",
        [harvesting(0b10000010000000, eth=0b100100000, pcie=0b10),
         harvesting(0b100010000, eth=0b100100000, pcie=0b01)],
        [link(0, 2, 1, 9), link(0, 3, 1, 8)],
        [1, 0],
        [board(1, "p300", [1, 0])],
        {},
        [0x8A26A8D0008, 0x8A26A8D0009],
    )
    result["asic_locations"] = {0: 0, 1: 1}
    return result


BOARDS = {"n150": n150, "n300": n300, "t3k": t3k, "galaxy": galaxy, "p150": p150,
          "p300": p300}


def write_all(directory):
    os.makedirs(directory, exist_ok=True)
    for name, make in BOARDS.items():
        temporary = os.path.join(directory, f".{name}.{os.getpid()}")
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(make(), file, indent=1)
        os.replace(temporary, os.path.join(directory, f"{name}.yaml"))
