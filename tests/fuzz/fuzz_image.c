/* SPDX-License-Identifier: MIT */
/*
 * Files of format strings: ELF, notes, archives and metadata. What is loaded
 * can be listed, and takes memory in proportion to the file.
 */
#include <string.h>

#include <printfdecode/strings.h>

#include "core/decode/string_loader.h"
#include "fuzz.h"

enum {
    MAX_INFLATED = 1 << 12
};

struct heard {
    unsigned n;
};

static void hear(void *user, const struct pfd_finding *finding)
{
    struct heard *h = user;
    h->n++;
    FUZZ_CHECK(finding->kind < PFD_N_FINDING_KINDS);
    FUZZ_CHECK(!strchr(finding->text, '\n') && finding->text[0]);
}

static void list(const struct pfd_strings *strings)
{
    struct pfd_string_info info;
    uint8_t widths[16];
    uint8_t sum = 0;
    size_t i = 0;
    for (; pfd_strings_get(strings, i, &info) == PFD_OK; i++) {
        FUZZ_CHECK(info.format && info.source);
        for (size_t k = 0; k < info.n_text; k++)
            sum = (uint8_t)(sum + (uint8_t)info.text[k]);
        if (i < 8)
            pfd_strings_widths(strings, i, widths, sizeof widths);
    }
    FUZZ_CHECK(i == pfd_strings_count(strings) && sum + i + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct heard heard = { 0 };
    struct pfd_error err;
    struct pfd_strings *strings = pfd_strings_new();
    FUZZ_CHECK(strings);
    pfd_strings_set_max_inflated(strings, MAX_INFLATED);
    enum pfd_status status =
        pfd_strings_load(strings, data, n, "input", hear, &heard, &err);
    FUZZ_CHECK(status == PFD_OK || err.code == status);
    FUZZ_CHECK(status == PFD_OK || err.text[0]);
    list(strings);
    /* The same once more adds nothing. */
    size_t before = pfd_strings_count(strings);
    if (status == PFD_OK)
        pfd_strings_load(strings, data, n, "again", NULL, NULL, NULL);
    FUZZ_CHECK(pfd_strings_count(strings) == before);
    /* The limit is for one bundle; all of a file's have a share more. */
    size_t n_most = n + 64 * n + MAX_INFLATED;
    FUZZ_CHECK(pfd_strings_memory(strings) < (1 << 20) + 512 * n_most);
    pfd_strings_free(strings);
    return 0;
}
