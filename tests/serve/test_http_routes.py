# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Every path of docs/http.md, and that what it says is what the commands say."""

import gzip
import http.client
import json
import os
import subprocess

import pytest

from conftest import status
from daemon import TTMEM, without_times, workload
from support.command import containers
from support.stage import staged
from support.waiting import DEADLINE_SECONDS, eventually

SPACES = ("dram", "l1", "l1_small", "trace")


@pytest.fixture
def busy(daemons):
    daemon = daemons()
    with workload("--devices", "2", "--processes", "2") as pids:
        daemon.catch_up()
        yield daemon, pids


def command(*arguments):
    return json.loads(subprocess.run([TTMEM, *arguments, "--json"], check=True, capture_output=True,
                                     text=True).stdout)


def test_the_snapshot_is_the_document_of_status(busy):
    daemon, _ = busy
    assert without_times(daemon.document("/api/v1/snapshot")) == without_times(status())


def test_one_device(busy):
    daemon, pids = busy
    snapshot = daemon.document("/api/v1/snapshot")
    for device in snapshot["devices"]:
        for name in (str(device["id"]), device["unique_id"]):
            document = daemon.document(f"/api/v1/devices/{name}")
            assert document["document"] == "device"
            assert document["device"] == device
            assert [p["pid"] for p in document["processes"]] == sorted(pids)
            for process in document["processes"]:
                assert [d["id"] for d in process["devices"]] == [device["id"]]
            for space in SPACES:
                assert device[space]["taken"] == sum(
                    process["devices"][0][space]["taken"] for process in document["processes"])


def test_no_such_device(busy):
    daemon, _ = busy
    assert daemon.error("/api/v1/devices/7") == (404, "there is no device 7; there are: 0, 1")
    assert daemon.error("/api/v1/devices/")[0] == 404
    assert daemon.error("/api/v1/devices/0/nothing")[0] == 404


def test_cores_add_up_to_their_l1(busy):
    daemon, _ = busy
    expected = command("status", "--device", "0", "--cores")
    document = daemon.document("/api/v1/devices/0/cores")
    assert without_times(document) == without_times(expected)
    mapped = daemon.document("/api/v1/devices/0/cores?map=1")["devices"][0]["cores"]
    for core in mapped:
        parts = ("fixed", "ring", "program_l1", "gaps", "free", "buffers", "l1_small")
        assert sum(core[part] for part in parts) == (core["l1_bytes"] or 0)
        assert sum(each["end"] - each["begin"] for each in core["map"]) == (core["l1_bytes"] or 0)


def test_processes_of_two_containers_have_two_names(daemons):
    def names(owned):
        return {(each["pid"], each["start"], each["segment"]) for each in owned}

    daemon = daemons()
    with containers(2):
        daemon.catch_up()
        processes = daemon.document("/api/v1/processes")["processes"]
        assert [each["pid"] for each in processes] == [1, 1] and len(names(processes)) == 2
        assert names(daemon.document("/api/v1/holdings")["holdings"]) == names(processes)
        assert names(daemon.document("/api/v1/programs")["programs"]) == names(processes)
        for each in processes:
            one = f"?pid=1/{each['start']}/{each['segment'].rsplit('-')[-1]}"
            assert names(daemon.document("/api/v1/holdings" + one)["holdings"]) == names([each])
            assert names(daemon.document("/api/v1/programs" + one)["programs"]) == names([each])
        cores = daemon.document("/api/v1/devices/0/cores?map=1")["devices"][0]["cores"]
        owners = names(stretch for core in cores for stretch in core["map"])
        assert owners - {(None, None, None)} and owners <= names(processes) | {(None, None, None)}


def test_programs(busy):
    daemon, pids = busy

    def told(document):
        """In one order: the command shows first what runs now, and looks twice to know."""
        document = without_times(document)
        for program in document["programs"]:
            del program["recent_per_second"]
        document["programs"].sort(key=lambda each: (each["segment"], each["id"]))
        return document
    expected = command("status", "--programs")
    assert told(daemon.document("/api/v1/programs")) == told(expected)
    mine = daemon.document(f"/api/v1/programs?pid={pids[0]}")["programs"]
    assert mine and {each["pid"] for each in mine} == {pids[0]}


def test_a_device_has_the_same_names_everywhere(busy):
    daemon, _ = busy
    unique = daemon.document("/api/v1/snapshot")["devices"][1]["unique_id"]
    for kind in ("programs", "holdings"):
        by_id = without_times(daemon.document(f"/api/v1/{kind}?device=1")[kind])
        assert by_id and by_id == without_times(
            daemon.document(f"/api/v1/{kind}?device={unique}")[kind])
        assert daemon.error(f"/api/v1/{kind}?device=9") == (
            404, "there is no device 9; there are: 0, 1")
        assert daemon.error(f"/api/v1/{kind}?device=first")[0] == 400
    assert without_times(command("dump", "--device", unique)["holdings"]) == by_id
    assert [each["id"] for each in command("status", "--device", unique)["devices"]] == [1]


def test_holdings_in_pages_are_the_dump(busy):
    daemon, pids = busy
    expected = without_times(command("dump")["holdings"])
    whole = without_times(daemon.document("/api/v1/holdings"))
    assert whole["holdings"] == expected
    assert (whole["total"], whole["next"], whole["changed"]) == (len(expected), None, False)
    pages, cursor = [], ""
    while cursor is not None:
        page = daemon.document(f"/api/v1/holdings?limit=3&cursor={cursor}" if cursor else
                               "/api/v1/holdings?limit=3")
        assert len(page["holdings"]) <= 3 and page["changed"] is False
        pages += without_times(page["holdings"])
        cursor = page["next"]
    assert pages == expected
    for query, keeps in (
            (f"pid={pids[1]}", lambda each: each["pid"] == pids[1]),
            ("kind=buffer", lambda each: each["kind"] == "buffer"),
            ("space=l1", lambda each: each["space"] == "l1"),
            ("space=l1&space=dram", lambda each: each["kind"] == "buffer" and each["space"] in ("l1", "dram")),
            ("device=1", lambda each: 1 in each["devices"]),
            ("kind=kernel&process=nobody", lambda each: False)):
        found = without_times(daemon.document("/api/v1/holdings?" + query)["holdings"])
        assert found == [each for each in expected if keeps(each)], query


def test_a_page_says_that_something_happened_since_the_one_before(busy):
    daemon, _ = busy
    first = daemon.document("/api/v1/holdings?limit=1")
    with workload():
        eventually(lambda: len(daemon.document("/api/v1/processes")["processes"]) == 3)
        assert daemon.document(f"/api/v1/holdings?cursor={first['next']}")["changed"] is True


@pytest.mark.parametrize("path", ["snapshot", "processes", "failures", "log", "programs", "origins",
                                  "holdings?limit=1", "events", "devices/0", "devices/0/cores", "devices/0/banks"])
def test_a_parameter_that_a_path_does_not_have_is_refused(busy, path):
    daemon, _ = busy
    code, message = daemon.error(f"/api/v1/{path}{'&' if '?' in path else '?'}colour=red")
    assert code == 400 and "no parameter 'colour'" in message
    assert ("it takes none" in message) == (path in ("snapshot", "log", "devices/0", "devices/0/banks"))


def test_a_switch_is_0_or_1(busy):
    daemon, _ = busy
    for path in ("events?brief=perhaps", "events?events=", "devices/0/cores?map=2"):
        code, message = daemon.error(f"/api/v1/{path}")
        assert code == 400 and message.endswith("must be 0 or 1")
    assert daemon.error("/api/v1/failures?number=first")[0] == 400


def test_processes_are_filtered_as_holdings_are(busy):
    daemon, pids = busy
    everybody = daemon.document("/api/v1/processes")["processes"]
    unique_id = daemon.document("/api/v1/snapshot")["devices"][1]["unique_id"]
    for name in ("1", unique_id):
        found = daemon.document(f"/api/v1/processes?device={name}")["processes"]
        assert [p["pid"] for p in found] == sorted(pids)
        assert all([d["id"] for d in p["devices"]] == [1] for p in found)
    name = everybody[0]["name"]
    assert daemon.document(f"/api/v1/processes?process={name}")["processes"]
    assert daemon.document("/api/v1/processes?process=nobody")["processes"] == []
    assert daemon.document("/api/v1/failures?device=0")["failures"] == []
    assert daemon.error("/api/v1/failures?device=9")[0] == 404


@pytest.mark.parametrize("query", ["limit=0", "limit=10001", "limit=x", "cursor=x", "cursor=1",
                                   "pid=-1", "device=a", "kind=cat", "space=outer"])
def test_a_wrong_parameter_is_named(busy, query):
    code, message = busy[0].error("/api/v1/holdings?" + query)
    assert code == 400 and message.startswith(query.split("=")[0] + " must be ")


def test_history_of_a_metric(busy):
    daemon, _ = busy
    metrics = daemon.document("/api/v1/history")
    assert "dram.taken" in json.dumps(metrics)
    taken = daemon.document("/api/v1/snapshot")["devices"][0]["dram"]["taken"]

    def last():
        answer = daemon.document("/api/v1/history?metric=dram.taken&device=0&from=-1m")
        known = [value for series in answer["series"] for value in series["last"]
                 if value is not None]
        return known and known[-1] == taken
    eventually(last)
    assert daemon.error("/api/v1/history?metric=nothing")[0] == 400
    assert daemon.document("/api/v1/runs")["document"] == "runs"


def test_without_a_history(daemons):
    assert daemons(history="off").error("/api/v1/history")[0] == 404


def test_metrics_and_health(busy):
    daemon, _ = busy
    code, headers, body = daemon.ask("/metrics")
    assert code == 200
    assert headers["Content-Type"].startswith("text/plain; version=0.0.4")
    text = body.decode()
    taken = daemon.document("/api/v1/snapshot")["devices"][0]["dram"]["taken"]
    lines = [line for line in text.splitlines()
             if line.startswith("ttmem_memory_bytes{") and 'device="0"' in line
             and 'space="dram"' in line and 'figure="taken"' in line]
    assert len(lines) == 1 and float(lines[0].split()[-1]) == taken
    health = daemon.document("/healthz")
    assert health["status"] == "ok" and health["devices"] == 2 and health["processes"] == 2


def test_a_scraper_chooses_and_takes_gzip(busy):
    daemon, _ = busy
    plain = daemon.ask("/metrics?collect[]=short")[2].decode()
    assert "ttmem_headroom_bytes" in plain and "ttmem_kernel_footprint_bytes" not in plain
    code, headers, body = daemon.ask("/metrics?collect[]=device&collect[]=process",
                                     headers={"Accept-Encoding": "gzip"})
    assert code == 200 and headers["Content-Encoding"] == "gzip"
    text = gzip.decompress(body).decode()
    assert "ttmem_process_info{" in text and "ttmem_memory_bytes{" in text
    assert daemon.error("/metrics?collect[]=everything")[0] == 400
    assert daemon.error("/metrics?only=device")[0] == 400


def test_the_list_of_the_api_links_only_what_is_there(busy):
    daemon, _ = busy
    code, headers, body = daemon.ask("/api")
    assert code == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    links = [part.split('"')[0] for part in body.decode().split('href="')[1:]]
    assert len(links) >= 9
    for link in links:
        if link != "/api/v1/events":
            assert daemon.ask(link)[0] == 200, link


def test_head_has_the_length_and_no_body(busy):
    daemon, _ = busy
    for path in ("/api/v1/snapshot", "/", "/healthz", "/api/v1/nothing"):
        code, headers, body = daemon.ask(path, "HEAD")
        assert body == b"" and int(headers["Content-Length"]) > 0
        assert code == daemon.ask(path)[0]
    code, headers, body = daemon.ask("/api/v1/events", "HEAD")
    assert (code, headers["Content-Type"], body) == (200, "text/event-stream", b"")


def test_other_methods_and_unknown_paths(busy):
    daemon, _ = busy
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        code, headers, _ = daemon.ask("/api/v1/snapshot", method)
        assert code == 405 and headers["Allow"] == "GET, HEAD"
    for path in ("/nothing.js", "/api/v1", "/api/v2/snapshot", "/api/v1/snapshot/", "/..%2f"):
        assert daemon.error(path)[0] == 404


def test_one_connection_serves_many(busy):
    daemon, _ = busy
    connection = http.client.HTTPConnection(daemon.host, daemon.port, timeout=DEADLINE_SECONDS)
    for _ in range(50):
        connection.request("GET", "/healthz")
        response = connection.getresponse()
        assert response.status == 200 and json.loads(response.read())["status"] == "ok"
    connection.close()


def test_names_of_strangers_stay_inside_their_strings(daemons, folder):
    daemon = daemons()
    program = os.path.join(folder, 'odd"}]<b>\u202e')
    os.symlink(TTMEM, program)
    process = subprocess.Popen([program, "demo", "--hold", "60"], stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        found = eventually(lambda: daemon.document("/api/v1/processes")["processes"])
        assert 'odd"}]<b>' in found[0]["command"]
        assert b'odd\\"}]<b>' in daemon.ask("/api/v1/processes")[2]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def test_one_core(busy):
    daemon, _ = busy
    everything = daemon.document("/api/v1/devices/0/cores?map=1")["devices"][0]["cores"]
    for name, wanted in (("3,4", ("tensix", 3, 4)), ("active_eth:0,3", ("active_eth", 0, 3))):
        cores = daemon.document(f"/api/v1/devices/0/cores?core={name}&map=1")["devices"][0]["cores"]
        assert cores == [core for core in everything
                         if (core["type"], core["x"], core["y"]) == wanted]
    assert daemon.document("/api/v1/devices/0/cores?core=99,99")["devices"][0]["cores"] == []
    for bad in ("x", "1", "1,2,3", "no:1,2", "-1,0"):
        assert daemon.error(f"/api/v1/devices/0/cores?core={bad}")[0] == 400


def test_banks_add_up_to_the_device(daemons):
    daemon = daemons()
    with workload("--devices", "2"):
        daemon.catch_up()
        device = daemon.document("/api/v1/devices/0")["device"]
        banks = daemon.document("/api/v1/devices/0/banks")
        (dram,) = banks["spaces"]
        assert banks["unique_id"] == device["unique_id"] and dram["space"] == "dram"
        assert (dram["end"] - dram["begin"]) * dram["banks"] == device["dram"]["capacity"]
        assert sum(b["end"] - b["begin"] for b in dram["blocks"]) * dram["banks"] == \
            device["dram"]["taken"]
        assert dram["free"][0]["end"] - dram["free"][0]["begin"] == device["dram"]["largest_free"]
        assert sum(f["end"] - f["begin"] for f in dram["free"]) == dram["free_bytes"]
        assert dram["blocks"][0]["operation"] and not dram["truncated"]


def test_the_log_is_what_happened(busy):
    daemon, pids = busy
    events = daemon.document("/api/v1/log")["events"]
    assert {event["pid"] for event in events} == set(pids)
    assert [event["event"] for event in events].count("program_loaded") == 3 * len(pids)
    times = [event["time_ns"] for event in events]
    assert times == sorted(times)


def test_one_process_and_what_the_daemon_costs(busy):
    daemon, pids = busy
    (one,) = daemon.document(f"/api/v1/processes?pid={pids[1]}")["processes"]
    assert one == [process for process in daemon.document("/api/v1/processes")["processes"]
                   if process["pid"] == pids[1]][0]
    assert daemon.document("/api/v1/processes?pid=1")["processes"] == []
    cost = daemon.document("/healthz")["self"]
    assert cost["cpu_seconds"] > 0 and cost["resident_bytes"] > 1 << 20 and cost["requests"] > 1


def test_failures_with_and_without_their_picture(daemons):
    daemon = daemons()
    with staged() as play:
        play("open")
        play("allocate", id=1, address=2_000_000, block=4096)
        play("fail", message="Out of Memory", requested=64_880_640, space=1)
        play("free", id=1)
        daemon.catch_up()
        (failure,) = daemon.document("/api/v1/failures")["failures"]
        assert failure["pid"] == play.pid and failure["requested"] == 64_880_640
        assert failure["picture"] is None and failure["holdings"] == 1
        (failure,) = daemon.document(f"/api/v1/failures?pid={play.pid}&number=1")["failures"]
        assert [held["block"] for held in failure["picture"]] == [4096]
        for path in (f"?pid={play.pid}&number=2", "?pid=1"):
            assert daemon.document("/api/v1/failures" + path)["failures"] == []
