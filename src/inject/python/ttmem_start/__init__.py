# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The part of the Python package that names operations and records what they refuse, under a name that no program imports."""
