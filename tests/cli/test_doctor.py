# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem doctor` checks everything that could keep ttmem from working; with a program it finds the
library that it would load, and never runs it.

tests/runtime/test_stock_doctor.py has the verdict on the stock library.
"""

import io
import json
import os
import platform
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tarfile

import pytest

from support import command, json_doc
from support.built import LIBRARY, TTMEM

NOTHING = "no libtt_metal.so was found"


def write(path, text, mode=0o755):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(path, mode)


def static_program():
    """The head of a 64-bit program that asks for no dynamic linker."""
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    return head + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 64, 0, 0, 64, 56, 0, 64, 0, 0)


def expect(words, *program):
    done = command.run("doctor", "--", *program)
    assert done.returncode == 1, done.stdout + done.stderr
    assert words in done.stdout
    return done.stdout


@pytest.fixture
def package(monkeypatch):
    """Makes a package in a folder of its own, on Python's path, that brings the library."""
    site = os.path.abspath("site")
    monkeypatch.setenv("PYTHONPATH", site)

    def make(name, version, library):
        path = os.path.join(site, name, library)
        os.makedirs(os.path.dirname(path))
        shutil.copy(LIBRARY, path)
        info = os.path.join(site, f"{name}-{version}.dist-info")
        os.makedirs(info)
        write(os.path.join(site, name, "__init__.py"), "raise SystemExit('was imported')\n")
        write(os.path.join(info, "METADATA"), f"Name: {name}\nVersion: {version}\n")
        write(os.path.join(info, "RECORD"), f"{name}/__init__.py,,\n{name}/{library},,\n")
        return path
    return make


def test_a_program_is_looked_at_and_not_run():
    shutil.copy(shutil.which("touch"), "toucher")
    expect(NOTHING, "./toucher", "touched")
    expect(
        "./static is linked statically: a preload does not reach it",
        write("static", static_program()) or "./static",
    )
    expect(
        "./run.sh is a script: name the Python or the program that it starts",
        write("run.sh", "#!/bin/sh\ntouch touched\n") or "./run.sh",
    )
    assert not os.path.exists("touched")


def test_what_is_no_program():
    expect("there is no program no-such-program", "no-such-program")
    expect("there is no program ./no/such", "./no/such")
    expect("text is not a 64-bit program", write("text", "text") or "./text")
    expect("cannot read", "/no/such/libtt_metal.so")
    done = command.run("doctor", "--frobnicate")
    assert done.returncode == 2
    assert "`ttmem doctor --help`" in done.stderr


def test_a_program_whose_library_is_not_there():
    source = "int f(void) { return 0; }\n"
    write("f.c", source)
    write("main.c", "int f(void); int main(void) { return f(); }\n")
    compiler = shutil.which("cc") or pytest.skip("there is no compiler")
    here = "-Wl,-rpath," + os.getcwd()
    for arguments in (
        ["-shared", "-fPIC", "f.c", "-o", "libtt_metal.so"],
        ["main.c", "-L.", "-l:libtt_metal.so", here, "-o", "linked"],
    ):
        subprocess.run([compiler, *arguments], check=True)
    text = expect("linked is linked to it", "./linked")
    assert os.path.abspath("libtt_metal.so") + "\n" in text
    os.remove("libtt_metal.so")
    expect("./linked does not find its libtt_metal.so", "./linked")


def test_a_package_that_bundles_the_library(package):
    path = package("plugin", "1.2.3", "lib/libtt_metal-1a2b3c4d.so")
    write("tool", f"#!{sys.executable}\n")
    write("other", "#!/usr/bin/env -S python3 -u\n")
    for program in (sys.executable, "python3", "./tool", "./other"):
        text = expect("imports plugin from here\n  version   1.2.3\n", program)
        assert text.splitlines().count(path) == 1
        assert "was imported" not in text
    document = json.loads(command.run("doctor", "--json", "--", "./tool").stdout)
    assert document["libraries"][0]["hooks"]
    json_doc.check(document, "doctor")


def test_ttnn_is_named_once(package):
    path = package("ttnn", "0.99", "build/lib/libtt_metal.so")
    text = expect("imports ttnn from here\n  version   0.99\n", sys.executable)
    assert text.splitlines().count(path) == 1


def test_whether_lines_are_told(package, monkeypatch):
    package("ttnn", "0.99", "build/lib/libtt_metal.so")
    version = platform.python_version()
    expect(f"\n  lines     CPython {version}: told\n", sys.executable)
    for arguments in (["-u", "model.py", "-I"], ["-X", "-I", "model.py"], ["-WIgnore", "-m", "model", "-S"]):
        expect(f"\n  lines     CPython {version}: told\n", sys.executable, *arguments)
    for arguments in (["-I", "model.py"], ["-u", "-WIgnore", "-sI"], ["-X", "dev", "-Im", "model"]):
        expect(f"\n  lines     CPython {version}: NOT told: with -I Python does not load ttmem's start file\n",
               sys.executable, *arguments)
    monkeypatch.setenv("TTMEM_LINES", "0")
    expect(f"\n  lines     CPython {version}: NOT told: TTMEM_LINES is off\n", sys.executable)


HOST_CHECKS = ["driver", "devices", "directory", "permissions", "room", "daemon", "clock", "terminal", "preload"]


def checks(**environment):
    done = command.run("doctor", "--json", "--", "/bin/true", **environment)
    assert done.returncode == 1, done.stdout + done.stderr
    document = json.loads(done.stdout)
    json_doc.check(document, "doctor")
    assert document["document"] == "doctor" and document["libraries"] == []
    return document["checks"]


def verdict(found, name):
    (one,) = [check for check in found if check["id"] == name]
    return one["verdict"], one["finding"]


def remedy(found, name):
    (one,) = [check for check in found if check["id"] == name]
    return one["remedy"]


def test_every_check_has_a_stable_id_and_what_fails_has_a_remedy():
    found = checks()
    assert [check["id"] for check in found] == [*HOST_CHECKS, "hooks"]
    assert all(check["remedy"] or check["verdict"] == "PASS" for check in found)
    assert verdict(found, "hooks") == ("FAIL", NOTHING)


def test_a_driver_and_a_device_that_may_not_be_opened():
    os.makedirs("host/sys/module/tenstorrent")
    write("host/sys/module/tenstorrent/version", "2.3.0\n", 0o644)
    os.makedirs("host/sys/class/tenstorrent/tenstorrent!0")
    found = checks(TTMEM_HOST_ROOT=os.path.abspath("host"))
    assert verdict(found, "driver") == ("PASS", "tenstorrent 2.3.0")
    assert verdict(found, "devices") == ("WARN", "1 device, but this user may not open /dev/tenstorrent/0")
    os.makedirs("host/dev/tenstorrent")
    write("host/dev/tenstorrent/0", "", 0o600)
    assert verdict(checks(TTMEM_HOST_ROOT=os.path.abspath("host")), "devices") == ("PASS", "1 device")


def test_a_directory_that_cannot_be_used_fails():
    found = checks(TTMEM_DIR="/nonexistent/x")
    assert verdict(found, "directory") == ("FAIL", "NONE: /nonexistent/x does not exist and cannot be made")
    assert remedy(found, "directory") == "make it, or set TTMEM_DIR"
    assert remedy(found, "room") == "as the check `directory` says"
    assert verdict(checks(TTMEM_DISABLE="1"), "directory")[0] == "WARN"


def test_a_limit_of_file_sizes_has_its_own_remedy():
    """Whoever may write the directory already gains nothing by making it writable."""
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = subprocess.run([TTMEM, "doctor", "--json", "--", "/bin/true"], preexec_fn=small_files, capture_output=True,
                          text=True, check=False)
    found = json.loads(done.stdout)["checks"]
    assert verdict(found, "directory") == ("FAIL", "NONE: files may not be large enough")
    assert remedy(found, "directory") == "raise `ulimit -f`"


def test_a_daemon_that_does_not_answer_is_not_taken_for_none():
    assert verdict(checks(), "daemon")[0] == "PASS"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        found = checks(TTMEM_SERVE=address)
        assert verdict(found, "daemon") == ("WARN", "one listens, but does not answer in time")
    found = checks(TTMEM_SERVE=address)
    assert verdict(found, "daemon") == ("WARN", f"none answers at {address}, which TTMEM_SERVE names")
    assert verdict(checks(TTMEM_SERVE="off"), "daemon")[0] == "PASS"


def test_a_terminal_that_cannot_draw_is_named():
    for term, words in (("dumb", "TERM is dumb, so that"), ("", "TERM is not set, so that")):
        done = subprocess.run(["script", "--quiet", "--return", "--command", f"{TTMEM} doctor -- /bin/true", "/dev/null"],
                              capture_output=True, text=True, check=False, env={**os.environ, "TERM": term})
        assert words in done.stdout


def test_what_a_library_lacks_stands_in_one_line(package):
    path = package("ttnn", "0.99", "build/lib/libtt_metal.so")
    (line,) = [line for line in expect("FAIL  hooks", sys.executable).splitlines() if "FAIL  hooks" in line]
    assert f"{path}, version 0.99: 0 of " in line and "; not available: buffers" in line


def test_the_bundle_has_no_secrets_and_is_for_its_owner_alone():
    secrets = {"TTMEM_TOKEN": "hunter2", "TT_password": "hunter2", "TT_PWD": "hunter2", "TTMEM_PROXY": "https://me:hunter2@host/",
               "TTMEM_ENGINE": "https://host/?token=hunter2", "TTNN_REGISTRY": "me:hunter2@host"}
    settings = {"TT_METAL_HOME": "/opt/metal", "OTHER": "hunter2", **secrets}
    command.run("doctor", "--bundle", "support.tar", "--", "/bin/true", **settings)
    assert os.stat("support.tar").st_mode & 0o777 == 0o600
    with tarfile.open("support.tar") as archive:
        texts = {os.path.basename(one.name): archive.extractfile(one).read().decode() for one in archive.getmembers()}
    assert {"doctor.json", "system.txt", "environment.txt", "snapshot.json"} <= set(texts)
    assert "TT_METAL_HOME=/opt/metal\n" in texts["environment.txt"]
    for name in secrets:
        assert f"{name}=(left out)\n" in texts["environment.txt"]
    assert "hunter2" not in "".join(texts.values())
    assert json.loads(texts["doctor.json"])["document"] == "doctor"
    assert json.loads(texts["snapshot.json"])["document"] == "snapshot"


def test_the_bundle_replaces_nothing_and_follows_no_link():
    os.symlink("elsewhere", "link.tar")
    write("there.tar", "mine")
    for name in ("link.tar", "there.tar"):
        done = command.run("doctor", "--bundle", name, "--", "/bin/true")
        assert done.returncode == 3 and f"{name}: there is such a file: remove it, or name another one" in done.stderr
    assert not os.path.exists("elsewhere")
    assert open("there.tar", encoding="utf-8").read() == "mine"


def test_a_bundle_that_cannot_be_written_to_its_end_is_taken_away():
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = subprocess.run([TTMEM, "doctor", "--bundle", "large.tar", "--", "/bin/true"], preexec_fn=small_files,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "large.tar: cannot be written: File too large" in done.stderr
    assert "wrote" not in done.stderr and not os.path.exists("large.tar")


def test_the_bundle_on_standard_output_is_alone_there():
    done = subprocess.run([TTMEM, "doctor", "--bundle", "-", "--", "/bin/true"], capture_output=True, check=False)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        assert "ttmem-support/doctor.json" in archive.getnames()
    assert not os.path.exists("-")
