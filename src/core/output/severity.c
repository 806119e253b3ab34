/* SPDX-License-Identifier: MIT */
#include "core/output/severity.h"

#include <string.h>

#include "core/decode/format.h"
#include "core/output/sink.h"

static const char *const names[] = { "error", "warning", "note", "debug" };

const char *pfd_severity_name(enum pfd_severity severity)
{
    return names[severity];
}

static enum pfd_severity read_level(const struct pfd_origin *level)
{
    static const struct {
        const char *level;
        enum pfd_severity severity;
    } all[] = { { "error", PFD_SEVERITY_ERROR },
                { "warning", PFD_SEVERITY_WARNING },
                { "debug", PFD_SEVERITY_DEBUG },
                { "trace", PFD_SEVERITY_DEBUG } };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (level->n == strlen(all[i].level) &&
            !memcmp(level->text, all[i].level, level->n))
            return all[i].severity;
    }
    return PFD_SEVERITY_NOTE;
}

enum pfd_severity pfd_entry_severity(struct pfd_entry *entry)
{
    size_t n = 0;
    if (entry->of->format->complains)
        return PFD_SEVERITY_ERROR;
    const struct pfd_origin *o = pfd_entry_origins(entry, &n);
    for (size_t i = 0; i < n; i++) {
        if (o[i].type == PFD_ORIGIN_TEXT && !strcmp(o[i].name, "level"))
            return read_level(&o[i]);
    }
    return PFD_SEVERITY_NOTE;
}

struct pfd_source_place pfd_source_place(const struct pfd_origin *origins,
                                         size_t n)
{
    struct pfd_source_place ret = { 0 };
    for (size_t i = 0; i < n; i++) {
        const struct pfd_origin *o = &origins[i];
        if (o->type == PFD_ORIGIN_TEXT && !strcmp(o->name, "file")) {
            ret.file = o;
        } else if (o->type == PFD_ORIGIN_NUMBER && !strcmp(o->name, "line")) {
            ret.line = o;
        }
    }
    return ret;
}
