/* SPDX-License-Identifier: MIT */
#include "spool/resend_dedup.h"

#include <stdlib.h>
#include <string.h>

#include "spool/spool_frame.h"
#include "spool/spool_records.h"

void pfdd_resend_dedup_deinit(struct pfdd_resend_dedup *dedup)
{
    free(dedup->items);
    *dedup = (struct pfdd_resend_dedup){ 0 };
}

/* FNV-1a, eight bytes at a time. */
uint64_t pfdd_resend_dedup_mark_of(uint64_t time, const void *bytes, size_t n)
{
    static const uint64_t prime = UINT64_C(0x100000001b3);
    const char *at = bytes;
    uint64_t ret = (UINT64_C(0xcbf29ce484222325) ^ time) * prime;
    ret = (ret ^ n) * prime;
    while (n) {
        uint64_t word = 0;
        size_t some = n < sizeof word ? n : sizeof word;
        memcpy(&word, at, some);
        ret = (ret ^ word) * prime;
        ret ^= ret >> 29;
        at += some;
        n -= some;
    }
    return ret;
}

static int by_value(const void *a, const void *b)
{
    const struct pfdd_resend_dedup_mark *x = a;
    const struct pfdd_resend_dedup_mark *y = b;
    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->end > y->end) - (x->end < y->end);
}

static void add(struct pfdd_resend_dedup *m,
                const struct pfdd_segment_reader *r)
{
    struct pfdd_spool_record_head head;
    if (!r->number || !pfdd_spool_record_get(r->bytes, r->n, &head))
        return;
    if (m->n == m->size) {
        size_t size = m->size ? 2 * m->size : 256;
        void *items = realloc(m->items, size * sizeof *m->items);
        if (!items)
            return;
        m->items = items;
        m->size = size;
    }
    m->items[m->n++] = (struct pfdd_resend_dedup_mark){
        .value = pfdd_resend_dedup_mark_of(head.time,
                                           r->bytes + PFDD_SPOOL_RECORD_CHUNK,
                                           r->n - PFDD_SPOOL_RECORD_CHUNK),
        .end = r->number + pfdd_spool_record_items(&head),
    };
}

void pfdd_resend_dedup_read(const struct pfdd_consumer *consumer,
                            struct pfdd_resend_dedup *ret)
{
    const struct pfdd_consumers *of = consumer->of;
    struct pfdd_segment segment;
    struct pfdd_segment_reader r;
    *ret = (struct pfdd_resend_dedup){ 0 };
    pfdd_segment_reader_init(&r, consumer->acked);
    while (pfdd_segments_next(&of->segments, of->n_going, &r, &segment) &&
           pfdd_segment_enter(&r, of->spool_readers.dir, &segment)) {
        while (pfdd_segment_peek(&r, &segment)) {
            if (r.version == PFDD_SEGMENT_VERSION)
                add(ret, &r);
            pfdd_segment_step(&r);
        }
        if (r.error)
            break;
    }
    pfdd_segment_reader_deinit(&r);
    if (ret->n)
        qsort(ret->items, ret->n, sizeof *ret->items, by_value);
    ret->n_left = ret->n;
}

uint64_t pfdd_resend_dedup_find(struct pfdd_resend_dedup *dedup, uint64_t value)
{
    size_t low = 0;
    size_t high = dedup->n;
    if (dedup->n_left == 0)
        return 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (dedup->items[middle].value < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < dedup->n && dedup->items[low].value == value; low++) {
        uint64_t end = dedup->items[low].end;
        dedup->items[low].end = 0;
        dedup->n_left -= end > 0;
        if (end)
            return end;
    }
    return 0;
}
