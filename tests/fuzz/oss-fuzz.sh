#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds all fuzz targets as OSS-Fuzz does: by $CC, $CFLAGS and $LIB_FUZZING_ENGINE
# into $OUT, each with its seeds; the libraries and files that they read when they
# run lie beside them, and $OUT is where they run. Without these variables: clang's
# libFuzzer with address and undefined, in build-oss-fuzz/.
set -eu
cd "$(dirname "$0")/../.."
export CC=${CC:-clang}
export CFLAGS=${CFLAGS:--O1 -g -fsanitize=address,undefined,fuzzer-no-link}
export LDFLAGS="${LDFLAGS:-} -Wl,-rpath,\$ORIGIN/lib"
engine=${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}
out=${OUT:-$PWD/build-oss-fuzz/out}
build=${WORK:-$PWD/build-oss-fuzz}/printfdecode
modules=tests/fuzz/corpus/spirv

# An engine that is an archive is C++.
case $engine in
-*) ;;
*) [[ ${CXXFLAGS:-} == *libc++* ]] && engine+=' -lc++' || engine+=' -lstdc++' ;;
esac

# Of a target: what it is linked with, and what it loads when it is needed. The C
# library and what compilers bring are there.
libraries_of() { # libraries_of TARGET
    {
        ldd "$1" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p'
        grep -ao '"soname":\["[^"]*"' "$1" | sed 's/.*"\(.*\)"/\1/' | sort -u |
            while read -r name; do
                ldconfig -p | sed -n "s/^\s*$name (.*x86-64) => //p" | head -n 1
            done
    } | sort -u |
        grep -vE '/(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|c\+\+))\.so\.[0-9]+$'
}

rm -rf "$build"
meson setup "$build" -Dbuildtype=plain -Db_lundef=false -Dtests=enabled \
    -Dfuzz=true -Dfuzz_engine="$engine" -Dfuzz_data=. \
    -Dpython=disabled -Dlayer=disabled
ninja -C "$build" fuzzers
mkdir -p "$out/lib" "$out/examples/data" "$out/$modules"
cp examples/data/{app.elf,small.bin} "$out/examples/data"
cp $modules/{calls,kernels} "$out/$modules"
n=0
for target in "$build"/tests/fuzz/fuzz_*; do
    [ -f "$target" ] || continue
    name=$(basename "$target")
    cp "$target" "$out"
    seeds=tests/fuzz/corpus/${name#fuzz_}
    [ -d "$seeds" ] || seeds=tests/fuzz/corpus/record # of all formats
    rm -f "$out/${name}_seed_corpus.zip"
    python3 -m zipfile -c "$out/${name}_seed_corpus.zip" "$seeds"/*
    mapfile -t libraries < <(libraries_of "$target")
    [ ${#libraries[@]} -eq 0 ] || cp -L "${libraries[@]}" "$out/lib"
    n=$((n + 1))
done
echo "$n targets in $out"
[ $n -gt 0 ]
