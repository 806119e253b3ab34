#!/bin/sh
# check.sh PROGRAM PRINTFDECODE BUFFER ELF: an example prints what the command
# prints.
set -u
printed=$("$1" "$3" "$4" 2>/dev/null; echo "exit $?")
wanted=$("$2" --output raw "$3" "$4" 2>/dev/null; echo "exit 0")
[ "$printed" = "$wanted" ] && exit 0
printf 'expected:\n%s\nprinted:\n%s\n' "$wanted" "$printed"
exit 1
