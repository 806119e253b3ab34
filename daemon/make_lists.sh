#!/bin/sh
# SPDX-License-Identifier: MIT
# make_lists.sh OUT "INPUTS" "OUTPUTS" ["KIND NAME WORD FEATURE"]...: the lists
# of inputs and outputs as C, and the class of each that this build lacks.
set -eu
out=$1
inputs=$2
outputs=$3
shift 3

write_list() { # write_list KIND NAMES
    for name in $2; do
        echo "extern const struct pfdd_$1_class pfdd_$1_$name;"
    done
    echo "const struct pfdd_type_class *const pfdd_$1s[] = {"
    for name in $2; do
        echo "    &pfdd_$1_$name.base,"
    done
    echo '    NULL };'
}

write_lacking() { # write_lacking "KIND NAME WORD FEATURE"
    echo "$1" | while read -r kind name word feature; do
        echo "const struct pfdd_${kind}_class pfdd_${kind}_$name = {"
        echo "    .base = { .name = \"$name\", .lacks = \"$word\","
        echo "              .feature = PFDD_FEATURE_$feature } };"
    done
}

{
    echo '#include "config/input_options.h"'
    echo '#include "config/output_options.h"'
    write_list input "$inputs"
    write_list output "$outputs"
    for lacking in "$@"; do
        write_lacking "$lacking"
    done
} >"$out"
