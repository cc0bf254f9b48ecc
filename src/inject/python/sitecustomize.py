# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Runs in every Python that `ttmem run` starts, because its folder is first in PYTHONPATH.

It makes way for the sitecustomize that would have run without it, and waits for `import ttnn`; a
Python that never imports it pays for this file only. Nothing here may disturb the program: what does
not work is left out. It is read by Pythons of every age.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = "ttmem_start"
_OLDEST = (3, 8)


def _start():
    import importlib.machinery
    import importlib.util

    spec = importlib.machinery.PathFinder.find_spec(_PACKAGE, [_HERE])
    sys.modules[_PACKAGE] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[_PACKAGE])
    importlib.import_module(_PACKAGE + ".lines").start()
    importlib.import_module(_PACKAGE + ".refusals").start()


class _Ttnn(object):
    """Stands before the other finders until ttnn is asked for."""

    def find_spec(self, name, path=None, target=None):
        if name == "ttnn":
            sys.meta_path.remove(self)
            try:
                _start()
            except Exception:  # the program goes on without
                pass
        return None


def _make_way():
    """Runs the program's own sitecustomize, if it has one, under its name."""
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != _HERE]
    ours = sys.modules.pop("sitecustomize")
    try:
        __import__("sitecustomize")
    except ImportError as missing:
        sys.modules["sitecustomize"] = ours
        if getattr(missing, "name", "sitecustomize") != "sitecustomize":
            raise


if sys.version_info >= _OLDEST and os.environ.get("TTMEM_DISABLE", "0") in ("", "0"):
    sys.meta_path.insert(0, _Ttnn())
_make_way()
