/* SPDX-License-Identifier: MIT */
/*
 * One entry a line, as compilers write: "FILE:LINE: SEVERITY: MESSAGE", which
 * editors jump by. Without a known line it begins with the severity.
 */
#include "core/base/error.h"
#include "core/base/safe_line.h"
#include "core/output/severity.h"
#include "core/output/sink.h"

/* A newline at its end is left out. */
static void add_words(struct pfd_text *out, const char *text, size_t n)
{
    n -= n > 0 && text[n - 1] == '\n';
    pfd_text_add_safe_words(out, text, n);
}

static const char *word_of(struct pfd_entry *entry, bool fails)
{
    enum pfd_severity severity =
        fails ? PFD_SEVERITY_ERROR : pfd_entry_severity(entry);
    return pfd_severity_name(severity == PFD_SEVERITY_DEBUG ? PFD_SEVERITY_NOTE
                                                            : severity);
}

static void quickfix_entry(struct pfd_text *out, struct pfd_entry *entry,
                           const struct pfd_sink_options *options)
{
    size_t n = 0;
    const struct pfd_origin *origins = pfd_entry_origins(entry, &n);
    struct pfd_source_place place = pfd_source_place(origins, n);
    if (place.file && place.line) {
        add_words(out, place.file->text, place.file->n);
        pfd_text_printf(out,
                        ":%llu: ", (unsigned long long)place.line->value[0]);
    }
    pfd_text_printf(out, "%s: ", word_of(entry, options->fails));
    if (entry->string) {
        const char *message = pfd_entry_message(entry, &n);
        out->failed |= !message && n;
        add_words(out, message, message ? n : 0);
    } else {
        pfd_text_printf(out, "unknown id 0x%012llx",
                        (unsigned long long)entry->id);
    }
    pfd_text_puts(out, "\n");
}

static void add_severity(struct pfd_text *out, bool is_loss,
                         const struct pfd_sink_options *options)
{
    bool fails = is_loss && options->losses_fail;
    pfd_text_puts(out, fails ? "error: " : "warning: ");
}

static void quickfix_tell(struct pfd_text *out,
                          const struct pfd_finding *finding,
                          const struct pfd_sink_options *options)
{
    if (pfd_finding_is_note(finding->kind))
        return;
    add_severity(out, pfd_finding_is_loss(finding->kind), options);
    if (finding->source) {
        add_words(out, finding->source, strlen(finding->source));
        pfd_text_puts(out, ": ");
    }
    pfd_text_printf(out, "%s: ", pfd_finding_name(finding->kind));
    add_words(out, finding->text, strlen(finding->text));
    pfd_text_puts(out, "\n");
}

static void quickfix_gap(struct pfd_text *out, const struct pfd_gap *gap,
                         const char *source,
                         const struct pfd_sink_options *options)
{
    add_severity(out, true, options);
    if (source) {
        add_words(out, source, strlen(source));
        pfd_text_puts(out, ": ");
    }
    pfd_text_printf(out, "gap: %llu lost: ", (unsigned long long)gap->missed);
    add_words(out, gap->reason, strlen(gap->reason));
    pfd_text_puts(out, "\n");
}

const struct pfd_sink pfd_sink_quickfix = {
    .name = "quickfix",
    .entry = quickfix_entry,
    .tell = quickfix_tell,
    .gap = quickfix_gap,
};
