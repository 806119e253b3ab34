/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CACHED = 400,        /* lines that are made at once */
    CACHED_BEFORE = 100, /* of them, so many before the one that is wanted */
};

/* ---- lines ---- */

static void add_line(void *user, uint32_t item, const char *line, size_t n)
{
    struct view_lines *lines = user;
    struct view_line one = { item, lines->texts.n, n };
    pfd_text_add(&lines->texts, line, n);
    if (!lines->texts.failed)
        pfd_text_add(&lines->all, &one, sizeof one);
}

static void clear_lines(struct view_lines *lines)
{
    lines->all.n = lines->texts.n = 0;
    lines->all.failed = lines->texts.failed = false;
}

static void free_lines(struct view_lines *lines)
{
    pfd_text_free(&lines->all);
    pfd_text_free(&lines->texts);
}

static size_t count_lines(const struct view_lines *lines)
{
    return lines->all.n / sizeof(struct view_line);
}

static const struct view_line *line_at(const struct view_lines *lines, size_t i)
{
    return &((const struct view_line *)(const void *)lines->all.data)[i];
}

static uint32_t item_at(const struct view_model *m, size_t position)
{
    if (m->is_collapsed)
        return line_at(&m->collapsed, position)->item;
    return m->is_all ? (uint32_t)position : m->shown.all[position];
}

/* Makes the lines around a position. */
static void fill_cache(struct view_model *m, size_t position)
{
    uint32_t items[CACHED];
    size_t from = position > CACHED_BEFORE ? position - CACHED_BEFORE : 0;
    size_t n_all = view_model_n(m);
    size_t n = n_all - from < CACHED ? n_all - from : (size_t)CACHED;
    for (size_t i = 0; i < n; i++)
        items[i] = item_at(m, from + i);
    clear_lines(&m->cache);
    m->source->class->lines(m->source->of, items, n, add_line, &m->cache);
    m->cached_from = from;
    m->is_cached = true;
}

/* The line of an item in the cache; NULL: none. The lines are in the order of
 * their items. */
static const struct view_line *find_line(const struct view_model *m,
                                         uint32_t item)
{
    size_t low = 0;
    size_t high = count_lines(&m->cache);
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct view_line *line = line_at(&m->cache, middle);
        if (line->item == item)
            return line;
        if (line->item < item) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

const char *view_model_line(struct view_model *m, size_t position, size_t *n,
                            uint32_t *item)
{
    *n = 0;
    *item = item_at(m, position);
    if (m->is_collapsed) {
        const struct view_line *line = line_at(&m->collapsed, position);
        *n = line->n;
        return m->collapsed.texts.data + line->at;
    }
    if (!m->is_cached || position < m->cached_from ||
        position >= m->cached_from + CACHED)
        fill_cache(m, position);
    const struct view_line *line = find_line(m, *item);
    if (!line || !line->n)
        return "";
    *n = line->n;
    return m->cache.texts.data + line->at;
}

/* ---- positions ---- */

size_t view_model_n(const struct view_model *m)
{
    return m->is_collapsed ? count_lines(&m->collapsed)
           : m->is_all     ? m->n_source
                           : m->shown.n;
}

/* Keeps the cursor among the positions, and on the screen. */
static void settle(struct view_model *m)
{
    size_t n = view_model_n(m);
    if (m->cursor >= n)
        m->cursor = n ? n - 1 : 0;
    if (m->top > m->cursor)
        m->top = m->cursor;
    if (m->rows && m->cursor - m->top >= m->rows)
        m->top = m->cursor - m->rows + 1;
    if (m->top + m->rows > n) /* no blank lines while there are others */
        m->top = n > m->rows ? n - m->rows : 0;
}

void view_model_resize(struct view_model *m, size_t rows)
{
    m->rows = rows;
    settle(m);
}

void view_model_go(struct view_model *m, size_t position)
{
    size_t n = view_model_n(m);
    m->cursor = position < n ? position : n ? n - 1 : 0;
    m->at_end = n && m->cursor == n - 1;
    settle(m);
}

void view_model_move(struct view_model *m, long by)
{
    size_t size = by < 0 ? 0 - (size_t)by : (size_t)by;
    if (by < 0) {
        view_model_go(m, size < m->cursor ? m->cursor - size : 0);
    } else {
        view_model_go(m, m->cursor + size);
    }
}

bool view_model_find(struct view_model *m, bool forward)
{
    size_t n = view_model_n(m);
    size_t i = m->cursor;
    while (forward ? i + 1 < n : i > 0) {
        i = forward ? i + 1 : i - 1;
        if (m->source->class->item(m->source->of, item_at(m, i)).is_finding) {
            view_model_go(m, i);
            return true;
        }
    }
    return false;
}

/* The first position of this item, or of one behind it. */
static size_t position_of(const struct view_model *m, uint32_t item)
{
    size_t low = 0;
    size_t high = view_model_n(m);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (item_at(m, middle) < item) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- filters ---- */

static struct view_filter filter_of(const struct view_model *m)
{
    struct view_filter ret = { .string = m->string,
                               .has_string = m->has_string };
    const char **texts[VIEW_MODES] = { &ret.text, &ret.regex, &ret.where };
    if (*m->text)
        *texts[m->mode] = m->text;
    return ret;
}

static enum view_outcome filter_items(struct view_model *m, view_stop_fn stop,
                                      void *user)
{
    struct view_filter filter = filter_of(m);
    struct view_items items = { 0 };
    enum view_outcome outcome = m->source->class->filter(
        m->source->of, &filter, stop, user, &items, m->why, sizeof m->why);
    if (outcome != VIEW_DONE) {
        free(items.all);
        return outcome;
    }
    free(m->shown.all);
    m->shown = items;
    m->is_all = false;
    m->is_collapsed = false;
    return VIEW_DONE;
}

/* Of the items that have ever come. */
static uint64_t end_of(const struct view_model *m)
{
    const struct view_source_class *class = m->source->class;
    return class->n_items(m->source->of) +
           (class->n_dropped ? class->n_dropped(m->source->of) : 0);
}

bool view_model_is_stale(const struct view_model *m)
{
    return m->is_collapsed && m->collapsed_end != end_of(m);
}

static enum view_outcome collapse_items(struct view_model *m, view_stop_fn stop,
                                        void *user)
{
    struct view_filter filter = filter_of(m);
    struct view_lines lines = { 0 };
    enum view_outcome outcome =
        m->source->class->collapse(m->source->of, &filter, stop, user, add_line,
                                   &lines, m->why, sizeof m->why);
    if (outcome == VIEW_DONE && (lines.all.failed || lines.texts.failed)) {
        snprintf(m->why, sizeof m->why, "out of memory");
        outcome = VIEW_FAILED;
    }
    if (outcome != VIEW_DONE) {
        free_lines(&lines);
        return outcome;
    }
    free_lines(&m->collapsed);
    m->collapsed = lines;
    m->collapsed_end = end_of(m);
    m->is_collapsed = true;
    return VIEW_DONE;
}

static void show_all(struct view_model *m)
{
    free(m->shown.all);
    m->shown = (struct view_items){ 0 };
    m->is_all = true;
    m->is_collapsed = false;
}

enum view_outcome view_model_apply(struct view_model *m, bool collapsed,
                                   view_stop_fn stop, void *user)
{
    uint32_t item = view_model_n(m) ? item_at(m, m->cursor) : 0;
    enum view_outcome outcome = VIEW_DONE;
    *m->why = '\0';
    m->n_source = m->source->class->n_items(m->source->of);
    if (collapsed) {
        outcome = collapse_items(m, stop, user);
    } else if (*m->text || m->has_string) {
        outcome = filter_items(m, stop, user);
    } else {
        show_all(m);
    }
    if (outcome == VIEW_DONE) {
        m->is_cached = false;
        view_model_go(m, position_of(m, item));
    }
    return outcome;
}

/* Items before these are gone: all numbers are less now. */
static void shift(struct view_model *m, uint64_t by)
{
    size_t k = 0;
    while (k < m->shown.n && m->shown.all[k] < by)
        k++;
    for (size_t i = k; i < m->shown.n; i++)
        m->shown.all[i - k] = m->shown.all[i] - (uint32_t)by;
    m->shown.n -= k;
    if (m->is_collapsed && collapse_items(m, NULL, NULL) != VIEW_DONE)
        show_all(m); /* its lines are about items that are gone */
    size_t gone = m->is_collapsed ? 0 : m->is_all ? (size_t)by : k;
    m->cursor -= gone < m->cursor ? gone : m->cursor;
    m->top -= gone < m->top ? gone : m->top;
    m->n_source -= by < m->n_source ? (size_t)by : m->n_source;
    m->is_cached = false;
}

/* Shows those of the new items that the filter wants. */
static void filter_new(struct view_model *m)
{
    struct view_filter filter = filter_of(m);
    struct view_items more = { 0 };
    filter.from = (uint32_t)m->n_source;
    if (m->source->class->filter(m->source->of, &filter, NULL, NULL, &more,
                                 m->why, sizeof m->why) != VIEW_DONE ||
        !more.n) {
        free(more.all);
        return;
    }
    size_t n = m->shown.n + more.n;
    uint32_t *all = realloc(m->shown.all, n * sizeof *all);
    if (all) {
        memcpy(all + m->shown.n, more.all, more.n * sizeof *all);
        m->shown.all = all;
        m->shown.n = n;
    }
    free(more.all);
}

void view_model_refresh(struct view_model *m)
{
    const struct view_source_class *class = m->source->class;
    uint64_t dropped = class->n_dropped ? class->n_dropped(m->source->of) : 0;
    if (dropped != m->n_dropped)
        shift(m, dropped - m->n_dropped);
    m->n_dropped = dropped;
    size_t n = class->n_items(m->source->of);
    if (n == m->n_source)
        return;
    if (!m->is_all && !m->is_collapsed)
        filter_new(m);
    m->n_source = n;
    m->is_cached = false;
    if (m->at_end && !m->is_collapsed && view_model_n(m))
        view_model_go(m, view_model_n(m) - 1);
    settle(m);
}

void view_model_init(struct view_model *ret, const struct view_source *source)
{
    *ret = (struct view_model){
        .source = source,
        .is_all = true,
        .n_source = source->class->n_items(source->of),
        .at_end = source->class->poll != NULL,
    };
}

void view_model_deinit(struct view_model *m)
{
    free(m->shown.all);
    free_lines(&m->collapsed);
    free_lines(&m->cache);
}
