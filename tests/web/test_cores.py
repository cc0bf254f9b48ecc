# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The cores of a chip: the map, and what lies in the L1 of one, as the daemon's JSON says."""

import pytest
import scenes


def cores_shown(page):
    return page.run("""return await page.evaluate(() => Object.fromEntries(
        [...document.querySelectorAll('[data-core]')].map((each) => [each.dataset.core, JSON.parse(each.dataset.bytes)])))""")


def test_core_map(page, daemon, stage):
    scenes.model(stage())
    page.open("/d/0")
    page.until(lambda: page.count("[data-core]") == 64)
    for heat, value in (("", lambda core: core["buffers"] + core["program_l1"] + core["l1_small_taken"]),
                        ("headroom", lambda core: core["headroom"]),
                        ("ring", lambda core: core["ring_used"]),
                        ("kernels", lambda core: core["kernel_footprint"])):
        def expected():
            cores = daemon.document("/api/v1/devices/0/cores")["devices"][0]["cores"]
            return {f"{core['x']},{core['y']}": value(core) for core in cores if core["role"] == "worker"}
        page.open(f"/d/0?heat={heat}")
        page.until(lambda: cores_shown(page) == expected(), f"the core map of {heat or 'used'}")


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


# Of every core: its name as far as it is in sight, and what of that is cut.
LABELS = """return await page.evaluate(() => Object.fromEntries([...document.querySelectorAll('[data-place]')].map((cell) => {
    const name = cell.querySelector('.core-name'), texts = document.createTreeWalker(name, NodeFilter.SHOW_TEXT), seen = [], cut = [];
    const boxes = [cell, name].filter((each) => getComputedStyle(each).overflow === 'hidden').map((each) => each.getBoundingClientRect());
    for (let text; (text = texts.nextNode());) {
      const range = document.createRange();
      range.selectNode(text);
      const at = range.getBoundingClientRect();
      if (at.width === 0 || boxes.some((box) => at.right <= box.left || at.left >= box.right || at.bottom <= box.top + 1 || at.top >= box.bottom - 1)) continue;
      const whole = boxes.every((box) => at.left >= box.left - 0.5 && at.right <= box.right + 0.5);
      (whole ? seen : cut).push(text.data.trim());
    }
    return [cell.dataset.other ?? cell.dataset.core, [seen.join(' '), cut]];
  })))"""


@pytest.mark.parametrize("columns", [8, 16])
def test_labels_of_cores_shrink_to_their_coordinates(chromium, daemon, stage, columns):
    scenes.model(stage(), noc=True, columns=columns, rows=10)
    for width, dispatch in ((360, "1,0"), (1600, "dispatch 1,0")):
        tab = chromium.fresh(daemon, viewport={"width": width, "height": 900})
        tab.open("/d/0")
        tab.until(lambda: tab.count("[data-other]") == 10)
        labels = tab.run(LABELS)
        assert labels["dispatch:1,0"] == [dispatch, []], width
        for name, (seen, cut) in labels.items():
            assert seen.endswith(name.split(":")[-1]) and cut == [], (width, name)
        assert tab.wrongs() == []


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
    lowest_pixels = page.run("""return await page.evaluate(() => {
      const whole = document.querySelector('.l1-column').getBoundingClientRect();
      return [...document.querySelectorAll('.l1-column .stretch')].map((each) => (whole.bottom - each.getBoundingClientRect().bottom) / whole.height);
    })""")
    for at, part in zip(lowest_pixels, core["map"], strict=True):
        assert at == pytest.approx(part["begin"] / core["l1_bytes"], abs=0.006), f"{part['kind']} is drawn where it lies"


def test_the_part_of_l1_small_without_buffers_is_free(page, daemon, stage):
    play = stage()
    scenes.model(play)
    play("allocate", id=700, space=3, address=scenes.L1_END - 4096, block=4096)
    page.open("/d/0/c/1,1")
    core = daemon.document("/api/v1/devices/0/cores?core=1,1&map=1")["devices"][0]["cores"][0]
    assert (core["l1_small"], core["l1_small_taken"]) == (32768, 4096)
    drawn = """return await page.evaluate(() => ['l1-small', 'l1-small-free'].map((kind) =>
        [...document.querySelectorAll(`.l1-column .stretch.${kind}`)].map((each) => each.title)))"""
    page.until(lambda: [[title.split(" at ")[0] for title in titles] for titles in page.run(drawn)]
               == [["L1_SMALL 4,096 B"], ["L1_SMALL, free 28,672 B"]], "what is taken, and what is free")


def test_ring_in_the_column_is_that_of_the_strip(page, daemon, stage):
    """What lies there counts, whether its program runs now or not; of the programs, softmax is gone."""
    play = stage()
    play("open", count=1)
    for i, name in enumerate(("matmul", "softmax", "layernorm")):
        play("program", id=10 + i, name=name, cores=[0, 0, 7, 7], config=4096 * (i + 1), cbs=[4096])
        play("launch", id=10 + i)
    play("drop", id=11)
    page.open("/d/0/c/2,1")
    page.until(lambda: page.count(".l1-table tbody tr") > 3 and page.count(".ring-slice:not(.gone)") == 2)
    ring = daemon.document("/api/v1/devices/0/rings")["rings"][0]
    lying = [(each["begin"], each["end"] - each["begin"], each["name"]) for each in ring["slices"] if each["live"]]
    assert [(size, name) for _, size, name in lying] == [(4096, "matmul"), (12_288, "layernorm")]
    column = page.run("""return await page.evaluate(() => [...document.querySelectorAll('.l1-table tr[data-kind=ring]')].map((row) =>
        [parseInt(row.cells[0].textContent, 16), Number(row.querySelector('[data-bytes]').dataset.bytes), row.querySelector('bdi')?.textContent ?? null]))""")
    assert [tuple(each) for each in column[::-1] if each[2]] == lying
    assert sum(size for _, size, name in column if not name) == ring["free"] == 70_656 - 4096 - 12_288
    strip = page.run("""return await page.evaluate(() => [...document.querySelectorAll('.ring-slice:not(.gone)')].map(
        (each) => [each.textContent, Number(each.dataset.slice)]))""")
    assert strip == [[name, size] for _, size, name in lying]
    core = daemon.document("/api/v1/devices/0/cores?core=2,1")["devices"][0]["cores"][0]
    assert core["ring_used"] == 4096 + 12_288


def test_clash_is_told(page, daemon, stage):
    play = stage("clashing")
    scenes.model(play)
    play("allocate", id=900, space=1, address=120_000, block=65536, layout=1, cores=[0, 0, 7, 7])
    page.open("/")
    page.until(lambda: "overlap by" in page.text(), "the alarm")
    assert daemon.document("/api/v1/snapshot")["devices"][0]["headroom"]["min"] < 0
    page.click(".alarms a")
    page.until(lambda: page.path().startswith("/d/0/c/"))
    page.until(lambda: page.count(".one-core .problem") == 1, "both sides of the clash")
