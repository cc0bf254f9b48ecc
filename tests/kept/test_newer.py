# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A recording of a later version (docs/versions.md), made of one of this version: of a later minor what is known is read."""

import os
import struct
import zlib

from support import command
from support.built import SOURCE

RECORDING = os.path.join(SOURCE, "tests", "recording", "kept", "minor-0.ttm")
HEAD_BYTES, FRAME_BYTES = 128, struct.Struct("<I")
MAGIC, VERSION_AT, KIND_AT, PACKED_AT, CHECKSUM_AT = b"TTMEMREC", 16, 20, 32, 116
INDEX, UNKNOWN = 8, 4711


def blocks(data):
    """(header, body) of each, without the index."""
    at = 0
    while data[at + 8:at + 16] == MAGIC:
        body = at + 8 + FRAME_BYTES.unpack_from(data, at + 4)[0]
        end = body + FRAME_BYTES.unpack_from(data, at + PACKED_AT)[0]
        if struct.unpack_from("<H", data, at + KIND_AT)[0] != INDEX:
            yield data[at:at + HEAD_BYTES], data[body:end]
        at = end


def changed(header, version, longer=0, kind=None):
    header = bytearray(header) + b"\xab" * longer
    struct.pack_into("<I", header, 4, HEAD_BYTES - 8 + longer)
    struct.pack_into("<2H", header, VERSION_AT, *version)
    if kind is not None:
        struct.pack_into("<H", header, KIND_AT, kind)
    struct.pack_into("<I", header, CHECKSUM_AT, zlib.crc32(header[:CHECKSUM_AT]))
    return bytes(header)


def known_blocks():
    with open(RECORDING, "rb") as file:
        known = list(blocks(file.read()))
    assert len(known) > 3
    return known


def test_of_a_later_minor_what_is_known_is_read():
    with open("later.ttm", "wb") as file:
        for header, body in known_blocks():
            file.write(changed(header, (1, 7), longer=16) + body)
            file.write(changed(header, (1, 7), longer=8, kind=UNKNOWN) + body)
    for line in (["status"], ["dump"], ["events"]):
        before, later = (command.text(*line, "--json", "--from", path) for path in (RECORDING, "later.ttm"))
        assert before and before.replace(RECORDING, "") == later.replace("later.ttm", ""), line


def test_another_major_is_refused_in_words():
    with open("other.ttm", "wb") as file:
        for header, body in known_blocks():
            file.write(changed(header, (2, 0)) + body)
    done = command.run("status", "--from", "other.ttm")
    assert done.returncode != 0 and "a recording of version 2, which this ttmem cannot read" in done.stderr
