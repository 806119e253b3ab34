/* SPDX-License-Identifier: MIT */
/* A field of a description: where its bits are. */
#include "description.h"

bool description_take_field(struct description *r, size_t number)
{
    uint64_t n = 0;
    uint64_t *v = r->numbers + number;
    v[FIELD_BITS] = 32;
    r->sources[number] = r->source;
    if (!description_enter(r, true, &n)) {
        return description_mistake(r, r->source, "a field has 'at' and 'bits'");
    }
    for (uint64_t i = 0; i < n; i++) {
        static const char *const names[] = { "at", "bits", "shift" };
        static const uint64_t most[] = { RING_HEADER_MAX, 64, 63 };
        size_t n_key;
        size_t k = 0;
        const char *key = description_read_text(r, &n_key);
        while (key && k < FIELD_NUMBERS &&
               !description_is_key(key, n_key, names[k]))
            k++;
        if (!key || k == FIELD_NUMBERS) {
            return description_mistake(r, r->source,
                                       "a field has 'at', 'bits' and 'shift'");
        }
        if (!description_read_number(r, &v[k]) || v[k] > most[k] ||
            (k == FIELD_BITS && !v[k])) {
            return description_mistake_at(r, "", key, n_key,
                                          " needs a number within a header");
        }
    }
    return true;
}
