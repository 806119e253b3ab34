/* SPDX-License-Identifier: MIT */
#include "decode/choice.h"

#include <stdio.h>
#include <stdlib.h>

#include "decode/decoder.h"

enum {
    /* How much strings of a format speak for it, */
    OWN_STRINGS = 10,
    /* and that the first entries have ids that they know. */
    KNOWN_IDS = 20,
    SCORE_MAX = 100,
    /* A format that could be it... */
    PLAUSIBLE = 40,
    /* ...and is so near to the best that chance may have decided. */
    NEAR = 12,
    TRIAL_RECORDS = 64,
};

static bool has_strings(const struct pfd_strings *strings,
                        const struct pfd_format *format)
{
    return pfd_strings_table(strings, &format->strings)->n > 0 ||
           (format->reads_shaders && pfd_strings_shaders(strings)->n > 0);
}

/* Formats with strings, and the first of them. */
static size_t count_loaded(const struct pfd_strings *strings,
                           const struct pfd_format **ret)
{
    size_t n = 0;
    for (const struct pfd_format *const *f = pfd_formats; *f; f++) {
        if (has_strings(strings, *f) && n++ == 0)
            *ret = *f;
    }
    return n;
}

static void keep_best(struct pfd_choice *best, const struct pfd_format *format,
                      int score)
{
    if (!best->format || score > best->score) {
        best->other = best->format;
        best->other_score = best->score;
        best->format = format;
        best->score = score;
    } else if (!best->other || score > best->other_score) {
        best->other = format;
        best->other_score = score;
    }
}

/* Does a walk over the first bytes meet an entry that a string explains? */
static bool knows_ids(const struct pfd_strings *strings,
                      const struct pfd_format *format,
                      const struct pfd_cursor *first)
{
    static const struct pfd_options plain = { 0 };
    struct pfd_batch batch;
    struct pfd_walk walk = { 0 };
    bool known = false;
    if (pfd_batch_init(&batch, TRIAL_RECORDS) &&
        pfd_walk_init(&walk, format, strings, &plain)) {
        walk.batch = &batch;
        walk.view = *first;
        walk.last = true;
        format->walk(&walk);
    }
    for (size_t i = 0; i < batch.n && !known; i++) {
        const struct pfd_record *r = &batch.records[i];
        known = r->kind == PFD_RECORD_ENTRY && r->string && !r->findings;
    }
    pfd_walk_deinit(&walk);
    pfd_batch_deinit(&batch);
    return known;
}

static int score_of(const struct pfd_strings *strings,
                    const struct pfd_format *format,
                    const struct pfd_cursor *first, uint64_t n_buffer)
{
    int score = format->probe(first, n_buffer);
    if (!score || !pfd_strings_table(strings, &format->strings)->n)
        return score;
    score += OWN_STRINGS;
    if (knows_ids(strings, format, first))
        score += KNOWN_IDS;
    return score < SCORE_MAX ? score : SCORE_MAX;
}

enum pfd_status pfd_format_choose(const struct pfd_strings *strings,
                                  const char *name,
                                  const struct pfd_cursor *view, bool last,
                                  struct pfd_choice *ret, struct pfd_error *err)
{
    *ret = (struct pfd_choice){ 0 };
    if (name) {
        ret->format = pfd_format_find(name);
        return ret->format ? PFD_OK
                           : pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                                      "no buffer format is called '%s'", name);
    }
    size_t n_loaded = count_loaded(strings, &ret->format);
    if (n_loaded == 1)
        return PFD_OK;
    ret->format = NULL;
    if (!view)
        return PFD_OK;
    bool longer = view->n > PFD_PROBE_BYTES;
    if (!longer && !last)
        return PFD_MORE;
    struct pfd_cursor first = *view;
    first.n = longer ? PFD_PROBE_BYTES : view->n;
    for (const struct pfd_format *const *f = pfd_formats; *f; f++) {
        if ((!n_loaded || has_strings(strings, *f)) && (*f)->probe) {
            keep_best(ret, *f,
                      score_of(strings, *f, &first, longer ? 0 : view->n));
        }
    }
    if (!ret->format)
        ret->format = pfd_formats[0];
    if (ret->other &&
        (ret->other_score < PLAUSIBLE || ret->score - ret->other_score > NEAR))
        ret->other = NULL;
    return PFD_OK;
}

bool pfd_choice_describe(const struct pfd_choice *choice, char *ret, size_t n)
{
    if (!choice->other)
        return false;
    snprintf(ret, n,
             "read as '%s' (likelihood %d of 100), '%s' (%d) is possible as "
             "well; --format NAME decides",
             choice->format->info.name, choice->score, choice->other->info.name,
             choice->other_score);
    return true;
}

void pfd_walk_report_choice(struct pfd_walk *walk,
                            const struct pfd_choice *choice)
{
    char text[192];
    if (pfd_choice_describe(choice, text, sizeof text))
        pfd_walk_finding(walk, PFD_FINDING_format_choice, 0, "%s", text);
}

enum pfd_status pfd_format_likelihood(size_t i, const void *bytes, size_t n,
                                      int *ret)
{
    bool longer = n > PFD_PROBE_BYTES;
    struct pfd_format_info info;
    struct pfd_cursor first = pfd_cursor(bytes, longer ? PFD_PROBE_BYTES : n);
    enum pfd_status status = pfd_format_get(i, &info);
    if (status != PFD_OK)
        return status;
    if (!pfd_formats[i]->probe)
        return PFD_ERR_UNSUPPORTED;
    *ret = pfd_formats[i]->probe(&first, longer ? 0 : n);
    return PFD_OK;
}
