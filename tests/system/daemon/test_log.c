/* SPDX-License-Identifier: MIT */
/* Lines of one kind, however many, keep none of another from being read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "../../unit/suite.h"
#include "base/log.h"
#include "base/outage.h"

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

/* What is written to standard error meanwhile, with a NUL. */
static void collect(void (*speak)(void), char *ret, size_t n_ret)
{
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    ck_assert_ptr_nonnull(file);
    dup2(fileno(file), STDERR_FILENO);
    speak();
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    ret[fread(ret, 1, n_ret - 1, file)] = '\0';
    fclose(file);
}

static void flood(void)
{
    static struct pfdd_log_topic strangers[20];
    for (int i = 0; i < 10000; i++) {
        pfdd_log_about(&strangers[i % 20], PFDD_WARNING, "junk %d", i);
        pfdd_log(PFDD_WARNING, "peer %d is wrong", i);
    }
    pfdd_log(PFDD_ERROR, "the disk is full");
    pfdd_log(PFDD_ERROR, "the server has gone");
    pfdd_log(PFDD_DEBUG, "nothing");
}

START_TEST(test_kinds)
{
    static char text[1 << 20];
    unsigned long long before = pfdd_log_suppressed();
    collect(flood, text, sizeof text);
    ck_assert_uint_eq(count(text, "the disk is full"), 1);
    ck_assert_uint_eq(count(text, "the server has gone"), 1);
    ck_assert_uint_eq(count(text, "nothing"), 0);
    size_t n = count(text, "junk") + count(text, "is wrong");
    ck_assert_uint_ge(n, 250);
    ck_assert_uint_le(n, 2000); /* some, where this took long */
    ck_assert_uint_eq(pfdd_log_suppressed() - before, 20000 - n);
}
END_TEST

static void speak_on(void)
{
    static struct pfdd_log_topic topic;
    for (int i = 0; i < 20; i++)
        pfdd_log_about(&topic, PFDD_WARNING, "first");
    topic.second -= 2;
    pfdd_log_about(&topic, PFDD_WARNING, "second");
}

START_TEST(test_held_back)
{
    char text[4000];
    collect(speak_on, text, sizeof text);
    ck_assert_uint_ge(count(text, "first"), 10);
    ck_assert_ptr_nonnull(strstr(text, "second"));
    ck_assert_ptr_nonnull(strstr(text, "lines like this were held back)"));
}
END_TEST

static void fail_often(void)
{
    struct pfdd_outage outage = { .is_on = false };
    pfdd_outage_end(&outage, "peer", "answers");
    for (int i = 0; i < 1000; i++)
        pfdd_outage_note(&outage, PFDD_WARNING, "peer", "is away");
    ck_assert_str_eq(pfdd_outage_why(&outage), "is away");
    for (int i = 0; i < 1000; i++) {
        pfdd_outage_note(&outage, PFDD_WARNING, "peer",
                         i % 2 ? "is away" : "is full");
    }
    pfdd_outage_end(&outage, "peer", "answers again");
    ck_assert_ptr_null(pfdd_outage_why(&outage));
    /* As often as it flaps, nothing is new in this. */
    for (int i = 0; i < 1000; i++) {
        pfdd_outage_note(&outage, PFDD_WARNING, "peer", "is away");
        pfdd_outage_end(&outage, "peer", "answers again");
    }
    /* A minute later. */
    outage.reasons[0].told -= 60001;
    pfdd_outage_note(&outage, PFDD_WARNING, "peer", "is away");
    pfdd_outage_end(&outage, "peer", "is here");
}

/* 6 seconds after all that was said. */
static void note_later(struct pfdd_outage *outage, const char *why)
{
    for (int i = 0; i < PFDD_OUTAGE_REASONS; i++) {
        uint64_t *told = &outage->reasons[i].told;
        *told -= *told ? 6000 : 0;
    }
    outage->back -= outage->back ? 6000 : 0;
    pfdd_outage_note(outage, PFDD_WARNING, "peer", why);
}

static void come_back(void)
{
    struct pfdd_outage outage = { .is_on = false };
    note_later(&outage, "is away");
    note_later(&outage, "is full");
    for (int i = 0; i < 3; i++)
        note_later(&outage, "is away");
    pfdd_outage_end(&outage, "peer", "answers again");
    note_later(&outage, "is away");
    pfdd_outage_end(&outage, "peer", "answers again");
    for (int i = 0; i < 3; i++)
        note_later(&outage, "is away");
    pfdd_outage_end(&outage, "peer", "is here");
}

/* A reason that is back and lasts is logged again, within the minute, too. */
START_TEST(test_back)
{
    char text[4000];
    collect(come_back, text, sizeof text);
    ck_assert_uint_eq(count(text, "peer: is away; trying again\n"), 1);
    ck_assert_uint_eq(count(text, "peer: is full; trying again\n"), 1);
    ck_assert_uint_eq(count(text, "is away; trying again, 2 times in"), 1);
    ck_assert_uint_eq(count(text, "is away; trying again, 4 times in"), 1);
    ck_assert_uint_eq(count(text, "peer: answers again\n"), 1);
    ck_assert_uint_eq(count(text, "peer: is here\n"), 1);
    ck_assert_uint_eq(count(text, "\n"), 6);
}
END_TEST

/* Each reason of an outage is logged, once and then once a minute with a
 * count. */
START_TEST(test_outage)
{
    char text[4000];
    collect(fail_often, text, sizeof text);
    ck_assert_uint_eq(count(text, "peer: is away; trying again\n"), 1);
    ck_assert_uint_eq(count(text, "peer: is full; trying again\n"), 1);
    ck_assert_uint_eq(count(text, "peer: answers again\n"), 1);
    ck_assert_ptr_nonnull(strstr(text, "is away; trying again, 2500 times in"));
    ck_assert_uint_eq(count(text, "peer: is here\n"), 1);
    ck_assert_uint_eq(count(text, "\n"), 5);
}
END_TEST

static void fail_many(void)
{
    struct pfdd_log_topic of_files = { .spent = 0 };
    struct pfdd_outage own = { .is_on = false };
    for (int i = 0; i < 1000; i++) {
        struct pfdd_outage file = { .shared = &of_files };
        pfdd_outage_note(&file, PFDD_ERROR, "a file", "is a directory");
    }
    pfdd_outage_note(&own, PFDD_ERROR, "own", "is a directory");
    pfdd_outage_end(&own, "own", "writing again");
}

/* However many files of one output fail, another output's failure is logged. */
START_TEST(test_many_outages)
{
    static char text[1 << 20];
    collect(fail_many, text, sizeof text);
    ck_assert_uint_eq(count(text, "own: is a directory; trying again\n"), 1);
    ck_assert_uint_eq(count(text, "own: writing again\n"), 1);
    ck_assert_uint_ge(count(text, "a file: "), 50);
    ck_assert_uint_le(count(text, "a file: "), 100);
}
END_TEST

int main(void)
{
    return suite_run("log",
                     TESTS(test_kinds, test_held_back, test_outage, test_back,
                           test_many_outages),
                     10);
}
