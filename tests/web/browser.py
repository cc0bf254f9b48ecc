# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A real Chromium with the page of a daemon in it (browser.mjs drives it)."""

import json
import math
import os
import shutil
import subprocess

from support import built
from support.waiting import eventually

WEB = os.path.join(built.SOURCE, "web")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

# As rounded as anybody reads it: what is in `data-bytes` is exact.
READ_FIGURES = """return await page.evaluate((within) => Object.fromEntries(
    [...document.querySelectorAll(within + ' [data-figure]')].map((each) =>
        [each.dataset.figure, JSON.parse(each.dataset.bytes ?? each.dataset.count)])), argument)"""
READ_ROWS = """return await page.evaluate((label) =>
    [...document.querySelectorAll(`section[aria-label="${label}"] tbody tr:not(.space)`)].map((row) =>
        Object.fromEntries([...row.querySelectorAll('td')].map((cell) => {
          const exact = cell.querySelector('[data-bytes]')?.dataset.bytes;
          return [cell.dataset.column, exact === undefined ? cell.textContent : JSON.parse(exact)];
        }))), argument)"""




class Drawn(dict):
    """What a part of the page shows, by its names. Whoever waits for it asks before it is drawn: nothing equals what is not drawn, not
    even the None of a figure that is not known."""

    def __missing__(self, name):
        return math.nan


def packages_missing():
    """Why node cannot run what is in web/, after an attempt to install it; None if it can."""
    script = os.path.join(built.SOURCE, "scripts", "page")
    done = subprocess.run([script, "--packages"], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else None


def missing():
    """Why no browser can be driven here; None if one can."""
    if not CHROMIUM:
        return "Chromium is not installed: scripts/setup test installs it"
    return packages_missing()


class Browser:
    def __init__(self):
        script = os.path.join(os.path.dirname(os.path.realpath(__file__)), "browser.mjs")
        self.process = subprocess.Popen(["node", script, CHROMIUM, WEB], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.address = None
        self.daemon = None

    def say(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the browser's driver ended"
        answer = json.loads(line)
        assert "problem" not in answer, answer["problem"]
        return answer["value"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    # ---- a page ---------------------------------------------------------------------------------

    def fresh(self, daemon, **settings):
        """An empty page of a browser that knows nothing, for the addresses of this daemon."""
        self.say(fresh={"host": daemon.host, **settings})
        self.address = f"http://{daemon.host}:{daemon.port}"
        self.daemon = daemon
        return self

    def run(self, code, argument=None):
        return self.say(code=code, argument=argument)

    def open(self, path, quiet=False):
        """Shows a view. The daemon has seen by then what happened before, and so has the page; `quiet`: nothing did."""
        if not quiet and "--from" not in self.daemon.options and "--token-file" not in self.daemon.options:  # a recording; does not answer us
            self.daemon.catch_up()
        self.run("await page.goto(argument); await page.locator('main:has(h1):not(:has(.waiting))').waitFor()",
                 self.address + path)

    def path(self):
        return self.run("return await page.evaluate(() => location.href)").removeprefix(self.address)

    def press(self, *keys):
        for key in keys:
            self.run("await page.keyboard.press(argument)", key)

    def click(self, selector):
        self.run("await page.locator(argument).first().click()", selector)

    def fill(self, selector, text):
        self.run("await page.locator(argument[0]).first().fill(argument[1])", [selector, text])

    def count(self, selector):
        return self.run("return await page.locator(argument).count()", selector)

    def text(self, selector="main"):
        return self.run("return await page.locator(argument).first().innerText()", selector)

    def figures(self, within="main"):
        """Every figure with a name in this part of the page: {name: exact value}."""
        return Drawn(self.run(READ_FIGURES, within))

    def rows(self, label):
        """The rows of a table that are in the page: [{column: text, or exact bytes}]."""
        return self.run(READ_ROWS, label)

    def row(self, label, at=0):
        """One of them, from the end if `at` is negative; an empty one where there are not so many."""
        rows = self.rows(label)
        return Drawn(rows[at] if -len(rows) <= at < len(rows) else {})

    def until(self, probe, what="it"):
        return eventually(probe, what)

    def wrongs(self):
        """What the page did that it should not: errors, refused by its CSP, requests to others."""
        return self.run("return page.wrongs")

    def findings(self):
        """What axe finds against WCAG 2.2 A and AA."""
        return self.run("""await page.evaluate(axe + ';0');
            const found = await page.evaluate(() => axe.run({
              runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}));
            return found.violations.map((each) => each.id + ': ' +
                each.nodes.slice(0, 3).map((node) => node.target + ' ' + node.failureSummary).join(' | '))""")
