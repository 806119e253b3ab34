/* SPDX-License-Identifier: MIT */
/* A line of a module's source, and the lines around it. */
#include "core/spirv/spirv_module.h"

/* The line that begins with this byte of the module; n_lines: none does. Never
 * reads the byte. */
static uint32_t line_at(const struct spirv_source *s, const char *text)
{
    uintptr_t at = (uintptr_t)text;
    uintptr_t base = (uintptr_t)s->text;
    uint32_t low = 0;
    uint32_t high = s->n_lines;
    if (!s->text || !s->starts || at < base || at - base > s->n)
        return s->n_lines;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (s->starts[mid] < at - base) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < s->n_lines && s->starts[low] == at - base ? low : s->n_lines;
}

/* Lines [*from, *to] are numbered from line i on: no #line lies between. In a
 * module with debug lines #line directives do not count. */
static void find_numbered_lines(const struct spirv_source *s, uint32_t i,
                                uint32_t *from, uint32_t *to)
{
    *from = 0;
    *to = UINT32_MAX;
    for (uint32_t k = 0; !s->is_debug && k < s->n_directives; k++) {
        uint32_t at = s->directives[k].line;
        if (at < i && at >= *from)
            *from = at + 1;
        if (at >= i && at < *to)
            *to = at;
    }
}

static void cut_out(const struct spirv_source *s, uint32_t i, uint32_t number,
                    uint32_t around, struct pfd_excerpt *ret)
{
    uint32_t first = i > around ? i - around : 0;
    uint32_t end = s->n_lines - i > around ? i + around + 1 : s->n_lines;
    uint32_t from = 0;
    uint32_t to = 0;
    /* An empty text behind the last line break is no line. */
    if (end == s->n_lines && end - 1 > i && s->starts[end - 1] == s->n)
        end--;
    find_numbered_lines(s, i, &from, &to);
    ret->n = end - first;
    ret->marked = i - first;
    for (uint32_t k = first; k < end; k++) {
        struct pfd_excerpt_line *line = &ret->lines[k - first];
        bool is_counted = k >= from && k <= to && (k >= i || i - k < number) &&
                          (k <= i || k - i <= UINT32_MAX - number);
        line->text = spirv_line_text(s, k, &line->n);
        line->number = is_counted ? number + (k - i) : 0;
    }
}

bool pfd_spirv_excerpt(const struct pfd_spirv *m, const char *text,
                       uint32_t number, uint32_t around,
                       struct pfd_excerpt *ret)
{
    if (around > PFD_EXCERPT_AROUND)
        around = PFD_EXCERPT_AROUND;
    for (size_t i = 0; i < m->n_sources; i++) {
        uint32_t at = line_at(&m->sources[i], text);
        if (at < m->sources[i].n_lines) {
            cut_out(&m->sources[i], at, number, around, ret);
            return true;
        }
    }
    return false;
}
