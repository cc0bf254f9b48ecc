#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
#
# A foreign project finds the package, compiles a C and a C++ program against it and runs both.
# Usage: consumer.sh CMAKE BUILD_DIRECTORY installed|build_tree

set -euo pipefail

cmake=$1
build=$2
from=$3
source=$(cd "$(dirname "$0")/consumer" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ttmem-consumer.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

prefix=$build
if [ "$from" = installed ]; then
    prefix=$scratch/prefix
    "$cmake" --install "$build" --prefix "$prefix" >"$scratch/install.log"
    for file in bin/ttmem lib/libttmem.so lib/libttmem.so.1 include/ttmem/ttmem.h \
        lib/cmake/ttmem/ttmem-config.cmake share/doc/ttmem/LICENSE \
        share/doc/ttmem/CHANGELOG.md share/doc/ttmem/SECURITY.md \
        share/doc/ttmem/docs/how-to/install.md share/doc/ttmem/docs/screens/overview.svg; do
        [ -e "$prefix/$file" ] || { echo "not installed: $file" && exit 1; }
    done
    "$prefix/bin/ttmem" --version
fi

"$cmake" -G Ninja -S "$source" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix"
"$cmake" --build "$scratch/build"
mkdir "$scratch/segments"
export TTMEM_DIR=$scratch/segments
"$scratch/build/consumer_c"
"$scratch/build/consumer_cpp"
