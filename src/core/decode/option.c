/* SPDX-License-Identifier: MIT */
/* The options for how buffers are read, from the tables of all formats. */
#include <string.h>

#include "core/decode/format.h"
#include "core/decode/inspect.h"

static const char *const compat_words[] = { "none", "clr", "khronos" };

const struct pfd_format_option pfd_option_compat = {
    .info = {
        .name = "compat",
        .value = "WHO",
        .words = compat_words,
        .n_words = sizeof compat_words / sizeof *compat_words,
        .help = "print as another decoder does: none (default), clr or khronos",
        .of_text = true,
    },
    .member = offsetof(struct pfd_options, compat),
};

/* True for the first format, in a loop over all, that has this option. */
static bool is_first(const struct pfd_format_option *option, size_t format)
{
    for (size_t f = 0; f < format; f++) {
        const struct pfd_format_option *const *o = pfd_formats[f]->options;
        for (; o && *o; o++) {
            if (*o == option)
                return false;
        }
    }
    return true;
}

/* Option i of all formats, each once; NULL: there is none. */
static const struct pfd_format_option *option_at(size_t i)
{
    for (size_t f = 0; pfd_formats[f]; f++) {
        const struct pfd_format_option *const *o = pfd_formats[f]->options;
        for (; o && *o; o++) {
            if (is_first(*o, f) && i-- == 0)
                return *o;
        }
    }
    return NULL;
}

/* Keys of configurations have _ where options have -. */
static bool is_named(const struct pfd_format_option *option, const char *name)
{
    const char *own = option->info.name;
    while (*own && (*own == *name || (*own == '-' && *name == '_'))) {
        own++;
        name++;
    }
    return *own == *name;
}

static const struct pfd_format_option *find(const char *name)
{
    size_t i = 0;
    const struct pfd_format_option *option = option_at(0);
    while (option && !is_named(option, name))
        option = option_at(++i);
    return option;
}

enum pfd_status pfd_option_get(size_t i, struct pfd_option_info *ret)
{
    const struct pfd_format_option *option = option_at(i);
    if (!option)
        return PFD_END;
    *ret = option->info;
    return PFD_OK;
}

static void list(struct pfd_text *text, const char *word, bool is_last)
{
    if (text->n)
        pfd_text_puts(text, is_last ? " or " : ", ");
    pfd_text_puts(text, word);
}

static enum pfd_status no_option(const char *name, struct pfd_error *err)
{
    struct pfd_quoted quoted;
    struct pfd_text all = { 0 };
    for (size_t i = 0; option_at(i); i++)
        list(&all, option_at(i)->info.name, !option_at(i + 1));
    pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET, "no option '%s': there is %.*s",
             pfd_quote(&quoted, name, strlen(name)), (int)all.n,
             all.n ? all.data : "none");
    pfd_text_free(&all);
    return PFD_ERR_USAGE;
}

static enum pfd_status no_word(const struct pfd_option_info *info,
                               const char *word, struct pfd_error *err)
{
    struct pfd_quoted quoted;
    struct pfd_text all = { 0 };
    for (size_t i = 0; i < info->n_words; i++)
        list(&all, info->words[i], i + 1 == info->n_words);
    pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET, "%s is %.*s, not '%s'",
             info->name, (int)all.n, all.n ? all.data : "",
             pfd_quote(&quoted, word, strlen(word)));
    pfd_text_free(&all);
    return PFD_ERR_USAGE;
}

enum pfd_status pfd_options_set(struct pfd_options *options, const char *name,
                                const char *word, struct pfd_error *err)
{
    const struct pfd_format_option *option = find(name);
    if (!option)
        return no_option(name, err);
    for (unsigned i = 0; i < option->info.n_words; i++) {
        if (!strcmp(option->info.words[i], word)) {
            memcpy((char *)options + option->member, &i, sizeof i);
            return PFD_OK;
        }
    }
    return no_word(&option->info, word, err);
}

const char *pfd_options_word(const struct pfd_options *options,
                             const char *name)
{
    const struct pfd_format_option *option = find(name);
    unsigned i = 0;
    if (!option)
        return NULL;
    memcpy(&i, (const char *)options + option->member, sizeof i);
    return i < option->info.n_words ? option->info.words[i] : NULL;
}
