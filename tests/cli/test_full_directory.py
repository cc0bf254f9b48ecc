# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Another user filled the host-wide directory: processes record in their own, and doctor says who it was."""

import json
import os
import subprocess

import pytest

from support.built import TTMEM
from support.waiting import DEADLINE_SECONDS

#: In a mount namespace of its own, so that the machine's directories stay as they are.
SCRIPT = """
set -e
mkdir -p /run/ttmem
mount -t tmpfs -o size=24m,mode=1777 none /run/ttmem
mount -t tmpfs -o size=512m,mode=1777 none /dev/shm
setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'head -c {fill} /dev/zero > /run/ttmem/fill'
unset TTMEM_DIR
{ttmem} demo --hold 600 > demo.txt &
while ! grep -q process demo.txt; do sleep 0.05; done
{ttmem} status --json > status.json
{ttmem} doctor > doctor.txt || true
ls /run/ttmem > run.txt
kill $!
"""


def look(fill):
    """What status and doctor say where somebody has put so many bytes into /run/ttmem."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        pytest.skip("only root can have mounts of its own")
    subprocess.run(["unshare", "-m", "sh", "-c", SCRIPT.format(fill=fill, ttmem=TTMEM)], check=True, timeout=DEADLINE_SECONDS)
    with open("status.json", encoding="utf-8") as file, open("doctor.txt", encoding="utf-8") as doctor, \
            open("run.txt", encoding="utf-8") as names:
        return json.load(file), doctor.read(), names.read()


def test_with_room_the_host_wide_directory_is_used():
    status, doctor, names = look(0)
    assert len(status["processes"]) == 1
    assert "ttmem-" in names
    assert "room        /run/ttmem: " in doctor and "no room" not in doctor


def test_a_full_directory_stops_no_recording():
    status, doctor, names = look(20 << 20)
    assert len(status["processes"]) == 1
    assert status["devices"][0]["dram"]["taken"] > 0
    assert "ttmem-" not in names, "nothing is left where there was no room"
    assert "no room for another process" in doctor
    assert "20.0 MiB of nobody in 1 file\n" in doctor
    assert f"\n                  /dev/shm/ttmem-{os.geteuid()}: " in doctor
