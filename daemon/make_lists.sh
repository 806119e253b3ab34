#!/bin/sh
# SPDX-License-Identifier: MIT
# make_lists.sh OUT "INPUTS" "OUTPUTS" ["KIND NAME WORD FEATURE"]...: the lists
# of inputs and outputs as C, and the class of each that this build lacks.
set -eu
out=$1 inputs=$2 outputs=$3
shift 3
{
    echo '#include "config/input_options.h"'
    echo '#include "config/output_options.h"'
    for kind in input output; do
        eval "names=\$${kind}s"
        for name in $names; do
            echo "extern const struct pfdd_${kind}_class pfdd_${kind}_$name;"
        done
        echo "const struct pfdd_type_class *const pfdd_${kind}s[] = {"
        for name in $names; do
            echo "    &pfdd_${kind}_$name.base,"
        done
        echo '    NULL };'
    done
    for lacking in "$@"; do
        set -- $lacking
        echo "const struct pfdd_$1_class pfdd_$1_$2 = {"
        echo "    .base = { .name = \"$2\", .lacks = \"$3\","
        echo "              .feature = PFDD_FEATURE_$4 } };"
    done
} >"$out"
