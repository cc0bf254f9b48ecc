# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Every view shows what the daemon's JSON says, to the byte."""

import subprocess
import time

import pytest
import scenes
from support import command
from support.stage import staged


def figures_of(document, names):
    """{"dram.taken": 5} for these names."""
    result = {}
    for name in names:
        value = document
        for part in name.split("."):
            value = value[part]
        result[name] = value
    return result


def seen(page, within="main"):
    return page.figures(within)


def agrees(page, within, document):
    """Waits until the figures shown there are those of the document, which does not change."""
    def same():
        shown = seen(page, within)
        return shown and shown == figures_of(document, shown)
    page.until(same, "the page shows the figures of the JSON")
    return seen(page, within)


def test_nothing_is_recorded(page):
    page.open("/")
    page.until(lambda: "No device is in use" in page.text())
    assert "ttmem run python model.py" in page.text()
    for path in ("/p", "/holdings", "/programs", "/events", "/failures", "/health", "/t"):
        page.open(path)
        page.until(lambda: len(page.text()) > 20, path)


def test_overview(page, daemon, stage):
    scenes.model(stage("llama"), chips=8, mesh=[2, 4])
    page.open("/")
    page.until(lambda: page.count("article.card") == 8)
    for device in daemon.document("/api/v1/snapshot")["devices"]:
        shown = agrees(page, f'article[data-device="{device["id"]}"]', device)
        assert shown["dram.taken"] > 0 and shown["l1_total.used"] > 0 and "headroom.min" in shown
    assert "llama" in page.text('article[data-device="5"]')


def test_chips_stand_as_they_are_wired(page, stage):
    scenes.model(stage("llama"), chips=8, mesh=[2, 4])
    page.open("/")
    page.until(lambda: page.count("article.card") == 8)
    places = page.run("""return await page.evaluate(() => [...document.querySelectorAll('article.card')].map(
        (card) => { const box = card.getBoundingClientRect(); return [box.top, box.left]; }))""")
    rows = sorted({top for top, _ in places})
    columns = sorted({left for _, left in places})
    assert len(rows) == 2 and len(columns) == 4
    assert [(rows.index(top), columns.index(left)) for top, left in places] == [
        (row, column) for row in range(2) for column in range(4)]


def test_processes_add_up_to_the_devices(page, daemon, stage):
    scenes.model(stage("one"), chips=2)
    other = stage("two")
    other("open", count=1, first=1)
    other("allocate", id=1, address=1 << 29, block=1 << 20)
    page.open("/p")
    page.until(lambda: len(page.rows("processes")) == 2)
    snapshot = daemon.document("/api/v1/snapshot")
    rows = page.rows("processes")
    for column, of in (("dram", "dram"), ("l1", "l1")):
        assert sum(row[column] for row in rows) == sum(each[of]["taken"] for each in snapshot["devices"])
    assert {row["name"] for row in rows} == {"one", "two"}


def test_device_and_its_banks(page, daemon, stage):
    scenes.model(stage())
    page.open("/d/0")
    device = daemon.document("/api/v1/devices/0")["device"]
    shown = agrees(page, ".panels", device)
    assert {"dram.taken", "l1_total.used", "program_l1.resident", "kernels.total.footprint",
            "headroom.min"} <= set(shown)
    bank = daemon.document("/api/v1/devices/0/banks")["spaces"][0]
    page.until(lambda: "dram.bank_free" in page.figures('section[aria-label="DRAM bank"]'))
    banks = page.figures('section[aria-label="DRAM bank"]')
    assert banks["dram.bank_free"] == bank["free_bytes"]
    assert banks["dram.bank_largest"] == bank["free"][0]["end"] - bank["free"][0]["begin"]


def cores_shown(page):
    return page.run("""return await page.evaluate(() => Object.fromEntries(
        [...document.querySelectorAll('[data-core]')].map((each) => [each.dataset.core, JSON.parse(each.dataset.bytes)])))""")


def test_core_map(page, daemon, stage):
    scenes.model(stage())
    cores = daemon.document("/api/v1/devices/0/cores")["devices"][0]["cores"]
    workers = [core for core in cores if core["role"] == "worker"]
    for heat, value in (("", lambda core: core["buffers"] + core["program_l1"] + core["l1_small_taken"]),
                        ("headroom", lambda core: core["headroom"]),
                        ("ring", lambda core: core["ring_used"]),
                        ("kernels", lambda core: core["kernel_footprint"])):
        page.open(f"/d/0?heat={heat}")
        expected = {f"{core['x']},{core['y']}": value(core) for core in workers}
        page.until(lambda: cores_shown(page) == expected, f"the core map of {heat or 'used'}")


def test_every_core_is_shown_as_what_it_is(page, daemon, stage):
    scenes.model(stage(), noc=True)
    page.open("/d/0")
    page.until(lambda: page.count("[data-core]") == 64)
    cores = daemon.document("/api/v1/devices/0/cores")["devices"][0]["cores"]
    others = [core for core in cores if core["role"] != "worker"]
    shown = page.run("""return await page.evaluate(() => Object.fromEntries(
        [...document.querySelectorAll('[data-other]')].map((each) => [each.dataset.other, [each.dataset.place, each.textContent]])))""")
    assert set(shown) == {f"{core['type']}:{core['x']},{core['y']}" for core in others} and len(others) == 10
    assert "dispatch" in shown["dispatch:1,0"][1] and "eth" in shown["active_eth:0,2"][1]
    # Row 1 of the network has no core at all: it is closed up.
    assert shown["dispatch:1,0"][0] == "9,2" and shown["active_eth:0,2"][0] == "2,0"
    assert "as they lie on the chip" in page.text('section[aria-label="Cores"]')
    page.click('[data-other="active_eth:0,2"]')
    page.until(lambda: page.path() == "/d/0/c/active_eth:0,2")
    page.until(lambda: page.count(".l1-table tbody tr") > 0, "its own L1")
    assert "Ethernet, active" in page.text('section[aria-label^="Core "]')


def test_launches_per_core(page, daemon, stage):
    play = stage()
    scenes.model(play)
    page.open("/d/0?heat=launches")
    page.until(lambda: page.count("[data-core]") == 64)

    def same():
        play("launch", id=11)  # on columns 0 to 3
        programs = {each["name"]: each for each in daemon.document("/api/v1/programs?device=0")["programs"]}
        shown = cores_shown(page)
        rate = programs["softmax"]["recent_per_second"]
        return rate and shown["0,0"] and shown["0,0"] > shown["7,7"] and shown["7,7"] == shown["4,4"]
    page.until(same, "a core has the launches of its programs")


def test_views_are_drawn_as_views(page, daemon, stage):
    play = stage()
    top = scenes.model(play)
    play("program", id=50, name="conv", cores=[0, 0, 3, 3], cbs=[4096], views=[{"buffer": 502, "address": top, "bytes": 32768}])
    play("launch", id=50)
    page.open("/d/0/c/1,1")
    page.until(lambda: page.count(".l1-column [data-view]") == 1, "the view")
    assert page.run("return await page.locator('[data-view]').first().getAttribute('data-view')") == "32768"
    core = daemon.document("/api/v1/devices/0/cores?core=1,1&map=1")["devices"][0]["cores"][0]
    stretches = page.run("""return await page.evaluate(() => [...document.querySelectorAll('.l1-table tbody tr[data-kind]')].map(
        (row) => Number(row.querySelector('[data-bytes]').dataset.bytes)))""")
    assert sum(stretches) == core["l1_bytes"], "a view takes nothing"
    lowest = min(part["begin"] for part in core["map"] if part["kind"] == "buffer")
    line = page.run("return await page.locator('.program-line').getAttribute('data-address')")
    assert int(line) == lowest - core["headroom_reserved"], "where any live program ends"
    page.until(lambda: "mlp.py:92" in page.text(".l1-table"), "the line of a buffer")
    page.open("/d/0/c/7,7")
    page.until(lambda: page.count(".l1-table tbody tr") > 3)
    assert page.count("[data-view]") == 0, "conv is not on this core"


def test_column_of_a_core_is_its_whole_l1(page, daemon, stage):
    scenes.model(stage())
    page.open("/d/0/c/2,1")
    page.until(lambda: page.count(".l1-table tbody tr") > 3)
    core = daemon.document("/api/v1/devices/0/cores?core=2,1&map=1")["devices"][0]["cores"][0]
    shown = page.run("""return await page.evaluate(() => [...document.querySelectorAll('.l1-table tbody tr[data-kind]')].map(
        (row) => [row.dataset.kind, Number(row.querySelector('[data-bytes]').dataset.bytes)]))""")
    assert shown[::-1] == [[part["kind"], part["end"] - part["begin"]] for part in core["map"]]
    assert sum(size for _, size in shown) == core["l1_bytes"]
    assert page.count(".l1-column .stretch") == len(shown) and page.count(".clash-line") == 1


def test_clash_is_told(page, daemon, stage):
    play = stage("clashing")
    scenes.model(play)
    play("allocate", id=900, space=1, address=120_000, block=65536, layout=1, cores=[0, 0, 7, 7])
    page.open("/")
    page.until(lambda: "overlap by" in page.text(), "the alarm")
    assert daemon.document("/api/v1/snapshot")["devices"][0]["headroom"]["min"] < 0
    page.click(".alarms a")
    assert page.path().startswith("/d/0/c/")
    page.until(lambda: page.count(".one-core .problem") == 1, "both sides of the clash")


def test_process_and_its_lines(page, daemon, stage):
    play = stage("llama")
    scenes.model(play, chips=2)
    page.open("/p")
    page.click('a:has-text("llama")')
    process = daemon.document(f"/api/v1/processes?pid={play.pid}")["processes"][0]
    agrees(page, 'section[aria-label="Held"]', process)
    page.until(lambda: page.count(".icicle") == 2)
    sums = page.run("""return await page.evaluate(() => [...document.querySelectorAll('.icicle')].map((all) =>
        [[...all.querySelectorAll(':scope > .icicle-part > button')], [...all.querySelectorAll('.icicle-row button')]].map(
            (row) => row.reduce((sum, each) => sum + Number(each.dataset.bytes), 0))))""")
    assert sums == [[process["held"]["dram"]] * 2, [process["held"]["l1"]] * 2]
    page.click('.icicle button:has-text("mlp.py:77")')
    page.until(lambda: {row["line"] for row in page.rows("holdings")} == {"model/mlp.py:77"})


def test_origins_add_up(page, daemon, stage):
    scenes.model(stage(), chips=2)
    page.open("/origins")
    page.until(lambda: page.count(".icicle") == 1 and len(page.rows("origins")) == 7)
    total = daemon.document("/api/v1/origins?by=line")["total"]
    rows = page.rows("origins")
    assert sum(row["dram"] for row in rows) == total["dram"]["taken"] > 0
    assert sum(row["l1"] for row in rows) == total["l1"]["taken"] > 0
    shown = """return await page.evaluate(() => [...document.querySelectorAll('.icicle > .icicle-part > button')].map(
        (each) => Number(each.dataset.bytes)))"""
    assert sum(page.run(shown)) == total["dram"]["taken"]
    page.click('.icicle button:has-text("ttnn.linear")')
    page.until(lambda: len(page.run(shown)) == 1, "this bar alone")
    page.click('button:has-text("All stacks")')
    page.until(lambda: sum(page.run(shown)) == total["dram"]["taken"])
    page.click('button:has-text("region")')
    page.until(lambda: {row["name"] for row in page.rows("origins")} >= {"ttnn.from_torch", "ttnn.linear"})


def test_origins_name_their_processes_and_their_sum(page, daemon, stage):
    play = stage("llama")
    scenes.model(play, chips=2)
    page.open("/origins")
    page.until(lambda: len(page.rows("origins")) == 7)
    total = daemon.document("/api/v1/origins?by=line")["total"]
    shown = page.figures('dl[aria-label="All rows together"]')
    assert shown == {"total.dram": total["dram"]["taken"], "total.l1": total["l1"]["taken"], "total.recent": total["dram"]["recent"],
                     "total.program_l1": total["program_l1"], "total.kernels": total["kernels"]}
    rows = page.rows("origins")
    assert sum(row["dram"] for row in rows) == shown["total.dram"]
    assert {row["processes"] for row in rows} == {f"llama {play.pid}"}


def test_a_frozen_moment_is_compared_with_now(page, daemon, stage):
    play = stage("llama")
    scenes.model(play, chips=2)
    page.open("/t")
    page.until(lambda: daemon.document("/api/v1/origins?by=line")["total"]["dram"]["taken"] > 0)
    before = daemon.document("/api/v1/origins?by=line")["total"]["dram"]["taken"]
    page.press("f")
    page.until(lambda: page.figures().get("compare.before") == before, "the frozen moment")
    page.until(lambda: page.figures()["compare.difference"] == 0)
    play("push", name="ttnn.linear", line="model/mlp.py:77")
    play("allocate", id=900, address=1 << 29, block=1 << 20)
    play("pop")
    play("push", name="ttnn.add", line="model/new.py:5")
    play("allocate", id=901, address=(1 << 29) + (1 << 20), block=1 << 16)
    play("pop")
    for i in (0, 2, 3):  # all that model/attention.py:88 has
        play("free", id=i)
    chips = 2 * 12
    expected = {"model/mlp.py:77": ("grew", chips << 20), "model/new.py:5": ("came", chips << 16),
                "model/attention.py:88": ("went", -3 * 4 * chips << 20)}
    page.until(lambda: {row["line"]: (row["change"], row["difference"]) for row in page.rows("differences")} == expected,
               "what came, went and grew")
    figures = page.figures()
    assert figures["compare.before"] == before
    assert figures["compare.after"] == daemon.document("/api/v1/origins?by=line")["total"]["dram"]["taken"]
    assert figures["compare.difference"] == sum(difference for _, difference in expected.values())
    page.press("f")  # two frozen moments
    page.until(lambda: page.count('select >> nth=0 >> option') == 2)
    page.run("await page.reload()")
    page.until(lambda: page.count('select >> nth=0 >> option') == 2, "kept while the tab is open")


def test_two_processes_1_are_two(page, daemon, at_end):
    if subprocess.run([*command.CONTAINER, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no namespace for pids can be made here")
    for i, blocks in enumerate((1, 3)):
        play = at_end.enter_context(staged(*command.CONTAINER))
        time.sleep(0.03)  # pid and start name a process, and a start is exact to 10 ms
        play("name", name=f"container{i}")
        play("open", count=1, first=i)
        for block in range(blocks):
            play("allocate", id=block + 1, address=(block + 1) << 21, block=1 << 20)
        play("fail", **{**scenes.OUT_OF_MEMORY, "message": f"of container{i}"})
    page.open("/p")
    page.until(lambda: len(page.rows("processes")) == 2)
    processes = daemon.document("/api/v1/processes")["processes"]
    assert {each["pid"] for each in processes} == {1}
    for i, blocks in enumerate((1, 3)):
        page.open("/p")
        page.click(f'a:has-text("container{i}")')
        page.until(lambda: page.figures().get("held.dram") == blocks * 12 << 20)
        page.until(lambda: len(page.rows("holdings")) == blocks, "its holdings alone")
        page.click('section[aria-label="Failures"] a')
        page.until(lambda: f"of container{i}" in page.text(), "its own failure")
    page.open("/holdings")
    page.until(lambda: len(page.rows("holdings")) == 4)


def test_black_box_of_a_process_that_died(page, stage):
    play = stage("victim")
    scenes.model(play)
    page.open("/p")
    page.until(lambda: page.rows("processes"))
    play.process.kill()
    play.process.wait()
    page.until(lambda: page.rows("processes")[0]["state"] == "died")
    page.click('a:has-text("victim")')
    page.until(lambda: "It died." in page.text())
    page.until(lambda: len(page.rows("holdings")) == 12, "what it held")


def test_programs_and_kernels(page, daemon, stage):
    scenes.model(stage())
    page.open("/programs")
    page.until(lambda: len(page.rows("programs")) == 3)
    programs = {each["name"]: each for each in daemon.document("/api/v1/programs")["programs"]}
    for row in page.rows("programs"):
        of = programs[row["name"]]
        assert (row["footprint"], row["l1"], row["launches"]) == (
            of["footprint"], of["l1_allocated"], str(of["dispatches"]))
    page.click('a:has-text("all kernels")')
    page.until(lambda: {row["kind"] for row in page.rows("holdings")} == {"kernel"})


def test_failures_with_what_was_held(page, stage):
    play = stage("failing")
    scenes.model(play)
    play("fail", **scenes.OUT_OF_MEMORY)
    page.open("/failures")
    page.until(lambda: "Not enough space" in page.text())
    page.click('h2 a:has-text("Out of memory")')
    page.until(lambda: page.figures().get("failure.per_bank") == scenes.OUT_OF_MEMORY["per_bank"])
    page.until(lambda: len(page.rows("what was held")) > 10)


def test_a_failure_is_explained(page, daemon, stage):
    play = stage("failing")
    scenes.scattered(play)
    page.open("/failures")
    page.click('h2 a:has-text("Out of memory")')
    told = daemon.document(f"/api/v1/explain?pid={play.pid}&number=1")
    assert told["verdict"] == "scattered" and told["cures"] and told["holders"]
    why = 'section[aria-label="Why, and what helps"]'
    page.until(lambda: page.count(f'{why}[data-verdict="scattered"]') == 1)
    assert told["headline"] in page.text(why)
    figures = page.figures(why)
    assert figures == {f"sum.{name}": told["sum"][name] for name in ("asked", "held", "holes", "largest_hole", "bank")}
    strips = page.run("""return await page.evaluate(() => [...document.querySelectorAll('.picture-part')].map(
        (each) => [each.dataset.strip, each.getBoundingClientRect()]).map(([kind, box]) => [kind, box.left, box.width]))""")
    assert [kind for kind, _, _ in strips] == [each["kind"] for each in told["picture"]]
    begin = told["picture"][0]["begin"]
    scale = strips[0][2] / (told["picture"][0]["end"] - begin)
    for (_, left, width), each in zip(strips, told["picture"], strict=True):
        assert left - strips[0][1] == pytest.approx((each["begin"] - begin) * scale, abs=3), "true to scale"
        assert width == pytest.approx((each["end"] - each["begin"]) * scale, abs=3)
    cures = page.run("return await page.evaluate(() => [...document.querySelectorAll('[data-cure]')].map((each) => each.dataset.cure))")
    assert cures == [each["kind"] for each in told["cures"]]
    for cure in told["cures"]:
        assert cure["text"] in page.text(why)
    held = page.run("return await page.evaluate(() => [...document.querySelectorAll('[data-holder]')].map((each) => Number(each.dataset.holder)))")
    assert held == [each["bytes"] for each in told["holders"]] and sum(held) == told["sum"]["held"]
    page.click(f"{why} summary")
    assert page.count('[data-table="picture"] tbody tr') == len(told["picture"])


def test_events_of_before_and_of_now(page, stage):
    play = stage()
    scenes.model(play)
    page.open("/events")
    page.until(lambda: any(row["event"] == "program registered" for row in page.rows("events")), "those of before")
    play("push", name="ttnn.now", line="now.py:1")
    play("allocate", id=7777, address=1 << 29, block=4096)
    page.until(lambda: page.rows("events")[0]["what"] == "ttnn.now", "what happens now")
    assert page.rows("events")[0]["size"] == 4096 * 12
    page.fill("input.filter", "event=freed")
    page.until(lambda: {row["event"] for row in page.rows("events")} == {"buffer freed"})


def test_time(page, stage):
    scenes.model(stage(), chips=2)
    page.open("/t")
    page.until(lambda: page.count(".chart canvas") == 6, "six charts")
    page.click('section[aria-label="DRAM taken"] summary')
    assert "Device 1" in page.text('section[aria-label="DRAM taken"] table.plain-table')


def test_health_tells_what_is_not_exact(page, stage):
    play = stage("odd")
    play("open", count=1)
    play("anomaly", kind=1)
    page.open("/health")
    page.until(lambda: "odd" in page.text('section[aria-label="Processes whose figures need a note"]'))
    page.until(lambda: "What the daemon costs" in page.text())


def test_which_program_ran_when(page, daemon, stage):
    play = stage("llama")
    scenes.model(play)
    page.open("/programs")
    page.until(lambda: page.rows("programs"), "the table of programs")
    for _ in range(3):
        play("launch", id=10, times=7)
    row = '.timeline-row[data-program="0xa"]'

    def told():
        (program,) = daemon.document("/api/v1/programs/0xa/launches")["programs"]
        return [each for each in program["intervals"] if each["launches"] > 0]

    def same():
        shown = page.run(f"""return await page.evaluate(() =>
            [...document.querySelectorAll('{row} rect.launches')].map((each) => Number(each.dataset.launches)))""")
        return sum(shown) > 0 and sum(shown) == sum(each["launches"] for each in told())
    page.until(same, "the strip has the launches of the JSON")
    assert sum(each["launches"] for each in told()) >= 21
    assert "matmul" in page.text(row)


def test_the_rings_of_a_device(page, daemon, stage):
    scenes.model(stage("llama"))
    page.open("/d/0")
    (ring,) = daemon.document("/api/v1/devices/0/rings")["rings"]
    assert ring["slices"] and all(each["live"] for each in ring["slices"])
    page.until(lambda: page.count('.ring[data-ring="tensix"] .ring-slice') == len(ring["slices"]))
    shown = page.run("""return await page.evaluate(() =>
        [...document.querySelectorAll('.ring-slice')].map((each) => [each.textContent, Number(each.dataset.slice)]))""")
    assert shown == [[each["name"], each["end"] - each["begin"]] for each in ring["slices"]]
    assert ring["free"] == ring["capacity"] - sum(size for _, size in shown)
