/* SPDX-License-Identifier: MIT */
/* A tail with helpers gives what one without gives, look by look, whatever is in
 * the buffer and however it comes; and so do chunks that they have made. */
#include <string.h>

#include <printfdecode/capture.h>
#include <printfdecode/tail.h>

#include "core/decode/entry_run.h"
#include "dump.h"
#include "stream/capture/chunk.h"
#include "stream/live/tail_control.h"
#include "stream/live/walk_pool.h"
#include "suite.h"

#define MS UINT64_C(1000000)

enum {
    N_BUFFER = 3 << 20,
    N_LOOKS = 120,
    BATCH = 512, /* of a pass by one thread */
    SMALLEST = 10,
    NESTED = 15, /* entries look like others within them */
    LONG_WORDS = 60,
    KINDS = 20, /* of damage */
};

static uint8_t *whole;  /* [N_BUFFER], as it will be */
static uint8_t *buffer; /* [N_BUFFER], as it is */

struct follower {
    struct pfd_tail *tail;
    const struct pfd_strings *strings;
    struct build out; /* of a look */
    size_t longest;   /* run, entries */
    size_t most;      /* runs at once */
};

static long read_bytes(void *user, uint64_t offset, void *bytes, size_t n)
{
    if (offset >= N_BUFFER)
        return 0;
    if (n > N_BUFFER - offset)
        n = N_BUFFER - (size_t)offset;
    memcpy(bytes, buffer + offset, n);
    return (long)n;
}

static void take_entry(struct follower *f, struct pfd_entry *entry,
                       uint64_t generation)
{
    size_t n = 0;
    const char *message = pfd_entry_message(entry, &n);
    const uint64_t said[] = { generation, entry->index, entry->offset,
                              entry->findings };
    build_bytes(&f->out, said, sizeof said);
    build_bytes(&f->out, message ? message : "?", message ? n : 1);
}

static void take(void *user, const struct pfd_tail_item *item)
{
    struct follower *f = user;
    if (item->is_entry) {
        take_entry(f, item->entry, item->generation);
        return;
    }
    const uint64_t said[] = { (uint64_t)item->finding->kind,
                              item->finding->offset };
    build_bytes(&f->out, said, sizeof said);
    build_bytes(&f->out, item->finding->text, strlen(item->finding->text));
}

static void take_run(void *user, const struct pfd_entry_run *entry_run,
                     uint64_t generation)
{
    struct follower *f = user;
    size_t n = pfd_entry_run_count(entry_run);
    for (size_t i = 0; i < n; i++) {
        struct pfd_entry entry;
        pfd_entry_run_entry(entry_run, i, &entry);
        take_entry(f, &entry, generation);
    }
    f->longest = n > f->longest ? n : f->longest;
}

/* ---- chunks of runs, by several threads ---- */

enum {
    RUNS_MAX = 64,
};

struct chunks {
    const struct pfd_entry_run *const *entry_runs;
    struct pfd_chunk_writer *writers[RUNS_MAX];
    const void *bytes[RUNS_MAX];
    size_t n_bytes[RUNS_MAX];
};

static void make_chunk(void *user, size_t i)
{
    struct chunks *c = user;
    size_t from = 0;
    if (pfd_chunk_writer_new(&c->writers[i], NULL) == PFD_OK &&
        pfd_chunk_add_run(c->writers[i], c->entry_runs[i], &from, SIZE_MAX,
                          NULL) == PFD_OK)
        c->bytes[i] = pfd_chunk_finish(c->writers[i], &c->n_bytes[i]);
}

static size_t take_chunk(struct follower *f, const void *bytes, size_t n,
                         uint64_t generation)
{
    struct pfd_chunk_reader *reader = NULL;
    struct pfd_chunk_item item;
    size_t ret = 0;
    ck_assert_int_eq(pfd_chunk_reader_new(f->strings, "", NULL, &reader, NULL),
                     PFD_OK);
    ck_assert_int_eq(pfd_chunk_reader_open(reader, bytes, n, NULL), PFD_OK);
    for (; pfd_chunk_reader_next(reader, &item, NULL) == PFD_OK; ret++) {
        ck_assert_int_eq(item.type, PFD_CHUNK_ENTRY);
        take_entry(f, &item.entry, generation);
    }
    pfd_chunk_reader_free(reader);
    return ret;
}

static void take_runs(void *user, const struct pfd_entry_run *const *entry_runs,
                      size_t n, uint64_t generation)
{
    struct follower *f = user;
    struct chunks c = { .entry_runs = entry_runs };
    ck_assert_uint_ge(n, 1);
    ck_assert_uint_le(n, RUNS_MAX);
    pfd_tail_share(f->tail, n, make_chunk, &c);
    for (size_t i = 0; i < n; i++) {
        ck_assert_ptr_nonnull(c.bytes[i]);
        ck_assert_uint_eq(take_chunk(f, c.bytes[i], c.n_bytes[i], generation),
                          pfd_entry_run_count(entry_runs[i]));
        pfd_chunk_writer_free(c.writers[i]);
    }
    f->most = n > f->most ? n : f->most;
}

/* ---- a follower ---- */

static void start(struct follower *f, const struct pfd_strings *strings,
                  struct pfd_walk_pool *walk_pool, bool takes_runs)
{
    const struct pfd_tail_options o = {
        .strings = strings,
        .format = "llpc",
        .read = read_bytes,
        .item = take,
        .item_user = f,
    };
    *f = (struct follower){ .strings = strings };
    ck_assert_int_eq(pfd_tail_new(&o, &f->tail, NULL), PFD_OK);
    pfd_tail_take_runs(
        f->tail, &(struct pfd_tail_runs){
                     take_run, takes_runs ? take_runs : NULL, walk_pool });
}

static void stop(struct follower *f)
{
    pfd_tail_free(f->tail);
    build_free(&f->out);
}

static void look(struct follower *f, uint64_t now)
{
    f->out.n = 0;
    ck_assert_int_ge(pfd_tail_poll(f->tail, N_BUFFER, now, NULL), 0);
}

static void compare(const struct follower *a, const struct follower *b)
{
    ck_assert_uint_eq(a->out.n, b->out.n);
    ck_assert(!a->out.n || !memcmp(a->out.bytes, b->out.bytes, a->out.n));
    ck_assert(!memcmp(pfd_tail_summary(a->tail), pfd_tail_summary(b->tail),
                      sizeof(struct pfd_summary)));
    ck_assert_uint_eq(pfd_tail_pending(a->tail), pfd_tail_pending(b->tail));
}

static void set_used(uint64_t bytes)
{
    uint64_t dwords = (bytes - 16) / 4;
    memcpy(buffer, &dwords, sizeof dwords);
}

/* What is reserved is written, but for a few dwords, which come later. */
static uint64_t write_some(uint64_t *rng, uint64_t at, int i)
{
    uint64_t n = dump_below(rng, i % 16 ? 1 << 16 : 3 << 19) / 4 * 4;
    if (n > N_BUFFER - at)
        n = N_BUFFER - at;
    set_used(at + n);
    memcpy(buffer + 16, whole + 16, at + n - 16);
    for (uint32_t k = dump_below(rng, 4); n && k && i % 3; k--)
        memset(buffer + at + dump_below(rng, (uint32_t)n) / 4 * 4, 0, 4);
    return at + n;
}

static const struct {
    uint64_t id;
    const char *text;
    const char *widths;
} known[] = {
    { 0x123456, "plain\n", "" },
    { 0x234567, "%u\n", "4" },
    { 0x345678, "a=%u b=%x\n", "44" },
    { 0x456789, "%f %llu\n", "88" },
    { 0x56789a, "%u %u %u %u %u %u %u %u\n", "44444444" },
};

enum {
    N_KNOWN = sizeof known / sizeof *known
};

#define PLAIN_ID known[0].id
#define LONG_ID  UINT64_C(0x6789ab)

/* What it has looks like entries up to the next one, from every second dword
 * on. */
static void add_long_entry(struct build *b)
{
    uint32_t payload[LONG_WORDS];
    uint64_t plain = PLAIN_ID << 16 | 2;
    for (size_t i = 0; i < LONG_WORDS; i += 2)
        memcpy(&payload[i], &plain, sizeof plain);
    dump_entry(b, LONG_ID, LONG_WORDS + 2, payload, LONG_WORDS);
}

/* smallest: all are of the smallest size that there is. */
static void add_entry(struct build *b, uint64_t *rng, bool smallest)
{
    uint32_t payload[8];
    uint32_t k = smallest ? 0 : dump_below(rng, N_KNOWN);
    uint32_t n = 0;
    for (const char *width = known[k].widths; *width; width++)
        n += *width == '8' ? 2 : 1;
    for (uint32_t i = 0; i < n; i++)
        payload[i] = dump_below(rng, 5000) ? 1 + dump_below(rng, 1 << 20) : 0;
    dump_entry(b, known[k].id, n + 2, payload, n);
}

/* i: how it is damaged. */
static struct pfd_strings *make_buffer(int i)
{
    struct pfd_strings *strings = pfd_strings_new();
    struct build b = { 0 };
    uint64_t rng = (uint64_t)i + 77;
    for (uint32_t k = 0; k < N_KNOWN; k++)
        dump_add_string(strings, known[k].id, known[k].text, known[k].widths);
    dump_header(&b, 0);
    dump_add_words(strings, LONG_ID, "%x ", LONG_WORDS);
    while (b.n < N_BUFFER) {
        if (i == NESTED && dump_below(&rng, 2)) {
            add_long_entry(&b);
        } else {
            add_entry(&b, &rng, i == SMALLEST);
        }
    }
    whole = b.bytes;
    for (int k = 0; k < i % 5 * 8; k++) {
        uint8_t *at = whole + 16 + dump_below(&rng, N_BUFFER - 64) / 4 * 4;
        uint64_t v = dump_random(&rng);
        memcpy(at, &v, sizeof v);
        if (k % 2) /* an entry that is not one */
            memmove(at, whole + 16 + dump_below(&rng, 4096) / 4 * 4, 16);
    }
    buffer = calloc(1, N_BUFFER);
    return strings;
}

static void finish(struct follower *f)
{
    f->out.n = 0;
    ck_assert_int_eq(pfd_tail_finish(f->tail, N_BUFFER, NULL), PFD_OK);
}

START_TEST(same)
{
    struct pfd_strings *strings = make_buffer(_i);
    struct pfd_walk_pool *walk_pool = NULL;
    struct follower alone;
    struct follower helped;
    struct follower sharing;
    uint64_t rng = (uint64_t)_i;
    uint64_t at = 16;
    uint64_t now = 1000 * MS;
    size_t most = 0;
    ck_assert_int_eq(pfd_walk_pool_new(3, &walk_pool, NULL), PFD_OK);
    ck_assert_uint_lt(pfd_walk_pool_memory(walk_pool, &most), most);
    start(&alone, strings, NULL, true);
    start(&helped, strings, walk_pool, false);
    start(&sharing, strings, walk_pool, true);
    for (int k = 0; k < N_LOOKS; k++, now += MS + dump_below(&rng, 20 * MS)) {
        if (k % 2 == 0)
            at = write_some(&rng, at, k / 2);
        if (k == N_LOOKS / 2 && _i % 4 == 3) { /* it begins anew */
            memset(buffer + 16, 0, N_BUFFER / 2);
            at = 16;
        }
        look(&alone, now);
        look(&helped, now);
        look(&sharing, now);
        compare(&alone, &helped);
        compare(&alone, &sharing);
    }
    finish(&alone);
    finish(&helped);
    finish(&sharing);
    compare(&alone, &helped);
    compare(&alone, &sharing);
    ck_assert_uint_le(alone.longest, BATCH);
    ck_assert_uint_eq(alone.most, 0);
    ck_assert(_i % 5 || _i == NESTED ||
              (helped.longest > BATCH && sharing.most > 1));
    ck_assert_uint_eq(pfd_walk_pool_memory(walk_pool, &most), most);
    stop(&alone);
    stop(&helped);
    stop(&sharing);
    pfd_walk_pool_free(walk_pool);
    pfd_strings_free(strings);
    free(whole);
    free(buffer);
}
END_TEST

int main(void)
{
    static const int few[] = { 3, SMALLEST, 14, NESTED };
    Suite *suite = suite_create("walk slices");
    TCase *tcase = tcase_create("walk slices");
    tcase_set_timeout(tcase, 120);
    int n = suite_turns(KINDS, sizeof few / sizeof *few);
    for (int i = 0; i < n; i++) {
        int kind = n == KINDS ? i : few[i];
        tcase_add_loop_test(tcase, same, kind, kind + 1);
    }
    suite_add_tcase(suite, tcase);
    return suite_run_all(suite);
}
