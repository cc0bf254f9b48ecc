# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem doctor -- PROGRAM` finds the library that a program would load, and never runs the program.

tests/runtime/doctor.py has the verdict on the stock library.
"""

import os
import shutil
import struct
import subprocess
import sys
import unittest

from harness import command

NOTHING = "No libtt_metal.so found"
LIBRARY = os.environ.get("TTMEM_LIB", "")


def write(path, text, mode=0o755):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(path, mode)


def static_program():
    """The head of a 64-bit program that asks for no dynamic linker."""
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    return head + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 64, 0, 0, 64, 56, 0, 64, 0, 0)


@unittest.skipUnless(LIBRARY, "the shared library is not built here")
class Doctor(command.TestCase):
    def expect(self, words, *program):
        done = command.run("doctor", "--", *program)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(words, done.stdout)
        return done.stdout

    def package(self, name, version, library):
        """A package in a folder of its own, on Python's path, that brings the library."""
        site = os.path.abspath("site")
        self.addCleanup(shutil.rmtree, site)
        path = os.path.join(site, name, library)
        os.makedirs(os.path.dirname(path))
        shutil.copy(LIBRARY, path)
        info = os.path.join(site, f"{name}-{version}.dist-info")
        os.makedirs(info)
        write(os.path.join(site, name, "__init__.py"), "raise SystemExit('was imported')\n")
        write(os.path.join(info, "METADATA"), f"Name: {name}\nVersion: {version}\n")
        write(os.path.join(info, "RECORD"), f"{name}/__init__.py,,\n{name}/{library},,\n")
        before = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = site
        self.addCleanup(os.environ.__setitem__, "PYTHONPATH", before)
        return path

    def test_a_program_is_looked_at_and_not_run(self):
        shutil.copy(shutil.which("touch"), "toucher")
        self.expect(NOTHING, "./toucher", "touched")
        self.expect("./static is linked statically: a preload does not reach it",
                    write("static", static_program()) or "./static")
        self.expect("./run.sh is a script: name the Python or the program that it starts",
                    write("run.sh", "#!/bin/sh\ntouch touched\n") or "./run.sh")
        self.assertFalse(os.path.exists("touched"))

    def test_what_is_no_program(self):
        self.expect("there is no program no-such-program", "no-such-program")
        self.expect("there is no program ./no/such", "./no/such")
        self.expect("text is not a 64-bit program", write("text", "text") or "./text")
        self.expect("cannot read", "/no/such/libtt_metal.so")
        done = command.run("doctor", "--frobnicate")
        self.assertEqual(done.returncode, 2)
        self.assertIn("`ttmem doctor --help`", done.stderr)

    def test_a_program_whose_library_is_not_there(self):
        source = "int f(void) { return 0; }\n"
        write("f.c", source)
        write("main.c", "int f(void); int main(void) { return f(); }\n")
        compiler = shutil.which("cc") or self.skipTest("there is no compiler")
        here = "-Wl,-rpath," + os.getcwd()
        for arguments in (["-shared", "-fPIC", "f.c", "-o", "libtt_metal.so"],
                          ["main.c", "-L.", "-l:libtt_metal.so", here, "-o", "linked"]):
            subprocess.run([compiler, *arguments], check=True)
        text = self.expect("linked is linked to it", "./linked")
        self.assertIn(os.path.abspath("libtt_metal.so") + "\n", text)
        os.remove("libtt_metal.so")
        self.expect("./linked does not find its libtt_metal.so", "./linked")

    def test_a_package_that_bundles_the_library(self):
        path = self.package("plugin", "1.2.3", "lib/libtt_metal-1a2b3c4d.so")
        write("tool", f"#!{sys.executable}\n")
        write("other", "#!/usr/bin/env -S python3 -u\n")
        for program in (sys.executable, "python3", "./tool", "./other"):
            text = self.expect("imports plugin from here\n  version   1.2.3\n", program)
            self.assertEqual(text.count(path), 1)
            self.assertNotIn("was imported", text)

    def test_ttnn_is_named_once(self):
        path = self.package("ttnn", "0.99", "build/lib/libtt_metal.so")
        text = self.expect("imports ttnn from here\n  version   0.99\n", sys.executable)
        self.assertEqual(text.count(path), 1)


if __name__ == "__main__":
    unittest.main()
