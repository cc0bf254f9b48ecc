# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The container image of `make image`: unpacked by the rules of OCI, and run as an engine would run it with a read-only root,
as its own user and without any capability."""

import gzip
import json
import os
import pathlib
import shlex
import subprocess
import tarfile
import tempfile

import pytest

from support.built import SOURCE
from support.wheel import DEVICES

IMAGE = pathlib.Path(SOURCE, "dist", "ttmem-image.tar")
GZIP = b"\x1f\x8b"
#: What an engine gives a container: a root that cannot be written, and what is mounted into it.
CONTAINER = """
set -e
mount --make-rprivate /
mount --bind {root} {root}
for device in {devices}; do mount --bind /dev/$device {root}/dev/$device; done
mount -t tmpfs -o mode=3777 segments {root}/run/ttmem
mount -t proc proc {root}/proc
mount -o remount,bind,ro {root}
exec chroot {root} /usr/bin/setpriv --reuid={user} --regid={group} --clear-groups --no-new-privs --bounding-set=-all \
  --inh-caps=-all /usr/bin/env -i {environment} {command}
"""


def blob(archive, digest):
    return archive.extractfile("blobs/" + digest.replace(":", "/")).read()


def configuration_and_layers(path):
    with tarfile.open(path) as archive:
        index = json.load(archive.extractfile("index.json"))
        assert json.load(archive.extractfile("oci-layout"))["imageLayoutVersion"] == "1.0.0"
        one, = index["manifests"]
        manifest = json.loads(blob(archive, one["digest"]))
        layers = [blob(archive, each["digest"]) for each in manifest["layers"]]
        return json.loads(blob(archive, manifest["config"]["digest"])), layers


@pytest.fixture(scope="module")
def image():
    if os.geteuid() != 0:
        pytest.skip("only root can make an image, and enter it")
    done = subprocess.run([os.path.join(SOURCE, "scripts", "image"), "--unless-current"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    settings, layers = configuration_and_layers(IMAGE)
    with tempfile.TemporaryDirectory(prefix="ttmem-image.") as root:
        for layer in layers:
            subprocess.run(["tar", "--extract", "--numeric-owner", "--directory", root], check=True,
                           input=gzip.decompress(layer) if layer.startswith(GZIP) else layer)
        os.chmod(root, 0o755)
        for device in DEVICES:
            open(f"{root}/dev/{device}", "ab").close()
        yield settings["config"], root


def inside(image, script):
    """What a script prints in a container of the image, with the user and the variables that the image names."""
    settings, root = image
    user, _, group = settings["User"].partition(":")
    line = CONTAINER.format(root=shlex.quote(root), devices=" ".join(DEVICES), user=user, group=group,
                            environment=shlex.join(settings["Env"]), command=shlex.join(["/bin/sh", "-ec", script]))
    done = subprocess.run(["unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child", "sh", "-c", line],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_nothing_in_the_archive_says_when_or_where_it_was_made(image):
    """The same commit and the same packages give the same bytes."""
    with tarfile.open(IMAGE) as archive:
        members = archive.getmembers()
    assert len({(each.mtime, each.uid, each.gid, each.uname) for each in members}) == 1
    files = [each.name for each in members if each.isfile()]
    assert files == sorted(files)


def test_it_starts_the_daemon_as_nobody_special(image):
    settings, root = image
    assert settings["Entrypoint"] == ["/usr/bin/ttmem"] and settings["Cmd"] == ["serve"]
    user, _, group = settings["User"].partition(":")
    assert int(user) > 0 and int(group) > 0, "a number, so that Kubernetes sees that it is not root"
    special = [path for path in pathlib.Path(root).rglob("*")
               if path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o6000]
    assert special == []
    assert os.path.exists(f"{root}/usr/share/doc/ttmem/copyright")


def test_its_root_is_read_only_and_nothing_misses_it(image):
    seen = inside(image, """
        test "$(id -u)" != 0
        ! touch /tmp/x 2>/dev/null && ! touch /var/lib/ttmem/x 2>/dev/null
        grep CapEff /proc/self/status
        ttmem --version
        chmod --version | head -n 1
        /usr/local/bin/ttmem doctor --json > /run/ttmem/doctor.json || true
        cat /run/ttmem/doctor.json""")
    assert "CapEff:\t0000000000000000" in seen and "chmod (GNU coreutils)" in seen
    checks = {each["id"]: each["verdict"] for each in json.loads(seen[seen.index("{"):])["checks"]}
    assert checks["directory"] == checks["room"] == checks["preload"] == "PASS", checks


def test_the_daemon_and_a_recorded_program(image):
    """As they are told in docs/how-to/containers-and-notebooks.md: they meet in /run/ttmem."""
    seen = inside(image, """
        ttmem demo --hold 600 > /run/ttmem/demo.log &
        ttmem serve --http 127.0.0.1:0 > /run/ttmem/serve.log 2>&1 &
        until grep -q listening /run/ttmem/serve.log; do kill -0 $!; sleep 0.1; done
        until grep -q process /run/ttmem/demo.log; do sleep 0.1; done
        perl -MIO::Socket::INET -e '
            my ($address) = join("", <>) =~ m,listening on http://([0-9.:]+),;
            for my $path ("/", "/metrics") {
                my $to = IO::Socket::INET->new($address) or die $!;
                print $to "GET $path HTTP/1.0\\r\\nHost: $address\\r\\n\\r\\n";
                print while <$to>;
            }' /run/ttmem/serve.log
        echo
        ttmem status --json""")
    assert "<title>" in seen and "ttmem_self_requests_total" in seen
    document = json.loads(seen[seen.rindex("\n{\n"):])
    process, = document["processes"]
    assert process["devices"][0]["dram"]["taken"] > 0
