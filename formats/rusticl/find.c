/* SPDX-License-Identifier: MIT */
/* Finds a buffer in memory: calls of one kernel, whose entries lead exactly to
 * where the counter says. */
#include "find.h"

#include <string.h>

#include "kernels.h"

enum {
    DWORD = 4,
    HEADER = PFD_ID_HEADER,
    PAGE = 4096,
    USED_MAX = 1 << 30, /* bytes that calls ask for */
    SPACES_MAX = 64,    /* kernels that are tried */
    ENTRIES_MIN = 2,    /* that are not there by chance, if they end exactly */
    /* Likewise where the buffer, or what is in view, ends before. */
    ENTRIES_FULL = 64,
    /* That are followed: as many as fit into the buffer's usual MiB. Many pages
     * of a buffer can look like the beginning of one. */
    ENTRIES_MAX = 1 << 17,
};

struct kernels {
    uint32_t spaces[SPACES_MAX];
    size_t n;
};

static uint32_t word_at(const struct pfd_field *field, size_t at)
{
    uint32_t ret;
    memcpy(&ret, field->bytes + at, sizeof ret);
    return ret;
}

static void add_space(struct kernels *k, uint32_t space)
{
    for (size_t i = 0; i < k->n; i++) {
        if (k->spaces[i] == space)
            return;
    }
    if (k->n < SPACES_MAX)
        k->spaces[k->n++] = space;
}

static struct kernels list_kernels(const struct pfd_field *field)
{
    const struct pfd_table *table = field->table;
    struct kernels ret = { .n = 0 };
    if (*field->options->kernel) {
        ret.n =
            rusticl_kernels_called(field->shader_table, field->options->kernel,
                                   ret.spaces, SPACES_MAX);
        return ret;
    }
    for (size_t i = 0; i <= table->mask; i++) {
        const struct pfd_string *s = pfd_table_at(table, i);
        if (s)
            add_space(&ret, (uint32_t)(s->key >> PFD_ID_BITS));
    }
    return ret;
}

/* The entries of a kernel behind a counter. */
struct chain {
    size_t n;
    size_t end; /* of the last one, from the counter on */
    enum {
        CHAIN_EXACT,  /* they end where the counter says */
        CHAIN_FULL,   /* another id, or none, is behind them */
        CHAIN_BEYOND, /* one more is not in view, or not followed */
        CHAIN_WRONG,  /* the last one goes over the end */
    } kind;
};

static struct chain follow(const struct pfd_field *field, size_t at,
                           uint32_t space, size_t used)
{
    size_t left = field->n - at;
    size_t limit = used < left ? used : left;
    struct chain ret = { .end = HEADER, .kind = CHAIN_BEYOND };
    for (; limit - ret.end >= HEADER && ret.n < ENTRIES_MAX; ret.n++) {
        uint32_t id = word_at(field, at + ret.end);
        const struct pfd_string *s =
            id > PFD_ID_MAX
                ? NULL
                : pfd_table_find(field->table, pfd_id_key(space, id));
        if (!s) {
            ret.kind = CHAIN_FULL;
            return ret;
        }
        if (HEADER + (size_t)s->n_payload > limit - ret.end) {
            ret.kind = used <= left ? CHAIN_WRONG : CHAIN_BEYOND;
            return ret;
        }
        ret.end += HEADER + (size_t)s->n_payload;
    }
    if (ret.end == used)
        ret.kind = CHAIN_EXACT;
    return ret;
}

static bool is_buffer(const struct pfd_field *field, size_t at,
                      const struct kernels *k, struct pfd_whole *ret)
{
    size_t used = word_at(field, at);
    for (size_t i = 0; i < k->n; i++) {
        struct chain c = follow(field, at, k->spaces[i], used);
        if (c.n < (c.kind == CHAIN_EXACT ? ENTRIES_MIN : ENTRIES_FULL) ||
            c.kind == CHAIN_WRONG)
            continue;
        used = c.kind == CHAIN_FULL ? c.end : used;
        *ret = (struct pfd_whole){
            .size = used,
            .used = used,
            .is_sure = true,
            .has_no_size = c.kind != CHAIN_FULL,
            .why = "entries of calls of a kernel, as far as the counter says",
        };
        return true;
    }
    return false;
}

size_t rusticl_find(const struct pfd_field *field, size_t from, size_t to,
                    struct pfd_whole *ret)
{
    struct kernels k = { .n = 0 };
    bool is_listed = false;
    size_t at = from + (size_t)(-(field->address + from) % PAGE);
    for (; field->table->n && at < to && field->n - at >= 2 * DWORD;
         at += PAGE) {
        uint32_t used = word_at(field, at);
        uint32_t id = word_at(field, at + HEADER);
        if (used <= HEADER || used % DWORD || used > USED_MAX || !id ||
            id > PFD_ID_MAX)
            continue;
        if (!is_listed)
            k = list_kernels(field);
        is_listed = true;
        if (is_buffer(field, at, &k, ret))
            return at;
    }
    return to;
}
