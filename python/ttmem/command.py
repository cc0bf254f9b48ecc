# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The `ttmem` command: where it is, its documents, and the script that becomes it."""

import json
import os
import shutil
import subprocess
import sys
from typing import Any, Dict, Iterator, List, Sequence

from .library import native_directory


def find() -> str:
    """The path of the command: $TTMEM_BIN, the package's own copy, or the one on PATH."""
    named = os.environ.get("TTMEM_BIN")
    if named and not _is_this_script(named):
        return named
    bundled = os.path.join(native_directory(), "bin", "ttmem")
    if os.access(bundled, os.X_OK):
        return bundled
    # A script of this package on PATH would only call itself.
    found = shutil.which("ttmem")
    if found and not _is_script(found):
        return found
    raise FileNotFoundError(
        "ttmem: no command: install the package with `pip install ttmem-*.whl`, or name it in TTMEM_BIN"
    )


def document(*arguments: str, accepted: Sequence[int] = (0,)) -> Dict[str, Any]:
    """Runs the command with `--json` and returns its document. docs/json.md has every field.

    An exit code that is not `accepted`, or no document, is an error.
    """
    return dict(json.loads(_output([*arguments, "--json"], accepted)))


def documents(*arguments: str) -> Iterator[Dict[str, Any]]:
    """The documents of a command that prints one per line."""
    for line in _output([*arguments, "--json"]).splitlines():
        if line.strip():
            yield json.loads(line)


def stream(*arguments: str) -> Iterator[Dict[str, Any]]:
    """The same, as they come: nothing waits for the last one."""
    process = start([*arguments, "--json"])
    assert process.stdout is not None and process.stderr is not None
    try:
        for line in process.stdout:
            yield json.loads(line)
        errors = process.stderr.read()
        if process.wait() != 0:
            raise RuntimeError(f"ttmem {' '.join(arguments)}: {errors.strip()}")
    finally:
        process.kill()
        process.communicate()


def start(arguments: Sequence[str]) -> "subprocess.Popen[str]":
    """The command, running; whoever starts it ends it."""
    return subprocess.Popen(
        [find(), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(),
        encoding="utf-8",
    )


def snapshot() -> Dict[str, Any]:
    """What every process holds on every device of this host, now: `ttmem status --json`."""
    return document("status")


#: The original's commands, which the command is too, if it is called so.
ORIGINAL = ("allocation_server_poc", "tt_smi_umd")


def main() -> int:
    """Becomes the command, so that it is the same process to whoever started it."""
    try:
        path = find()
    except FileNotFoundError as reason:
        print(reason, file=sys.stderr)
        return 127
    called = os.path.basename(sys.argv[0])
    os.execv(path, [called if called in ORIGINAL else path, *sys.argv[1:]])
    return 127  # not reached: execv returns only by raising


def _output(arguments: List[str], accepted: Sequence[int] = (0,)) -> str:
    done = subprocess.run(
        [find(), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(),
        encoding="utf-8",
        check=False,
    )
    if done.returncode not in accepted or not done.stdout:
        raise RuntimeError(f"ttmem {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def _environment() -> Dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}


def _is_this_script(path: str) -> bool:
    """Whether it would only come back here, for ever."""
    return os.path.realpath(path) == os.path.realpath(sys.argv[0])


def _is_script(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return True


if __name__ == "__main__":
    sys.exit(main())
