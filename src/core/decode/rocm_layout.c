/* SPDX-License-Identifier: MIT */
#include "core/decode/rocm_layout.h"

#include <string.h>

#include "core/decode/inspect.h"

enum {
    DWORD = 4,
    SLOT = 8,
    /* Device code never uses the last bytes: it reserves room for the header
     * twice (rocm-device-libs, __printf_alloc). */
    NEVER_USED = 8,
};

/* ---- the header of OpenCL's and HIP's buffers ---- */

static enum pfd_status open_buffer(struct pfd_walk *w,
                                   struct pfd_rocm_buffer *ret)
{
    if (pfd_walk_end(w) < PFD_ROCM_HEADER) {
        if (!w->last)
            return PFD_MORE;
        pfd_walk_finding(w, PFD_FINDING_no_header, 0,
                         "%llu bytes, a buffer header needs %d",
                         (unsigned long long)pfd_walk_end(w), PFD_ROCM_HEADER);
        w->batch->skipped_bytes += pfd_walk_end(w);
        w->at = pfd_walk_end(w);
        return PFD_END;
    }
    *ret = (struct pfd_rocm_buffer){
        .opened = true,
        .used = pfd_walk_u32(w, 0),
        .capacity = pfd_walk_u32(w, 4),
    };
    ret->end = PFD_ROCM_HEADER + (uint64_t)ret->used;
    w->at = PFD_ROCM_HEADER;
    return PFD_OK;
}

/* The most bytes of one entry, without its strings. */
static uint64_t largest_entry(const struct pfd_table *table, uint32_t n_header)
{
    uint64_t largest = n_header;
    for (size_t i = 0; i <= table->mask; i++) {
        for (const struct pfd_string *s = pfd_table_at(table, i); s;
             s = s->next) {
            if (n_header + (uint64_t)s->n_payload > largest)
                largest = n_header + (uint64_t)s->n_payload;
        }
    }
    return largest;
}

/* Reports a buffer so full that messages may have been dropped. */
static void report_header(struct pfd_walk *w, const struct pfd_rocm_buffer *b,
                          uint64_t largest)
{
    if (b->used > b->capacity) {
        pfd_walk_finding(w, PFD_FINDING_bad_header, 0,
                         "the header says that %u bytes of %u are used: this "
                         "is no ROCm printf buffer, or it is damaged",
                         b->used, b->capacity);
    } else if (b->used && b->used + NEVER_USED + largest > b->capacity) {
        pfd_walk_finding(w, PFD_FINDING_nearly_full, 0,
                         "the buffer is nearly full: %u of %u bytes are used "
                         "and a message can take %llu; later prints may be "
                         "missing",
                         b->used, b->capacity, (unsigned long long)largest);
    }
}

enum pfd_status pfd_rocm_begin(struct pfd_walk *w, struct pfd_rocm_buffer *b,
                               uint32_t n_header)
{
    if (!b->opened) {
        enum pfd_status status = open_buffer(w, b);
        if (status != PFD_OK)
            return status;
        report_header(w, b, largest_entry(w->table, n_header));
    }
    if (w->last && b->end > pfd_walk_end(w))
        b->end = pfd_walk_end(w);
    return PFD_OK;
}

/* Is much more used by the header than is here? */
static bool is_absurd(const struct pfd_walk *w, const struct pfd_rocm_buffer *b)
{
    enum {
        USED_MAX = 1 << 26,
        TIMES_MAX = 64
    };
    return b->used > USED_MAX && b->used / TIMES_MAX > pfd_walk_end(w);
}

bool pfd_rocm_is_none(struct pfd_walk *w, struct pfd_rocm_buffer *b,
                      uint64_t from, uint64_t to)
{
    b->is_none = from == PFD_ROCM_HEADER && to == b->end &&
                 (b->used > b->capacity || is_absurd(w, b));
    return b->is_none;
}

/* The last finding, since a buffer that is read as it comes shows its size no
 * earlier. */
static void report_end(struct pfd_walk *w, const struct pfd_rocm_buffer *b)
{
    uint64_t held = pfd_walk_end(w) - PFD_ROCM_HEADER;
    if (b->used <= held || b->used > b->capacity)
        return;
    if (b->is_none) {
        pfd_walk_finding(w, PFD_FINDING_bad_header, 0,
                         "the header says that %u bytes are used, and no entry "
                         "is in the %llu that are here: this is no ROCm printf "
                         "buffer, or it is damaged",
                         b->used, (unsigned long long)held);
        return;
    }
    w->batch->lost_bytes += b->used - held;
    pfd_walk_finding(w, PFD_FINDING_overflow, pfd_walk_end(w),
                     "the header says that %u bytes are used, %llu are here: "
                     "%llu bytes are missing",
                     b->used, (unsigned long long)held,
                     (unsigned long long)(b->used - held));
}

enum pfd_status pfd_rocm_finish(struct pfd_walk *w, struct pfd_rocm_buffer *b,
                                const char *why)
{
    uint64_t left = b->end - w->at;
    if (left) {
        if (!w->last && b->end > pfd_walk_end(w))
            return PFD_MORE;
        pfd_walk_finding(w, PFD_FINDING_stray_dword, w->at,
                         "%llu used bytes are left, %s",
                         (unsigned long long)left, why);
        w->batch->skipped_bytes += left;
        w->at = b->end;
    }
    /* The bytes behind are stale, and are not read. */
    if (pfd_walk_end(w) > w->at)
        w->at = pfd_walk_end(w);
    b->end = w->at;
    if (!w->last)
        return PFD_MORE;
    report_end(w, b);
    return PFD_END;
}

uint64_t pfd_rocm_left(const struct pfd_rocm_buffer *b, uint64_t at, uint64_t n)
{
    uint64_t left = PFD_ROCM_HEADER + (uint64_t)b->used - at;
    return n > left ? left : b->end - at;
}

enum {
    PAGE = 4096,
    /* A buffer of so few bytes is scored by its header alone. */
    SHORT = 64,
    CAPACITY_USUAL = 1 << 26,
};

int pfd_rocm_probe(const struct pfd_byte_reader *first, uint64_t n_buffer)
{
    struct pfd_byte_reader c = *first;
    uint32_t used = pfd_byte_reader_u32(&c);
    uint32_t capacity = pfd_byte_reader_u32(&c);
    if (!pfd_byte_reader_ok(&c) || !capacity)
        return 0;
    if (used > capacity || used % DWORD) /* perhaps it is damaged */
        return n_buffer && n_buffer - PFD_ROCM_HEADER == capacity ? 40 : 0;
    if (n_buffer - PFD_ROCM_HEADER != capacity && capacity % DWORD)
        return 10;
    /* Whole buffers are whole pages. */
    bool is_pages = (capacity + PFD_ROCM_HEADER) % PAGE == 0;
    if (!n_buffer)
        return !is_pages ? 20 : used ? 60 : 50;
    if (n_buffer - PFD_ROCM_HEADER == capacity)
        return used ? 60 : 50;
    if (is_pages && n_buffer - PFD_ROCM_HEADER < capacity)
        return 40;
    bool is_short = n_buffer < SHORT && capacity < CAPACITY_USUAL;
    return n_buffer - PFD_ROCM_HEADER >= used || is_short ? 30 : 10;
}

bool pfd_rocm_measure(const uint8_t *bytes, size_t n, struct pfd_whole *ret)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    uint32_t used = pfd_byte_reader_u32(&c);
    uint32_t capacity = pfd_byte_reader_u32(&c);
    if (!pfd_byte_reader_ok(&c) || used > capacity || used % DWORD || !capacity)
        return false;
    *ret = (struct pfd_whole){
        .size = (uint64_t)capacity + PFD_ROCM_HEADER,
        .used = (uint64_t)used + PFD_ROCM_HEADER,
    };
    return true;
}

/* Could this be the header of a buffer with entries? */
static inline bool is_likely_header(const struct pfd_byte_reader *c, size_t at)
{
    uint32_t used = pfd_byte_reader_peek_u32(c, at);
    uint32_t capacity = pfd_byte_reader_peek_u32(c, at + DWORD);
    bool is_aligned = (used | capacity) % DWORD == 0;
    return is_aligned & (used - 1 < capacity); /* 0 wraps */
}

/* The first place in [from, to) where a header could be, or `to`. */
static size_t find_header(const struct pfd_byte_reader *c, size_t from,
                          size_t to)
{
    enum {
        AT_ONCE = 4
    };
    size_t at = from;
    while (at < to && c->n - at >= PFD_ROCM_HEADER + DWORD) {
        bool is_any = c->n - at < AT_ONCE * PFD_ROCM_HEADER;
        for (size_t i = 0; !is_any && i < AT_ONCE; i++)
            is_any |= is_likely_header(c, at + i * PFD_ROCM_HEADER);
        if (!is_any) {
            at += AT_ONCE * PFD_ROCM_HEADER;
            continue;
        }
        if (is_likely_header(c, at))
            return at;
        at += PFD_ROCM_HEADER;
    }
    return to;
}

size_t pfd_rocm_find(pfd_rocm_chain_fn chain, const struct pfd_field *field,
                     size_t from, size_t to, struct pfd_whole *ret)
{
    enum {
        /* Without a header of whole pages, small numbers of other data look
         * like entries: so many in a row are required, or fewer where a mapping
         * begins. */
        ENTRIES_MIN = 8,
        ENTRIES_SURE = 32,
        KINDS_MIN = 3,
        LOOKED_MAX = 1 << 20,
        CAPACITY_MAX = 1 << 30, /* of whole pages; -8 is a common number */
    };
    const size_t n = field->n;
    struct pfd_byte_reader all = pfd_byte_reader(field->bytes, n);
    from += (size_t)(-(field->address + from) % PFD_ROCM_HEADER);
    for (size_t at = find_header(&all, from, to); at < to;
         at = find_header(&all, at + PFD_ROCM_HEADER, to)) {
        uint32_t used = pfd_byte_reader_peek_u32(&all, at);
        uint32_t capacity = pfd_byte_reader_peek_u32(&all, at + DWORD);
        struct pfd_byte_reader entries = all;
        size_t left = n - at - PFD_ROCM_HEADER;
        bool is_pages =
            (capacity + PFD_ROCM_HEADER) % PAGE == 0 && capacity < CAPACITY_MAX;
        size_t most = used < left ? used : left;
        pfd_byte_reader_seek(&entries, at + PFD_ROCM_HEADER);
        most = most < LOOKED_MAX ? most : (size_t)LOOKED_MAX;
        struct pfd_rocm_chain c =
            chain(field->table, pfd_byte_reader_sub(&entries, most), is_pages);
        bool is_long = c.n >= ENTRIES_MIN && c.n_kinds >= KINDS_MIN &&
                       c.is_whole && used == most;
        bool is_likely = c.is_weak ? c.is_whole : is_pages || is_long;
        if (!c.n || (!c.is_telling && !is_likely))
            continue;
        pfd_rocm_measure(field->bytes + at, n - at, ret);
        ret->is_sure = used <= left && (is_pages || c.is_whole);
        ret->is_doubtful = !c.is_telling && !is_pages && c.n < ENTRIES_SURE;
        return at;
    }
    return to;
}

bool pfd_rocm_buffer_word(const struct pfd_walk *w, uint64_t at,
                          struct pfd_word *ret)
{
    return at >= PFD_ROCM_HEADER && w->view.n >= PFD_ROCM_HEADER &&
           at - PFD_ROCM_HEADER >= pfd_walk_u32(w, 0) &&
           pfd_word_set_unused(ret);
}

/* ---- arguments in slots of 8 bytes ---- */

static uint32_t aligned(uint32_t n)
{
    return (n + SLOT - 1) / SLOT * SLOT;
}

const char *pfd_rocm_text(const struct pfd_byte_reader *payload, uint32_t from,
                          uint32_t *n_text, uint32_t *n_used)
{
    struct pfd_byte_reader c = *payload;
    pfd_byte_reader_skip(&c, from);
    uint32_t left = (uint32_t)pfd_byte_reader_left(&c);
    const char *text = (const char *)pfd_byte_reader_bytes(&c, left);
    const char *nul = left && text ? memchr(text, '\0', left) : NULL;
    *n_text = nul ? (uint32_t)(nul - text) : left;
    *n_used = left;
    if (nul && aligned(*n_text + 1) < left)
        *n_used = aligned(*n_text + 1);
    return text;
}

bool pfd_rocm_is_wide(const struct pfd_step *s)
{
    return s->length == PFD_LENGTH_LONG || s->length == PFD_LENGTH_LONGF ||
           pfd_step_is_float(s) || s->conv == 'p' || s->conv == 'n';
}

/* Lays out all arguments once; nulls says which strings take no bytes. */
static bool take_all(const struct pfd_step *steps,
                     const struct pfd_byte_reader *payload, uint32_t from,
                     uint64_t nulls, struct pfd_slot *slots,
                     struct pfd_rocm_arguments *ret)
{
    uint32_t n = (uint32_t)pfd_byte_reader_left(payload);
    uint32_t at = from;
    unsigned i = 0;
    *ret = (struct pfd_rocm_arguments){ 0 };
    for (const struct pfd_step *s = steps; s->op != PFD_OP_END; s++) {
        if (!pfd_step_takes(s) || ret->n_slots == PFD_ARGUMENTS_MAX)
            continue;
        struct pfd_slot *slot = &slots[ret->n_slots];
        *slot = (struct pfd_slot){ .at = at, .store = PFD_STORE_QWORD };
        uint32_t n_used = SLOT;
        bool is_text = pfd_rocm_is_text(s);
        if (is_text && i < PFD_ROCM_NULLS_MAX && nulls >> i++ & 1) {
            slot->store = PFD_STORE_STRING;
            slot->n_bytes = PFD_STRING_NULL;
            n_used = 0;
        } else if (is_text) {
            uint32_t n_text;
            if (at == n)
                break;
            pfd_rocm_text(payload, at, &n_text, &n_used);
            slot->store = PFD_STORE_STRING;
            slot->n_bytes = (n_text < PFD_STRING_BYTES_MAX
                                 ? n_text
                                 : (uint32_t)PFD_STRING_BYTES_MAX) &
                            PFD_STRING_NULL;
            if (n_text == n_used)
                ret->findings |= PFD_FINDING_BIT(clipped_string);
        } else if (n - at < SLOT) {
            break;
        } else if (!pfd_rocm_is_wide(s)) {
            slot->store = PFD_STORE_DWORD; /* the rest are zeros */
        }
        at += n_used;
        ret->n_slots++;
    }
    ret->n_used = at;
    return at == n;
}

/* Adds slots for the rest, which has no conversions. */
static void take_rest(const struct pfd_byte_reader *payload,
                      struct pfd_slot *slots, struct pfd_rocm_arguments *ret)
{
    uint32_t n = (uint32_t)pfd_byte_reader_left(payload);
    while (n - ret->n_used >= SLOT && ret->n_slots < PFD_ARGUMENTS_MAX) {
        slots[ret->n_slots++] =
            (struct pfd_slot){ .at = ret->n_used, .store = PFD_STORE_QWORD };
        ret->n_used += SLOT;
    }
    if (ret->n_used < n)
        ret->findings |= PFD_FINDING_BIT(payload_long);
}

bool pfd_rocm_lay_out(const struct pfd_step *steps,
                      const struct pfd_byte_reader *payload, uint32_t from,
                      uint64_t nulls, struct pfd_slot *slots,
                      struct pfd_rocm_arguments *ret)
{
    size_t n_takes = 0;
    for (const struct pfd_step *s = steps; s->op != PFD_OP_END; s++)
        n_takes += pfd_step_takes(s);
    if (take_all(steps, payload, from, nulls, slots, ret) &&
        ret->n_slots == n_takes && !ret->findings)
        return true;
    take_rest(payload, slots, ret);
    return false;
}
