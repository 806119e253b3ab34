#!/bin/sh
# SPDX-License-Identifier: MIT
# Puts what measure.sh needs into a folder: programs, the library, what these
# need of the system's libraries, headers and sources.
# usage: pack.sh BUILD FOLDER
set -eu
source=$(cd "$(dirname "$0")/../../.." && pwd)
build=$1
mkdir -p "$2/bin" "$2/lib"
cp "$build/cli/printfdecode" "$build/daemon/printfdecoded" "$2/bin/"
cp -L "$build/src/libprintfdecode.so.0" "$2/lib/"
cp -L "$build/src/libprintfdecode.so.0" "$2/lib/libprintfdecode.so"
# All but the C library's, which every system has.
ldd "$2/bin/printfdecode" "$2/bin/printfdecoded" "$2/lib/libprintfdecode.so.0" |
    sed -n 's|.* => \(/[^ ]*\) .*|\1|p' | sort -u |
    grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' |
    while read -r library; do
        cp -nL "$library" "$2/lib/" || true
    done
cp -R "$source/include" "$2/"
cp "$source"/tests/system/device/measure.cu "$source"/tests/system/device/measure.sh \
    "$source"/tests/system/device/lines.c "$source"/examples/device/cuda/hello.cu "$2/"
