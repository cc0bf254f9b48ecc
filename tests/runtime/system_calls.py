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
import sys

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


def strace_or_skip():
    if not shutil.which("strace"):
        oracle.skip("strace is not installed")
    probe = subprocess.run(["strace", "-f", "-o", "/dev/null", "true"], capture_output=True, text=True,
                           check=False)
    if probe.returncode != 0:
        oracle.skip(f"ptrace is not allowed here: {probe.stderr.strip().splitlines()[-1]}")


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
        scenes = [os.environ["TTMEM_RUNTIME_HOST"], "buffers", "programs", "reopen"]
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


def main():
    strace_or_skip()
    package = os.path.join(oracle.setup("wheel"), "ttnn")
    values = oracle.environment("n150", package)
    segments = same(values["TTMEM_DIR"])
    stub = preload()
    libraries = same(os.path.dirname(stub))
    subprocess.run([os.environ["TTMEM_RUNTIME_HOST"], "buffers", "programs", "reopen"], env=values,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)  # fills the caches
    without = Traced("without", values)
    with_hooks = Traced("with", dict(values, LD_PRELOAD=stub))
    failures = []
    for run, name in ((without, "without"), (with_hooks, "with")):
        if run.code != 0 or not run.checkpoints:
            failures.append(f"the host {name} hooks ended with {run.code}")
    if not any(path.startswith(segments) for path in with_hooks.paths):
        failures.append("the run with hooks wrote no segment: nothing was recorded")
    further = with_hooks.of_devices(segments) - without.of_devices(segments)
    if further:
        failures.append(f"further calls on devices: {sorted(further)}")
    ioctls = set(with_hooks.ioctls) - set(without.ioctls) - {IS_A_TERMINAL}
    if ioctls:
        failures.append(f"further ioctls: {sorted(ioctls)}")
    strange = [
        path for path in sorted(with_hooks.paths - without.paths)
        if not path.startswith((segments, libraries)) and not OURS.search(path)
    ]
    if strange:
        failures.append(f"further files that are not ours: {strange}")
    print(f"{sum(without.touched.values())} and {sum(with_hooks.touched.values())} system calls compared, "
          f"{len(with_hooks.paths - without.paths)} further files, all ours")
    for failure in failures:
        print("FAILED:", failure)
    return bool(failures)


sys.exit(main())
