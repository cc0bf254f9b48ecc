# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A real Prometheus that scrapes a real daemon answers every query of the dashboards, with the numbers of the daemon."""

import json
import os
import re

import pytest

from daemon import workload
from support import command
from support.waiting import eventually
from tools_prometheus import prometheus, scraping

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
FOLDER = os.path.join(SOURCE, "packaging", "grafana")
NAMES = ("fleet", "job", "host", "device")
#: Nothing failed and nobody died in this test, so these tables are empty.
EMPTY = ("Failed allocations", "Processes that died")


def panels(name):
    with open(os.path.join(FOLDER, f"{name}.json"), encoding="utf-8") as file:
        return json.load(file)["panels"]


@pytest.fixture
def scraper(folder, daemons, monkeypatch):
    for name, value in (("TT_MEM_JOB", "train"), ("TT_MEM_RANK", "0"), ("TT_MEM_RANKS", "2")):
        monkeypatch.setenv(name, value)
    with workload(), scraping(prometheus, folder, daemons()) as running:
        # A rate needs two scrapes.
        eventually(lambda: running.ask('rate(ttmem_dispatches_total{kind="all"}[1m])'))
        yield running


def ask(scraper, expression):
    host = scraper.ask("ttmem_self_snapshots_total")[0][0]["instance"]
    return scraper.ask(expression.replace("$host", host).replace("$device", "0").replace("$workload", "train"))


@pytest.mark.parametrize("name", NAMES)
def test_every_query_is_answered(name, scraper):
    assert panels(name)
    for panel in panels(name):
        for target in panel["targets"]:
            assert bool(ask(scraper, target["expr"])) != (panel["title"] in EMPTY), (panel["title"], target)


def test_the_numbers_are_those_of_the_daemon(scraper):
    device = command.document("status")["devices"][0]
    told = {panel["title"]: ask(scraper, panel["targets"][0]["expr"]) for panel in panels("device")}
    assert told["Headroom"][0][1] == device["headroom"]["min"]
    assert told["Share of DRAM taken"][0][1] == pytest.approx(device["dram"]["taken"] / device["dram"]["capacity"])
    assert told["Kernels, footprint"][0][1] == device["kernels"]["total"]["footprint"]
    job = {panel["title"]: ask(scraper, panel["targets"][0]["expr"])[0][1] for panel in panels("job")}
    assert job["DRAM taken"] == device["dram"]["taken"] and job["Ranks that are missing"] == 1
    fleet = {panel["title"]: ask(scraper, panel["targets"][0]["expr"]) for panel in panels("fleet")}
    assert fleet["DRAM taken"][0][1] == sum(each["dram"]["taken"] for each in command.document("status")["devices"])


def test_dashboards_use_only_documented_metrics():
    with open(os.path.join(SOURCE, "docs", "metrics.md"), encoding="utf-8") as file:
        documented = set(re.findall(r"^\| `(ttmem_\w+)` \|", file.read(), re.M))
    for name in NAMES:
        for panel in panels(name):
            for target in panel["targets"]:
                assert set(re.findall(r"ttmem_\w+", target["expr"])) <= documented, target
