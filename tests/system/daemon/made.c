/* SPDX-License-Identifier: MIT */
#include "made.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/capture/chunk.h"

static char *slurp(const char *path, size_t *n)
{
    enum {
        ROOM = 1 << 20
    };
    FILE *f = fopen(path, "rb");
    char *bytes = f ? malloc(ROOM) : NULL;
    *n = bytes ? fread(bytes, 1, ROOM, f) : 0;
    if (f)
        fclose(f);
    return bytes;
}

static bool begin_anew(struct made *m)
{
    struct pfd_error err;
    pfd_decoder_free(m->decoder);
    m->decoder = NULL;
    return pfd_decoder_new(m->binding->strings->set, "llpc", "made",
                           &m->decoder, &err) == PFD_OK &&
           pfd_decoder_view(m->decoder, m->bytes, m->n, 0, true, &err) ==
               PFD_OK;
}

bool made_of(struct made *m, struct pfd_strings *set, char *dump, size_t n,
             const char *source)
{
    *m = (struct made){ .bytes = dump, .n = n };
    struct pfdd_strings *strings = set ? pfdd_strings_new(set) : NULL;
    m->binding = strings ? pfdd_binding_new(strings) : NULL;
    pfdd_strings_unref(strings);
    struct pfdd_buffer_options options = { .name = source,
                                           .binding = m->binding };
    m->buffer = m->binding ? pfdd_buffer_new(&options) : NULL;
    return m->bytes && m->buffer &&
           pfd_chunk_writer_new(&m->writer, NULL) == PFD_OK && begin_anew(m);
}

bool made_init(struct made *m, const char *elf, const char *dump,
               const char *source)
{
    size_t n = 0;
    char *bytes = slurp(dump, &n);
    struct pfd_strings *set = pfd_strings_new();
    return set && pfd_strings_load_file(set, elf, NULL, NULL, NULL) == PFD_OK &&
           made_of(m, set, bytes, n, source);
}

void made_deinit(struct made *m)
{
    pfd_decoder_free(m->decoder);
    pfd_chunk_writer_free(m->writer);
    pfdd_buffer_unref(m->buffer);
    pfdd_binding_unref(m->binding);
    free(m->bytes);
}

void made_entries(struct made *m, unsigned n)
{
    struct pfd_error err;
    while (n > 0) {
        struct pfd_item *item;
        if (pfd_decoder_next(m->decoder, &item, &err) != PFD_OK) {
            bool ok = begin_anew(m);
            assert(ok);
        } else if (item->is_entry) {
            struct pfdd_source_offset *last = &m->contents.last;
            item->entry->index = m->index++;
            pfd_chunk_add_entry(m->writer, item->entry, NULL);
            *last =
                (struct pfdd_source_offset){ .index = item->entry->index,
                                             .offset = item->entry->offset };
            m->contents.n[PFDD_ENTRY]++;
            n--;
        }
    }
}

void made_finding(struct made *m, enum pfd_finding_kind kind, uint64_t index,
                  const char *text)
{
    struct pfd_finding finding = {
        .kind = kind,
        .offset = 32,
        .index = index,
        .in_buffer = true,
        .source = "made",
        .text = text,
    };
    pfd_chunk_add_finding(m->writer, &finding, NULL);
    m->contents.n[PFDD_FINDING]++;
}

void made_gap(struct made *m, uint64_t missed, const char *reason)
{
    struct pfd_gap gap = { missed, reason };
    pfd_chunk_add_gap(m->writer, &gap, NULL);
    m->contents.n[PFDD_GAP]++;
}

struct pfdd_chunk *made_chunk(struct made *m)
{
    size_t n = 0;
    const void *bytes = pfd_chunk_finish(m->writer, &n);
    struct pfdd_chunk *c =
        bytes ? pfdd_chunk_new(&m->contents, bytes, n) : NULL;
    m->contents = (struct pfdd_contents){ 0 };
    return c;
}
