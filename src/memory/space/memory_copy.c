/* SPDX-License-Identifier: MIT */
/* Copies a range of memory as a buffer, and reports its doubtful parts. */
#include <stdlib.h>
#include <string.h>

#include "core/base/ranges.h"
#include "memory/space/address_space.h"

enum {
    PAGE = 4096,
    STEP = 1 << 20, /* bytes compared at once; whole pages */
    TOLD_MAX = 64,  /* ranges of one kind that are reported */
};

/* A larger copy is a mistake; at best it would run out of memory. */
#define COPY_MAX (UINT64_C(16) << 30)

struct copying {
    struct pfd_memory *memory;
    struct pfd_memory_copy *copy;
    uint64_t address;
    struct pfd_ranges missing; /* offsets in the copy */
    struct pfd_ranges torn;    /* likewise */
    const char *why;           /* of the first missing range */
    struct pfd_report report;
};

static void take_absent(void *user, const struct pfd_range *range,
                        const char *why)
{
    struct copying *c = user;
    pfd_ranges_add(&c->missing, range->from - c->address,
                   range->to - c->address);
    if (!c->why)
        c->why = why;
}

/* Finds the pages of [n] bytes at `at` that have changed; the later bytes are
 * kept. */
static void compare_step(struct copying *c, size_t at, const uint8_t *later,
                         size_t n)
{
    uint8_t *bytes = (uint8_t *)c->copy->bytes + at;
    size_t next = 0;
    for (size_t i = 0; i < n; i = next) {
        uint64_t in_page = (c->address + at + i) % PAGE;
        next = i + (size_t)(PAGE - in_page);
        next = next < n ? next : n;
        if (memcmp(bytes + i, later + i, next - i) != 0)
            pfd_ranges_add(&c->torn, at + i, at + next);
    }
    memcpy(bytes, later, n);
}

static enum pfd_status read_again(struct copying *c, struct pfd_error *err)
{
    uint8_t *later = malloc(STEP);
    enum pfd_status status = PFD_OK;
    if (!later)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    for (size_t at = 0; at < c->copy->n && status == PFD_OK; at += STEP) {
        size_t left = c->copy->n - at;
        size_t n = left < STEP ? left : STEP;
        status = pfd_memory_read(c->memory, c->address + at, later, n,
                                 take_absent, c, NULL, err);
        if (status == PFD_OK)
            compare_step(c, at, later, n);
    }
    free(later);
    return status;
}

static void report_ranges(struct copying *c, const struct pfd_ranges *ranges,
                          enum pfd_finding_kind kind, const char *what)
{
    for (size_t i = 0; i < ranges->n && i < TOLD_MAX; i++) {
        const struct pfd_range *r = &ranges->at[i];
        unsigned long long from = c->address + r->from;
        unsigned long long n = r->to - r->from;
        pfd_report_add(&c->report, kind, r->from,
                       "addresses 0x%llx to 0x%llx (%llu bytes) %s", from,
                       from + n - 1, n, what);
    }
    if (ranges->n > TOLD_MAX) {
        pfd_report_add(&c->report, kind, ranges->at[TOLD_MAX].from,
                       "%zu more stretches %s", ranges->n - TOLD_MAX, what);
    }
}

static void report_all(struct copying *c)
{
    char what[160] = "cannot be read: ";
    if (c->why)
        strncat(what, c->why, sizeof what - strlen(what) - 1);
    report_ranges(c, &c->missing, PFD_FINDING_unreadable, what);
    report_ranges(c, &c->torn, PFD_FINDING_torn,
                  "changed while they were read");
}

static enum pfd_status copy_bytes(struct copying *c, struct pfd_error *err)
{
    enum pfd_status status = pfd_memory_refresh(c->memory, err);
    if (status == PFD_OK) {
        status = pfd_memory_read(c->memory, c->address, c->copy->bytes,
                                 c->copy->n, take_absent, c, NULL, err);
    }
    if (status == PFD_OK && c->memory->hooks->check)
        status = read_again(c, err);
    pfd_ranges_settle(&c->missing);
    pfd_ranges_settle(&c->torn);
    /* Mapped or unmapped between the two reads: unknown as well. */
    for (size_t i = 0; status == PFD_OK && i < c->missing.n; i++) {
        const struct pfd_range *r = &c->missing.at[i];
        memset((uint8_t *)c->copy->bytes + r->from, 0, r->to - r->from);
    }
    if (status == PFD_OK && (c->missing.failed || c->torn.failed))
        status = pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    return status;
}

enum pfd_status pfd_memory_copy(struct pfd_memory *memory, uint64_t address,
                                size_t n, const char *source,
                                pfd_finding_fn finding, void *user,
                                struct pfd_memory_copy *ret,
                                struct pfd_error *err)
{
    struct pfd_memory_copy copy = { .n = n };
    struct copying c = {
        .memory = memory,
        .copy = &copy,
        .address = address,
        .report = { .fn = finding,
                    .user = user,
                    .source = source,
                    .in_buffer = true },
    };
    if (n > COPY_MAX) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "%zu bytes: at most 16 GiB are copied", n);
    }
    copy.bytes = calloc(1, n + 1);
    if (!copy.bytes)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    enum pfd_status status = copy_bytes(&c, err);
    if (status == PFD_OK) {
        report_all(&c);
        copy.missing = c.missing.at;
        copy.n_missing = c.missing.n;
        c.missing.at = NULL;
        *ret = copy;
    } else {
        free(copy.bytes);
    }
    pfd_ranges_free(&c.missing);
    pfd_ranges_free(&c.torn);
    return status;
}

void pfd_memory_copy_free(struct pfd_memory_copy *copy)
{
    free(copy->bytes);
    free(copy->missing);
    *copy = (struct pfd_memory_copy){ 0 };
}
