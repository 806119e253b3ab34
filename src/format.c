/* SPDX-License-Identifier: MIT */
#include "format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct pfd_format *pfd_format_find(const char *name)
{
    for (const struct pfd_format *const *f = pfd_formats; *f; f++) {
        if (!strcmp((*f)->info.name, name))
            return *f;
    }
    return NULL;
}

void pfd_walk_finding(struct pfd_walk *walk, enum pfd_finding_kind kind,
                      uint64_t offset, const char *text, ...)
{
    char sentence[768];
    va_list ap;

    va_start(ap, text);
    vsnprintf(sentence, sizeof sentence, text, ap);
    va_end(ap);
    size_t n = strlen(sentence);
    struct pfd_record *r = pfd_walk_record(walk);
    *r = (struct pfd_record){
        .offset = offset,
        .key = walk->batch->text.n,
        .n_bytes = (uint32_t)n,
        .kind = PFD_RECORD_FINDING,
        .layout = (uint8_t)kind,
    };
    pfd_text_add(&walk->batch->text, sentence, n);
}

void pfd_walk_describe_gap(struct pfd_walk_gap *ret, uint64_t from, uint64_t to,
                           uint64_t end)
{
    unsigned long long n = (to - from) / 4;
    if (to == end)
        snprintf(ret->text, sizeof ret->text,
                 "%llu dwords skipped, up to the end of the used part", n);
    else
        snprintf(ret->text, sizeof ret->text,
                 "%llu dwords skipped, decoding goes on at dword %llu", n,
                 (unsigned long long)to / 4);
}
