# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The unit, started by a real systemd as process 1 of namespaces of its own.

The machine's own folders stay as they are: what is installed, the user and the state are on file systems that
only these namespaces see.
"""

import os

import pytest

from support.built import BUILD
from support.machine import IDLE, booted

SYSTEMD = "/lib/systemd/systemd"
BOOT = f"""
set -e
mount --make-rprivate /
mount -t tmpfs none /mnt
cp -a /etc /mnt/etc
mount --bind /mnt/etc /etc
mount -t tmpfs none /opt
cmake --install {BUILD} --prefix /opt/ttmem > /opt/install.log
for place in /run /tmp /var/lib /var/log; do mount -t tmpfs none $place; done
mount -t cgroup2 none /sys/fs/cgroup
mkdir -p /run/systemd/system
cp /opt/ttmem/lib/systemd/system/* /run/systemd/system/
systemd-sysusers /opt/ttmem/lib/sysusers.d/ttmem.conf
systemd-tmpfiles --create /opt/ttmem/lib/tmpfiles.d/ttmem.conf
printf '[Unit]\\nRequires=ttmem.service\\nAfter=ttmem.service\\n' > /run/systemd/system/try.target
for unit in {" ".join(IDLE)}; do ln -s /dev/null /run/systemd/system/$unit.service; done
exec env -i container=unshare PATH=/usr/sbin:/usr/bin:/sbin:/bin {SYSTEMD} --system --unit=try.target
"""


@pytest.fixture
def machine():
    if not os.path.exists(SYSTEMD):
        pytest.skip(f"there is no {SYSTEMD}")
    with booted(BOOT) as one:
        yield one


def test_the_unit_starts_and_starts_again(machine):
    machine.until(machine.is_active, "the unit did not start")
    assert machine.health()["status"] == "ok"
    assert machine.show("User") == "ttmem"
    assert machine.show("NRestarts") == "0"
    assert machine.show("MemoryMax").isdigit(), "its memory is limited"
    before = machine.show("MainPID")
    machine.run("systemctl", "kill", "--signal=SIGKILL", "ttmem.service")
    machine.until(lambda: machine.show("NRestarts") == "1" and machine.is_active(), "it was not started again")
    assert machine.show("MainPID") != before
    assert machine.health()["status"] == "ok"
    machine.run("systemctl", "stop", "ttmem.service")
    assert machine.show("Result") == "success", "it stops when it is told to"
