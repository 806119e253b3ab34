#!/bin/sh
# SPDX-License-Identifier: MIT
# make_site.sh OUT FILE...: files of the live page as C.
set -eu
out=$1
shift
type_of() {
    case $1 in
    *.html) echo 'text/html; charset=utf-8' ;;
    *.css) echo 'text/css; charset=utf-8' ;;
    *.js) echo 'text/javascript; charset=utf-8' ;;
    *.svg) echo 'image/svg+xml' ;;
    *) echo "make_site.sh: what is $1?" >&2 && exit 1 ;;
    esac
}
{
    echo '#include "web/site.h"'
    i=0
    for file; do
        echo "static const unsigned char file_${i}[] = {"
        od -An -v -tu1 "$file" | sed -E 's/([0-9]+)/\1,/g'
        echo '};'
        i=$((i + 1))
    done
    echo 'extern const struct pfdd_site_file pfdd_site_files[];'
    echo 'const struct pfdd_site_file pfdd_site_files[] = {'
    i=0
    for file; do
        type=$(type_of "$file")
        echo "    { \"/${file##*/}\", \"$type\", file_${i}, sizeof file_${i} },"
        i=$((i + 1))
    done
    echo '    { 0 } };'
} >"$out"
