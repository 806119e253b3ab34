/* SPDX-License-Identifier: MIT */
/*
 * Additions of PFD_PRINTF to LLPC's entries: a commit word, origins, and
 * arguments that stand for texts.
 */
#include "core/objects/site_rows.h"
#include "layout.h"

enum {
    DWORD = 4,
    QWORD = 8,
    BUFFER_HEADER = 16,
    PAD_MAX = 4096, /* the limit that printing has, too */
    NO_LANE = 0xff,
    NO_WAVE = 0xffffff,
};

/* ---- sizes ---- */

static unsigned extra_dwords(const struct pfd_string *s)
{
    unsigned n = 0;
    if (llpc_extension_flags(s) & PFD_ROW_ORIGIN)
        n += PFD_ROW_ORIGIN_DWORDS;
    if (llpc_extension_flags(s) & PFD_ROW_COMMIT)
        n++;
    return n;
}

static unsigned argument_bytes(const struct pfd_string *s)
{
    uint64_t wide = pfd_string_layout(s)[0];
    return (s->n_arguments + (unsigned)__builtin_popcountll(wide)) * DWORD;
}

bool llpc_is_committed(const struct pfd_string *s)
{
    return llpc_is_extension(s) && llpc_extension_flags(s) & PFD_ROW_COMMIT;
}

uint64_t llpc_extension_payload(const struct pfd_string *s)
{
    /* A literal has no entries. */
    if (s->flags & PFD_STRING_LITERAL)
        return UINT64_C(1) << 40;
    return argument_bytes(s) + extra_dwords(s) * DWORD;
}

/* ---- commit words ---- */

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

uint32_t llpc_commit_word(const uint8_t *bytes, size_t n, uint64_t at)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    uint32_t h = (uint32_t)((at - BUFFER_HEADER) / DWORD);
    for (size_t i = 0; i < n / DWORD; i++) {
        uint32_t k = pfd_byte_reader_u32(&c) * UINT32_C(0xcc9e2d51);
        h ^= rotate(k, 15) * UINT32_C(0x1b873593);
        h = rotate(h, 13) * 5 + UINT32_C(0xe6546b64);
    }
    h ^= (uint32_t)n;
    h = (h ^ h >> 16) * UINT32_C(0x85ebca6b);
    h = (h ^ h >> 13) * UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}

/* ---- origins ---- */

const char *const llpc_origin_names[] = { "level",     "file",     "line",
                                          "workgroup", "wave",     "lane",
                                          "clock",     "fragment", NULL };

static void add(struct pfd_origin *ret, size_t *n, const char *name,
                enum pfd_origin_type type, uint64_t value)
{
    ret[(*n)++] = (struct pfd_origin){
        .name = name,
        .type = type,
        .n = 1,
        .value = { value },
    };
}

static void add_text(struct pfd_origin *ret, size_t *n, const char *name,
                     const char *text, size_t n_text)
{
    ret[(*n)++] = (struct pfd_origin){
        .name = name,
        .type = PFD_ORIGIN_TEXT,
        .n = (uint32_t)n_text,
        .text = text,
    };
}

static size_t add_words(const struct pfd_record_view *record_view,
                        struct pfd_origin *ret, size_t n)
{
    struct pfd_byte_reader c = record_view->bytes;
    uint32_t words[PFD_ROW_ORIGIN_DWORDS];
    pfd_byte_reader_skip(&c, argument_bytes(record_view->record->string));
    for (int i = 0; i < PFD_ROW_ORIGIN_DWORDS; i++)
        words[i] = pfd_byte_reader_u32(&c);
    if (!pfd_byte_reader_ok(&c))
        return n;
    bool is_pixel = words[2] == UINT32_MAX;
    if (!is_pixel || words[0] != UINT32_MAX || words[1] != UINT32_MAX) {
        ret[n++] = (struct pfd_origin){
            .name = is_pixel ? "fragment" : "workgroup",
            .type = PFD_ORIGIN_COORDS,
            .n = is_pixel ? 2 : 3,
            .value = { words[0], words[1], words[2] },
        };
    }
    uint64_t clock = (uint64_t)words[5] << 32 | words[4];
    if (words[3] >> 8 != NO_WAVE)
        add(ret, &n, "wave", PFD_ORIGIN_NUMBER, words[3] >> 8);
    if ((words[3] & NO_LANE) != NO_LANE)
        add(ret, &n, "lane", PFD_ORIGIN_NUMBER, words[3] & NO_LANE);
    if (clock)
        add(ret, &n, "clock", PFD_ORIGIN_NUMBER, clock);
    return n;
}

size_t llpc_origin(const struct pfd_record_view *record_view,
                   struct pfd_origin *ret)
{
    static const char *const levels[] = { "",     "error", "warning",
                                          "info", "debug", "trace" };
    const struct pfd_string *s = record_view->record->string;
    size_t n = 0;
    if (!s || !llpc_is_extension(s))
        return 0;
    const uint64_t *words = pfd_string_layout(s);
    unsigned level = words[2] >> 8 & 0xff;
    size_t n_file = (size_t)(words[2] >> 32);
    if (level && level < sizeof levels / sizeof *levels)
        add_text(ret, &n, "level", levels[level], strlen(levels[level]));
    if (n_file) {
        add_text(ret, &n, "file", (const char *)(words + LLPC_OWN_WORDS),
                 n_file);
    }
    if (words[3])
        add(ret, &n, "line", PFD_ORIGIN_NUMBER, words[3]);
    if (llpc_extension_flags(s) & PFD_ROW_ORIGIN)
        n = add_words(record_view, ret, n);
    return n;
}

/* ---- texts ---- */

/* A conversion in a format string: [from, to); its letter is at to - 1. */
struct conversion {
    size_t from;
    size_t to;
    size_t width;
    size_t precision;
    bool is_left;
    bool is_bare; /* has only flags, digits and a point */
    unsigned n_stars;
};

static size_t read_digits(const char *text, size_t n, size_t *at)
{
    size_t value = 0;
    for (; *at < n && text[*at] >= '0' && text[*at] <= '9'; ++*at) {
        value = value * 10 + (size_t)(text[*at] - '0');
        value = value < PAD_MAX ? value : PAD_MAX;
    }
    return value;
}

/* Finds the next conversion from `at` on; skips %%. False: there is none. */
static bool next_conversion(const char *text, size_t n, size_t at,
                            struct conversion *ret)
{
    for (; at < n && (text[at] != '%' || (at + 1 < n && text[at + 1] == '%'));
         at++)
        at += text[at] == '%';
    *ret = (struct conversion){ .from = at++, .precision = SIZE_MAX };
    for (; at < n && memchr("-+ #0'", text[at], 6); at++)
        ret->is_left |= text[at] == '-';
    ret->width = read_digits(text, n, &at);
    if (at < n && text[at] == '.') {
        at++;
        ret->precision = read_digits(text, n, &at);
    }
    ret->is_bare = at < n && text[at] == 's';
    for (; at < n && memchr("*.0123456789hljztqLv", text[at], 20); at++)
        ret->n_stars += text[at] == '*';
    ret->to = at + 1;
    return at < n;
}

static void pad(struct pfd_text *out, size_t n)
{
    while (n-- > 0)
        pfd_text_puts(out, " ");
}

/* Replaces a %s by the text of its argument; the result is a format string. */
static void add_argument(const struct conversion *c, const struct pfd_string *s,
                         struct pfd_text *out)
{
    const char *text = pfd_string_text(s);
    size_t n = s->n_text < c->precision ? s->n_text : c->precision;
    size_t n_pad = c->width > n ? c->width - n : 0;
    if (!c->is_left)
        pad(out, n_pad);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '%')
            pfd_text_puts(out, "%");
        pfd_text_add(out, text + i, 1);
    }
    if (c->is_left)
        pad(out, n_pad);
}

/* The text of an id; NULL: no row has it. */
static const struct pfd_string *find_text(
    const struct pfd_record_view *record_view, uint64_t id)
{
    const struct pfd_string *s = pfd_table_find(record_view->table, id);
    while (s && !(llpc_is_extension(s) && s->flags & PFD_STRING_LITERAL))
        s = s->next;
    return s;
}

/* Replaces conversion c by the text of argument i. False: the conversion has to
 * take the argument. */
static bool take_text(const struct pfd_record_view *record_view,
                      const struct conversion *c, size_t i,
                      struct pfd_byte_reader payload,
                      struct pfd_synthesized *ret)
{
    uint64_t texts = pfd_string_layout(record_view->record->string)[1];
    if (i >= 64 || !(texts >> i & 1) || !c->is_bare)
        return false;
    uint64_t id = pfd_byte_reader_u64(&payload);
    const struct pfd_string *s = find_text(record_view, id);
    if (!pfd_byte_reader_ok(&payload) || !s)
        return false;
    add_argument(c, s, ret->text);
    return true;
}

void llpc_extension_make(const struct pfd_record_view *record_view,
                         struct pfd_synthesized *ret)
{
    const struct pfd_string *s = record_view->record->string;
    const char *text = pfd_string_text(s);
    uint64_t wide = pfd_string_layout(s)[0];
    struct pfd_byte_reader payload = record_view->bytes;
    uint32_t start = (uint32_t)payload.at;
    struct conversion c;
    size_t done = 0;
    size_t i = 0;
    while (next_conversion(text, s->n_text, done, &c)) {
        bool is_replaced = false;
        pfd_text_add(ret->text, text + done, c.from - done);
        done = c.to;
        for (unsigned k = 0; k <= c.n_stars && i < s->n_arguments; k++, i++) {
            bool is_wide = i < 64 && wide >> i & 1;
            uint32_t at = (uint32_t)payload.at - start;
            bool is_taken =
                k == c.n_stars && take_text(record_view, &c, i, payload, ret);
            pfd_byte_reader_skip(&payload, is_wide ? QWORD : DWORD);
            is_replaced |= is_taken;
            if (!pfd_byte_reader_ok(&payload) || is_taken)
                continue;
            ret->slots[ret->n_slots++] = (struct pfd_slot){
                .at = at,
                .store = is_wide ? PFD_STORE_QWORD : PFD_STORE_DWORD,
            };
        }
        if (!is_replaced)
            pfd_text_add(ret->text, text + c.from, c.to - c.from);
    }
    pfd_text_add(ret->text, text + done, s->n_text - done);
}
