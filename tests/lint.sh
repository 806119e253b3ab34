#!/bin/bash
# SPDX-License-Identifier: MIT
# clang-format, clang-tidy, cppcheck and shellcheck over what git tracks.
# usage: lint.sh BUILD_FOLDER [FILE.c ...]   (the build is for its
# compile_commands.json; FILEs instead of all that clang-tidy looks at)
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
tracked() {
    git ls-files "$@" | while read -r file; do
        [ -f "$file" ] && echo "$file"
    done
}

mapfile -t c_files < <(tracked '*.c' '*.h')
mapfile -t sources < <(tracked 'src/*.c' 'formats/*.c' 'cli/*.c' 'examples/*.c' 'daemon/*.c')
mapfile -t scripts < <(git grep -lE '^#!/bin/(ba)?sh' -- ':!*.md' | sort -u)
[ $# -gt 0 ] && sources=("$@")

step clang-format clang-format --dry-run -Werror "${c_files[@]}"
step cppcheck cppcheck --quiet --enable=warning,portability,performance \
    --error-exitcode=2 --inline-suppr --std=c11 --language=c -D__linux__ \
    --suppressions-list=tests/cppcheck.supp -Iinclude -j 2 src formats cli
step shellcheck shellcheck "${scripts[@]}"
# One file a process: with several it finds va_list faults that are none.
tidy() { # tidy OPTION...   files on standard input
    xargs -r -P "$(nproc)" -n 1 clang-tidy --quiet -p "$build" "$@" 2>/dev/null
}
# Clang's analyzer takes ten times as long as all other checks: only what was
# changed lately, or is named, is looked at with it. Commits that only rename,
# or that only change comments, change nothing for it.
mapfile -t lately < <(git log -40 --name-only --format= --invert-grep \
    --grep='^names: ' --grep='say it in plain words$' | sort -u)
[ $# -gt 0 ] && lately=("$@")
is_lately() {
    grep -xF -f <(printf '%s\n' "${lately[@]}") "$@"
}
printf '%s\n' "${sources[@]}" | is_lately | tidy
step clang-tidy [ $? -eq 0 ]
printf '%s\n' "${sources[@]}" | is_lately -v | tidy '-checks=-clang-analyzer-*'
step clang-tidy [ $? -eq 0 ]
exit $failed
