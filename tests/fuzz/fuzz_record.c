/* SPDX-License-Identifier: MIT */
/*
 * Records from elsewhere. Input: a byte for the format, one for the options,
 * the bytes of its strings (2) and of a buffer (2), both, and edits. All
 * records of the buffer are sound as the walk made them. Then each, as a copy
 * with bytes of its own, is edited, and if it can still be a walk's, it is
 * shown in every way there is.
 */
#include <limits.h>
#include <string.h>

#include "any_format.h"
#include "core/decode/inspect.h"
#include "core/decode/walk.h"
#include "core/output/sink.h"
#include "pieces.h"

enum {
    BATCH = 64,
    READINGS = 1 + PFD_ALTERNATIVES_MAX,
    /* Of an entry, each asked for by its number. */
    WORDS = 32,
};

struct world {
    const struct pfd_format *format;
    struct pfd_strings *strings;
    struct pfd_options options;
    struct pfd_walk walk;
    struct pfd_record_batch batch;
    struct pfd_entry_source of;
    struct pfd_byte_reader edits;
    uint64_t seen; /* so that all that is shown is looked at */
};

/* One reading; copied ones have bytes. */
struct reading {
    struct pfd_record record;
    uint8_t *bytes; /* [n], owned */
    size_t n;
};

/* ---- what is shown ---- */

static void see(struct world *w, const void *bytes, size_t n)
{
    if (bytes)
        w->seen = mix(w->seen, bytes, n);
}

static void show_sinks(struct world *w, struct pfd_entry *e)
{
    const struct pfd_sink_options options = {
        .show = UINT_MAX,
        .links = "file://host/folder/",
        .time = 1,
        .finding_marks = true,
        .color = true,
    };
    for (size_t i = 0; pfd_sinks[i]; i++) {
        struct pfd_text out = { 0 };
        pfd_sinks[i]->entry(&out, e, &options);
        FUZZ_CHECK(!out.failed);
        see(w, out.data, out.n);
        pfd_text_free(&out);
    }
}

static void show_arguments(struct world *w, struct pfd_entry *e)
{
    size_t n = 0;
    const struct pfd_argument *all = pfd_entry_arguments(e, &n);
    FUZZ_CHECK(all || !n);
    for (size_t i = 0; i < n; i++) {
        const struct pfd_argument *a = &all[i];
        FUZZ_CHECK(a->at <= e->n_payload && a->n_bytes <= e->n_payload - a->at);
        if (a->type == PFD_ARGUMENT_TEXT) {
            see(w, a->text, a->n_bytes);
        } else {
            see(w, &a->u, sizeof a->u);
        }
    }
}

static void show_origins(struct world *w, struct pfd_entry *e)
{
    size_t n;
    const struct pfd_origin *o = pfd_entry_origins(e, &n);
    for (size_t i = 0; i < n; i++, o++) {
        FUZZ_CHECK(n <= PFD_ORIGINS_MAX);
        see(w, o->name, strlen(o->name));
        see(w, o->type == PFD_ORIGIN_TEXT ? (const void *)o->text : o->value,
            o->type == PFD_ORIGIN_TEXT ? o->n : sizeof o->value);
    }
}

static void show(struct world *w, struct pfd_entry *e)
{
    struct pfd_word word;
    show_sinks(w, e);
    show_arguments(w, e);
    show_origins(w, e);
    for (uint32_t i = 0; i < WORDS; i++) {
        if (pfd_entry_word(e, 4 * i, &word) == PFD_OK)
            see(w, word.text, strlen(word.text));
    }
    for (uint64_t left = e->findings; left; left &= left - 1) {
        char text[200];
        pfd_entry_finding_text(e, (enum pfd_finding_kind)__builtin_ctzll(left),
                               text, sizeof text);
        see(w, text, strlen(text));
    }
}

/* The entry and those of its readings that can be; in one block, whose end is
 * the end of what may be read. */
static void show_all(struct world *w, const struct reading *readings, size_t n)
{
    struct pfd_record records[READINGS];
    struct pfd_entry e;
    size_t n_bytes = 0;
    for (size_t i = 0; i < n; i++)
        n_bytes += readings[i].n;
    uint8_t *block = malloc(n_bytes + !n_bytes);
    FUZZ_CHECK(block);
    n_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        records[i] = readings[i].record;
        if (readings[i].n)
            memcpy(block + n_bytes, readings[i].bytes, readings[i].n);
        n_bytes += readings[i].n;
    }
    records[0].n_alternatives = (uint8_t)(n - 1);
    size_t n_header = records[0].n_header;
    FUZZ_CHECK(pfd_entry_make(&w->of, records, block + n_header,
                              (uint32_t)(readings[0].n - n_header), 0, &e));
    show(w, &e);
    for (size_t i = 0; i + 1 < n; i++) {
        struct pfd_entry other;
        FUZZ_CHECK(pfd_entry_alternative(&e, i, &other) == PFD_OK);
        show(w, &other);
    }
    free(block);
}

/* ---- edits ---- */

/* Makes all bytes anew, so that none is readable behind them. */
static void set_length(struct reading *r, size_t n)
{
    uint8_t *bytes = calloc(1, n + !n);
    FUZZ_CHECK(bytes);
    if (r->n)
        memcpy(bytes, r->bytes, n < r->n ? n : r->n);
    free(r->bytes);
    r->bytes = bytes;
    r->n = n;
}

static void set_word(struct reading *r, size_t at, uint32_t word)
{
    if (r->n >= sizeof word)
        memcpy(r->bytes + at % (r->n - sizeof word + 1), &word, sizeof word);
}

/* One edit; false: there is none. */
static bool edit_once(struct world *w, struct reading *reading)
{
    struct pfd_record *r = &reading->record;
    struct pfd_byte_reader *c = &w->edits;
    uint16_t at = 0;
    switch (pfd_byte_reader_u8(c) % 16) {
    default:
        return false;
    case 1:
        r->layout = pfd_byte_reader_u8(c);
        break;
    case 2:
        r->layout = pfd_byte_reader_u64(c);
        break;
    case 3:
        r->flags = pfd_byte_reader_u8(c);
        break;
    case 4:
        r->n_header = pfd_byte_reader_u8(c);
        break;
    case 5:
        r->key = pfd_byte_reader_u64(c);
        break;
    case 6:
        r->string = pfd_strings_at(w->strings, pfd_byte_reader_u8(c));
        break;
    case 7:
        r->key = r->string ? r->string->key : 0;
        break;
    case 8:
        at = pfd_byte_reader_u16(c);
        set_word(reading, at, pfd_byte_reader_u32(c));
        break;
    case 9:
        set_length(reading, pfd_byte_reader_u16(c));
        r->n_bytes = (uint32_t)reading->n;
        break;
    case 10:
        r->findings ^= UINT64_C(1) << pfd_byte_reader_u8(c) % 64;
        break;
    case 11:
        r->n_bytes = pfd_byte_reader_u32(c);
        break;
    case 12:
        r->kind = pfd_byte_reader_u8(c);
        break;
    case 13:
        r->offset = pfd_byte_reader_u64(c);
        break;
    case 14: /* the string is not there */
        r->string = NULL;
        r->layout = 0;
        break;
    case 15:
        set_length(reading, pfd_byte_reader_u8(c));
        r->n_bytes = (uint32_t)reading->n;
        break;
    }
    return true;
}

/* True when it is another one now. */
static bool edit(struct world *w, struct reading *r)
{
    bool is_edited = false;
    while (edit_once(w, r))
        is_edited = true;
    return is_edited;
}

/* ---- records ---- */

static bool is_sound(const struct world *w, const struct pfd_record *r,
                     const uint8_t *bytes, size_t n)
{
    struct pfd_record_view record_view = {
        .record = r,
        .string = r->string,
        .bytes = pfd_byte_reader(bytes, n),
        .table = w->walk.table,
        .shader_table = w->walk.shader_table,
        .options = w->walk.options,
    };
    pfd_byte_reader_skip(&record_view.bytes, r->n_header);
    return pfd_record_is_sound(w->format, &record_view);
}

/* Takes entry i of the batch and its other readings; returns how many. */
static size_t take(const struct world *w, size_t i, struct reading *ret)
{
    const struct pfd_record *r = &w->batch.records[i];
    size_t n_readings = 1u + r->n_alternatives;
    uint32_t n_payload = 0;
    const uint8_t *bytes =
        pfd_record_batch_payload(&w->batch, &w->walk.view, 0, r, &n_payload);
    bytes -= r->n_header;
    for (size_t k = 0; k < n_readings; k++) {
        size_t n = k ? r[k].n_bytes : n_payload + r->n_header;
        ret[k] = (struct reading){ .record = r[k] };
        ret[k].record.flags |= k ? 0 : PFD_RECORD_COPIED;
        n = ret[k].record.flags & PFD_RECORD_COPIED ? n : 0;
        set_length(&ret[k], n);
        memcpy(ret[k].bytes, bytes, n);
        bytes += n;
    }
    return n_readings;
}

static void try_entry(struct world *w, size_t i)
{
    struct reading readings[READINGS];
    size_t n = take(w, i, readings);
    size_t n_sound = 0;
    bool is_edited = false;
    for (size_t k = 0; k < n; k++) {
        struct reading *r = &readings[k];
        is_edited |= edit(w, r);
        bool is_own = k == 0 || r->record.flags & PFD_RECORD_COPIED;
        const struct reading *bytes = is_own ? r : readings;
        bool sound = is_sound(w, &r->record, bytes->bytes, bytes->n) &&
                     (r->record.kind == PFD_RECORD_ENTRY) == (k == 0);
        FUZZ_CHECK(sound || is_edited);
        n_sound += sound && n_sound == k;
    }
    if (n_sound)
        show_all(w, readings, n_sound);
    for (size_t k = 0; k < n; k++)
        free(readings[k].bytes);
}

static void try_buffer(struct world *w)
{
    enum pfd_status status = PFD_OK;
    while (status == PFD_OK) {
        pfd_record_batch_clear(&w->batch);
        status = w->format->walk(&w->walk);
        for (size_t i = 0; i < w->batch.n; i++) {
            if (w->batch.records[i].kind == PFD_RECORD_ENTRY)
                try_entry(w, i);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct any_format in;
    if (!any_format_read(&in, data, n))
        return 0;
    struct world w = {
        .format = pfd_format_find(in.format),
        .strings = in.strings,
        .options = in.options,
        .edits = in.rest,
        .seen = 1,
    };
    FUZZ_CHECK(pfd_walk_init(&w.walk, w.format, w.strings, &w.options) &&
               pfd_record_batch_init(&w.batch, BATCH) &&
               pfd_entry_source_init(&w.of, "fuzz"));
    pfd_entry_source_set(&w.of, w.strings, w.format, &w.options);
    w.walk.batch = &w.batch;
    w.walk.view = in.buffer;
    w.walk.last = true;
    try_buffer(&w);
    pfd_entry_source_deinit(&w.of);
    pfd_record_batch_deinit(&w.batch);
    pfd_walk_deinit(&w.walk);
    pfd_strings_free(w.strings);
    return 0;
}
