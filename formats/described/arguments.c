/* SPDX-License-Identifier: MIT */
/* Places of a described ring's arguments. */
#include "arguments.h"

#include <string.h>

enum {
    TEXT_LENGTH = 4, /* bytes before a text that a record carries */
};

uint32_t arguments_size(const struct described_type *t)
{
    struct pfd_slot slot = { .store = (uint32_t)t->store & 15u };
    return pfd_slot_bytes(&slot);
}

static void align(struct arguments *a, uint32_t size)
{
    uint32_t to = a->align ? a->align : size;
    a->at = to ? (a->at + to - 1) / to * to : a->at;
}

static bool has_room(const struct arguments *a, uint64_t at, uint64_t n)
{
    return n <= a->n_payload && at <= a->n_payload - n;
}

/* ---- texts ---- */

/* The bytes up to a zero byte; UINT32_MAX: there is none. Bytes that were looked
 * at for the last text are not looked at again: an entry may have many texts at
 * one offset, and a search tries an entry at every byte. */
static uint32_t ended(struct arguments *a, uint64_t at)
{
    if (at >= a->n_payload)
        return UINT32_MAX;
    uint32_t from = (uint32_t)at;
    if (from < a->solid_from || from >= a->solid_to) {
        bool is_before = from < a->solid_from;
        uint32_t to = is_before ? a->solid_from : a->n_payload;
        const uint8_t *zero = memchr(a->payload + from, 0, to - from);
        a->solid_from = from;
        if (zero) {
            a->solid_to = (uint32_t)(zero - a->payload);
        } else if (!is_before) {
            a->solid_to = to;
        }
    }
    return a->solid_to < a->n_payload ? a->solid_to - from : UINT32_MAX;
}

static uint64_t read_value(const struct arguments *a, uint32_t at, uint32_t n)
{
    uint64_t ret = 0;
    memcpy(&ret, a->payload + at, n);
    return ret;
}

/* The next text that the record carries behind the entry. */
static struct pfd_slot carried(struct arguments *a)
{
    struct pfd_slot ret = { .store = PFD_STORE_STRING,
                            .n_bytes = PFD_STRING_NULL };
    uint32_t n = UINT32_MAX;
    if (a->n_carried - a->carried < TEXT_LENGTH)
        return ret;
    memcpy(&n, a->payload + a->carried, sizeof n);
    a->carried += TEXT_LENGTH;
    if (n > a->n_carried - a->carried)
        return ret;
    ret.at = a->carried;
    ret.n_bytes = n & PFD_STRING_NULL;
    a->carried += n;
    return ret;
}

/* A text that stands in the entry; false: it does not end there. */
static bool add_inline(struct arguments *a, const struct described_type *t,
                       struct pfd_slot *ret)
{
    uint32_t size = t->text == TEXT_ENDED ? 0 : arguments_size(t);
    uint64_t at = (uint64_t)a->at + size;
    if (!a->payload)
        return true;
    if (!has_room(a, a->at, size))
        return false;
    uint64_t n =
        t->text == TEXT_ENDED ? ended(a, at) : read_value(a, a->at, size);
    bool is_ended = t->text == TEXT_ENDED;
    if (n > PFD_STRING_BYTES_MAX || !has_room(a, at, n + is_ended))
        return false;
    ret->at = (uint32_t)at;
    ret->n_bytes = (uint32_t)n & PFD_STRING_NULL;
    a->at = (uint32_t)(at + n + is_ended);
    return true;
}

/* A text at an offset of the entry. */
static void add_offset(struct arguments *a, uint32_t at, uint32_t size,
                       struct pfd_slot *ret)
{
    uint64_t offset = read_value(a, at, size);
    uint32_t n =
        offset >= a->n_header ? ended(a, offset - a->n_header) : UINT32_MAX;
    if (n <= PFD_STRING_BYTES_MAX) {
        ret->at = (uint32_t)(offset - a->n_header);
        ret->n_bytes = n & PFD_STRING_NULL;
        if (ret->at + n >= a->end)
            a->end = ret->at + n + 1;
    }
}

static bool add_text(struct arguments *a, const struct described_type *t,
                     struct pfd_slot *ret)
{
    uint32_t size = arguments_size(t);
    *ret = (struct pfd_slot){ .at = a->at,
                              .store = PFD_STORE_STRING,
                              .n_bytes = PFD_STRING_NULL };
    if (t->text == TEXT_ENDED || t->text == TEXT_COUNTED)
        return add_inline(a, t, ret);
    if (!has_room(a, a->at, size))
        return false;
    if (a->on_text && a->payload)
        a->on_text(a->user, t, read_value(a, a->at, size));
    if (t->text == TEXT_OFFSET && a->payload) {
        add_offset(a, a->at, size, ret);
    } else if (a->payload) {
        *ret = carried(a);
    }
    a->at += size;
    return true;
}

/* ---- arguments ---- */

bool arguments_add(struct arguments *a, const struct described_type *t)
{
    uint32_t size = arguments_size(t);
    bool is_text = t->text != TEXT_NONE;
    align(a, t->text == TEXT_ENDED ? 1 : size);
    for (uint32_t i = 0; i < t->n; i++) {
        struct pfd_slot slot = { .at = a->at,
                                 .store = (uint32_t)t->store & 15u };
        if (a->n_slots == PFD_ARGUMENTS_MAX)
            return false;
        if (is_text ? !add_text(a, t, &slot) : !has_room(a, a->at, size))
            return false;
        a->at += is_text ? 0 : size;
        if (t->stride && (t->run == t->n || (i + 1) % t->run == 0)) {
            uint32_t n = t->run == t->n ? size : size * t->run;
            a->at += t->stride > n ? t->stride - n : 0;
        }
        if (a->slots)
            a->slots[a->n_slots] = slot;
        a->n_slots++;
    }
    return true;
}

uint32_t arguments_end(const struct arguments *a)
{
    uint32_t to = a->align ? a->align : 1;
    uint32_t ret = (a->at + to - 1) / to * to;
    return ret < a->end ? a->end : ret;
}
