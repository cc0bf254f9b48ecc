#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
#
# The command reads what strangers wrote: it is built so that a mistake in that stops it, and does
# not hand it over. Usage: hardened.sh COMMAND BUILD_TYPE

set -euo pipefail

command=$1
build_type=$2
bad=0
require() { # WHAT FOUND
    if [ -z "$2" ]; then
        echo "missing: $1"
        bad=1
    fi
}

dynamic=$(readelf --dynamic --wide "$command")
segments=$(readelf --program-headers --wide "$command")
symbols=$(readelf --dyn-syms --wide "$command")
require "position independent" "$(readelf --file-header "$command" | grep -E 'Type:.*DYN' || true)"
require "relro" "$(grep GNU_RELRO <<<"$segments" || true)"
require "bind now" "$(grep -E 'BIND_NOW|FLAGS.*NOW' <<<"$dynamic" || true)"
require "stack protector" "$(grep -o '__stack_chk_fail' <<<"$symbols" || true)"
require "a stack that is not executable" "$(grep -E 'GNU_STACK.* RW +' <<<"$segments" || true)"
case $build_type in
    Rel* | MinSize*) require "fortified calls" "$(grep -oE '__[a-z]+_chk@' <<<"$symbols" | head -1 || true)" ;;
esac
if [ "$(uname -m)" = x86_64 ]; then
    # The start files of the distribution may lack the note that covers the whole program.
    count=$(objdump --disassemble --no-show-raw-insn "$command" | grep -c endbr64 || true)
    [ "$count" -gt 1000 ] || require "landing pads for indirect calls ($count)" ""
fi
[ "$bad" = 0 ] && echo "hardened: $command"
exit "$bad"
