#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs what the tests need, builds in several ways, and runs all of them.
# usage: ci.sh [STEP ...]   steps: lint gcc soak asan tsan fuzz install
# The linters, and the soak once gcc's build is there, run beside the other
# steps, in the time that those do not use.
# The folder for builds is $CI_BUILD (default: build-ci); the soak takes
# $CI_SOAK seconds (default: 120). The last line is
# "N passed, N failed"; the exit status is 1 unless nothing failed.
set -u
cd "$(dirname "$0")/.." || exit 1

packages=(
    build-essential clang clang-format clang-tidy cppcheck shellcheck git jq
    ninja-build meson nodejs npm pkg-config check libjansson-dev libelf-dev
    libmsgpack-dev libpcre2-dev libyaml-dev zlib1g-dev libzstd-dev libclang-rt-14-dev llvm
    python3 libuv1-dev libsystemd-dev libssl-dev openssl libseccomp-dev mandoc
    glslang-tools libvulkan-dev mesa-vulkan-drivers prometheus
    vulkan-validationlayers vulkan-tools xvfb
    pocl-opencl-icd ocl-icd-opencl-dev
    clang-19 lld-19 clang-tools-19 gdb zstd python3-numpy python3-pandas
    libsqlite3-dev sqlite3 lnav libpng-dev chromium protobuf-compiler systemd
    rsyslog rsyslog-openssl libcurl4-openssl-dev libnats-dev nats-server
)
builds=${CI_BUILD:-build-ci}
fuzz_runs=${CI_FUZZ_RUNS:-3000}

# ---- what is needed ----

missing() {
    local package
    for package in "${packages[@]}"; do
        # Node from elsewhere brings its own npm.
        case $package in
        nodejs | npm) command -v npm >/dev/null && continue ;;
        esac
        dpkg -s "$package" >/dev/null 2>&1 || echo "$package"
    done
}

install_packages() {
    local wanted known=() package
    command -v apt-get >/dev/null || return 0
    mapfile -t wanted < <(missing)
    [ ${#wanted[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        echo "not installed: ${wanted[*]}"
        echo "(as root: apt-get install --no-install-recommends ${wanted[*]})"
        return 0
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    # Some are optional and named otherwise elsewhere than on Debian 12.
    for package in "${wanted[@]}"; do
        apt-cache show "$package" >/dev/null 2>&1 && known+=("$package")
    done
    apt-get -qq install --no-install-recommends -y "${known[@]}" >/dev/null
}

# ---- counting ----

# In a file: steps are processes of their own.
count() { # count PASSED FAILED
    echo "$1 $2" >>"$builds/counts"
}

total() { # total COLUMN
    awk -v column="$1" '{ n += $column } END { print n + 0 }' "$builds/counts"
}

note() { # note STATUS NAME
    if [ "$1" -eq 0 ]; then
        count 1 0
        echo "ok: $2"
    else
        count 0 1
        echo "FAILED: $2"
    fi
}

step() { # step NAME COMMAND...
    local name=$1 log=$builds/log.$1
    shift
    "$@" >"$log" 2>&1
    local status=$?
    [ $status -eq 0 ] || tail -n 60 "$log"
    note $status "$name"
    return $status
}

configure() { # configure NAME MESON_OPTION...
    local dir=$builds/$1
    shift
    rm -rf "$dir"
    # One compiler's sanitizers do not go with another's C++.
    local cxx=${CC/clang/clang++}
    CXX=${cxx/gcc/g++} meson setup "$dir" -Dwerror=true -Dtests=enabled "$@"
}

build() { # build NAME MESON_OPTION...
    configure "$@" && ninja -C "$builds/$1"
}

# Counts each of meson's tests by itself.
run_tests() { # run_tests NAME MESON_TEST_OPTION...
    local name=$1 log=$builds/log.test_$1
    shift
    local counts
    meson test -C "$builds/$name" --print-errorlogs "$@" >"$log" 2>&1
    counts=$(sed -nE 's/^(Ok|Expected Fail): +//p' "$log" | paste -sd+)
    local ok=$((${counts:-0}))
    counts=$(sed -nE 's/^(Fail|Timeout|Unexpected Pass): +//p' "$log" |
        paste -sd+)
    local bad=$((${counts:-0}))
    [ "$((ok + bad))" -gt 0 ] || bad=1 # nothing ran
    [ "$bad" -eq 0 ] || { grep -E ' (FAIL|TIMEOUT) ' "$log"; tail -n 80 "$log"; }
    grep -E ' SKIP ' "$log"
    echo "$name: $ok of $((ok + bad)) tests passed"
    count "$ok" "$bad"
}

# ---- the steps ----

# polars beside the others: npm's lock files do not agree with its packages,
# one for each kind of machine.
install_table_tools() (
    cd tests/table && npm ci --no-audit --no-fund &&
        npm i --no-save --no-audit --no-fund nodejs-polars@0.26.1 \
            "nodejs-polars-linux-$(node -p process.arch)-gnu@0.26.1"
)

do_gcc() {
    step schema_tools sh -c 'cd tests/schema && npm ci --no-audit --no-fund'
    step table_tools install_table_tools
    step page_tools sh -c 'cd tests/page && npm ci --no-audit --no-fund'
    step output_tools sh -c 'cd tests/outputs && npm ci --no-audit --no-fund'
    CC=gcc step gcc build gcc || return
    run_tests gcc
    # Ten million values in all, in pieces.
    local pids=() seed status=0
    for seed in 11 12; do
        "$builds/gcc/tests/unit/diff_number" 5500000 "$seed" \
            >"$builds/log.numbers_$seed" 2>&1 &
        pids+=($!)
    done
    for seed in "${pids[@]}"; do
        wait "$seed" || status=1
    done
    cat "$builds"/log.numbers_*
    note $status "numbers: 11 million values against snprintf"
}

do_soak() {
    [ -x "$builds/gcc/daemon/printfdecoded" ] || return
    step soak tests/daemon/soak.sh "$builds/gcc" "${CI_SOAK:-120}"
    cat "$builds/log.soak"
}

# Without what is others' work, mostly (compilers and drivers that take what scan
# has written, a browser), and what fuzz runs once more.
do_asan() {
    CC=clang step asan build asan -Db_sanitize=address,undefined \
        -Db_lundef=false -Dbuildtype=debugoptimized -Dfuzz=true || return
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 run_tests asan -t 4 --no-suite device \
        --no-suite page --no-suite once --no-suite fuzz --no-suite lint \
        --no-suite docs --no-suite install
}

build_tsan() {
    CC=clang configure tsan -Db_sanitize=thread -Db_lundef=false \
        -Dbuildtype=debugoptimized &&
        ninja -C "$builds/tsan" threaded_tests
}

do_tsan() {
    step tsan build_tsan || return
    run_tests tsan -t 6 --no-rebuild --suite threads
}

fuzz() { # fuzz TARGET
    local seeds=tests/fuzz/corpus/$1
    [ -d "$seeds" ] || seeds=tests/fuzz/corpus/record # of all formats
    local work=$builds/corpus_$1
    mkdir -p "$work"
    step "fuzz_$1" env UBSAN_OPTIONS=halt_on_error=1 \
        "$builds/asan/tests/fuzz/fuzz_$1" -seed=1 -runs="$fuzz_runs" \
        -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$builds/" "$work" "$seeds"
    grep -E 'number_of_executed' "$builds/log.fuzz_$1"
}

do_fuzz() {
    local program
    [ -x "$builds/asan/tests/fuzz/fuzz_llpc" ] || return
    for program in "$builds"/asan/tests/fuzz/fuzz_*; do
        [ -f "$program" ] || continue
        [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
        fuzz "${program##*/fuzz_}" &
    done
    wait
}

# In a folder that is only configured: clang compiles all files for asan.
do_lint() {
    CC=clang step configure_clang configure clang || return
    step lint nice -n 19 tests/lint.sh "$builds/clang"
}

# The tests have installed a build into a folder of its own; this is a prefix
# of its own, with a space, where nothing is moved. What gcc has built is built
# anew where it knows the prefix.
use_installed() {
    local prefix="$builds/a prefix"
    rm -rf "$prefix"
    [ -d "$builds/gcc" ] || CC=gcc configure gcc || return
    meson configure "$builds/gcc" --prefix="$prefix" -Dtests=disabled &&
        meson install -C "$builds/gcc" &&
        tests/install.py "$builds/gcc" "$prefix"
}

do_install() {
    step install use_installed
}

# ---- all of it ----

install_packages
mkdir -p "$builds"
builds=$(cd "$builds" && pwd)
[ $# -gt 0 ] || set -- lint gcc soak asan tsan fuzz install
: >"$builds/counts"
beside=()
for name in "$@"; do
    case $name in
    lint | soak)
        (
            "do_$name"
            echo "$name: done ($SECONDS s)"
        ) >"$builds/log.do_$name" &
        beside+=($! "$name")
        ;;
    *)
        echo "== $name ($SECONDS s)"
        ("do_$name")
        ;;
    esac
done
for ((i = 0; i < ${#beside[@]}; i += 2)); do
    echo "== ${beside[i + 1]} ($SECONDS s)"
    wait "${beside[i]}"
    cat "$builds/log.do_${beside[i + 1]}"
done
echo "$SECONDS s"
failed=$(total 2)
echo "$(total 1) passed, $failed failed"
[ "$failed" -eq 0 ]
