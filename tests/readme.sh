#!/bin/sh
# readme.sh BUILD: runs each command of README.md's console blocks (lines that
# begin with "$ "), with BUILD/cli first in PATH, and compares what it prints,
# errors included, with the lines below it. `$?` is that of the command before
# it in its block. Lines of a C block must stand in examples/decode_file.c.
set -u
command -v jq >/dev/null || exit 77 # meson: skipped
build=$(cd "${1:-build}" && pwd) || exit 1
cd "$(dirname "$0")/.." || exit 1
PATH=$build/cli:$PATH
LC_ALL=C.UTF-8
export PATH LC_ALL
unset NO_COLOR
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT

command=''
status=0
n_run=0
n_bad=0

# Runs the command that has been read, now that its output has been, too.
check()
{
    [ -n "$command" ] || return
    (exit $status)
    eval "$command" >"$temp/printed" 2>&1
    status=$?
    n_run=$((n_run + 1))
    if ! diff -u "$temp/wanted" "$temp/printed" >"$temp/diff"; then
        n_bad=$((n_bad + 1))
        printf 'README.md, $ %s\n' "$command"
        sed 1,2d "$temp/diff"
    fi
    command=''
}

check_quote()
{
    quote=$(cat "$temp/wanted")
    case $(cat examples/decode_file.c) in
    *"$quote"*) ;;
    *)
        n_bad=$((n_bad + 1))
        echo 'README.md quotes what examples/decode_file.c does not have'
        ;;
    esac
}

block=''
while IFS= read -r line; do
    case $block,$line in
    ,'```'*)
        block=${line#'```'}
        [ -n "$block" ] || block=plain
        status=0
        : >"$temp/wanted"
        ;;
    ,*) ;;
    *,'```')
        [ "$block" = console ] && check
        [ "$block" = c ] && check_quote
        block=''
        ;;
    console,'$ '*)
        check
        command=${line#'$ '}
        : >"$temp/wanted"
        ;;
    *) printf '%s\n' "$line" >>"$temp/wanted" ;;
    esac
done <README.md
echo "$n_run commands, $n_bad wrong"
[ "$n_run" -gt 0 ] && [ "$n_bad" -eq 0 ]
