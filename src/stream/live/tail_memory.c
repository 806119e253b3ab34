/* SPDX-License-Identifier: MIT */
#include "stream/live/tail_memory.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/large_pages.h"
#include "core/base/zero.h"

void pfd_tail_marks_add(struct pfd_tail_marks *marks, uint64_t used,
                        uint64_t now_ns, uint64_t settle_ns)
{
    struct pfd_tail_mark *last = marks->n ? &marks->mark[marks->n - 1] : NULL;
    if (last && used <= last->used)
        return;
    if (last && now_ns - last->time_ns < settle_ns / 32) {
        last->used = used;
        return;
    }
    if (marks->n == PFD_TAIL_MARKS) {
        marks->n--;
        memmove(marks->mark, marks->mark + 1, marks->n * sizeof *marks->mark);
    }
    marks->mark[marks->n++] = (struct pfd_tail_mark){ used, now_ns };
}

uint64_t pfd_tail_marks_older(const struct pfd_tail_marks *marks,
                              uint64_t now_ns, uint64_t age_ns)
{
    uint64_t used = 0;
    for (size_t i = 0; i < marks->n; i++) {
        if (now_ns - marks->mark[i].time_ns < age_ns)
            break;
        used = marks->mark[i].used;
    }
    return used;
}

/* The first hole that ends behind `at`. */
static size_t find(const struct pfd_tail_holes *holes, uint64_t at)
{
    size_t low = 0;
    size_t high = holes->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (holes->hole[middle].to > at) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

const struct pfd_tail_hole *pfd_tail_holes_find(
    const struct pfd_tail_holes *holes, uint64_t at)
{
    size_t i = find(holes, at);
    return i < holes->n ? &holes->hole[i] : NULL;
}

struct pfd_tail_hole *pfd_tail_holes_ending(struct pfd_tail_holes *holes,
                                            uint64_t at)
{
    size_t i = find(holes, at);
    return i && holes->hole[i - 1].to == at ? &holes->hole[i - 1] : NULL;
}

void pfd_tail_holes_remove(struct pfd_tail_holes *holes, size_t i)
{
    holes->n--;
    memmove(holes->hole + i, holes->hole + i + 1,
            (holes->n - i) * sizeof *holes->hole);
}

void pfd_tail_holes_join(struct pfd_tail_holes *holes, uint64_t at,
                         uint64_t max)
{
    struct pfd_tail_hole *a = pfd_tail_holes_ending(holes, at);
    struct pfd_tail_hole *b = a ? a + 1 : NULL;
    if (!a || b == holes->hole + holes->n || b->from != at)
        return;
    /* Their bytes have to be checked, whatever they are. */
    b->from = a->from;
    b->is_fresh = true;
    if (b->to - b->from <= max) {
        pfd_tail_holes_remove(holes, (size_t)(a - holes->hole));
        return;
    }
    a->to = a->from + max;
    b->from = a->to;
    a->is_fresh = true;
}

bool pfd_tail_holes_add(struct pfd_tail_holes *holes,
                        const struct pfd_tail_hole *hole)
{
    if (holes->n == PFD_TAIL_HOLES) {
        pfd_tail_holes_remove(holes, 0); /* given up first */
        holes->n_forgotten++;
    }
    if (holes->n == holes->room) {
        size_t room = holes->room ? 2 * holes->room : 16;
        struct pfd_tail_hole *next =
            realloc(holes->hole, room * sizeof *holes->hole);
        if (!next)
            return false;
        holes->hole = next;
        holes->room = room;
    }
    size_t i = find(holes, hole->from);
    memmove(holes->hole + i + 1, holes->hole + i,
            (holes->n - i) * sizeof *holes->hole);
    holes->hole[i] = *hole;
    holes->n++;
    return true;
}

/* Makes room for n bytes; with large pages, for the maximum: untouched pages
 * cost nothing. */
static bool make_room(struct pfd_tail_image *image, size_t n)
{
    size_t room = image->room ? image->room : 65536;
    while (room < n)
        room *= 2;
    if (room > PFD_LARGE_PAGE)
        room = (image->max + 31) / 32 * 32;
    uint8_t *bytes = pfd_large_pages_new(room);
    uint8_t *out = calloc(1, room / 32);
    if (!bytes || !out) {
        free(bytes);
        free(out);
        return false;
    }
    if (image->room) {
        memcpy(bytes, image->bytes, image->n);
        memcpy(out, image->out, image->room / 32);
    }
    pfd_tail_image_free(image);
    image->bytes = bytes;
    image->out = out;
    image->room = room;
    return true;
}

bool pfd_tail_image_put(struct pfd_tail_image *image, uint64_t at,
                        const void *bytes, size_t n)
{
    if (at >= image->max)
        return true;
    if (n > image->max - (size_t)at)
        n = image->max - (size_t)at;
    size_t end = (size_t)at + n;
    if (end > image->room && !make_room(image, end))
        return false;
    if (at > image->n)
        memset(image->bytes + image->n, 0, (size_t)at - image->n);
    if (n)
        memcpy(image->bytes + at, bytes, n);
    if (end > image->n)
        image->n = end;
    return true;
}

void pfd_tail_image_free(struct pfd_tail_image *image)
{
    free(image->bytes);
    free(image->out);
}

bool pfd_tail_image_put_entry(struct pfd_tail_image *image, uint64_t at,
                              const void *bytes, size_t n)
{
    if (!pfd_tail_image_put(image, at, bytes, n))
        return false;
    pfd_tail_image_mark(image, at);
    return true;
}

bool pfd_tail_image_has_entry(const struct pfd_tail_image *image, uint64_t at)
{
    return at < image->n && (image->out[at / 32] >> at / 4 % 8 & 1);
}

void pfd_tail_image_forget_entries(struct pfd_tail_image *image)
{
    if (image->out)
        memset(image->out, 0, image->room / 32);
}

bool pfd_tail_image_is(const struct pfd_tail_image *image, uint64_t at,
                       const void *bytes, size_t n)
{
    return at <= image->n && n <= image->n - (size_t)at &&
           !memcmp(image->bytes + at, bytes, n);
}

bool pfd_tail_image_is_replaced(const struct pfd_tail_image *image,
                                const struct pfd_tail_holes *holes, uint64_t at,
                                const uint8_t *bytes, size_t n)
{
    enum {
        BLOCK = 32 /* every entry has an argument in it */
    };
    size_t n_known = 0;
    size_t n_other = 0;
    if (at >= image->n)
        return false;
    if (n > image->n - (size_t)at)
        n = image->n - (size_t)at;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t n_block = n - i < BLOCK ? n - i : BLOCK;
        const uint8_t *known = image->bytes + at + i;
        size_t k = holes ? find(holes, at + i) : 0;
        if (pfd_is_zero(known, n_block) ||
            (holes && k < holes->n && holes->hole[k].from < at + i + n_block))
            continue;
        n_known++;
        n_other += memcmp(known, bytes + i, n_block) != 0;
    }
    return 2 * n_other > n_known;
}

void pfd_tail_image_renew(struct pfd_tail_image *image,
                          const struct pfd_tail_holes *holes, uint64_t at,
                          const uint8_t *bytes, size_t n)
{
    uint64_t end = at + n < image->n ? at + n : image->n;
    uint64_t first = at;
    for (size_t i = find(holes, at); at < end; i++) {
        uint64_t to = i < holes->n ? holes->hole[i].from : end;
        to = to < end ? to : end;
        if (to > at)
            memcpy(image->bytes + at, bytes + (at - first), to - at);
        at = i < holes->n ? holes->hole[i].to : end;
    }
}

/* Checks a range without holes. */
static enum pfd_tail_change check(struct pfd_tail_image *image, uint64_t at,
                                  const uint8_t *bytes, size_t n,
                                  uint64_t *where)
{
    uint8_t *known = image->bytes + at;
    enum pfd_tail_change ret = PFD_TAIL_SAME;
    if (!memcmp(known, bytes, n))
        return ret;
    for (size_t i = 0; i + 4 <= n; i += 4) {
        static const uint8_t zero[4];
        if (!memcmp(known + i, bytes + i, 4))
            continue;
        if (ret == PFD_TAIL_SAME)
            *where = at + i;
        if (memcmp(known + i, zero, 4) != 0) {
            *where = at + i;
            return PFD_TAIL_OTHER;
        }
        memcpy(known + i, bytes + i, 4);
        ret = PFD_TAIL_FILLED;
    }
    return ret;
}

enum pfd_tail_change pfd_tail_image_check(struct pfd_tail_image *image,
                                          const struct pfd_tail_holes *holes,
                                          uint64_t at, const uint8_t *bytes,
                                          size_t n, uint64_t *where)
{
    enum pfd_tail_change ret = PFD_TAIL_SAME;
    if (at >= image->n)
        return ret;
    if (n > image->n - (size_t)at)
        n = image->n - (size_t)at;
    uint64_t end = at + n;
    uint64_t first = at;
    size_t i = find(holes, at);
    while (at < end && ret != PFD_TAIL_OTHER) {
        uint64_t to = end;
        uint64_t next = end;
        uint64_t found = 0;
        if (i < holes->n && holes->hole[i].from < end) {
            to = holes->hole[i].from > at ? holes->hole[i].from : at;
            next = holes->hole[i++].to;
        }
        enum pfd_tail_change change =
            to > at ? check(image, at, bytes + (at - first), (size_t)(to - at),
                            &found)
                    : PFD_TAIL_SAME;
        if (change != PFD_TAIL_SAME) {
            *where = found;
            ret = change;
        }
        at = next;
    }
    return ret;
}
