/* SPDX-License-Identifier: MIT */
/*
 * The runtime's list of code objects. The runtime may change the list while it
 * is read. It counts when two successive readings are equal and its state is
 * consistent. Each reading is bounded, and each entry is taken once.
 */
#include "memory/space/process_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/uri.h"
#include "memory/space/address_space.h"
#include "memory/space/symbols.h"

/* Reads the code object that a URI in a memory names. */

enum {
    STEP = 1 << 20, /* read at once: a wrong size takes no memory */
};

/* Usual code objects have a few MiB. */
#define BYTES_MAX (UINT64_C(1) << 30)

struct reading {
    struct pfd_memory *memory;
    struct pfd_uri uri;
    struct pfd_quoted name;
    struct pfd_report *report;
    int fd; /* -1: memory */
    uint8_t *bytes;
    size_t n;
};

/* Reports why it is absent. */
static bool refuse(struct reading *r, enum pfd_finding_kind kind,
                   const char *why)
{
    pfd_report_add(r->report, kind, PFD_NO_OFFSET, "'%s': %s", r->name.text,
                   why);
    return false;
}

static bool read_step(struct reading *r, uint8_t *to, size_t n)
{
    uint64_t at = r->uri.offset + r->n;
    if (r->fd < 0)
        return pfd_memory_take(r->memory, at, to, n);
    while (n > 0) {
        ssize_t got = pread(r->fd, to, n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        at += (size_t)got;
        n -= (size_t)got;
    }
    return true;
}

/* False: bytes are absent, which was reported, or memory is exhausted: see
 * *status. */
static bool read_all(struct reading *r, enum pfd_status *status)
{
    while (r->n < r->uri.size) {
        uint64_t left = r->uri.size - r->n;
        size_t n = left < STEP ? (size_t)left : STEP;
        uint8_t *more = realloc(r->bytes, r->n + n);
        if (!more) {
            *status = PFD_ERR_NOMEM;
            return false;
        }
        r->bytes = more;
        if (!read_step(r, r->bytes + r->n, n)) {
            unsigned long long from = r->uri.offset + r->n;
            pfd_report_add(r->report, PFD_FINDING_unreadable, PFD_NO_OFFSET,
                           "'%s': %s 0x%llx to 0x%llx are not all there",
                           r->name.text, r->fd < 0 ? "addresses" : "bytes",
                           from, from + n - 1);
            return false;
        }
        r->n += n;
    }
    return true;
}

static bool check_size(struct reading *r)
{
    if (r->uri.size == 0)
        return refuse(r, PFD_FINDING_bad_list, "it has no bytes");
    if (r->uri.size > BYTES_MAX)
        return refuse(r, PFD_FINDING_too_large, "more than 1 GiB");
    return true;
}

static bool open_file(struct reading *r)
{
    struct stat st;
    r->fd = pfd_memory_open_file(r->memory, r->uri.path);
    if (r->fd < 0)
        return refuse(r, PFD_FINDING_unreadable, strerror(-r->fd));
    if (fstat(r->fd, &st) || !S_ISREG(st.st_mode))
        return refuse(r, PFD_FINDING_unreadable, "it is not a file");
    uint64_t n = (uint64_t)st.st_size;
    if (!r->uri.has_range)
        r->uri.size = n;
    if (r->uri.offset > n || r->uri.size > n - r->uri.offset)
        return refuse(r, PFD_FINDING_unreadable, "the file is shorter");
    return check_size(r);
}

/* The runtime writes the id that the process has for itself; a forked child has
 * its parent's id there. */
static bool open_memory(struct reading *r)
{
    const struct pfd_memory *m = r->memory;
    bool is_other = r->uri.pid != m->pid && r->uri.pid != m->pid_inside;
    if ((m->pid || m->pid_inside) && is_other)
        return refuse(r, PFD_FINDING_bad_list, "it names another process");
    return check_size(r);
}

/*
 * Reads it to *ret [*n]; the caller frees it. NULL: it cannot be read, and the
 * report gets a finding with the reason. A path is relative to the process'
 * root; a process in the URI is the memory itself. PFD_OK; PFD_ERR_NOMEM.
 */
static enum pfd_status process_code_bytes(struct pfd_memory *memory,
                                          const char *uri, void **ret,
                                          size_t *n, struct pfd_report *report,
                                          struct pfd_error *err)
{
    struct reading r = { .memory = memory, .report = report, .fd = -1 };
    struct pfd_error why;
    *ret = NULL;
    *n = 0;
    pfd_quote(&r.name, uri, strlen(uri));
    enum pfd_status status = pfd_uri_parse(uri, &r.uri, &why);
    if (status == PFD_ERR_USAGE) {
        refuse(&r, PFD_FINDING_bad_list, why.text);
        return PFD_OK;
    }
    bool ok = status == PFD_OK &&
              (r.uri.path ? open_file(&r) : open_memory(&r)) &&
              read_all(&r, &status);
    if (r.fd >= 0)
        close(r.fd);
    pfd_uri_deinit(&r.uri);
    if (ok) {
        *ret = r.bytes;
        *n = r.n;
        return PFD_OK;
    }
    free(r.bytes);
    return status == PFD_ERR_NOMEM
               ? pfd_fail(err, status, PFD_NO_OFFSET, "out of memory")
               : PFD_OK;
}

enum {
    ENTRIES_MAX = 65536,
    NAME_MAX_BYTES = 16384, /* a path of 4096 bytes, each as %XX */
    NAME_STEP = 256,
    READINGS_MAX = 50, /* until two are equal, */
    PAUSE_MS = 2,      /* between two readings */
    VERSION_MIN = 8,   /* r_version of the runtime's r_debug */
    VERSION_MAX = 10,
    CONSISTENT = 0,       /* r_state, RT_CONSISTENT */
    NAMES_MAX = 16 << 20, /* bytes of all names */
};

/* struct r_debug of <link.h>, for 64 bits. */
struct debug {
    int32_t version;
    int32_t unused;
    uint64_t first;
    uint64_t breakpoint;
    int32_t state;
    int32_t unused_too;
    uint64_t base;
};

/* The public part of struct link_map, likewise. */
struct link {
    uint64_t load_address;
    uint64_t name;
    uint64_t dynamic;
    uint64_t next;
    uint64_t previous;
};

struct entry {
    uint64_t at; /* of its struct link_map */
    uint64_t load_address;
    char *name; /* owned; NULL: it cannot be read */
};

struct list {
    struct entry *entries; /* [n] of [room] */
    size_t n;
    size_t room;
    uint64_t cycle; /* the entry that the last one links back to; 0: none */
    uint64_t lost;  /* the entry that could not be read; 0: none */
    size_t n_names; /* bytes of their names */
    bool is_cut;    /* there are too many entries */
    bool failed;    /* out of memory */
};

struct pfd_process_code {
    struct pfd_memory *memory;
    uint64_t places[PFD_SYMBOLS_MAX]; /* [n_places] addresses of r_debug */
    size_t n_places;
    struct list lists[PFD_SYMBOLS_MAX]; /* of the last reading */
    bool was_read;
};

/* ---- reading ---- */

static void free_list(struct list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->entries[i].name);
    free(l->entries);
    *l = (struct list){ 0 };
}

/* The string at an address; the caller frees it. NULL: it cannot be read, or
 * has no end. */
static char *read_name(struct pfd_memory *memory, uint64_t at, bool *failed)
{
    char *name = NULL;
    for (size_t n = 0; at && n < NAME_MAX_BYTES;) {
        /* Up to a multiple of the step: the next page may be absent. */
        size_t step = NAME_STEP - (size_t)((at + n) % NAME_STEP);
        char *more = realloc(name, n + step);
        *failed |= !more;
        if (!more)
            break;
        name = more;
        if (at > UINT64_MAX - n - step ||
            !pfd_memory_take(memory, at + n, name + n, step))
            break;
        if (memchr(name + n, '\0', step))
            return name;
        n += step;
    }
    free(name);
    return NULL;
}

static bool add_entry(struct list *l, const struct entry *e)
{
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 16;
        struct entry *entries = realloc(l->entries, room * sizeof *entries);
        if (!entries)
            return false;
        l->entries = entries;
        l->room = room;
    }
    l->entries[l->n++] = *e;
    return true;
}

/* An entry's address, and its index in the list. */
struct mark {
    uint64_t at;
    size_t i;
};

static int by_place(const void *a, const void *b)
{
    const struct mark *one = a;
    const struct mark *other = b;
    if (one->at != other->at)
        return one->at < other->at ? -1 : 1;
    return (one->i > other->i) - (one->i < other->i);
}

/* Removes entries that come a second time: the list has a cycle there. */
static void cut_cycle(struct list *l)
{
    struct mark *sorted = malloc((l->n + 1) * sizeof *sorted);
    size_t end = l->n;
    l->failed |= !sorted;
    if (!sorted)
        return;
    for (size_t i = 0; i < l->n; i++)
        sorted[i] = (struct mark){ l->entries[i].at, i };
    qsort(sorted, l->n, sizeof *sorted, by_place);
    for (size_t k = 1; k < l->n; k++) {
        if (sorted[k].at == sorted[k - 1].at && sorted[k].i < end)
            end = sorted[k].i;
    }
    if (end < l->n)
        l->cycle = l->entries[end].at;
    for (size_t i = end; i < l->n; i++)
        free(l->entries[i].name);
    l->n = end;
    free(sorted);
}

/* Reads addresses only. A cycle is followed until its length is known. */
static void walk(struct pfd_memory *memory, uint64_t first, struct list *ret)
{
    uint64_t mark = 0;
    size_t next_mark = 1;
    struct link link;
    for (uint64_t at = first; at && !ret->failed; at = link.next) {
        ret->is_cut = ret->n == ENTRIES_MAX || ret->n_names > NAMES_MAX;
        ret->cycle = at == mark ? at : 0;
        if (ret->is_cut || ret->cycle)
            break;
        if (ret->n == next_mark) {
            mark = at;
            next_mark *= 2;
        }
        if (!pfd_memory_take(memory, at, &link, sizeof link)) {
            ret->lost = at;
            break;
        }
        struct entry e = { .at = at, .load_address = link.load_address };
        e.name = read_name(memory, link.name, &ret->failed);
        ret->n_names += e.name ? strlen(e.name) : 0;
        if (!add_entry(ret, &e)) {
            free(e.name);
            ret->failed = true;
        }
    }
    cut_cycle(ret);
}

static bool have_equal_names(const struct entry *a, const struct entry *b)
{
    if (!a->name || !b->name)
        return !a->name && !b->name;
    return !strcmp(a->name, b->name);
}

static bool are_equal(const struct list *a, const struct list *b)
{
    if (a->n != b->n || a->cycle != b->cycle || a->lost != b->lost)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        const struct entry *x = &a->entries[i];
        const struct entry *y = &b->entries[i];
        if (x->at != y->at || x->load_address != y->load_address ||
            !have_equal_names(x, y))
            return false;
    }
    return true;
}

static bool read_debug(const struct pfd_process_code *l, size_t i,
                       struct debug *ret)
{
    return pfd_memory_take(l->memory, l->places[i], ret, sizeof *ret);
}

static bool is_known(const struct debug *debug)
{
    return debug->version >= VERSION_MIN && debug->version <= VERSION_MAX;
}

/* Reads until two readings are equal and consistent; false: none were, and ret
 * is the last one. Memory that never changes is read once. */
static bool read_still(const struct pfd_process_code *l, size_t i,
                       struct list *ret, int *state)
{
    static const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000 };
    bool moves = l->memory->hooks->check != NULL;
    bool still = false;
    for (int n = 0; n < READINGS_MAX && !still && !ret->failed; n++) {
        struct debug debug = { 0 };
        struct list fresh = { 0 };
        if (n > 1)
            nanosleep(&pause, NULL);
        if (!read_debug(l, i, &debug))
            break;
        walk(l->memory, debug.first, &fresh);
        still = debug.state == CONSISTENT && n > 0 && are_equal(ret, &fresh);
        free_list(ret);
        *ret = fresh;
        *state = debug.state;
        if (!moves)
            return debug.state == CONSISTENT;
    }
    return still;
}

/* ---- new entries ---- */

/* Was the entry there before? Most often it is the one behind the last match:
 * *next. */
static bool was_there(const struct list *l, const struct entry *e, size_t *next)
{
    for (size_t k = 0; k < l->n; k++) {
        size_t i = (*next + k) % l->n;
        const struct entry *old = &l->entries[i];
        if (old->at == e->at && old->load_address == e->load_address &&
            old->name && have_equal_names(old, e)) {
            *next = i + 1;
            return true;
        }
    }
    return false;
}

static void tell_list(const struct list *l, bool is_still, int state,
                      struct pfd_report *report)
{
    if (!is_still) {
        pfd_report_add(report, PFD_FINDING_bad_list, PFD_NO_OFFSET,
                       "the runtime's list of code objects was being changed "
                       "whenever it was read (r_state %d): there may be others",
                       state);
    }
    if (l->cycle) {
        pfd_report_add(report, PFD_FINDING_bad_list, PFD_NO_OFFSET,
                       "the runtime's list of code objects comes back to the "
                       "entry at 0x%llx after %zu",
                       (unsigned long long)l->cycle, l->n);
    }
    if (l->lost) {
        pfd_report_add(report, PFD_FINDING_unreadable, PFD_NO_OFFSET,
                       "the runtime's list of code objects goes on at 0x%llx, "
                       "which cannot be read, after %zu",
                       (unsigned long long)l->lost, l->n);
    }
    if (l->is_cut) {
        pfd_report_add(report, PFD_FINDING_too_large, PFD_NO_OFFSET,
                       "the runtime's list is too long: %zu code objects of it "
                       "are read",
                       l->n);
    }
}

static enum pfd_status give_entry(struct pfd_process_code *l,
                                  const struct entry *e, pfd_process_code_fn fn,
                                  void *user, struct pfd_report *report,
                                  struct pfd_error *err)
{
    void *bytes = NULL;
    size_t n = 0;
    if (!e->name) {
        pfd_report_add(report, PFD_FINDING_bad_list, PFD_NO_OFFSET,
                       "the code object that was loaded at 0x%llx has a name "
                       "that cannot be read",
                       (unsigned long long)e->load_address);
        return PFD_OK;
    }
    enum pfd_status status =
        process_code_bytes(l->memory, e->name, &bytes, &n, report, err);
    if (status != PFD_OK)
        return status;
    struct pfd_process_code_object object = {
        .source = e->name,
        .bytes = bytes,
        .n = n,
        .load_address = e->load_address,
    };
    status = fn(user, &object);
    free(bytes);
    return status;
}

static enum pfd_status read_one(struct pfd_process_code *l, size_t i,
                                pfd_process_code_fn fn, void *user,
                                struct pfd_report *report,
                                struct pfd_error *err)
{
    struct debug debug;
    struct list fresh = { 0 };
    int state = 0;
    size_t next = 0;
    enum pfd_status status = PFD_OK;
    if (!read_debug(l, i, &debug))
        return PFD_OK;
    if (!is_known(&debug)) {
        pfd_report_add(report, PFD_FINDING_version, PFD_NO_OFFSET,
                       "_amdgpu_r_debug at 0x%llx is of version %d, and %d to "
                       "%d are known",
                       (unsigned long long)l->places[i], debug.version,
                       VERSION_MIN, VERSION_MAX);
        return PFD_OK;
    }
    bool is_still = read_still(l, i, &fresh, &state);
    if (fresh.failed) {
        free_list(&fresh);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    tell_list(&fresh, is_still, state, report);
    for (size_t k = 0; k < fresh.n && status == PFD_OK; k++) {
        if (!was_there(&l->lists[i], &fresh.entries[k], &next))
            status = give_entry(l, &fresh.entries[k], fn, user, report, err);
    }
    free_list(&l->lists[i]);
    l->lists[i] = fresh;
    return status;
}

/* ---- public ---- */

enum pfd_status pfd_process_code_open(struct pfd_memory *memory,
                                      struct pfd_process_code **ret,
                                      struct pfd_error *err)
{
    struct pfd_process_code *l = calloc(1, sizeof *l);
    if (!l)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    l->memory = memory;
    *ret = l;
    return PFD_OK;
}

void pfd_process_code_close(struct pfd_process_code *process_code)
{
    if (!process_code)
        return;
    for (size_t i = 0; i < PFD_SYMBOLS_MAX; i++)
        free_list(&process_code->lists[i]);
    free(process_code);
}

/* The runtime may be loaded after this started. */
static void find_places(struct pfd_process_code *l)
{
    static const char symbol[] = "_amdgpu_r_debug";
    if (l->n_places)
        return;
    if (l->memory->loaded) {
        l->places[0] = l->memory->loaded;
        l->n_places = 1;
        return;
    }
    l->n_places = pfd_symbols_find(l->memory, symbol, l->places);
}

enum pfd_status pfd_process_code_read(struct pfd_process_code *process_code,
                                      pfd_process_code_fn fn, void *user,
                                      pfd_finding_fn finding,
                                      void *finding_user, size_t *n_lists,
                                      struct pfd_error *err)
{
    struct pfd_report report = {
        .fn = finding,
        .user = finding_user,
        .source = pfd_memory_name(process_code->memory),
    };
    enum pfd_status status = pfd_memory_refresh(process_code->memory, err);
    if (status == PFD_OK)
        find_places(process_code);
    for (size_t i = 0; i < process_code->n_places && status == PFD_OK; i++)
        status = read_one(process_code, i, fn, user, &report, err);
    process_code->was_read = true;
    if (n_lists)
        *n_lists = process_code->n_places;
    /* An entry may be missing because the process has ended. */
    return status == PFD_OK ? pfd_memory_check(process_code->memory, err)
                            : status;
}

bool pfd_process_code_changed(struct pfd_process_code *l)
{
    bool changed = !l->was_read;
    if (changed)
        return true;
    if (!l->n_places && pfd_memory_refresh(l->memory, NULL) == PFD_OK) {
        find_places(l);
        return l->n_places > 0;
    }
    for (size_t i = 0; i < l->n_places && !changed; i++) {
        struct debug debug;
        struct list now = { 0 };
        if (!read_debug(l, i, &debug) || !is_known(&debug))
            continue;
        walk(l->memory, debug.first, &now);
        changed = debug.state != CONSISTENT || !are_equal(&now, &l->lists[i]);
        free_list(&now);
    }
    return changed;
}
