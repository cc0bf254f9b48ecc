# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem run`: the program is started with the hooks and is otherwise as without them."""

import os
import shutil
import signal
import subprocess
import unittest

from harness import command

PRELOAD = "libttmem_preload.so"
#: Any library does: what counts is that it stays where it is.
OTHER = "/lib/x86_64-linux-gnu/libm.so.6"


def preload_of(*words, **changes):
    done = command.run(*words, "printenv", "LD_PRELOAD", **changes)
    return done.stdout.strip()


@unittest.skipIf(command.run("run", "--print-env").returncode, "the hooks are not built here")
class Run(command.TestCase):
    def expect(self, code, words, *arguments):
        done = command.run("run", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn(words, done.stderr)

    def test_every_word_reaches_the_program_as_it_is(self):
        for words in (["a", "--", "b"], ["--help"], ["-h", "--lines", "--print-env"],
                      ["", "x  y", "[1,2]", "a=b", "%%", "ä\n"], ["--", "--"]):
            for separator in ([], ["--"]):
                done = command.run("run", *separator, "printf", "<%s>", *words)
                self.assertEqual(done.stdout, "".join(f"<{word}>" for word in words))
                self.assertEqual(done.stderr, "")

    def test_input_output_and_exit_code_are_the_programs(self):
        program = "import sys; print(sys.stdin.read()); print('e', file=sys.stderr); sys.exit(77)"
        done = subprocess.run([command.TTMEM, "run", "python3", "-c", program], input="typed",
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (77, "typed\n", "e\n"))

    def test_it_becomes_the_program(self):
        child = subprocess.Popen([command.TTMEM, "run", "sh", "-c", "echo $$"],
                                 stdout=subprocess.PIPE, text=True)
        self.assertEqual(int(child.communicate()[0]), child.pid)

    def test_signals_reach_the_program(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP):
            with subprocess.Popen([command.TTMEM, "run", "sh", "-c", "echo; exec sleep 60"],
                                  stdout=subprocess.PIPE) as child:
                child.stdout.readline()
                child.send_signal(number)
                self.assertEqual(child.wait(), -number)

    def test_a_stopped_program_goes_on(self):
        with subprocess.Popen([command.TTMEM, "run", "sh", "-c", "echo; read line; exit 5"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            child.send_signal(signal.SIGSTOP)
            self.assertTrue(os.WIFSTOPPED(os.waitpid(child.pid, os.WUNTRACED)[1]))
            child.send_signal(signal.SIGCONT)
            child.stdin.write(b"\n")
            child.stdin.flush()
            self.assertEqual(child.wait(), 5)

    def test_what_signals_are_ignored_and_blocked_is_inherited(self):
        program = ["grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"]
        before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        try:
            plain, hooked = (subprocess.run([*start, *program], restore_signals=False, text=True,
                                            capture_output=True, check=True).stdout
                             for start in ([], [command.TTMEM, "run"]))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            signal.signal(signal.SIGPIPE, before)
        self.assertEqual(hooked, plain)

    def test_what_cannot_be_started(self):
        with open("plain", "w", encoding="utf-8"):
            pass
        with open("strange", "w", encoding="utf-8") as file:
            file.write("#!/no/such/interpreter\n")
        os.chmod("strange", 0o755)
        self.expect(127, "cannot run no-such-program: No such file", "no-such-program")
        self.expect(127, "cannot run ./strange: No such file", "./strange")
        self.expect(127, "cannot run", "")
        self.expect(126, "cannot run ./plain: Permission denied", "./plain")
        self.expect(126, "cannot run /: Permission denied", "/")

    def test_wrong_usage(self):
        self.expect(2, "name the program to run")
        self.expect(2, "name the program to run", "--")
        self.expect(2, "name the program to run", "--lines")
        self.expect(2, "not expected: --frobnicate\n`ttmem run --help`", "--frobnicate", "true")

    def test_a_script_without_a_first_line_for_its_interpreter(self):
        with open("script", "w", encoding="utf-8") as file:
            file.write("exit 9\n")
        os.chmod("script", 0o755)
        self.assertEqual(command.run("run", "./script").returncode, 9)

    def test_ours_comes_after_what_is_preloaded_and_once(self):
        alone = preload_of("run")
        self.assertTrue(alone.endswith("/" + PRELOAD), alone)
        self.assertEqual(preload_of("run", LD_PRELOAD=OTHER), f"{OTHER}:{alone}")
        self.assertEqual(preload_of("run", command.TTMEM, "run", "--lines"), alone)

    def test_the_environment_can_be_set_by_a_shell(self):
        alone = preload_of("run")
        script = f'eval "$({command.TTMEM} run --print-env)"; printenv LD_PRELOAD'
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), alone)
        lines = command.text("run", "--lines", "--print-env")
        self.assertRegex(lines, r"export LD_PRELOAD='.*'\nexport PYTHONPATH='.*'\n")

    def test_an_environment_that_is_too_long_is_said(self):
        longest = 128 * 1024
        fits = longest - len("LD_PRELOAD=") - 1
        done = command.run("run", "true", LD_PRELOAD=OTHER + ":" + "x" * (fits - len(OTHER) - 1))
        self.assertEqual(done.returncode, 126)
        self.assertIn("cannot run true: Argument list too long", done.stderr)

    def test_a_folder_that_cannot_be_preloaded_from_is_said(self):
        folder = os.path.abspath("with space")
        os.mkdir(folder)
        shutil.copy(command.TTMEM, folder)
        shutil.copy(preload_of("run"), folder)
        done = subprocess.run([os.path.join(folder, "ttmem"), "run", "true"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("without spaces and colons", done.stderr)

    def test_programs_without_tt_metal_are_not_recorded(self):
        self.assertEqual(command.run("run", "true").returncode, 0)
        self.assertEqual(os.listdir(os.environ["TTMEM_DIR"]), [])


if __name__ == "__main__":
    unittest.main()
