/* SPDX-License-Identifier: MIT */
/*
 * Containers of code objects, and what the objects say about themselves. Each
 * is given with a way in; the work and the inflated bytes are bounded, which a
 * run without a time-out shows.
 */
#include <string.h>

#include <printfdecode/strings.h>

#include "fuzz.h"

enum {
    MAX_INFLATED = 1 << 24
};

static void hear(void *user, const struct pfd_finding *finding)
{
    unsigned *n = user;
    ++*n;
    FUZZ_CHECK(finding->kind < PFD_N_FINDING_KINDS);
    FUZZ_CHECK(!strchr(finding->text, '\n') && finding->text[0]);
    FUZZ_CHECK(!strncmp(finding->source, "input", 5));
}

static enum pfd_status take(void *user, const struct pfd_object_info *object)
{
    uint8_t *sum = user;
    const uint8_t *bytes = object->bytes;
    FUZZ_CHECK(!strncmp(object->source, "input", 5));
    FUZZ_CHECK(object->kind && object->n > 0);
    *sum = (uint8_t)(*sum + bytes[0] + bytes[object->n - 1]);
    for (size_t i = 0; i < object->n_kernels; i++) {
        const struct pfd_kernel_info *k = &object->kernels[i];
        FUZZ_CHECK(k->name && k->name[k->n_name] == '\0');
    }
    return PFD_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct pfd_error err;
    unsigned n_findings = 0;
    uint8_t sum = 0;
    enum pfd_status status = pfd_objects_read(
        data, n, "input", MAX_INFLATED, take, &sum, hear, &n_findings, &err);
    FUZZ_CHECK(status == PFD_OK || err.code == status);
    FUZZ_CHECK(status == PFD_OK || status == PFD_ERR_UNSUPPORTED);
    return 0;
}
