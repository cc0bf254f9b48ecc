# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Man pages and completions: written by the command itself, complete, and accepted by their readers."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import command


def commands():
    help_text = command.text("--help")
    return re.findall(r"^  ([a-z]+)  ", help_text.split("Subcommands:")[1].split("\n\n")[0],
                      re.MULTILINE)


def long_options(*arguments):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", command.text(*arguments, "--help")
                          .split("Examples:")[0].split("Options:")[1]))


class Manual(command.TestCase):
    def test_there_are_the_usual_commands(self):
        self.assertLessEqual({"status", "top", "dump", "events", "gc", "demo", "completion"},
                             set(commands()))
        self.assertNotIn("manual", commands())

    def test_every_command_has_a_page_with_every_option(self):
        whole = command.text("manual")
        for name in commands():
            self.assertIn(f"\\fB{name}\\fR", whole)
            page = command.text("manual", name).replace("\\-", "-")
            self.assertTrue(page.startswith(f".TH ttmem-{name} 1"), page[:40])
            for option in long_options(name):
                self.assertIn(f"\\fB{option}\\fR", page, name)

    def test_pages_are_good_roff(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        for name in ["", *commands()]:
            page = command.text("manual", *([name] if name else []))
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, text=True,
                                  capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)

    def test_an_unknown_command_is_said(self):
        done = command.run("manual", "nonsense")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no command `nonsense`", done.stderr)

    def test_all_files_are_written_where_they_are_looked_for(self):
        with tempfile.TemporaryDirectory() as share:
            command.text("manual", "--write", share)
            found = {os.path.relpath(os.path.join(folder, name), share)
                     for folder, _, names in os.walk(share) for name in names}
        expected = {"bash-completion/completions/ttmem", "zsh/site-functions/_ttmem",
                    "fish/vendor_completions.d/ttmem.fish", "man/man1/ttmem.1"}
        expected |= {f"man/man1/ttmem-{name}.1" for name in commands()}
        self.assertEqual(found, expected)


class Completion(command.TestCase):
    def complete(self, *words):
        """What bash offers for the last word."""
        script = command.text("completion", "bash") + (
            f"COMP_WORDS=({' '.join(repr(word) for word in words)})\n"
            f"COMP_CWORD={len(words) - 1}\n_ttmem\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n")
        done = subprocess.run(["bash"], input=script, text=True, capture_output=True, check=True)
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split())

    def test_bash_offers_commands_options_and_values(self):
        self.assertEqual(self.complete("ttmem", ""), set(commands()) | {"--help", "-h", "--version"})
        self.assertEqual(self.complete("ttmem", "st"), {"status"})
        self.assertEqual(self.complete("ttmem", "status", "--co"), {"--cores", "--core"})
        self.assertEqual(self.complete("ttmem", "demo", "--scenario", ""), {"seeds", "busy"})
        self.assertEqual(self.complete("ttmem", "completion", "z"), {"zsh"})
        self.assertIn("--once", self.complete("ttmem", "top", "--"))

    def test_bash_offers_programs_to_run(self):
        for words in [[], ["--lines"], ["--"]]:
            self.assertIn("bash", self.complete("ttmem", "run", *words, "bas"))
        self.assertEqual(self.complete("ttmem", "run", "python3", "bas"), set())  # files, by default

    def fish(self, line):
        """What fish offers for the end of the line."""
        script = command.text("completion", "fish") + f"complete -C '{line}'\n"
        done = subprocess.run(["fish", "--no-config"], input=script, text=True, capture_output=True,
                              check=True)
        self.assertEqual(done.stderr, "")
        return {offer.split("\t")[0] for offer in done.stdout.splitlines()}

    def test_fish_offers_the_same(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")
        self.assertEqual(self.fish("ttmem "), set(commands()))
        self.assertEqual(self.fish("ttmem status --co"), {"--cores", "--core"})
        self.assertEqual(self.fish("ttmem demo --scenario "), {"seeds", "busy"})
        self.assertIn("bash", self.fish("ttmem run bas"))

    def test_zsh_leaves_its_own_words_alone(self):
        # A local "commands" would hide the table of all programs from what completes `run`.
        self.assertNotRegex(command.text("completion", "zsh"), r"\bcommands=")

    def test_every_shell_knows_every_command_and_option(self):
        for shell in ["bash", "zsh", "fish"]:
            script = command.text("completion", shell)
            for name in commands():
                self.assertIn(name, script)
                for option in long_options(name):
                    wanted = f"-l {option[2:]}" if shell == "fish" else option
                    self.assertIn(wanted, script, f"{shell}: {name}")

    def test_shells_accept_the_scripts(self):
        missing = []
        for shell in ["bash", "zsh", "fish"]:
            if not shutil.which(shell):
                missing.append(shell)
                continue
            with tempfile.NamedTemporaryFile("w", suffix="." + shell) as file:
                file.write(command.text("completion", shell))
                file.flush()
                done = subprocess.run([shell, "-n", file.name], capture_output=True, text=True,
                                      check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), shell)
        if missing:
            print("not checked, because not installed:", ", ".join(missing))


if __name__ == "__main__":
    unittest.main()
