#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs what the tests need, builds, and runs them.
# usage: ci.sh [quick | full | nightly] [STEP ...]
# quick (the default) is a contributor's: one build, the quick tests, lint of what
# changed. full is what guards a landing: $full below, with shares of what is long
# that change from day to day. nightly is the same in whole, and longer.
# Steps that only compute (lint, arm64, unsigned) run beside the other steps, in the
# time that these leave; soak and debian13, which often wait, from their place in
# the list on.
# debian13 and arm64 build and test in a root of Debian 13 (tests/roots.sh);
# where none can be made they are skipped, and count as such.
# The folder for builds is $CI_BUILD (default: build-ci); the soak takes
# $CI_SOAK seconds, a fuzzer $CI_FUZZ_RUNS inputs; $CI_DAY (default: today's
# number) chooses the shares. Each step says how long it took, and how many
# seconds of processors. At the end is what failed, by name; the last line is
# "N passed, N failed[, N skipped]"; the exit status is 1 unless nothing failed.
set -u
cd "$(dirname "$0")/.." || exit 1

# Those of Debian 12 and 13; of A|B the first one that apt knows. The first ones
# are what `quick` needs.
packages=(
    build-essential git jq ninja-build meson pkg-config check python3 zstd
    libelf-dev 'libmsgpack-c-dev|libmsgpack-dev' libpcre2-dev libyaml-dev
    zlib1g-dev libzstd-dev libjansson-dev libpng-dev libsqlite3-dev libncurses-dev
    libuv1-dev libsystemd-dev libssl-dev libseccomp-dev libcurl4-openssl-dev
    libnats-dev glslang-tools libvulkan-dev python3-dev libfmt-dev
)
more_packages=(
    clang clang-format clang-tidy cppcheck shellcheck nodejs npm llvm
    'libclang-rt-dev|libclang-rt-14-dev' openssl mandoc
    debootstrap debian-archive-keyring
    mesa-vulkan-drivers prometheus vulkan-validationlayers vulkan-tools xvfb
    pocl-opencl-icd ocl-icd-opencl-dev
    clang-19 lld-19 clang-tools-19 cmake abigail-tools gdb python3-numpy python3-pandas
    sqlite3 lnav tmux chromium protobuf-compiler systemd
    rsyslog rsyslog-openssl nats-server musl-tools zsh
    python3-mesonpy python3-pip python3-pytest python3-mypy patchelf libxml2-utils
    gnupg xz-utils
)
# In the root of Debian 13. Those of arm64 are for a command that loads what it
# can, and for its tests.
root_packages=(
    gcc g++ libc6-dev meson ninja-build pkg-config check python3 openssl
    libelf-dev libmsgpack-c-dev libpcre2-dev libyaml-dev zlib1g-dev libzstd-dev
    libjansson-dev libpng-dev libsqlite3-dev libncurses-dev tmux
    libuv1-dev libssl-dev libseccomp-dev libsystemd-dev libcurl4-openssl-dev
    libnats-dev nats-server glslang-tools libvulkan-dev mesa-vulkan-drivers
    vulkan-validationlayers vulkan-tools vkmark xvfb musl-tools python3-dev
    python3-numpy gdb mesa-opencl-icd ocl-icd-libopencl1
    gcc-aarch64-linux-gnu qemu-user libc6-dev:arm64 check:arm64
    libelf-dev:arm64 libmsgpack-c2:arm64 libmsgpack-c-dev@arm64 libpcre2-dev:arm64
    libyaml-dev:arm64 zlib1g-dev:arm64 libzstd-dev:arm64 libjansson-dev:arm64
    libpng-dev:arm64 libsqlite3-dev:arm64
)
builds=${CI_BUILD:-build-ci}
full=(lint gcc soak debian13 asan tsan fuzz unsigned arm64 install)
scope=quick
case ${1:-} in quick | full | nightly) scope=$1 && shift ;; esac
case $#$scope in
0quick) set -- quick ;;
0*) set -- "${full[@]}" ;;
esac
if [ "$scope" = nightly ]; then
    fuzz_runs=${CI_FUZZ_RUNS:-30000} soak_seconds=${CI_SOAK:-1800}
else
    fuzz_runs=${CI_FUZZ_RUNS:-3000} soak_seconds=${CI_SOAK:-120}
fi
day=${CI_DAY:-$(($(date +%s) / 86400))}

# Machines are busy: what tests wait for at most is this many times as long, for
# meson, libcheck and tests/system/daemon/harness.py. Many tests wait for much,
# so that more of them run than there are processors.
patience=4
processes=$((3 * $(nproc)))
# What tests take a share of in `quick` is whole elsewhere, in any setup of meson's.
length=(TEST_WHOLE=1)
[ "$scope" != quick ] || length=()

# ---- what is needed ----

is_there() { # is_there PACKAGE[|PACKAGE]
    local name
    for name in ${1//|/ }; do
        dpkg -s "$name" >/dev/null 2>&1 && return
    done
    # Node from elsewhere brings its own npm.
    case $1 in nodejs | npm) command -v npm >/dev/null ;; *) false ;; esac
}

# Some are optional, and not to be had everywhere.
first_known() { # first_known PACKAGE[|PACKAGE]
    local name
    for name in ${1//|/ }; do
        apt-cache show "$name" >/dev/null 2>&1 && echo "$name" && return
    done
}

missing() {
    local package
    for package in "${packages[@]}"; do
        is_there "$package" || echo "$package"
    done
}

install_packages() {
    local wanted known package
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
    mapfile -t known < <(
        for package in "${wanted[@]}"; do first_known "$package"; done
    )
    apt-get -qq install --no-install-recommends -y "${known[@]}" >/dev/null
}

# ---- counting ----

# In a file: steps are processes of their own.
count() { # count PASSED FAILED [SKIPPED]
    echo "$1 $2 ${3:-0}" >>"$builds/counts"
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
        echo "FAILED: $2" | tee -a "$builds/failed"
    fi
}

skip() { # skip NAME WHY
    count 0 0 1
    echo "skipped: $1: $2"
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

# Runs a command where the builds of a step are: in folder $place, by ${inside[@]}.
inside=(env)
there() {
    "${inside[@]}" "$@"
}

configure() { # configure NAME MESON_OPTION...
    local dir=$place/$1
    shift
    there rm -rf "$dir"
    # One compiler's sanitizers do not go with another's C++.
    local cxx=${CC/clang/clang++}
    there env CC="$CC" CXX="${cxx/gcc/g++}" meson setup "$dir" -Dwerror=true \
        -Dtests=enabled "$@"
}

build() { # build NAME MESON_OPTION...
    configure "$@" && there ninja -C "$place/$1"
}

# Of what meson says of its tests, which it says twice; and golden cases.
failures_of() { # failures_of NAME
    sed -nE "s#^(FAILED: )(case .*)#\1$1: \2#p
        s#^ *[0-9]+/[0-9]+ +(printfdecode:)?(.*[^ ]) +(FAIL|TIMEOUT|ERROR|UNEXPECTEDPASS) .*#FAILED: $1: \2 (\3)#p" |
        sort -u
}

# The last lines of each.
said_by_failures() {
    awk '/^ *[0-9]+\/[0-9]+ / || /^Summary of Failures/ {
            for (i = n > 60 ? n - 60 : 0; is_failed && i < n; i++)
                print said[i]
            is_failed = / (FAIL|TIMEOUT|ERROR|UNEXPECTEDPASS) /
            n = 0
        }
        /^Summary of Failures/ { exit }
        is_failed { said[n++] = $0 }'
}

# Counts each of meson's tests by itself.
run_tests() { # run_tests NAME MESON_TEST_OPTION...
    local name=$1 log
    log=$(mktemp "$builds/log.test_$1.XXX")
    shift
    local counts
    there env CK_TIMEOUT_MULTIPLIER="$patience" TEST_PATIENCE="$patience" \
        "${length[@]}" \
        meson test -C "$place/$name" --print-errorlogs -t "$patience" \
        --num-processes $processes "$@" >"$log" 2>&1
    counts=$(sed -nE 's/^(Ok|Expected Fail): +//p' "$log" | paste -sd+)
    local ok=$((${counts:-0}))
    counts=$(sed -nE 's/^(Fail|Timeout|Unexpected Pass): +//p' "$log" |
        paste -sd+)
    local bad=$((${counts:-0}))
    if [ "$((ok + bad))" -eq 0 ]; then
        bad=1
        tail -n 40 "$log"
        echo "FAILED: $name: no test ran" >>"$builds/failed"
    fi
    if [ "$bad" -ne 0 ]; then
        said_by_failures <"$log"
        failures_of "$name" <"$log" | tee -a "$builds/failed"
    fi
    grep -E ' SKIP ' "$log"
    echo "$name: $ok of $((ok + bad)) tests passed"
    count "$ok" "$bad"
}

# ---- the steps ----

# polars beside the others: npm's lock files do not agree with its packages,
# one for each kind of machine.
install_table_tools() (
    cd tests/system/table && npm ci --no-audit --no-fund &&
        npm i --no-save --no-audit --no-fund nodejs-polars@0.26.1 \
            "nodejs-polars-linux-$(node -p process.arch)-gnu@0.26.1"
)

do_gcc() {
    step schema_tools sh -c 'cd tests/system/schema && npm ci --no-audit --no-fund'
    step table_tools install_table_tools
    step report_tools sh -c 'cd tests/system/ci && npm ci --no-audit --no-fund'
    step page_tools sh -c 'cd tests/system/web && npm ci --no-audit --no-fund'
    step output_tools sh -c 'cd tests/system/outputs && npm ci --no-audit --no-fund'
    CC=gcc step gcc build gcc || return
    run_tests gcc --setup full
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

# For who changes something: an answer in minutes, with one compiler.
do_quick() {
    step changed tests/lint.sh --changed
    grep '^left out: ' "$builds/log.changed"
    CC=gcc step quick build quick || return
    run_tests quick --setup quick
}

say_what_quick_leaves_out() {
    cat <<'end'
left out: the longer tests (meson test -C BUILD --setup full), clang's
  sanitizers, fuzzers, clang-tidy, other systems, what is installed, the soak
all that guards a landing: tests/ci.sh full (45 minutes; Debian's compilers,
  servers and a browser are installed for it); in whole: tests/ci.sh nightly
end
}

# As on arm64, and many other machines.
do_unsigned() {
    CC=gcc step unsigned build unsigned -Dc_args=-funsigned-char \
        -Ddaemon=disabled -Dlayer=disabled || return
    run_tests unsigned --suite unit --suite golden
}

do_soak() {
    if [ ! -x "$builds/gcc/daemon/printfdecoded" ]; then
        note 1 "soak: gcc's build, whose daemon it takes, is not there"
        return
    fi
    step soak tests/system/daemon/soak.sh "$builds/gcc" "$soak_seconds"
    cat "$builds/log.soak"
}

# Without what is others' work, mostly (compilers and drivers that take what scan
# has written, a browser), and what fuzz runs once more. Of the slow ones, every
# other day's half; a fault in the others' half is found the day after.
asan_tests() {
    meson introspect --tests "$builds/asan" | jq -r --argjson day "$day" \
        --argjson whole "$([ "$scope" = nightly ] && echo true || echo false)" '
        map({name, suites: [.suite[] | sub(".*:"; "")]}) |
        map(select(.suites == .suites - ["device", "page", "once", "fuzz", "lint",
            "docs", "install"])) |
        map(select(.suites | index("slow") | not)) +
            (map(select(.suites | index("slow"))) | sort_by(.name) | to_entries |
            map(select($whole or (.key + $day) % 2 == 0).value)) |
        map(.name) | unique | .[]'
}

do_asan() {
    local tests
    CC=clang step asan build asan -Db_sanitize=address,undefined \
        -Db_lundef=false -Dbuildtype=debugoptimized -Dfuzz=true || return
    mapfile -t tests < <(asan_tests)
    echo "asan: ${#tests[@]} tests, those of day $day"
    if [ ${#tests[@]} -eq 0 ]; then
        note 1 "asan: its tests are not known"
        return
    fi
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 run_tests asan \
        --setup full "${tests[@]}"
}

build_tsan() {
    CC=clang configure tsan -Db_sanitize=thread -Db_lundef=false \
        -Dbuildtype=debugoptimized &&
        ninja -C "$builds/tsan" threaded_tests
}

do_tsan() {
    step tsan build_tsan || return
    run_tests tsan --no-rebuild --suite threads
}

fuzz() { # fuzz TARGET
    local seeds=tests/fuzz/corpus/$1
    [ -d "$seeds" ] || seeds=tests/fuzz/corpus/record # of all formats
    local work=$builds/corpus_$1
    mkdir -p "$work"
    step "fuzz_$1" run_fuzzer "$builds/log.fuzz_$1" \
        "$builds/asan/tests/fuzz/fuzz_$1" -seed=1 -runs="$fuzz_runs" \
        -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$builds/" "$work" "$seeds"
    grep -E 'number_of_executed' "$builds/log.fuzz_$1"
}

# One that ends without having said how much it did has not done it.
run_fuzzer() { # run_fuzzer LOG COMMAND...
    local log=$1
    shift
    UBSAN_OPTIONS=halt_on_error=1 "$@" &&
        grep -q 'number_of_executed_units: *[1-9]' "$log"
}

# Whoever is killed says no outcome himself.
is_alive() { # is_alive STATUS NAME
    [ "$1" -lt 128 ] || note 1 "$2 was killed"
}

do_fuzz() {
    local program pid pids=()
    if [ ! -x "$builds/asan/tests/fuzz/fuzz_llpc" ]; then
        note 1 "fuzz: asan's build, whose targets it takes, is not there"
        return
    fi
    for program in "$builds"/asan/tests/fuzz/fuzz_*; do
        [ -f "$program" ] || continue
        [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
        fuzz "${program##*/fuzz_}" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid"
        is_alive $? "a job of fuzz"
    done
}

# In a folder that is only configured: clang compiles all files for asan. Each
# version has other wishes; the files meet those of Debian 12's.
do_lint() {
    if ! clang-format --version | grep -q 'version 14\.'; then
        skip lint "clang-format and its kin are not those of version 14"
        return
    fi
    CC=clang step configure_clang configure clang || return
    step lint nice -n 19 tests/lint.sh "$builds/clang" \
        "$([ "$scope" = nightly ] && echo --all || echo --lately)"
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

# Types are read from what a compiler tells debuggers.
compare_abi() {
    configure abi -Ddebug=true -Doptimization=0 -Ddefault_library=shared \
        -Dtests=disabled -Dcommand=disabled -Ddaemon=disabled -Dlayer=disabled \
        -Dpython=disabled && ninja -C "$builds/abi" &&
        tests/abi.sh "$builds"/abi/src/libprintfdecode.so.?.?.?
}

do_install() {
    step install use_installed
    CC=gcc step abi compare_abi
}

# ---- other systems ----

# Once, by the first step that needs it.
make_root() (
    flock 9
    [ ! -e "$root.status" ] || exit
    {
        tests/roots.sh make "$root" trixie "${root_packages[@]}" &&
            tests/roots.sh copy "$root"
    } >"$builds/log.root" 2>&1
    echo $? >"$root.status"
) 9>"$root.lock"

enter_root() { # enter_root STEP
    make_root
    inside=(tests/roots.sh in "$root")
    place=.
    case $(cat "$root.status") in
    0) return ;;
    77) skip "$1" "$(tail -n 1 "$builds/log.root")" ;;
    *)
        tail -n 60 "$builds/log.root"
        note 1 "$1: a root of Debian 13"
        ;;
    esac
    return 1
}

do_debian13() {
    enter_root debian13 || return
    CC=gcc step debian13 build debian13 || return
    run_tests debian13 --setup quick
    run_tests debian13 --suite layer --suite elsewhere
}

# What looks into other processes would see the emulator's.
do_arm64() {
    enter_root arm64 || return
    CC=aarch64-linux-gnu-gcc step arm64 configure arm64 \
        --cross-file tests/cross/arm64.ini -Ddaemon=disabled -Dlayer=disabled \
        -Dtls=disabled -Dcurl=disabled -Dnats=disabled || return
    patience=20 run_tests arm64 --suite unit --suite golden --no-suite native
}

# ---- all of it ----

# Seconds of processors, from what bash says of itself and its children.
cpu_seconds() {
    awk '{ gsub(/[ms]/, " "); n += 60 * ($1 + $3) + $2 + $4 }
        END { printf "%d", n }' "$@"
}

run_step() ( # run_step NAME
    begin=$SECONDS
    "do_$1"
    times >"$builds/times.$1"
    echo "$1: done ($((SECONDS - begin)) s, $(cpu_seconds "$builds/times.$1") s of processors)"
)

# One after the other, when nothing else wants the processors.
run_idle() { # run_idle NAME...
    local name
    renice -n 19 -p "$BASHPID" >/dev/null
    for name in "$@"; do
        run_step "$name" >"$builds/log.do_$name"
        is_alive $? "$name"
    done
}

[ "$*" = quick ] || packages+=("${more_packages[@]}")
install_packages
mkdir -p "$builds"
builds=$(cd "$builds" && pwd)
place=$builds
root=$builds/debian13
: >"$builds/counts"
: >"$builds/failed"
rm -f "$root.status"
case " $* " in *' debian13 '* | *' arm64 '*) make_root & ;; esac
idle=()
beside=()
others=()
for name in "$@"; do
    case $name in
    lint | unsigned | arm64) idle+=("$name") ;;
    *) others+=("$name") ;;
    esac
done
run_idle "${idle[@]}" &
for name in "${others[@]}"; do
    case $name in
    soak | debian13)
        {
            run_step "$name" >"$builds/log.do_$name"
            is_alive $? "$name"
        } &
        beside+=("$name")
        ;;
    *)
        echo "== $name ($SECONDS s)"
        run_step "$name"
        is_alive $? "$name"
        ;;
    esac
done
wait
for name in "${idle[@]}" "${beside[@]}"; do
    echo "== $name"
    cat "$builds/log.do_$name"
done
[ "$*" != quick ] || say_what_quick_leaves_out
times >"$builds/times"
echo "$SECONDS s, $(cpu_seconds "$builds/times") s of processors"
cat "$builds/failed"
failed=$(total 2)
skipped=$(total 3)
echo "$(total 1) passed, $failed failed$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")"
[ "$failed" -eq 0 ]
