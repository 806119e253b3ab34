/* SPDX-License-Identifier: MIT */
/*
 * Layout: "!<arch>\n", then for each member a header of 60 bytes, its
 * contents, and a newline when their size is odd. Sources: ar(5) of the BSDs,
 * <ar.h> of glibc, "File Format" in the documentation of GNU binutils and
 * LLVM's llvm-ar.
 *
 * Why not libelf, which reads archives too: it ends at the first member that
 * it rejects, and a pipeline archive that was cut or overwritten should still
 * give its other members.
 */
#include "core/objects/archive.h"

#include "core/objects/code_kind.h"

enum {
    MAGIC_SIZE = 8,
    HEADER_SIZE = 60, /* name 16, time 12, owner 6, group 6, mode 8, size 10 */
    NAME_SIZE = 16,
    SIZE_AT = 48,
    SIZE_SIZE = 10,
    END_AT = 58, /* "`\n" */
};

struct walk {
    struct pfd_byte_reader c; /* the whole archive */
    struct pfd_byte_reader long_names;
    struct pfd_report *report;
};

struct header {
    const char *name; /* [n_name] of at most NAME_SIZE bytes */
    size_t n_name;
    uint64_t size;
};

/* Digits [n], spaces after them allowed; no digits at all is not a number. */
static bool parse_number(const char *text, size_t n, uint64_t *ret)
{
    uint64_t value = 0;
    size_t i = 0;
    for (; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        value = value * 10 + (uint64_t)(text[i] - '0'); /* n is at most 15 */
    size_t n_digits = i;
    while (i < n && text[i] == ' ')
        i++;
    *ret = value;
    return n_digits > 0 && i == n;
}

/* NULL, or the fault of the header at the reader; only a sound header moves the
 * reader on. */
static const char *read_header(struct pfd_byte_reader *c, struct header *ret)
{
    struct pfd_byte_reader sub = *c;
    const uint8_t *p = pfd_byte_reader_bytes(&sub, HEADER_SIZE);
    if (!p)
        return "is too short for a member header of 60 bytes";
    if (p[END_AT] != '`' || p[END_AT + 1] != '\n')
        return "is no member header: it does not end in \"`\\n\"";
    const char *text = (const char *)p;
    if (!parse_number(text + SIZE_AT, SIZE_SIZE, &ret->size))
        return "is a member header whose size is not a decimal number";
    ret->name = text;
    ret->n_name = NAME_SIZE;
    while (ret->n_name > 0 && text[ret->n_name - 1] == ' ')
        ret->n_name--;
    *c = sub;
    return NULL;
}

/* The next offset from the reader on with a plausible member header, or the
 * end. Headers are at even offsets. */
static size_t find_header(struct pfd_byte_reader c)
{
    struct header header;
    for (size_t at = c.at + (c.at & 1); at <= c.n; at += 2) {
        pfd_byte_reader_seek(&c, at);
        if (pfd_byte_reader_left(&c) < HEADER_SIZE)
            break;
        if (!read_header(&c, &header))
            return at;
    }
    return c.n;
}

static bool name_is(const struct pfd_member *member, const char *name)
{
    size_t n = strlen(name);
    return member->n_name == n && memcmp(member->name, name, n) == 0;
}

static bool name_starts(const struct pfd_member *member, const char *name)
{
    size_t n = strlen(name);
    return member->n_name >= n && memcmp(member->name, name, n) == 0;
}

/* "/N": the name is in the table of long names at N, up to "/\n" (GNU) or a
 * NUL (Microsoft). */
static void read_long_name(struct walk *walk, uint64_t header_at,
                           struct pfd_member *member)
{
    struct pfd_byte_reader c = walk->long_names;
    uint64_t at;
    if (!parse_number(member->name + 1, member->n_name - 1, &at))
        return; /* no number: it is the name itself */
    pfd_byte_reader_seek(&c, at);
    size_t left = pfd_byte_reader_left(&c);
    const char *p = (const char *)pfd_byte_reader_bytes(&c, left);
    if (!p || left == 0) {
        pfd_report_add(walk->report, PFD_FINDING_bad_archive, header_at,
                       "the member's name is at %llu of the table of long "
                       "names, which has %zu bytes",
                       (unsigned long long)at, walk->long_names.n);
        return;
    }
    size_t n = 0;
    while (n < left && p[n] != '\n' && p[n] != '\0')
        n++;
    member->name = p;
    member->n_name = n;
}

/* "#1/N" (BSD): the name is the first N bytes of the contents, with NULs
 * after it. */
static void read_bsd_name(struct walk *walk, uint64_t header_at,
                          struct pfd_member *member)
{
    uint64_t n;
    if (!parse_number(member->name + 3, member->n_name - 3, &n))
        return;
    if (n > member->bytes.n) {
        pfd_report_add(walk->report, PFD_FINDING_bad_archive, header_at,
                       "the member's name of %llu bytes is longer than its "
                       "contents of %zu bytes",
                       (unsigned long long)n, member->bytes.n);
        return;
    }
    struct pfd_byte_reader c = member->bytes;
    member->name = (const char *)pfd_byte_reader_bytes(&c, (size_t)n);
    member->n_name = (size_t)n;
    while (member->n_name > 0 && member->name[member->n_name - 1] == '\0')
        member->n_name--;
    member->bytes = pfd_byte_reader_sub(&c, pfd_byte_reader_left(&c));
    member->offset += n;
}

static bool read_name(struct walk *walk, uint64_t header_at,
                      struct pfd_member *member)
{
    if (name_is(member, "/") || name_is(member, "/SYM64/"))
        return false;
    if (name_is(member, "//")) {
        walk->long_names = member->bytes;
        return false;
    }
    if (name_starts(member, "#1/")) {
        read_bsd_name(walk, header_at, member);
    } else if (name_starts(member, "/")) {
        read_long_name(walk, header_at, member);
    }
    if (name_starts(member, "__.SYMDEF"))
        return false;
    if (member->n_name > 1 && member->name[member->n_name - 1] == '/')
        member->n_name--;
    return true;
}

/* The contents that belong to the header just read. */
static struct pfd_byte_reader read_contents(struct walk *walk,
                                            uint64_t header_at, uint64_t size)
{
    size_t left = pfd_byte_reader_left(&walk->c);
    if (size > left) {
        pfd_report_add(walk->report, PFD_FINDING_bad_archive, header_at,
                       "the member's size is %llu bytes, and the archive has "
                       "%zu left: it is read up to what looks like the next "
                       "member",
                       (unsigned long long)size, left);
        size = find_header(walk->c) - walk->c.at;
    }
    return pfd_byte_reader_sub(&walk->c, (size_t)size);
}

/* Moves to the next header. False: there is none. */
static bool next_header(struct walk *walk, struct header *ret)
{
    struct pfd_byte_reader *c = &walk->c;
    if (c->at % 2 == 1 && pfd_byte_reader_left(c) > 0)
        pfd_byte_reader_skip(c, 1); /* the newline that makes sizes even */
    if (pfd_byte_reader_left(c) == 0)
        return false;
    const char *wrong = read_header(c, ret);
    if (!wrong)
        return true;
    size_t found = find_header(*c);
    pfd_report_add(walk->report, PFD_FINDING_bad_archive, c->at,
                   "what stands here %s; %zu bytes are skipped", wrong,
                   found - c->at);
    pfd_byte_reader_seek(c, found);
    return read_header(c, ret) == NULL;
}

static enum pfd_status walk_members(struct walk *walk, pfd_member_fn fn,
                                    void *user)
{
    enum pfd_status status = PFD_OK;
    struct header header;
    while (status == PFD_OK && next_header(walk, &header)) {
        size_t at = walk->c.at;
        uint64_t header_at = at - HEADER_SIZE;
        struct pfd_member member = {
            .name = header.name,
            .n_name = header.n_name,
            .bytes = read_contents(walk, header_at, header.size),
            .offset = at,
        };
        if (read_name(walk, header_at, &member))
            status = fn(user, &member);
    }
    return status;
}

enum pfd_status pfd_archive_members(const void *bytes, size_t n,
                                    pfd_member_fn fn, void *user,
                                    struct pfd_report *report,
                                    struct pfd_error *err)
{
    enum pfd_code_kind kind = pfd_code_kind_of(pfd_byte_reader(bytes, n));
    if (!pfd_code_is_archive(kind))
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, 0, "not an ar archive");
    if (kind == PFD_CODE_THIN_ARCHIVE) {
        pfd_report_add(report, PFD_FINDING_bad_archive, 0,
                       "a thin archive names its members but does not hold "
                       "them: give the members themselves");
        return PFD_OK;
    }
    struct walk walk = {
        .c = pfd_byte_reader(bytes, n),
        .long_names = pfd_byte_reader(bytes, 0),
        .report = report,
    };
    pfd_byte_reader_skip(&walk.c, MAGIC_SIZE);
    return walk_members(&walk, fn, user);
}
