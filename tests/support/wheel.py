# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The wheel and the source archive as `make wheel` makes them, and fresh Debian systems to try them in."""

import glob
import os
import shlex
import subprocess

import pytest

from support.built import SOURCE
from support.tools import program

USER = 1000
DEVICES = ("null", "zero", "full", "random", "urandom")
HOME = "/home/user"


def run(*command, **settings):
    """What it printed; it must succeed."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", check=False, **settings)
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout


def build(directory, **environment):
    """(wheel, source archive) of what is checked out: those in TTMEM_WHEEL, a folder, or new ones."""
    named = os.environ.get("TTMEM_WHEEL") if not environment else None
    if not named:
        done = subprocess.run([os.path.join(SOURCE, "scripts", "wheel"), directory], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, **environment})
        if "pip could not install" in done.stdout:
            pytest.skip("pip cannot install the tools that make the wheel: no package index can be reached")
        assert done.returncode == 0, done.stdout[-8000:]
    (wheel,) = glob.glob(os.path.join(named or directory, "*.whl"))
    (source_archive,) = glob.glob(os.path.join(named or directory, "*.tar.gz"))
    return os.path.abspath(wheel), os.path.abspath(source_archive)


class FreshRoot:
    """A Debian system of its own, in which commands run as an ordinary user. Needs root to be entered."""

    def __init__(self, name, directory):
        if os.geteuid() != 0:
            pytest.skip("only root can enter another system's root")
        self.path = str(directory)
        self.mounts = []
        run("tar", "--extract", "--file", program(name, "root.tar"), "--directory", self.path)
        os.makedirs(self.path + "/dev/shm", exist_ok=True)
        for device in DEVICES:
            open(f"{self.path}/dev/{device}", "ab").close()
        home = self.path + HOME
        os.makedirs(home)
        os.chown(home, USER, USER)

    def show(self, path, at=None):
        """A file or folder of this machine, to be read there, under its own name if no other is given."""
        there = self.path + (at or path)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        if os.path.isdir(path):
            os.makedirs(there, exist_ok=True)
        else:
            open(there, "w", encoding="utf-8").close()
        self.mounts.append((path, there))
        # Folders on the way that only root may pass, as /root.
        for parent in (os.path.dirname(there)[:end] for end in range(len(self.path) + 1, len(there))):
            if os.path.isdir(parent):
                os.chmod(parent, os.stat(parent).st_mode | 0o555)

    def run(self, *command, **environment):
        values = {"HOME": HOME, "PATH": f"{HOME}/env/bin:/usr/bin:/bin", "LANG": "C.UTF-8", **environment}
        inside = ["chroot", f"--userspec={USER}:{USER}", self.path, "env", "-i", "--chdir", HOME,
                  *(f"{name}={value}" for name, value in values.items()), *command]
        steps = [f"mount -t proc proc {self.path}/proc", f"mount -t tmpfs -o mode=1777 shm {self.path}/dev/shm"]
        steps += [f"mount --bind /dev/{device} {self.path}/dev/{device}" for device in DEVICES]
        steps += [f"mount --bind {shlex.quote(here)} {shlex.quote(there)}" for here, there in self.mounts]
        steps += [f"mount -o remount,bind,ro {shlex.quote(there)}" for _, there in self.mounts]
        script = " && ".join([*steps, "exec " + shlex.join(inside)])
        return run("unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child", "sh", "-ec", script)
