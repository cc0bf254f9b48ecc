# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A real systemd as process 1 of namespaces of its own: `script` mounts what it needs and becomes systemd."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

DEADLINE_SECONDS = 120
NAMESPACES = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--uts", "--ipc", "--cgroup", "--net",
              "--kill-child=SIGKILL"]
#: What has nothing to do in a namespace.
IDLE = ("systemd-udevd", "systemd-udev-trigger", "systemd-modules-load", "systemd-sysctl", "systemd-timesyncd")


class Machine:
    """Namespaces with a systemd in them."""

    def __init__(self, pid):
        self.pid = pid

    def inside(self, *command):
        return ["nsenter", "-t", str(self.pid), "-m", "-n", "-p", "-i", "-u", "-C", "-r", "-w",
                "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *command]

    def run(self, *command):
        done = subprocess.run(self.inside(*command), text=True, capture_output=True, check=False,
                              timeout=DEADLINE_SECONDS)
        return done.stdout.strip()

    def must(self, *command):
        done = subprocess.run(self.inside(*command), text=True, capture_output=True, check=False,
                              timeout=DEADLINE_SECONDS)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def show(self, name, unit="ttmem.service"):
        return self.run("systemctl", "show", "--value", "-p", name, unit)

    def is_active(self, unit="ttmem.service"):
        return self.run("systemctl", "is-active", unit) == "active"

    def until(self, condition, what):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            if found := condition():
                return found
            time.sleep(0.5)
        return pytest.fail(f"{what}\n" + self.run("systemctl", "status", "--no-pager", "ttmem.service", "ttmem.socket",
                                                    "ttmem-directory.service")
                           + self.run("journalctl", "--no-pager", "-n", "60"))

    def ask(self, path):
        """What the daemon answers there; asked with the Python of here, since the machine may have none."""
        line = ["nsenter", "-t", str(self.pid), "-n", sys.executable, "-c", "import urllib.request as u;"
                f"print(u.urlopen('http://127.0.0.1:7171{path}', timeout=60).read().decode())"]
        return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)

    def health(self):
        return self.ask("/healthz")


def _first_child(process, console):
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, open(console, encoding="utf-8").read()
        with contextlib.suppress(OSError), open(children, encoding="utf-8") as file:
            if found := file.read().strip():
                return int(found)
        time.sleep(0.1)
    return pytest.fail("no process was started in the namespaces")


@contextlib.contextmanager
def booted(script):
    """A machine that `script` boots; it ends with everything in it."""
    if os.geteuid() != 0:
        pytest.skip("only root can make such namespaces")
    console = os.path.abspath("console.txt")
    with open(console, "w", encoding="utf-8") as output:
        process = subprocess.Popen([*NAMESPACES, "sh", "-c", script], stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=output, start_new_session=True)
    try:
        first = _first_child(process, console)
        yield Machine(first)
        with contextlib.suppress(ProcessLookupError):
            os.kill(first, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
