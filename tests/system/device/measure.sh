#!/bin/bash
# SPDX-License-Identifier: MIT
# Measures PFD_PRINTF on a GPU of NVIDIA. Needs nvcc and cc, and the folder that
# pack.sh made, in which it lies; nothing of it is built there but what is
# measured.
# usage: FOLDER/measure.sh [STEP ...]   steps: hello rate rules off grow lines
#        daemon vulkan
# Exit status 1: a line was wrong or missing, or a step failed.
# shellcheck disable=SC2317 # the steps are called by name
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
shm=$(mktemp -d /dev/shm/pfd.XXXXXX)
failed=0
trap 'rm -rf "$work" "$shm"' EXIT
export LD_LIBRARY_PATH=$here/lib
export XDG_RUNTIME_DIR=$work
architecture=${CUDA_ARCH:-native}
chmod +x "$here"/bin/* 2>/dev/null

build() { # build NAME SOURCE OPTION...
    local name=$1 source=$2
    shift 2
    nvcc -std=c++17 -O2 -arch="$architecture" "$@" -I"$here/include" \
        -o "$work/$name" "$here/$source" -L"$here/lib" -lprintfdecode \
        -Xlinker --allow-shlib-undefined || exit 1
}

fail() { # fail TEXT
    echo "FAILED: $1"
    failed=1
}

# A program prints into a file that is followed meanwhile, until all is told.
followed() { # followed NAME PROGRAM LINES SETTLE ARGUMENT...
    local name=$1 program=$2 lines=$3 settle=$4
    shift 4
    local some=()
    [ "$1" != lines ] || some=(some) # more than can be read meanwhile is lost
    rm -f "$shm/buffer"
    PFD_BUFFER=$shm/buffer "$work/$program" "$@" &
    local pid=$!
    until [ -s "$shm/buffer" ]; do
        kill -0 "$pid" || { fail "$name"; return; }
        sleep 0.05
    done
    { "$here/bin/printfdecode" follow --settle "$settle" "$shm/buffer" \
        "$work/$program" 2>"$work/follow.err" & echo $! >"$work/follow.pid"
        wait; } | "$work/lines" "$lines" "${some[@]}" >"$work/result" &
    local checker=$!
    wait "$pid"
    sleep 4
    kill -INT "$(cat "$work/follow.pid")"
    wait "$checker" || fail "$name"
    ! grep -q stale "$work/follow.err" || fail "$name: stale"
    echo "$name: $(cat "$work/result")"
    cut -d: -f4 "$work/follow.err" | sort | uniq -c | sort -rn | head -5
    tail -2 "$work/follow.err"
}

do_hello() {
    build hello hello.cu
    PFD_BUFFER=$shm/hello "$work/hello" || fail hello
    "$here/bin/printfdecode" "$shm/hello" "$work/hello" || fail hello
}

do_rate() {
    local options
    for options in "" "-DPFD_COMMIT" "-DPFD_COMMIT -DPFD_ORIGIN"; do
        echo "rate, options '$options'"
        # shellcheck disable=SC2086 # several words
        build measure measure.cu $options
        PFD_BUFFER=$shm/rate "$work/measure" rate 100 >"$work/printed" || fail rate
        echo "CUDA's lines: $(wc -l <"$work/printed")"
        "$here/bin/printfdecode" -c "$shm/rate" "$work/measure" || fail "decode"
        rm -f "$shm/rate" "$work/printed"
    done
}

do_rules() {
    build measure measure.cu -DPFD_COMMIT
    PFD_BUFFER=$shm/rules "$work/measure" rules 2>"$work/rules.err" || fail rules
    grep -v 'were withheld' "$work/rules.err"
    grep 'were withheld' "$work/rules.err" | head -2
}

do_off() {
    build measure measure.cu
    PFD_BUFFER=$shm/off "$work/measure" off || fail off
}

do_grow() {
    build plain measure.cu
    build committed measure.cu -DPFD_COMMIT
    followed "grow, plain" plain 27033600 1000 grow 100 1
    followed "grow, commit words" committed 27033600 1 grow 100 1
    followed "grow, commit words, 40 submits" committed 10813440 1 grow 1 40
}

do_lines() {
    build committed measure.cu -DPFD_COMMIT
    followed "40 resets without a pause, commit words" committed 10813440 1 \
        lines 1 40
}

do_daemon() {
    build committed measure.cu -DPFD_COMMIT
    "$here/bin/printfdecoded" >"$work/lines.txt" 2>"$work/daemon.err" &
    local pid=$!
    sleep 1
    "$work/committed" grow 20 1
    sleep 6
    kill -TERM "$pid"
    wait "$pid"
    "$work/lines" 5406720 <"$work/lines.txt" || fail daemon
    tail -3 "$work/daemon.err"
}

do_vulkan() {
    python3 "$here/vulkan.py" "$here" || fail vulkan
}

cc -O2 -o "$work/lines" "$here/lines.c" || exit 1
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
df -h /dev/shm | tail -1
[ $# -gt 0 ] || set -- hello rate rules off grow lines daemon vulkan
for step in "$@"; do
    echo "== $step"
    "do_$step"
done
exit $failed
