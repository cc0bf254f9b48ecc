# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Real ttnn of other releases than the pinned one: `make test-matrix`."""

import pytest

from test_ttnn_exactness import compare


@pytest.mark.parametrize("board, rows, columns", [("n150", "1", "1"), ("t3k", "2", "4")])
@pytest.mark.parametrize("version", ["0.72.0", "0.76.0", "newest"])
def test_release(version, board, rows, columns):
    compare("10", board, rows, columns, version=version)
