/* SPDX-License-Identifier: MIT */
/*
 * Shader source: the first byte chooses language and options, the rest is the
 * file. Whatever is rewritten has no calls left and can be read again; what
 * has none is untouched; and the file of format strings has all of them and
 * nothing that is odd.
 */
#include <string.h>

#include <printfdecode/strings.h>

#include "fuzz.h"
#include "writer/scan.h"

static void count(void *user, const struct pfd_finding *finding)
{
    size_t *n = user;
    *n += !pfd_finding_is_note(finding->kind);
}

static void check_strings(const struct pfd_scan *scan)
{
    void *elf;
    size_t n;
    size_t n_findings = 0;
    struct pfd_strings *strings = pfd_strings_new();
    FUZZ_CHECK(strings);
    FUZZ_CHECK(pfd_scan_strings(scan, &elf, &n, NULL) == PFD_OK);
    FUZZ_CHECK(pfd_strings_load(strings, elf, n, "elf", count, &n_findings,
                                NULL) == PFD_OK);
    FUZZ_CHECK(pfd_strings_count(strings) == pfd_scan_n_strings(scan));
    FUZZ_CHECK(n_findings == 0 || pfd_scan_n_strings(scan) == 0);
    pfd_strings_free(strings);
    free(elf);
}

static void check_output(const struct pfd_scan *scan,
                         const struct pfd_scan_options *options,
                         enum pfd_scan_language language, const uint8_t *source,
                         size_t n_source, const void *out, size_t n)
{
    struct pfd_error err;
    void *again;
    size_t n_again;
    struct pfd_scan *second = pfd_scan_new(options);
    FUZZ_CHECK(second);
    FUZZ_CHECK(pfd_scan_source(second, language, "x", out, n, &again, &n_again,
                               &err) == PFD_OK);
    FUZZ_CHECK(pfd_scan_n_calls(second) == 0);
    if (pfd_scan_n_calls(scan) == 0 && n == n_source)
        FUZZ_CHECK(n == 0 || !memcmp(out, source, n));
    free(again);
    pfd_scan_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const calls[] = { "printf" };
    struct pfd_error err = { 0 };
    void *out;
    size_t n_out;
    if (n == 0 || n > 65536)
        return 0;
    enum pfd_scan_language language =
        data[0] & 1 ? PFD_SCAN_OPENCL : PFD_SCAN_GLSL;
    const struct pfd_scan_options options = {
        .calls = calls,
        .n_calls = data[0] >> 1 & 1,
        .subgroups = data[0] & 4,
        .wide_atomics = data[0] & 8,
        .sites = data[0] & 16,
        .commit = data[0] & 32,
        .origin = data[0] & 64,
        .control = data[0] & 128,
    };
    struct pfd_scan *scan = pfd_scan_new(&options);
    FUZZ_CHECK(scan);
    enum pfd_status status = pfd_scan_source(scan, language, "x\"\\", data + 1,
                                             n - 1, &out, &n_out, &err);
    FUZZ_CHECK(status == PFD_OK ||
               (status == PFD_ERR_CORRUPT && *err.text && !out));
    if (status == PFD_OK) {
        check_output(scan, &options, language, data + 1, n - 1, out, n_out);
        check_strings(scan);
    }
    free(out);
    pfd_scan_free(scan);
    return 0;
}
