/* SPDX-License-Identifier: MIT */
#include "origins.h"

const char *const described_origin_names[] = {
    "wave", "lane", "core", "x", "y", "z", "time", "level", "line", NULL,
};

size_t described_origins(const struct pfd_record_view *record_view,
                         struct pfd_origin *ret)
{
    const struct pfd_string *ring =
        pfd_table_find(record_view->table, RING_KEY);
    struct pfd_byte_reader c = record_view->bytes;
    size_t n = 0;
    if (!ring || ring->n_layout < RING_NUMBERS)
        return 0;
    const uint64_t *v = pfd_string_layout(ring);
    if (record_view->record->n_header < v[RING_HEADER] || c.at < v[RING_HEADER])
        return 0;
    const uint8_t *header =
        pfd_byte_reader_peek(&c, c.at - record_view->record->n_header);
    for (size_t i = RING_ORIGINS; i < RING_TAGS; i += 1 + FIELD_NUMBERS) {
        if (!v[i + 1 + FIELD_BITS])
            continue;
        ret[n++] = (struct pfd_origin){
            .name = described_origin_names[v[i]],
            .type = PFD_ORIGIN_NUMBER,
            .value = { described_field(header, v + i + 1) },
        };
    }
    return n;
}
