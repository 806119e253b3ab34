#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [-s] SERVER EXPECTED PROGRAM [ARGUMENT...]: starts SERVER at a socket, runs
# PROGRAM SOCKET ARGUMENT..., and compares what the server printed with the
# file EXPECTED; -s: sorted, for lines of threads. 77 from PROGRAM: what it needs is not here.
set -u
order='cat'
if [ "$1" = -s ]; then
    order='sort'
    shift
fi
server=$1
expected=$2
program=$3
shift 3
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
"$server" "$temp/socket" >"$temp/out" 2>"$temp/err" &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    grep -q ready "$temp/err" && break
    sleep 0.1
done
"$program" "$temp/socket" "$@"
rc=$?
if [ $rc -ne 0 ]; then
    kill $pid 2>/dev/null
    exit $rc
fi
wait $pid || { cat "$temp/err"; exit 1; }
LC_ALL=C $order "$temp/out" | diff -u "$expected" - | head -20
LC_ALL=C $order "$temp/out" | cmp -s "$expected" -
