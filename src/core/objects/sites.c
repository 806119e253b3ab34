/* SPDX-License-Identifier: MIT */
#include <fnmatch.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/sites.h>

#include "core/base/error.h"
#include "core/base/input.h"
#include "core/base/sized.h"
#include "core/base/text.h"
#include "core/objects/container.h"
#include "core/objects/site_rows.h"

struct pfd_sites {
    struct pfd_text object;    /* an ELF file; its rows come last */
    struct pfd_site_row *rows; /* [n], of object: format strings */
    size_t n;
    struct pfd_control *control; /* [n_control] bytes */
    size_t n_control;
};

static enum pfd_status no_memory(struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

static struct pfd_site *sites_of(const struct pfd_sites *s)
{
    return (struct pfd_site *)(void *)(s->control + 1);
}

/* ---- files ---- */

static void add_rows(struct pfd_sites *s, struct pfd_byte_reader bytes)
{
    struct pfd_site_row row;
    size_t at = 0;
    while (pfd_site_row_next(&bytes, &at, &row))
        pfd_text_add(&s->object, row.bytes, row.header.n_bytes);
}

/* What lies in the file as it is was searched as a whole. */
static enum pfd_status add_inflated(void *user,
                                    const struct pfd_code_piece *memory_view,
                                    struct pfd_report *report)
{
    (void)report;
    if (memory_view->offset == PFD_NO_OFFSET) {
        add_rows(user, pfd_byte_reader(memory_view->bytes.base,
                                       memory_view->bytes.n));
    }
    return PFD_OK;
}

static enum pfd_status add_file(struct pfd_sites *s, const char *path,
                                struct pfd_error *err)
{
    struct pfd_input *input = NULL;
    struct pfd_report silent = { .source = path };
    size_t n = 0;
    enum pfd_status status = pfd_input_open(path, &input, err);
    if (status != PFD_OK)
        return status;
    const void *bytes = pfd_input_bytes(input, &n);
    add_rows(s, pfd_byte_reader(bytes, n));
    status = pfd_container_walk(bytes, n, 0, add_inflated, s, &silent, err);
    pfd_input_close(input);
    if (status == PFD_ERR_UNSUPPORTED) /* rows may be in any bytes */
        status = PFD_OK;
    return s->object.failed ? no_memory(err) : status;
}

static int add_library(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    /* The program itself and mappings without a file have no path. */
    if (info->dlpi_name && strchr(info->dlpi_name, '/'))
        add_file(user, info->dlpi_name, NULL);
    return 0;
}

static enum pfd_status add_files(struct pfd_sites *s, const char *path,
                                 struct pfd_error *err)
{
    if (path)
        return add_file(s, path, err);
    enum pfd_status status = add_file(s, "/proc/self/exe", err);
    dl_iterate_phdr(add_library, s);
    return status;
}

/* ---- rows and gates ---- */

static bool is_known(const struct pfd_sites *s, uint64_t id)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->rows[i].header.id == id)
            return true;
    }
    return false;
}

/* Format strings, each once: a program has them for each kind of device. */
static bool list_rows(struct pfd_sites *s)
{
    struct pfd_byte_reader c = pfd_byte_reader(s->object.data, s->object.n);
    struct pfd_site_row row;
    size_t at = 0;
    size_t room = 0;
    while (pfd_site_row_next(&c, &at, &row)) {
        if (row.header.kind != PFD_ROW_FORMAT || is_known(s, row.header.id))
            continue;
        if (s->n == room) {
            room = room ? 2 * room : 64;
            struct pfd_site_row *rows = realloc(s->rows, room * sizeof *rows);
            if (!rows)
                return false;
            s->rows = rows;
        }
        s->rows[s->n++] = row;
    }
    return true;
}

/* The gate of each is open when any site of it is on. */
static void set_gates(struct pfd_sites *s)
{
    struct pfd_site *sites = sites_of(s);
    uint32_t gates[PFD_GATES] = { 0 };
    bool on[PFD_GATES] = { false };
    for (size_t i = s->n; i-- > 0;) {
        uint32_t gate = pfd_site_row_gate(&s->rows[i]);
        sites[i].next = gates[gate];
        gates[gate] = (uint32_t)i + 1;
        on[gate] |= sites[i].is_on;
    }
    for (size_t i = 0; i < PFD_GATES; i++)
        s->control->gates[i] = on[i] ? gates[i] : 0;
}

static bool make_control(struct pfd_sites *s)
{
    s->n_control = sizeof *s->control + s->n * sizeof(struct pfd_site);
    s->control = calloc(1, s->n_control);
    if (!s->control)
        return false;
    s->control->version = PFD_CONTROL_VERSION;
    s->control->n_sites = (uint32_t)s->n;
    for (int i = 0; i < 3; i++) {
        s->control->threads.last[i] = UINT32_MAX;
        s->control->groups.last[i] = UINT32_MAX;
        s->control->pixels.last[i] = UINT32_MAX;
    }
    for (size_t i = 0; i < s->n; i++) {
        sites_of(s)[i] = (struct pfd_site){
            .id = s->rows[i].header.id,
            .is_on = 1,
            .budget = PFD_NO_BUDGET,
        };
    }
    set_gates(s);
    return true;
}

enum pfd_status pfd_sites_new(const char *path, struct pfd_sites **ret,
                              struct pfd_error *err)
{
    struct pfd_sites *s = calloc(1, sizeof *s);
    if (!s)
        return no_memory(err);
    pfd_rows_begin_file(&s->object);
    enum pfd_status status = add_files(s, path, err);
    if (status == PFD_OK && !s->object.failed) {
        pfd_rows_finish_file(&s->object);
        if (!list_rows(s))
            status = no_memory(err);
    }
    if (status == PFD_OK && !s->n) {
        status = pfd_fail(
            err, PFD_ERR_UNSUPPORTED, PFD_NO_OFFSET,
            "%s has no sites of PFD_PRINTF: scan --control writes them",
            path ? path : "this program");
    }
    if (status == PFD_OK && !make_control(s))
        status = no_memory(err);
    if (status == PFD_OK) {
        *ret = s;
    } else {
        pfd_sites_free(s);
    }
    return status;
}

void pfd_sites_free(struct pfd_sites *s)
{
    if (!s)
        return;
    pfd_text_free(&s->object);
    free(s->rows);
    free(s->control);
    free(s);
}

const void *pfd_sites_object(const struct pfd_sites *s, size_t *n)
{
    *n = s->object.n;
    return s->object.data;
}

size_t pfd_sites_count(const struct pfd_sites *s)
{
    return s->n;
}

enum pfd_status pfd_sites_get(const struct pfd_sites *s, size_t i,
                              struct pfd_site_info *ret)
{
    if (i >= s->n)
        return PFD_END;
    const struct pfd_site_row *row = &s->rows[i];
    const struct pfd_site_info info = {
        .id = row->header.id,
        .text = row->text,
        .n_text = row->header.n_text,
        .file = row->file,
        .n_file = row->header.n_file,
        .line = row->header.line,
        .level = (enum pfd_level)row->header.level,
        .now = sites_of(s)[i],
    };
    return pfd_sized_give(ret, &info, sizeof info, NULL);
}

struct pfd_control *pfd_sites_control(struct pfd_sites *s, size_t *n)
{
    if (n)
        *n = s->n_control;
    return s->control;
}

/* ---- rules ---- */

static bool matches_file(const struct pfd_site_row *row, const char *pattern)
{
    char *name = strndup(row->file, row->header.n_file);
    const char *last = name ? strrchr(name, '/') : NULL;
    bool ret = name && (!fnmatch(pattern, name, 0) ||
                        (last && !fnmatch(pattern, last + 1, 0)));
    free(name);
    return ret;
}

static bool is_meant(const struct pfd_site_row *row,
                     const struct pfd_site_match *match)
{
    const struct pfd_row_header *h = &row->header;
    return !match || ((!match->id || match->id == h->id) &&
                      (!match->line || match->line == h->line) &&
                      (!match->above || h->level > (unsigned)match->above) &&
                      (!match->file || matches_file(row, match->file)));
}

size_t pfd_sites_set(struct pfd_sites *s, const struct pfd_site_match *match,
                     const struct pfd_site_rule *rule)
{
    struct pfd_site_match own_match;
    struct pfd_site_rule own_rule;
    size_t n = 0;
    if (match &&
        pfd_sized_take(&own_match, sizeof own_match, match, NULL) != PFD_OK)
        return 0;
    if (pfd_sized_take(&own_rule, sizeof own_rule, rule, NULL) != PFD_OK)
        return 0;
    match = match ? &own_match : NULL;
    rule = &own_rule;
    for (size_t i = 0; i < s->n; i++) {
        if (!is_meant(&s->rows[i], match))
            continue;
        sites_of(s)[i].is_on = rule->is_on;
        sites_of(s)[i].budget = rule->budget;
        sites_of(s)[i].every = rule->every;
        n++;
    }
    set_gates(s);
    return n;
}

enum pfd_status pfd_sites_take(struct pfd_sites *s, const void *block, size_t n,
                               struct pfd_error *err)
{
    const struct pfd_control *other = block;
    if (n != s->n_control || other->n_sites != s->n ||
        other->version != PFD_CONTROL_VERSION) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "%zu bytes that are no copy of this control block", n);
    }
    const struct pfd_site *counted = (const void *)(other + 1);
    for (size_t i = 0; i < s->n; i++) {
        sites_of(s)[i].seen = counted[i].seen;
        sites_of(s)[i].withheld = counted[i].withheld;
    }
    return PFD_OK;
}

uint64_t pfd_sites_withheld(const struct pfd_sites *s)
{
    uint64_t ret = 0;
    for (size_t i = 0; i < s->n; i++)
        ret += sites_of(s)[i].withheld;
    return ret;
}

void pfd_sites_reset(struct pfd_sites *s)
{
    for (size_t i = 0; i < s->n; i++) {
        sites_of(s)[i].seen = 0;
        sites_of(s)[i].withheld = 0;
    }
}
