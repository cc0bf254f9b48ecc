# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""History of a real daemon: what it saw, across a restart, beside what it was told."""

import os
import re
import time

from daemon import workload
from support import built
from support.waiting import eventually


def last_known(daemon, metric):
    """The newest value of the last minute that is known, of the first series."""
    answer = daemon.document(f"/api/v1/history?metric={metric}&from=-1m&step=1s")
    assert answer["document"] == "history"
    if not answer["series"]:
        return None
    assert answer["to_s"] - answer["from_s"] == len(answer["series"][0]["last"]) * answer["step_s"]
    known = [value for value in answer["series"][0]["last"] if value is not None]
    return known[-1] if known else None


def history_file(folder):
    return os.path.join(folder, "state", "history.db")


def test_what_status_says_is_remembered(folder, daemons):
    daemon = daemons(history=history_file(folder))
    with workload() as pids:
        daemon.catch_up()
        device, = daemon.document("/api/v1/snapshot")["devices"]
        eventually(lambda: last_known(daemon, "dram.taken") == device["dram"]["taken"])
        assert last_known(daemon, "l1.requested") == device["l1"]["requested"]
        runs = daemon.document("/api/v1/runs")["runs"]
        assert {run["pid"] for run in runs} >= set(pids)
        for run in runs:
            assert run["devices"][0]["peak_dram"] >= device["dram"]["taken"]


def test_goes_on_after_a_restart(folder, daemons):
    daemon = daemons(history=history_file(folder))
    with workload() as pids:
        eventually(lambda: last_known(daemon, "dram.taken"))
        daemon.catch_up()
        held = daemon.document("/api/v1/snapshot")["devices"][0]["dram"]["taken"]
        eventually(lambda: last_known(daemon, "dram.taken") == held)
        assert daemon.stop() == 0
        stopped = int(time.time()) + 1
        eventually(lambda: time.time() > stopped + 3, "seconds that nobody sees")
        begun = int(time.time())
        daemon.start()

        def values(begin, end):
            series, = daemon.document(f"/api/v1/history?metric=dram.taken&device=0&from={begin}&to={end}&step=1s")["series"]
            return series["last"]
        eventually(lambda: held in values(begun, "now"), "it goes on")
        assert held in values(stopped - 60, stopped), "what was before is there"
        assert set(values(stopped, begun)) == {None}, "nobody looked"
        runs = daemon.document("/api/v1/runs")["runs"]
        assert sorted(run["pid"] for run in runs if run["pid"] in pids) == sorted(pids)


def test_a_killed_daemon_leaves_a_good_file(folder, daemons):
    daemon = daemons(history=history_file(folder))
    with workload():
        eventually(lambda: last_known(daemon, "dram.taken"))
        time.sleep(6)  # a batch is written every five seconds
        daemon.kill()
        daemon.start()
        assert daemon.document("/healthz")["history"]["problem"] is None
        assert eventually(lambda: last_known(daemon, "dram.taken")) > 0
        assert os.listdir(os.path.dirname(history_file(folder))).count("history.db") == 1


def test_a_file_that_is_not_ours_is_left_alone(folder, daemons):
    path = os.path.join(folder, "notes.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("my notes\n" * 100)
    daemon = daemons(history=path)
    assert "is not a history of ttmem" in daemon.log()
    assert "is not a history of ttmem" in daemon.document("/healthz")["history"]["problem"]
    with workload():
        assert eventually(lambda: daemon.document("/api/v1/snapshot")["devices"])
        assert eventually(lambda: last_known(daemon, "dram.taken")) > 0
    with open(path, encoding="utf-8") as file:
        assert file.read() == "my notes\n" * 100


def test_wrong_questions_say_what_to_do(folder, daemons):
    daemon = daemons(history=history_file(folder))
    for question, answer in (
        ("metric=nothing", "no metric 'nothing'"),
        ("metric=dram.taken&from=never", "a time is"),
        ("metric=dram.taken&step=0", "a step is"),
        ("metric=dram.taken&from=-90d&step=1s", "step of"),
        ("metric=dram.taken&colour=red", "may be metric"),
    ):
        status, message = daemon.error("/api/v1/history?" + question)
        assert status == 400 and answer in message


def page():
    with open(os.path.join(built.SOURCE, "docs", "history.md"),
              encoding="utf-8") as file:
        return file.read()


def test_the_page_is_true(folder, daemons):
    """Its lines do what they say; it names every metric and every field, and no other metric."""
    daemon = daemons(history=history_file(folder))
    with workload():
        eventually(lambda: last_known(daemon, "dram.taken"))
        lines = re.search(r"```sh\n(.*?)```", page(), re.DOTALL).group(1).splitlines()
        assert len(lines) == 3
        for line in lines:
            path = re.search(r"http://127.0.0.1:7171(/[^']*)'", line).group(1)
            document = daemon.document(path)
            assert document["schema"] == 1
            rows = document.get("series") or document.get("runs") or document["metrics"]
            assert rows, line
            if document["document"] in ("history", "runs"):
                for field in [*document, *rows[0], *rows[0].get("devices", [{}])[0]]:
                    assert re.search(rf"\b{field}\b", page()), field
        unit = re.compile(r"\| (bytes|dispatches/s|processes|millidegrees|microwatts|MHz) \|")
        listed = [name for line in page().splitlines() if unit.search(line)
                  for name in re.findall(r"`([a-z0-9_.]+)`", line)]
        told = [metric["name"] for metric in daemon.document("/api/v1/history")["metrics"]]
        assert sorted(listed) == sorted(told)
