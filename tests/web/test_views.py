# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Every view shows what the daemon's JSON says, to the byte."""

import subprocess
import time

import pytest
import scenes
from daemon import Daemon
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


@pytest.mark.parametrize("columns,rows_of,words", [(16, 8, "in rows of 8"), (2, 2, "as it is wired")])
def test_a_mesh_that_is_too_wide_is_broken_into_whole_rows(page, stage, columns, rows_of, words):
    stage()("open", count=columns, mesh=[1, columns], board="ubb")
    page.open("/")
    page.until(lambda: page.count("article.card") == columns)
    tops = page.run("return await page.evaluate(() => [...document.querySelectorAll('article.card')].map((card) => card.getBoundingClientRect().top))")
    assert [tops.count(top) for top in sorted(set(tops))] == [rows_of] * (columns // rows_of)
    heading = page.text("[data-mesh] h2")
    assert f"1 x {columns}, {words}" in heading
    # On many small cards, what all of them are is said once.
    assert ("ubb mock" in heading, "ubb mock" in page.text("article.card")) == ((True, False) if columns > 8 else (False, True))


def test_temperature_and_power_where_the_host_has_them(chromium, tmp_path, stage):
    """Of two chips the driver tells one; the other, and a mock of the first, have no such line."""
    stage("real")("open", count=2, mock=0)
    root = tmp_path / "host"
    place = root / "sys/class/tenstorrent/tenstorrent!0"
    sensors = place / "device/hwmon/hwmon3"
    sensors.mkdir(parents=True)
    for file, text in ((place / "tt_asic_id", "5747000000000000"), (place / "tt_aiclk", "1000"), (place / "device/device", "0x401e"),
                       (sensors / "temp1_input", "45300"), (sensors / "power1_input", "18400000")):
        file.write_text(text + "\n")
    daemon = Daemon(str(tmp_path), TTMEM_HOST_ROOT=str(root))
    try:
        tab = chromium.fresh(daemon)
        tab.open("/")
        tab.until(lambda: tab.count("article.card") == 2)
        tab.until(lambda: tab.run("return await page.locator('.host-facts').allInnerTexts()") == ["45 °C  18 W  1000 MHz"])
        assert tab.count('[data-device="0"] .host-facts') == 1
        (sensors / "temp1_input").write_text("71800\n")
        tab.until(lambda: "72 °C" in tab.text('[data-device="0"]'), "the sensors are read again")
        (sensors / "temp1_input").unlink()
        tab.until(lambda: tab.text('[data-device="0"] .host-facts') == "18 W  1000 MHz", "what is not told is not shown")
        assert tab.wrongs() == []
    finally:
        assert daemon.stop() == 0


def test_two_meshes_stand_side_by_side_with_what_is_in_none(page, stage):
    stage("large")("open", count=4, mesh=[2, 2])
    stage("small")("open", count=2, first=4, mesh=[1, 2])
    stage("part")("open", count=2, mesh=[1, 2])  # of chips that the largest has already
    stage("alone")("open", count=1, first=6)
    page.open("/")
    page.until(lambda: page.count("article.card") == 7, "each chip once")
    meshes = page.run("""return await page.evaluate(() => [...document.querySelectorAll('[data-mesh]')].map((each) => each.dataset.mesh))""")
    assert meshes == ["0 1 2 3", "4 5"]
    assert page.count('section[aria-label="Devices"] article.card') == 1


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
    page.click('button:has-text("by address")')
    begins = [block["begin"] for block in bank["blocks"]]
    page.until(lambda: [int(row["address"], 16) for row in page.rows("holdings")] == begins, "the table behind the picture")
    assert banks["dram.bank_largest"] == bank["free"][0]["end"] - bank["free"][0]["begin"]


def test_process_and_its_lines(page, daemon, stage):
    play = stage("llama")
    scenes.model(play, chips=2)
    page.open("/p")
    page.click('a:has-text("llama")')
    process = daemon.document(f"/api/v1/processes?pid={play.pid}")["processes"][0]
    agrees(page, 'section[aria-label="Held"]', process)
    page.until(lambda: page.count(".icicle") == 2)
    sums = """return await page.evaluate(() => [...document.querySelectorAll('.icicle')].map((all) =>
        [[...all.querySelectorAll(':scope > .icicle-part > button')], [...all.querySelectorAll('.icicle-row button')]].map(
            (row) => row.reduce((sum, each) => sum + Number(each.dataset.bytes), 0))))"""
    page.until(lambda: page.run(sums) == [[process["held"]["dram"]] * 2, [process["held"]["l1"]] * 2])
    page.click('.icicle button:has-text("mlp.py:77")')
    page.until(lambda: {row["line"] for row in page.rows("holdings")} == {"model/mlp.py:77"})


def test_origins_add_up(page, daemon, stage):
    play = stage()
    scenes.model(play, chips=2)
    play("push", name="ttnn.linear", line="model/mlp.py:77")
    play("allocate", id=800, space=3, address=scenes.L1_END - 2048, block=2048)
    play("allocate", id=801, space=4, address=1 << 30, block=1 << 20)
    play("pop")
    page.open("/origins")
    page.until(lambda: page.count(".icicle") == 1 and len(page.rows("origins")) == 7)
    total = daemon.document("/api/v1/origins?by=line")["total"]
    rows = page.rows("origins")
    assert sum(row["dram"] for row in rows) == total["dram"]["taken"] > 0
    assert sum(row["l1"] for row in rows) == total["l1"]["taken"] > 0
    assert sum(row["l1_recent"] for row in rows) == total["l1"]["recent"] > 0
    assert sum(row["l1_peak"] or 0 for row in rows) == total["l1"]["at_peak"]
    buffers = {space: total[space]["buffers"] for space in ("dram", "l1", "l1_small", "trace")}
    assert 0 not in buffers.values() and sum(int(row["buffers"]) for row in rows) == sum(buffers.values())
    shown = """return await page.evaluate(() => [...document.querySelectorAll('.icicle > .icicle-part > button')].map(
        (each) => Number(each.dataset.bytes)))"""
    assert sum(page.run(shown)) == total["dram"]["taken"]
    page.click('.icicle button:has-text("ttnn.linear")')
    page.until(lambda: len(page.run(shown)) == 1, "this bar alone")
    page.click('button:has-text("All stacks")')
    page.until(lambda: sum(page.run(shown)) == total["dram"]["taken"])
    page.click('button:has-text("region")')
    page.until(lambda: {row["name"] for row in page.rows("origins")} >= {"ttnn.from_torch", "ttnn.linear"})


def test_stacks_are_told_apart_by_their_ends(page, daemon, stage):
    play = stage()
    play("open", count=1)
    outer = [f"/home/somebody/a/folder/with/a/long/name/model/step{i}.py:{i} forward" for i in range(6)]
    for i in range(3):
        for line in (*outer, f"/home/somebody/a/folder/with/a/long/name/model/leaf.py:{i} load"):
            play("push", name=line)
        play("allocate", id=i + 1, address=(i + 1) << 21, block=1 << 20)
        for _ in range(len(outer) + 1):
            play("pop")
    page.open("/origins?by=stack")
    page.until(lambda: len(page.rows("origins")) == 3)
    seen, whole = page.run("""return await page.evaluate(() => { const cells = [...document.querySelectorAll('td[data-column=name]')];
        return [cells.map((each) => { // its text as far as it is in sight
          const text = document.createTreeWalker(each, NodeFilter.SHOW_TEXT).nextNode(), range = document.createRange();
          return [...text.data].filter((_, at) => {
            range.setStart(text, at);
            range.setEnd(text, at + 1);
            return range.getBoundingClientRect().right < each.getBoundingClientRect().right;
          }).join('');
        }), cells.map((each) => each.querySelector('[title]').title)]; })""")
    assert len(set(seen)) == 3 and all("leaf.py" in each for each in seen), seen
    names = [each["name"] for each in daemon.document("/api/v1/origins?by=stack")["origins"]]
    assert sorted(whole) == sorted(names) and all("step0.py" in each for each in whole)


def test_origins_name_their_processes_and_their_sum(page, daemon, stage):
    play = stage("llama")
    scenes.model(play, chips=2)
    page.open("/origins")
    page.until(lambda: len(page.rows("origins")) == 7)
    total = daemon.document("/api/v1/origins?by=line")["total"]
    shown = page.figures('dl[aria-label="All rows together"]')
    assert shown == {"total.dram": total["dram"]["taken"], "total.l1": total["l1"]["taken"], "total.recent": total["dram"]["recent"],
                     "total.l1_recent": total["l1"]["recent"], "total.program_l1": total["program_l1"], "total.kernels": total["kernels"]}
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
    page.until(lambda: page.figures()["compare.before"] == before, "the frozen moment")
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
        page.until(lambda: page.figures()["held.dram"] == blocks * 12 << 20)
        host_pid, = (each["host_pid"] for each in processes if each["name"] == f"container{i}")
        assert host_pid is None or f"PID on the host\n{host_pid}" in page.text('section[aria-label="Who"]')
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
    page.until(lambda: page.row("processes")["state"] == "died")
    page.click('a:has-text("victim")')
    page.until(lambda: "It died." in page.text())
    page.until(lambda: len(page.rows("holdings")) == 12, "what it held")
    held = page.figures()["held.dram"]
    page.press("b")
    page.until(lambda: [(row["name"], row["state"], row["dram"]) for row in page.rows("ended processes")] == [("victim", "died", held)])


def test_programs_and_kernels(page, daemon, stage):
    scenes.model(stage())
    page.open("/programs")
    page.until(lambda: len(page.rows("programs")) == 3)
    programs = {each["name"]: each for each in daemon.document("/api/v1/programs")["programs"]}
    for row in page.rows("programs"):
        of = programs[row["name"]]
        assert (row["footprint"], row["l1"], row["launches"], row["in_ring"]) == (
            of["footprint"], of["l1_allocated"], str(of["dispatches"]), "there" if of["in_ring"] else "left")
    # Launches of layernorm went over the others.
    slices = daemon.document("/api/v1/devices/0/rings")["rings"][0]["slices"]
    assert {each["name"] for each in slices} == {name for name, of in programs.items() if of["in_ring"]} == {"layernorm"}
    page.until(lambda: page.rows("kernels"))
    sums = [sum(each["kernels"][kind]["footprint"] for each in daemon.document("/api/v1/snapshot")["devices"]) for kind in ("application", "total")]
    assert [row["footprint"] for row in page.rows("kernels")] == sums[:1] and sums[0] == sums[1]
    page.click('section[aria-label="Kernels of all programs"] .tab:has-text("program")')
    page.until(lambda: {row["name"] for row in page.rows("kernels")} == set(programs))
    assert sum(row["footprint"] for row in page.rows("kernels")) == sums[1]
    page.click('a:has-text("all kernels")')
    page.until(lambda: {row["kind"] for row in page.rows("holdings")} == {"kernel"})


def test_failures_with_what_was_held(page, stage):
    play = stage("failing")
    scenes.model(play)
    play("fail", **scenes.OUT_OF_MEMORY)
    page.open("/failures")
    page.until(lambda: "Not enough space" in page.text())
    page.click('h2 a:has-text("Out of memory")')
    page.until(lambda: page.figures()["failure.per_bank"] == scenes.OUT_OF_MEMORY["per_bank"])
    page.until(lambda: len(page.rows("what was held")) > 10)


def test_all_failures_are_counted_though_eight_are_kept(page, daemon, stage):
    play = stage("failing")
    play("open", count=1)
    for i in range(11):
        play("fail", **{**scenes.OUT_OF_MEMORY, "message": f"failure of step {i}"})
    page.open("/p")
    page.until(lambda: page.row("processes")["failures"] == "11")
    (process,) = daemon.document("/api/v1/processes")["processes"]
    kept = len(process["failures"])
    assert process["failure_count"] == 11 > kept
    page.click('a:has-text("failing")')
    page.until(lambda: page.count('section[aria-label="Failures"] a') == kept)
    assert f"Not kept: {11 - kept} in between." in page.text('section[aria-label="Failures"]')


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


def test_more_than_a_bank_is_not_drawn_as_free(page, daemon, stage):
    play = stage("failing")
    play("open", count=1)
    play("allocate", id=1, space=1, address=843_776, block=327_680)
    play("fail", kind=1, requested=536_870_912, per_bank=8_388_608, space=1,
         message="Out of Memory: Not enough space to allocate 536870912 B L1 buffer across 64 banks, where each "
                 "bank needs to store 8388608 B, but bank size is 1393472 B (allocated: 327680 B, free: 1065792 B, "
                 "largest free block: 738112 B)")
    page.open(f"/failures/{play.pid}/1")
    told = daemon.document(f"/api/v1/explain?pid={play.pid}&number=1")
    end = max(each["end"] for each in told["picture"] if each["kind"] not in ("needed", "program"))
    page.until(lambda: page.count(f'[data-beyond="{end}"]') == 1, "where the core ends")
    boxes = page.run("""return await page.evaluate(() => ['[data-beyond]', '.picture-lane', '[data-strip=needed]'].map(
        (each) => document.querySelector(each).getBoundingClientRect()).map(({ left, right }) => [left, right]))""")
    beyond, lane, needed = boxes
    assert beyond[1] == pytest.approx(lane[1], abs=2) and needed[1] == pytest.approx(lane[1], abs=2)
    assert beyond[0] - lane[0] < (lane[1] - lane[0]) / 4 and "Outside of L1" in page.text()


def test_events_of_before_and_of_now(page, stage):
    play = stage()
    scenes.model(play)
    page.open("/events")
    page.until(lambda: any(row["event"] == "program registered" for row in page.rows("events")), "those of before")
    play("push", name="ttnn.now", line="now.py:1")
    play("allocate", id=7777, address=1 << 29, block=4096)
    page.until(lambda: (row := page.row("events"))["what"] == "ttnn.now" and row["size"] == 4096 * 12, "what happens now")
    page.fill("input.filter", "event=freed")
    page.until(lambda: {row["event"] for row in page.rows("events")} == {"buffer freed"})


def test_health_tells_what_is_not_exact(page, stage):
    play = stage("odd")
    play("open", count=1)
    play("anomaly", kind=1)
    page.open("/health")
    page.until(lambda: "odd" in page.text('section[aria-label="Processes whose figures need a note"]'))
    page.until(lambda: "What the daemon costs" in page.text())
    page.until(lambda: "1 process called ttmem itself" in page.text('section[aria-label="Sources"]'))
    page.until(lambda: "% of a core" in page.text('section[aria-label="self"]'), "what it costs now, of two answers")


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


def test_signs_of_a_program_do_not_lie_on_each_other(page, daemon, stage):
    play = stage("llama")
    play("open", count=1)
    for i in (1, 2):  # each needs the ring alone, and drives the other out
        play("program", id=i, name=f"large{i}", cores=[0, 0, 7, 7], config=65536, kernels=[{"name": f"k{i}", "bytes": 64}])
    page.open("/programs")
    page.until(lambda: page.rows("programs"))
    row = '.timeline-row[data-program="0x1"]'

    def crowded():
        for i in (1, 2):
            play("launch", id=i)
        return page.count(f"{row} [data-tick]") > page.count(f"{row} [data-mark]") + 2
    page.until(crowded, "more than there is room for")

    def marked():
        (program,) = daemon.document("/api/v1/programs/0x1/launches")["programs"]
        return sum(bool(each["marks"]) for each in program["intervals"])
    page.until(lambda: page.count(f"{row} [data-tick]") == marked(), "a tick for each")
    apart = page.run(f"""return await page.evaluate(() => [...document.querySelectorAll('{row} [data-mark]')].map(
        (each) => each.getBoundingClientRect().left))""")
    assert all(b - a > 8 for a, b in zip(sorted(apart), sorted(apart)[1:]))


def test_the_rings_of_a_device(page, daemon, stage):
    play = stage("llama")
    scenes.model(play)
    page.open("/d/0")
    (ring,) = daemon.document("/api/v1/devices/0/rings")["rings"]
    assert ring["slices"] and all(each["live"] for each in ring["slices"])
    page.until(lambda: page.count('.ring[data-ring="tensix"] .ring-slice') == len(ring["slices"]))
    shown = page.run("""return await page.evaluate(() =>
        [...document.querySelectorAll('.ring-slice')].map((each) => [each.textContent, Number(each.dataset.slice)]))""")
    assert shown == [[each["name"], each["end"] - each["begin"]] for each in ring["slices"]]
    assert ring["free"] == ring["capacity"] - sum(size for _, size in shown)
    assert f"llama {play.pid}" in page.text(".ring"), "whose it is, of all that are called so"
