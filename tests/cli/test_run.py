# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem run`: the program is started with the hooks and is otherwise as without them."""

import glob
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from support import command
from support.built import TTMEM

pytestmark = pytest.mark.skipif(command.run("run", "--print-env").returncode != 0,
                                reason="the hooks are not built here")
PRELOAD = "libttmem_preload.so"
#: Any library does: what counts is that it stays where it is.
OTHER = "/lib/x86_64-linux-gnu/libm.so.6"


def preload_of(*words, **changes):
    done = command.run(*words, "printenv", "LD_PRELOAD", **changes)
    return done.stdout.strip()


def expect(code, words, *arguments):
    done = command.run("run", *arguments)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert words in done.stderr


def test_every_word_reaches_the_program_as_it_is():
    for words in (
        ["a", "--", "b"],
        ["--help"],
        ["-h", "--lines", "--print-env"],
        ["", "x  y", "[1,2]", "a=b", "%%", "ä\n"],
        ["--", "--"],
    ):
        for separator in ([], ["--"]):
            done = command.run("run", *separator, "printf", "<%s>", *words)
            assert done.stdout == "".join(f"<{word}>" for word in words)
            assert done.stderr == ""


def test_input_output_and_exit_code_are_the_programs():
    program = "import sys; print(sys.stdin.read()); print('e', file=sys.stderr); sys.exit(77)"
    done = subprocess.run(
        [TTMEM, "run", "python3", "-c", program],
        input="typed",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (77, "typed\n", "e\n")


def test_it_becomes_the_program():
    child = subprocess.Popen(
        [TTMEM, "run", "sh", "-c", "echo $$"], stdout=subprocess.PIPE, text=True
    )
    assert int(child.communicate()[0]) == child.pid


def test_signals_reach_the_program():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP):
        with subprocess.Popen(
            [TTMEM, "run", "sh", "-c", "echo; exec sleep 600"], stdout=subprocess.PIPE
        ) as child:
            child.stdout.readline()
            child.send_signal(number)
            assert child.wait() == -number


def test_a_stopped_program_goes_on():
    with subprocess.Popen(
        [TTMEM, "run", "sh", "-c", "echo; read line; exit 5"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        child.stdout.readline()
        child.send_signal(signal.SIGSTOP)
        assert os.WIFSTOPPED(os.waitpid(child.pid, os.WUNTRACED)[1])
        child.send_signal(signal.SIGCONT)
        child.stdin.write(b"\n")
        child.stdin.flush()
        assert child.wait() == 5


def test_what_signals_are_ignored_and_blocked_is_inherited():
    program = ["grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"]
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        plain, hooked = (
            subprocess.run(
                [*start, *program],
                restore_signals=False,
                text=True,
                capture_output=True,
                check=True,
            ).stdout
            for start in ([], [TTMEM, "run"])
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGPIPE, before)
    assert hooked == plain


def test_what_cannot_be_started():
    with open("plain", "w", encoding="utf-8"):
        pass
    with open("strange", "w", encoding="utf-8") as file:
        file.write("#!/no/such/interpreter\n")
    os.chmod("strange", 0o755)
    expect(127, "cannot run no-such-program: No such file", "no-such-program")
    expect(127, "cannot run ./strange: No such file", "./strange")
    expect(127, "cannot run", "")
    expect(126, "cannot run ./plain: Permission denied", "./plain")
    expect(126, "cannot run /: Permission denied", "/")


def test_wrong_usage():
    expect(2, "name the program to run")
    expect(2, "name the program to run", "--")
    expect(2, "name the program to run", "--lines")
    expect(2, "unknown option: --frobnicate\n`ttmem run --help`", "--frobnicate", "true")


def test_a_script_without_a_first_line_for_its_interpreter():
    with open("script", "w", encoding="utf-8") as file:
        file.write("exit 9\n")
    os.chmod("script", 0o755)
    assert command.run("run", "./script").returncode == 9


def test_ours_comes_after_what_is_preloaded_and_once():
    alone = preload_of("run")
    assert alone.endswith("/" + PRELOAD), alone
    assert preload_of("run", LD_PRELOAD=OTHER) == f"{OTHER}:{alone}"
    assert preload_of("run", TTMEM, "run", "--no-lines") == alone


def test_the_environment_can_be_set_by_a_shell():
    alone = preload_of("run")
    script = f'eval "$({TTMEM} run --print-env)"; printenv LD_PRELOAD'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == alone
    lines = command.text("run", "--print-env")
    assert re.search(r"export LD_PRELOAD='.*'\nexport PYTHONPATH='.*'\n", lines)
    assert command.text("run", "--lines", "--print-env") == lines
    off = command.text("run", "--no-lines", "--print-env")
    assert re.match(r"export LD_PRELOAD='.*'\nexport TTMEM_LINES='0'\n", off)
    assert "PYTHONPATH" in off, "its start file still notices libraries that pass the hooks by"


def test_pythons_of_every_age_start_as_without_us():
    """The start file is read by all of them; what it cannot use, it leaves alone."""
    program = "import sys; sys.stdout.write(repr([p for p in sys.path if 'ttmem' in p]))"
    roots = glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python"))
    for python in [sys.executable, *sorted(roots)]:
        done = command.run("run", python, "-c", program)
        assert (done.returncode, done.stdout, done.stderr) == (0, "[]", ""), python


def test_an_environment_that_is_too_long_is_said():
    longest = 128 * 1024
    fits = longest - len("LD_PRELOAD=") - 1
    done = command.run("run", "true", LD_PRELOAD=OTHER + ":" + "x" * (fits - len(OTHER) - 1))
    assert done.returncode == 126
    assert "cannot run true: Argument list too long" in done.stderr


def test_a_folder_that_cannot_be_preloaded_from_is_said():
    folder = os.path.abspath("with space")
    os.mkdir(folder)
    shutil.copy(TTMEM, folder)
    shutil.copy(preload_of("run"), folder)
    done = subprocess.run(
        [os.path.join(folder, "ttmem"), "run", "true"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "without spaces and colons" in done.stderr


def test_programs_without_tt_metal_are_not_recorded():
    assert command.run("run", "true").returncode == 0
    assert os.listdir(os.environ["TTMEM_DIR"]) == []


# ---- nothing will be recorded -------------------------------------------------------------------

def unusable(kind, folder):
    path = os.path.join(folder, "segments")
    if kind == "a file":
        with open(path, "w", encoding="utf-8") as file:
            file.write("x")
        return path, "is a file"
    if kind == "missing":
        return os.path.join(path, "deeper"), "does not exist and cannot be made"
    if kind == "a place of the kernel":
        return "/proc", "no file can be made in /proc"
    if kind == "a device":
        return "/dev/full", "is a file"
    return "/sys", "may not be written"  # not even by root


@pytest.mark.parametrize("kind", ["a file", "missing", "a device", "a place of the kernel", "forbidden"])
def test_one_line_says_that_nothing_will_be_recorded_and_why(kind, tmp_path):
    path, why = unusable(kind, str(tmp_path))
    done = command.run("run", "echo", "went on", TTMEM_DIR=path)
    assert (done.returncode, done.stdout) == (0, "went on\n")
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("ttmem: nothing will be recorded: ") and why in done.stderr
    refused = command.run("run", "--strict", "echo", "went on", TTMEM_DIR=path)
    assert (refused.returncode, refused.stdout, refused.stderr) == (3, "", done.stderr)
    verdict = command.run("doctor", TTMEM_DIR=path)
    assert verdict.returncode == 1
    assert "directory   NONE: " in verdict.stdout and why in verdict.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a file system")
@pytest.mark.parametrize("options, why", [("size=64k", "too little room"), ("ro", "read-only")])
def test_a_small_and_a_read_only_file_system(options, why, tmp_path):
    mount = ["mount", "-t", "tmpfs", "-o", options, "none", str(tmp_path)]
    program = [TTMEM, "run", "--strict", "echo", "went on"]
    done = subprocess.run(["unshare", "-m", "sh", "-c", '"$@" && exec ' + " ".join(program), "sh", *mount],
                          env={**os.environ, "TTMEM_DIR": str(tmp_path)}, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 3 and why in done.stderr


def test_nothing_is_said_and_nothing_is_left_where_all_is_well():
    done = command.run("run", "--strict", "true")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert os.listdir(os.environ["TTMEM_DIR"]) == []
