#!/bin/sh
# SPDX-License-Identifier: MIT
# Nothing is to be said against a manual page, except of pages that it refers to
# and that are not installed here.
# usage: manual.sh MANDOC PAGE
said=$("$1" -Tlint -Wstyle "$2" 2>&1 |
    grep -v -e 'referenced manual not found' -e 'outdated mandoc.db')
[ -z "$said" ] || {
    echo "$said"
    exit 1
}
