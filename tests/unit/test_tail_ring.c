/* SPDX-License-Identifier: MIT */
/* Rings with positions that are written while they are followed, with a clock of
 * our own. */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include <printfdecode/tail.h>

#include "core/base/text.h"
#include "stream/live/tail_control.h"
#include "suite.h"

#define MS UINT64_C(1000000)

enum {
    DATA = 16,
    ROOM = 400,
    N_ENTRY = 8,
    FIRST = 1000, /* the first number; zeros would be waited for */
};

#define RING                                                             \
    "ring: r\nwrite: {at: 0}\nread: {at: 4}\nstall: {at: 8}\ndata: 16\n" \
    "capacity: {at: 12, unit: 1, from: 16}\n"                            \
    "messages: {1: \"%u\\n\", 2: \"%u %u\\n\", 0x200000001: \"%u\\n\"}\n"

static const char GROWS[] = RING "positions: {grow: true}\n"
                                 "entry: {header: 4}\n";
static const char ANEW[] =
    RING "entry: {header: 4, wrap: {at: 0, value: 0xffffffff}}\n";

static const char WHOLE[] = RING "positions: {grow: true, whole: true}\n"
                                 "entry: {header: 4}\n";

static const char PROGRAMS[] =
    RING "positions: {grow: true}\n"
         "entry: {header: 4, id: {bits: 16}, length: {at: 2, bits: 16}, "
         "program: {at: 0, value: 9}}\n";

static struct world {
    uint8_t bytes[DATA + ROOM];
    uint32_t write; /* where the program goes on */
    bool grows;
    uint32_t n; /* messages that it wrote */
    struct pfd_strings *strings;
    struct pfd_tail *tail;
    size_t memory; /* limit; 0: as usual */
    uint64_t now;
    uint32_t n_out;
    uint32_t next; /* the number that comes next, if nothing is lost */
    bool is_in_order;
    struct pfd_text notes; /* "kind " for each finding */
} w;

static long read_bytes(void *user, uint64_t offset, void *bytes, size_t n)
{
    (void)user;
    if (offset >= sizeof w.bytes)
        return 0;
    if (n > sizeof w.bytes - offset)
        n = sizeof w.bytes - (size_t)offset;
    memcpy(bytes, w.bytes + offset, n);
    return (long)n;
}

static void take(void *user, const struct pfd_tail_item *item)
{
    (void)user;
    if (!item->is_entry) {
        pfd_text_printf(&w.notes, "%s ", pfd_finding_name(item->finding->kind));
        return;
    }
    size_t n = 0;
    if (item->entry->findings >> PFD_FINDING_unknown_id & 1)
        return;
    const char *message = pfd_entry_message(item->entry, &n);
    ck_assert_ptr_nonnull(message);
    if (item->entry->findings >> PFD_FINDING_stale & 1)
        pfd_text_printf(&w.notes, "stale ");
    uint32_t number = (uint32_t)strtoul(message, NULL, 10) - FIRST;
    w.is_in_order &= number == w.next;
    w.next = number + 1;
    w.n_out++;
}

static void put(uint32_t at, uint32_t value)
{
    if (at > sizeof w.bytes - sizeof value)
        ck_abort();
    memcpy(w.bytes + at, &value, sizeof value);
}

static void open_tail(void)
{
    struct pfd_tail_options options = {
        .struct_size = sizeof options,
        .strings = w.strings,
        .read = read_bytes,
        .item = take,
        .memory = w.memory,
    };
    ck_assert_int_eq(pfd_tail_new(&options, &w.tail, NULL), PFD_OK);
    ck_assert(pfd_tail_is_ring(w.tail));
}

static void begin(const char *description)
{
    w = (struct world){ .grows = description != ANEW, .is_in_order = true };
    w.strings = pfd_strings_new();
    ck_assert_ptr_nonnull(w.strings);
    ck_assert_int_eq(pfd_strings_load(w.strings, description,
                                      strlen(description), "ring.yaml", NULL,
                                      NULL, NULL),
                     PFD_OK);
    put(12, ROOM);
    open_tail();
}

static void end(void)
{
    pfd_tail_free(w.tail);
    pfd_strings_free(w.strings);
    pfd_text_free(&w.notes);
}

static void poll_tail(void)
{
    w.now += 2 * MS;
    ck_assert_int_ge(pfd_tail_poll(w.tail, sizeof w.bytes, w.now, NULL), 0);
}

/* Writes words of an entry, across the end where positions grow, else behind a
 * mark. */
static void put_entry(const uint32_t *words, uint32_t n)
{
    if (!w.grows && w.write + 4 * n > ROOM) {
        if (w.write < ROOM)
            put(DATA + w.write, UINT32_MAX);
        w.write = 0;
    }
    for (uint32_t i = 0; i < n; i++, w.write += 4)
        put(DATA + w.write % ROOM, words[i]);
    put(0, w.write);
}

static void print(uint32_t n)
{
    for (; n; n--, w.n++)
        put_entry((const uint32_t[]){ 1, FIRST + w.n }, 2);
}

static uint64_t account(void)
{
    const struct pfd_summary *s = pfd_tail_summary(w.tail);
    return s->bytes + s->lost_bytes + s->skipped_bytes;
}

static void settle(void)
{
    for (int i = 0; i < 100; i++)
        poll_tail();
}

START_TEST(goes_around)
{
    begin(GROWS);
    for (int i = 0; i < 1000; i++) {
        print((uint32_t)i % 20);
        put_entry((const uint32_t[]){ 2, FIRST + w.n++, 7 }, 3);
        poll_tail();
        poll_tail();
    }
    ck_assert_uint_eq(w.n_out, w.n);
    ck_assert(w.is_in_order);
    ck_assert_uint_eq(account(), w.write);
    ck_assert_ptr_null(w.notes.data);
    end();
}
END_TEST

START_TEST(mark_at_the_end)
{
    begin(ANEW);
    for (int i = 0; i < 1000; i++) {
        print((uint32_t)i % 20);
        put_entry((const uint32_t[]){ 2, FIRST + w.n++, 7 }, 3);
        poll_tail();
        poll_tail();
    }
    ck_assert_uint_eq(w.n_out, w.n);
    ck_assert(w.is_in_order);
    ck_assert_ptr_null(w.notes.data);
    end();
}
END_TEST

START_TEST(lapped)
{
    begin(GROWS);
    print(10);
    poll_tail();
    poll_tail();
    print(200);
    poll_tail();
    poll_tail();
    ck_assert_uint_eq(w.n_out, 10 + ROOM / N_ENTRY);
    ck_assert_uint_eq(w.next, 210);
    ck_assert_uint_eq(pfd_tail_summary(w.tail)->lost_bytes,
                      200 * N_ENTRY - ROOM);
    ck_assert_uint_eq(account(), w.write);
    ck_assert_str_eq(w.notes.data, "overflow ");
    end();
}
END_TEST

/* More than a lap between two looks, of positions that do not tell it. */
START_TEST(lapped_unseen)
{
    begin(ANEW);
    print(10);
    poll_tail();
    poll_tail();
    print(ROOM / N_ENTRY + 5);
    poll_tail();
    poll_tail();
    ck_assert_uint_eq(w.n_out, 10 + ROOM / N_ENTRY);
    ck_assert_uint_eq(pfd_tail_summary(w.tail)->lost_bytes, 5 * N_ENTRY);
    ck_assert_str_eq(w.notes.data, "overflow ");
    end();
}
END_TEST

START_TEST(stalled)
{
    begin(GROWS);
    print(ROOM / N_ENTRY);
    put(8, 1);
    settle();
    ck_assert_uint_eq(w.n_out, ROOM / N_ENTRY);
    ck_assert_str_eq(w.notes.data, "nearly_full ");
    end();
}
END_TEST

START_TEST(position_beyond_capacity)
{
    begin(ANEW);
    print(3);
    poll_tail();
    poll_tail();
    put(0, ROOM + 4);
    settle();
    ck_assert_str_eq(w.notes.data, "bad_header ");
    print(2);
    settle();
    ck_assert_uint_eq(w.n_out, 5);
    ck_assert(w.is_in_order);
    end();
}
END_TEST

START_TEST(position_goes_back)
{
    begin(GROWS);
    print(30);
    poll_tail();
    poll_tail();
    w.write = 0;
    w.next = w.n = 100;
    print(4);
    settle();
    ck_assert_uint_eq(w.n_out, 34);
    ck_assert(w.is_in_order);
    ck_assert_uint_eq(pfd_tail_generation(w.tail), 1);
    ck_assert_str_eq(w.notes.data, "reset ");
    end();
}
END_TEST

START_TEST(program_begins_anew)
{
    begin(ANEW);
    print(30);
    poll_tail();
    poll_tail();
    memset(w.bytes + DATA, 0, ROOM);
    w.write = 0;
    w.next = w.n = 100;
    print(4);
    settle();
    ck_assert_uint_eq(w.n_out, 34);
    ck_assert(w.is_in_order);
    ck_assert_str_eq(w.notes.data, "reset ");
    end();
}
END_TEST

/* An entry that is written behind its position is waited for. */
START_TEST(torn_entry)
{
    begin(GROWS);
    print(2);
    put(DATA + 2 * N_ENTRY, 0);
    put(0, 3 * N_ENTRY);
    for (int i = 0; i < 10; i++)
        poll_tail();
    ck_assert_uint_eq(w.n_out, 2);
    print(1);
    settle();
    ck_assert_uint_eq(w.n_out, 3);
    ck_assert(w.is_in_order);
    ck_assert_ptr_null(w.notes.data);
    put(0, w.write + 8);
    settle();
    ck_assert_str_eq(w.notes.data, "unknown_id ");
    ck_assert_uint_eq(account(), w.write + 8);
    end();
}
END_TEST

/* What a lap before wrote at a place is not taken for what is written there
 * late. */
static void late(const char *description)
{
    begin(description);
    print(ROOM / N_ENTRY);
    settle();
    for (int i = 0; i < 20; i++) {
        uint32_t at = w.write % ROOM;
        put(0, at + N_ENTRY);
        if (w.grows)
            put(0, w.write + N_ENTRY);
        for (int k = 0; k < 10; k++)
            poll_tail();
        ck_assert_uint_eq(w.n_out, w.n);
        /* Now its header is there. */
        put(DATA + at, 1);
        poll_tail();
        print(1);
        settle();
        ck_assert_uint_eq(w.n_out, w.n);
    }
    ck_assert(w.is_in_order);
    ck_assert_ptr_null(w.notes.data);
    put(0, w.grows ? w.write + N_ENTRY : w.write % ROOM + N_ENTRY);
    settle();
    ck_assert_uint_eq(w.n_out, w.n + 1);
    ck_assert_str_eq(w.notes.data, "stale ");
    end();
}

START_TEST(late_entry)
{
    late(GROWS);
    late(ANEW);
}
END_TEST

/* A tail that begins later has not seen what stands behind the position. */
START_TEST(late_entry_of_a_lap_before)
{
    begin(GROWS);
    print(ROOM / N_ENTRY + 10);
    put(4, w.write - 2 * N_ENTRY);
    w.next = w.n - 2;
    settle();
    put(0, w.write + N_ENTRY);
    for (int i = 0; i < 10; i++)
        poll_tail();
    ck_assert_uint_eq(w.n_out, 2);
    print(1);
    settle();
    ck_assert_uint_eq(w.n_out, 3);
    ck_assert(w.is_in_order);
    ck_assert_ptr_null(w.notes.data);
    end();
}
END_TEST

/* The same in each lap: nothing is lost by waiting. */
START_TEST(same_entries)
{
    begin(GROWS);
    for (int i = 0; i < 1000; i++) {
        for (int k = 0; k < 10; k++)
            put_entry((const uint32_t[]){ 1, 7 }, 2);
        poll_tail();
        poll_tail();
        poll_tail();
    }
    settle();
    ck_assert_uint_eq(w.n_out, 10000);
    ck_assert_uint_eq(pfd_tail_summary(w.tail)->bytes, w.write);
    end();
}
END_TEST

/* Where `write` moves behind what is written, the same is no doubt. */
START_TEST(same_entries_written)
{
    begin(WHOLE);
    for (int i = 0; i < 1000; i++) {
        for (int k = 0; k < 10; k++)
            put_entry((const uint32_t[]){ 1, 7 }, 2);
        poll_tail();
        poll_tail();
        ck_assert_int_eq((int)w.n_out, 10 * (i + 1));
    }
    ck_assert_ptr_null(w.notes.data);
    end();
}
END_TEST

START_TEST(no_capacity)
{
    begin(GROWS);
    put(12, 0);
    print(2);
    settle();
    ck_assert_uint_eq(w.n_out, 0);
    ck_assert_int_eq(pfd_tail_finish(w.tail, sizeof w.bytes, NULL), PFD_OK);
    ck_assert_str_eq(w.notes.data, "no_header ");
    end();
}
END_TEST

/* It comes out as a whole at its end, and that is told at once. */
static void larger_than_memory(const char *description, const char *notes)
{
    begin(description);
    pfd_tail_free(w.tail);
    w.memory = ROOM;
    open_tail();
    print(2);
    settle();
    ck_assert_str_eq(w.notes.data, "too_large ");
    print(ROOM / N_ENTRY + 8);
    ck_assert_int_eq(pfd_tail_finish(w.tail, sizeof w.bytes, NULL), PFD_OK);
    ck_assert_str_eq(w.notes.data, notes);
    end();
}

START_TEST(too_large)
{
    larger_than_memory(GROWS, "too_large overflow ");
    larger_than_memory(ANEW, "too_large reset ");
}
END_TEST

static void print_sized(uint32_t n)
{
    for (; n; n--, w.n++)
        put_entry((const uint32_t[]){ N_ENTRY << 16 | 1, FIRST + w.n }, 2);
}

static void begin_program(void)
{
    put_entry((const uint32_t[]){ 9 }, 1);
}

/* Ids behind a mark are another program's, in later looks as well. */
START_TEST(programs)
{
    begin(PROGRAMS);
    for (uint32_t i = 0; i < 20; i++) {
        begin_program();
        for (uint32_t k = 0; k < 10; k++) {
            if (k == i % 10)
                settle();
            print_sized(1);
        }
    }
    settle();
    ck_assert_uint_eq(w.n_out, 20); /* of the first and the third */
    ck_assert_uint_eq(pfd_tail_summary(w.tail)->unknown, 180);
    ck_assert_uint_eq(account() + 20 * 4, w.write); /* and the marks */
    end();
}
END_TEST

/* What is lost may have a mark in it. */
START_TEST(programs_lost)
{
    begin(PROGRAMS);
    print_sized(5);
    settle();
    print_sized(ROOM / N_ENTRY + 5);
    settle();
    begin_program();
    print_sized(1);
    begin_program();
    print_sized(1);
    settle();
    ck_assert_uint_eq(w.n_out, 5);
    ck_assert_uint_eq(pfd_tail_summary(w.tail)->unknown, 2);
    ck_assert_uint_eq(account() + 2 * 4, w.write);
    end();
}
END_TEST

/* Another tail goes on where one was. */
static void go_on(const char *description, uint32_t n, bool is_changed)
{
    begin(description);
    print(10);
    settle();
    pfd_tail_free(w.tail);
    print(n);
    open_tail();
    pfd_tail_resume(w.tail,
                    &(struct pfd_tail_resume){ .offset = DATA + 9 * N_ENTRY,
                                               .n_bytes = N_ENTRY,
                                               .index = 9,
                                               .is_changed = is_changed });
    settle();
}

START_TEST(resumed)
{
    go_on(ANEW, 20, false);
    ck_assert_uint_eq(w.n_out, 30);
    ck_assert(w.is_in_order);
    end();
    go_on(GROWS, 100, true);
    ck_assert_uint_eq(pfd_tail_summary(w.tail)->lost_bytes,
                      100 * N_ENTRY - ROOM);
    ck_assert_uint_eq(w.n_out, 10 + ROOM / N_ENTRY);
    ck_assert_str_eq(w.notes.data, "overflow ");
    end();
    go_on(ANEW, 60, true);
    ck_assert_str_eq(w.notes.data, "reset ");
    end();
}
END_TEST

int main(void)
{
    return suite_run("tail ring",
                     TESTS(goes_around, mark_at_the_end, lapped, lapped_unseen,
                           stalled, position_beyond_capacity,
                           position_goes_back, program_begins_anew, torn_entry,
                           late_entry, late_entry_of_a_lap_before, same_entries,
                           same_entries_written, no_capacity, too_large,
                           programs, programs_lost, resumed),
                     60);
}
