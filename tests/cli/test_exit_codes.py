# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""docs/exit-codes.md, held to its word."""

import os
import re

from support import command


def expect(code, message, *arguments, **changes):
    done = command.run(*arguments, **changes)
    assert done.returncode == code, f"{arguments}: {done.stdout}{done.stderr}"
    assert message in (done.stderr if code else done.stdout)
    assert "terminate called" not in done.stderr


def test_0_nothing_tracked_is_one_friendly_line():
    for arguments in (["status"], ["dump"]):
        done = command.run(*arguments)
        assert (done.returncode, done.stdout.count("\n")) == (0, 1)
        assert "ttmem run" in done.stdout
    assert command.text("events") == ""
    expect(0, "removed 0 segments", "gc")


def test_0_empty_documents_are_documents():
    assert command.document("status")["devices"] == []
    assert command.document("dump")["holdings"] == []
    assert command.document("status", "--cores")["devices"] == []
    assert command.document("status", "--programs")["programs"] == []


def test_0_a_directory_that_does_not_exist_holds_nothing():
    expect(0, "Nothing is tracked yet", "status", TTMEM_DIR=os.path.abspath("nowhere"))


def test_0_version_and_help():
    assert re.search(r"^ttmem \d+\.\d+\.\d+\n$", command.text("--version"))
    assert command.run().returncode == 0


def test_1_what_was_named_is_not_there():
    expect(1, "process 1 is not tracked", "status", "--pid", "1")
    expect(1, "there is no device 7", "status", "--device", "7")
    expect(1, "no process has kept a failure 3", "dump", "--failure", "3")
    for arguments in (["dump"], ["events"], ["explain"], ["leaks"], ["top", "--once"], ["export", "--to", "csv", "-o", "-"],
                      ["report", "-o", "-"], ["record", "--duration", "1", "-o", "run.ttm"]):
        expect(1, "process 1 is not tracked", *arguments, "--pid", "1")
    with command.workload("--devices", "2"):
        expect(1, "there is no device 7; there are: 0, 1", "status", "--device", "7")
        expect(1, "device 0 has no tensix core 8,0", "status", "--device", "0", "--core", "8,0")
        expect(1, "--device", "status", "--core", "0,0")


def test_1_a_file_that_is_not_there():
    for arguments in (["status", "--from"], ["dump", "--from"], ["events", "--from"], ["serve", "--from"], ["serve", "--config"],
                      ["fit", "--board", "n150", "--file"], ["fleet", "--hosts"], ["report", "-o", "-"]):
        expect(1, "nofile: No such file or directory", *arguments, "nofile")
    expect(1, "nofile", "diff", "nofile", "nofile")


def test_2_the_words_are_those_of_users():
    expect(2, "ttmem: unknown option: --frobnicate\n", "status", "--frobnicate")
    expect(2, "ttmem: unexpected argument: extra\n", "status", "extra")
    expect(2, "ttmem: --device needs a value\n", "status", "--device")
    expect(2, "ttmem: --sort: must be one of size, age, name, pid, device\n", "dump", "--sort", "beauty")
    expect(2, "ttmem: SHELL: must be one of bash, zsh, fish\n", "completion", "tcsh")
    expect(2, "ttmem: BEFORE is required\n", "diff")
    expect(2, "ttmem: --max-size: must be at least 1M, such as 500M or 2G\n", "record", "--max-size", "5X")


def test_2_a_core_of_a_type_is_named_with_it():
    expect(2, "active_eth:0,1", "status", "--core", "eth:0,1")


def test_2_wrong_usage_says_where_help_is():
    for arguments in (
        ["frobnicate"],
        ["status", "--frobnicate"],
        ["status", "--device", "first"],
        ["status", "--device", "-1"],
        ["status", "--core", "3"],
        ["status", "--core", "eth:0,1"],
        ["status", "--watch", "0"],
        ["status", "--watch", "soon"],
        ["status", "--format", "modern"],
        ["status", "--cores", "--programs"],
        ["status", "--cores", "--format", "legacy"],
        ["status", "--pid", "1/"],
        ["status", "--device", "0xwhere"],
        ["dump", "--format", "legacy"],
        ["events", "--format", "json", "--detail"],
        ["dump", "--kind", "everything"],
        ["dump", "--sort", "beauty"],
        ["dump", "--failure", "0"],
        ["events", "--detail"],
        ["events", "--json", "--format", "legacy"],
        ["demo", "--scenario", "nothing"],
        ["demo", "--devices", "0"],
        ["demo", "--processes", "0"],
        ["demo", "--hold", "-1"],
    ):
        expect(2, "--help", *arguments)


def test_3_the_system_refused():
    with open("file", "w", encoding="utf-8"):
        pass
    here = os.path.abspath("file")
    for arguments in (["status"], ["status", "--json"], ["dump"], ["events"]):
        expect(3, "cannot look into", *arguments, TTMEM_DIR=here)
    expect(3, "cannot record", "demo", "--hold", "0", TTMEM_DIR=here)
    expect(3, "unset TTMEM_DISABLE", "demo", "--hold", "0", TTMEM_DISABLE="1")
    expect(3, "could not be started", "demo", "--processes", "2", TTMEM_DIR=here)
