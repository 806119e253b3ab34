/* SPDX-License-Identifier: MIT */
/* Readers of a ring: what they miss, and what they are asked for. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "../unit/suite.h"
#include "delivery/reader.h"

static struct pfdd_ring ring;
static struct pfdd_reader reader;

/* Small chunks: few lines fill it. */
static void setup(void)
{
    pfdd_ring_init(&ring, 8192, 1);
    ring.n_chunk = 4096;
}

static void teardown(void)
{
    pfdd_ring_deinit(&ring);
}

static void subscribe(const char *text)
{
    char err[160];
    struct pfdd_request request = { .form = PFDD_JSON };
    ck_assert_msg(
        pfdd_request_read(&request, text, strlen(text), err, sizeof err),
        "%s: %s", text, err);
    pfdd_reader_init(&reader, &ring, &request);
}

static bool is_taken(const char *text)
{
    char err[160];
    struct pfdd_request request = { .form = PFDD_JSON };
    bool ok = pfdd_request_read(&request, text, strlen(text), err, sizeof err);
    pfdd_filter_deinit(&request.filter);
    return ok;
}

static const char *name_of(void *user, uint32_t source)
{
    return "some\athing";
}

static void append(const char *line)
{
    struct pfdd_stamp stamp = { 0 };
    pfdd_ring_append(&ring, &stamp, line, strlen(line));
}

/* All there is, allocated. */
static char *read_all(void)
{
    const char *bytes = NULL;
    char *ret = calloc(1, 1);
    size_t n_ret = 0;
    for (size_t n = 0; pfdd_reader_peek(&reader, &bytes, &n);) {
        ret = realloc(ret, n_ret + n + 1);
        memcpy(ret + n_ret, bytes, n);
        n_ret += n;
        ret[n_ret] = '\0';
        pfdd_reader_take(&reader, n);
    }
    return ret;
}

START_TEST(empty_ring_tells_what_was_missed)
{
    static const char gap[] = "{\"type\":\"gap\",\"missed\":";
    subscribe("{}");
    for (int i = 0; i < 200; i++)
        append("{\"type\":\"entry\",\"message\":\"x\"}\n");
    ck_assert_uint_eq(pfdd_reader_seq(&reader), 1);
    char *text = read_all();
    ck_assert_int_eq(strncmp(text, gap, sizeof gap - 1), 0);
    ck_assert_uint_gt(reader.missed, 0);
    ck_assert_uint_eq(reader.missed + reader.lines, 200);
    ck_assert_uint_eq(pfdd_reader_seq(&reader), 201);
    free(text);
    pfdd_reader_deinit(&reader);
}
END_TEST

START_TEST(gap_stands_for_the_line_behind_it)
{
    const char *bytes = NULL;
    size_t n = 0;
    subscribe("{\"output\":\"text\"}");
    for (int i = 0; i < 200; i++)
        append("{\"type\":\"entry\",\"message\":\"x\"}\n");
    ck_assert(pfdd_reader_peek(&reader, &bytes, &n));
    ck_assert_uint_eq(pfdd_reader_seq(&reader), reader.missed + 1);
    pfdd_reader_deinit(&reader);
}
END_TEST

/* glibc doubles what stands before a '+': 50 bytes would cost 200 MB. 100 stars
 * in a row take minutes. */
START_TEST(costly_patterns_are_refused)
{
    ck_assert(!is_taken("{\"match\":\"((((((a)+)+)+)+)+)+\"}"));
    ck_assert(!is_taken("{\"match\":\"a++++++\"}"));
    ck_assert(!is_taken("{\"match\":\"(b******|c)\"}"));
    ck_assert(!is_taken("{\"match\":\"a*+?+*+?+*+\"}"));
    ck_assert(is_taken("{\"match\":\"(a*)*(b?)?\\\\++ x+?\"}"));
    ck_assert(is_taken("{\"match\":\"(a+b+)+c+d+e+f+g+h+|(i)+\"}"));
}
END_TEST

/* Each byte brings the matcher into another state. */
START_TEST(patterns_forget)
{
    char line[512] = "{\"type\":\"entry\",\"message\":\"";
    size_t n = strlen(line);
    srand(1);
    subscribe("{\"match\":\"^.*a..............................c\"}");
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (int i = 0; i < 150; i++) {
        for (int k = 0; k < 200; k++)
            line[n + (size_t)k] = rand() & 256 ? 'a' : 'b';
        strcpy(line + n + 200, "\"}\n");
        append(line);
        free(read_all());
    }
    size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    ck_assert_uint_lt(after, before + (40 << 20));
    pfdd_reader_deinit(&reader);
}
END_TEST

START_TEST(all_words_become_text)
{
    char line[2000] = "{\"type\":\"entry\",\"id\":\"0x1\",\"args\":[0";
    for (int i = 1; i < 300; i++)
        strcat(line, ",0");
    strcat(line, "]}\n");
    subscribe("{\"output\":\"text\"}");
    append(line);
    char *text = read_all();
    ck_assert_uint_eq(strlen(text), strlen("<unknown id 0x1:>\n") + 300 * 9);
    ck_assert_str_eq(text + strlen(text) - 3, "0>\n");
    free(text);
    pfdd_reader_deinit(&reader);
}
END_TEST

/* What the request gives of the lines, as text. */
static void expect(const char *request, const char *const *lines,
                   const char *wanted)
{
    subscribe(request);
    for (; *lines; lines++)
        append(*lines);
    char *text = read_all();
    ck_assert_str_eq(text, wanted);
    free(text);
    pfdd_reader_deinit(&reader);
}

static const char *const found[] = {
    "{\"type\":\"entry\",\"message\":\"sure\",\"index\":0,\"offset\":16,"
    "\"source\":\"a\"}\n",
    "{\"type\":\"entry\",\"message\":\"doubt\\u0000\",\"index\":1,"
    "\"offset\":24,\"source\":\"a\\u001b\",\"findings\":[\"late\","
    "\"ambiguous\",\"stale\"],\"alternatives\":[{\"message\":\"no\"}]}\n",
    "{\"type\":\"entry\",\"message\":\"noted\",\"index\":2,\"offset\":28,"
    "\"source\":\"a\",\"findings\":[\"late\"]}\n",
    "{\"type\":\"entry\",\"message\":null,\"id\":\"0x7\",\"args\":[1],"
    "\"index\":3,\"findings\":[\"torn_header\"],\"alternatives\":"
    "[{\"message\":\"no\"}]}\n",
    "{\"type\":\"finding\",\"kind\":\"unwritten\",\"text\":\"of one\\nentry\","
    "\"index\":4,\"offset\":32,\"source\":\"a\"}\n",
    "{\"type\":\"finding\",\"kind\":\"overflow\",\"text\":\"a \\\"lot\\\"\","
    "\"offset\":64,\"source\":\"a\"}\n",
    "{\"type\":\"finding\",\"kind\":\"reset\",\"text\":\"anew\","
    "\"offset\":0,\"source\":\"a\"}\n",
    "{\"type\":\"gap\",\"missed\":5,\"reason\":\"sender_lost\"}\n",
    "{\"type\":\"gap\",\"missed\":0,\"reason\":\"bad_frame\"}\n",
    NULL,
};

#define UNKNOWN "<torn header, id 0x7: 00000001>\n"
#define OF_ONE  "! a: dword 8: unwritten: of one entry\n"
#define OF_ALL                             \
    "! a: dword 16: overflow: a \"lot\"\n" \
    "! gap: 5 lost: sender_lost\n! gap: bad_frame\n"

START_TEST(text_tells_findings)
{
    expect(
        "{\"output\":\"text\"}", found,
        "sure\ndoubt\\x00\n! a\\x1b: dword 6: ambiguous, stale\nnoted\n" UNKNOWN
            OF_ONE OF_ALL);
}
END_TEST

/* A pattern chooses messages: what is lost of the buffer is told all the
 * same. */
START_TEST(patterns_leave_what_is_lost)
{
    expect("{\"output\":\"text\",\"match\":\"sure\"}", found, "sure\n" OF_ALL);
}
END_TEST

START_TEST(findings_may_be_left_out)
{
    expect("{\"output\":\"text\",\"findings\":false}", found,
           "sure\ndoubt\\x00\nnoted\n" UNKNOWN);
    expect("{\"output\":\"raw\"}", found + 4, "");
}
END_TEST

START_TEST(what_was_missed_may_be_left_out)
{
    subscribe("{\"output\":\"json\",\"findings\":false}");
    for (int i = 0; i < 200; i++)
        append("{\"type\":\"entry\",\"message\":\"x\"}\n");
    char *text = read_all();
    ck_assert_ptr_null(strstr(text, "gap"));
    ck_assert_uint_gt(reader.missed, 0);
    free(text);
    pfdd_reader_deinit(&reader);
}
END_TEST

START_TEST(names_stand_before_gaps)
{
    struct pfdd_reader *r = &reader;
    subscribe("{\"output\":\"text\"}");
    r->source_name = name_of;
    append("{\"type\":\"gap\",\"missed\":1,\"reason\":\"x\"}\n");
    char *text = read_all();
    ck_assert_str_eq(text, "! some\\x07thing: gap: 1 lost: x\n");
    free(text);
    pfdd_reader_deinit(r);
}
END_TEST

START_TEST(times_are_ns_of_64_bits)
{
    ck_assert(is_taken("{\"from\":\"2554-01-01T00:00:00Z\"}"));
    ck_assert(!is_taken("{\"from\":\"2555-01-01T00:00:00Z\"}"));
    ck_assert(!is_taken("{\"from\":\"1969-01-01T00:00:00Z\"}"));
}
END_TEST

/* A long line has no room, where a chunk would have. */
START_TEST(who_must_have_all_misses_nothing)
{
    char line[7000];
    int n = snprintf(line, sizeof line, "{\"type\":\"entry\",\"message\":\"%*s",
                     6000, "");
    snprintf(line + n, sizeof line - (size_t)n, "\"}\n");
    ring.n_bytes_max = 22000; /* two chunks and a small one more */
    subscribe("{}");
    reader.must_have_all = true;
    for (int i = 0; i < 40; i++)
        append("{\"type\":\"entry\",\"message\":\"x\"}\n");
    append(line);
    char *text = read_all();
    ck_assert_uint_eq(ring.n_chunks, 3);
    ck_assert_uint_eq(reader.lines, 41);
    ck_assert_ptr_null(strstr(text, "gap"));
    free(text);
    pfdd_reader_deinit(&reader);
}
END_TEST

/* What a long message took is not kept for the next ones. */
START_TEST(long_lines_are_forgotten)
{
    char line[100100];
    int n = snprintf(line, sizeof line, "{\"type\":\"entry\",\"message\":\"%*s",
                     100000, "");
    snprintf(line + n, sizeof line - (size_t)n, "\"}\n");
    subscribe("{\"output\":\"text\"}");
    append(line);
    const char *bytes = NULL;
    size_t n_bytes = 0;
    ck_assert(pfdd_reader_peek(&reader, &bytes, &n_bytes));
    ck_assert_uint_eq(n_bytes, 100001);
    ck_assert_uint_gt(pfdd_reader_memory(&reader), 200000);
    pfdd_reader_take(&reader, 1);
    ck_assert(pfdd_reader_peek(&reader, &bytes, &n_bytes));
    pfdd_reader_take(&reader, n_bytes);
    ck_assert_uint_lt(pfdd_reader_memory(&reader), 140000);
    ck_assert(!pfdd_reader_peek(&reader, &bytes, &n_bytes));
    pfdd_reader_deinit(&reader);
}
END_TEST

int main(void)
{
    return suite_run_with(
        "reader", setup, teardown,
        TESTS(empty_ring_tells_what_was_missed,
              gap_stands_for_the_line_behind_it, costly_patterns_are_refused,
              patterns_forget, all_words_become_text, text_tells_findings,
              patterns_leave_what_is_lost, findings_may_be_left_out,
              what_was_missed_may_be_left_out, names_stand_before_gaps,
              times_are_ns_of_64_bits, who_must_have_all_misses_nothing,
              long_lines_are_forgotten),
        60);
}
