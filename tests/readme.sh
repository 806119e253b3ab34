#!/bin/sh
# readme.sh BUILD [PAGE...]: runs each command of the console blocks (lines that
# begin with "$ ") of README.md and of the pages in docs/, with BUILD/cli first
# in PATH, and compares what it prints, errors included, with the lines below it.
# Each page has an empty folder of its own, with links to examples/ and tests/.
# `$?` is that of the command before it in its block. Lines of a C block must
# stand together in a file of examples/. The commands of a "console live" block
# run in a fresh shell, the first ones in its background; what all of them print
# together is compared. YAML with inputs must be a configuration that
# `printfdecoded check-config` finds usable.
set -u
command -v jq >/dev/null || exit 77 # meson: skipped
build=$(cd "${1:-build}" && pwd) || exit 1
[ $# -eq 0 ] || shift
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
cd "$root" || exit 1
[ $# -gt 0 ] || set -- README.md docs/*.md
PATH=$build/cli:$build/daemon:$build/examples:$PATH
LC_ALL=C.UTF-8
export PATH LC_ALL
unset NO_COLOR
temp=$(mktemp -d) || exit 1
live=''
trap '[ -z "$live" ] || kill $live; rm -rf "$temp"' EXIT
cat examples/*.c examples/*/*.c examples/device/*/*.cu examples/device/*/*.cl \
    >"$temp/sources"

page=''
command=''
status=0
n_run=0
n_bad=0

bad()
{
    n_bad=$((n_bad + 1))
    printf '%s, %s\n' "$page" "$1"
}

# Runs the command that has been read, now that its output has been, too.
check()
{
    [ -n "$command" ] || return
    (exit $status)
    eval "$command" >"$temp/printed" 2>&1
    status=$?
    n_run=$((n_run + 1))
    if ! diff -u "$temp/wanted" "$temp/printed" >"$temp/diff"; then
        bad "$ $command"
        sed 1,2d "$temp/diff"
    fi
    command=''
}

# Until the command succeeds, or too long.
await()
{
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$@" && return
        sleep 0.25
    done
}

# The daemon's sockets are this test's own. A reader types the second line when
# the first has had its effect: so does this.
run_live()
{
    [ -x "$build/daemon/printfdecoded" ] || return
    rm -rf "$temp/printfdecode"
    first=$(sed -n 's/ &$//;1p' "$temp/live")
    XDG_RUNTIME_DIR=$temp sh -c "exec $first" >"$temp/printed" 2>/dev/null &
    live=$!
    await test -S "$temp/printfdecode/input.sock"
    sed 1d "$temp/live" >"$temp/rest"
    XDG_RUNTIME_DIR=$temp sh "$temp/rest" >>"$temp/printed" 2>&1
    await cmp -s "$temp/wanted" "$temp/printed"
    kill $live
    wait $live
    live=''
    n_run=$((n_run + $(wc -l <"$temp/live")))
    diff -u "$temp/wanted" "$temp/printed" || bad 'console live'
}

check_quote()
{
    quote=$(cat "$temp/wanted")
    case $(cat "$temp/sources") in
    *"$quote"*) ;;
    *) bad "no example has: $(head -n 1 "$temp/wanted")" ;;
    esac
}

# Pieces of a configuration, without inputs, are not checked.
check_yaml()
{
    grep -q '^inputs:' "$temp/wanted" || return
    [ -x "$build/daemon/printfdecoded" ] || return
    n_run=$((n_run + 1))
    printfdecoded check-config "$temp/wanted" >"$temp/printed" 2>&1 && return
    # A build without TLS, NATS or others names the package.
    grep -q 'built' "$temp/printed" && return
    bad 'this configuration is refused:'
    cat "$temp/printed"
}

check_page()
{
    block=''
    command=''
    while IFS= read -r line; do
        case $block,$line in
        ,'```'*)
            block=${line#'```'}
            [ -n "$block" ] || block=plain
            status=0
            : >"$temp/wanted"
            : >"$temp/live"
            ;;
        ,*) ;;
        *,'```')
            [ "$block" = console ] && check
            [ "$block" = 'console live' ] && run_live
            [ "$block" = c ] && check_quote
            [ "$block" = yaml ] && check_yaml
            block=''
            ;;
        console,'$ '*)
            check
            command=${line#'$ '}
            : >"$temp/wanted"
            ;;
        'console live,$ '*) printf '%s\n' "${line#'$ '}" >>"$temp/live" ;;
        *) printf '%s\n' "$line" >>"$temp/wanted" ;;
        esac
    done <"$root/$page"
    [ -z "$block" ] || bad 'a block does not end'
}

for page; do
    rm -rf "$temp/work"
    mkdir "$temp/work"
    ln -s "$root/examples" "$root/tests" "$temp/work"
    cd "$temp/work" || exit 1
    check_page
done
echo "$n_run commands, $n_bad wrong"
[ "$n_run" -gt 0 ] && [ "$n_bad" -eq 0 ]
