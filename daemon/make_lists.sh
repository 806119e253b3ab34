#!/bin/sh
# SPDX-License-Identifier: MIT
# make_lists.sh OUT "INPUTS" "OUTPUTS": the lists of inputs and outputs as C.
set -eu
{
    echo '#include "config/input_options.h"'
    echo '#include "config/output_options.h"'
    for name in $2; do
        echo "extern const struct pfdd_input_class pfdd_input_$name;"
    done
    for name in $3; do
        echo "extern const struct pfdd_output_class pfdd_output_$name;"
    done
    echo 'const struct pfdd_type_class *const pfdd_inputs[] = {'
    for name in $2; do
        echo "    &pfdd_input_$name.base,"
    done
    echo '    NULL };'
    echo 'const struct pfdd_type_class *const pfdd_outputs[] = {'
    for name in $3; do
        echo "    &pfdd_output_$name.base,"
    done
    echo '    NULL };'
} >"$1"
