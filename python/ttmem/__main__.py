# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`python -m ttmem …` is `ttmem …`."""

import sys

from .command import main

sys.exit(main())
