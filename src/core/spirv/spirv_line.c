/* SPDX-License-Identifier: MIT */
/* Lines and sources of a module. */
#include <stdlib.h>
#include <string.h>

#include "core/spirv/spirv_module.h"

enum {
    /* Limit of #line directives in a module; real ones have a few. */
    DIRECTIVES_MAX = 4096,
    OP_SELECTION_MERGE = 247,
    OP_BRANCH_CONDITIONAL = 250,
};

/* ---- the line of an instruction ---- */

static bool is_line(const struct pfd_spirv *m, uint32_t k, bool *ends)
{
    uint32_t op = spirv_op(m, k);
    uint32_t number = 0;
    if (op == PFD_SPV_EXT_INST)
        number = spirv_debug_number(m, k);
    *ends = op == PFD_SPV_NO_LINE || number == PFD_DEBUG_NO_LINE;
    return op == PFD_SPV_LINE || number == PFD_DEBUG_LINE || *ends;
}

/* A block that instrumentation has split: the line at the split stays current
 * in its parts up to the merge block. */
struct cut {
    uint32_t line;
    uint32_t merge; /* id of its label; 0: no block is cut */
};

/* Notes a split if the block that ends at k was split. */
static void note_cut(const struct pfd_spirv *m, uint32_t k, uint32_t line,
                     struct cut *cut)
{
    uint32_t n = 0;
    uint32_t n_merge = 0;
    const uint32_t *w = spirv_at(m, k, &n);
    if (!m->instrumented.n_writers ||
        (w[0] & 0xffff) != OP_BRANCH_CONDITIONAL || n < 4 || k == 0 ||
        spirv_op(m, k - 1) != OP_SELECTION_MERGE)
        return;
    const uint32_t *merge = spirv_at(m, k - 1, &n_merge);
    uint32_t made = pfd_spirv_definition(m, w[1]);
    if (made != PFD_SPIRV_NONE && n_merge > 1 && spirv_calls_writer(m, made))
        *cut = (struct cut){ .line = line, .merge = merge[1] };
}

/* The line that a label at k begins with. */
static uint32_t line_of_label(const struct pfd_spirv *m, uint32_t k,
                              struct cut *cut)
{
    uint32_t n = 0;
    const uint32_t *w = spirv_at(m, k, &n);
    uint32_t line = cut->merge ? cut->line : PFD_SPIRV_NONE;
    if (n > 1 && w[1] == cut->merge)
        cut->merge = 0;
    return line;
}

static void find_lines(struct pfd_spirv *m)
{
    uint32_t line = PFD_SPIRV_NONE;
    uint32_t layer = PFD_SPIRV_NONE;
    struct cut cut = { PFD_SPIRV_NONE, 0 };
    for (uint32_t k = 0; k < m->n; k++) {
        bool ends = false;
        m->line[k] = line;
        m->layer_line[k] = layer;
        uint32_t op = spirv_op(m, k);
        if (is_line(m, k, &ends)) {
            line = ends ? PFD_SPIRV_NONE : k;
            layer = ends ? layer : k;
        } else if (spirv_ends_block(op)) {
            note_cut(m, k, line, &cut);
            line = PFD_SPIRV_NONE;
        } else if (op == PFD_SPV_LABEL) {
            line = cut.merge ? line_of_label(m, k, &cut) : line;
        } else if (op == PFD_SPV_FUNCTION_END) {
            line = PFD_SPIRV_NONE;
            layer = PFD_SPIRV_NONE;
            cut.merge = 0;
        }
    }
}

/* Types, constants, global variables and OpUndef: they carry lines. */
static bool is_global(uint32_t op)
{
    return (op >= 19 && op < 40) || (op >= 41 && op < 53) || op == 59 ||
           op == 1;
}

/*
 * The ordinals of SPIRV-Tools' instrumentation passes (seen in 4967 records of
 * layer 1.3.239): the loader copies the current line onto each instruction of
 * a block that follows it, and the pass counts each copy. Lines in front of
 * OpFunction, OpLabel, OpFunctionEnd and the preamble are not counted;
 * DebugScope and DebugNoScope count nothing.
 */
static void count_ordinals(struct pfd_spirv *m)
{
    uint32_t n = 0;
    uint32_t pending = 0; /* lines since the last instruction */
    bool is_current = false;
    bool last_ends = false;
    bool in_function = false;
    bool in_block = false;
    for (uint32_t k = 0; k < m->n; k++) {
        bool ends = false;
        uint32_t op = spirv_op(m, k);
        uint32_t number = op == PFD_SPV_EXT_INST ? spirv_debug_number(m, k) : 0;
        m->counted[k] = n;
        if (is_line(m, k, &ends)) {
            is_current = false;
            pending++;
            last_ends = op == PFD_SPV_NO_LINE;
            continue;
        }
        if (number == PFD_DEBUG_SCOPE || number == PFD_DEBUG_NO_SCOPE)
            continue;
        uint32_t copies = is_current;
        if (pending) {
            copies = pending;
            pending = 0;
            is_current = !last_ends;
        }
        if (op == PFD_SPV_FUNCTION)
            in_function = true;
        bool counts = in_function ? in_block : is_global(op);
        if (op == PFD_SPV_FUNCTION_PARAMETER)
            counts = true;
        if (op == PFD_SPV_FUNCTION || op == PFD_SPV_LABEL ||
            op == PFD_SPV_FUNCTION_END)
            counts = false;
        n += counts ? copies : 0;
        m->counted[k] = n++;
        if (op == PFD_SPV_LABEL)
            in_block = true;
        if (spirv_ends_block(op)) {
            in_block = false;
            is_current = false;
            pending = 0;
        }
        if (op == PFD_SPV_FUNCTION_END)
            in_function = false;
    }
}

/* ---- sources ---- */

/* The bytes of one chunk of a source, k..: OpSource and OpSourceContinued, or
 * DebugSource and DebugSourceContinued. NULL: k is none. */
static const char *chunk(const struct pfd_spirv *m, uint32_t k, bool first,
                         bool is_debug, size_t *n)
{
    uint32_t n_words = 0;
    const uint32_t *w = spirv_at(m, k, &n_words);
    uint32_t op = w[0] & 0xffff;
    *n = 0;
    if (!is_debug) {
        uint32_t at = first ? 4 : 1;
        uint32_t want = first ? PFD_SPV_SOURCE : PFD_SPV_SOURCE_CONTINUED;
        if (op != want || n_words <= at)
            return NULL;
        return spirv_literal(w + at, n_words - at, n);
    }
    uint32_t want = first ? PFD_DEBUG_SOURCE : PFD_DEBUG_SOURCE_CONTINUED;
    uint32_t at = first ? 6 : 5;
    if (op != PFD_SPV_EXT_INST || n_words <= at ||
        spirv_debug_number(m, k) != want)
        return NULL;
    return pfd_spirv_string(m, w[at], n);
}

/* Adds the text of the source whose first chunk is instruction k. */
static bool add_source(struct pfd_spirv *m, uint32_t k, uint32_t id,
                       bool is_debug, size_t *room)
{
    struct spirv_source *s = &m->sources[m->n_sources];
    size_t n = 0;
    size_t total = 0;
    uint32_t end = k;
    const char *text = chunk(m, k, true, is_debug, &n);
    *s = (struct spirv_source){ .id = id, .is_debug = is_debug };
    if (!text)
        return true;
    for (; text && total + n <= *room; end++) {
        total += n;
        text = end + 1 < m->n ? chunk(m, end + 1, false, is_debug, &n) : NULL;
    }
    s->text = spirv_alloc(m, total, 1);
    if (!s->text)
        return false;
    *room -= total;
    for (uint32_t i = k; i < end; i++) {
        text = chunk(m, i, i == k, is_debug, &n);
        if (text && n)
            memcpy(s->text + s->n, text, n);
        s->n += n;
        if (i == k)
            s->n_first = n;
    }
    m->n_sources++;
    return true;
}

/* The length of the line break at text[i]; 0: none. */
static size_t line_break(const char *text, size_t n, size_t i)
{
    if (text[i] == '\r')
        return i + 1 < n && text[i + 1] == '\n' ? 2 : 1;
    return text[i] == '\n';
}

/* A text that ends in a line break has a last, empty line. */
static bool split_lines(struct pfd_spirv *m, struct spirv_source *s)
{
    uint32_t n_lines = 1;
    for (size_t i = 0; i < s->n;) {
        size_t n = line_break(s->text, s->n, i);
        n_lines += n != 0;
        i += n ? n : 1;
    }
    s->starts = spirv_alloc(m, n_lines, sizeof *s->starts);
    if (!s->starts)
        return false;
    s->starts[s->n_lines++] = 0;
    for (size_t i = 0; i < s->n;) {
        size_t n = line_break(s->text, s->n, i);
        i += n ? n : 1;
        if (n)
            s->starts[s->n_lines++] = (uint32_t)i;
    }
    return true;
}

const char *spirv_line_text(const struct spirv_source *s, uint32_t i, size_t *n)
{
    *n = 0;
    if (!s || !s->starts || i >= s->n_lines)
        return "";
    size_t end = i + 1 < s->n_lines ? s->starts[i + 1] : s->n;
    const char *text = s->text + s->starts[i];
    *n = end - s->starts[i];
    if (i + 1 < s->n_lines) {
        (*n)--; /* its line break: \n, \r or \r\n */
        if (text[*n] == '\n' && *n && text[*n - 1] == '\r')
            (*n)--;
    }
    return text;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t skip_blanks(const char *text, size_t n, size_t i)
{
    while (i < n && is_blank(text[i]))
        i++;
    return i;
}

/*
 * Reads a line that matches ^\s*#\s*line\s+([0-9]+)(\s+)?(".+")?.* as the
 * layer's regular expression does: the name reaches to the last quote.
 */
static bool read_directive(const char *text, size_t n,
                           struct spirv_directive *ret)
{
    size_t i = skip_blanks(text, n, 0);
    if (i >= n || text[i] != '#')
        return false;
    i = skip_blanks(text, n, i + 1);
    if (n - i < 5 || memcmp(text + i, "line", 4) != 0 || !is_blank(text[i + 4]))
        return false;
    i = skip_blanks(text, n, i + 4);
    if (i >= n || text[i] < '0' || text[i] > '9')
        return false;
    uint64_t number = 0;
    for (; i < n && text[i] >= '0' && text[i] <= '9'; i++) {
        number = number > UINT32_MAX ? number
                                     : number * 10 + (uint64_t)(text[i] - '0');
    }
    ret->number = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    ret->name = NULL;
    ret->n_name = 0;
    ret->is_named = false;
    size_t at = skip_blanks(text, n, i);
    if (at == i || at >= n || text[at] != '"')
        return true;
    const char *last = memrchr(text + at, '"', n - at);
    if (last - (text + at) < 2)
        return true;
    ret->name = text + at + 1;
    ret->n_name = (uint32_t)(last - ret->name);
    ret->is_named = true;
    return true;
}

static bool find_directives(struct pfd_spirv *m, struct spirv_source *s,
                            size_t *room)
{
    struct spirv_directive d = { 0 };
    size_t n = 0;
    uint32_t n_found = 0;
    for (uint32_t i = 0; i < s->n_lines; i++) {
        const char *text = spirv_line_text(s, i, &n);
        n_found += read_directive(text, n, &d);
    }
    if (n_found > *room)
        n_found = (uint32_t)*room;
    *room -= n_found;
    s->directives = spirv_alloc(m, n_found, sizeof *s->directives);
    if (!s->directives)
        return false;
    const struct spirv_directive *named = NULL;
    for (uint32_t i = 0; i < s->n_lines && s->n_directives < n_found; i++) {
        const char *text = spirv_line_text(s, i, &n);
        if (!read_directive(text, n, &d))
            continue;
        struct spirv_directive *to = &s->directives[s->n_directives++];
        *to = d;
        to->line = i;
        if (d.is_named) {
            named = to;
        } else if (named) {
            to->name = named->name;
            to->n_name = named->n_name;
        }
    }
    return true;
}

/* Only the first source of a file counts. */
static bool is_known(const struct pfd_spirv *m, uint32_t id, bool is_debug)
{
    for (size_t i = 0; i < m->n_sources; i++) {
        if (m->sources[i].id == id && m->sources[i].is_debug == is_debug)
            return true;
    }
    return false;
}

enum {
    SOURCES_MAX = 1024 /* files of one module */
};

/* True: instruction k defines a source that has an id. */
static bool is_source(const struct pfd_spirv *m, uint32_t k, uint32_t *id,
                      bool *is_debug)
{
    uint32_t n = 0;
    const uint32_t *w = spirv_at(m, k, &n);
    uint32_t op = w[0] & 0xffff;
    *is_debug =
        op == PFD_SPV_EXT_INST && spirv_debug_number(m, k) == PFD_DEBUG_SOURCE;
    if (!*is_debug && (op != PFD_SPV_SOURCE || n < 5))
        return false;
    *id = *is_debug ? w[2] : w[3];
    return true;
}

/* The number of sources, n_max at most. */
static size_t count_sources(const struct pfd_spirv *m, size_t n_max)
{
    uint32_t id = 0;
    bool is_debug = false;
    size_t n = 0;
    for (uint32_t k = 0; k < m->n && n < n_max; k++)
        n += is_source(m, k, &id, &is_debug);
    return n;
}

static bool add_sources(struct pfd_spirv *m, size_t *n_missed)
{
    size_t n_max = count_sources(m, SOURCES_MAX);
    size_t room = m->n_words * 4;
    uint32_t id = 0;
    bool is_debug = false;
    m->sources = spirv_alloc(m, n_max, sizeof *m->sources);
    if (!m->sources)
        return false;
    for (uint32_t k = 0; k < m->n; k++) {
        if (!is_source(m, k, &id, &is_debug) || is_known(m, id, is_debug))
            continue;
        if (m->n_sources == n_max) {
            ++*n_missed;
        } else if (!add_source(m, k, id, is_debug, &room)) {
            return false;
        }
    }
    return true;
}

static bool index_sources(struct pfd_spirv *m, struct pfd_report *report)
{
    size_t n_directives = DIRECTIVES_MAX;
    size_t n_missed = 0;
    if (!add_sources(m, &n_missed))
        return false;
    for (size_t i = 0; i < m->n_sources; i++) {
        if (!split_lines(m, &m->sources[i]) ||
            !find_directives(m, &m->sources[i], &n_directives))
            return false;
    }
    if (n_missed || !n_directives) {
        pfd_report_add(report, PFD_FINDING_bad_spirv, PFD_NO_OFFSET,
                       "more than %d sources or %d #line directives; the "
                       "others are left out",
                       SOURCES_MAX, DIRECTIVES_MAX);
    }
    return true;
}

bool spirv_index_lines(struct pfd_spirv *m, struct pfd_report *report)
{
    m->counted = spirv_alloc(m, m->n, sizeof *m->counted);
    m->line = spirv_alloc(m, m->n, sizeof *m->line);
    m->layer_line = spirv_alloc(m, m->n, sizeof *m->layer_line);
    if (!m->counted || !m->line || !m->layer_line)
        return false;
    find_lines(m);
    count_ordinals(m);
    return index_sources(m, report);
}

void spirv_free_lines(struct pfd_spirv *m)
{
    for (size_t i = 0; i < m->n_sources; i++) {
        free(m->sources[i].text);
        free(m->sources[i].starts);
        free(m->sources[i].directives);
    }
    free(m->sources);
}

/* ---- reading a line instruction ---- */

static uint32_t line_of(const struct pfd_spirv *m, uint32_t k,
                        enum pfd_spirv_rule rule)
{
    if (rule == PFD_LINE_TRUE)
        return k < m->n ? m->line[k] : PFD_SPIRV_NONE;
    if (rule == PFD_LINE_LAYER)
        return k < m->n ? m->layer_line[k] : PFD_SPIRV_NONE;
    /* The layer included instruction k in its search, and searched the whole
     * module for a k beyond its end. */
    for (uint32_t i = k < m->n ? k + 1 : m->n; i > 0; i--) {
        if (spirv_op(m, i - 1) == PFD_SPV_LINE)
            return i - 1;
    }
    return PFD_SPIRV_NONE;
}

static void read_op_line(const struct pfd_spirv *m, const uint32_t *w,
                         uint32_t n, struct pfd_spirv_line *ret)
{
    if (n < 4)
        return;
    ret->source = w[1];
    ret->file_id = w[1];
    ret->line = w[2];
    ret->end = w[2];
    ret->column = w[3];
    ret->file = pfd_spirv_string(m, w[1], &ret->n_file);
}

static void read_debug_line(const struct pfd_spirv *m, const uint32_t *w,
                            uint32_t n, struct pfd_spirv_line *ret)
{
    ret->is_debug = true;
    if (n < 9)
        return;
    ret->source = w[5];
    pfd_spirv_constant(m, w[6], &ret->line);
    ret->end = ret->line;
    pfd_spirv_constant(m, w[7], &ret->end);
    pfd_spirv_constant(m, w[8], &ret->column);
    uint32_t k = pfd_spirv_definition(m, w[5]);
    if (k == PFD_SPIRV_NONE || spirv_debug_number(m, k) != PFD_DEBUG_SOURCE)
        return;
    uint32_t n_source = 0;
    const uint32_t *source = spirv_at(m, k, &n_source);
    if (n_source > 5) {
        ret->file_id = source[5];
        ret->file = pfd_spirv_string(m, source[5], &ret->n_file);
    }
}

void pfd_spirv_line(const struct pfd_spirv *m, uint32_t k,
                    enum pfd_spirv_rule rule, struct pfd_spirv_line *ret)
{
    uint32_t n = 0;
    *ret = (struct pfd_spirv_line){ .k = line_of(m, k, rule) };
    if (ret->k == PFD_SPIRV_NONE)
        return;
    const uint32_t *w = spirv_at(m, ret->k, &n);
    if ((w[0] & 0xffff) == PFD_SPV_LINE) {
        read_op_line(m, w, n, ret);
    } else {
        read_debug_line(m, w, n, ret);
    }
}

/* ---- the text of a line ---- */

static const struct spirv_source *source_of(const struct pfd_spirv *m,
                                            const struct pfd_spirv_line *line)
{
    for (size_t i = 0; i < m->n_sources; i++) {
        if (m->sources[i].id == line->source &&
            m->sources[i].is_debug == line->is_debug)
            return &m->sources[i];
    }
    return NULL;
}

static bool same_file(const struct spirv_directive *d,
                      const struct pfd_spirv_line *line)
{
    return !d->name || (line->file && d->n_name == line->n_file &&
                        !memcmp(d->name, line->file, d->n_name));
}

/*
 * The directive that a line is counted from. Candidates are directives without
 * a name so far, and directives whose own or inherited name is the reported
 * file; of these the nearest at or above the line, of equals the last. (So a
 * directive without a name of its own also counts after another file's.)
 */
static const struct spirv_directive *directive_of(
    const struct spirv_source *s, const struct pfd_spirv_line *line,
    uint32_t n_lines)
{
    const struct spirv_directive *best = NULL;
    for (uint32_t i = 0; i < s->n_directives; i++) {
        const struct spirv_directive *d = &s->directives[i];
        if (d->line >= n_lines || d->number > line->line ||
            (d->is_named && !same_file(d, line)))
            continue;
        if (!best || d->number >= best->number)
            best = d;
    }
    return best;
}

static enum pfd_spirv_found give_line(const struct spirv_source *s, uint64_t i,
                                      enum pfd_spirv_found found,
                                      struct pfd_spirv_text *ret)
{
    ret->text = spirv_line_text(s, (uint32_t)i, &ret->n);
    return found;
}

enum pfd_spirv_found pfd_spirv_source(const struct pfd_spirv *m,
                                      const struct pfd_spirv_line *line,
                                      uint32_t number,
                                      struct pfd_spirv_text *ret)
{
    const struct spirv_source *s = source_of(m, line);
    *ret = (struct pfd_spirv_text){ 0 };
    if (!s)
        return PFD_FOUND_NO_SOURCE;
    ret->n_lines = s->n_lines;
    if (line->is_debug) {
        return number && number <= s->n_lines
                   ? give_line(s, number - 1, PFD_FOUND_DIRECT, ret)
                   : PFD_FOUND_NO_LINE;
    }
    const struct spirv_directive *d = directive_of(s, line, UINT32_MAX);
    if (d) {
        ret->line = (uint64_t)line->line - d->number + 1 + d->line;
        return ret->line < s->n_lines
                   ? give_line(s, ret->line, PFD_FOUND_DIRECTIVE, ret)
                   : PFD_FOUND_BEYOND;
    }
    /* The layer never finds the last line, unless an empty one follows. */
    return number && number < s->n_lines
               ? give_line(s, number - 1, PFD_FOUND_DIRECT, ret)
               : PFD_FOUND_NO_LINE;
}

enum pfd_spirv_found pfd_spirv_source_2019(const struct pfd_spirv *m,
                                           const struct pfd_spirv_line *line,
                                           struct pfd_spirv_text *ret)
{
    const struct spirv_source *s = source_of(m, line);
    *ret = (struct pfd_spirv_text){ 0 };
    if (!s || !s->n_first)
        return PFD_FOUND_NO_SOURCE;
    for (ret->n_lines = 0; ret->n_lines < s->n_lines; ret->n_lines++) {
        if (s->starts[ret->n_lines] >= s->n_first)
            break;
    }
    const struct spirv_directive *d = directive_of(s, line, ret->n_lines);
    if (!d)
        return PFD_FOUND_NO_LINE;
    ret->line = (uint64_t)line->line - d->number + 1 + d->line;
    return ret->line < ret->n_lines
               ? give_line(s, ret->line, PFD_FOUND_DIRECTIVE, ret)
               : PFD_FOUND_BEYOND;
}

/* A line in another file's source, behind a #line with this name. */
static const char *elsewhere(const struct pfd_spirv *m,
                             const struct pfd_spirv_line *line, size_t *n)
{
    for (size_t i = 0; line->file && i < m->n_sources; i++) {
        const struct spirv_source *s = &m->sources[i];
        const struct spirv_directive *best = NULL;
        for (uint32_t k = 0; k < s->n_directives; k++) {
            const struct spirv_directive *d = &s->directives[k];
            if (d->name && same_file(d, line) && d->number <= line->line &&
                (!best || d->number >= best->number))
                best = d;
        }
        if (!best)
            continue;
        uint64_t at = (uint64_t)line->line - best->number + 1 + best->line;
        if (at < s->n_lines)
            return spirv_line_text(s, (uint32_t)at, n);
    }
    return NULL;
}

void pfd_spirv_place_of(const struct pfd_spirv *m, uint32_t k,
                        struct pfd_spirv_place *ret)
{
    struct pfd_spirv_line line;
    struct pfd_spirv_text text;
    *ret = (struct pfd_spirv_place){ 0 };
    pfd_spirv_line(m, k, PFD_LINE_TRUE, &line);
    if (line.k == PFD_SPIRV_NONE)
        return;
    ret->file = line.file ? line.file : "";
    ret->n_file = line.n_file;
    ret->line = line.line;
    ret->column = line.column;
    enum pfd_spirv_found found = pfd_spirv_source(m, &line, line.line, &text);
    ret->text = text.text;
    ret->n_text = text.n;
    if (found == PFD_FOUND_NO_LINE && line.line && text.n_lines == line.line) {
        ret->text =
            spirv_line_text(source_of(m, &line), line.line - 1, &ret->n_text);
    } else if (!ret->text) {
        ret->text = elsewhere(m, &line, &ret->n_text);
    }
}
