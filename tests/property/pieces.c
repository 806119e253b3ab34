/* SPDX-License-Identifier: MIT */
/*
 * Decodes a buffer whole and in pieces: whatever a decoder is given at a time,
 * it says the same.
 *
 *     pieces BUFFER [--format NAME] [--layout N] [--compat N]
 *            [--opencl-strings N] [--strings FILE]... [--shader ID=FILE]...
 *            SIZE...
 *
 * A SIZE is that of the pieces in bytes; 0: a size that is drawn anew for each
 * piece. Exit status 1: something was said in another way, and where.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/printfdecode.h>
#include <printfdecode/strings.h>

#include "core/decode/inspect.h"

enum {
    DRAWN_MAX = 8192 /* bytes of a piece whose size is drawn */
};

struct file {
    char *bytes;
    size_t n;
};

struct setting {
    struct file buffer;
    struct pfd_strings *strings;
    struct pfd_options options;
    const char *format;
};

/* What was said: a hash of each item, and where it stands. */
struct said {
    struct said_item {
        uint64_t hash;
        uint64_t offset;
    } * items;
    size_t n;
    size_t room;
};

static void stop(const char *what, const char *name)
{
    fprintf(stderr, "pieces: %s: %s\n", name, what);
    exit(2);
}

static struct file read_file(const char *path)
{
    struct file ret = { NULL, 0 };
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        stop(strerror(errno), path);
    long n = ftell(f);
    rewind(f);
    ret.bytes = malloc((size_t)n + 1);
    if (!ret.bytes || fread(ret.bytes, 1, (size_t)n, f) != (size_t)n)
        stop("cannot be read", path);
    ret.n = (size_t)n;
    fclose(f);
    return ret;
}

/* ---- what is said ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    hash = (hash ^ n) * 0x100000001b3;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * 0x100000001b3;
    return hash;
}

static uint64_t mix_number(uint64_t hash, uint64_t v)
{
    return mix(hash, &v, sizeof v);
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return text ? mix(hash, text, strlen(text)) : mix_number(hash, 0);
}

static uint64_t say_argument(uint64_t hash, const struct pfd_argument *a)
{
    hash = mix_number(hash, a->at);
    hash = mix_number(hash, (uint64_t)a->conversion << 8 | a->type);
    if (a->type != PFD_ARGUMENT_TEXT)
        return mix_number(hash, a->u);
    return mix(hash, a->text, a->text ? a->n_bytes : 0);
}

static uint64_t say_origin(uint64_t hash, const struct pfd_origin *o)
{
    hash = mix_text(hash, o->name);
    if (o->type == PFD_ORIGIN_TEXT)
        return mix(hash, o->text, o->n);
    return mix(hash, o->value, sizeof o->value[0] * (o->n > 3 ? 3 : o->n));
}

static uint64_t say_findings(uint64_t hash, const struct pfd_entry *e)
{
    char text[400];
    for (uint64_t left = e->findings; left; left &= left - 1) {
        pfd_entry_finding_text(e, (enum pfd_finding_kind)__builtin_ctzll(left),
                               text, sizeof text);
        hash = mix_text(mix_number(hash, left), text);
    }
    return hash;
}

static uint64_t say_entry(struct pfd_entry *e)
{
    size_t n = 0;
    const char *message = pfd_entry_message(e, &n);
    uint64_t hash = mix(1, message, message ? n : 0);
    hash = mix_number(hash, e->index);
    hash = mix_number(hash, e->offset);
    hash = mix_number(hash, e->id);
    hash = mix(hash, e->payload, e->n_payload);
    hash = mix_number(hash, (uint64_t)e->n_bytes << 8 | e->stream);
    const struct pfd_argument *arguments = pfd_entry_arguments(e, &n);
    for (size_t i = 0; arguments && i < n; i++)
        hash = say_argument(hash, &arguments[i]);
    const struct pfd_origin *origins = pfd_entry_origins(e, &n);
    for (size_t i = 0; i < n; i++)
        hash = say_origin(hash, &origins[i]);
    return say_findings(hash, e);
}

static uint64_t say_item(struct pfd_item *item)
{
    struct pfd_entry other;
    if (!item->is_entry) {
        uint64_t hash = mix_number(2, item->finding->kind);
        hash = mix_number(hash, item->finding->offset);
        hash = mix_number(hash, item->finding->index);
        return mix_text(hash, item->finding->text);
    }
    uint64_t hash = say_entry(item->entry);
    for (size_t i = 0; pfd_entry_alternative(item->entry, i, &other) == PFD_OK;
         i++)
        hash = mix_number(hash, say_entry(&other));
    return hash;
}

static void add(struct said *said, uint64_t hash, uint64_t offset)
{
    if (said->n == said->room) {
        said->room = said->room ? 2 * said->room : 1024;
        said->items = realloc(said->items, said->room * sizeof *said->items);
        if (!said->items)
            stop("out of memory", "items");
    }
    said->items[said->n++] = (struct said_item){ hash, offset };
}

/* ---- in pieces ---- */

static size_t next_piece(size_t size, uint32_t *seed)
{
    if (size)
        return size;
    *seed = *seed * 1664525 + 1013904223;
    return 1 + (*seed >> 8) % DRAWN_MAX;
}

static void show_view(struct pfd_decoder *d, const struct setting *s,
                      size_t end)
{
    uint64_t from = pfd_decoder_position(d);
    if (from > end)
        stop("the decoder is beyond what it was shown", "position");
    if (pfd_decoder_view(d, s->buffer.bytes + from, end - from, from,
                         end == s->buffer.n, NULL) != PFD_OK)
        stop("refused", "view");
}

/* size: of the pieces; SIZE_MAX: all at once. */
static struct said decode(const struct setting *s, size_t size)
{
    struct said said = { NULL, 0, 0 };
    struct pfd_decoder *d = NULL;
    struct pfd_summary summary;
    struct pfd_item *item;
    enum pfd_status status;
    uint32_t seed = 1;
    size_t end = 0;
    if (pfd_decoder_new(s->strings, s->format, "buffer", &d, NULL) != PFD_OK)
        stop("no such format", s->format ? s->format : "any");
    pfd_decoder_set_options(d, &s->options, NULL);
    do {
        size_t more = next_piece(size, &seed);
        end = s->buffer.n - end > more ? end + more : s->buffer.n;
        show_view(d, s, end);
        while ((status = pfd_decoder_next(d, &item, NULL)) == PFD_OK) {
            add(&said, say_item(item),
                item->is_entry ? item->entry->offset : item->finding->offset);
        }
    } while (status == PFD_MORE && end < s->buffer.n);
    if (status != PFD_END)
        stop("the decoder did not end", "decode");
    summary = *pfd_decoder_summary(d);
    add(&said, mix(3, &summary, sizeof summary), PFD_NO_OFFSET);
    pfd_decoder_free(d);
    return said;
}

/* False: said how they differ. */
static bool compare(const struct said *whole, const struct said *pieces,
                    size_t size)
{
    size_t n = whole->n < pieces->n ? whole->n : pieces->n;
    size_t i = 0;
    while (i < n && whole->items[i].hash == pieces->items[i].hash)
        i++;
    if (i == n && whole->n == pieces->n)
        return true;
    printf("pieces of %zu: item %zu of %zu (whole) and %zu differs", size, i,
           whole->n, pieces->n);
    if (i < n) {
        printf(", at byte %" PRId64 " and %" PRId64,
               (int64_t)whole->items[i].offset,
               (int64_t)pieces->items[i].offset);
    }
    puts("");
    return false;
}

/* ---- the command line ---- */

static void add_shader(struct setting *s, const char *text)
{
    char *end = NULL;
    struct pfd_shader_info info = { .id = (uint32_t)strtoul(text, &end, 0) };
    if (*end != '=')
        stop("not ID=FILE", text);
    struct file file = read_file(end + 1);
    info.bytes = file.bytes;
    info.n_bytes = file.n;
    info.source = end + 1;
    if (pfd_strings_add_shader(s->strings, &info, NULL, NULL, NULL) < 0)
        stop("not SPIR-V", text);
    free(file.bytes);
}

static void add_strings(struct setting *s, const char *path)
{
    struct file file = read_file(path);
    if (pfd_strings_load(s->strings, file.bytes, file.n, path, NULL, NULL,
                         NULL) < 0)
        stop("has no strings", path);
    free(file.bytes);
}

/* True: it was an option with a value. */
static bool take_option(struct setting *s, const char *name, const char *value)
{
    if (!strcmp(name, "--format")) {
        s->format = value;
    } else if (!strcmp(name, "--layout")) {
        s->options.printf_layout = (enum pfd_printf_layout)atoi(value);
    } else if (!strcmp(name, "--compat")) {
        s->options.compat = (enum pfd_compat)atoi(value);
    } else if (!strcmp(name, "--opencl-strings")) {
        s->options.opencl_strings = (enum pfd_opencl_strings)atoi(value);
    } else if (!strcmp(name, "--strings")) {
        add_strings(s, value);
    } else if (!strcmp(name, "--shader")) {
        add_shader(s, value);
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct setting s = { .strings = pfd_strings_new() };
    bool same = true;
    int i = 2;
    if (argc < 3 || !s.strings)
        stop("BUFFER [OPTION VALUE]... SIZE...", "usage");
    s.buffer = read_file(argv[1]);
    while (i + 1 < argc && take_option(&s, argv[i], argv[i + 1]))
        i += 2;
    struct said whole = decode(&s, SIZE_MAX);
    for (; i < argc; i++) {
        size_t size = strtoul(argv[i], NULL, 10);
        struct said pieces = decode(&s, size);
        same &= compare(&whole, &pieces, size);
        free(pieces.items);
    }
    free(whole.items);
    free(s.buffer.bytes);
    pfd_strings_free(s.strings);
    return !same;
}
