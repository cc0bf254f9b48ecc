#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
#
# `make demo` on what was built: it holds its numbers, needs no terminal and leaves nothing behind.

set -euo pipefail

before=$(ls /dev/shm)
"$TTMEM_SOURCE_DIR/scripts/demo" </dev/null >demo.log 2>&1 || { cat demo.log; exit 1; }
grep -q 'Part A: all numbers held' demo.log
grep -qE 'Part B: all numbers held|Part B is left out: ' demo.log
[ "$(sed -n '/^== What was real/,$p' demo.log | grep -cE '^  [AB] ')" -ge 2 ] || { echo "no table at the end"; exit 1; }
[ "$(sed -n '/^==/q;p' demo.log | grep -c .)" -eq 3 ] || { echo "not three lines at the start"; exit 1; }
left=$(comm -13 <(echo "$before") <(ls /dev/shm) | grep '^ttmem-demo' || true)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
