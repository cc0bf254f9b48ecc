# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The documents: every page can be found, every link leads somewhere, and what is shown is printed."""

import glob
import os
import re

from support import command
from support.built import SOURCE
from support.built import read_source as read

READS_VARIABLE = re.compile(r"""(?:getenv|variable|environ\.get|value_of)\(\s*"([A-Z][A-Z_]+)\"""")


def exists(path):
    return os.path.exists(os.path.join(SOURCE, path))


def files(pattern):
    found = glob.glob(os.path.join(SOURCE, pattern), recursive=True)
    return sorted(os.path.relpath(path, SOURCE) for path in found)


PAGES = files("docs/**/*.md")
EVERYTHING = ["README.md", "CONTRIBUTING.md", *PAGES]


def links(path):
    """(file, anchor) that a document links to; the file from the top, the anchor perhaps empty."""
    for target, anchor in re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", read(path)):
        yield (
            os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path,
            anchor,
        )


def anchors(path):
    """As GitHub and the site make them of headings."""
    text = re.sub(r"^```.*?^```", "", read(path), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ (.*)", text, re.MULTILINE):
        yield re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_links_lead_somewhere():
    broken = [
        f"{path}: {target}#{anchor}"
        for path in EVERYTHING
        for target, anchor in links(path)
        if not exists(target) or (anchor and anchor not in anchors(target))
    ]
    assert broken == []


def test_named_files_exist():
    named = r"`((?:tests|docs|scripts|src|bench|packaging|python|include)/[\w./-]+)`"
    missing = [
        f"{path}: {target}"
        for path in EVERYTHING
        for target in re.findall(named, read(path))
        if not exists(target)
    ]
    assert missing == []


def test_the_readme_links_every_page():
    linked = {target for target, _ in links("README.md")}
    assert set(PAGES) - linked == set()


def test_the_site_shows_every_page_once():
    navigation = read("mkdocs.yml").split("\nnav:\n")[1]
    shown = re.findall(r"[\w/-]+\.md", navigation)
    outside = ["index.md", "contributing.md", "changes.md", "report.md"]  # those beside docs/
    assert sorted(shown) == sorted(outside + [path[len("docs/") :] for path in PAGES])


def test_every_command_is_listed():
    listing = command.text("--help").split("Subcommands:\n")[1].split("\n\n")[0]
    there = re.findall(r"^  (\w+)", listing, re.MULTILINE)
    listed = re.findall(r"^\| `ttmem (\w+)", read("docs/commands.md"), re.MULTILINE)
    assert sorted(listed) == sorted(there)


def test_every_key_of_the_live_screen_is_listed():
    screen = command.text("top", "--once", "--view", "help", "--size", "110x40")
    rows = [line[2:18].split() for line in screen.splitlines() if line.startswith("│ ")]
    keys = {key for row in rows[:rows.index([])] for key in row}
    assert len(keys) > 15
    page = read("docs/top.md")
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []


def test_every_variable_is_listed():
    listed = read("docs/environment.md") + read("docs/serve.md")
    sources = files("src/**/*.cpp") + files("src/**/*.c") + files("python/ttmem/*.py")
    there = {name for path in sources for name in READS_VARIABLE.findall(read(path))}
    assert len(there) > 10
    assert [name for name in sorted(there) if f"`{name}`" not in listed] == []


def test_what_is_shown_is_what_is_printed():
    with command.workload():
        status = command.text("status").split("\nProcesses\n")[0]
        original = command.text("status", "--format", "legacy")
        loads = command.text("events", "--format", "legacy", "--detail")
        original += "".join(line for line in loads.splitlines(True) if "PID" not in line)
    for path, printed in (("README.md", status), ("docs/compatibility.md", original)):
        shown = read(path).splitlines()
        assert [line for line in printed.splitlines() if line not in shown] == [], path
