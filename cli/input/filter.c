/* SPDX-License-Identifier: MIT */
#include "filter.h"

#include <unistd.h>

#include <printfdecode/strings.h>

#include "core/filter/filter.h"
#include "show/messages.h"

static bool is_asked(const struct filter_options *o)
{
    return o->matches.n || o->format_strings.n || o->sources.n || o->ids.n ||
           o->where;
}

bool filtering_open(struct filtering *ret, const struct filter_options *o)
{
    struct pfd_error err;
    struct pfd_filter_spec spec = {
        .patterns = o->matches.all,
        .n_patterns = o->matches.n,
        .ignore_case = o->ignore_case,
        .invert = o->invert,
        .ids = o->ids.all,
        .n_ids = o->ids.n,
        .format_strings = o->format_strings.all,
        .n_format_strings = o->format_strings.n,
        .sources = o->sources.all,
        .n_sources = o->sources.n,
        .where = o->where,
        .jit = true,
    };
    *ret = (struct filtering){ .o = o };
    if (!is_asked(o) || pfd_filter_new(&spec, &ret->filter, &err) == PFD_OK)
        return true;
    message_error("%s", err.text);
    return false;
}

/* ---- nothing passed ---- */

static bool has_id(const struct pfd_strings *strings, uint64_t id)
{
    struct pfd_string_info info = { 0 };
    bool ret = false;
    for (size_t i = 0; !ret && pfd_strings_get(strings, i, &info) == PFD_OK;
         i++)
        ret = info.id == id;
    return ret;
}

/* Names the ids that no string has. False: there are none. */
static bool name_ids(const struct filter_options *o,
                     const struct pfd_strings *strings)
{
    bool ret = false;
    for (size_t i = 0; strings && i < o->ids.n; i++) {
        unsigned long long id = o->ids.all[i];
        if (has_id(strings, id))
            continue;
        ret = true;
        message_hint("--id 0x%llx: no loaded string has that id, and no entry",
                     id);
    }
    return ret;
}

void filtering_end(struct filtering *filtering,
                   const struct pfd_strings *strings)
{
    struct pfd_error err;
    if (!filtering->filter)
        return;
    const char *shadow = pfd_filter_shadow(filtering->filter);
    if (shadow) {
        message_hint(
            "'%s' is an argument here; what the entry has by that name "
            "is 'entry.%s'",
            shadow, shadow);
    }
    filtering->is_wrong =
        pfd_filter_check(filtering->filter, strings, &err) != PFD_OK;
    if (filtering->is_wrong) {
        message_error("%s", err.text);
    } else if (!filtering->n_given) {
        filtering->is_explained = name_ids(filtering->o, strings);
    }
}

bool filtering_run(const struct filtering *filtering,
                   const struct pfd_strings *strings,
                   struct pfd_filter_run **ret)
{
    struct pfd_error err;
    *ret = NULL;
    if (!filtering->filter ||
        pfd_filter_run_new(filtering->filter, strings, ret, &err) == PFD_OK)
        return true;
    message_error("%s", err.text);
    return false;
}

int filtering_close(struct filtering *filtering, int status)
{
    if (filtering->n_doubts) {
        message_hint(
            "%llu messages cost a pattern too much to be sure; they are "
            "given",
            (unsigned long long)filtering->n_doubts);
    }
    if (!filtering->filter)
        return status;
    bool nothing = !filtering->n_given;
    pfd_filter_free(filtering->filter);
    if (filtering->is_wrong)
        return EXIT_ERROR;
    /* Scripts read the exit status. */
    if (nothing && status != EXIT_ERROR && !filtering->is_explained &&
        isatty(STDERR_FILENO))
        message_hint("no entry is what the options ask for");
    return status == EXIT_CLEAN && nothing ? EXIT_NOTHING : status;
}
