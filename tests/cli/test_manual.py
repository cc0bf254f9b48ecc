# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Man pages and completions: written by the command itself, complete, and accepted by their readers."""

import os
import re
import shutil
import subprocess

import pytest

from support import command


def commands():
    help_text = command.text("--help")
    return re.findall(
        r"^  ([a-z]+)  ", help_text.split("Subcommands:")[1].split("\n\n")[0], re.MULTILINE
    )


def long_options(*arguments):
    return set(
        re.findall(
            r"(?<![\w-])--[a-z][a-z-]+",
            command.text(*arguments, "--help").split("Examples:")[0].split("Options:")[1],
        )
    )


def test_there_are_the_usual_commands():
    assert {"status", "top", "dump", "events", "gc", "demo", "completion"} <= set(commands())
    assert "manual" not in commands()


def test_every_command_has_a_page_with_every_option():
    whole = command.text("manual")
    for name in commands():
        assert f"\\fB{name}\\fR" in whole
        page = command.text("manual", name).replace("\\-", "-")
        assert page.startswith(f".TH ttmem-{name} 1"), page[:40]
        for option in long_options(name):
            assert f"\\fB{option}\\fR" in page, name


def test_pages_are_good_roff():
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    for name in ["", *commands()]:
        page = command.text("manual", *([name] if name else []))
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-z"],
            input=page,
            text=True,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), name


def test_an_unknown_command_is_said():
    done = command.run("manual", "nonsense")
    assert done.returncode == 1
    assert "unknown command `nonsense`" in done.stderr


def test_all_files_are_written_where_they_are_looked_for():
    command.text("manual", "--write", "share")
    found = {
        os.path.relpath(os.path.join(folder, name), "share")
        for folder, _, names in os.walk("share")
        for name in names
    }
    expected = {
        "bash-completion/completions/ttmem",
        "zsh/site-functions/_ttmem",
        "fish/vendor_completions.d/ttmem.fish",
        "man/man1/ttmem.1",
    }
    expected |= {f"man/man1/ttmem-{name}.1" for name in commands()}
    assert found == expected


def complete(*words):
    """What bash offers for the last word."""
    script = command.text("completion", "bash") + (
        f"COMP_WORDS=({' '.join(repr(word) for word in words)})\n"
        f"COMP_CWORD={len(words) - 1}\n_ttmem\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    )
    done = subprocess.run(["bash"], input=script, text=True, capture_output=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split())


def test_bash_offers_commands_options_and_values():
    assert complete("ttmem", "") == set(commands()) | {"--help", "-h", "--version"}
    assert complete("ttmem", "st") == {"status"}
    assert complete("ttmem", "status", "--co") == {"--cores", "--core"}
    assert complete("ttmem", "demo", "--scenario", "") == {"seeds", "busy"}
    assert complete("ttmem", "completion", "z") == {"zsh"}
    assert "--once" in complete("ttmem", "top", "--")


def test_bash_offers_programs_to_run():
    for words in [[], ["--lines"], ["--"]]:
        assert "bash" in complete("ttmem", "run", *words, "bas")
    assert complete("ttmem", "run", "python3", "bas") == set()  # files, by default


def fish(line):
    """What fish offers for the end of the line."""
    script = command.text("completion", "fish") + f"complete -C '{line}'\n"
    done = subprocess.run(
        ["fish", "--no-config"], input=script, text=True, capture_output=True, check=True
    )
    assert done.stderr == ""
    return {offer.split("\t")[0] for offer in done.stdout.splitlines()}


def test_fish_offers_the_same():
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    assert fish("ttmem ") == set(commands())
    assert fish("ttmem status --co") == {"--cores", "--core"}
    assert fish("ttmem demo --scenario ") == {"seeds", "busy"}
    assert "bash" in fish("ttmem run bas")


def test_zsh_leaves_its_own_words_alone():
    # A local "commands" would hide the table of all programs from what completes `run`.
    assert not re.search(r"\bcommands=", command.text("completion", "zsh"))


def test_every_shell_knows_every_command_and_option():
    for shell in ["bash", "zsh", "fish"]:
        script = command.text("completion", shell)
        for name in commands():
            assert name in script
            for option in long_options(name):
                wanted = f"-l {option[2:]}" if shell == "fish" else option
                assert wanted in script, f"{shell}: {name}"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_accept_the_scripts(shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    with open("script", "w", encoding="utf-8") as file:
        file.write(command.text("completion", shell))
    done = subprocess.run([shell, "-n", "script"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
