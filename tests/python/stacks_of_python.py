# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Allocates in places that are hard to name, and says what Python itself thinks of each.

Every allocation has a size of its own, so that its stack can be found again. test_lines.py runs this
with every CPython there is and compares with `ttmem status --by stack`.
"""

import asyncio
import ctypes
import json
import os
import sys
import threading

ctypes.CDLL(os.environ["TTMEM_OBSERVER"])

from fake_chip import Chip  # noqa: E402
from ttmem import lines, region  # noqa: E402

MOST_FRAMES = 64
BANKS = 12
chip = None
expected = {}


def take():
    """One more allocation; remembers the stack around it as Python tells it."""
    number = len(expected) + 1
    stack = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        stack.append(f"{code.co_filename}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    # The two innermost frames are this one and that of the chip.
    cut = len(stack) + 2 > MOST_FRAMES
    stack = stack[: MOST_FRAMES - 2] + (["\u2026"] if cut else [])
    expected[BANKS * 32 * number] = stack[::-1]
    chip.allocate(number, 32 * number)


def over_several_lines():
    return [
        None,
        take(
        ),
    ]


def generator():
    yield 1
    yield take()


async def coroutine():
    await asyncio.sleep(0)
    take()
    async for _ in async_generator():
        pass


async def async_generator():
    yield 1
    yield take()


def deep(depth):
    return take() if depth == 0 else deep(depth - 1)


class Body:
    made = None

    def __init__(self):
        take()

    @property
    def attribute(self):
        return (lambda: take())()

    def __del__(self):
        take()


def executed():
    exec(compile("\n" * 400 + "take()\n", "<ipython-input-7-0123456789ab>", "exec"), {"take": take})
    eval(compile("[take() for _ in (1,)]", "/tmp/ipykernel_1/\u00e9\u4e2d\U0001f600.py", "eval"), {"take": take})


def used_again():
    """Code objects that are freed: the next one is likely to lie in the same place."""
    for number in range(100):
        text = "\n" * (number * 37 % 101 * 4) + "def made():\n" + "\n" * (number % 3) + "    take()\n"
        names = {"take": take}
        exec(compile(text, "made.py", "exec"), names)
        names.pop("made")()


def imported():
    folder = os.path.join(os.getcwd(), "modules")
    os.mkdir(folder)
    with open(os.path.join(folder, "allocates_when_imported.py"), "w", encoding="utf-8") as file:
        file.write("import __main__\n\n__main__.take()\n")
    sys.path.insert(0, folder)
    import allocates_when_imported  # noqa: F401


class Path:
    """Asked for its name by a module that is frozen into Python since 3.11: <frozen posixpath>."""

    def __fspath__(self):
        take()
        return "/"


def all_places():
    take()
    over_several_lines()
    list(generator())
    asyncio.run(coroutine())
    deep(10)
    deep(200)
    body = Body()
    body.attribute
    del body
    executed()
    used_again()
    imported()
    os.path.join(Path())
    for depth in (3, 4):
        thread = threading.Thread(target=deep, args=(depth,))
        thread.start()
        thread.join()


def begin():
    """None, or why there are no lines."""
    global chip
    reason = lines.start()
    chip = Chip()
    return reason


def main():
    global chip
    reason = begin()
    if reason is not None:
        print(json.dumps({"refused": reason}))
        return
    all_places()
    child = os.fork()
    if child == 0:  # has a segment of its own, and a chip that it does not share
        expected.clear()
        chip = Chip()
        all_places_of_a_child()
        tell()
        os._exit(0)
    os.waitpid(child, 0)
    with region("model"), region("layer 3"):
        take()
        expected[BANKS * 32 * len(expected)][:0] = ["model", "layer 3"]
    tell()


def all_places_of_a_child():
    take()
    deep(5)
    thread = threading.Thread(target=deep, args=(3,))
    thread.start()
    thread.join()


def tell():
    from ttmem import command

    now = command.document("status", "--by", "stack", "--pid", str(os.getpid()))
    found = {row["dram"]["taken"]: row["path"][:-2] for row in now["origins"]}
    print(json.dumps({"expected": {str(size): stack for size, stack in expected.items()},
                      "found": {str(size): path for size, path in found.items()}}), flush=True)


if __name__ == "__main__":
    main()
