#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
#
# libttmem.so lives in other people's processes: it may need libc and nothing else, and may show
# only its public calls. Usage: exports.sh LIBRARY

set -euo pipefail

library=$1
bad=0
complain() { # TITLE LINES
    if [ -n "$2" ]; then
        printf '%s:\n%s\n' "$1" "$2"
        bad=1
    fi
}

needed=$(readelf --dynamic --wide "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
complain "needs more than libc" "$(grep -vE '^(libc\.so\.6|ld-linux.*\.so\.[0-9]+)$' <<<"$needed" || true)"

soname=$(readelf --dynamic --wide "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = libttmem.so.1 ] || complain "wrong soname" "$soname"

# The version node itself is an absolute symbol.
exported=$(nm --dynamic --defined-only "$library" | awk '$2 != "A" { print $3 }')
complain "exports more than ttmem_*" "$(grep -v '^ttmem_' <<<"$exported" || true)"
grep -q '^ttmem_' <<<"$exported" || complain "exports nothing of" "ttmem_*"

# Every undefined symbol is one of libc, but for the four weak ones of the compiler's start files.
undefined=$(nm --dynamic --undefined-only "$library" | awk '{ print $NF }')
start_files='_ITM_(de)?registerTMCloneTable|__gmon_start__|__cxa_finalize(@.*)?'
foreign=$(grep -vE "^($start_files)$" <<<"$undefined" | grep -vE '^[a-z_][A-Za-z0-9_]*@+GLIBC_' || true)
complain "undefined symbols that libc does not have" "$foreign"
cplusplus=$(grep -vE "^($start_files)$" <<<"$undefined" | grep -E '^(_Z|__cxa_|__gxx_|_Unwind)' || true)
complain "symbols of the C++ runtime" "$cplusplus"

if [ "$bad" = 0 ]; then
    echo "$(wc -l <<<"$exported") public symbols; needs:" $needed
fi
exit "$bad"
