#!/bin/bash
# SPDX-License-Identifier: MIT
# What is released, as people get it: Debian's packages built, looked at, installed
# on a bare system, used, and removed without a trace.
# usage: release.sh [-n] [bookworm | trixie | STEP] ...     (default: all)
# -n: without the tests that packages run when they are built; DEB_BUILD_OPTIONS of
# the caller are kept (parallel=1, for a machine that others use).
# Steps, here: script, that of a release with a key that is thrown away; fuzzers, as
# OSS-Fuzz builds them. For each system: packages; lintian; clean, licences (reuse),
# ABI (abidiff) and rules (promtool); again, a second build in other surroundings,
# compared byte for byte; reprotest, two more; autopkgtest, the tests of debian/tests
# on a bare system; systemd, that of the daemon where systemd runs; piuparts;
# subproject, a program with this tree as meson's; tarball, what meson dist makes,
# built and tested; others, linters of other systems' packages; container.
# The packages are then in $RELEASE_BUILD/SUITE/root/built (default: build-release).
# A step that is named takes those that an earlier run has left there.
# Systems come from debootstrap (roots.sh), and only root can make them. The last line is "N passed, N failed[, N skipped]".
set -u
cd "$(dirname "$0")/.." || exit 1
builds=$(realpath -m "${RELEASE_BUILD:-build-release}")
tools=(build-essential fakeroot lintian piuparts autopkgtest systemd-container)
checks=(abigail-tools git prometheus reuse)
rebuild=(diffoscope-minimal faketime locales-all reprotest sudo)
others=(buildah makepkg netavark rpm rpmlint)
options=${DEB_BUILD_OPTIONS:-}
[ "${1:-}" != -n ] || { options+=' nocheck' && shift; }
steps_here=(script fuzzers)
steps=(packages lintian clean again reprotest autopkgtest systemd piuparts subproject
    tarball others container)
suites=() wanted=()
for word in "$@"; do
    case " ${steps_here[*]} ${steps[*]} " in
    *" $word "*) wanted+=("$word") ;;
    *) suites+=("$word") ;;
    esac
done
passed=0 failed=0 skipped=0

step() { # step NAME COMMAND...
    local name=$1 log=$builds/log.${1//[ \/]/_} begin=$SECONDS
    shift
    "$@" >"$log" 2>&1
    local status=$?
    case $status in
    0)
        passed=$((passed + 1))
        echo "ok: $name ($((SECONDS - begin)) s)"
        ;;
    77)
        skipped=$((skipped + 1))
        echo "skipped: $name: $(tail -n 1 "$log")"
        ;;
    *)
        failed=$((failed + 1))
        tail -n 40 "$log"
        echo "FAILED: $name ($status; $log)"
        ;;
    esac
    # What a test of a package could not do here.
    local n
    n=$(grep -c '^skipped: ' "$log")
    [ "$n" -eq 0 ] || grep '^skipped: ' "$log"
    skipped=$((skipped + n))
    return $status
}

make_roots() { # make_roots ROOT SUITE
    tests/roots.sh make "$1" "$2" "${tools[@]}" "${checks[@]}" "${rebuild[@]}" \
        "${others[@]}" || return
    tests/roots.sh make "$1/srv/bare" "$2" || return
    tests/roots.sh copy "$1" && inside "$1" needs
}

inside() { # inside ROOT WHAT
    tests/roots.sh in "$1" env DEB_BUILD_OPTIONS="$options" tests/packages.sh "$2"
}

is_wanted() { # is_wanted STEP
    [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $1 "* ]]
}

# On this system. What others run when they are asked to, each seed once.
script() {
    tests/release_script.sh
}

fuzzers() (
    command -v clang >/dev/null || { echo 'clang is not installed' && exit 77; }
    local out=$builds/fuzzers/out target
    CC=${CC:-clang} OUT=$out WORK=$builds/fuzzers tests/fuzz/oss-fuzz.sh || exit
    cd "$out" || exit
    for target in fuzz_*_seed_corpus.zip; do
        target=${target%_seed_corpus.zip}
        rm -rf seeds && mkdir seeds && python3 -m zipfile -e "${target}_seed_corpus.zip" seeds &&
            "./$target" -runs=0 -rss_limit_mb=4096 seeds || exit
    done
)

on_suite() { # on_suite SUITE
    local root=$builds/$1 what mine=()
    for what in "${steps[@]}"; do
        ! is_wanted "$what" || mine+=("$what")
    done
    [ ${#mine[@]} -gt 0 ] || return
    step "$1: roots" make_roots "$root" "$1" || return
    for what in "${mine[@]}"; do
        step "$1: $what" inside "$root" "$what" || [ "$what" != packages ] || return
    done
}

mkdir -p "$builds"
for what in "${steps_here[@]}"; do
    if [[ ${#suites[@]} -eq 0 || ${#wanted[@]} -gt 0 ]] && is_wanted "$what"; then
        step "$what" "$what"
    fi
done
[ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie)
for suite in "${suites[@]}"; do
    on_suite "$suite"
done
echo "$passed passed, $failed failed$([ $skipped -eq 0 ] || echo ", $skipped skipped")"
[ $failed -eq 0 ]
