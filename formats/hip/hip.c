/* SPDX-License-Identifier: MIT */
/*
 * HIP's buffered printf (-mprintf-kind=buffered). The wire layout and its
 * sources are in README.md beside this file.
 */
#include <string.h>

#include "core/base/escape.h"
#include "core/base/md5.h"
#include "core/decode/rocm_layout.h"
#include "core/objects/hsa_printf.h"
#include "layout.h"

enum {
    DWORD = 4,
    /* Bytes of an inline format string that are examined. The walk compiles it,
     * to lay out its arguments, unless it takes more bytes or steps than
     * these. */
    TEXT_SEEN = 64,
    TEXT_COMPILED = 1024,
    STEPS_COMPILED = 128,
    ESCAPE = 0x1b, /* colours of terminals */
};
_Static_assert(HIP_ENTRY_MIN == 12, "step() says so in words");

/* The hash that the compiler writes for a module without constant formats. */
#define DUMMY_HASH UINT64_C(0xffffffff)

struct header {
    uint64_t n_bytes;
    uint64_t hash; /* 0 for an inline format string */
    bool is_constant;
    bool is_stderr;
    bool is_flipped; /* its hash is known, so is_constant is damaged */
};

struct state {
    struct pfd_rocm_buffer buffer;
    bool is_lost;
    struct header lost;
    uint64_t from;
    uint64_t next;
};

/* ---- format strings of code objects ---- */

struct loader {
    const struct pfd_format *format;
    struct pfd_strings *strings;
    struct pfd_report *report;
    size_t n_rows;
    struct pfd_error *err;
};

static enum pfd_status read_row(void *user, const struct pfd_hsa_row *row)
{
    struct loader *loader = user;
    uint64_t hash = 0;
    size_t format = 0;
    if (!pfd_hsa_row_is_hip(row, &hash, &format))
        return PFD_OK;
    loader->n_rows++;
    struct pfd_string_row string = {
        .key = hash,
        .text = row->text + format,
        .n_text = row->n_text - format,
        .counted = true,
    };
    if (string.n_text > PFD_TEXT_MAX)
        return PFD_OK;
    uint64_t found = pfd_md5_u64(string.text, string.n_text);
    if (hash == DUMMY_HASH && found != hash)
        return PFD_OK;
    if (found != hash) {
        struct pfd_quoted text;
        pfd_quote(&text, string.text, string.n_text);
        pfd_report_add(loader->report, PFD_FINDING_hash_mismatch, row->offset,
                       "row %zu of the printf metadata gives '%s' the hash "
                       "%016llx, its MD5 is %016llx: the text may not be what "
                       "was compiled",
                       row->i, text.text, (unsigned long long)hash,
                       (unsigned long long)found);
    }
    return pfd_strings_add_row(loader->strings, &loader->format->strings,
                               &string, loader->report, row->offset,
                               loader->err);
}

static enum pfd_status hip_load(const struct pfd_format *self,
                                const struct pfd_image *image,
                                struct pfd_strings *strings,
                                struct pfd_report *report, size_t *n_rows,
                                struct pfd_error *err)
{
    struct loader loader = {
        .format = self,
        .strings = strings,
        .report = report,
        .err = err,
    };
    /* Defects of the rows are reported by the other reader. */
    struct pfd_report quiet = { .source = report->source };
    enum pfd_status status =
        pfd_hsa_rows(image, read_row, &loader, &quiet, err);
    *n_rows = loader.n_rows;
    return status;
}

/* ---- the walk ---- */

static uint64_t layout_of(const struct pfd_way *way)
{
    return HIP_LAYOUT_TEXT | HIP_LAYOUT_NULLS | way->choice << HIP_FIRST_NULL;
}

static struct header read_header(const struct pfd_walk *w, uint64_t at)
{
    uint32_t control = pfd_walk_u32(w, at);
    struct header h = {
        .n_bytes = control >> 2,
        .is_constant = control & HIP_FLAG_CONSTANT,
        .is_stderr = control & HIP_FLAG_STDERR,
    };
    if (h.is_constant)
        h.hash = pfd_walk_u64(w, at + HIP_CONTROL);
    return h;
}

static bool is_sized(const struct state *st, const struct header *h,
                     uint64_t at)
{
    return h->n_bytes >= HIP_ENTRY_MIN && h->n_bytes <= HIP_ENTRY_MAX &&
           h->n_bytes % DWORD == 0 && h->n_bytes <= st->buffer.end - at;
}

/* How much the bytes after a control word look like a format string. */
enum likeness {
    NO_TEXT,
    SOME_TEXT, /* with some unusual bytes */
    ALL_TEXT,
};

static bool is_usual(uint8_t c, bool is_utf8)
{
    return c >= 0x80 ? is_utf8
                     : (c >= 0x20 && c != 0x7f) || c == ESCAPE ||
                           (c >= '\a' && c <= '\r');
}

static enum likeness likeness_of(const uint8_t *text, size_t n)
{
    size_t n_odd = 0;
    size_t n_whole = n;
    /* Ignores a character that the examined bytes cut. */
    while (n == TEXT_SEEN && n_whole > TEXT_SEEN - 3 &&
           text[n_whole - 1] >= 0x80)
        n_whole--;
    bool is_utf8 = pfd_is_utf8((const char *)text, n_whole);
    for (size_t i = 0; i < n_whole; i++)
        n_odd += !is_usual(text[i], is_utf8);
    if (!n_odd)
        return ALL_TEXT;
    return n >= HIP_HASH && n_odd * 4 <= n ? SOME_TEXT : NO_TEXT;
}

/* found: no entry led here. Then "" counts as no text: few bytes match by
 * chance. */
static enum likeness look_for_text(const struct pfd_walk *w,
                                   const struct header *h, uint64_t at,
                                   bool found)
{
    uint64_t n = h->n_bytes - HIP_CONTROL;
    struct pfd_byte_reader c = w->view;
    pfd_byte_reader_seek(&c, at + HIP_CONTROL - w->base);
    if (n > TEXT_SEEN)
        n = TEXT_SEEN;
    const uint8_t *text = pfd_byte_reader_bytes(&c, (size_t)n);
    if (!text)
        return NO_TEXT;
    const uint8_t *nul = memchr(text, 0, (size_t)n);
    if (nul == text)
        return found || h->n_bytes > HIP_ENTRY_MIN ? NO_TEXT : ALL_TEXT;
    return likeness_of(text, nul ? (size_t)(nul - text) : (size_t)n);
}

/* Can an entry be at `at`? PFD_OK, PFD_END (no) or PFD_MORE. */
static enum pfd_status is_entry(const struct pfd_walk *w,
                                const struct state *st, uint64_t at, bool known)
{
    if (st->buffer.end - at < HIP_ENTRY_MIN)
        return PFD_END;
    if (at + HIP_ENTRY_MIN > pfd_walk_end(w))
        return PFD_MORE;
    struct header h = read_header(w, at);
    if (!is_sized(st, &h, at))
        return PFD_END;
    if (at + h.n_bytes > pfd_walk_end(w))
        return PFD_MORE; /* if cut, its text may end early */
    if (!h.is_constant)
        return look_for_text(w, &h, at, known) ? PFD_OK : PFD_END;
    return !known || pfd_table_find(w->table, h.hash) ? PFD_OK : PFD_END;
}

/* Is there an entry beyond doubt: known or readable, and followed by a possible
 * entry? */
static enum pfd_status accept(const struct pfd_walk *w, const struct state *st,
                              uint64_t at)
{
    enum pfd_status status = is_entry(w, st, at, true);
    if (status != PFD_OK)
        return status;
    struct header h = read_header(w, at);
    uint64_t next = at + h.n_bytes;
    return next == st->buffer.end ? PFD_OK : is_entry(w, st, next, false);
}

static void lose_way(struct pfd_walk *w, struct state *st,
                     const struct header *h)
{
    st->is_lost = true;
    st->lost = *h;
    st->from = w->at;
    st->next = w->at + DWORD;
}

static void report_gap(struct pfd_walk *w, struct state *st, uint64_t to)
{
    struct pfd_walk_gap then;
    const struct header *h = &st->lost;
    w->batch->skipped_bytes += to - st->from;
    if (pfd_rocm_is_none(w, &st->buffer, st->from, to))
        return;
    pfd_walk_describe_gap(&then, st->from, to, st->buffer.end);
    if (h->n_bytes < HIP_ENTRY_MIN || h->n_bytes > HIP_ENTRY_MAX ||
        h->n_bytes % DWORD) {
        pfd_walk_finding(w, PFD_FINDING_bad_size, st->from,
                         "the control word says %llu bytes, %d to %d and a "
                         "multiple of 4 expected; %s",
                         (unsigned long long)h->n_bytes, HIP_ENTRY_MIN,
                         HIP_ENTRY_MAX, then.text);
    } else if (h->n_bytes > st->buffer.end - st->from) {
        pfd_walk_finding(w, PFD_FINDING_size_past_end, st->from,
                         "the control word says %llu bytes, only %llu are "
                         "left; %s",
                         (unsigned long long)h->n_bytes,
                         (unsigned long long)pfd_rocm_left(
                             &st->buffer, st->from, h->n_bytes),
                         then.text);
    } else {
        pfd_walk_finding(w, PFD_FINDING_unknown_id, st->from,
                         "no string has hash 0x%016llx, and the entry's %llu "
                         "bytes lead to no entry; %s",
                         (unsigned long long)h->hash,
                         (unsigned long long)h->n_bytes, then.text);
    }
}

static enum pfd_status find_way(struct pfd_walk *w, struct state *st)
{
    enum pfd_status status = PFD_END;
    uint64_t at = st->next;
    while (at + HIP_ENTRY_MIN <= st->buffer.end && status == PFD_END) {
        at = pfd_walk_pass(w, at, st->buffer.end);
        status = accept(w, st, at);
        if (status == PFD_END)
            at += DWORD;
    }
    if (status == PFD_END && st->buffer.end > pfd_walk_end(w))
        status = PFD_MORE; /* the end of the buffer is not in view */
    if (status == PFD_MORE && !w->last) {
        st->next = at;
        w->at = at;
        return PFD_MORE;
    }
    if (status != PFD_OK)
        at = st->buffer.end;
    report_gap(w, st, at);
    st->is_lost = false;
    w->at = at;
    return PFD_OK;
}

/* Can the arguments of s fill the payload? A string fits any. */
static bool fits(const struct pfd_string *s, uint64_t n_payload)
{
    return s->n_payload == n_payload ||
           (s->flags & PFD_STRING_CHAR && hip_count_texts(s->steps));
}

/* The string, of several with this hash, whose arguments fit the entry. */
static const struct pfd_string *choose(const struct pfd_string *first,
                                       uint64_t n_payload, uint64_t *findings)
{
    const struct pfd_string *best = NULL;
    for (const struct pfd_string *s = first; s; s = s->next) {
        if (!fits(s, n_payload))
            continue;
        if (best) {
            *findings |= PFD_FINDING_BIT(ambiguous);
        } else {
            best = s;
        }
    }
    if (!best)
        *findings |= PFD_FINDING_BIT(ambiguous);
    return best ? best : first;
}

static struct pfd_byte_reader payload_of(const struct pfd_walk *w,
                                         const struct pfd_record *r)
{
    struct pfd_byte_reader c = w->view;
    pfd_byte_reader_seek(&c, r->offset + r->n_header - w->base);
    return pfd_byte_reader_sub(&c, r->n_bytes - r->n_header);
}

/* Decides which strings of the batch's newest entry are null, by its steps. */
static void solve(struct pfd_walk *w, struct pfd_record *r,
                  const struct pfd_step *steps, uint32_t from)
{
    struct pfd_byte_reader payload = payload_of(w, r);
    struct pfd_ways ways;
    r->layout = HIP_LAYOUT_TEXT | HIP_LAYOUT_NULLS;
    if (pfd_rocm_is_plain(steps, &payload, from))
        return;
    bool all = pfd_rocm_weigh(steps, &payload, from, &ways);
    if (!ways.n)
        return; /* too few arguments: uses the existing ones */
    unsigned n_left = pfd_ways_left(&ways);
    r->layout = layout_of(&ways.way[0]);
    if (n_left > 1 || !all)
        r->findings |= PFD_FINDING_BIT(null_strings);
    struct pfd_record other = *r;
    for (unsigned i = 1; i < n_left; i++) {
        other.layout = layout_of(&ways.way[i]);
        pfd_walk_alternative(w, &other);
    }
}

/* With at most one string, the size decides. */
static void solve_constant(struct pfd_walk *w, struct pfd_record *r)
{
    const struct pfd_string *s = r->string;
    unsigned n_texts = hip_count_texts(s->steps);
    r->layout = HIP_LAYOUT_TEXT;
    if (n_texts > 1)
        solve(w, r, s->steps, 0);
}

/* An entry that contains its format string; its id is the hash that the string
 * would have as a constant. */
static void read_inline(struct pfd_walk *w, struct pfd_record *r)
{
    struct pfd_byte_reader payload = payload_of(w, r);
    struct pfd_step steps[STEPS_COMPILED];
    struct pfd_program_facts facts;
    uint32_t n_text;
    uint32_t n_used;
    const char *text = pfd_rocm_text(&payload, 0, &n_text, &n_used);
    r->key = pfd_md5_u64(text, n_text);
    if (!memchr(text, 's', n_text) || n_text > TEXT_COMPILED ||
        pfd_program_steps_max(text, n_text) > STEPS_COMPILED)
        return;
    pfd_program_compile(text, n_text, steps, &facts);
    if (hip_count_texts(steps) > 1)
        solve(w, r, steps, n_used);
}

static struct pfd_record *add_record(struct pfd_walk *w, const struct header *h,
                                     uint8_t n_header)
{
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = w->at,
        .key = h->hash,
        .n_bytes = (uint32_t)h->n_bytes,
        .n_header = n_header,
        .flags = h->is_stderr ? PFD_RECORD_STDERR : PFD_RECORD_STDOUT,
        .kind = PFD_RECORD_ENTRY,
    };
    w->at += h->n_bytes;
    return r;
}

static void add_constant(struct pfd_walk *w, const struct header *h,
                         const struct pfd_string *s)
{
    struct pfd_record *r = add_record(w, h, HIP_ENTRY_MIN);
    uint32_t n_payload = r->n_bytes - r->n_header;
    if (h->is_flipped)
        r->findings |= PFD_FINDING_BIT(bad_control);
    r->string = s->next ? choose(s, n_payload, &r->findings) : s;
    if (r->string->flags & PFD_STRING_CHAR || r->string->n_payload != n_payload)
        solve_constant(w, r);
    struct pfd_record other = *r;
    for (; s && r->findings & PFD_FINDING_BIT(ambiguous); s = s->next) {
        other.string = s;
        other.layout = HIP_LAYOUT_TEXT;
        if (s != r->string && fits(s, n_payload))
            pfd_walk_alternative(w, &other);
    }
}

/* With unusual bytes, it may be the hash of an unknown string instead. */
static void add_inline(struct pfd_walk *w, const struct header *h,
                       enum likeness likeness)
{
    struct pfd_record *r = add_record(w, h, HIP_CONTROL);
    r->flags |= PFD_RECORD_SYNTHESIZED;
    read_inline(w, r);
    if (likeness == ALL_TEXT)
        return;
    r->findings |= PFD_FINDING_BIT(ambiguous);
    struct pfd_record other = *r;
    other.key = h->hash;
    other.n_header = HIP_ENTRY_MIN;
    other.flags &= (uint8_t)~PFD_RECORD_SYNTHESIZED;
    other.findings = PFD_FINDING_BIT(unknown_id);
    other.layout = HIP_LAYOUT_OWN;
    pfd_walk_alternative(w, &other);
}

/* An entry whose hash is unknown; or one without a hash whose format string
 * does not look like one; or one with a hash whose bytes look like a format
 * string. */
static void add_unknown(struct pfd_walk *w, const struct header *h,
                        enum likeness likeness)
{
    struct pfd_record *r = add_record(w, h, HIP_ENTRY_MIN);
    r->findings |= PFD_FINDING_BIT(unknown_id);
    if (h->is_constant && likeness != ALL_TEXT)
        return;
    struct pfd_record other = *r;
    other.n_header = HIP_CONTROL;
    other.flags |= PFD_RECORD_SYNTHESIZED;
    other.findings = PFD_FINDING_BIT(bad_control);
    pfd_walk_alternative(w, &other);
}

/* Was the entry reserved, and no more than its control word written, or half of
 * the hash? Zeros are no hash, and only one of 2^32 has half of it zero. */
static bool is_unwritten(const struct pfd_walk *w, const struct header *h)
{
    struct pfd_byte_reader c = w->view;
    bool is_half = !(h->hash >> 32) || !(h->hash & UINT32_MAX);
    if (!h->is_constant || !is_half || h->hash == DUMMY_HASH)
        return false;
    for (uint64_t at = HIP_ENTRY_MIN; at < h->n_bytes; at += DWORD) {
        if (pfd_byte_reader_peek_u32(&c, (size_t)(w->at + at - w->base)))
            return false;
    }
    return true;
}

static void pass_unwritten(struct pfd_walk *w, const struct header *h)
{
    pfd_walk_finding(w, PFD_FINDING_unwritten, w->at,
                     "the entry's %llu bytes were reserved, and %s of its hash "
                     "was written: %llu dwords skipped",
                     (unsigned long long)h->n_bytes, h->hash ? "half" : "none",
                     (unsigned long long)h->n_bytes / DWORD);
    w->batch->skipped_bytes += h->n_bytes;
    w->at += h->n_bytes;
}

/* An unknown hash: the size is believed when it leads to the end or to a
 * possible entry. */
static enum pfd_status step_unknown(struct pfd_walk *w, struct state *st,
                                    const struct header *h,
                                    enum likeness likeness)
{
    uint64_t next = w->at + h->n_bytes;
    enum pfd_status status =
        next == st->buffer.end ? PFD_OK : is_entry(w, st, next, false);
    if (status == PFD_MORE && !w->last)
        return PFD_MORE;
    if (status == PFD_OK && is_unwritten(w, h)) {
        pass_unwritten(w, h);
    } else if (status == PFD_OK) {
        add_unknown(w, h, likeness);
    } else {
        lose_way(w, st, h);
    }
    return PFD_OK;
}

static enum pfd_status step(struct pfd_walk *w, struct state *st)
{
    if (st->buffer.end - w->at < HIP_ENTRY_MIN)
        return pfd_rocm_finish(w, &st->buffer, "an entry has at least 12");
    if (w->at + HIP_ENTRY_MIN > pfd_walk_end(w))
        return PFD_MORE;
    struct header h = read_header(w, w->at);
    if (!is_sized(st, &h, w->at)) {
        lose_way(w, st, &h);
        return PFD_OK;
    }
    if (w->at + h.n_bytes > pfd_walk_end(w))
        return PFD_MORE;
    h.hash = pfd_walk_u64(w, w->at + HIP_CONTROL);
    const struct pfd_string *s = pfd_table_find(w->table, h.hash);
    h.is_flipped = s && !h.is_constant;
    enum likeness likeness = s ? NO_TEXT : look_for_text(w, &h, w->at, false);
    if (!s && (h.is_constant || likeness == NO_TEXT))
        return step_unknown(w, st, &h, likeness);
    if (s) {
        add_constant(w, &h, s);
    } else {
        add_inline(w, &h, likeness);
    }
    return PFD_OK;
}

static enum pfd_status hip_walk(struct pfd_walk *w)
{
    struct state *st = w->state;
    enum pfd_status status = pfd_rocm_begin(w, &st->buffer, HIP_ENTRY_MIN);
    while (status == PFD_OK && pfd_walk_has_room(w))
        status = st->is_lost ? find_way(w, st) : step(w, st);
    return status;
}

enum {
    /* Evidence for the format: one or more entries that lead from one to the
     * next up to the end, and a text where one belongs. */
    CHAIN_BROKEN = 5,
    CHAIN_OF_ONE = 20,
    CHAIN = 30,
    INLINE_TEXT = 5,
    PROBED_ENTRIES = 64,
    /* Consecutive entries that cannot match by chance, even if they do not
     * reach the end. */
    CHAIN_SURE = 3,
    CHAIN_SURE_IF_ODD = 8,
    TEXT_LEAST = 4, /* letters that say something */
    /* The header's part, where its entries alone are enough. */
    HEADER_HOLDS = 50,
};

struct chain {
    unsigned n;     /* entries that lead to the next one, or to the end */
    bool is_broken; /* behind them is what can be none */
    bool is_text;   /* they end in a text that goes on where nothing is seen */
    bool is_whole;  /* they lead to the end of the used part */
    unsigned n_odd; /* those with a text or hash that programs hardly have */
};

/* Halves of a hash are no small numbers. */
static bool is_odd_hash(uint64_t hash)
{
    return hash >> 48 == 0 || (hash & UINT32_MAX) >> 16 == 0;
}

/* How well the entries of the first bytes lead from one to the next. */
static struct chain probe_chain(struct pfd_byte_reader c, uint32_t used)
{
    struct chain ret = { 0 };
    uint64_t end = PFD_ROCM_HEADER + (uint64_t)used;
    while (c.at < end && ret.n < PROBED_ENTRIES) {
        uint64_t at = c.at;
        uint32_t control = pfd_byte_reader_u32(&c);
        uint32_t n = control >> 2;
        if (!pfd_byte_reader_ok(&c))
            return ret; /* the rest is not in the examined bytes */
        size_t left = pfd_byte_reader_left(&c);
        size_t n_text = left < n - HIP_CONTROL ? left : n - HIP_CONTROL;
        ret.is_broken =
            n < HIP_ENTRY_MIN || n > HIP_ENTRY_MAX || n % DWORD || n > end - at;
        if (!ret.is_broken && !(control & HIP_FLAG_CONSTANT)) {
            n_text = n_text < TEXT_SEEN ? n_text : (size_t)TEXT_SEEN;
            const char *text = (const char *)c.base + c.at;
            n_text = strnlen(text, n_text);
            enum likeness likeness = likeness_of((const uint8_t *)text, n_text);
            ret.is_broken = likeness == NO_TEXT;
            ret.n_odd += likeness != ALL_TEXT || n_text < TEXT_LEAST;
            ret.is_text = n_text == TEXT_SEEN && at + n > c.n;
        } else if (!ret.is_broken) {
            ret.n_odd += is_odd_hash(pfd_byte_reader_peek_u64(&c, c.at));
        }
        if (ret.is_broken || at + n > c.n)
            return ret;
        ret.n++;
        pfd_byte_reader_seek(&c, at + n);
    }
    ret.is_whole = c.at == end;
    return ret;
}

static int hip_probe(const struct pfd_byte_reader *first, uint64_t n_buffer)
{
    struct pfd_byte_reader c = *first;
    int score = pfd_rocm_probe(first, n_buffer);
    uint32_t used = pfd_byte_reader_u32(&c);
    pfd_byte_reader_u32(&c);
    if (!pfd_byte_reader_ok(&c) || !used)
        return score;
    struct chain chain = probe_chain(c, used);
    /* A header whose capacity cannot be, before entries that fill it. */
    if (!score && (!chain.is_whole || chain.n < CHAIN_SURE))
        return 0;
    if (!chain.n && chain.is_broken)
        return score < 60 ? (score < 30 ? score : 30) : HEADER_HOLDS;
    uint32_t control = pfd_byte_reader_u32(&c);
    uint8_t letter = pfd_byte_reader_u8(&c);
    bool is_inline = !(control & HIP_FLAG_CONSTANT);
    bool is_text = letter >= 0x20 && letter < 0x7f;
    bool is_odd = chain.n_odd * 2 > chain.n && chain.n < CHAIN_SURE_IF_ODD;
    if (score < HEADER_HOLDS && !is_odd &&
        (chain.is_whole || chain.is_text || chain.n >= CHAIN_SURE))
        score = HEADER_HOLDS;
    if (score < HEADER_HOLDS)
        return score;
    score += chain.is_broken ? CHAIN_BROKEN
             : chain.n > 1   ? CHAIN
                             : CHAIN_OF_ONE;
    score += is_inline && is_text ? INLINE_TEXT : 0;
    bool is_sure = chain.is_whole && chain.n > 1;
    return is_inline && !is_text && !is_sure ? score - CHAIN_OF_ONE : score;
}

static struct pfd_rocm_chain hip_chain(const struct pfd_table *table,
                                       struct pfd_byte_reader c, bool is_pages)
{
    struct pfd_rocm_chain ret = { 0 };
    while (ret.n < PROBED_ENTRIES && pfd_byte_reader_left(&c)) {
        size_t at = c.at;
        size_t left = pfd_byte_reader_left(&c);
        uint32_t control = pfd_byte_reader_u32(&c);
        uint64_t hash = pfd_byte_reader_u64(&c);
        uint32_t n = control >> 2;
        bool is_constant = control & HIP_FLAG_CONSTANT;
        uint8_t letter = (uint8_t)hash;
        if (!pfd_byte_reader_ok(&c) || n < HIP_ENTRY_MIN || n % DWORD ||
            n > left ||
            (is_constant ? !pfd_table_find(table, hash)
                         : !is_pages || letter < 0x20 || letter >= 0x7f))
            return ret;
        ret.is_telling |= is_constant;
        ret.is_weak |= !is_constant;
        ret.n++;
        pfd_byte_reader_seek(&c, at + n);
    }
    ret.is_whole = true;
    return ret;
}

static size_t hip_find(const struct pfd_field *field, size_t from, size_t to,
                       struct pfd_whole *ret)
{
    return pfd_rocm_find(hip_chain, field, from, to, ret);
}

static const char *const header_words[] = {
    "bytes used",
    "capacity in bytes",
};

const struct pfd_format pfd_format_hip = {
    .info = {
        .name = "hip",
        .title = "printf of AMD's HIP, buffered (ROCm)",
        .header_words = header_words,
        .n_header_words = sizeof header_words / sizeof *header_words,
    },
    .state_size = sizeof(struct state),
    .strings = { .name = "hip", .layout = hip_layout },
    .load = hip_load,
    .probe = hip_probe,
    .buffer_word = pfd_rocm_buffer_word,
    .entry_word = hip_entry_word,
    .walk = hip_walk,
    .is_record = hip_is_record,
    .slots = hip_slots,
    .make = hip_make,
    .find = hip_find,
    .measure = pfd_rocm_measure,
};
