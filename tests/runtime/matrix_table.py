#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The results of `make test-matrix`, kept in build/matrix.json, and the table of the README.

  tests/runtime/matrix_table.py            prints the table
  tests/runtime/matrix_table.py --write    puts it into the README, in place of the one that is there

A cell names the Pythons on which every figure was equal to the byte.
"""

import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
from support import built  # noqa: E402

BOARDS = {"n150": "N150", "n300": "N300", "t3k": "T3K", "galaxy": "Galaxy", "p150": "P150", "p300": "P300"}
PATH = os.path.join(built.BUILD, "matrix.json")
README = os.path.join(built.SOURCE, "README.md")
IN_README = re.compile(r"(?<=<!-- matrix -->\n).*?(?=<!-- end of matrix -->)", re.DOTALL)


def read():
    """{release: {board: {Python: [outcome, figures or reason]}}}"""
    try:
        with open(PATH, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def keep(version, python, board, outcome, detail):
    results = read()
    results.setdefault(version, {}).setdefault(board, {})[python] = [outcome, detail]
    with open(PATH + ".new", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1, sort_keys=True)
    os.replace(PATH + ".new", PATH)


def cell(outcomes):
    words = {"equal": "{}", "differs": "**{} differs**", "not by ttnn": "{} not by ttnn", "not available": "no {}"}
    return ", ".join(words[outcome].format(python) for python, (outcome, _) in sorted(outcomes.items())) or "not run"


def markdown(results):
    newest_first = sorted(results, key=lambda version: [int(part) for part in version.split(".")], reverse=True)
    rows = [["ttnn", *BOARDS.values()], ["---"] * (len(BOARDS) + 1)]
    rows += [[version, *(cell(results[version].get(board, {})) for board in BOARDS)] for version in newest_first]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def main():
    text = markdown(read())
    if sys.argv[1:] == ["--write"]:
        with open(README, encoding="utf-8") as file:
            old = file.read()
        with open(README, "w", encoding="utf-8") as file:
            file.write(IN_README.sub(lambda _: text, old))
    elif len(sys.argv) == 1:
        print(text, end="")
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
