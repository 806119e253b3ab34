/* SPDX-License-Identifier: MIT */
/* What comes of the code objects of one stream, as one line of text. */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "core/base/text.h"
#include "stream/capture/wire_objects.h"
#include "suite.h"

#define MODULE "\x03\x02\x23\x07"

struct heard {
    struct pfd_text text;
    struct pfd_wire_objects *set;
    size_t held;
    size_t most;     /* that may be held; 0: any number */
    size_t n_shader; /* bytes of the module of the last one */
    bool takes;
};

static bool give(void *user, struct pfd_wire_object *o)
{
    static const char *const uses[] = {
        [PFD_WIRE_OBJECT_STRINGS] = "strings",
        [PFD_WIRE_OBJECT_NAMED] = "named",
        [PFD_WIRE_OBJECT_MODULE] = "module",
        [PFD_WIRE_OBJECT_SHADER] = "shader",
        [PFD_WIRE_OBJECT_LOOSE] = "loose",
    };
    struct heard *h = user;
    size_t n_magic = o->n >= 4 && !memcmp(o->bytes, MODULE, 4) ? 4 : 0;
    pfd_text_printf(&h->text, "%s %llu", uses[o->use],
                    (unsigned long long)o->number);
    if (o->use == PFD_WIRE_OBJECT_SHADER) {
        h->n_shader = o->n;
        pfd_text_printf(&h->text, " as %llu", (unsigned long long)o->shader);
    }
    pfd_text_printf(&h->text, " %.*s%.*s; ", (int)o->uri.n, o->uri.at,
                    (int)(o->n - n_magic),
                    o->bytes ? (char *)o->bytes + n_magic : "");
    if (h->takes && o->use == PFD_WIRE_OBJECT_STRINGS) {
        free(o->bytes);
        o->bytes = NULL;
    }
    return true;
}

static bool hold(void *user, size_t n)
{
    struct heard *h = user;
    if (h->most && h->held + n > h->most)
        return false;
    h->held += n;
    return true;
}

static void release(void *user, size_t n)
{
    struct heard *h = user;
    ck_assert_uint_ge(h->held, n);
    h->held -= n;
}

static void on_finding(void *user, const struct pfd_finding *finding)
{
    struct heard *h = user;
    ck_assert_str_eq(finding->source, "s");
    pfd_text_printf(&h->text, "%s; ", pfd_finding_name(finding->kind));
}

static void begin(struct heard *h, size_t most)
{
    struct pfd_wire_objects_options options = {
        .give = give,
        .hold = hold,
        .release = release,
        .user = h,
        .fn = on_finding,
        .fn_user = h,
        .source = "s",
    };
    *h = (struct heard){ .most = most, .takes = most % 2 };
    h->set = pfd_wire_objects_new(&options);
    ck_assert_ptr_nonnull(h->set);
}

static void take(struct heard *h, const struct pfd_wire_frame *frame)
{
    ck_assert_int_eq(pfd_wire_objects_take(h->set, frame), PFD_OK);
}

/* A part of text [n]; total 0: the only one. */
static void part_n(struct heard *h, uint64_t number, uint64_t offset,
                   uint64_t total, const char *text, size_t n)
{
    struct pfd_wire_frame frame = { .type = PFD_WIRE_CODE_OBJECT,
                                    .code_object = number,
                                    .name = pfd_wire_text("name"),
                                    .offset = offset,
                                    .total = total,
                                    .bytes = { text, n } };
    take(h, &frame);
}

static void part(struct heard *h, uint64_t number, uint64_t offset,
                 uint64_t total, const char *text)
{
    part_n(h, number, offset, total, text, strlen(text));
}

static void shader(struct heard *h, uint64_t id, uint64_t number)
{
    struct pfd_wire_frame frame = { .type = PFD_WIRE_SHADER,
                                    .shader = id,
                                    .code_object = number };
    size_t n = pfd_wire_objects_module(h->set, &frame);
    h->n_shader = 0;
    take(h, &frame);
    ck_assert_uint_eq(h->n_shader, n);
}

static void other(struct heard *h, enum pfd_wire_type type)
{
    struct pfd_wire_frame frame = { .type = type };
    take(h, &frame);
}

/* What was heard since the last time. */
static void expect(struct heard *h, const char *wanted)
{
    char *got = strndup(h->text.data ? h->text.data : "", h->text.n);
    ck_assert_str_eq(got, wanted);
    free(got);
    h->text.n = 0;
}

static void end(struct heard *h, const char *wanted)
{
    ck_assert_int_eq(pfd_wire_objects_finish(h->set), PFD_OK);
    expect(h, wanted);
    ck_assert_uint_eq(h->held, 0);
    pfd_wire_objects_free(h->set);
    pfd_text_free(&h->text);
}

/* Parts of several objects may come in turn; those of one in order. */
START_TEST(puts_together)
{
    struct heard h;
    begin(&h, _i ? 4097 : 0);
    part(&h, 1, 0, 0, "whole");
    expect(&h, "strings 1 whole; ");
    part(&h, 2, 0, 6, "abc");
    part(&h, 3, 0, 4, "wx");
    part(&h, 2, 2, 6, "cde");
    expect(&h, "bad_frame; ");
    part(&h, 2, 3, 6, "def");
    part(&h, 3, 2, 4, "yz");
    expect(&h, "strings 2 abcdef; strings 3 wxyz; ");
    /* More than it said, and one that nobody began. */
    part(&h, 4, 0, 2, "abc");
    part(&h, 5, 7, 9, "hi");
    expect(&h, "bad_frame; bad_frame; ");
    end(&h, "missing_data; missing_data; ");
}
END_TEST

/* Of what was begun and begun again, or not brought to its end, the beginning
 * is used. */
START_TEST(uses_beginnings)
{
    struct heard h;
    begin(&h, 0);
    part(&h, 1, 0, 6, "abc");
    part(&h, 1, 0, 3, "new");
    expect(&h, "missing_data; strings 1 abc; strings 1 new; ");
    part(&h, 2, 0, 9, "beg");
    part(&h, 3, 0, 9, MODULE "m");
    other(&h, PFD_WIRE_BUFFER);
    expect(&h, "");
    other(&h, PFD_WIRE_START);
    expect(&h, "missing_data; strings 2 beg; missing_data; module 3 m; "
               "loose 3 m; ");
    part(&h, 2, 3, 9, "beg"); /* of an earlier stream, now void */
    expect(&h, "bad_frame; ");
    end(&h, "missing_data; ");
}
END_TEST

START_TEST(tells_shaders)
{
    struct heard h;
    begin(&h, 0);
    part(&h, 1, 0, 0, MODULE "one");
    part(&h, 2, 0, 0, MODULE "two");
    part(&h, 3, 0, 0, "strings");
    expect(&h, "module 1 one; module 2 two; strings 3 strings; ");
    shader(&h, 7, 2);
    shader(&h, 8, 2);
    shader(&h, 9, 3); /* no module */
    shader(&h, UINT32_MAX, 1);
    shader(&h, 9, 4);
    expect(&h, "shader 2 as 7 two; shader 2 as 8 two; bad_frame; bad_frame; "
               "bad_frame; ");
    other(&h, PFD_WIRE_UNKNOWN);
    expect(&h, "loose 1 one; ");
    other(&h, PFD_WIRE_DATA);
    expect(&h, "");
    shader(&h, 5, 1); /* late, and not in vain */
    part(&h, 1, 0, 0, MODULE "new");
    shader(&h, 6, 1);
    expect(&h, "shader 1 as 5 one; module 1 new; shader 1 as 6 new; ");
    end(&h, "");
}
END_TEST

/* What there is no room for is refused once, and does not stay. */
START_TEST(keeps_within_a_cap)
{
    char big[4096];
    struct heard h;
    struct pfd_wire_frame named = { .type = PFD_WIRE_CODE_OBJECT,
                                    .code_object = 4,
                                    .uri = pfd_wire_text("file:///x") };
    memset(big, 'x', sizeof big);
    begin(&h, 4095);
    part_n(&h, 1, 0, 3 * sizeof big, big, 2000);
    part_n(&h, 1, 2000, 3 * sizeof big, big, sizeof big);
    expect(&h, "too_large; ");
    ck_assert_uint_lt(h.held, 1000);
    part_n(&h, 1, 2000 + sizeof big, 3 * sizeof big, big, sizeof big);
    expect(&h, "");
    part_n(&h, 2, 0, 0, big, sizeof big);
    expect(&h, "too_large; ");
    part(&h, 3, 0, 0, "small");
    take(&h, &named);
    expect(&h, "strings 3 small; named 4 file:///x; ");
    part_n(&h, 5, 0, UINT64_MAX, big, 1);
    expect(&h, "bad_frame; ");
    end(&h, "missing_data; ");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wire_objects");
    TCase *tests = tcase_create("wire_objects");
    tcase_add_loop_test(tests, puts_together, 0, 2);
    tcase_add_test(tests, uses_beginnings);
    tcase_add_test(tests, tells_shaders);
    tcase_add_test(tests, keeps_within_a_cap);
    suite_add_tcase(suite, tests);
    return suite_run_all(suite);
}
