/* SPDX-License-Identifier: MIT */
/* The view without a terminal: keys go in, and cells come out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "suite.h"
#include "view/string_list.h"
#include "view/window.h"

enum {
    ITEMS = 1000,
    ROWS_MAX = 60,
    COLUMNS_MAX = 220,
};

/* ---- items: every tenth is a finding, every other one of string 1 ---- */

static unsigned n_made; /* lines so far */
static size_t n_items = ITEMS;
static uint64_t n_gone;
static bool fails;
static bool origins;

static size_t count_items(const void *source)
{
    (void)source;
    return n_items;
}

static struct view_item item(const void *source, uint32_t number)
{
    (void)source;
    return (struct view_item){ .string = number % 2,
                               .is_finding = number % 10 == 9 };
}

static size_t n_strings(const void *source)
{
    (void)source;
    return 2;
}

static struct view_string string(const void *source, uint32_t number)
{
    (void)source;
    return (struct view_string){ number ? "odd\n\033[2J" : "even %d",
                                 number ? 8 : 7, ITEMS / 2 };
}

static void lines(void *source, const uint32_t *items, size_t n,
                  view_line_fn take, void *user)
{
    char line[64];
    (void)source;
    for (size_t i = 0; i < n; i++) {
        int length = snprintf(line, sizeof line, "%sline %u\n",
                              origins ? "[here] " : "", items[i]);
        take(user, items[i], line, (size_t)length);
        n_made++;
    }
}

static void details(void *source, uint32_t of, view_line_fn take, void *user)
{
    char line[64];
    (void)source;
    int length = snprintf(line, sizeof line, "number %u", of);
    take(user, of, line, (size_t)length);
}

static bool is_wanted(const struct view_filter *f, uint32_t number)
{
    char line[64];
    snprintf(line, sizeof line, "line %u", number);
    return (!f->has_string || number % 2 == f->string) &&
           (!f->text || strstr(line, f->text));
}

static enum view_outcome filter(void *source, const struct view_filter *f,
                                view_stop_fn stop, void *user,
                                struct view_items *ret, char *err, size_t n_err)
{
    (void)source;
    if (stop && stop(user))
        return VIEW_STOPPED;
    if (fails || f->where) {
        snprintf(err, n_err, "no such name");
        return VIEW_FAILED;
    }
    ret->all = malloc(ITEMS * sizeof *ret->all);
    ck_assert_ptr_nonnull(ret->all);
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (is_wanted(f, i))
            ret->all[ret->n++] = i;
    }
    return VIEW_DONE;
}

static enum view_outcome collapse(void *source, const struct view_filter *f,
                                  view_stop_fn stop, void *stop_user,
                                  view_line_fn take, void *user, char *err,
                                  size_t n_err)
{
    (void)source;
    (void)stop;
    (void)stop_user;
    (void)err;
    (void)n_err;
    for (uint32_t i = 0; i < 2; i++) {
        char line[64];
        int n = snprintf(line, sizeof line, "%s x%zu\n", i ? "odd" : "even",
                         n_items / 2);
        if (!f->has_string || f->string == i)
            take(user, i, line, (size_t)n);
    }
    return VIEW_DONE;
}

static void show_origins(void *of, bool shown)
{
    (void)of;
    origins = shown;
}

static uint64_t n_left_out(const void *source)
{
    (void)source;
    return 7;
}

static uint64_t n_dropped(const void *of)
{
    (void)of;
    return n_gone;
}

static const struct view_source_class class = {
    .n_items = count_items,
    .item = item,
    .n_strings = n_strings,
    .string = string,
    .lines = lines,
    .details = details,
    .filter = filter,
    .collapse = collapse,
    .show_origins = show_origins,
    .n_left_out = n_left_out,
    .n_dropped = n_dropped,
};
static const struct view_source source = { .class = &class };

/* ---- a screen ---- */

static int n_rows;
static int n_columns;
static bool is_key_there;
static char cells[ROWS_MAX][COLUMNS_MAX + 1];
static enum screen_style styles[ROWS_MAX];

static void size(int *rows, int *columns)
{
    *rows = n_rows;
    *columns = n_columns;
}

static void erase(void)
{
    for (int i = 0; i < n_rows; i++) {
        memset(cells[i], ' ', (size_t)n_columns);
        cells[i][n_columns] = '\0';
        styles[i] = SCREEN_PLAIN;
    }
}

static void put(const struct screen_text *where, const char *text, size_t n)
{
    ck_assert_int_ge(where->row, 0);
    ck_assert_int_lt(where->row, n_rows);
    ck_assert_ptr_null(memchr(text, '\n', n));
    ck_assert_ptr_null(memchr(text, '\033', n));
    for (int i = 0; i < where->width && where->column + i < n_columns; i++) {
        size_t at = (size_t)i + (size_t)where->skip;
        cells[where->row][where->column + i] = ' ';
        if (at < n)
            cells[where->row][where->column + i] = text[at];
    }
    styles[where->row] = where->style;
}

static void show(int cursor_row, int cursor_column)
{
    (void)cursor_row;
    (void)cursor_column;
}

static bool has_key(void)
{
    return is_key_there;
}

static const struct screen_class screen = {
    .size = size,
    .erase = erase,
    .put = put,
    .show = show,
    .has_key = has_key,
};

/* ---- tests ---- */

static struct window w;

static void begin(void)
{
    n_rows = 24;
    n_columns = 80;
    n_made = 0;
    n_items = ITEMS;
    n_gone = 0;
    fails = is_key_there = false;
    window_init(&w, &screen, &source, "it\033.bin", false);
    window_draw(&w);
}

static void end(void)
{
    window_deinit(&w);
}

static void press(const char *keys)
{
    for (; *keys; keys++)
        window_key(&w, (unsigned char)*keys);
    window_draw(&w);
}

static void press_key(uint32_t key)
{
    window_key(&w, key);
    window_draw(&w);
}

static bool has_row(int row, const char *text)
{
    return strstr(cells[row], text) != NULL;
}

START_TEST(draws)
{
    ck_assert(has_row(0, "it\\x1b.bin"));
    ck_assert(has_row(0, "1000 lines, 7 left out"));
    ck_assert(has_row(1, "*  1000 all"));
    ck_assert(has_row(3, "500 odd"));
    ck_assert(has_row(1, "|line 0"));
    ck_assert(has_row(21, "line 20"));
    ck_assert(has_row(22, "1 of 1000"));
    ck_assert(has_row(23, "? help"));
    ck_assert_int_eq(styles[10], SCREEN_FINDING);
}
END_TEST

START_TEST(moves)
{
    press("jjk");
    ck_assert(has_row(22, "2 of 1000"));
    press("G");
    ck_assert(has_row(22, "1000 of 1000"));
    ck_assert(has_row(21, "line 999"));
    press_key(SCREEN_DOWN);
    press_key(SCREEN_PAGE_DOWN);
    ck_assert(has_row(22, "1000 of 1000"));
    press_key(SCREEN_PAGE_UP);
    ck_assert(has_row(22, "979 of 1000"));
    press("g");
    press_key(SCREEN_UP);
    ck_assert(has_row(22, " 1 of 1000"));
    press_key(SCREEN_RIGHT);
    ck_assert(!has_row(1, "line"));
    press_key(SCREEN_LEFT);
    press_key(SCREEN_LEFT);
    ck_assert(has_row(1, "line 0"));
}
END_TEST

/* Lines are made for the screens around, not for all. */
START_TEST(makes_few_lines)
{
    ck_assert_uint_le(n_made, 400);
    press("jjjjj");
    ck_assert_uint_le(n_made, 400);
    press("G");
    ck_assert_uint_le(n_made, 800);
}
END_TEST

START_TEST(finds_findings)
{
    press("n");
    ck_assert(has_row(22, "10 of 1000"));
    press("nN");
    ck_assert(has_row(22, "10 of 1000"));
    press("N");
    ck_assert(has_row(22, "no finding above"));
    press("Gn");
    ck_assert(has_row(22, "no finding below"));
    press("k");
    ck_assert(has_row(22, "999 of 1000"));
}
END_TEST

START_TEST(filters_as_typed)
{
    press("/99");
    ck_assert(has_row(22, "19  text: 99"));
    ck_assert(has_row(1, "line 99"));
    ck_assert(has_row(23, "/text: 99_"));
    press_key(SCREEN_BACKSPACE);
    ck_assert(has_row(22, "of 271"));
    press_key(SCREEN_ENTER);
    ck_assert(has_row(23, "? help"));
    ck_assert(has_row(22, "of 271"));
    press_key(SCREEN_ESCAPE);
    ck_assert(has_row(22, "of 1000"));
}
END_TEST

/* The line that was chosen stays chosen, where it is shown. */
START_TEST(keeps_the_line)
{
    press("Gkkkkkkkkk");
    ck_assert(has_row(22, "991 of 1000"));
    press("/99");
    ck_assert(has_row(22, "10 of 19"));
    press_key(SCREEN_ESCAPE);
    ck_assert(has_row(22, "991 of 1000"));
}
END_TEST

START_TEST(says_what_is_wrong)
{
    press("/9");
    press_key(SCREEN_TAB);
    ck_assert(has_row(23, "/regex: 9_"));
    press_key(SCREEN_TAB);
    ck_assert(has_row(22, "no such name"));
    ck_assert(has_row(1, "line")); /* what was there before */
    press_key(SCREEN_ESCAPE);
    ck_assert(has_row(22, "of 1000"));
}
END_TEST

/* What is typed meanwhile ends a search, whose end result does not count. */
START_TEST(stops_for_keys)
{
    is_key_there = true;
    press("/99");
    ck_assert(has_row(22, "of 1000"));
    is_key_there = false;
    press("9");
    ck_assert(has_row(22, "1  text: 999"));
}
END_TEST

START_TEST(chooses_strings)
{
    press_key(SCREEN_TAB);
    press("jj");
    press_key(SCREEN_ENTER);
    ck_assert(has_row(22, "of 500"));
    ck_assert(has_row(3, "*   500 odd"));
    ck_assert(has_row(1, "line 1"));
    press_key(SCREEN_TAB);
    press("c");
    ck_assert(has_row(22, "of 1 collapsed"));
    ck_assert(has_row(1, "odd x500"));
    press("c");
    ck_assert(has_row(22, "of 500"));
    press_key(SCREEN_ESCAPE);
    ck_assert(has_row(22, "of 1000"));
}
END_TEST

START_TEST(opens_pages)
{
    press("jj");
    press_key(SCREEN_ENTER);
    ck_assert(has_row(1, "number 2"));
    press("q");
    ck_assert(!w.is_over);
    ck_assert(has_row(3, "line 2"));
    press("?");
    ck_assert(has_row(1, "Lines"));
    press("jj");
    press("qq");
    ck_assert(w.is_over);
}
END_TEST

/* On any screen, however small. */
START_TEST(fits)
{
    static const int sizes[][2] = { { 50, 200 }, { 10, 40 }, { 4, 20 },
                                    { 3, 10 },   { 2, 5 },   { 1, 1 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        n_rows = sizes[i][0];
        n_columns = sizes[i][1];
        press_key(SCREEN_RESIZED);
        press("Gk/9");
        press_key(SCREEN_ENTER);
        press_key(SCREEN_ENTER);
        press("q?qg");
        press_key(SCREEN_ESCAPE);
    }
    n_rows = 24;
    n_columns = 80;
    press("s");
    ck_assert(has_row(1, "line 0"));
    ck_assert_int_eq(strncmp(cells[1], "line 0", 6), 0);
}
END_TEST

START_TEST(shows_origins)
{
    press("o");
    ck_assert(has_row(1, "[here] line 0"));
    press("o");
    ck_assert(!has_row(1, "[here]"));
}
END_TEST

START_TEST(follows)
{
    n_items = 10;
    view_model_deinit(&w.model);
    view_model_init(&w.model, &source);
    press("G");
    n_items = 30;
    view_model_refresh(&w.model);
    window_draw(&w);
    ck_assert(has_row(22, "30 of 30"));
    press("k");
    n_items = 40;
    view_model_refresh(&w.model);
    window_draw(&w);
    ck_assert(has_row(22, "29 of 40"));
}
END_TEST

/* Items that are gone take nothing of what is shown with them. */
START_TEST(drops)
{
    press("jjjjjjjjjjjjjjjjjjjj");
    ck_assert(has_row(22, "21 of 1000"));
    n_gone = 15;
    n_items = ITEMS - 15;
    view_model_refresh(&w.model);
    window_draw(&w);
    ck_assert(has_row(22, "6 of 985"));
    press("/99");
    ck_assert(has_row(22, "1 of 19"));
    n_gone = 115;
    n_items = ITEMS - 115;
    view_model_refresh(&w.model);
    window_draw(&w);
    ck_assert(has_row(22, "1 of 18"));
}
END_TEST

/* Collapsed lines stay until they are made anew, or their items are gone. */
START_TEST(renews_collapsed)
{
    n_items = 20;
    press("cj");
    ck_assert(has_row(1, "even x10"));
    ck_assert(!view_model_is_stale(&w.model));
    n_items = 40;
    view_model_refresh(&w.model);
    window_draw(&w);
    ck_assert(has_row(1, "even x10"));
    ck_assert(view_model_is_stale(&w.model));
    view_model_apply(&w.model, true, NULL, NULL);
    window_draw(&w);
    ck_assert(has_row(1, "even x20"));
    ck_assert(has_row(22, "2 of 2 collapsed"));
    ck_assert(!view_model_is_stale(&w.model));
    n_gone = 10;
    n_items = 30;
    view_model_refresh(&w.model);
    window_draw(&w);
    ck_assert(has_row(1, "even x15"));
    ck_assert(has_row(22, "2 of 2 collapsed"));
    ck_assert(!view_model_is_stale(&w.model));
    press("c");
    ck_assert(has_row(22, "of 30"));
    ck_assert(!view_model_is_stale(&w.model));
}
END_TEST

START_TEST(types_letters)
{
    press("/");
    window_key(&w, 0xe4);
    window_key(&w, 0x20ac);
    window_key(&w, 0x1f600);
    ck_assert_str_eq(w.model.text, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    window_key(&w, SCREEN_BACKSPACE);
    ck_assert_str_eq(w.model.text, "\xc3\xa4\xe2\x82\xac");
    for (int i = 0; i < 1000; i++)
        window_key(&w, 0x20ac);
    ck_assert_uint_lt(strlen(w.model.text), VIEW_FILTER_MAX);
}
END_TEST

/* Texts of their own are bounded: beyond it they are counted together. */
START_TEST(bounds_strings)
{
    enum {
        MANY = 10000
    };
    struct string_list list = { .bytes_max = 4096 };
    struct pfd_row row = { .string = PFD_ROW_NO_STRING };
    uint64_t n = 0;
    for (row.id = 0; row.id < MANY; row.id++)
        string_list_add(&list, &row, NULL);
    ck_assert_uint_gt(list.keys.n, 10);
    ck_assert_uint_lt(list.keys.bytes.n + list.counts.n, 5000);
    for (uint32_t i = 0; i < list.keys.n; i++)
        n += string_list_get(&list, i).n;
    ck_assert_uint_eq(n, MANY);
    row.id = 3;
    ck_assert_uint_eq(string_list_add(&list, &row, NULL), 3);
    row.id = MANY;
    uint32_t other = string_list_add(&list, &row, NULL);
    ck_assert(string_list_is_others(&list, other));
    ck_assert(!string_list_is_others(&list, 3));
    struct view_string s = string_list_get(&list, other);
    ck_assert_mem_eq(s.text, "(further format strings)", s.n_text);
    ck_assert_uint_gt(s.n, MANY / 2);
    ck_assert(!list.failed);
    string_list_free(&list);
}
END_TEST

int main(void)
{
    return suite_run_with(
        "view", begin, end,
        TESTS(draws, moves, makes_few_lines, finds_findings, filters_as_typed,
              keeps_the_line, says_what_is_wrong, stops_for_keys,
              chooses_strings, opens_pages, fits, shows_origins, follows, drops,
              renews_collapsed, types_letters, bounds_strings),
        30);
}
