# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem doctor` on the stock library: as a file, through a program that is linked to it, and absent."""

import os
import subprocess
import sys

import oracle

failures = []


def doctor(*arguments):
    command = [os.environ["TTMEM_BIN"], "doctor", "--", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout


def expect(what, condition, seen):
    if not condition:
        failures.append(f"{what}: {seen}")


library = os.path.join(oracle.setup("wheel"), "ttnn", "build", "lib", "libtt_metal.so")
for program in (library, os.environ["TTMEM_RUNTIME_HOST"]):
    code, text = doctor(program)
    expect(f"{program}: code", code == 0, code)
    expect(f"{program}: library", library in text, text)
    expect(f"{program}: version", "0.81.1" in text, text)
    expect(f"{program}: verdict", "everything can be recorded" in text, text)
code, text = doctor("/bin/true")
expect("a program without TT-Metal", code == 1 and "No libtt_metal.so found" in text, text)
code, text = doctor(os.path.join(os.path.dirname(library), "libtt_stl.so"))
expect("another library", code == 1 and "MISSING, costs: buffers" in text, text)
for failure in failures:
    print("FAILED:", failure)
sys.exit(bool(failures))
