# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The structs and numbers of Python against what a C compiler makes of the header."""

import ctypes
import re
import shutil
import subprocess

import pytest
from conftest import SOURCE

from support import built

from ttmem import abi, library, refusals

HEADER = SOURCE / "include" / "ttmem" / "ttmem.h"

STRUCTS = {
    "process_info": abi.ProcessInfo,
    "core_range": abi.CoreRange,
    "core": abi.Core,
    "core_geometry": abi.CoreGeometry,
    "device_info": abi.DeviceInfo,
    "set_info": abi.SetInfo,
    "space_info": abi.SpaceInfo,
    "allocator_info": abi.AllocatorInfo,
    "buffer": abi.Buffer,
    "kernel": abi.Kernel,
    "range": abi.Range,
    "program": abi.Program,
    "device_identity": abi.DeviceIdentity,
    "figures": abi.Figures,
    "failure": refusals.Failure,
    "step": refusals.Step,
}
ENUMS = {
    "SPACE": abi.Space,
    "CORE": abi.CoreType,
    "KERNEL": abi.KernelType,
    "PART": abi.Part,
    "FLAG": abi.Flag,
    "SOURCE": abi.Source,
}


def compiled(expressions, tmp_path):
    """The values of C expressions, in order."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    lines = [f'  printf("%lld\\n", (long long)({one}));' for one in expressions]
    source = tmp_path / "values.c"
    source.write_text(
        "#include <stdio.h>\n#include <ttmem/ttmem.h>\nint main(void) {\n"
        + "\n".join(lines)
        + "\n  return 0;\n}\n"
    )
    program = tmp_path / "values"
    # ttmem_enabled() refers to a variable of the library, which is not needed here.
    command = [compiler, "-O1", "-I", str(SOURCE / "include"), str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    output = subprocess.run([str(program)], stdout=subprocess.PIPE, check=True).stdout
    return [int(line) for line in output.split()]


def test_every_field_stands_where_c_puts_it(tmp_path):
    expected, expressions = [], []
    for name, kind in STRUCTS.items():
        expressions.append(f"sizeof(struct ttmem_{name})")
        expected.append((name, ctypes.sizeof(kind)))
        for field in kind._fields_:
            expressions.append(f"offsetof(struct ttmem_{name}, {field[0]})")
            expected.append((f"{name}.{field[0]}", getattr(kind, field[0]).offset))
    values = compiled(expressions, tmp_path)
    assert [(name, value) for (name, _), value in zip(expected, values)] == expected


def test_every_constant_has_the_number_of_the_header(tmp_path):
    members = [(f"TTMEM_{p}_{m.name}", m.value) for p, kind in ENUMS.items() for m in kind]
    members += [
        ("TTMEM_FIGURE_PROGRAM_L1", abi.Figure.PROGRAM_L1),
        ("TTMEM_FIGURE_KERNELS", abi.Figure.KERNELS),
        ("TTMEM_SPACE_DRAM", abi.Figure.DRAM),
        ("TTMEM_SPACE_L1", abi.Figure.L1),
        ("TTMEM_SPACE_L1_SMALL", abi.Figure.L1_SMALL),
        ("TTMEM_SPACE_TRACE", abi.Figure.TRACE),
        ("TTMEM_CORE_TYPES", abi.CORE_TYPES),
        ("TTMEM_LAYOUT_UNKNOWN", abi.LAYOUT_UNKNOWN),
        ("TTMEM_ABI_VERSION", abi.VERSION),
    ]
    values = compiled([name for name, _ in members], tmp_path)
    assert dict(zip((name for name, _ in members), values)) == dict(members)


def test_no_struct_of_the_header_was_forgotten():
    declared = set(re.findall(r"typedef struct ttmem_(\w+) \{", HEADER.read_text()))
    # Python records no rings.
    assert declared - {"ring", "ring_launch"} == set(STRUCTS)


def test_every_function_that_python_calls_is_declared():
    text = HEADER.read_text()
    for name, _, arguments in library._FUNCTIONS:
        declaration = re.search(rf"^TTMEM_API [\w ]+[ *]+{name}\(([^;]*)\);", text, re.MULTILINE)
        assert declaration, name
        inside = " ".join(declaration.group(1).split())
        count = 0 if inside == "void" else inside.count(",") + 1
        assert count == len(arguments), name


def test_the_library_has_every_function():
    loaded = ctypes.CDLL(built.LIBRARY)
    for name, _, _ in library._FUNCTIONS:
        assert hasattr(loaded, name), name
