#!/bin/bash
# SPDX-License-Identifier: MIT
# What is released, as people get it: Debian's packages built, looked at, installed
# on a bare system, used, and removed without a trace.
# usage: release.sh [-n] [bookworm | trixie] ...     (default: both)
# -n: without the tests that packages run when they are built; DEB_BUILD_OPTIONS of
# the caller are kept (parallel=1, for a machine that others use).
# For each: two builds in different surroundings, compared byte for byte; lintian;
# the tests of debian/tests on a bare system (autopkgtest), and that of the daemon
# where systemd runs; piuparts; a program with
# this tree as meson's subproject; linters of other systems' packages; a container.
# The packages are then in $RELEASE_BUILD/SUITE/root/built (default: build-release).
# Systems come from debootstrap (roots.sh), and only root can make them. The last line is "N passed, N failed[, N skipped]".
set -u
cd "$(dirname "$0")/.." || exit 1
builds=$(realpath -m "${RELEASE_BUILD:-build-release}")
tools=(build-essential fakeroot lintian piuparts autopkgtest systemd-container)
others=(buildah makepkg netavark rpm rpmlint)
options=${DEB_BUILD_OPTIONS:-}
[ "${1:-}" != -n ] || { options+=' nocheck' && shift; }
[ $# -gt 0 ] || set -- bookworm trixie
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
    tests/roots.sh make "$1" "$2" "${tools[@]}" "${others[@]}" || return
    tests/roots.sh make "$1/srv/bare" "$2" || return
    tests/roots.sh copy "$1" && inside "$1" needs
}

inside() { # inside ROOT WHAT
    tests/roots.sh in "$1" env DEB_BUILD_OPTIONS="$options" tests/packages.sh "$2"
}

mkdir -p "$builds"
for suite in "$@"; do
    root=$builds/$suite
    step "$suite: roots" make_roots "$root" "$suite" || continue
    step "$suite: packages" inside "$root" build || continue
    for what in lintian again autopkgtest systemd piuparts subproject others container; do
        step "$suite: $what" inside "$root" $what
    done
done
echo "$passed passed, $failed failed$([ $skipped -eq 0 ] || echo ", $skipped skipped")"
[ $failed -eq 0 ]
