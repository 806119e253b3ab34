/* SPDX-License-Identifier: MIT */
/* Messages that format llpc finds: those of a code object's notes, as a .pfdb
 * has them, too. */
#include "string_rule.h"

/* A string of llpc that becomes a message. */
struct borrowed {
    const struct pfd_string *s;
    struct pfd_layout layout;
    uint64_t words[PFD_LAYOUT_MAX]; /* one for the facts, then the types */
    size_t n_types;
    uint32_t n_bytes; /* of its arguments */
};

/* Adds the type of an argument; equal ones in a row are components of one.
 * False: there are too many. */
static bool add_type(struct borrowed *b, enum pfd_store store)
{
    struct described_type last = { .n = 0 };
    if (b->n_types)
        last = described_unpack(b->words[b->n_types]);
    if (last.n && last.n < UINT8_MAX && last.store == store) {
        last.n++;
        last.run = last.n;
        b->words[b->n_types] = described_pack(&last);
        return true;
    }
    if (b->n_types + 1 == PFD_LAYOUT_MAX)
        return false;
    last = (struct described_type){
        .store = store,
        .conv = 'u',
        .n = 1,
        .run = 1,
    };
    b->words[++b->n_types] = described_pack(&last);
    return true;
}

/* NULL; or why a description cannot have this message. */
static const char *find_types(struct borrowed *b)
{
    b->n_types = 0;
    b->n_bytes = 0;
    if (b->s->flags & PFD_STRING_LITERAL)
        return "it is a text or an abort message";
    for (size_t i = 0; i < b->layout.n_slots; i++) {
        const struct pfd_slot *slot = &b->layout.slots[i];
        if (slot->store != PFD_STORE_DWORD && slot->store != PFD_STORE_QWORD)
            return "its arguments are more than numbers";
        if (!add_type(b, (enum pfd_store)slot->store))
            return "its arguments are too many";
        b->n_bytes += pfd_slot_bytes(slot);
    }
    if (b->s->flags & PFD_STRING_OWN && b->layout.n_payload != b->n_bytes)
        return "its entries have more than arguments";
    return NULL;
}

static void take(struct string_taker *t, struct borrowed *b)
{
    const char *why = find_types(b);
    if (why) {
        pfd_report_add(t->report, PFD_FINDING_bad_string_row, PFD_NO_OFFSET,
                       "the message with id 0x%llx is left to format llpc: %s",
                       (unsigned long long)b->s->key, why);
        return;
    }
    string_take_typed(t, b->s, b->words, b->n_types);
}

static enum pfd_status take_all(struct string_taker *t,
                                struct pfd_strings *from)
{
    struct borrowed b;
    for (size_t i = 0;
         t->status == PFD_OK && (b.s = pfd_strings_at(from, i)) != NULL; i++) {
        if (!pfd_strings_lay_out(from, i, &b.layout)) {
            return pfd_fail(t->err, PFD_ERR_NOMEM, PFD_NO_OFFSET,
                            "out of memory");
        }
        take(t, &b);
    }
    return t->status;
}

enum pfd_status described_load(const struct pfd_format *self,
                               const struct pfd_image *image,
                               struct pfd_strings *strings,
                               struct pfd_report *report, size_t *n_rows,
                               struct pfd_error *err)
{
    struct string_taker t;
    *n_rows = 0;
    if (!string_taker_start(&t, self, strings, report, err) ||
        t.rule.numbers[RULE_FROM] != FROM_LLPC)
        return PFD_OK;
    const struct pfd_format *llpc = pfd_format_find("llpc");
    struct pfd_strings *theirs = pfd_strings_new();
    /* llpc itself reports findings there. */
    struct pfd_report none = { .source = report->source };
    size_t n = 0;
    if (!theirs)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    pfd_strings_set_room(theirs, pfd_strings_room(strings));
    enum pfd_status status = llpc->load(llpc, image, theirs, &none, &n, err);
    if (status == PFD_OK)
        status = take_all(&t, theirs);
    pfd_strings_free(theirs);
    *n_rows = t.n_rows;
    return status;
}
