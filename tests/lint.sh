#!/bin/bash
# SPDX-License-Identifier: MIT
# clang-format, clang-tidy, cppcheck and shellcheck over what git tracks.
# usage: lint.sh BUILD_FOLDER [--lately | --all | FILE.c ...]
#        lint.sh --changed
# The build is for its compile_commands.json. clang-tidy looks at what the last 40
# commits changed (--lately, the default), at all, or at the FILEs. --changed: all
# but clang-tidy, over what differs from origin/main, or from the last commit
# where that is no other; tools that are not here are named, and left out.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
shift
failed=0

step() {
    local name=$1
    shift
    if ! "$@"; then
        echo "lint: $name is not clean"
        failed=1
    fi
}

# A file that is not there (yet) is nobody's fault.
those_there() {
    while read -r file; do
        [ -f "$file" ] && echo "$file"
    done
}

tracked() {
    git ls-files "$@" | those_there
}

# What this tree changes: commits that the main branch has not, or the last one,
# and what is not committed yet.
changed() {
    local main
    main=$(git merge-base HEAD origin/main 2>/dev/null)
    [ -n "$main" ] && [ "$main" != "$(git rev-parse HEAD)" ] ||
        main=$(git rev-parse -q --verify HEAD~1 ||
            git hash-object -t tree /dev/null)
    {
        git diff --name-only "$main"
        git ls-files --others --exclude-standard
    } | those_there | sort -u
}

# Commits that only rename, or that only change comments, change nothing for
# clang-tidy.
lately() {
    git log -40 --name-only --format= --invert-grep \
        --grep='^names: ' --grep='say it in plain words$' | sort -u
}

only() { # only PATTERN FILE...
    local pattern=$1
    shift
    printf '%s\n' "$@" | grep -E "$pattern"
}

is_here() { # is_here TOOL
    command -v "$1" >/dev/null && return
    echo "left out: $1 is not installed"
    return 1
}

# Each version has other wishes; the files meet those of Debian 12's.
has_clang_format() {
    is_here clang-format || return
    clang-format --version | grep -q 'version 14\.' && return
    echo "left out: clang-format is not that of version 14"
    return 1
}

cpp_check() { # cpp_check FILE_OR_FOLDER...
    cppcheck --quiet --enable=warning,portability,performance \
        --error-exitcode=2 --inline-suppr --std=c11 --language=c -D__linux__ \
        --suppressions-list=tests/cppcheck.supp -Iinclude -j 2 "$@"
}

# One file a process: with several it finds va_list faults that are none.
tidy() { # tidy FILE...
    [ $# -eq 0 ] || printf '%s\0' "$@" | xargs -0 -r -P "$(nproc)" -n 1 \
        clang-tidy --quiet -p "$build" 2>/dev/null
}

# Files that the build compiles: Python's module is left out without its headers.
compiled() {
    grep -xF -f <(sed -nE 's|.*"file": "(\.\./)*(.*)",?|\2|p' \
        "$build/compile_commands.json")
}

check_changed() {
    local files c_files checked scripts
    mapfile -t files < <(changed)
    mapfile -t c_files < <(only '\.[ch]$' "${files[@]}")
    mapfile -t checked < <(only '^(src|formats|cli|python)/.*\.c$' "${files[@]}")
    mapfile -t scripts < <([ ${#files[@]} -eq 0 ] ||
        grep -lE '^#!/bin/(ba)?sh' "${files[@]}" | grep -v '\.md$')
    if [ ${#c_files[@]} -gt 0 ] && has_clang_format; then
        step clang-format clang-format --dry-run -Werror "${c_files[@]}"
    fi
    if [ ${#checked[@]} -gt 0 ] && is_here cppcheck; then
        cpp_check "${checked[@]}"
        step cppcheck [ $? -eq 0 ]
    fi
    if [ ${#scripts[@]} -gt 0 ] && is_here shellcheck; then
        step shellcheck shellcheck "${scripts[@]}"
    fi
    echo "${#files[@]} changed files"
}

check_all() { # check_all --lately | --all | FILE.c ...
    local c_files sources scripts
    mapfile -t c_files < <(tracked '*.c' '*.h')
    mapfile -t sources < <(
        tracked 'src/*.c' 'formats/*.c' 'cli/*.c' 'runners/*.c' \
            'examples/*.c' 'daemon/*.c'
        tracked 'python/*.c' | compiled
    )
    mapfile -t scripts < <(git grep -lE '^#!/bin/(ba)?sh' -- ':!*.md' | sort -u)
    step clang-format clang-format --dry-run -Werror "${c_files[@]}"
    cpp_check src formats cli python
    step cppcheck [ $? -eq 0 ]
    step shellcheck shellcheck "${scripts[@]}"
    case $1 in
    --all) ;;
    --lately)
        mapfile -t sources < <(printf '%s\n' "${sources[@]}" |
            grep -xF -f <(lately))
        ;;
    *) sources=("$@") ;;
    esac
    tidy "${sources[@]}"
    step clang-tidy [ $? -eq 0 ]
    echo "${#sources[@]} files by clang-tidy"
}

case $build in
--changed) check_changed ;;
*) check_all "${@:---lately}" ;;
esac
exit $failed
