/* SPDX-License-Identifier: MIT */
/*
 * Strings that are made when they are first asked for, and tables that are read
 * without a document: a set with a limit, however large, has neither, and both
 * say the same of any file.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/strings/strings.h"
#include "dump.h"
#include "suite.h"

enum {
    N_STRINGS = 3000,
    N_THREADS = 4,
    N_FILES = 300,
};

/* What is heard while a file is loaded. */
static void hear(void *user, const struct pfd_finding *f)
{
    char line[1200];
    int n =
        snprintf(line, sizeof line, "%s %llu %s\n", pfd_finding_name(f->kind),
                 (unsigned long long)f->offset, f->text);
    build_bytes(user, line, (size_t)n);
}

/* ---- threads ---- */

static struct pfd_strings *set;

static uint64_t id_of(uint64_t i)
{
    return i * UINT64_C(0x9e3779b97f4b) % (UINT64_C(1) << 48);
}

static void add(uint64_t i)
{
    char text[64];
    snprintf(text, sizeof text, "string %u %%d %%v3f %%*s%%%%\n", (unsigned)i);
    dump_add_string(set, id_of(i), text, "44444");
}

struct asking {
    pthread_t thread;
    uint64_t seed;
    const struct pfd_string *got[N_STRINGS];
};

/* Prints it while others compile strings that lie beside it. */
static void print(const struct pfd_string *s)
{
    static const uint8_t payload[64];
    char out[1024];
    uint64_t findings = 0;
    pfd_program_print(out, s->steps, pfd_string_escaped(s), PFD_ESCAPED,
                      payload, &findings);
}

/* By key or by number, in an order of its own. */
static void *ask(void *user)
{
    struct asking *a = user;
    const struct pfd_table *table =
        pfd_strings_table(set, pfd_strings_kind_at(set, 0));
    for (size_t k = 0; k < 2 * (size_t)N_STRINGS; k++) {
        size_t i =
            k < N_STRINGS ? dump_below(&a->seed, N_STRINGS) : k - N_STRINGS;
        const struct pfd_string *s = dump_below(&a->seed, 2)
                                         ? pfd_table_find(table, id_of(i))
                                         : pfd_strings_at(set, i);
        ck_assert(!a->got[i] || a->got[i] == s);
        a->got[i] = s;
        print(s);
    }
    return NULL;
}

START_TEST(threads_get_the_same)
{
    static struct asking asking[N_THREADS];
    set = pfd_strings_new();
    for (uint64_t i = 0; i < N_STRINGS; i++)
        add(i);
    for (size_t i = 0; i < N_THREADS; i++) {
        asking[i].seed = i;
        ck_assert_int_eq(
            pthread_create(&asking[i].thread, NULL, ask, &asking[i]), 0);
    }
    for (size_t i = 0; i < N_THREADS; i++)
        pthread_join(asking[i].thread, NULL);
    for (size_t k = 0; k < N_STRINGS; k++) {
        char text[32];
        int n = snprintf(text, sizeof text, "string %u ", (unsigned)k);
        ck_assert_uint_eq(asking[0].got[k]->index, k);
        ck_assert(!memcmp(pfd_string_text(asking[0].got[k]), text, (size_t)n));
        for (size_t i = 1; i < N_THREADS; i++)
            ck_assert_ptr_eq(asking[0].got[k], asking[i].got[k]);
    }
    pfd_strings_free(set);
}
END_TEST

/* What a set has that nobody has asked for goes on in those made of it. */
START_TEST(goes_on_in_others)
{
    set = pfd_strings_new();
    for (uint64_t i = 0; i < 100; i++)
        add(i);
    struct pfd_strings *next = pfd_strings_extend(set);
    struct pfd_strings *branch = pfd_strings_branch(set);
    const struct pfd_string *last = pfd_strings_at(next, 99);
    ck_assert_ptr_eq(pfd_strings_at(branch, 99), last);
    pfd_strings_trim(set);
    pfd_strings_free(set);
    set = next;
    add(99);
    ck_assert_uint_eq(pfd_strings_count(set), 100);
    ck_assert_ptr_eq(pfd_table_find(pfd_strings_table(
                                        branch, pfd_strings_kind_at(branch, 0)),
                                    id_of(99)),
                     last);
    pfd_strings_free(branch);
    pfd_strings_free(set);
}
END_TEST

/* ---- files ---- */

static void describe(struct build *out, const struct pfd_strings *strings)
{
    struct pfd_string_info info;
    for (size_t i = 0; pfd_strings_get(strings, i, &info) == PFD_OK; i++) {
        const struct pfd_string *s = pfd_strings_at(strings, i);
        const struct pfd_string *first = pfd_table_find(
            pfd_strings_table(strings, pfd_strings_kind_at(strings, i)),
            s->key);
        uint32_t numbers[] = {
            s->n_steps,   s->n_text,
            s->n_escaped, s->index,
            s->source,    s->n_arguments,
            s->n_payload, s->room,
            s->findings,  s->n_layout,
            s->flags,     s->table,
            first->index, s->next ? s->next->index : 0,
        };
        build_bytes(out, &s->key, sizeof s->key);
        build_bytes(out, numbers, sizeof numbers);
        build_bytes(out, s->steps, s->n_steps * sizeof *s->steps);
        build_bytes(out, pfd_string_layout(s), s->n_layout * sizeof(uint64_t));
        build_bytes(out, info.text, info.n_text);
        build_bytes(out, pfd_string_escaped(s), s->n_escaped);
    }
}

/* What loading a file says and gives, twice over: duplicates are silent. */
static void load(const struct build *file, bool limited, struct build *out)
{
    struct pfd_strings *strings = pfd_strings_new();
    if (limited)
        pfd_strings_set_room(strings, SIZE_MAX / 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pfd_strings_load(strings, file->bytes, file->n,
                                          i ? "again" : "file", hear, out,
                                          NULL),
                         PFD_OK);
    }
    describe(out, strings);
    pfd_strings_free(strings);
}

static const char *const texts[] = {
    "",      "plain",         "%d",   "%v4hlf and %*.*d", "\"quoted\"\n",
    "%s %n", "\xff\x80 %.3f", "100%", "%99999d",          "%c%c%c",
};

/* One row: most as they should be. */
static void build_row(struct build *b, uint64_t *rng, unsigned odd)
{
    bool is_odd = odd && dump_below(rng, 4) == 0;
    uint64_t n = dump_below(rng, 5);
    bool no_mask = is_odd && odd == 1;
    bool no_count = is_odd && odd == 2;
    build_map(b, no_mask || no_count ? 3 : 4);
    build_text(b, ".index");
    build_uint(b, is_odd && odd == 3
                      ? UINT64_C(1) << 50
                      : (uint64_t)dump_below(rng, 40) << 30 | 0xabcd);
    build_text(b, ".string");
    const char *text = texts[dump_below(rng, 10)];
    build_text_n(b, text, strlen(text) + (is_odd && odd == 4 ? 1u : 0u));
    if (!no_count) {
        build_text(b, ".argument_count");
        build_uint(b, is_odd && odd == 5 ? 70 : n);
    }
    if (!no_mask) {
        build_text(b, is_odd && odd == 6 ? ".string" : ".64bit_arguments");
        build_array(b, is_odd && odd == 7 ? 2 : 1);
        build_uint(b, dump_random(rng));
        if (is_odd && odd == 7)
            build_uint(b, 3);
    }
}

static void build_file(struct build *file, uint64_t *rng)
{
    struct build doc = { 0 };
    struct build notes = { 0 };
    unsigned n_rows = dump_below(rng, 60);
    unsigned odd = dump_below(rng, 2) ? 0 : dump_below(rng, 8);
    build_map(&doc, 2);
    build_text(&doc, "amdpal.version");
    build_array(&doc, 1);
    build_map(&doc, 1);
    build_nil(&doc);
    build_text_n(&doc, "\0\1", 2);
    build_text(&doc, "amdpal.format_strings");
    build_map(&doc, 2);
    build_text(&doc, ".version");
    build_uint(&doc, dump_below(rng, 8) ? 1 : 2);
    build_text(&doc, ".strings");
    build_array(&doc, n_rows);
    for (unsigned i = 0; i < n_rows; i++)
        build_row(&doc, rng, odd);
    for (unsigned i = dump_below(rng, 3); i == 2; i = dump_below(rng, 3))
        doc.bytes[dump_below(rng, (uint32_t)doc.n)] = (uint8_t)dump_random(rng);
    if (dump_below(rng, 8) == 0)
        doc.n -= dump_below(rng, 30);
    build_note(&notes, "AMDGPU", 32, &doc);
    build_elf(file, &(struct build_elf){ .notes = &notes, .section = ".note" });
    build_free(&doc);
    build_free(&notes);
}

START_TEST(any_file_says_the_same)
{
    size_t n_said = 0;
    for (uint64_t seed = 0; seed < N_FILES; seed++) {
        uint64_t rng = seed;
        struct build file = { 0 };
        struct build late = { 0 };
        struct build now = { 0 };
        build_file(&file, &rng);
        load(&file, false, &late);
        load(&file, true, &now);
        ck_assert_msg(late.n == now.n &&
                          (!now.n || !memcmp(late.bytes, now.bytes, now.n)),
                      "file %d", (int)seed);
        n_said += now.n;
        build_free(&file);
        build_free(&late);
        build_free(&now);
    }
    ck_assert_uint_gt(n_said, (size_t)N_FILES * 1000);
}
END_TEST

int main(void)
{
    return suite_run(
        "unmade",
        TESTS(threads_get_the_same, goes_on_in_others, any_file_says_the_same),
        120);
}
