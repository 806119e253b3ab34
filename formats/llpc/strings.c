/* SPDX-License-Identifier: MIT */
/*
 * The string table that LLPC writes into PAL metadata: an ELF note "AMDGPU" of
 * type 32 (NT_AMDGPU_METADATA), a MessagePack map. Its key
 * "amdpal.format_strings" holds a map with ".version" and ".strings", an array
 * of maps. Source: LLPC 40cb8d95, LowerDebugPrintf::setupElfsPrintfStrings(),
 * and its document DdnDebugPrintf.md.
 */
#include <string.h>

#include "core/objects/metadata.h"
#include "layout.h"

enum {
    EM_AMDGPU = 224,
    NT_AMDGPU_METADATA = 32,
    TABLE_VERSION = 1,
    /* Arguments beyond the limit of an entry need no mask. */
    MASK_WORDS_MAX = (PFD_ARGUMENTS_MAX + 63) / 64,
    ROWS_AHEAD = 16,
};

static const char table_key[] = LLPC_TABLE_KEY;

struct loader {
    const struct pfd_format *format;
    unsigned machine;
    struct pfd_strings *strings;
    struct pfd_report *report;
    size_t n_rows;
    struct pfd_error *err;
};

/* A note of format strings that is being read. */
struct table {
    struct loader *loader;
    const struct pfd_metadata *metadata;
    const struct pfd_note *note;
};

/* The four values of a row. */
struct row {
    size_t i;
    uint64_t offset; /* in the file */
    const struct pfd_value *index;
    const struct pfd_value *string;
    const struct pfd_value *count;
    const struct pfd_value *mask;
    const struct pfd_value *separator;
};

/* A value's offset in the file, or the note's if it is unknown. */
static uint64_t file_offset(const struct table *table,
                            const struct pfd_value *value)
{
    uint64_t at = pfd_metadata_offset(table->metadata, value);
    return at == PFD_NO_OFFSET ? table->note->offset
                               : table->note->desc_offset + at;
}

/* The value of a map's key; adds a finding if the key occurs twice. */
static const struct pfd_value *get(const struct table *table,
                                   const struct pfd_value *map, const char *key)
{
    bool twice;
    const struct pfd_value *value = pfd_value_get(map, key, &twice);
    if (twice) {
        pfd_report_add(table->loader->report, PFD_FINDING_duplicate_key,
                       file_offset(table, map),
                       "the metadata has the key '%s' twice in one map: the "
                       "first one counts",
                       key);
    }
    return value;
}

/* Adds a finding that the key should have been `expected`; returns false. */
static bool bad_key(const struct table *table, const struct row *row,
                    const char *key, const struct pfd_value *found,
                    const char *expected)
{
    pfd_report_add(table->loader->report, PFD_FINDING_bad_string_row,
                   row->offset, "row %zu of %s: '%s' is %s, expected %s",
                   row->i, table_key, key, pfd_value_kind_name(found),
                   expected);
    return false;
}

static bool read_index(const struct table *table, const struct row *row,
                       uint64_t *ret)
{
    bool negative;
    if (!pfd_value_int(row->index, ret, &negative))
        return bad_key(table, row, ".index", row->index, "an integer");
    return true;
}

static bool read_text(const struct table *table, const struct row *row,
                      struct pfd_string_row *ret)
{
    /* LLVM's assembler writes nil for empty text. */
    if (pfd_value_kind(row->string) == PFD_VALUE_NIL) {
        ret->text = "";
        ret->n_text = 0;
        return true;
    }
    if (!pfd_value_bytes(row->string, &ret->text, &ret->n_text))
        return bad_key(table, row, ".string", row->string, "text");
    /* LLPC includes the terminating NUL; one is removed, as in xgl. */
    if (ret->n_text > 0 && ret->text[ret->n_text - 1] == '\0')
        ret->n_text--;
    if (ret->n_text <= PFD_TEXT_MAX)
        return true;
    pfd_report_add(table->loader->report, PFD_FINDING_bad_string_row,
                   row->offset,
                   "row %zu of %s: '.string' has %zu bytes, expected at most "
                   "%d",
                   row->i, table_key, ret->n_text, PFD_TEXT_MAX);
    return false;
}

static bool read_count(const struct table *table, const struct row *row,
                       uint64_t *ret)
{
    bool negative = false;
    *ret = 0;
    if (!row->count)
        return true;
    if (!pfd_value_int(row->count, ret, &negative))
        return bad_key(table, row, ".argument_count", row->count, "an integer");
    if (!negative)
        return true;
    pfd_report_add(table->loader->report, PFD_FINDING_bad_string_row,
                   row->offset,
                   "row %zu of %s: '.argument_count' is %lld, expected 0 or "
                   "more",
                   row->i, table_key, (long long)*ret);
    return false;
}

/* Fills words [MASK_WORDS_MAX] with the mask of the arguments; ret: the number
 * of words, without trailing zero words. */
static bool read_mask(const struct table *table, const struct row *row,
                      uint64_t n_arguments, uint64_t *words, size_t *ret)
{
    size_t n = 0;
    if (row->mask && pfd_value_kind(row->mask) != PFD_VALUE_ARRAY)
        return bad_key(table, row, ".64bit_arguments", row->mask, "an array");
    for (size_t i = 0; i < pfd_value_count(row->mask); i++) {
        const struct pfd_value *element = pfd_value_at(row->mask, i);
        uint64_t word;
        bool negative;
        if (!pfd_value_int(element, &word, &negative)) {
            return bad_key(table, row, ".64bit_arguments", element,
                           "integers only");
        }
        if (i >= MASK_WORDS_MAX || i * 64 >= n_arguments)
            continue;
        if (n_arguments - i * 64 < 64)
            word &= (UINT64_C(1) << (n_arguments - i * 64)) - 1;
        words[i] = word;
        if (word != 0)
            n = i + 1;
    }
    *ret = n;
    return true;
}

/* False: no entry can have this id; a finding was added. */
static bool check_id(const struct table *table, const struct row *row,
                     uint64_t id)
{
    if (id >> LLPC_ID_BITS == 0)
        return true;
    pfd_report_add(table->loader->report, PFD_FINDING_wide_index, row->offset,
                   "row %zu of %s: '.index' is 0x%llx, which does not fit "
                   "the %d bits that an entry has: no entry can name this "
                   "string",
                   row->i, table_key, (unsigned long long)id, LLPC_ID_BITS);
    return false;
}

/* Adds findings about a usable row. */
static bool check_row(const struct table *table, const struct row *row,
                      const struct pfd_string_row *read)
{
    if (!check_id(table, row, read->key))
        return false;
    size_t n_words = pfd_value_count(row->mask);
    if (n_words < read->n_arguments / 64 + (read->n_arguments % 64 != 0)) {
        pfd_report_add(table->loader->report, PFD_FINDING_short_bitmask,
                       row->offset,
                       "row %zu of %s: id 0x%012llx has %llu arguments, and "
                       "'.64bit_arguments' has bits for %llu: the rest are "
                       "taken as 32-bit",
                       row->i, table_key, (unsigned long long)read->key,
                       (unsigned long long)read->n_arguments,
                       (unsigned long long)n_words * 64);
    }
    return true;
}

/* ".vector_separator" is "," for OpenCL's printf, else ", ". */
static bool read_separator(const struct table *table, const struct row *row,
                           bool *ret)
{
    size_t n = 0;
    const char *text = NULL;
    bool is_text = pfd_value_bytes(row->separator, &text, &n);
    *ret = is_text && n == 1 && *text == ',';
    if (!row->separator || *ret ||
        (is_text && n == 2 && !memcmp(text, ", ", 2)))
        return true;
    return bad_key(table, row, ".vector_separator", row->separator,
                   "',' or ', '");
}

static enum pfd_status load_row(const struct table *table,
                                const struct row *row)
{
    struct loader *loader = table->loader;
    uint64_t words[MASK_WORDS_MAX];
    struct pfd_string_row read = { .layout = words };
    if (!read_index(table, row, &read.key) || !read_text(table, row, &read) ||
        !read_count(table, row, &read.n_arguments) ||
        !read_mask(table, row, read.n_arguments, words, &read.n_layout) ||
        !read_separator(table, row, &read.tight))
        return PFD_OK;
    loader->n_rows++;
    if (!check_row(table, row, &read))
        return PFD_OK;
    return pfd_strings_add_row(loader->strings, &loader->format->strings, &read,
                               loader->report, row->offset, loader->err);
}

/* ---- messages of OpAbortKHR ---- */

/* A message, in the layout words of llpc_is_abort(). */
struct abort_message {
    uint64_t words[PFD_LAYOUT_MAX];
    size_t n_words;
    uint32_t n_dwords;
    uint32_t n_constants;
};

static bool read_size(const struct table *table, const struct row *row,
                      const struct pfd_value *map, struct abort_message *ret)
{
    const struct pfd_value *count = get(table, map, ".data_count");
    uint64_t n = 0;
    bool negative = false;
    if (!pfd_value_int(count, &n, &negative) || negative)
        return bad_key(table, row, ".data_count", count, "a number of dwords");
    ret->words[0] = n;
    ret->n_dwords = (uint32_t)n;
    ret->n_words = 1;
    if (n <= PFD_ARGUMENTS_MAX && 1 + (n + 63) / 64 < PFD_LAYOUT_MAX)
        return true;
    pfd_report_add(table->loader->report, PFD_FINDING_bad_string_row,
                   row->offset,
                   "row %zu of %s: '.data_count' is %llu, more than an entry "
                   "holds",
                   row->i, table_key, (unsigned long long)n);
    return false;
}

static bool read_status(const struct table *table, const struct row *row,
                        const struct pfd_value *map, struct abort_message *ret)
{
    const struct pfd_value *status = get(table, map, ".constant_status");
    size_t n = (ret->n_dwords + 63u) / 64;
    if (status && pfd_value_kind(status) != PFD_VALUE_ARRAY)
        return bad_key(table, row, ".constant_status", status, "an array");
    for (size_t i = 0; i < n; i++) {
        const struct pfd_value *element = pfd_value_at(status, i);
        uint64_t word = 0;
        bool negative = false;
        if (element && !pfd_value_int(element, &word, &negative)) {
            return bad_key(table, row, ".constant_status", element,
                           "integers only");
        }
        if (ret->n_dwords - i * 64 < 64)
            word &= (UINT64_C(1) << (ret->n_dwords - i * 64)) - 1;
        ret->words[ret->n_words++] = word;
        ret->n_constants += (uint32_t)__builtin_popcountll(word);
    }
    return true;
}

/* The document names them `.constant` in its text, `.constants` in its
 * example. */
static bool read_constants(const struct table *table, const struct row *row,
                           const struct pfd_value *map,
                           struct abort_message *ret)
{
    const struct pfd_value *all = get(table, map, ".constants");
    if (!all)
        all = get(table, map, ".constant");
    if (pfd_value_count(all) < ret->n_constants ||
        ret->n_words + (ret->n_constants + 1) / 2 > PFD_LAYOUT_MAX) {
        pfd_report_add(
            table->loader->report, PFD_FINDING_bad_string_row, row->offset,
            "row %zu of %s: '.constant_status' has %u constants, "
            "'.constants' has %zu, at most %d are read",
            row->i, table_key, ret->n_constants, pfd_value_count(all),
            2 * (PFD_LAYOUT_MAX - (int)ret->n_words));
        return false;
    }
    for (size_t i = 0; i < ret->n_constants; i++) {
        const struct pfd_value *element = pfd_value_at(all, i);
        uint64_t value = 0;
        bool negative = false;
        if (!pfd_value_int(element, &value, &negative))
            return bad_key(table, row, ".constants", element, "integers only");
        if (i % 2 == 0)
            ret->words[ret->n_words++] = 0;
        ret->words[ret->n_words - 1] |= (value & UINT32_MAX) << (32 * (i % 2));
    }
    return true;
}

static enum pfd_status load_abort(const struct table *table,
                                  const struct row *row,
                                  const struct pfd_value *map)
{
    struct loader *loader = table->loader;
    struct abort_message message = { .n_words = 0 };
    struct pfd_string_row read = { .literal = true, .layout = message.words };
    struct pfd_text text = { 0 };
    if (!read_index(table, row, &read.key) ||
        !read_size(table, row, map, &message) ||
        !read_status(table, row, map, &message) ||
        !read_constants(table, row, map, &message))
        return PFD_OK;
    loader->n_rows++;
    read.n_layout = message.n_words;
    read.n_arguments = message.n_dwords - message.n_constants;
    if (!check_id(table, row, read.key))
        return PFD_OK;
    pfd_text_printf(&text, "shader abort message of %u dwords, %u constant",
                    message.n_dwords, message.n_constants);
    read.text = text.data;
    read.n_text = text.n;
    enum pfd_status status =
        text.failed
            ? pfd_fail(loader->err, PFD_ERR_NOMEM, row->offset, "out of memory")
            : pfd_strings_add_row(loader->strings, &loader->format->strings,
                                  &read, loader->report, row->offset,
                                  loader->err);
    pfd_text_free(&text);
    return status;
}

static enum pfd_status read_row(const struct table *table, size_t i,
                                const struct pfd_value *map)
{
    struct row row = { .i = i, .offset = file_offset(table, map) };
    if (pfd_value_kind(map) != PFD_VALUE_MAP) {
        pfd_report_add(table->loader->report, PFD_FINDING_bad_string_row,
                       row.offset, "row %zu of %s is %s, expected a map", i,
                       table_key, pfd_value_kind_name(map));
        return PFD_OK;
    }
    row.index = get(table, map, ".index");
    row.string = get(table, map, ".string");
    row.count = get(table, map, ".argument_count");
    row.mask = get(table, map, ".64bit_arguments");
    row.separator = get(table, map, ".vector_separator");
    if (!row.string && pfd_value_get(map, ".is_abort_message", NULL))
        return load_abort(table, &row, map);
    return load_row(table, &row);
}

static void check_version(const struct table *table,
                          const struct pfd_value *map)
{
    const struct pfd_value *version = get(table, map, ".version");
    uint64_t number;
    bool negative;
    if (!pfd_value_int(version, &number, &negative)) {
        pfd_report_add(table->loader->report, PFD_FINDING_version,
                       file_offset(table, map),
                       "'.version' of %s is %s, expected the integer %d: read "
                       "as version %d",
                       table_key, pfd_value_kind_name(version), TABLE_VERSION,
                       TABLE_VERSION);
    } else if (number != TABLE_VERSION) {
        pfd_report_add(
            table->loader->report, PFD_FINDING_version, file_offset(table, map),
            "'.version' of %s is %lld, expected %d: read as "
            "version %d",
            table_key, (long long)number, TABLE_VERSION, TABLE_VERSION);
    }
}

/* A table in another machine's file is not used, since the meaning of its ids
 * is unknown there. */
static bool right_machine(const struct table *table,
                          const struct pfd_value *map,
                          const struct pfd_value *rows)
{
    struct loader *loader = table->loader;
    if (loader->machine == EM_AMDGPU)
        return true;
    pfd_report_add(
        loader->report, PFD_FINDING_wrong_machine, file_offset(table, map),
        "%s in an ELF file for machine %u, expected %d (AMD GPU): "
        "its %zu rows are not used",
        table_key, loader->machine, EM_AMDGPU, pfd_value_count(rows));
    loader->n_rows += pfd_value_count(rows);
    return false;
}

static enum pfd_status read_table(const struct table *table,
                                  const struct pfd_value *map)
{
    const struct pfd_value *rows = get(table, map, ".strings");
    enum pfd_status status = PFD_OK;
    if (!right_machine(table, map, rows))
        return PFD_OK;
    check_version(table, map);
    /* A table without strings may be nil, or missing. */
    if (pfd_value_kind(rows) != PFD_VALUE_ARRAY &&
        pfd_value_kind(rows) != PFD_VALUE_NIL && rows) {
        pfd_report_add(table->loader->report, PFD_FINDING_bad_string_row,
                       file_offset(table, map),
                       "'.strings' of %s is %s, expected an array", table_key,
                       pfd_value_kind_name(rows));
    }
    for (size_t i = 0; i < pfd_value_count(rows) && status == PFD_OK; i++) {
        const struct pfd_value *row = pfd_value_at(rows, i);
        if (row)
            status = read_row(table, i, row);
    }
    return status;
}

static enum pfd_status read_metadata(struct table *table)
{
    const struct pfd_value *root = pfd_metadata_root(table->metadata);
    const struct pfd_value *map = get(table, root, table_key);
    if (!map)
        return PFD_OK;
    if (pfd_value_kind(map) == PFD_VALUE_MAP)
        return read_table(table, map);
    pfd_report_add(table->loader->report, PFD_FINDING_bad_string_row,
                   file_offset(table, root), "%s is %s, expected a map",
                   table_key, pfd_value_kind_name(map));
    return PFD_OK;
}

/* Defects of a note's contents are findings; only a lack of memory is an
 * error. */
static enum pfd_status report_unreadable(struct loader *loader,
                                         const struct pfd_note *note,
                                         const struct pfd_error *why)
{
    if (why->code == PFD_ERR_NOMEM) {
        if (loader->err)
            *loader->err = *why;
        return PFD_ERR_NOMEM;
    }
    uint64_t at = why->offset == PFD_NO_OFFSET ? 0 : why->offset;
    pfd_report_add(loader->report, PFD_FINDING_msgpack, note->desc_offset + at,
                   "the metadata note at 0x%llx is not MessagePack that can be "
                   "read: %s",
                   (unsigned long long)note->offset, why->text);
    return PFD_OK;
}

static enum pfd_status add_plain(struct loader *loader,
                                 const struct pfd_note *note,
                                 const struct llpc_note_table *plain)
{
    enum pfd_status status = PFD_OK;
    const struct pfd_string_kind *kind = &loader->format->strings;
    pfd_strings_expect(loader->strings, kind, plain->n);
    for (size_t i = 0; i < plain->n && status == PFD_OK; i++) {
        struct llpc_note_table_row row = llpc_note_table_at(plain, i);
        if (i + ROWS_AHEAD < plain->n) {
            pfd_strings_announce(loader->strings, kind,
                                 llpc_note_table_at(plain, i + ROWS_AHEAD).key);
        }
        struct pfd_string_row read = {
            .key = row.key,
            .text = row.text,
            .n_text = row.n_text,
            .n_arguments = row.n_arguments,
            .layout = &row.mask,
            .n_layout = row.mask != 0,
        };
        status =
            pfd_strings_add_row(loader->strings, kind, &read, loader->report,
                                note->desc_offset + row.offset, loader->err);
        loader->n_rows++;
    }
    return status;
}

/* Tries the fast reader, if memory is not accounted and the document needs no
 * findings. */
static bool read_plain(struct loader *loader, const struct pfd_note *note,
                       enum pfd_status *ret)
{
    struct llpc_note_table plain;
    if (loader->machine != EM_AMDGPU || note->room != SIZE_MAX ||
        !llpc_note_table_read(note->desc, &plain))
        return false;
    *ret = add_plain(loader, note, &plain);
    llpc_note_table_free(&plain);
    return true;
}

static enum pfd_status read_note(void *user, const struct pfd_note *note)
{
    struct loader *loader = user;
    struct pfd_metadata *metadata;
    struct pfd_error why;
    size_t n_used;
    if (note->type != NT_AMDGPU_METADATA || note->n_owner != 6 ||
        memcmp(note->owner, "AMDGPU", 6) != 0)
        return PFD_OK;
    enum pfd_status status = PFD_OK;
    if (read_plain(loader, note, &status))
        return status;
    status =
        pfd_metadata_open(note->desc, note->room, &metadata, &n_used, &why);
    if (status != PFD_OK)
        return report_unreadable(loader, note, &why);
    if (n_used < note->desc.n) {
        pfd_report_add(loader->report, PFD_FINDING_msgpack_tail,
                       note->desc_offset + n_used,
                       "the metadata note at 0x%llx has %zu bytes after its "
                       "map, which ends here",
                       (unsigned long long)note->offset, note->desc.n - n_used);
    }
    struct table table = {
        .loader = loader,
        .metadata = metadata,
        .note = note,
    };
    status = read_metadata(&table);
    pfd_metadata_free(metadata);
    return status;
}

enum pfd_status llpc_load(const struct pfd_format *self,
                          const struct pfd_image *image,
                          struct pfd_strings *strings,
                          struct pfd_report *report, size_t *n_rows,
                          struct pfd_error *err)
{
    struct loader loader = {
        .format = self,
        .machine = pfd_image_header(image)->machine,
        .strings = strings,
        .report = report,
        .err = err,
    };
    enum pfd_status status =
        pfd_image_notes(image, read_note, &loader, report, err);
    if (status != PFD_OK)
        return status;
    *n_rows = loader.n_rows;
    return llpc_load_rows(self, image, strings, report, n_rows, err);
}
