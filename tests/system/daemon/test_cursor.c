/* SPDX-License-Identifier: MIT */
/* Readers of a ring: what they miss, and what they are asked for. Pages are made
 * at once here, without threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <uv.h>

#include "../../unit/suite.h"
#include "core/filter/filter.h"
#include "made.h"
#include "ring/cursor.h"

static const char *elf_path;
static const char *dump_path;
static struct made made;
static struct pfdd_ring ring;
static struct pfdd_render_cache render_cache;
static struct pfdd_cursor cursor;
static const struct pfdd_peer_key key;

/* Few chunks fill it. */
static void setup(void)
{
    ck_assert(made_init(&made, elf_path, dump_path, "some\athing"));
    pfdd_ring_init(&ring, 8192, 1);
    pfdd_render_cache_init(&render_cache, &ring, NULL, NULL, 1, 2 << 20);
}

static void teardown(void)
{
    pfdd_render_cache_deinit(&render_cache);
    pfdd_ring_deinit(&ring);
    made_deinit(&made); /* its buffer is held as long as that */
    ck_assert_uint_eq(ring.n_held, 0);
}

static bool is_taken(const char *text, struct pfdd_request *ret)
{
    char err[256];
    *ret = (struct pfdd_request){ 0 };
    bool ok = pfdd_request_read(ret, text, strlen(text), err, sizeof err) &&
              pfdd_request_finish(ret, err, sizeof err);
    ck_assert(ok || err[0]);
    return ok;
}

static void subscribe(const char *text)
{
    struct pfdd_request request;
    ck_assert_msg(is_taken(text, &request), "%s", text);
    ck_assert(pfdd_cursor_init(&cursor, &render_cache, &request));
    pfdd_request_deinit(&request);
}

static bool can_ask(const char *text)
{
    struct pfdd_request request;
    bool ok = is_taken(text, &request);
    pfdd_request_deinit(&request);
    return ok;
}

static void append(void)
{
    struct pfdd_stamp stamp = { .time = 1, .buffer = made.buffer };
    pfdd_ring_append(&ring, &stamp, made_chunk(&made));
}

static void append_entries(unsigned n)
{
    made_entries(&made, n);
    append();
}

/* All there is, allocated. */
static char *read_all(void)
{
    const char *bytes = NULL;
    char *ret = calloc(1, 1);
    size_t n_ret = 0;
    for (size_t n = 0; pfdd_cursor_peek(&cursor, &bytes, &n);) {
        ret = realloc(ret, n_ret + n + 1);
        memcpy(ret + n_ret, bytes, n);
        n_ret += n;
        ret[n_ret] = '\0';
        pfdd_cursor_consume(&cursor, n);
    }
    return ret;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

/* What the request gives of chunks that come one by one. */
static void expect(const char *request, void (*add)(void), const char *wanted)
{
    subscribe(request);
    add();
    char *text = read_all();
    ck_assert_str_eq(text, wanted);
    free(text);
    ck_assert(pfdd_cursor_is_done(&cursor));
    pfdd_cursor_deinit(&cursor);
}

START_TEST(what_was_pushed_out_is_a_gap)
{
    static const char gap[] = "{\"type\":\"gap\",\"missed\":";
    subscribe("{}");
    for (int i = 0; i < 200; i++)
        append_entries(1);
    ck_assert_uint_eq(pfdd_cursor_seq(&cursor), 1);
    ck_assert(pfdd_cursor_has_missed(&cursor));
    char *text = read_all();
    ck_assert_int_eq(strncmp(text, gap, sizeof gap - 1), 0);
    ck_assert_uint_gt(cursor.missed, 0);
    ck_assert_uint_eq(cursor.missed + cursor.lines, 200);
    ck_assert_uint_eq(pfdd_cursor_seq(&cursor), 201);
    ck_assert_uint_eq(count(text, "\n"), cursor.lines + 1);
    free(text);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

START_TEST(a_gap_stands_for_the_item_behind_it)
{
    const char *bytes = NULL;
    size_t n = 0;
    subscribe("{\"output\":\"text\"}");
    for (int i = 0; i < 200; i++)
        append_entries(1);
    ck_assert(pfdd_cursor_peek(&cursor, &bytes, &n));
    ck_assert_uint_eq(pfdd_cursor_seq(&cursor), cursor.missed + 1);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

START_TEST(who_must_have_all_misses_nothing)
{
    subscribe("{}");
    cursor.reader.must_have_all = true;
    for (int i = 0; i < 400; i++)
        append_entries(1);
    ck_assert(pfdd_ring_is_full(&ring));
    char *text = read_all();
    ck_assert_uint_eq(cursor.lines, 400);
    ck_assert_ptr_null(strstr(text, "gap"));
    free(text);
    append_entries(1);
    ck_assert(!pfdd_ring_is_full(&ring));
    ck_assert_uint_le(ring.n_bytes, ring.n_bytes_max);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

static void add_found(void)
{
    made_entries(&made, 1);
    made_finding(&made, PFD_FINDING_unwritten, 1, "of one\nentry");
    made_finding(&made, PFD_FINDING_overflow, PFD_NO_INDEX, "a \"lot\"");
    made_finding(&made, PFD_FINDING_reset, PFD_NO_INDEX, "anew");
    made_gap(&made, 5, "sender_lost");
    made_gap(&made, 0, "bad_frame");
    append();
}

#define FIRST  "Output:-1527281300\n"
#define OF_ONE "! some\\x07thing: dword 8: unwritten: of one entry\n"
#define OF_ALL                                                            \
    "! some\\x07thing: dword 8: overflow: a \"lot\"\n"                    \
    "! some\\x07thing: gap: 5 lost: sender_lost\n! some\\x07thing: gap: " \
    "bad_frame\n"

START_TEST(text_tells_findings)
{
    expect("{\"output\":\"text\"}", add_found, FIRST OF_ONE OF_ALL);
}
END_TEST

/* A pattern chooses messages: what is lost of the buffer is told all the
 * same. */
START_TEST(patterns_leave_what_is_lost)
{
    expect("{\"output\":\"text\",\"match\":\"Out\"}", add_found,
           FIRST OF_ONE OF_ALL);
}
END_TEST

START_TEST(findings_may_be_left_out)
{
    expect("{\"output\":\"text\",\"findings\":false}", add_found, FIRST);
}
END_TEST

START_TEST(raw_is_nothing_but_messages)
{
    expect("{\"output\":\"raw\"}", add_found, FIRST);
}
END_TEST

START_TEST(gaps_of_all_are_told)
{
    expect("{\"output\":\"text\",\"source\":\"another\"}", add_found,
           "! some\\x07thing: gap: 5 lost: sender_lost\n"
           "! some\\x07thing: gap: bad_frame\n");
}
END_TEST

START_TEST(what_was_missed_may_be_left_out)
{
    subscribe("{\"output\":\"json\",\"findings\":false}");
    for (int i = 0; i < 200; i++)
        append_entries(1);
    char *text = read_all();
    ck_assert_ptr_null(strstr(text, "gap"));
    ck_assert_uint_gt(cursor.missed, 0);
    free(text);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

static void add_more(void)
{
    made_entries(&made, 3);
    append();
}

START_TEST(conditions_are_on_arguments)
{
    expect("{\"output\":\"text\",\"where\":\"a0 == 400.5\"}", add_more,
           "half 400.500000 bool 1 byte 5c\n");
}
END_TEST

START_TEST(ids_are_hexadecimal)
{
    expect("{\"output\":\"text\",\"id\":[\"0xe4d87cf98e97\",7]}", add_more,
           FIRST);
}
END_TEST

START_TEST(patterns_are_several_and_inverted)
{
    expect("{\"output\":\"text\",\"match\":[\"OUT\",\"V3\"],"
           "\"ignore_case\":true,\"invert\":true}",
           add_more, "half 400.500000 bool 1 byte 5c\n");
}
END_TEST

/* One more than there may be. */
#define EIGHT     "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\","
#define SEVENTEEN "{\"match\":[" EIGHT EIGHT "\"\"]}"

START_TEST(requests_are_understood_or_refused)
{
    static const char *const good[] = {
        "{\"from\":\"2554-01-01T00:00:00Z\"}",
        "{\"from\":7}",
        "{\"format_string\":\"^v\"}",
        "{\"where\":\"lane == 3\"}",
        "{\"id\":\"0xffffffffffffffff\"}",
        "{\"match\":[\"a\",\"b\"]}",
        "{\"collapse\":true}",
        "{\"collapse\":false}",
        "{\"collapse\":\"equal\",\"window\":5}",
    };
    static const char *const bad[] = {
        "{\"from\":\"2555-01-01T00:00:00Z\"}",
        "{\"from\":\"1969-01-01T00:00:00Z\"}",
        "{\"from\":-1}",
        "{\"from\":1.5}",
        "{\"from\":[1]}",
        "{\"id\":\"0x\"}",
        "{\"id\":\"0x10000000000000000\"}",
        "{\"id\":-1}",
        "{\"match\":[]}",
        "{\"match\":[[\"a\"]]}",
        "{\"match\":true}",
        "{\"match\":\"(\"}",
        "{\"where\":\"a0 ==\"}",
        "{\"where\":[\"a0\"]}",
        "{\"findings\":\"yes\"}",
        "{\"ignore_case\":1}",
        "{\"source\":\"\"}",
        "{\"output\":\"sse\"}",
        "{\"what\":1}",
        "{\"collapse\":1}",
        "{\"collapse\":\"some\"}",
        "{\"window\":5}",
        "{\"collapse\":true,\"window\":0}",
        "{\"collapse\":true,\"output\":\"raw\"}",
        "{\"collapse\":true,\"output\":\"entries\"}",
        "[]",
        SEVENTEEN,
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ck_assert_msg(can_ask(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(!can_ask(bad[i]), "%s", bad[i]);
}
END_TEST

/* ---- pages ---- */

START_TEST(pages_are_made_once)
{
    ring.n_bytes_max = 1 << 20;
    append_entries(500);
    append_entries(500);
    ck_assert_uint_eq(render_cache.n_made, 0); /* no cursor asks */
    subscribe("{\"from\":\"oldest\"}");
    char *first = read_all();
    uint64_t n_made = render_cache.n_made;
    ck_assert_uint_gt(n_made, 0);
    pfdd_cursor_deinit(&cursor);
    subscribe("{\"from\":\"oldest\"}");
    char *second = read_all();
    ck_assert_str_eq(first, second);
    ck_assert_uint_eq(render_cache.n_made, n_made);
    free(first);
    free(second);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

/* Wherever it begins, the rest is the same. */
START_TEST(readers_begin_anywhere)
{
    ring.n_bytes_max = 1 << 20;
    for (int i = 0; i < 10; i++)
        append_entries(7);
    subscribe("{\"from\":\"oldest\"}");
    char *all = read_all();
    pfdd_cursor_deinit(&cursor);
    for (unsigned seq = 1; seq <= 71; seq++) {
        char request[64];
        char number[64];
        snprintf(request, sizeof request, "{\"from\":%u}", seq);
        snprintf(number, sizeof number, "{\"type\":\"entry\",\"sequence\":%u,",
                 seq);
        subscribe(request);
        char *text = read_all();
        const char *at = strstr(all, number);
        ck_assert_str_eq(text, at ? at : "");
        ck_assert(at || seq == 71);
        free(text);
        pfdd_cursor_deinit(&cursor);
    }
    free(all);
}
END_TEST

/* A chunk of several pages: those before the one that is wanted are made, too. */
START_TEST(pages_may_be_many_of_a_chunk)
{
    ring.n_bytes_max = 1 << 20;
    append_entries(4000);
    for (unsigned seq = 4001; seq > 200; seq -= 190) {
        char request[64];
        snprintf(request, sizeof request, "{\"from\":%u}", seq);
        subscribe(request);
        char *text = read_all();
        ck_assert_uint_eq(count(text, "\n"), 4001 - seq);
        ck_assert_uint_eq(cursor.lines, 4001 - seq);
        ck_assert_uint_eq(pfdd_cursor_seq(&cursor), 4001);
        free(text);
        pfdd_cursor_deinit(&cursor);
    }
    ck_assert_uint_gt(render_cache.n_made, 3);
}
END_TEST

/* A reader in the middle of a chunk of several pages, at a time when others wait
 * for room: a page that is full before its line is gone before it is its turn
 * again. The next one begins with its line. */
START_TEST(pages_before_the_line_need_no_room)
{
    struct pfdd_user_accounts readers = {
        .account.kind = PFDD_RESOURCE_ACCOUNT_READERS,
        .n_bytes_max = 8 << 20,
    };
    struct pfdd_cursor other;
    struct pfdd_request request;
    const char *bytes = NULL;
    size_t n = 0;
    unsigned n_turns = 0;
    ring.n_bytes_max = 1 << 20;
    append_entries(4000);
    ck_assert(is_taken("{}", &request));
    ck_assert(
        pfdd_cursor_init_of(&other, &render_cache, &request, &readers, &key));
    ck_assert(is_taken("{\"from\":3900}", &request));
    ck_assert(
        pfdd_cursor_init_of(&cursor, &render_cache, &request, &readers, &key));
    do {
        other.waits = cursor.is_called = true;
        ck_assert_uint_lt(n_turns++, 10);
        ck_assert(
            pfdd_render_cache_reserve(&render_cache, render_cache.n_bytes_max));
        pfdd_render_cache_release(&render_cache, render_cache.n_bytes_max);
    } while (!pfdd_cursor_peek(&cursor, &bytes, &n));
    ck_assert_uint_eq(pfdd_cursor_seq(&cursor), 3900);
    pfdd_cursor_deinit(&other);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

/* A page that is made up to one that exists ends there, inside of a chunk: it
 * has less text than the one that it was before, whose first chunk has gone. */
START_TEST(a_page_ends_where_the_next_begins)
{
    struct pfdd_cursor stays;
    const char *bytes = NULL;
    size_t n = 0;
    size_t n_taken = 0;
    char request[64];
    ring.n_bytes_max = 1 << 20;
    append_entries(600);
    append_entries(4000);
    render_cache.lists[PFDD_JSON].line =
        1; /* as if lines had been short so far */
    subscribe("{\"from\":\"oldest\"}");
    ck_assert(pfdd_cursor_peek(&cursor, &bytes, &n));
    unsigned inside = (unsigned)cursor.rendered_block->end;
    ck_assert_uint_gt(inside, 601);
    ck_assert_uint_lt(inside, 4601);
    char *all = read_all();
    pfdd_cursor_deinit(&cursor);

    snprintf(request, sizeof request, "{\"from\":%u}", inside);
    subscribe(request);
    ck_assert(pfdd_cursor_peek(&cursor, &bytes, &n));
    stays = cursor;
    stays.times.taken_ns = uv_hrtime();
    ring.readers = &stays.reader;
    while (render_cache.lists[PFDD_JSON].items[0]->first == 1 &&
           pfdd_render_cache_reserve(&render_cache, 65536))
        n_taken += 65536;
    pfdd_render_cache_release(&render_cache, n_taken);
    ck_assert_uint_eq(render_cache.lists[PFDD_JSON].items[0]->first, inside);
    ring.n_bytes_max = ring.n_bytes;
    append_entries(1);
    ck_assert_uint_eq(pfdd_ring_oldest(&ring), 601);

    subscribe("{\"from\":\"oldest\"}");
    char *rest = read_all();
    const char *at = strstr(all, "{\"type\":\"entry\",\"sequence\":601,");
    ck_assert_ptr_nonnull(at);
    ck_assert_int_eq(strncmp(rest, at, strlen(at)), 0);
    ck_assert_uint_eq(count(rest, "\n"), count(at, "\n") + 1);
    free(all);
    free(rest);
    pfdd_cursor_deinit(&cursor);
    pfdd_cursor_deinit(&stays);
}
END_TEST

/* Bytes are taken in bites; who has begun a page and does not go on gives it
 * back, and has the rest of its line. */
START_TEST(pages_are_given_back)
{
    ring.n_bytes_max = 1 << 20;
    append_entries(300);
    subscribe("{\"from\":\"oldest\"}");
    char *all = read_all();
    pfdd_cursor_deinit(&cursor);
    subscribe("{\"from\":\"oldest\"}");
    char *got = calloc(1, strlen(all) + 1);
    const char *bytes = NULL;
    size_t n_got = 0;
    for (size_t n = 0; pfdd_cursor_peek(&cursor, &bytes, &n);) {
        size_t bite = 1 + n_got % 997;
        n = n < bite ? n : bite;
        memcpy(got + n_got, bytes, n);
        n_got += n;
        pfdd_cursor_consume(&cursor, n);
        if (n_got % 3 == 0) {
            cursor.times.taken_ns = 0;
            render_cache.readers->take_back(&ring, false);
            ck_assert(!cursor.rendered_block);
        }
    }
    ck_assert_str_eq(got, all);
    ck_assert_uint_eq(cursor.missed, 0);
    free(got);
    free(all);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

/* What a reader keeps of a page is its own, and bounded: the one that has had it
 * for too long ends with a word, in each form where one may stand. */
START_TEST(what_is_kept_of_a_page_is_asked_for)
{
    static const struct {
        const char *request;
        size_t n; /* bytes of the page that it takes */
        const char *end;
    } cases[] = {
        { "{\"output\":\"text\",\"from\":\"oldest\"}", 3, "\n! error: " },
        { "{\"from\":\"oldest\"}", 3, "\n{\"type\":\"error\"," },
        { "{\"output\":\"raw\",\"from\":\"oldest\"}", 3, NULL },
        { "{\"output\":\"entries\",\"from\":\"oldest\"}", 3, NULL },
        { "{\"collapse\":\"equal\",\"window\":1,\"from\":\"oldest\"}", 0,
          "{\"type\":\"error\"," },
    };
    ring.n_bytes_max = 1 << 20;
    append_entries(30);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pfdd_user_accounts readers = {
            .account.kind = PFDD_RESOURCE_ACCOUNT_READERS,
            .n_bytes_max = 8 << 20,
        };
        struct pfdd_request request;
        const char *bytes = NULL;
        size_t n = 0;
        ck_assert(is_taken(cases[i].request, &request));
        ck_assert(pfdd_cursor_init_of(&cursor, &render_cache, &request,
                                      &readers, &key));
        pfdd_request_deinit(&request);
        while (!cursor.rendered_block || !cursor.rendered_block->is_ready ||
               cursor.n_announced || cursor.out.n) {
            ck_assert(pfdd_cursor_peek(&cursor, &bytes, &n));
            if (cursor.rendered_block && bytes == cursor.rendered_block->text)
                break;
            pfdd_cursor_consume(&cursor, n);
        }
        ck_assert(pfdd_cursor_peek(&cursor, &bytes, &n));
        if (cases[i].n)
            pfdd_cursor_consume(&cursor, cases[i].n);
        cursor.times.taken_ns = 0;
        readers.n_bytes_max = 0; /* there is no room any more */
        ck_assert(!render_cache.readers->take_back(&ring, false));
        ck_assert(cursor.rendered_block && !cursor.is_over);
        cursor.times.entered_ns = 0;
        ck_assert(render_cache.readers->take_back(&ring, false));
        ck_assert(!cursor.rendered_block && cursor.is_over && cursor.is_cut);
        ck_assert_uint_eq(pfdd_cursor_seq(&cursor), 1);
        char *rest = read_all();
        const char *end = cases[i].end;
        ck_assert_msg(end ? !strncmp(rest, end, strlen(end)) : !*rest, "%s",
                      rest);
        free(rest);
        ck_assert(pfdd_cursor_is_done(&cursor));
        pfdd_cursor_deinit(&cursor);
        ck_assert_uint_eq(readers.account.n_bytes, 0);
    }
}
END_TEST

static void subscribe_of(struct pfdd_cursor *r, const char *text,
                         struct pfdd_user_accounts *users)
{
    struct pfdd_request request;
    ck_assert_msg(is_taken(text, &request), "%s", text);
    ck_assert(pfdd_cursor_init_of(r, &render_cache, &request, users, &key));
    pfdd_request_deinit(&request);
}

/* A reader that asks for a block takes no room for its filter before others of
 * its user could keep what they give their blocks back for. */
START_TEST(rooms_come_after_blocks)
{
    struct pfdd_user_accounts readers = {
        .account.kind = PFDD_RESOURCE_ACCOUNT_READERS,
        .n_bytes_max = 8 << 20,
    };
    static struct pfdd_cursor stalled;
    const char *bytes = NULL;
    size_t n = 0;
    ring.n_bytes_max = 1 << 20;
    append_entries(1000);
    subscribe_of(&stalled,
                 "{\"collapse\":\"equal\",\"window\":1,\"from\":\"oldest\"}",
                 &readers);
    ck_assert(pfdd_cursor_peek(&stalled, &bytes, &n));
    ck_assert(stalled.rendered_block && n > 0); /* how much: as time allows */
    stalled.times.taken_ns = 0;                 /* long ago */
    subscribe_of(&cursor, "{\"match\":\".\",\"from\":\"oldest\"}", &readers);
    render_cache.n_bytes_max = render_cache.n_private + PFDD_BLOCK + (32 << 10);
    readers.n_bytes_max = (readers.account.n_bytes + n + (200 << 10)) / 3 * 4;
    ck_assert(pfdd_cursor_peek(&cursor, &bytes, &n));
    ck_assert(!stalled.rendered_block && !stalled.is_over);
    pfdd_cursor_deinit(&cursor);
    pfdd_cursor_deinit(&stalled);
    ck_assert_uint_eq(readers.account.n_bytes, 0);
}
END_TEST

/* What a filter has kept of a room goes to a reader of its user that comes. */
START_TEST(rooms_go_to_who_asks)
{
    struct pfdd_user_accounts readers = {
        .account.kind = PFDD_RESOURCE_ACCOUNT_READERS,
        .n_bytes_max = 8 << 20,
    };
    static struct pfdd_cursor idle;
    char where[4096] = "";
    size_t n = (size_t)snprintf(where, sizeof where, "{\"where\":\"");
    for (int i = 0; i < 250; i++) {
        n += (size_t)snprintf(where + n, sizeof where - n, "%sa0==%d",
                              i ? "||" : "", i);
    }
    snprintf(where + n, sizeof where - n, "\",\"from\":\"oldest\"}");
    ring.n_bytes_max = 1 << 20;
    append_entries(1000);
    subscribe_of(&idle, where, &readers);
    const char *bytes = NULL;
    while (pfdd_cursor_peek(&idle, &bytes, &n))
        pfdd_cursor_consume(&idle, n);
    size_t n_kept = pfd_filter_run_memory(idle.render_choice->run);
    ck_assert_uint_gt(n_kept, PFD_FILTER_ROOM_MIN + (8 << 10));
    readers.n_bytes_max = (readers.account.n_bytes + (16 << 10)) / 3 * 4;
    subscribe_of(&cursor, "{\"where\":\"a0 == 7\"}", &readers);
    ck_assert_uint_le(pfd_filter_run_memory(idle.render_choice->run),
                      PFD_FILTER_ROOM_MIN);
    pfdd_cursor_deinit(&cursor);
    pfdd_cursor_deinit(&idle);
    ck_assert_uint_eq(readers.account.n_bytes, 0);
}
END_TEST

/* In a full share lines end sooner; the reader is not ended. */
START_TEST(runs_end_sooner_in_a_full_share)
{
    struct pfdd_user_accounts readers = {
        .account.kind = PFDD_RESOURCE_ACCOUNT_READERS,
        .n_bytes_max = 8 << 20,
    };
    ring.n_bytes_max = 4 << 20;
    for (int i = 0; i < 20; i++)
        append_entries(300);
    subscribe_of(&cursor, "{\"collapse\":\"equal\",\"from\":\"oldest\"}",
                 &readers);
    readers.n_bytes_max = 2 * readers.account.n_bytes; /* it may have no more */
    char *text = read_all();
    cursor.render_choice->collapser->ended_ns = 0; /* long ago */
    pfdd_cursors_kick(&ring);
    char *rest = read_all();
    ck_assert_uint_eq(count(text, "\"error\"") + count(rest, "\"error\""), 0);
    ck_assert(!cursor.is_over && pfdd_cursor_is_done(&cursor));
    ck_assert_uint_eq(cursor.lines, 6000);
    free(text);
    free(rest);
    pfdd_cursor_deinit(&cursor);
    ck_assert_uint_eq(readers.account.n_bytes, 0);
}
END_TEST

/* Output that a job is writing stays where it is. */
START_TEST(runs_wait_for_output_that_is_written)
{
    append_entries(300);
    subscribe("{\"collapse\":\"equal\",\"from\":\"oldest\"}");
    free(read_all());
    cursor.render_choice->collapser->ended_ns = 0; /* long ago */
    cursor.is_lent = true;
    pfdd_cursors_kick(&ring);
    ck_assert_uint_eq(cursor.out.n, 0);
    cursor.is_lent = false;
    pfdd_cursors_kick(&ring);
    ck_assert_uint_gt(cursor.out.n, 0);
    free(read_all());
    pfdd_cursor_deinit(&cursor);
}
END_TEST

/* A chunk may be of more items than a page may have. */
START_TEST(items_of_a_page_are_bounded)
{
    enum {
        N = 60000
    };
    static const char *const forms[] = { "raw", "entries" };
    ring.n_bytes_max = 64 << 20;
    render_cache.n_bytes_max = 1 << 20;
    append_entries(N);
    for (unsigned i = 0; i < 2 * 2; i++) {
        char text[80];
        const char *bytes = NULL;
        size_t n_lines = 0;
        snprintf(text, sizeof text, "{\"output\":\"%s\",\"from\":%d%s}",
                 forms[i % 2], 1 + (i / 2) * (N - 1000),
                 i / 2 ? ",\"match\":\".\"" : "");
        subscribe(text);
        for (size_t n = 0; pfdd_cursor_peek(&cursor, &bytes, &n);) {
            if (cursor.rendered_block)
                ck_assert_uint_le(cursor.rendered_block->n_ends, 16384);
            if (cursor.render_choice)
                cursor.render_choice->debt_ns = 0; /* a slow machine */
            ck_assert_uint_le(render_cache.n_bytes, render_cache.n_bytes_max);
            for (size_t k = 0; k < n; k++)
                n_lines += bytes[k] == '\n';
            pfdd_cursor_consume(&cursor, n);
        }
        ck_assert(pfdd_cursor_is_done(&cursor));
        ck_assert_uint_eq(cursor.missed, 0);
        ck_assert_uint_eq(cursor.lines, i / 2 ? 1000 : N);
        if (i % 2 == 0)
            ck_assert_uint_ge(n_lines, cursor.lines);
        pfdd_cursor_deinit(&cursor);
    }
}
END_TEST

/* Readers that stall in pages of their own do not keep others from theirs, nor
 * the share from being one. */
START_TEST(pages_have_a_share)
{
    enum {
        N = 32
    };
    static struct pfdd_cursor many[N];
    ring.n_bytes_max = 4 << 20;
    for (int i = 0; i < 60; i++)
        append_entries(500);
    for (int i = 0; i < N; i++) {
        struct pfdd_request request;
        const char *bytes = NULL;
        size_t n = 0;
        char text[64];
        snprintf(text, sizeof text, "{\"from\":%d,\"match\":\".\"}",
                 1 + 900 * i);
        ck_assert(is_taken(text, &request));
        ck_assert(pfdd_cursor_init(&many[i], &render_cache, &request));
        pfdd_request_deinit(&request);
        if (!pfdd_cursor_peek(&many[i], &bytes, &n)) {
            many[0].times.taken_ns = 0;
            continue;
        }
        pfdd_cursor_consume(&many[i], 1);
        many[i].times.taken_ns = 0; /* long ago */
        ck_assert_uint_le(render_cache.n_bytes, render_cache.n_bytes_max);
    }
    subscribe("{\"from\":\"oldest\"}");
    char *text = read_all();
    ck_assert_uint_eq(cursor.lines, 30000);
    ck_assert_uint_eq(count(text, "\n"), 30000);
    ck_assert_uint_le(render_cache.n_bytes, render_cache.n_bytes_max);
    free(text);
    for (int i = 0; i < N; i++)
        pfdd_cursor_deinit(&many[i]);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

/* Also where what has been read would fill all the room that there is: the next
 * pages are there when the reader comes, and each is made once. */
START_TEST(pages_are_made_ahead)
{
    enum {
        N = 30000,
        AHEAD = 2
    };
    const char *bytes = NULL;
    uint64_t n_read = 0;
    ring.n_bytes_max = 4 << 20;
    render_cache.n_ahead = AHEAD;
    for (int i = 0; i < N / 500; i++)
        append_entries(500);
    subscribe("{\"from\":\"oldest\"}");
    for (size_t n = 0; pfdd_cursor_peek(&cursor, &bytes, &n); n_read++) {
        pfdd_cursor_consume(&cursor, n);
        ck_assert_uint_le(render_cache.n_bytes, render_cache.n_bytes_max);
        if (pfdd_cursor_seq(&cursor) < N - 4000)
            ck_assert_uint_ge(render_cache.n_made, n_read + 1 + AHEAD);
    }
    ck_assert_uint_eq(cursor.lines, N);
    ck_assert_uint_gt(n_read, 2 * (render_cache.n_bytes_max / PFDD_BLOCK));
    ck_assert_uint_eq(render_cache.n_made, n_read);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

static size_t pages_of_ring(void)
{
    const struct pfdd_rendered_block_list *list =
        &render_cache.lists[PFDD_JSON];
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += list->items[i]->end > pfdd_ring_oldest(&ring);
    return n;
}

/* The oldest stay for who comes later, where that one begins. */
START_TEST(what_was_read_last_goes_first)
{
    const char *bytes = NULL;
    size_t n = 0;
    ring.n_bytes_max = 4 << 20;
    for (int i = 0; i < 60; i++)
        append_entries(500);
    subscribe("{\"from\":\"oldest\"}");
    free(read_all());
    uint64_t n_made = render_cache.n_made;
    size_t n_kept = render_cache.lists[PFDD_JSON].n;
    ck_assert_uint_ge(n_kept, 3);
    ck_assert_uint_gt(n_made, 2 * n_kept);
    uint64_t n_lines = cursor.lines;
    pfdd_cursor_deinit(&cursor);
    subscribe("{\"from\":\"oldest\"}");
    for (size_t i = 0; i < n_kept - 1; i++) {
        ck_assert_uint_eq(render_cache.n_made, n_made);
        ck_assert(pfdd_cursor_peek(&cursor, &bytes, &n));
        pfdd_cursor_consume(&cursor, n);
    }
    free(read_all());
    ck_assert_uint_eq(cursor.lines, n_lines);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

/* What a reader has before it stays, whoever has it behind. */
START_TEST(what_one_will_read_stays)
{
    const char *bytes = NULL;
    struct pfdd_request request;
    struct pfdd_cursor slow;
    size_t n = 0;
    ring.n_bytes_max = 4 << 20;
    for (int i = 0; i < 7; i++)
        append_entries(300);
    subscribe("{\"from\":\"oldest\"}");
    free(read_all());
    ck_assert(is_taken("{\"from\":700}", &request));
    ck_assert(pfdd_cursor_init(&slow, &render_cache, &request));
    pfdd_request_deinit(&request);
    ck_assert(pfdd_cursor_peek(&slow, &bytes, &n));
    for (int i = 0; i < 50; i++) {
        append_entries(300);
        free(read_all());
    }
    uint64_t n_made = render_cache.n_made;
    while (pfdd_cursor_seq(&slow) < 1800) {
        ck_assert(pfdd_cursor_peek(&slow, &bytes, &n));
        ck_assert_uint_eq(render_cache.n_made, n_made);
        pfdd_cursor_consume(&slow, n);
    }
    pfdd_cursor_deinit(&slow);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

/* Those that nobody can ask for go before all others. */
START_TEST(what_the_ring_has_not_goes_first)
{
    ring.n_bytes_max = 64 << 10;
    subscribe("{}");
    for (int i = 0; i < 100; i++) {
        append_entries(500);
        free(read_all());
    }
    ck_assert_uint_eq(cursor.lines, 50000);
    ck_assert_uint_ge(pages_of_ring(), 2);
    pfdd_cursor_deinit(&cursor);
    uint64_t n_made = render_cache.n_made;
    subscribe("{\"from\":\"oldest\"}");
    free(read_all());
    ck_assert_uint_eq(render_cache.n_made, n_made);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

/* ---- runs ---- */

static uint64_t sum_of(const char *text, const char *what)
{
    uint64_t sum = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        sum += strtoull(text + strlen(what), NULL, 10);
    return sum;
}

/* Entries that a text stands for. */
static uint64_t stood_for(const char *text)
{
    return count(text, "\"type\":\"entry\"") - count(text, "\"collapsed\":") +
           sum_of(text, "\"collapsed\":");
}

/* What waits is said when it has waited for long enough. */
static char *read_late(void)
{
    ck_assert(!pfdd_cursor_is_done(&cursor));
    cursor.render_choice->collapser->ended_ns = 0;
    pfdd_cursors_kick(&ring);
    char *text = read_all();
    ck_assert(pfdd_cursor_is_done(&cursor));
    return text;
}

/* What was before a gap is said before it. */
START_TEST(runs_end_at_a_gap)
{
    subscribe("{\"collapse\":true}");
    append_entries(3);
    char *text = read_all();
    ck_assert_str_eq(text, "");
    free(text);
    for (int i = 0; i < 200; i++)
        append_entries(1);
    text = read_all();
    const char *gap = strstr(text, "\"type\":\"gap\"");
    ck_assert_ptr_nonnull(gap);
    ck_assert_uint_eq(stood_for(text), 3);
    ck_assert_uint_eq(stood_for(gap), 0);
    free(text);
    text = read_late();
    ck_assert_uint_eq(stood_for(text) + 3 + cursor.missed, 203);
    ck_assert_uint_gt(cursor.missed, 0);
    free(text);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

/* Whoever gives back a page has what was made of it, and counts no entry
 * again. */
START_TEST(runs_are_counted_once)
{
    char got[65536];
    size_t n_got = 0;
    const char *bytes = NULL;
    ring.n_bytes_max = 1 << 20;
    subscribe("{\"from\":\"oldest\",\"collapse\":\"equal\",\"window\":1}");
    append_entries(30);
    for (size_t n = 0; pfdd_cursor_peek(&cursor, &bytes, &n);) {
        n = n < 7 ? n : 7;
        memcpy(got + n_got, bytes, n);
        n_got += n;
        pfdd_cursor_consume(&cursor, n);
        cursor.times.taken_ns = 0;
        render_cache.readers->take_back(&ring, false);
        ck_assert(!cursor.rendered_block);
    }
    got[n_got] = '\0';
    uint64_t n = stood_for(got);
    char *text = read_late();
    ck_assert_uint_eq(n + stood_for(text), 30);
    free(text);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

/* A page for which there was no memory has no ends of items: a reader in the
 * middle of it asks for none, neither to go on nor to give it back. */
START_TEST(a_page_that_failed_is_not_looked_into)
{
    const char *bytes = NULL;
    size_t n = 0;
    ring.n_bytes_max = 1 << 20;
    append_entries(30);
    subscribe("{\"from\":7,\"output\":\"text\"}");
    ck_assert(pfdd_cursor_peek(&cursor, &bytes, &n));
    struct pfdd_rendered_block *p = cursor.rendered_block;
    ck_assert_uint_lt(p->first, 7);
    free(p->ends);
    p->ends = NULL;
    p->has_failed = true;
    cursor.item = cursor.at = 0; /* it waited while the page was made */
    render_cache.readers->wake(&ring, p);
    ck_assert_uint_eq(pfdd_cursor_seq(&cursor), 7);
    cursor.times.taken_ns = 0;
    ck_assert(!render_cache.readers->take_back(&ring, false));
    ck_assert_ptr_eq(cursor.rendered_block, p);
    ck_assert(pfdd_cursor_peek(&cursor, &bytes, &n));
    ck_assert_int_eq(strncmp(bytes, "! gap: ", 7), 0);
    ck_assert_uint_eq(cursor.missed, 24);
    pfdd_cursor_deinit(&cursor);
}
END_TEST

/* A page that is not made leaves it unknown what was counted. */
START_TEST(runs_want_all_memory)
{
    subscribe("{\"collapse\":true,\"output\":\"text\"}");
    append_entries(3);
    cursor.render_choice->collapser->failed = true;
    char *text = read_all();
    ck_assert_str_eq(text, "! error: out of memory for what is collapsed\n");
    free(text);
    ck_assert(cursor.is_over);
    ck_assert(pfdd_cursor_is_done(&cursor));
    pfdd_cursor_deinit(&cursor);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc < 3)
        return EXIT_FAILURE;
    dump_path = argv[1];
    elf_path = argv[2];
    return suite_run_with(
        "reader", setup, teardown,
        TESTS(what_was_pushed_out_is_a_gap, a_gap_stands_for_the_item_behind_it,
              who_must_have_all_misses_nothing, text_tells_findings,
              patterns_leave_what_is_lost, findings_may_be_left_out,
              raw_is_nothing_but_messages, gaps_of_all_are_told,
              what_was_missed_may_be_left_out, conditions_are_on_arguments,
              ids_are_hexadecimal, patterns_are_several_and_inverted,
              requests_are_understood_or_refused, pages_are_made_once,
              readers_begin_anywhere, pages_are_given_back,
              what_is_kept_of_a_page_is_asked_for, rooms_come_after_blocks,
              runs_end_sooner_in_a_full_share,
              runs_wait_for_output_that_is_written, rooms_go_to_who_asks,
              items_of_a_page_are_bounded, pages_may_be_many_of_a_chunk,
              pages_before_the_line_need_no_room,
              a_page_ends_where_the_next_begins, pages_have_a_share,
              pages_are_made_ahead, what_was_read_last_goes_first,
              what_one_will_read_stays, what_the_ring_has_not_goes_first,
              runs_end_at_a_gap, runs_are_counted_once,
              a_page_that_failed_is_not_looked_into, runs_want_all_memory),
        300);
}
