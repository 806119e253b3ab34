#!/bin/sh
# SPDX-License-Identifier: MIT
# What the shared library exports is what the installed headers declare, and what
# its version script names: all three are the same, and all begin with pfd_.
# usage: exports.sh LIBRARY HEADER_FOLDER VERSION_SCRIPT
#        exports.sh --write HEADER_FOLDER VERSION_SCRIPT   (makes the script anew)
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A declaration is PFD_API, a type, the name, an opening parenthesis.
cat "$2"/*.h | tr '\n' ' ' | grep -oE 'PFD_API [a-z][^;]*\(' |
    sed -E 's/^PFD_API [^(]*\b(pfd_[a-z0-9_]+)\(.*/\1/' | LC_ALL=C sort -u \
    >"$work/declared"
[ -s "$work/declared" ] || exit 1
if [ "$1" = --write ]; then
    {
        # REUSE-IgnoreStart
        echo '/* SPDX-License-Identifier: MIT */'
        # REUSE-IgnoreEnd
        echo '/* Written by tests/exports.sh --write; the headers say what is in it. */'
        echo 'PRINTFDECODE_0 {'
        echo '    global:'
        sed 's/.*/        &;/' "$work/declared"
        echo '    local:'
        echo '        *;'
        echo '};'
    } >"$3"
    exit
fi
sed -n 's/^ *\(pfd_[a-z0-9_]*\);$/\1/p' "$3" >"$work/named"
nm -D --defined-only "$1" | sed 's/.* //; s/@.*//' |
    grep -v -e '^_' -e '^PRINTFDECODE_' | # the tool chain's own, and the version
    LC_ALL=C sort >"$work/exported"
if grep -v '^pfd_' "$work/exported"; then
    echo "exported, but not called pfd_*"
    exit 1
fi
diff "$work/declared" "$work/named"
diff "$work/declared" "$work/exported"
