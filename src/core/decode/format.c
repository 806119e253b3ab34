/* SPDX-License-Identifier: MIT */
#include "core/decode/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/ranges.h"
#include "core/decode/inspect.h"

const struct pfd_format_info *pfd_format_get(size_t i)
{
    for (size_t k = 0; pfd_formats[k]; k++) {
        if (k == i)
            return &pfd_formats[k]->info;
    }
    return NULL;
}

const struct pfd_format *pfd_format_find(const char *name)
{
    for (const struct pfd_format *const *f = pfd_formats; *f; f++) {
        if (!strcmp((*f)->info.name, name))
            return *f;
    }
    return NULL;
}

void pfd_walk_alternative(struct pfd_walk *walk,
                          const struct pfd_record *reading)
{
    struct pfd_record_batch *batch = walk->batch;
    size_t i = batch->n - 1;
    while (batch->records[i].kind == PFD_RECORD_ALTERNATIVE)
        i--;
    struct pfd_record *entry = &batch->records[i];
    if (entry->n_alternatives == PFD_ALTERNATIVES_MAX)
        return;
    entry->n_alternatives++;
    struct pfd_record *r = pfd_walk_record(walk);
    *r = *reading;
    r->kind = PFD_RECORD_ALTERNATIVE;
    batch->n_others++;
    r->n_alternatives = 0;
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
        .layout = kind,
    };
    walk->batch->n_others++;
    pfd_text_add(&walk->batch->text, sentence, n);
    if (walk->batch->text.failed)
        r->n_bytes = 0; /* no sentence; callers check text.failed */
}

void pfd_walk_copy_add(struct pfd_walk *walk, const void *bytes, size_t n)
{
    pfd_text_add(&walk->batch->bytes, bytes, n);
}

void pfd_walk_copy_done(struct pfd_walk *walk, struct pfd_record *record)
{
    struct pfd_record_batch *b = walk->batch;
    if (b->n_copies == b->copies_room) {
        size_t room = b->copies_room ? 2 * b->copies_room : 64;
        struct pfd_copy *copies = realloc(b->copies, room * sizeof *copies);
        if (!copies) {
            b->bytes.failed = true;
            return;
        }
        b->copies = copies;
        b->copies_room = room;
    }
    record->flags |= PFD_RECORD_COPIED;
    b->copies[b->n_copies++] = (struct pfd_copy){
        .record = (size_t)(record - b->records),
        .end = b->bytes.n,
    };
}

/* The payload of a record decoded from a chunk. */
static const uint8_t *placed(const struct pfd_record_batch *batch,
                             const struct pfd_place *place, uint32_t n_header,
                             uint32_t *n)
{
    *n = place->n - n_header;
    if (place->bytes)
        return place->bytes + n_header;
    struct pfd_byte_reader own =
        pfd_byte_reader(batch->bytes.data, batch->bytes.n);
    return pfd_byte_reader_peek(&own, place->at + n_header);
}

const uint8_t *pfd_record_batch_copied(const struct pfd_record_batch *batch,
                                       const struct pfd_record *record,
                                       uint32_t *n)
{
    size_t wanted = (size_t)(record - batch->records);
    if (batch->places)
        return placed(batch, &batch->places[wanted], record->n_header, n);
    size_t low = 0;
    size_t high = batch->n_copies;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (batch->copies[middle].record <= wanted) {
            low = middle;
        } else {
            high = middle;
        }
    }
    struct pfd_byte_reader bytes =
        pfd_byte_reader(batch->bytes.data, batch->bytes.n);
    size_t from = low ? batch->copies[low - 1].end : 0;
    from += record->n_header;
    *n = (uint32_t)(batch->copies[low].end - from);
    return pfd_byte_reader_peek(&bytes, from);
}

void pfd_walk_describe_gap(struct pfd_walk_gap *ret, uint64_t from, uint64_t to,
                           uint64_t end)
{
    unsigned long long n = (to - from) / 4;
    if (to == end) {
        snprintf(ret->text, sizeof ret->text,
                 "%llu dwords skipped, up to the end of the used part", n);
    } else {
        snprintf(ret->text, sizeof ret->text,
                 "%llu dwords skipped, decoding goes on at dword %llu", n,
                 (unsigned long long)to / 4);
    }
}

/* ---- words ---- */

bool pfd_word_set(struct pfd_word *ret, uint64_t end, const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    vsnprintf(ret->text, sizeof ret->text, text, ap);
    va_end(ap);
    ret->end = end;
    return true;
}

bool pfd_word_set_unused(struct pfd_word *ret)
{
    return pfd_word_set(ret, UINT64_MAX, "not used (stale, or never written)");
}

bool pfd_format_buffer_word(const struct pfd_format *format,
                            const struct pfd_walk *walk, uint64_t at,
                            struct pfd_word *ret)
{
    const struct pfd_format_info *info = &format->info;
    if (walk->base > 0)
        return false; /* the buffer's header is no longer in view */
    if (format->buffer_word && format->buffer_word(walk, at, ret))
        return true;
    if (at / 4 < info->n_header_words) {
        return pfd_word_set(ret, at / 4 * 4 + 4, "%s",
                            info->header_words[at / 4]);
    }
    const struct pfd_format_live *live = format->live;
    bool has_header = live && !live->shape && walk->view.n >= live->n_header;
    return has_header && at >= live->used(walk->table, walk->view.base) &&
           pfd_word_set_unused(ret);
}

bool pfd_format_entry_word(const struct pfd_format *format,
                           const struct pfd_record_view *record_view,
                           uint32_t at, struct pfd_word *ret)
{
    const struct pfd_format_info *info = &format->info;
    if (format->entry_word && format->entry_word(record_view, at, ret))
        return true;
    if (at / 4 >= info->n_entry_words)
        return false;
    return pfd_word_set(ret, at / 4 * 4 + 4, "%s", info->entry_words[at / 4]);
}

/* ---- holes ---- */

uint64_t pfd_walk_pass_hole(const struct pfd_walk *w, uint64_t at, uint64_t end)
{
    enum {
        SEEN = 64, /* zeros before what follows: no header is longer */
        STEP = 8
    };
    size_t i = pfd_range_find(w->holes, w->n_holes, at);
    if (i == w->n_holes || w->holes[i].from > at)
        return at;
    uint64_t to = w->holes[i].to < end ? w->holes[i].to : end;
    if (to < SEEN || to - SEEN <= at)
        return at;
    return at + (to - SEEN - at) / STEP * STEP;
}

void pfd_walk_report_hole(struct pfd_walk *w, uint64_t from, uint64_t to)
{
    pfd_walk_finding(w, PFD_FINDING_hole, from,
                     "a hole: nobody wrote the %llu bytes from here on, which "
                     "are passed over",
                     (unsigned long long)(to - from));
    w->batch->skipped_bytes += to - from;
}

void pfd_walk_report_overflow(struct pfd_walk *w, const char *by,
                              uint64_t wanted, uint64_t room)
{
    w->batch->lost_bytes += wanted - room;
    pfd_walk_finding(w, PFD_FINDING_overflow, room,
                     "%s %llu bytes, the buffer holds %llu: %llu bytes are "
                     "lost; a buffer of %llu bytes would have held all",
                     by, (unsigned long long)wanted, (unsigned long long)room,
                     (unsigned long long)(wanted - room),
                     (unsigned long long)wanted);
}

/* True also for copied records: the place of their bytes is not stored. */
static bool has_missing(const struct pfd_walk *w, const struct pfd_record *r)
{
    size_t i = pfd_range_find(w->missing, w->n_missing, r->offset);
    return r->flags & PFD_RECORD_COPIED ||
           (i < w->n_missing && w->missing[i].from < r->offset + r->n_bytes);
}

void pfd_walk_mark_missing(struct pfd_walk *w)
{
    for (size_t i = 0; w->n_missing && i < w->batch->n; i++) {
        struct pfd_record *r = &w->batch->records[i];
        if (r->kind == PFD_RECORD_ENTRY && has_missing(w, r))
            r->findings |= PFD_FINDING_BIT(incomplete);
    }
}

/* Properties of every record that a walk makes, for any format. */

enum {
    STREAMS = PFD_RECORD_STDOUT | PFD_RECORD_STDERR,
    FLAGS = STREAMS | PFD_RECORD_SYNTHESIZED | PFD_RECORD_COPIED |
            PFD_RECORD_OWN | PFD_RECORD_OWN2 | PFD_RECORD_SURE,
};

/* Bits that entries can have. */
#define FINDINGS       (UINT64_MAX >> (64 - PFD_ENTRY_FINDING_KINDS))
#define WIDTH_MISMATCH PFD_FINDING_BIT(width_mismatch)

static bool is_reading(const struct pfd_record *r)
{
    return r->kind == PFD_RECORD_ENTRY
               ? r->n_alternatives <= PFD_ALTERNATIVES_MAX
               : r->kind == PFD_RECORD_ALTERNATIVE && !r->n_alternatives;
}

static bool has_sound_bits(const struct pfd_format *format,
                           const struct pfd_record *r)
{
    return !(r->flags & ~FLAGS) && (r->flags & STREAMS) != STREAMS &&
           (format->make || !(r->flags & PFD_RECORD_SYNTHESIZED)) &&
           !(r->findings & ~FINDINGS) &&
           (format->layout_text || !(r->findings & WIDTH_MISMATCH));
}

/* A copy can be longer than the bytes it covers, where a format reads past an
 * entry; a scattered entry has a count of its own. */
static bool has_sound_size(const struct pfd_format *format,
                           const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    const struct pfd_byte_reader *c = &record_view->bytes;
    if (!pfd_byte_reader_ok(c) || c->at != r->n_header || c->n > UINT32_MAX ||
        r->offset > UINT64_MAX - r->n_bytes)
        return false;
    if (r->kind == PFD_RECORD_ALTERNATIVE && r->flags & PFD_RECORD_COPIED)
        return r->n_bytes == c->n;
    return format->is_scattered ||
           (r->n_bytes >= r->n_header && r->n_bytes <= c->n);
}

/* Does the payload hold all values of the string's own steps? Text is not among
 * them: strings in tables have no text slots. */
static bool holds_values(const struct pfd_string *s, size_t n_payload)
{
    if (s->n_payload != UINT32_MAX)
        return s->n_payload <= n_payload;
    for (const struct pfd_step *step = s->steps; step->op != PFD_OP_END;
         step++) {
        struct pfd_slot slot = { .at = step->at, .store = step->store & 15 };
        size_t n = pfd_slot_bytes(&slot);
        if (pfd_step_has_argument(step) &&
            (n > n_payload || slot.at > n_payload - n))
            return false;
    }
    return true;
}

static bool has_sound_string(const struct pfd_format *format,
                             const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    const struct pfd_string *s = r->string;
    bool is_made = r->flags & PFD_RECORD_SYNTHESIZED;
    if (!s)
        return is_made || !r->layout;
    return pfd_string_kinds[s->table] == &format->strings &&
           (is_made || r->layout ||
            holds_values(s, pfd_byte_reader_left(&record_view->bytes)));
}

bool pfd_record_is_sound(const struct pfd_format *format,
                         const struct pfd_record_view *record_view)
{
    return is_reading(record_view->record) &&
           has_sound_bits(format, record_view->record) &&
           has_sound_size(format, record_view) &&
           has_sound_string(format, record_view) &&
           (!format->is_record || format->is_record(record_view));
}

/* The options for how buffers are read, from the tables of all formats. */

static const char *const compat_words[] = { "none", "clr", "khronos" };

const struct pfd_format_option pfd_option_compat = {
    .info = {
        .name = "compat",
        .value = "WHO",
        .words = compat_words,
        .n_words = sizeof compat_words / sizeof *compat_words,
        .help = "print as another decoder does: none (default), clr or khronos",
        .of_text = true,
    },
    .member = offsetof(struct pfd_options, compat),
};

/* True for the first format, in a loop over all, that has this option. */
static bool is_first(const struct pfd_format_option *option, size_t format)
{
    for (size_t f = 0; f < format; f++) {
        const struct pfd_format_option *const *o = pfd_formats[f]->options;
        for (; o && *o; o++) {
            if (*o == option)
                return false;
        }
    }
    return true;
}

/* Option i of all formats, each once; NULL: there is none. */
static const struct pfd_format_option *option_at(size_t i)
{
    for (size_t f = 0; pfd_formats[f]; f++) {
        const struct pfd_format_option *const *o = pfd_formats[f]->options;
        for (; o && *o; o++) {
            if (is_first(*o, f) && i-- == 0)
                return *o;
        }
    }
    return NULL;
}

/* Keys of configurations have _ where options have -. */
static bool is_named(const struct pfd_format_option *option, const char *name)
{
    const char *own = option->info.name;
    while (*own && (*own == *name || (*own == '-' && *name == '_'))) {
        own++;
        name++;
    }
    return *own == *name;
}

static const struct pfd_format_option *find(const char *name)
{
    size_t i = 0;
    const struct pfd_format_option *option = option_at(0);
    while (option && !is_named(option, name))
        option = option_at(++i);
    return option;
}

enum pfd_status pfd_option_get(size_t i, struct pfd_option_info *ret)
{
    const struct pfd_format_option *option = option_at(i);
    if (!option)
        return PFD_END;
    *ret = option->info;
    return PFD_OK;
}

static void list(struct pfd_text *text, const char *word, bool is_last)
{
    if (text->n)
        pfd_text_puts(text, is_last ? " or " : ", ");
    pfd_text_puts(text, word);
}

static enum pfd_status no_option(const char *name, struct pfd_error *err)
{
    struct pfd_quoted quoted;
    struct pfd_text all = { 0 };
    for (size_t i = 0; option_at(i); i++)
        list(&all, option_at(i)->info.name, !option_at(i + 1));
    pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET, "no option '%s': there is %.*s",
             pfd_quote(&quoted, name, strlen(name)), (int)all.n,
             all.n ? all.data : "none");
    pfd_text_free(&all);
    return PFD_ERR_USAGE;
}

static enum pfd_status no_word(const struct pfd_option_info *info,
                               const char *word, struct pfd_error *err)
{
    struct pfd_quoted quoted;
    struct pfd_text all = { 0 };
    for (size_t i = 0; i < info->n_words; i++)
        list(&all, info->words[i], i + 1 == info->n_words);
    pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET, "%s is %.*s, not '%s'",
             info->name, (int)all.n, all.n ? all.data : "",
             pfd_quote(&quoted, word, strlen(word)));
    pfd_text_free(&all);
    return PFD_ERR_USAGE;
}

static bool is_text(const struct pfd_format_option *option)
{
    return !option->info.n_words;
}

/* Does the caller's struct have the option's member? */
static bool has_member(const struct pfd_options *options,
                       const struct pfd_format_option *option)
{
    size_t n = is_text(option) ? PFD_OPTION_TEXT : sizeof(unsigned);
    return !options->struct_size || options->struct_size >= option->member + n;
}

static enum pfd_status set_text(struct pfd_options *options,
                                const struct pfd_format_option *option,
                                const char *text, struct pfd_error *err)
{
    size_t n = strlen(text) + 1;
    if (n > PFD_OPTION_TEXT) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "%s has %d bytes at most, not %zu", option->info.name,
                        PFD_OPTION_TEXT - 1, n - 1);
    }
    memcpy((char *)options + option->member, text, n);
    return PFD_OK;
}

enum pfd_status pfd_options_set(struct pfd_options *options, const char *name,
                                const char *word, struct pfd_error *err)
{
    const struct pfd_format_option *option = find(name);
    if (!option)
        return no_option(name, err);
    if (!has_member(options, option)) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "options of %zu bytes have no %s", options->struct_size,
                        option->info.name);
    }
    if (is_text(option))
        return set_text(options, option, word, err);
    for (unsigned i = 0; i < option->info.n_words; i++) {
        if (!strcmp(option->info.words[i], word)) {
            memcpy((char *)options + option->member, &i, sizeof i);
            return PFD_OK;
        }
    }
    return no_word(&option->info, word, err);
}

const char *pfd_options_word(const struct pfd_options *options,
                             const char *name)
{
    const struct pfd_format_option *option = find(name);
    unsigned i = 0;
    if (!option)
        return NULL;
    if (is_text(option))
        return (const char *)options + option->member;
    memcpy(&i, (const char *)options + option->member, sizeof i);
    return i < option->info.n_words ? option->info.words[i] : NULL;
}
