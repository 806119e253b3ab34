/* SPDX-License-Identifier: MIT */
/* SPIR-V modules: everything that is known of one can be asked, and takes
 * memory in proportion to it. */
#include <string.h>

#include "core/spirv/spirv.h"
#include "fuzz.h"

static size_t n_remarks;

static void remark(void *user, enum pfd_verdict verdict, const char *text)
{
    (void)user;
    n_remarks++;
    FUZZ_CHECK(verdict <= PFD_VERDICT_PRINTS && text[0]);
}

static void hear(void *user, const struct pfd_finding *finding)
{
    (void)user;
    FUZZ_CHECK(finding->text[0] && !strchr(finding->text, '\n'));
}

static unsigned read_all(const char *text, size_t n)
{
    unsigned sum = 0;
    for (size_t i = 0; text && i < n; i++)
        sum += (unsigned char)text[i];
    return sum;
}

static unsigned ask_calls(const struct pfd_spirv *m)
{
    struct pfd_spirv_call call;
    unsigned sum = 0;
    for (size_t i = 0; pfd_spirv_call_get(m, i, &call) == PFD_OK; i++) {
        char name[16];
        sum += read_all(call.text, call.n_text);
        sum += read_all(call.place.file, call.place.n_file);
        sum += read_all(call.place.text, call.place.n_text);
        for (uint32_t k = 0; k < call.n_operands && k < 64; k++)
            pfd_spirv_operand_name(m, i, k, name);
        size_t before = n_remarks;
        FUZZ_CHECK(pfd_spirv_check(m, i, remark, NULL) == n_remarks - before);
        FUZZ_CHECK(pfd_spirv_by_offset(m, call.offset) == call.ordinal);
        FUZZ_CHECK(pfd_spirv_by_counted(
                       m, pfd_spirv_counted(m, call.ordinal)) >= call.ordinal);
    }
    return sum;
}

static unsigned ask_lines(const struct pfd_spirv *m)
{
    uint32_t n = pfd_spirv_n_instructions(m);
    uint32_t step = n / 64 + 1;
    unsigned sum = 0;
    for (uint32_t k = 0; k < n; k += step) {
        for (int rule = 0; rule < 3; rule++) {
            struct pfd_spirv_line line;
            struct pfd_spirv_text text;
            pfd_spirv_line(m, k, (enum pfd_spirv_rule)rule, &line);
            pfd_spirv_source(m, &line, line.line, &text);
            sum += read_all(text.text, text.n);
            pfd_spirv_source_2019(m, &line, &text);
            sum += read_all(text.text, text.n);
        }
    }
    return sum;
}

static unsigned ask_aborts(const struct pfd_spirv *m)
{
    unsigned sum = 0;
    for (size_t i = 0; i < pfd_spirv_n_aborts(m); i++) {
        const struct pfd_spirv_abort *a = pfd_spirv_abort(m, i);
        for (uint32_t k = 0; k < a->n; k++) {
            const struct pfd_spirv_member *member =
                pfd_spirv_member(m, a->first + k);
            sum += read_all((const char *)member->known, member->n_known);
        }
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct pfd_spirv *m = NULL;
    struct pfd_error err;
    enum pfd_status status =
        pfd_spirv_open(data, n, "input", hear, NULL, &m, &err);
    FUZZ_CHECK(status == PFD_OK || err.text[0]);
    if (status != PFD_OK)
        return 0;
    uint32_t stage = 0;
    unsigned sum = ask_calls(m) + ask_lines(m) + ask_aborts(m);
    sum += pfd_spirv_stage(m, &stage);
    FUZZ_CHECK(pfd_spirv_memory(m) < (1 << 20) + 512 * n && sum + 1);
    pfd_spirv_free(m);
    return 0;
}
