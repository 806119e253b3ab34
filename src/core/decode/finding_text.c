/* SPDX-License-Identifier: MIT */
/* The sentences of findings about entries. */
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/decode/entry.h"

enum {
    WORDS_SHOWN = 8
};

static void words_text(const struct pfd_entry *entry, char *ret, size_t n)
{
    uint32_t n_words = entry->n_payload / 4;
    size_t at = 0;
    ret[0] = '\0';
    for (uint32_t i = 0; i < n_words && i < WORDS_SHOWN && at < n; i++) {
        uint32_t word;
        memcpy(&word, (const uint8_t *)entry->payload + 4 * (size_t)i, 4);
        at += (size_t)snprintf(ret + at, n - at, " %08x", word);
    }
    if (n_words > WORDS_SHOWN && at < n)
        snprintf(ret + at, n - at, " ...");
}

static void unknown_text(const struct pfd_entry *entry,
                         enum pfd_finding_kind kind, char *ret, size_t n)
{
    char words[16 * WORDS_SHOWN];
    words_text(entry, words, sizeof words);
    const struct pfd_format *format = entry->of->format;
    if (kind == PFD_FINDING_unknown_id && format->reads_shaders &&
        !format->shader) {
        snprintf(ret, n,
                 "no loaded module has such a message; %u payload "
                 "dwords%s%s",
                 entry->n_payload / 4, words[0] ? ":" : "", words);
        return;
    }
    if (kind != PFD_FINDING_torn_header && kind != PFD_FINDING_unknown_id &&
        kind != PFD_FINDING_wrong_module) {
        snprintf(ret, n, "id 0x%llx; %u payload dwords%s%s",
                 (unsigned long long)entry->id, entry->n_payload / 4,
                 words[0] ? ":" : "", words);
        return;
    }
    snprintf(ret, n, "%s id 0x%012llx; %u payload dwords%s%s",
             kind == PFD_FINDING_torn_header
                 ? "the high half of the entry header is missing, which leaves"
             : kind == PFD_FINDING_wrong_module
                 ? "the loaded module is another one: it has no call that is"
                 : "no loaded string has",
             (unsigned long long)entry->id, entry->n_payload / 4,
             words[0] ? ":" : "", words);
}

/* Adds the message of the first other reading. */
static void add_alternative(const struct pfd_entry *entry, char *ret, size_t n)
{
    struct pfd_entry other;
    struct pfd_quoted text;
    size_t n_message = 0;
    if (pfd_entry_alternative(entry, 0, &other) != PFD_OK)
        return;
    const char *message = pfd_entry_message(&other, &n_message);
    size_t end = strlen(ret);
    if (!message) {
        snprintf(ret + end, n - end, "; or it is of an unknown id");
        return;
    }
    pfd_quote(&text, message, n_message);
    const char *stream = pfd_stream_name((enum pfd_stream)other.stream);
    bool is_elsewhere = stream && other.stream != entry->stream;
    snprintf(ret + end, n - end, "; it could be '%s'%s%s as well", text.text,
             is_elsewhere ? " to " : "", is_elsewhere ? stream : "");
}

/* Kinds of findings that other readings explain. */
#define OF_READINGS                                                   \
    (PFD_FINDING_BIT(ambiguous) | PFD_FINDING_BIT(duplicate_id) |     \
     PFD_FINDING_BIT(null_strings) | PFD_FINDING_BIT(string_layout) | \
     PFD_FINDING_BIT(width_mismatch) | PFD_FINDING_BIT(types_guessed))

/* ---- entries of known strings ---- */

/* A message's dwords are its arguments. */
static unsigned wanted_dwords(const struct pfd_entry *entry)
{
    const struct pfd_string *s = entry->string;
    const struct pfd_string *stated = entry->record->string;
    return s->flags & PFD_STRING_LITERAL && stated ? stated->n_arguments
                                                   : s->n_payload / 4;
}

static bool wants_less(const struct pfd_entry *entry)
{
    return wanted_dwords(entry) < entry->n_payload / 4;
}

static bool has_no_size(const struct pfd_entry *entry)
{
    return entry->string->n_payload == UINT32_MAX;
}

static bool has_alternatives(const struct pfd_entry *entry)
{
    return entry->record->n_alternatives;
}

static bool has_collisions(const struct pfd_entry *entry)
{
    return entry->of->format->collisions_size;
}

static bool has_layout_text(const struct pfd_entry *entry)
{
    return entry->of->format->layout_text;
}

static bool counts_arguments(const struct pfd_entry *entry)
{
    const struct pfd_string *s = entry->string;
    return s->n_arguments && entry->n_payload <= s->n_payload;
}

static bool is_only_minus(const struct pfd_entry *entry)
{
    return entry->record->findings & PFD_FINDING_BIT(type_mismatch) &&
           !(entry->string->findings & PFD_FINDING_BIT(type_mismatch));
}

/*
 * Of a kind's rows the first that holds; `when` NULL: always. In the text, $t is
 * the format string, $h the payload dwords that the entry has, $w the ones that it
 * should have, $a its arguments, $r the ways of reading it, $i and $I its id,
 * $l the sentence about its layout, $m the greatest width.
 */
static const struct sentence {
    enum pfd_finding_kind kind;
    bool (*when)(const struct pfd_entry *entry);
    const char *text;
} sentences[] = {
    { PFD_FINDING_payload_short, NULL,
      "'$t' needs more than the $h payload dwords that are there; what is "
      "missing is shown as it is written" },
    { PFD_FINDING_payload_long, wants_less,
      "$h payload dwords where the arguments of '$t' take $w" },
    { PFD_FINDING_payload_long, NULL,
      "the $h payload dwords are more than the arguments of '$t' take" },
    { PFD_FINDING_width_mismatch, has_no_size,
      "the stated widths of '$t' do not fit the entry's $h dwords; $l" },
    { PFD_FINDING_width_mismatch, NULL,
      "the stated widths of '$t' ($w dwords) do not fit the entry ($h); $l" },
    { PFD_FINDING_bad_size, NULL,
      "sound entries follow after $h payload dwords of '$t', where its own "
      "size does not lead" },
    { PFD_FINDING_vector_cut, NULL,
      "only component 0 of each vector of '$t' was written" },
    { PFD_FINDING_ambiguous, has_alternatives,
      "'$t' can be read in $r ways; one is shown" },
    { PFD_FINDING_ambiguous, has_collisions,
      "the bytes of '$t' can be read in other ways, as part of longer "
      "entries" },
    { PFD_FINDING_ambiguous, NULL,
      "several strings of id 0x$I fit $h payload dwords; the first loaded, "
      "'$t', is taken" },
    { PFD_FINDING_wrong_module, NULL,
      "'$t': the loaded module does not fit all records of this shader and "
      "may be another one's" },
    { PFD_FINDING_duplicate_id, NULL,
      "several strings have id 0x$i; '$t' is the one that its bytes and the "
      "next entries speak for" },
    { PFD_FINDING_clipped_string, NULL,
      "a string in the entry of '$t' is cut: it does not end there, or is a "
      "format string above 64 KiB" },
    { PFD_FINDING_null_strings, NULL,
      "null strings take no bytes, and which arguments of '$t' are null "
      "cannot be told: the likeliest way is shown" },
    { PFD_FINDING_string_layout, has_alternatives,
      "where the strings of '$t' end cannot be told from the entries that are "
      "there; --opencl-strings old or new may decide" },
    { PFD_FINDING_string_layout, NULL,
      "the strings in this entry of '$t' are not those of its other entries, "
      "or where they end cannot be told" },
    { PFD_FINDING_bad_control, NULL,
      "the control word of '$t' has bits that are unknown or contradict what "
      "follows" },
    { PFD_FINDING_incomplete, NULL,
      "parts of the message '$t' are missing; what is there is shown" },
    { PFD_FINDING_unused_arguments, counts_arguments,
      "'$t' does not print all $a arguments" },
    { PFD_FINDING_unused_arguments, NULL,
      "'$t' does not print all of its arguments" },
    { PFD_FINDING_type_mismatch, is_only_minus,
      "an unsigned value of '$t' is shown as negative, as its conversion "
      "says" },
    { PFD_FINDING_type_mismatch, NULL,
      "a conversion of '$t' is for another type than its argument has; the "
      "argument's own is shown" },
    { PFD_FINDING_types_guessed, has_layout_text, "'$t': $l" },
    { PFD_FINDING_types_guessed, NULL,
      "nothing states the types of the arguments of '$t'; they are read as "
      "its conversions say" },
    { PFD_FINDING_truncated_entry, NULL,
      "the buffer's end cuts the values of '$t'" },
    { PFD_FINDING_bad_conversion, NULL,
      "'$t' has a conversion that cannot be printed; it is shown as it is "
      "written" },
    { PFD_FINDING_width_clamped, NULL,
      "width or precision above $m in '$t' is clamped" },
};

static const char *sentence_of(const struct pfd_entry *entry,
                               enum pfd_finding_kind kind)
{
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        const struct sentence *row = &sentences[i];
        if (row->kind == kind && (!row->when || row->when(entry)))
            return row->text;
    }
    return "in '$t'";
}

/* Writes what a letter of a sentence stands for, as snprintf() does. */
static int put_value(char *ret, size_t n, const struct pfd_entry *entry,
                     char letter)
{
    const struct pfd_string *s = entry->string;
    struct pfd_quoted text;
    switch (letter) {
    case 't':
        pfd_quote(&text, pfd_string_text(s), s->n_text);
        return snprintf(ret, n, "%s", text.text);
    case 'h':
        return snprintf(ret, n, "%u", entry->n_payload / 4);
    case 'w':
        return snprintf(ret, n, "%u", wanted_dwords(entry));
    case 'a':
        return snprintf(ret, n, "%u", s->n_arguments);
    case 'r':
        return snprintf(ret, n, "%u", 1u + entry->record->n_alternatives);
    case 'i':
        return snprintf(ret, n, "%llx", (unsigned long long)entry->id);
    case 'I':
        return snprintf(ret, n, "%012llx", (unsigned long long)entry->id);
    case 'l':
        return snprintf(ret, n, "%s",
                        entry->of->format->layout_text(entry->record->layout));
    default:
        return snprintf(ret, n, "%d", PFD_WIDTH_MAX);
    }
}

/* Writes a sentence, cut to ret's [n] bytes. */
static void describe(const struct pfd_entry *entry, const char *sentence,
                     char *ret, size_t n)
{
    size_t at = 0;
    while (*sentence && at < n) {
        size_t n_plain = strcspn(sentence, "$");
        at +=
            (size_t)snprintf(ret + at, n - at, "%.*s", (int)n_plain, sentence);
        sentence += n_plain;
        if (*sentence && at < n)
            at += (size_t)put_value(ret + at, n - at, entry, sentence[1]);
        sentence += *sentence ? 2 : 0;
    }
}

/* ---- entries of any kind ---- */

/* About the entry's place, whether its string is known or not. NULL: the kind
 * says something else. */
static const char *place_sentence(enum pfd_finding_kind kind)
{
    return kind == PFD_FINDING_stale
               ? "an earlier generation left the same bytes here, and nothing "
                 "tells whether they were written again"
           : kind == PFD_FINDING_late
               ? "written after its place had been given up, so it comes out "
                 "of order"
               : NULL;
}

void pfd_entry_finding_text(const struct pfd_entry *entry,
                            enum pfd_finding_kind kind, char *ret, size_t n)
{
    const char *sentence = place_sentence(kind);
    if (sentence) {
        snprintf(ret, n, "%s", sentence);
    } else if (entry->string) {
        describe(entry, sentence_of(entry, kind), ret, n);
    } else {
        unknown_text(entry, kind, ret, n);
    }
    if (entry->record->n_alternatives && OF_READINGS >> kind & 1)
        add_alternative(entry, ret, n);
}
