#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What the page costs: 32 chips of 140 cores and 100 processes, all of which change ten times per second.

A real `ttmem serve`, programs of tests/programs/stage.cpp as processes, and the page in a real Chromium. Costs are CPU
seconds, not times, because other things on the machine only add to those. TTMEM_BENCH_SECONDS: how long to look (60;
1800 for the limit of "no growth in 30 minutes"). Speaks the language of the benchmark programs (README.md).
"""

import contextlib
import os
import re
import sys
import tempfile
import threading
import time

import spoken

TESTS = os.path.join(spoken.SOURCE, "tests")
sys.dont_write_bytecode = True
sys.path[:0] = [TESTS, os.path.join(TESTS, "web"), os.path.join(TESTS, "serve")]

CHIPS, PROCESSES, HERTZ = 32, 100, 10
WARM_SECONDS = 15
LIMITS = {"page/cpu": 30, "page/renderer": 150, "page/growth": 3, "page/first_picture": 1000, "page/ten_readers": 5}
READERS = 10
MIB = 1 << 20
MB = 1_000_000  # the limit of the renderer is in these

# Before anything else of the page: when the first byte came, and when all cards were there.
WATCH = """await page.addInitScript(() => {
  const look = new MutationObserver(() => {
    if (document.querySelectorAll('article.card').length < 32) return;
    look.disconnect();
    requestAnimationFrame(() => (window.firstPicture = performance.now() - performance.getEntriesByType('navigation')[0].responseStart));
  });
  look.observe(document, { childList: true, subtree: true });
})"""
COSTS = """page.own ??= await page.context().browser().newBrowserCDPSession();
return (await page.own.send('SystemInfo.getProcessInfo')).processInfo"""
HEAP = """page.cdp ??= await page.context().newCDPSession(page);
await page.cdp.send('Performance.enable');
await page.cdp.send('HeapProfiler.collectGarbage');
return (await page.cdp.send('Performance.getMetrics')).metrics.find((each) => each.name === 'JSHeapUsedSize').value"""


class Crowd:
    """All processes, each of which changes at every beat."""

    def __init__(self, stack):
        from support.stage import staged
        self.plays = [stack.enter_context(staged()) for _ in range(PROCESSES)]
        for i, play in enumerate(self.plays):
            play("name", name=f"rank{i}")
            chips = {"count": CHIPS, "mesh": [4, 8]} if i == 0 else {"count": 1, "first": i % CHIPS}
            play("open", columns=14, rows=10, board="galaxy", l1_small=32768, **chips)
            for k in range(8):
                play("push", name="ttnn.from_torch", line=f"model/layer{k}.py:{i}")
                play("allocate", id=k + 1, address=(k + 1) << 21, block=MIB)
                play("pop")
        self.stop = threading.Event()
        self.beats = 0
        self.thread = threading.Thread(target=self.beat)
        self.thread.start()
        stack.callback(self.end)

    def beat(self):
        begun = time.monotonic()
        while not self.stop.wait(max(0, begun + self.beats / HERTZ - time.monotonic())):
            self.beats += 1
            for play in self.plays:
                if self.beats % 2:
                    play("allocate", id=100, space=1, address=1_000_000, block=32 * (1 + self.beats % 97))
                else:
                    play("free", id=100)

    def end(self):
        self.stop.set()
        self.thread.join()


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def private_bytes(pid):
    """As Chromium itself counts it: anonymous memory, in RAM or swapped out."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return sum(int(found) << 10 for found in re.findall(r"^(?:RssAnon|VmSwap):\s+(\d+) kB", file.read(), re.MULTILINE))


def total(processes):
    return sum(each["cpuTime"] for each in processes)


def of_the_page(tab, daemon, crowd, seconds):
    """The figures of one page of the overview."""
    tab.run(WATCH)
    tab.open("/")
    tab.until(lambda: tab.run("return await page.evaluate(() => window.firstPicture ?? null)"), "the first picture")
    figures = {"page/first_picture": tab.run("return await page.evaluate(() => window.firstPicture)")}
    time.sleep(WARM_SECONDS)
    heap = tab.run(HEAP)
    beats, before, begun = crowd.beats, tab.run(COSTS), time.monotonic()
    most = 0  # it rises and falls as garbage is collected
    while time.monotonic() < begun + seconds:
        time.sleep(min(5, seconds))
        after = tab.run(COSTS)
        most = max(most, *(private_bytes(each["id"]) for each in after if each["type"] == "renderer"))
    took = time.monotonic() - begun
    figures["page/cpu"] = 100 * (total(after) - total(before)) / took
    figures["page/renderer"] = most / MB
    figures["page/growth"] = (tab.run(HEAP) - heap) / MIB
    figures["hertz"] = (crowd.beats - beats) / took
    return figures


def of_the_daemon(daemon, seconds):
    """Percent of a core that ten readers of its stream cost more than one."""
    shares = []
    for count in (1, READERS):
        stop = threading.Event()
        readers = [threading.Thread(target=read_stream, args=(daemon, stop)) for _ in range(count)]
        for each in readers:
            each.start()
        time.sleep(3)
        before, begun = cpu_seconds(daemon.process.pid), time.monotonic()
        time.sleep(seconds)
        shares.append(100 * (cpu_seconds(daemon.process.pid) - before) / (time.monotonic() - begun))
        stop.set()
        for each in readers:
            each.join()
    return shares


def read_stream(daemon, stop):
    """As the page asks for it, thrown away as it comes."""
    with daemon.socket() as connection:
        connection.settimeout(0.5)
        connection.sendall(b"GET /api/v1/events?events=0&brief=1&cores=1 HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n")
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                if not connection.recv(1 << 20):
                    return


def measure(seconds):
    import browser
    from daemon import Daemon
    if reason := browser.missing():
        raise LookupError(reason)
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory())
        os.environ["TTMEM_DIR"] = stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm"))
        os.environ["TTMEM_HOST_ROOT"] = os.path.join(place, "no-host")
        daemon = Daemon(place)
        stack.callback(daemon.stop)
        crowd = Crowd(stack)
        chromium = stack.enter_context(contextlib.closing(browser.Browser()))
        figures = of_the_page(chromium.fresh(daemon, viewport={"width": 1920, "height": 1080}), daemon, crowd, seconds)
        chromium.run("await page.close()")
        one, ten = of_the_daemon(daemon, max(10, seconds / 4))
        figures["page/ten_readers"] = ten - one
        return figures, one


def labels(figures, one, seconds):
    load = f"{CHIPS} chips of 140 cores, {PROCESSES} processes that change {figures['hertz']:.1f} times per second"
    return {
        "page/cpu": f"% of a core; all of Chromium (software rendering), {load}, {seconds:.0f} s",
        "page/renderer": f"MB; most private memory of the renderer, {load}",
        "page/growth": f"MiB; live JavaScript after {seconds:.0f} s more than at first",
        "page/first_picture": "ms; from the first byte to all 32 cards, on loopback",
        "page/ten_readers": f"% of a core; of the daemon for {READERS} readers more than for one ({one:.1f})",
    }


def main():
    arguments = spoken.arguments(__doc__)
    os.environ["TTMEM_BUILD_DIR"] = os.path.realpath(arguments.build)
    names = [name for name in LIMITS if re.search(arguments.benchmark_filter, name)]
    entries = []
    if names:
        seconds = float(os.environ.get("TTMEM_BENCH_SECONDS", "60"))
        try:
            figures, one = measure(seconds)
            told = labels(figures, one, seconds)
            entries = [spoken.entry(name, figures[name], LIMITS[name], told[name]) for name in names]
        except LookupError as reason:
            print(f"bench: page is left out: {reason}", file=sys.stderr)
    return spoken.tell(__file__, entries)


if __name__ == "__main__":
    sys.exit(main())
