# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A real Prometheus that scrapes a real daemon answers every query of the dashboards, with the numbers of the daemon."""

import json
import os
import pwd
import re
import signal

import pytest

from daemon import workload
from support import command
from support.waiting import eventually
from tools_prometheus import prometheus, scraping

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
FOLDER = os.path.join(SOURCE, "packaging", "grafana")
NAMES = ("fleet", "job", "host", "device")
#: Nothing failed and nobody died in this test, and the chips are made up, so these are empty.
EMPTY = ("Failed allocations", "Processes that died", "What grows from step to step", "Died first",
         "What it held when it died", "Temperature", "Power")


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
    user = pwd.getpwuid(os.geteuid()).pw_name
    for name, value in (("host", host), ("device", "0"), ("workload", "train"), ("user", user)):
        expression = expression.replace("$" + name, value)
    return scraper.ask(expression)


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
    job = {panel["title"]: ask(scraper, panel["targets"][0]["expr"])[0][1] for panel in panels("job")
           if panel["title"] not in EMPTY}
    assert job["DRAM taken"] == device["dram"]["taken"] and job["Ranks that are missing"] == 1
    told, = command.document("status", "--by", "job")["jobs"]
    assert (job["L1 taken"], job["Hosts"], job["Ranks that live"]) == (told["l1"], 1, 1)
    assert job["Least headroom of a rank"] == told["least_headroom"]["headroom"]
    assert job["DRAM between ranks, most to least"] == 0 and job["Processes of it that died"] == 0
    host = {panel["title"]: ask(scraper, panel["targets"][0]["expr"]) for panel in panels("host")}
    assert host["DRAM taken"][0][1] == sum(each["dram"]["taken"] for each in command.document("status")["devices"])
    assert host["Processes"][0][1] == 1 and host["Least headroom"][0][1] == device["headroom"]["min"]
    assert {(each["device"], value) for each, value in host["L1 used per device"]} == {
        (str(each["id"]), each["l1_total"]["used"]) for each in command.document("status")["devices"]}
    fleet = {panel["title"]: ask(scraper, panel["targets"][0]["expr"]) for panel in panels("fleet")}
    devices = command.document("status")["devices"]
    assert fleet["DRAM taken"][0][1] == sum(each["dram"]["taken"] for each in devices)
    assert fleet["DRAM that can be given out"][0][1] == sum(each["dram"]["capacity"] for each in devices)
    assert fleet["L1 used"][0][1] == sum(each["l1_total"]["used"] for each in devices)
    assert (fleet["Jobs"][0][1], fleet["Hosts that answer"][0][1], fleet["Hosts that do not answer"][0][1]) == (1, 1, 0)


def test_a_job_of_somebody_else_is_another_job():
    for panel in panels("job"):
        assert all('user="$user"' in target["expr"] for target in panel["targets"]), panel["title"]


def test_dashboards_use_only_documented_metrics():
    with open(os.path.join(SOURCE, "docs", "metrics.md"), encoding="utf-8") as file:
        documented = set(re.findall(r"^\| `(ttmem_\w+)` \|", file.read(), re.M))
    for name in NAMES:
        for panel in panels(name):
            for target in panel["targets"]:
                assert set(re.findall(r"ttmem_\w+", target["expr"])) <= documented, target


def test_who_died_first_and_what_it_held(folder, daemons, monkeypatch):
    for name, value in (("TT_MEM_JOB", "train"), ("TT_MEM_RANK", "3"), ("TT_MEM_RANKS", "4")):
        monkeypatch.setenv(name, value)
    with scraping(prometheus, folder, daemons()) as scraper:
        with workload() as pids:
            eventually(lambda: scraper.ask("ttmem_job_ranks > 0"))
            held = command.document("status", "--by", "job")["jobs"][0]["dram"]
            os.kill(pids[0], signal.SIGKILL)
        told = {panel["title"]: panel["targets"][0]["expr"] for panel in panels("job")}
        first, = eventually(lambda: ask(scraper, told["Died first"]))
        assert first[0]["rank"] == "3" and first[1] > 1.7e12
        left = {each["space"]: value for each, value in ask(scraper, told["What it held when it died"])}
        assert left["dram"] == held
