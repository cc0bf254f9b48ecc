# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""docs/json.md as a checker of what commands print, as tests/view/json_doc.hpp is of what views write."""

import re

from support.built import read_source

PLAIN = {"integer": int, "number": (int, float), "string": str, "boolean": bool}


def _tables():
    tables, table = {}, {}
    for line in read_source("docs/json.md").splitlines():
        if heading := re.fullmatch(r"### (\w+)", line):
            table = tables.setdefault(heading.group(1), {})
        elif (row := re.match(r"\| (\w+) \| ([^|]+) \|", line)) and row.group(1) != "field":
            table[row.group(1)] = row.group(2)
    return tables


TABLES = _tables()


def check(value, kind, path=""):
    """That a value is what the documents call it: no field is missing, none is undocumented."""
    path = path or kind
    if not kind.startswith("{") and kind.endswith(" or null"):
        if value is not None:
            check(value, kind.removesuffix(" or null"), path)
    elif kind in PLAIN:
        assert isinstance(value, PLAIN[kind]), f"{path} is no {kind}: {value!r}"
        assert kind == "boolean" or not isinstance(value, bool), f"{path} is no {kind}: {value!r}"
    elif kind.startswith("["):
        assert isinstance(value, list), f"{path} is no list: {value!r}"
        for each in value:
            check(each, kind[1:-1], path + "[]")
    elif kind.startswith("{"):
        assert isinstance(value, dict), f"{path} is no object: {value!r}"
        for each in value.values():
            check(each, kind[1:-1], path + "{}")
    else:
        fields = TABLES[kind]
        assert fields and isinstance(value, dict), f"{path} is no {kind}: {value!r}"
        assert set(value) == set(fields), f"{path}: {sorted(set(value) ^ set(fields))} on one side alone"
        for name, of in fields.items():
            check(value[name], of, f"{path}.{name}")
