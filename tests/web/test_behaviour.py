# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""How the page behaves: live, by keyboard, when the daemon dies, with hostile names and many rows."""

import base64
import csv
import io
import json
import re
import urllib.parse

import pytest
import scenes
from daemon import Daemon, own_address


def taken(page):
    return page.figures('article[data-device="0"]')["dram.taken"]


def test_figures_follow(page, stage):
    play = stage()
    play("open", count=1)
    page.open("/")
    for i in range(1, 4):
        play("allocate", id=i, address=i << 21, block=1 << 20)
        page.until(lambda: taken(page) == i * 12 << 20, "the new figure")
    play("free", id=1)
    page.until(lambda: taken(page) == 2 * 12 << 20, "the freed buffer is gone")


def test_pause_holds_the_picture_and_goes_on(page, stage):
    play = stage()
    play("open", count=1)
    play("allocate", id=1, address=1 << 21, block=1 << 20)
    page.open("/")
    page.until(lambda: taken(page) == 12 << 20)
    page.press("Space")
    page.until(lambda: page.count('[data-banner="paused"]') == 1)
    play("allocate", id=2, address=1 << 22, block=1 << 20)
    # Another tab, which follows the same stream, shows that the new figure has come.
    page.run("""const other = await page.context().newPage(); await other.goto(argument); page.other = other""", page.address + "/")
    page.until(lambda: page.run("""return await page.other.evaluate(() => document.querySelector(
        'article[data-device="0"] [data-figure="dram.taken"]')?.dataset.bytes)""") == str(24 << 20), "the other tab goes on")
    page.run("await page.other.close()")
    assert taken(page) == 12 << 20
    page.press("Space")
    page.until(lambda: taken(page) == 24 << 20, "it goes on")


def test_what_is_opened_in_a_pause_says_of_which_moment_it_is(page, stage):
    play = stage()
    play("open", count=1)
    play("allocate", id=1, address=1 << 21, block=1 << 20)
    page.open("/holdings")
    page.until(lambda: len(page.rows("holdings")) == 1)
    page.press("Space")
    page.until(lambda: page.count('[data-banner="paused"]') == 1)
    assert page.count("[data-note]") == 0, "what was there before is of the pause"
    page.click('nav a[href="/programs"]')
    page.until(lambda: "not of the pause" in page.text("[data-note]"))
    page.click('nav a[href="/t"]')
    asked = """return await page.evaluate(() => performance.getEntriesByType('resource').map((each) => each.name)
        .filter((name) => name.includes('/api/v1/history')))"""
    page.until(lambda: page.run(asked))
    assert all(re.search(r"&to=\d+(&|$)", each) for each in page.run(asked)), page.run(asked)
    assert page.count("[data-note]") == 0, "charts end at the pause"
    page.click('nav a[href="/programs"]')
    page.until(lambda: page.count("[data-note]") == 2, "of the programs and of the kernels")
    page.press("Space")
    play("allocate", id=2, address=1 << 22, block=1 << 20)
    page.until(lambda: page.count("[data-note]") == 0, "it is of now, as everything is")


@pytest.mark.parametrize("path, label", [("/holdings", "holdings"), ("/programs", "programs")])
def test_columns_without_room_are_folded(page, stage, path, label):
    scenes.model(stage())
    page.open(path)
    page.until(lambda: page.rows(label))
    wider = """return await page.evaluate((label) => { const box = document.querySelector(`section[aria-label="${label}"] .table-box`);
        return box.scrollWidth - box.clientWidth; }, argument)"""
    hidden = f'section[aria-label="{label}"] th.folded'
    page.until(lambda: page.run(wider, label) == 0, "it fits")
    assert page.count(hidden) > 0
    page.click(f'section[aria-label="{label}"] button:has-text("more column")')
    page.until(lambda: page.count(hidden) == 0 and page.run(wider, label) > 0, "all of them")
    page.click('button:has-text("Fold columns")')
    page.run("await page.setViewportSize({ width: 2300, height: 800 })")
    page.until(lambda: page.count(hidden) == 0 and page.run(wider, label) == 0, "room for all")


def test_a_deep_stack_scrolls_in_its_frame(page, stage):
    play = stage()
    play("open", count=1)
    play("stand", frames=[["deep.py", i, "f"] for i in range(40)])
    play("allocate", id=1, address=1 << 21, block=1 << 20)
    page.open("/origins")
    page.until(lambda: page.count(".icicle-block") == 40)
    height, inside = page.run("""return await page.evaluate(() => { const frame = document.querySelector('.icicle');
        return [frame.clientHeight, frame.scrollHeight]; })""")
    assert height <= 480 < inside, "60 % of the window"


def test_the_daemon_is_killed_and_comes_back(page, daemon, stage):
    play = stage()
    play("open", count=1)
    play("allocate", id=1, address=1 << 21, block=1 << 20)
    page.open("/")
    page.until(lambda: taken(page) == 12 << 20)
    daemon.kill()
    page.until(lambda: page.count('[data-banner="lost"]') == 1, "the page says so")
    assert taken(page) == 12 << 20, "the last picture stays"
    play("allocate", id=2, address=1 << 22, block=1 << 20)
    daemon.options[1] = f"127.0.0.1:{daemon.port}"
    daemon.start()
    page.until(lambda: taken(page) == 24 << 20, "it goes on by itself")
    page.until(lambda: page.count("[data-banner]") == 0 and "live" in page.text(".status"), "and says nothing more")


HOSTILE = ('<img src=x onerror="document.title=1">', "\u202egnp.exe", "a" * 15, "=cmd()", "'\";--",
           "\x1b[2J")


def test_names_are_text_and_nothing_else(page, daemon, stage, monkeypatch):
    paths = ["/", "/p", "/holdings", "/holdings?show=all", "/origins?by=stack", "/programs?kernels=program", "/events", "/failures", "/d/0/c/0,0",
             "/t?by=process", "/health", "/jobs"]
    for number, name in enumerate(HOSTILE, 1):
        monkeypatch.setenv("TT_MEM_JOB", name)
        play = stage(name[:15])
        play("open", count=1)
        play("push", name=name, line=name)
        play("allocate", id=1, address=number << 21, block=1 << 20)
        play("program", id=3, name=name, cores=[0, 0, 7, 7], cbs=[4096], kernels=[{"name": name, "bytes": 64}])
        play("fail", kind=1, message=name, requested=5, per_bank=5, space=0)
        play("launch", id=3)
        # The daemon refuses an address with a control character.
        job = urllib.parse.quote(name, safe="") if "\x1b" not in name else "none"
        paths += [f"/p/{play.pid}-0", f"/failures/{play.pid}/1", f"/jobs/{job}"]
    daemon.catch_up()
    for path in paths:
        page.open(path, quiet=True)
        page.until(lambda: page.count("main *") > 3)
        if path in ("/p", "/holdings"):
            page.until(lambda: len(page.rows({"/p": "processes", "/holdings": "holdings"}[path])) >= len(HOSTILE), "all of them")
        assert page.count("main img") == 0, path
        # All that is read: the text, tooltips, what screen readers say, and the title of the tab.
        read = page.run("""return await page.evaluate(() => [document.title, document.body.innerText,
            ...[...document.querySelectorAll('[title], [aria-label]')].flatMap((each) => [each.title, each.getAttribute('aria-label')])].join(' '))""")
        assert not {"\u202e", "\x1b"} & set(read), path


def test_many_holdings_are_few_elements(page, stage):
    play = stage()
    play("open", count=1)
    for i in range(3000):
        play("allocate", id=i + 1, address=(i + 1) << 14, block=32 * (1 + i % 100))
    page.open("/holdings")
    page.until(lambda: "3,000 holdings" in page.text())
    assert 0 < len(page.rows("holdings")) < 80
    assert page.row("holdings")["size"] == 3200 * 12, "the largest first"
    page.run("""await page.locator('.table-box').evaluate((box) => { box.scrollTop = box.scrollHeight; })""")
    page.until(lambda: page.row("holdings", -1)["size"] == 32 * 12, "the smallest last")
    page.fill("input.filter", "size>=38400")
    page.until(lambda: "30 of 3,000 holdings" in page.text())
    page.fill("input.filter", "colour=red")
    page.until(lambda: 'No column "colour"' in page.text())


def test_sort_and_filter_are_in_the_address(page, stage):
    scenes.model(stage())
    page.open("/holdings?filter=op%3Dlinear&sort=address")
    page.until(lambda: {row["op"] for row in page.rows("holdings")} == {"ttnn.linear"})
    page.click('th button:has-text("Address")')
    page.until(lambda: "sort=-address" in page.path())

    def falling():
        addresses = [int(row["address"], 16) for row in page.rows("holdings")]
        return addresses and addresses == sorted(addresses, reverse=True)
    page.until(falling, "the rows in that order")


def press_on_cores(page, *steps):
    """Each key moves to that core."""
    for key, core in steps:
        page.press(key)
        page.until(lambda: page.run("return await page.evaluate(() => document.activeElement.dataset.core)") == core, core)


def test_keyboard_alone(page, stage):
    scenes.model(stage())
    page.open("/")
    for key, path in (("2", "/p"), ("3", "/holdings"), ("4", "/origins"), ("5", "/programs"), ("6", "/t"),
                      ("7", "/events"), ("8", "/failures"), ("9", "/health"), ("l", "/leaks"), ("r", "/recordings"), ("b", "/dead"),
                      ("j", "/jobs"), ("1", "/")):
        page.press(key)
        page.until(lambda: page.path() == path, path)
    page.press("?")
    page.until(lambda: page.count("dialog[open]") == 1)
    page.press("Escape")
    page.until(lambda: page.count("dialog[open]") == 0)
    page.press("3")
    page.until(lambda: page.count("input.filter") == 1)
    page.press("/")
    page.run("await page.keyboard.type('kind=buffer')")
    page.until(lambda: "filter=kind" in page.path())
    page.open("/d/0")
    page.until(lambda: page.count("[data-core]") == 64)
    page.run("await page.locator('[data-core=\"0,0\"]').focus()")
    press_on_cores(page, ("ArrowRight", "1,0"), ("ArrowRight", "2,0"), ("ArrowDown", "2,1"))
    page.press("Enter")
    page.until(lambda: page.path() == "/d/0/c/2,1")
    press_on_cores(page, ("End", "7,1"), ("PageDown", "7,7"))
    page.press("Enter")
    page.until(lambda: page.path() == "/d/0/c/7,7")
    page.run("await page.goBack()")
    page.until(lambda: page.path() == "/d/0/c/2,1")


SAVED = """const waiting = page.waitForEvent('download');
await page.locator(argument).first().click();
const saved = await waiting;
const chunks = [];
for await (const chunk of await saved.createReadStream()) chunks.push(chunk);
return [saved.suggestedFilename(), Buffer.concat(chunks).toString('base64')]"""


def test_a_picture_is_saved_as_it_is_seen(page, stage):
    scenes.model(stage())
    page.open("/d/0?heat=buffers")
    page.until(lambda: page.count("[data-core]") == 64)
    name, data = page.run(SAVED, 'section[aria-label="Cores"] button:has-text("PNG")')
    assert name == "ttmem-cores.png"
    read = """return await page.evaluate(async (data) => {
      const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(image.width, image.height), to = canvas.getContext('2d');
      to.drawImage(image, 0, 0);
      const whole = document.querySelector('[data-picture]').getBoundingClientRect();
      return ['0,0', '7,7'].map((core) => {
        const cell = document.querySelector(`[data-core="${core}"]`), box = cell.getBoundingClientRect();
        const at = [2 * (box.right - 6 - whole.left), 2 * (box.bottom - 6 - whole.top)];
        const [r, g, b] = to.getImageData(...at, 1, 1).data;
        return [`rgb(${r}, ${g}, ${b})`, getComputedStyle(cell).backgroundColor];
      }); }, argument)"""
    cells = page.run(read, data)
    assert all(painted == seen for painted, seen in cells), cells
    assert cells[0] != cells[1], "cores that hold different amounts"


def test_a_list_is_saved_as_csv_with_exact_bytes(page, stage):
    scenes.model(stage())
    page.open("/holdings")
    page.until(lambda: page.rows("holdings"))
    name, data = page.run(SAVED, 'section[aria-label="holdings"] button:has-text("CSV")')
    rows = list(csv.DictReader(io.StringIO(base64.b64decode(data).decode())))
    assert name == "ttmem-holdings.csv" and len(rows) == 12
    assert [int(row["size"]) for row in rows] == [row["size"] for row in page.rows("holdings")]


def test_tabs_are_told_apart_by_their_titles(page, daemon, stage):
    play = stage("model")
    play("open", count=1)
    host = daemon.document("/api/v1/snapshot")["host"]
    for path, title in (("/", ""), ("/d/0", "Device 0 - "), ("/d/0/c/3,4", "Device 0, core 3,4 - "), (f"/p/{play.pid}-0", f"Process {play.pid} - "),
                        ("/compare", "Compare - "), (f"/failures/{play.pid}-0/2", f"Failure 2 of {play.pid} - "), ("/t", "Time - "), ("/x", "No such view - ")):
        page.open(path)
        page.until(lambda: page.run("return await page.title()") == f"{title}ttmem on {host}", title)


def test_what_is_not_there(page, stage):
    stage()("open", count=1)
    for path, words in (("/d/77", "No device 77"), ("/p/1-1", "No such process"), ("/nowhere", "No such view"),
                        ("/failures/1/1", "Failure 1 of process 1"), ("/d/x", "No device")):
        page.open(path)
        page.until(lambda: words in page.text(), words)


def test_galaxy(page, daemon, stage):
    play = stage("galaxy")
    scenes.model(play, chips=32, mesh=[4, 8], columns=14, rows=10, board="galaxy")
    page.open("/")
    page.until(lambda: page.count("article.card") == 32)
    sums = {each["id"]: each["dram"]["taken"] for each in daemon.document("/api/v1/snapshot")["devices"]}
    for device, dram in sums.items():
        page.until(lambda: page.figures(f'article[data-device="{device}"]')["dram.taken"] == dram, f"device {device}")
    painted = """return await page.evaluate(() => [...document.querySelectorAll('canvas.mini-map')].filter(
        (each) => each.width === 14 && each.height === 10 &&
            each.getContext('2d').getImageData(0, 0, 1, 1).data[3] === 255).length)"""
    page.until(lambda: page.run(painted) == 32, "the cores of every chip")
    for width in (390, 900, 1100, 1280, 1440, 1920, 2560):
        page.run("await page.setViewportSize({ width: argument, height: 900 })", width)
        wide = """return await page.evaluate(() => [...document.querySelectorAll('article.card *')].filter((each) =>
            each.getBoundingClientRect().right > each.closest('.card').getBoundingClientRect().right + 1 &&
            !each.closest('header')).length)"""
        page.until(lambda: page.run(wide) == 0, f"nothing leaves its card at {width}")


def test_tabs_share_one_stream(page, stage):
    """A browser has six connections to a host: if each tab had a stream, the seventh would show nothing."""
    stage()("open", count=1)
    page.open("/")
    page.run("""for (let i = 0; i < 6; ++i) {
          const other = await page.context().newPage(); await other.goto(argument);
          await other.locator('article.card').waitFor();
        }""", page.address + "/")


def test_from_another_machine_the_page_asks_for_the_token(chromium, tmp_path, stage):
    address = own_address()
    if address is None or address.startswith("127."):
        pytest.skip("this machine has no other address than loopback ones")
    token = tmp_path / "token"
    token.write_text("0123456789abcdef")
    token.chmod(0o600)
    daemon = Daemon(str(tmp_path), "--allow-remote", "--token-file", str(token), http=f"{address}:0")
    try:
        stage()("open", count=1)
        tab = chromium.fresh(daemon)
        tab.open("/")
        tab.until(lambda: "asks for its token" in tab.text())
        tab.fill("input[type=password]", "wrong-wrong-wrong")
        tab.click("button[type=submit]")
        tab.until(lambda: "The daemon has another token" in tab.text())
        tab.fill("input[type=password]", "0123456789abcdef")
        tab.click("button[type=submit]")
        tab.until(lambda: tab.count("article.card") == 1, "the figures")
        name, data = tab.run(SAVED, 'section[aria-label="processes"] a:has-text("JSON")')
        assert name == "ttmem-processes.json" and json.loads(base64.b64decode(data))["document"] == "processes"
    finally:
        assert daemon.stop() == 0
