# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What README and the documents point to is there, and what they show is what the command prints."""

import glob
import os
import re
import unittest

from harness import command

SOURCE = os.environ["TTMEM_SOURCE_DIR"]


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


class Documents(command.TestCase):
    def test_links_and_named_tests_exist(self):
        for path in ["README.md"] + [f"docs/{os.path.basename(each)}"
                                     for each in glob.glob(os.path.join(SOURCE, "docs", "*.md"))]:
            folder = os.path.dirname(path)
            targets = re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", read(path))
            targets = [os.path.join(folder, target) for target in targets]
            targets += re.findall(r"`(tests/[\w./]+)`", read(path))
            for target in targets:
                with self.subTest(document=path, target=target):
                    self.assertTrue(os.path.exists(os.path.join(SOURCE, target)))

    def test_readme_shows_what_is_printed(self):
        shown = read("README.md")
        with command.workload():
            printed = command.text("status", "--format", "legacy")
            printed += command.text("status").split("\nProcesses\n")[0]
            loads = command.text("events", "--format", "legacy", "--detail")
            printed += "".join(line for line in loads.splitlines(True) if "PID" not in line)
        for line in printed.splitlines():
            with self.subTest(line=line):
                self.assertIn(line, shown)


if __name__ == "__main__":
    unittest.main()
