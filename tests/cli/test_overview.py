# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem` alone says what is going on now, and what to do next."""

from support import command


def test_where_nothing_is_recorded():
    text = command.text()
    assert "no process is recorded on this host\n" in text
    assert "  ttmem run python model.py " in text and "  ttmem doctor " in text
    assert text.endswith("`ttmem --help` lists every command.\n")


def test_where_a_program_has_run():
    with command.workload("--devices", "1"):
        text = command.text()
    assert "1 live process" in text
    assert " on 1 device\n" in text
    assert "  device 0 " in text and "DRAM " in text and "L1 " in text
    assert "  ttmem top " in text
