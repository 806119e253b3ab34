#!/bin/bash
# SPDX-License-Identifier: MIT
# The library's ABI is the described one (docs/abi.md), or has more functions.
# usage: abi.sh LIBRARY [FOLDER] compares
#        abi.sh --write LIBRARY  describes it anew
# LIBRARY: built with -g, since types are read from there, or from below FOLDER.
# Status 77: no abidiff.
set -eu
cd "$(dirname "$0")/.."
described=docs/abi/libprintfdecode.abi
command -v abidiff >/dev/null || {
    echo "no abidiff (Debian: abigail-tools)"
    exit 77
}
if [ "$1" = --write ]; then
    mkdir -p docs/abi
    abidw --exported-interfaces-only --headers-dir include/printfdecode --drop-private-types --no-show-locs \
        --no-comp-dir-path --no-corpus-path --short-locs "$2" >"$described"
    exit
fi
# New functions are no change; a new member at the end of a struct that states its
# size is one that is allowed, and is described anew.
abidiff --no-added-syms ${2:+--debug-info-dir2 "$2"} "$described" "$1"
