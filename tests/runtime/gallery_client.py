# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Runs scripts of examples/failures one after the other; runs in a Python that has ttnn.

Each is let fail, which a line of JSON tells; then the cures come as a line of JSON, each is taken on a
device opened anew, and another line tells how it went.
"""

import importlib
import json
import os
import sys
import traceback

import ttnn

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples", "failures"))
import gallery  # noqa: E402


def say(**told):
    print(json.dumps(told), flush=True)


def opened(script, cure):
    if hasattr(script, "MESH"):
        return ttnn.open_mesh_device(ttnn.MeshShape(*script.MESH))
    return gallery.open_device(getattr(script, "SETTINGS", {}), cure)


def outcome(script, cure):
    """What became of it: None if it passed, else the beginning of its message."""
    device = opened(script, cure)
    try:
        script.run(device, cure)
        return None
    except Exception as error:  # pylint: disable=broad-except
        traceback.clear_frames(error.__traceback__)
        return str(error)[:2000] or repr(error)
    finally:
        ttnn.close_device(device)


for name in sys.argv[1:]:
    module = importlib.import_module(name)
    say(script=name, pid=os.getpid(), verdict=module.VERDICT, failed=outcome(module, None) is not None)
    say(outcomes=[outcome(module, cure) for cure in json.loads(sys.stdin.readline())])
