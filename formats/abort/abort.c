/* SPDX-License-Identifier: MIT */
/*
 * The messages of VK_KHR_shader_abort, as a device reports them after it is
 * lost: pairs of a size and a payload. README.md beside this file describes
 * payloads, with sources.
 */
#include <string.h>

#include "core/base/escape.h"
#include "core/base/zero.h"
#include "core/decode/inspect.h"
#include "layout.h"

enum {
    /* u64 size (Vulkan specification, VkDeviceFaultShaderAbortMessageInfoKHR);
     * each pair begins at a multiple of it. */
    HEADER = 8,
    /* The specification sets no bound: maxShaderAbortMessageSize is at least
     * 65536. A longer message is skipped. */
    MESSAGE_MAX = 16 << 20,
    /* Bytes shown of a payload that is not text. */
    HEX_MAX = 256,
    /* Numbers look like shorter texts. */
    TEXT_MIN = 4,
    TEXT_SURE = 3, /* bytes of a text that speaks for itself */
};

struct state {
    uint64_t skip_to;
    uint64_t zeros_to; /* all bytes from the checked place up to here are
                          zero */
};

/* ---- the walk ---- */

/* Adds a message that is decoded by its conversions. */
static struct pfd_record *add_record(struct pfd_walk *w, uint64_t n_payload)
{
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = w->at,
        .n_bytes = (uint32_t)(HEADER + n_payload),
        .n_header = HEADER,
        .flags = PFD_RECORD_SYNTHESIZED,
        .kind = PFD_RECORD_ENTRY,
    };
    return r;
}

/* Adds a whole message, decoded by the types of its call site. A message of no
 * loaded site is unknown, even if it looks like text. */
static void add_message(struct pfd_walk *w, uint64_t n_payload)
{
    struct abort_sites sites;
    struct pfd_record *r = add_record(w, n_payload);
    if (!w->shader_table->n)
        return;
    struct pfd_byte_reader payload = w->view;
    pfd_byte_reader_seek(&payload, w->at + HEADER - w->base);
    abort_find_sites(w->shader_table,
                     pfd_byte_reader_bytes(&payload, (size_t)n_payload),
                     n_payload, &sites);
    if (!sites.n && sites.open) {
        r->findings |= PFD_FINDING_BIT(types_guessed);
        return;
    }
    struct pfd_record other = *r;
    if (!sites.n) {
        r->flags = 0;
        r->findings |= PFD_FINDING_BIT(unknown_id);
        pfd_walk_alternative(w, &other);
        return;
    }
    r->layout = sites.site[0].layout;
    for (size_t i = 1; i < sites.n; i++) {
        r->findings |= PFD_FINDING_BIT(ambiguous);
        other.findings = PFD_FINDING_BIT(ambiguous);
        other.layout = sites.site[i].layout;
        pfd_walk_alternative(w, &other);
    }
}

static void skip(struct pfd_walk *w, struct state *st, uint64_t to)
{
    uint64_t end = pfd_walk_end(w);
    st->skip_to = to;
    w->at = to < end ? to : end;
}

/* Fewer bytes are left than a size takes: ends, or reports them. */
static void finish(struct pfd_walk *w)
{
    uint64_t end = pfd_walk_end(w);
    bool is_zero = true;
    for (uint64_t at = w->at; at < end; at++)
        is_zero &= w->view.base[at - w->base] == 0;
    if (!is_zero) {
        pfd_walk_finding(w, PFD_FINDING_stray_dword, w->at,
                         "%llu bytes are left, no room for a message's size",
                         (unsigned long long)(end - w->at));
        w->batch->skipped_bytes += end - w->at;
    }
    w->at = end;
}

/* Skips the rest if it is all zeros, which are no messages. PFD_OK: it is
 * not. */
static enum pfd_status pass_tail(struct pfd_walk *w, struct state *st)
{
    uint64_t end = pfd_walk_end(w);
    uint64_t at = w->at < st->zeros_to ? st->zeros_to : w->at;
    while (at < end && w->view.base[at - w->base] == 0)
        at = pfd_walk_pass(w, at + 1, end);
    st->zeros_to = at;
    if (at < end)
        return PFD_OK;
    if (!w->last)
        return PFD_MORE;
    w->at = end;
    return PFD_END;
}

/* No device hands out as much for one message. */
#define ABORT_SIZE_MAX (UINT64_C(1) << 32)

static enum pfd_status give_cut(struct pfd_walk *w, uint64_t size,
                                uint64_t left)
{
    uint64_t n = left; /* at most MESSAGE_MAX */
    pfd_walk_finding(w, PFD_FINDING_truncated_entry, w->at,
                     "a message of %llu bytes, of which %llu are there",
                     (unsigned long long)size, (unsigned long long)left);
    w->batch->lost_bytes += size - left;
    add_record(w, n)->findings |= PFD_FINDING_BIT(incomplete);
    w->at = pfd_walk_end(w);
    return PFD_END;
}

/* Skips zeros before other bytes: every 8 zeros would be an empty message, and
 * messages that were lost look alike. */
static void pass_zeros(struct pfd_walk *w, struct state *st)
{
    uint64_t to = st->zeros_to / HEADER * HEADER;
    if (pfd_walk_pass(w, w->at, to) > w->at) {
        pfd_walk_report_hole(w, w->at, to);
    } else {
        pfd_walk_finding(w, PFD_FINDING_unwritten, w->at,
                         "%llu bytes of zeros before the next message: nothing "
                         "was written there, or the sizes of messages were "
                         "lost",
                         (unsigned long long)(to - w->at));
        w->batch->skipped_bytes += to - w->at;
    }
    skip(w, st, to);
}

static enum pfd_status step(struct pfd_walk *w, struct state *st)
{
    uint64_t end = pfd_walk_end(w);
    if (w->at < st->skip_to && w->at < end)
        skip(w, st, st->skip_to);
    if (w->at < st->skip_to || end - w->at < HEADER) {
        if (!w->last)
            return PFD_MORE;
        finish(w);
        return PFD_END;
    }
    uint64_t size = pfd_walk_u64(w, w->at);
    uint64_t left = end - w->at - HEADER;
    if (size == 0) {
        enum pfd_status status = pass_tail(w, st);
        if (status == PFD_OK)
            pass_zeros(w, st);
        return status;
    }
    if (w->at == 0 && size > ABORT_SIZE_MAX) {
        pfd_walk_finding(w, PFD_FINDING_bad_header, 0,
                         "a message of %llu bytes is more than a device hands "
                         "out: these are no abort messages, or the size is "
                         "damaged",
                         (unsigned long long)size);
        w->batch->skipped_bytes += end;
        skip(w, st, UINT64_MAX);
        return PFD_OK;
    }
    if (size > MESSAGE_MAX && left > MESSAGE_MAX) {
        uint64_t room = UINT64_MAX - w->at - 2 * HEADER;
        pfd_walk_finding(w, PFD_FINDING_too_large, w->at,
                         "a message of %llu bytes, above %d: skipped",
                         (unsigned long long)size, MESSAGE_MAX);
        skip(w, st,
             abort_align(w->at + HEADER + (size < room ? size : room), HEADER));
        return PFD_OK;
    }
    if (size > left)
        return w->last ? give_cut(w, size, left) : PFD_MORE;
    add_message(w, size);
    skip(w, st, abort_align(w->at + HEADER + size, HEADER));
    return PFD_OK;
}

static enum pfd_status abort_walk(struct pfd_walk *w)
{
    struct state *st = w->state;
    while (pfd_walk_has_room(w)) {
        enum pfd_status status = step(w, st);
        if (status != PFD_OK)
            return status;
    }
    return PFD_OK;
}

/* ---- conversions ---- */

struct spec {
    size_t start; /* of its % */
    size_t end;   /* after its letter */
    unsigned n;   /* scalars */
    unsigned stars;
    unsigned width; /* bytes of a scalar, by its letter and length */
    char conv;
};

static unsigned width_of(char conv, const char *length, size_t n)
{
    if (conv == 'p' || (n && strchr("ljztqLZ", length[0])))
        return 8;
    return n == 2 ? 1 : n == 1 ? 2 : 4;
}

static size_t skip_of(const char *text, size_t n, size_t i, const char *set)
{
    while (i < n && text[i] && strchr(set, text[i]))
        i++;
    return i;
}

/* Finds the next conversion at or after i. */
static bool next_spec(const char *text, size_t n, size_t i, struct spec *ret)
{
    for (; i < n; i++) {
        if (text[i] != '%')
            continue;
        if (i + 1 < n && text[i + 1] == '%') {
            i++;
            continue;
        }
        *ret = (struct spec){ .start = i, .n = 1 };
        size_t at = skip_of(text, n, i + 1, "-+ #0'123456789.*");
        for (size_t k = i; k < at; k++)
            ret->stars += text[k] == '*';
        if (at + 1 < n && text[at] == 'v' && text[at + 1] >= '2' &&
            text[at + 1] <= '4') {
            ret->n = (unsigned)(text[at + 1] - '0');
            at = skip_of(text, n, at + 2, "0123456789.");
        }
        size_t length = at;
        at = skip_of(text, n, at, "hljztqLZ");
        if (at >= n)
            return false;
        ret->conv = text[at];
        ret->width = width_of(ret->conv, text + length, at - length);
        ret->end = at + 1;
        return true;
    }
    return false;
}

/* ---- slots ---- */

struct payload {
    const uint8_t *bytes;
    uint64_t n;
    struct pfd_synthesized *synthesized;
};

static void add_slot(struct payload *p, uint64_t at, unsigned width)
{
    static const uint8_t stores[] = { [1] = PFD_STORE_BYTE,
                                      [2] = PFD_STORE_WORD,
                                      [4] = PFD_STORE_DWORD,
                                      [8] = PFD_STORE_QWORD };
    if (at > p->n || p->n - at < width ||
        p->synthesized->n_slots == PFD_ARGUMENTS_MAX)
        return;
    p->synthesized->slots[p->synthesized->n_slots++] =
        (struct pfd_slot){ .at = (uint32_t)at, .store = stores[width] & 15u };
}

/* Lays slots out by the conversions: naturally aligned, from the first dword
 * behind the text. */
static void guess_slots(struct payload *p, uint64_t at)
{
    const char *text = p->synthesized->text->data;
    size_t n = p->synthesized->text->n;
    struct spec spec = { 0 };
    while (next_spec(text, n, spec.end, &spec)) {
        for (unsigned i = 0; i < spec.stars; i++, at += 4) {
            at = abort_align(at, 4);
            add_slot(p, at, 4);
        }
        for (unsigned i = 0; i < spec.n; i++, at += spec.width) {
            at = abort_align(at, spec.width);
            if (at > p->n || p->n - at < spec.width)
                return;
            add_slot(p, at, spec.width);
        }
    }
    if (p->synthesized->n_slots) {
        p->synthesized->findings |= PFD_FINDING_BIT(types_guessed);
    } else if (at < p->n) { /* text in several members, or more than one
                               message */
        p->synthesized->findings |= PFD_FINDING_BIT(payload_long);
    }
}

/* ---- messages ---- */

/* Is it text as an author writes it: UTF-8, without control bytes other than
 * those below, which colours need? */
static bool is_text(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 32 && !strchr("\n\t\r\033", c)) || c == 127)
            return false;
    }
    return pfd_is_utf8(text, n);
}

static void make_hex(struct payload *p)
{
    uint64_t n = p->n < HEX_MAX ? p->n : HEX_MAX;
    p->synthesized->literal = true;
    pfd_text_printf(p->synthesized->text,
                    "<%llu bytes:", (unsigned long long)p->n);
    for (uint64_t i = 0; i < n; i++) {
        pfd_text_printf(p->synthesized->text, "%s%02x", i % 4 ? "" : " ",
                        p->bytes[i]);
    }
    pfd_text_puts(p->synthesized->text, n < p->n ? " ...>" : ">");
    for (uint64_t at = 0; at + 4 <= p->n; at += 4)
        add_slot(p, at, 4);
}

/* Does the payload begin as a text without a NUL? Checks up to three bytes
 * more, since a character may have four. */
static bool begins_as_text(const struct payload *p)
{
    bool ret = false;
    for (size_t n = TEXT_MIN; n < TEXT_MIN + 4 && n <= p->n; n++)
        ret |= is_text((const char *)p->bytes, n);
    return ret;
}

static void make_guessed(struct payload *p)
{
    size_t n = strnlen((const char *)p->bytes, (size_t)p->n);
    if (!is_text((const char *)p->bytes, n) ||
        (n == 0 && !pfd_is_zero(p->bytes, p->n))) {
        make_hex(p);
        if (begins_as_text(p))
            p->synthesized->findings |= PFD_FINDING_BIT(types_guessed);
        return;
    }
    pfd_text_add(p->synthesized->text, p->bytes, n);
    if (!p->synthesized->text->failed && n)
        guess_slots(p, abort_align(n + 1, 4));
}

static bool abort_is_record(const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    size_t n = pfd_byte_reader_left(&record_view->bytes);
    return !r->string && !r->key && r->n_header == HEADER && n <= MESSAGE_MAX &&
           !(r->flags & ~(PFD_RECORD_SYNTHESIZED | PFD_RECORD_COPIED)) &&
           (!r->layout ||
            abort_is_site(record_view->shader_table, r->layout, n));
}

static void abort_make(const struct pfd_record_view *record_view,
                       struct pfd_synthesized *ret)
{
    struct pfd_byte_reader c = record_view->bytes;
    struct payload p = { .n = pfd_byte_reader_left(&c), .synthesized = ret };
    p.bytes = pfd_byte_reader_bytes(&c, (size_t)p.n);
    if (!p.n)
        return;
    struct abort_site site =
        abort_site_of(record_view->shader_table, record_view->record->layout);
    ret->lay_out = site.abort && abort_text(&site, p.bytes, p.n, ret->text);
    if (!ret->lay_out)
        make_guessed(&p);
}

static size_t abort_origin(const struct pfd_record_view *record_view,
                           struct pfd_origin *ret)
{
    struct abort_site site =
        abort_site_of(record_view->shader_table, record_view->record->layout);
    struct pfd_spirv_place place;
    size_t n = 0;
    if (!site.abort || site.layout & ABORT_SEVERAL)
        return 0;
    ret[n++] = (struct pfd_origin){ .name = "shader",
                                    .n = 1,
                                    .value = { site.shader->id } };
    ret[n++] = (struct pfd_origin){
        .name = "module",
        .type = PFD_ORIGIN_TEXT,
        .n = (uint32_t)strlen(site.shader->source),
        .text = site.shader->source,
    };
    ret[n++] = (struct pfd_origin){
        .name = "instruction",
        .n = 1,
        .value = { pfd_spirv_offset(site.shader->module, site.abort->k) },
    };
    pfd_spirv_place_of(site.shader->module, site.abort->k, &place);
    if (place.file) {
        ret[n++] = (struct pfd_origin){
            .name = "file",
            .type = PFD_ORIGIN_TEXT,
            .n = (uint32_t)(place.n_file < UINT32_MAX ? place.n_file : 0),
            .text = place.file,
        };
        ret[n++] = (struct pfd_origin){ .name = "line",
                                        .n = 1,
                                        .value = { place.line } };
    }
    if (place.text) {
        ret[n++] = (struct pfd_origin){
            .name = "source_line",
            .type = PFD_ORIGIN_TEXT,
            .n = (uint32_t)(place.n_text < UINT32_MAX ? place.n_text : 0),
            .text = place.text,
        };
    }
    return n;
}

/* ---- the format ---- */

/* Are the bytes that are left messages with texts, one behind another up to the
 * very end? Then their sizes say more than the length of a text. */
static bool is_chain(struct pfd_byte_reader c)
{
    while (pfd_byte_reader_left(&c) >= HEADER) {
        uint64_t size = pfd_byte_reader_u64(&c);
        size_t left = pfd_byte_reader_left(&c);
        if (size > left)
            return false;
        const char *text =
            (const char *)pfd_byte_reader_bytes(&c, (size_t)size);
        size_t n_text = strnlen(text, (size_t)size);
        size_t n_pad = (size_t)(abort_align(size, HEADER) - size);
        n_pad = n_pad < left - size ? n_pad : left - (size_t)size;
        const uint8_t *pad = pfd_byte_reader_bytes(&c, n_pad);
        if ((size && !n_text) || !is_text(text, n_text) || !pad ||
            !pfd_is_zero(pad, n_pad))
            return false;
    }
    return !pfd_byte_reader_left(&c);
}

static int abort_probe(const struct pfd_byte_reader *first, uint64_t n_buffer)
{
    struct pfd_byte_reader c = *first;
    uint64_t size = pfd_byte_reader_u64(&c);
    while (!size && pfd_byte_reader_ok(&c))
        size = pfd_byte_reader_u64(&c); /* a size of 0: the message was lost */
    if (!pfd_byte_reader_ok(&c) || !size || size > MESSAGE_MAX ||
        (n_buffer && size > n_buffer - HEADER))
        return 0;
    size_t at = c.at - HEADER;
    size_t left = pfd_byte_reader_left(&c);
    size_t n = size < left ? (size_t)size : left;
    const char *text = (const char *)pfd_byte_reader_bytes(&c, n);
    size_t n_text = strnlen(text, n);
    struct pfd_byte_reader whole = *first;
    pfd_byte_reader_seek(&whole, at);
    bool fits = n_buffer && n_text && is_chain(whole);
    if (n_text < TEXT_SURE || !is_text(text, n_text))
        return !fits ? 20 : at ? 75 : 65;
    if (at)
        return fits ? 80 : 60;
    return n_buffer && abort_align(size + HEADER, HEADER) >= n_buffer ? 85 : 75;
}

static const char *const entry_words[] = {
    "message: its size in bytes, low half",
    "message: its size, high half",
};

/* Names the dwords between messages and after the last one. */
static bool abort_buffer_word(const struct pfd_walk *w, uint64_t at,
                              struct pfd_word *ret)
{
    uint64_t end = at / 4 * 4 + 4;
    if (end <= pfd_walk_end(w) && pfd_walk_u32(w, end - 4) == 0)
        return pfd_word_set(ret, end, "zeros: padding, or no message");
    return at % HEADER >= 4 && end < pfd_walk_end(w) &&
           pfd_word_set(ret, end, "padding to a multiple of %d", HEADER);
}

static void abort_layout(const struct pfd_string *string,
                         const struct pfd_program_facts *facts,
                         struct pfd_layout *ret)
{
    (void)string;
    (void)facts;
    ret->n_slots = 0;
}

static const char *const origin_names[] = {
    "shader", "module", "instruction", "file", "line", "source_line", NULL,
};

const struct pfd_format pfd_format_abort = {
    .info = {
        .name = "abort",
        .title = "messages of VK_KHR_shader_abort",
        .entry_words = entry_words,
        .n_entry_words = sizeof entry_words / sizeof *entry_words,
    },
    .complains = true,
    .state_size = sizeof(struct state),
    .strings = { .name = "abort", .layout = abort_layout },
    .reads_shaders = true,
    .probe = abort_probe,
    .walk = abort_walk,
    .is_record = abort_is_record,
    .slots = abort_slots,
    .make = abort_make,
    .adapt = abort_adapt,
    .origins = { .list = abort_origin, .names = origin_names },
    .buffer_word = abort_buffer_word,
    .find = abort_find,
};
