# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The unit, started by a real systemd as process 1 of namespaces of its own.

The machine's own folders stay as they are: what is installed, the user and the state are on file systems that
only these namespaces see.
"""

import contextlib
import json
import os
import signal
import subprocess
import time

import pytest

from support.built import BUILD

SYSTEMD = "/lib/systemd/systemd"
DEADLINE_SECONDS = 120
BOOT = f"""
set -e
mount --make-rprivate /
mount -t tmpfs none /mnt
cp -a /etc /mnt/etc
mount --bind /mnt/etc /etc
for place in /run /tmp /opt /var/lib /var/log; do mount -t tmpfs none $place; done
mount -t cgroup2 none /sys/fs/cgroup
cmake --install {BUILD} --prefix /opt/ttmem > /tmp/install.log
mkdir -p /run/systemd/system
cp /opt/ttmem/lib/systemd/system/* /run/systemd/system/
systemd-sysusers /opt/ttmem/lib/sysusers.d/ttmem.conf
systemd-tmpfiles --create /opt/ttmem/lib/tmpfiles.d/ttmem.conf
printf '[Unit]\\nRequires=ttmem.service\\nAfter=ttmem.service\\n' > /run/systemd/system/try.target
for unit in systemd-udevd systemd-udev-trigger systemd-modules-load systemd-sysctl systemd-timesyncd; do
  ln -s /dev/null /run/systemd/system/$unit.service
done
exec env -i container=unshare PATH=/usr/sbin:/usr/bin:/sbin:/bin {SYSTEMD} --system --unit=try.target
"""


class Machine:
    """Namespaces with a systemd in them."""

    def __init__(self, pid):
        self.pid = pid

    def run(self, *command):
        done = subprocess.run(["nsenter", "-t", str(self.pid), "-m", "-n", "-p", "-i", *command], text=True,
                              capture_output=True, check=False, timeout=DEADLINE_SECONDS)
        return done.stdout.strip()

    def show(self, name):
        return self.run("systemctl", "show", "--value", "-p", name, "ttmem.service")

    def until(self, condition, what):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.5)
        pytest.fail(f"{what}\n" + self.run("systemctl", "status", "--no-pager", "ttmem.service", "ttmem.socket"))

    def health(self):
        return json.loads(self.run("python3", "-c", "import urllib.request as u;"
                                   "print(u.urlopen('http://127.0.0.1:7171/healthz', timeout=20).read().decode())"))


@pytest.fixture
def machine():
    if os.geteuid() != 0:
        pytest.skip("only root can make such namespaces")
    if not os.path.exists(SYSTEMD):
        pytest.skip(f"there is no {SYSTEMD}")
    with open("console.txt", "w", encoding="utf-8") as console:
        process = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--uts", "--ipc",
                                    "--cgroup", "--net", "--kill-child=SIGKILL", "sh", "-c", BOOT],
                                   stdin=subprocess.DEVNULL, stdout=console, stderr=console, start_new_session=True)
    try:
        children = f"/proc/{process.pid}/task/{process.pid}/children"
        deadline = time.monotonic() + DEADLINE_SECONDS
        first = ""
        while time.monotonic() < deadline and not first:
            assert process.poll() is None, open("console.txt", encoding="utf-8").read()
            with contextlib.suppress(OSError), open(children, encoding="utf-8") as file:
                first = file.read().strip()
            time.sleep(0.1)
        yield Machine(int(first))
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(first), signal.SIGKILL)
    finally:
        process.kill()
        process.wait()


def test_the_unit_starts_and_starts_again(machine):
    machine.until(lambda: machine.run("systemctl", "is-active", "ttmem.service") == "active", "the unit did not start")
    assert machine.health()["status"] == "ok"
    assert machine.show("User") == "ttmem"
    assert machine.show("NRestarts") == "0"
    assert machine.show("MemoryMax").isdigit(), "its memory is limited"
    before = machine.show("MainPID")
    machine.run("systemctl", "kill", "--signal=SIGKILL", "ttmem.service")
    machine.until(lambda: machine.show("NRestarts") == "1" and
                  machine.run("systemctl", "is-active", "ttmem.service") == "active", "it was not started again")
    assert machine.show("MainPID") != before
    assert machine.health()["status"] == "ok"
    machine.run("systemctl", "stop", "ttmem.service")
    assert machine.show("Result") == "success", "it stops when it is told to"
