# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The hooks do no device I/O: the same program under strace, with them and without.

Mock chips have no device file, so what is compared is everything that could be one: which system calls
touch which paths of /dev and /sys, and every ioctl. Beyond that, whatever files the hooks add must be
our own: the segment, our libraries, and what /proc says about this process.
"""

import collections
import os
import re
import shutil
import subprocess

import pytest

import oracle

CALLS = "open,openat,ioctl,read,write,pread64,pwrite64,mmap,readlink,readlinkat,access,stat,newfstatat"
CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)$")
QUOTED = re.compile(r'"([^"]*)"')
DESCRIPTOR = re.compile(r"\d+<([^>]*)>")
REQUEST = re.compile(r"\d+<[^>]*>(?:\(deleted\))?, (\w+)")
IS_A_TERMINAL = "TCGETS"  # asked by every program that prints
#: What differs from run to run: numbers of processes, jobs and builds.
NUMBER = re.compile(r"[0-9a-f]*\d[0-9a-f]*")
#: What a further file may be, besides the segment and what lies where our libraries are looked for.
OURS = re.compile(r"^(/proc/(self|thread-self|N|sys/kernel)(/|$)|/etc/ld\.so)|libttmem|/libgcc_s|/libstdc")


def need_strace():
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    probe = subprocess.run(["strace", "-f", "-o", "/dev/null", "true"], capture_output=True, text=True,
                           check=False)
    if probe.returncode != 0:
        pytest.skip(f"ptrace is not allowed here: {probe.stderr.strip().splitlines()[-1]}")


def preload():
    """LD_PRELOAD as `ttmem run` sets it, without its own system calls."""
    text = oracle.ttmem("run", "--print-env")
    return re.search(r"LD_PRELOAD='([^']*)'", text).group(1)


def same(path):
    """A path as it is in every run."""
    return NUMBER.sub("N", path)


class Traced:
    """Paths by system call, and ioctls by request, of one run of the host program."""

    def __init__(self, name, values):
        self.touched = collections.Counter()
        self.ioctls = collections.Counter()
        self.paths = set()
        log = os.path.join(os.getcwd(), name)
        command = ["strace", "-f", "-qq", "-y", "-e", f"trace={CALLS}", "-o", log]
        if "LD_PRELOAD" in values:
            command += ["-E", f"LD_PRELOAD={values['LD_PRELOAD']}"]
        plain = {key: value for key, value in values.items() if key != "LD_PRELOAD"}
        scenes = [oracle.HOST, "buffers", "programs", "reopen"]
        result = subprocess.run(command + scenes, env=plain, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        self.code = result.returncode
        self.checkpoints = result.stdout.count(b'"checkpoint"')
        with open(log, encoding="utf-8", errors="replace") as file:
            for line in file:
                self.add(line)

    def add(self, line):
        call = CALL.match(line)
        if not call:
            return
        name, rest = call.groups()
        if name == "ioctl":
            request = REQUEST.match(rest)
            self.ioctls[request.group(1) if request else rest[:40]] += 1
        found = DESCRIPTOR.match(rest)
        if found:
            self.touched[name, same(found.group(1))] += 1
        elif name in ("open", "openat", "access", "stat", "newfstatat", "readlink", "readlinkat"):
            quoted = QUOTED.search(rest)
            if quoted:
                self.touched[name, same(quoted.group(1))] += 1
                self.paths.add(same(quoted.group(1)))

    def of_devices(self, segments):
        return {
            key for key in self.touched
            if key[1].startswith(("/dev/", "/sys/")) and not key[1].startswith(segments)
        }


def test_no_call_on_devices_and_no_file_but_ours():
    need_strace()
    values = oracle.environment("n150", oracle.package())
    segments = same(values["TTMEM_DIR"])
    stub = preload()
    libraries = same(os.path.dirname(stub))
    subprocess.run([oracle.HOST, "buffers", "programs", "reopen"], env=values,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)  # fills the caches
    without = Traced("without", values)
    with_hooks = Traced("with", dict(values, LD_PRELOAD=stub))
    for run in (without, with_hooks):
        assert run.code == 0 and run.checkpoints
    assert any(path.startswith(segments) for path in with_hooks.paths), "nothing was recorded"
    assert with_hooks.of_devices(segments) - without.of_devices(segments) == set()
    assert set(with_hooks.ioctls) - set(without.ioctls) - {IS_A_TERMINAL} == set()
    further = sorted(with_hooks.paths - without.paths)
    strange = [path for path in further
               if not path.startswith((segments, libraries)) and not OURS.search(path)]
    assert strange == []
