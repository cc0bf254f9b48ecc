# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A plugin for the tests of TT-Metal (scripts/real): what each came to and, where ttmem records, whether its bytes are the
runtime's.

Compared while the devices of a test are still open: after the test, before its fixtures end. One line of JSON for each test
goes to the file TTMEM_REAL_OUTCOMES; TTMEM_REAL_COMMAND names the command ttmem where the process is recorded.
"""

import json
import os
import subprocess

import pytest

SPACES = {"dram": "DRAM", "l1": "L1", "l1_small": "L1_SMALL", "trace": "TRACE"}
COMMAND = os.environ.get("TTMEM_REAL_COMMAND")


def devices_of(item):
    """The open devices and meshes that a test got from its fixtures, each once."""
    import ttnn  # only here: a test that cannot be imported must say so itself

    found = {}
    for value in getattr(item, "funcargs", {}).values():
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(each, ttnn.MeshDevice):
                found[id(each)] = each
    return list(found.values())


def recorded():
    """The devices of this process as ttmem shows them, by their number in this process."""
    told = subprocess.run([COMMAND, "status", "--json"], capture_output=True, text=True, check=True).stdout
    mine = [each for each in json.loads(told)["processes"] if each["pid"] == os.getpid()]
    return {device["metal_id"]: device for device in mine[0]["devices"]} if mine else {}


def figures_of(mesh):
    """(name, chip, path, bytes) of everything that the runtime says of a mesh."""
    import ttnn

    for label, name in SPACES.items():
        view = ttnn.get_memory_view(mesh, getattr(ttnn.BufferType, name))
        for chip in mesh.get_device_ids():
            yield chip, label, "taken", view.total_bytes_allocated_per_bank * view.num_banks
            if view.total_bytes_per_bank:
                yield chip, label, "capacity", view.total_bytes_per_bank * view.num_banks
                yield chip, label, "largest_free", view.largest_contiguous_bytes_free_per_bank


def compare(item):
    """How many figures were compared, and those that differ."""
    meshes = devices_of(item)
    ours = recorded() if meshes else {}
    count, different = 0, []
    for mesh in meshes:
        for chip, space, figure, theirs in figures_of(mesh):
            count += 1
            mine = (ours.get(chip, {}).get(space) or {}).get(figure)
            if mine != theirs:
                different.append(f"chip {chip} {space} {figure}: runtime {theirs}, ttmem {mine}")
    return count, different


class Outcomes:
    def __init__(self, path):
        self.path, self.phases, self.compared = path, {}, {}

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item):
        if COMMAND:
            try:
                self.compared[item.nodeid] = compare(item)
            except Exception as error:  # a comparison that cannot be made is a difference, and the test goes on
                self.compared[item.nodeid] = (0, [f"not compared: {type(error).__name__}: {error}"])
        yield

    def pytest_runtest_logreport(self, report):
        phases = self.phases.setdefault(report.nodeid, [])
        crash = getattr(report.longrepr, "reprcrash", None)
        why = crash.message.split("\n")[0].split(":")[0] if crash else ""
        phases.append(f"{report.when} {report.outcome} {why}".strip())
        if report.when == "teardown":
            self.write(report.nodeid)

    def write(self, test):
        count, different = self.compared.pop(test, (0, []))
        with open(self.path, "a", encoding="utf-8") as file:
            print(json.dumps({"test": test, "phases": self.phases.pop(test), "figures": count,
                              "different": different}), file=file)


def pytest_addoption(parser):
    parser.addoption("--ttmem-real-first", type=int, default=0, help="only so many tests of each file")


def pytest_collection_modifyitems(config, items):
    first = config.getoption("--ttmem-real-first")
    seen = {}
    kept = []
    for item in items:
        seen[item.fspath] = seen.get(item.fspath, 0) + 1
        if not first or seen[item.fspath] <= first:
            kept.append(item)
    items[:] = kept


def pytest_configure(config):
    config.pluginmanager.register(Outcomes(os.environ["TTMEM_REAL_OUTCOMES"]), "ttmem-real-outcomes")
