# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Figures over time, of devices and of processes."""

import scenes


def test_time(page, stage):
    scenes.model(stage(), chips=2)
    page.open("/t")
    page.until(lambda: page.count(".chart canvas") == 6, "six charts")
    page.click('section[aria-label="DRAM taken"] summary')
    page.until(lambda: "Device 1" in page.text('section[aria-label="DRAM taken"] table.plain-table'))
    name = page.run("""const [saved] = await Promise.all([page.waitForEvent('download'), page.locator(argument).click()]);
        return saved.suggestedFilename()""", 'section[aria-label="Least headroom"] button:has-text("CSV")')
    assert name == "ttmem-least-headroom.csv", "each chart a file of its own"


OVER_TIME = """return await page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.charts > section')].map(
    (chart) => [chart.getAttribute('aria-label'), [...chart.querySelectorAll('tbody tr[data-series]')].map(
        (row) => [row.dataset.series, JSON.parse(row.dataset.largest)])])))"""


def test_each_process_over_time(page, daemon, stage):
    first, second = stage("llama"), stage("bert")
    scenes.model(first, chips=2)
    second("open", count=1, first=2)
    second("program", id=7, name="gelu", cores=[0, 0, 3, 3], kernels=[{"name": "gelu", "bytes": 512}])
    second("launch", id=7)
    page.open("/t?by=process")
    page.until(lambda: page.count(".chart canvas") == 5, "five charts")
    held = {f"{each['name']} {each['pid']}": each["held"] for each in daemon.document("/api/v1/processes")["processes"]}
    titles = {"DRAM taken": "dram", "L1 buffers taken": "l1", "Program L1, resident": "program_l1", "Kernels of applications, footprint": "kernels"}

    def same():
        shown = page.run(OVER_TIME)
        return all(dict(shown.get(title, ())) == {name: of[figure] for name, of in held.items()} for title, figure in titles.items())
    page.until(same, "what each process holds")

    def launching():
        second("launch", id=7, times=20)
        rates = dict(page.run(OVER_TIME).get("Launches per second", ()))
        return f"llama {first.pid}" in rates and (rates.get(f"bert {second.pid}") or 0) >= 20
    page.until(launching, "launches of one, at least one call of 20 per second")


def test_back_leaves_a_zoom_whatever_clicks_made_it(page, stage):
    stage()("open", count=1)
    page.open("/p")
    page.click('nav a:has-text("Time")')
    page.until(lambda: page.path() == "/t")
    ranges = set()
    for button in ("Zoom in", "Zoom in", "Earlier", "Zoom in", "Earlier"):
        page.click(f'button[aria-label="{button}"]')
        page.until(lambda: page.path() not in {"/t", *ranges}, "another range")
        ranges.add(page.path())
    page.run("await page.goBack()")
    page.until(lambda: page.path() == "/t", "live again")
    page.run("await page.goBack()")
    page.until(lambda: page.path() == "/p")


def test_charts_share_one_cursor_and_one_range(page, stage):
    scenes.model(stage(), chips=2)
    page.open("/t")
    page.run("await page.evaluate(() => performance.setResourceTimingBufferSize(1e6))")  # however long it takes
    page.until(lambda: page.count(".u-over") == 6, "six charts")
    times = """return await page.evaluate(() => [...document.querySelectorAll('.chart')].map(
        (chart) => chart.querySelector('.u-series .u-value')?.textContent))"""
    page.until(lambda: page.run(times) == ["last"] * 6, "no cursor, so the last values")
    over = """const box = await page.locator('.u-over').first().boundingBox(); const at = (share) => [box.x + box.width * share, box.y + 40];
    await page.mouse.move(...at(0.4)); """

    def shared():
        shown = page.run(over + times)
        return len(set(shown)) == 1 and shown[0] and shown[0].startswith("20")
    page.until(shared, "a cursor over one chart is over all")
    page.run(over + "await page.mouse.down(); await page.mouse.move(...at(0.5)); await page.mouse.move(...at(0.8)); await page.mouse.up()")
    page.until(lambda: "from=" in page.path() and "to=" in page.path(), "the range is in the address")
    chosen = page.run("const of = new URL(page.url()).searchParams; return `${of.get('from')} ${of.get('to')}`")
    spans = """return await page.evaluate(() => performance.getEntriesByType('resource').filter((each) => each.name.includes('/history?')).slice(-6).map(
        (each) => { const of = new URL(each.name).searchParams; return `${of.get('from')} ${of.get('to')}`; }))"""
    page.until(lambda: page.run(spans) == [chosen] * 6, "all charts ask for this range")
    page.run("await page.goBack()")
    page.until(lambda: page.path() == "/t", "back to live")


DRAWN = """return await page.evaluate(async () => {
    for (let i = 0; i < 3; ++i) await new Promise(requestAnimationFrame);
    const section = document.querySelector('.charts > section'), canvas = section?.querySelector('canvas');
    if (!canvas) return [0, 0];
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let drawn = 0; // in the colour of the first line
    for (let i = 0; i < pixels.length; i += 4) drawn += Math.hypot(pixels[i] - 66, pixels[i + 1], pixels[i + 2] - 166) < 30 && pixels[i + 3] > 50;
    return [section.querySelectorAll('.u-legend .u-series').length - 1, drawn]; })"""


def test_a_chart_is_whole_when_another_process_joins(page, stage):
    first = stage("first")
    first("open", count=1)
    first("allocate", id=1, address=1 << 21, block=1 << 20)
    page.open("/t?by=process&from=-1m")
    page.until(lambda: page.run(DRAWN)[1] > 5, "a line of some seconds")
    for count in (2, 3, 4):
        stage(f"another{count}")("open", count=1, first=count)
        page.until(lambda: (seen := page.run(DRAWN))[0] == count and seen, "its line")
        assert page.run(DRAWN)[1] > 5, "the lines of before are there all the time"


def test_of_many_lines_those_that_matter_are_drawn(page, stage):
    play = stage("galaxy")
    play("open", count=20, mesh=[1, 20])
    hungry = stage("hungry")
    hungry("open", count=1, first=17)
    hungry("allocate", id=1, address=1 << 21, block=1 << 20)
    page.open("/t")
    dram = 'section[aria-label="DRAM taken"]'
    page.until(lambda: page.count(f"{dram} .u-legend .u-series") == 17, "the time, and 16 of 20")
    assert "Device 17" in page.text(f"{dram} .u-legend") and "The 16 of 20 with the most; the table has all." in page.text(dram)
    page.click(f"{dram} summary")
    page.until(lambda: page.count(f"{dram} tr[data-series]") == 20)
    markers = page.run("""return await page.evaluate(() => [...document.querySelectorAll('.charts > section:first-child .u-marker')].slice(1).map(
        (each) => getComputedStyle(each).backgroundImage + getComputedStyle(each).backgroundColor))""")
    assert len(set(markers)) == 16, "no two lines look alike"
