#!/bin/sh
# SPDX-License-Identifier: MIT
# Code object URIs where the golden cases cannot go: into a capture and out of
# it, and as a shader. usage: uri.sh PROGRAM CASES_FOLDER
set -u
real=$(realpath "$1")
failed=0
died=$(mktemp) || exit 1
trap 'rm -f "$died"' EXIT

# Also in a pipe: one that dies has failed, whatever it has printed.
program()
{
    "$real" "$@"
    set -- $? "$@"
    [ "$1" -le 3 ] || echo "$@" >>"$died"
    return "$1"
}

same() { # same WHAT WANTED GOT
    if [ -z "$2" ] || [ "$2" != "$3" ]; then
        printf '%s: expected\n%s\nfound\n%s\n' "$1" "$2" "$3"
        failed=1
    fi
}

cd "$2/hip/worked_example" || exit 1
wanted=$(program buffer.bin app.co)
size=$(wc -c <app.co)
same 'captured code object' "$wanted" \
    "$(program capture -o - buffer.bin file://./app.co | program -)"
same 'captured part of a file' "$wanted" \
    "$(program capture -o - buffer.bin \
        "file://%61pp.co?offset=0&size=$size" | program -)"
same 'captured buffer' "$wanted" \
    "$(program capture -o - file://buffer.bin app.co | program -)"
program capture -o - buffer.bin file://missing >/dev/null 2>&1 &&
    echo 'a URI of nothing was captured' && failed=1

cd "$2/debugprintf/capture_bytes" || exit 1
spv=bytes.comp.spv
same 'shader' "$(program strings --shader 7="$spv" | cut -c1-40)" \
    "$(program strings --shader 7="file://$spv" | cut -c1-40)"
[ ! -s "$died" ] || { cat "$died"; failed=1; }
exit $failed
