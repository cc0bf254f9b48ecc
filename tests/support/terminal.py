# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A real terminal (tmux) that a test can type into and look at."""

import os
import shlex
import subprocess
import tempfile

from support.waiting import DEADLINE_SECONDS, eventually


class Terminal:
    """A shell line in a terminal; what follows it shows how the line left the terminal."""

    def __init__(self, line, columns=100, rows=30, **changes):
        self.directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # its shell may still write
        self.tmux = ["tmux", "-S", os.path.join(self.directory.name, "socket"), "-f", "/dev/null"]
        self.environment = {**os.environ, "LC_ALL": "C.UTF-8", "COLORTERM": "truecolor",
                            **changes}
        script = (f"stty -g > before; {line}; echo \"code $?\"; stty -g > after; "
                  "cmp before after && echo restored; sleep 1000")
        self.run("new-session", "-d", "-x", str(columns), "-y", str(rows),
                 f"cd {shlex.quote(self.directory.name)}; {script}")

    def run(self, *arguments):
        return subprocess.run([*self.tmux, *arguments], check=True, capture_output=True, text=True,
                              timeout=DEADLINE_SECONDS, env=self.environment).stdout

    def press(self, *keys):
        for key in keys:
            self.run("send-keys", key)

    def type(self, text):
        self.run("send-keys", "-l", text)

    def resize(self, columns, rows):
        self.run("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self, *options):
        return self.run("capture-pane", "-p", *options)

    def lines(self):
        return self.screen().split("\n")

    def asks(self, variable):
        """What tmux knows about the pane: cursor_flag, alternate_on, mouse_any_flag."""
        return self.run("display-message", "-p", "#{" + variable + "}").strip()

    def shows(self, text):
        """Waits until the text is on the screen, and returns the screen."""
        try:
            return eventually(lambda: text in self.screen() and self.screen(), repr(text))
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.screen()}") from None

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], check=False, capture_output=True)
        self.directory.cleanup()
