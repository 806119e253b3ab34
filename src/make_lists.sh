#!/bin/sh
# SPDX-License-Identifier: MIT
# make_lists.sh OUT "FORMATS" "SINKS" "TABLE FORMS" "PLOT FORMS" "LIBRARIES"
# "REPORT FORMS": the tables of them as C.
set -eu
{
    echo '#include "core/base/dynamic_library.h"'
    echo '#include "core/decode/format.h"'
    echo '#include "core/output/sink.h"'
    echo '#include "analysis/plot/plot_form.h"'
    echo '#include "analysis/problems/problems_form.h"'
    echo '#include "analysis/table/table_form.h"'
    for name in $2; do
        echo "extern const struct pfd_format pfd_format_$name;"
    done
    for name in $3; do
        echo "extern const struct pfd_sink pfd_sink_$name;"
    done
    for name in $4; do
        echo "extern const struct pfd_table_form pfd_table_form_$name;"
    done
    for name in $5; do
        echo "extern const struct pfd_plot_form pfd_plot_form_$name;"
    done
    for name in $7; do
        echo "extern const struct pfd_problems_form pfd_problems_form_$name;"
    done
    for name in $6; do
        echo "extern struct pfd_dynamic_library pfd_library_$name;"
    done
    echo 'const struct pfd_format *const pfd_formats[] = {'
    for name in $2; do
        echo "    &pfd_format_$name,"
    done
    echo '    NULL };'
    echo 'const struct pfd_string_kind *const pfd_string_kinds[] = {'
    for name in $2; do
        echo "    &pfd_format_$name.strings,"
    done
    echo '    NULL };'
    echo '_Static_assert(sizeof pfd_string_kinds / sizeof *pfd_string_kinds'
    echo '               <= PFD_TABLES_MAX + 1, "PFD_TABLES_MAX");'
    echo 'const struct pfd_sink *const pfd_sinks[] = {'
    for name in $3; do
        echo "    &pfd_sink_$name,"
    done
    echo '    NULL };'
    echo 'const struct pfd_table_form *const pfd_table_forms[] = {'
    for name in $4; do
        echo "    &pfd_table_form_$name,"
    done
    echo '    NULL };'
    echo 'const struct pfd_problems_form *const pfd_problems_forms[] = {'
    for name in $7; do
        echo "    &pfd_problems_form_$name,"
    done
    echo '    NULL };'
    echo 'const struct pfd_plot_form *const pfd_plot_forms[] = {'
    for name in $5; do
        echo "    &pfd_plot_form_$name,"
    done
    echo '    NULL };'
    echo 'struct pfd_dynamic_library *const pfd_libraries[] = {'
    for name in $6; do
        echo "    &pfd_library_$name,"
    done
    echo '    NULL };'
} >"$1"
