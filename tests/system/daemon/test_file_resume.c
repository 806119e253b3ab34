/* SPDX-License-Identifier: MIT */
/* Where a file of records goes on, wherever it was cut or damaged. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <check.h>

#include "../../unit/suite.h"
#include "config/field_map.h"
#include "spool/file_resume.h"

enum {
    RECORDS = 40,
    PAD = 70000, /* bytes of one: the file is larger than a step back */
};

static char *text;               /* [ends[RECORDS]] */
static size_t ends[RECORDS + 1]; /* of record i, from 1 on */
static int fd;

static struct pfdd_json_style json_style;

/* Some are long. */
static void begin(void (*put)(FILE *out, int number, int width))
{
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    for (int i = 1; i <= RECORDS; i++) {
        put(out, i, i % 10 ? i : PAD);
        fflush(out);
        ends[i] = n;
    }
    fclose(out);
    fd = memfd_create("lines", MFD_CLOEXEC);
}

static void put_own(FILE *out, int number, int width)
{
    fprintf(out,
            "{\"type\":\"entry\",\"sequence\":%d,"
            "\"time_unix_nano\":\"1795422251503540530\","
            "\"message\":\"%0*d\"}\n",
            number, width, 0);
}

static void setup(void)
{
    pfdd_json_style_init(&json_style, NULL);
    begin(put_own);
}

/* The number stands behind a message, which has one, too. */
static void put_mapped(FILE *out, int number, int width)
{
    fprintf(out,
            "{\"@timestamp\":\"2026-11-23T08:24:11.503540530Z\","
            "\"message\":\",\\\"event.sequence\\\":7%0*d\","
            "\"event.sequence\":%d,\"labels.gpu_id\":\"0\"}\n",
            width, 0, number);
}

static void setup_mapped(void)
{
    char word[] = "ecs";
    char *const words[] = { word };
    char err[200];
    struct pfdd_field_map *map = pfdd_field_map_new(words, 1, err, sizeof err);
    pfdd_json_style_init(&json_style, map);
    pfdd_field_map_free(map);
    begin(put_mapped);
}

static void teardown(void)
{
    close(fd);
    free(text);
}

/* With the first n bytes of the text, and what follows. */
static struct pfdd_file_resume find(size_t n, const char *rest, size_t n_rest,
                                    uint64_t saved)
{
    struct pfdd_file_resume ret;
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    ck_assert_int_eq(pwrite(fd, text, n, 0), (ssize_t)n);
    ck_assert_int_eq(pwrite(fd, rest, n_rest, (off_t)n), (ssize_t)n_rest);
    ck_assert(pfdd_file_resume_find(fd, &json_style, saved, &ret));
    return ret;
}

static void expect(struct pfdd_file_resume r, int last, uint64_t saved)
{
    size_t from = last ? ends[last - 1] : 0;
    ck_assert_uint_eq(r.end, ends[last]);
    ck_assert_uint_eq(r.seq, (uint64_t)last > saved ? (uint64_t)last : 0);
    if (r.seq) {
        ck_assert_uint_eq(r.n_line, ends[last] - from);
        ck_assert_mem_eq(r.line, text + from, r.n_line);
        ck_assert_uint_eq(r.time, UINT64_C(1795422251503540530));
    }
    pfdd_file_resume_deinit(&r);
}

/* Cut at each byte of the last records. */
START_TEST(test_cut)
{
    for (uint64_t saved = 30; saved <= 39; saved += 3) {
        for (size_t n = ends[39]; n <= ends[RECORDS]; n += 1 + (n % 7) * 100) {
            expect(find(n, "", 0, saved), n == ends[RECORDS] ? RECORDS : 39,
                   saved);
        }
        for (size_t n = ends[35]; n < ends[37]; n++)
            expect(find(n, "", 0, 35), n < ends[36] ? 35 : 36, 35);
    }
}
END_TEST

/* Nothing is known, and the file begins with the first record, or does not. */
START_TEST(test_unknown)
{
    expect(find(ends[5], "", 0, 0), 5, 0);
    expect(find(ends[5] + 3, "", 0, 0), 5, 0);
    expect(find(0, "", 0, 0), 0, 0);
    expect(find(1, "", 0, 0), 0, 0);
    memset(text, 'x', ends[1] - 1);
    struct pfdd_file_resume r = find(ends[5] + 3, "", 0, 0);
    ck_assert_uint_eq(r.end, ends[5]);
    ck_assert_uint_eq(r.seq, 0); /* the first one is missing */
    pfdd_file_resume_deinit(&r);
    r = find(ends[5], "others", 6, 0);
    ck_assert_uint_eq(r.end, ends[5] + 6); /* no record was cut here */
    pfdd_file_resume_deinit(&r);
}
END_TEST

/* A damaged line behind what is saved ends the file; before that it stays. */
START_TEST(test_damage)
{
    size_t n = ends[RECORDS];
    text[ends[34] + 1] = '\0';
    expect(find(n, "", 0, 34), 34, 34);
    expect(find(n, "", 0, 32), 34, 32);
    struct pfdd_file_resume r = find(n, "", 0, 36);
    ck_assert_uint_eq(r.end, n);
    ck_assert_uint_eq(r.seq, RECORDS);
    pfdd_file_resume_deinit(&r);
    r = find(n, "", 0, 0); /* perhaps nobody has these any more */
    ck_assert_uint_eq(r.end, n);
    ck_assert_uint_eq(r.seq, 0);
    pfdd_file_resume_deinit(&r);
}
END_TEST

/* A line that is longer than any record, with and without an end. */
START_TEST(test_long)
{
    size_t n = 3 << 20;
    char *rest = malloc(n);
    ck_assert_ptr_nonnull(rest);
    memset(rest, 'y', n);
    expect(find(ends[20], rest, n, 20), 20, 20);
    struct pfdd_file_resume r = find(ends[20], rest, n, 0);
    ck_assert_uint_eq(r.end, ends[20] + n);
    pfdd_file_resume_deinit(&r);
    rest[n - 1] = '\n';
    expect(find(ends[20], rest, n, 20), 20, 20);
    free(rest);
}
END_TEST

int main(void)
{
    int rc = suite_run_with(
        "resume", setup, teardown,
        TESTS(test_cut, test_unknown, test_damage, test_long), 20);
    int mapped = suite_run_with(
        "resume, other names", setup_mapped, teardown,
        TESTS(test_cut, test_unknown, test_damage, test_long), 20);
    return rc ? rc : mapped;
}
