#!/bin/sh
# SPDX-License-Identifier: MIT
# The symbols that the shared library exports are those that the public headers
# declare, and all begin with pfd_.
# usage: exports.sh LIBRARY HEADER_FOLDER
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -D --defined-only "$1" | sed 's/.* //; s/@.*//' |
    grep -v '^_' | # the tool chain's own
    sort >"$work/exported"
# A declaration is PFD_API, a type, the name, an opening parenthesis.
cat "$2"/*.h | tr '\n' ' ' | grep -oE 'PFD_API [a-z][^;]*\(' |
    sed -E 's/^PFD_API [^(]*\b(pfd_[a-z0-9_]+)\(.*/\1/' | sort -u \
    >"$work/declared"
if grep -v '^pfd_' "$work/exported"; then
    echo "exported, but not called pfd_*"
    exit 1
fi
[ -s "$work/declared" ] || exit 1
diff "$work/declared" "$work/exported"
