/* SPDX-License-Identifier: MIT */
/*
 * Rows as packets of one sequence. The first packet defines the clock of their
 * times; repeated names are sent once and then referred to by number.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/table/column.h"
#include "analysis/trace/protobuf.h"
#include "analysis/trace/trace.h"
#include "core/base/dictionary.h"
#include "core/base/escape.h"
#include "core/base/fnv.h"
#include "core/output/value_rows.h"
#include "core/strings/strings.h"

/* Of texts that have a number. */
enum {
    NUMBERED_MAX = 1 << 16,
    NUMBERED_BYTES_MAX = 512, /* of one */
};

/*
 * The fields of Perfetto's trace that are written. Numbers are those of the
 * published schema, https://github.com/google/perfetto, protos/perfetto/trace,
 * in the files named here; published numbers never change.
 */

enum pfd_perfetto {
    /* trace.proto: Trace */
    TRACE_PACKET = 1,
    /* trace_packet.proto: TracePacket */
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8, /* ns */
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TIMESTAMP_CLOCK_ID = 58,
    PACKET_TRACK_DESCRIPTOR = 60,
    SEQUENCE_STATE_CLEARED = 1,
    SEQUENCE_NEEDS_STATE = 2,
    /* clock_snapshot.proto: ClockSnapshot, and a Clock in it */
    SNAPSHOT_CLOCKS = 1,
    SNAPSHOT_PRIMARY_CLOCK = 2,
    CLOCK_ID = 1,
    CLOCK_TIMESTAMP = 2,
    /* common/builtin_clock.proto: BuiltinClock */
    BUILTIN_CLOCK_REALTIME = 1,
    /* track_event/track_descriptor.proto: TrackDescriptor */
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PARENT_UUID = 5,
    TRACK_COUNTER = 8,
    /* track_event/track_event.proto: TrackEvent */
    EVENT_DEBUG_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK_UUID = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30,
    EVENT_DOUBLE_COUNTER_VALUE = 44,
    EVENT_TYPE_INSTANT = 3,
    EVENT_TYPE_COUNTER = 4,
    /* track_event/debug_annotation.proto: DebugAnnotation */
    ANNOTATION_NAME_IID = 1,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_STRING = 6,
    ANNOTATION_POINTER = 7,
    ANNOTATION_NAME = 10,
    /* interned_data/interned_data.proto: InternedData; each has an iid and a
     * name (EventName, DebugAnnotationName) */
    INTERNED_EVENT_NAMES = 2,
    INTERNED_ANNOTATION_NAMES = 3,
    INTERNED_IID = 1,
    INTERNED_NAME = 2,
};

enum {
    SEQUENCE = 1, /* the number of the only sequence; any but 0 */
    FLUSH_AT = 1 << 16,
    N_VALUE = 128,   /* bytes of three numbers */
    NAMED_MAX = 256, /* later columns are known by their place anyway */
    AROUND = 64,     /* bytes of a packet around its messages */
};

/* The columns of a format string, looked up on first use. */
struct named {
    struct pfd_column *columns; /* [n], owned; NULL: not looked up yet */
    size_t n;
    size_t next; /* the one looked up before this; SIZE_MAX: none */
};

struct pfd_trace {
    struct pfd_trace_spec spec;
    struct pfd_consumer consumer;
    struct pfd_text out;
    struct pfd_text text;  /* escaped text */
    struct pfd_text fresh; /* interned data for the next packet */
    struct pfd_dictionary events;
    struct pfd_dictionary words;    /* names of annotations */
    struct pfd_dictionary tracks;   /* of buffers, by their uuids */
    struct pfd_dictionary counters; /* likewise */
    struct named *named;            /* [n_named], of spec.strings */
    size_t n_named;
    size_t last_named; /* the one looked up last; SIZE_MAX: none */
    uint64_t track;    /* of the source */
    struct pfd_text source;
    bool is_new_source;
    bool is_begun;
    struct pfd_trace_counts counts;
    bool failed;
    bool stopped;
};

/* ---- texts ---- */

/* A text as UTF-8, which all strings of a trace need. Valid until the next
 * call. */
static const char *safe_text(struct pfd_trace *t, const char *text, size_t *n)
{
    if (pfd_is_utf8(text, *n))
        return text;
    t->text.n = 0;
    for (size_t i = 0; i < *n;) {
        size_t n_char = pfd_utf8_length(text + i, *n - i);
        char *at = pfd_text_reserve(&t->text, 4);
        if (!at)
            break;
        if (n_char) {
            pfd_text_add(&t->text, text + i, n_char);
        } else {
            t->text.n += (size_t)(pfd_escape_byte(at, text[i]) - at);
        }
        i += n_char ? n_char : 1;
    }
    *n = t->text.n;
    return t->text.data;
}

static void add_text(struct pfd_trace *t, struct pfd_text *out, unsigned field,
                     const char *text, size_t n)
{
    text = safe_text(t, text, &n);
    pfd_protobuf_bytes(out, field, text, n);
}

/* Mixed once more, chained through h. */
static uint64_t chain_hash(uint64_t h, const void *bytes, size_t n)
{
    h = pfd_fnv1a(h ^ PFD_FNV_START, bytes, n);
    return h ^ h >> 29;
}

/* The number of these bytes, from 1 on; *is_new: they were added now. 0: they
 * were refused. */
static uint32_t number_of(struct pfd_dictionary *dictionary, const void *bytes,
                          size_t n, bool *is_new)
{
    uint32_t before = dictionary->n;
    *is_new = false;
    if (n > NUMBERED_BYTES_MAX ||
        (before == NUMBERED_MAX &&
         pfd_dictionary_find(dictionary, bytes, n) == UINT32_MAX))
        return 0;
    uint32_t ret = pfd_dictionary_add(dictionary, bytes, n);
    *is_new = dictionary->n > before;
    return dictionary->failed ? 0 : ret + 1;
}

/* Adds a name by number, or the name itself if it has none. */
static void add_name(struct pfd_trace *t, struct pfd_dictionary *dictionary,
                     unsigned interned, unsigned iid, unsigned name,
                     const char *text, size_t n)
{
    bool is_new = false;
    text = safe_text(t, text, &n);
    uint32_t number = number_of(dictionary, text, n, &is_new);
    if (is_new) {
        size_t begin = pfd_protobuf_begin(&t->fresh, interned);
        pfd_protobuf_uint(&t->fresh, INTERNED_IID, number);
        pfd_protobuf_bytes(&t->fresh, INTERNED_NAME, text, n);
        pfd_protobuf_end(&t->fresh, begin);
    }
    if (number) {
        pfd_protobuf_uint(&t->out, iid, number);
    } else {
        pfd_protobuf_bytes(&t->out, name, text, n);
    }
}

/* ---- packets ---- */

static size_t begin_packet(struct pfd_trace *t)
{
    size_t packet = pfd_protobuf_begin(&t->out, TRACE_PACKET);
    pfd_protobuf_uint(&t->out, PACKET_SEQUENCE_ID, SEQUENCE);
    return packet;
}

static size_t begin_timed(struct pfd_trace *t, uint64_t time)
{
    size_t packet = begin_packet(t);
    pfd_protobuf_uint(&t->out, PACKET_TIMESTAMP, time);
    pfd_protobuf_uint(&t->out, PACKET_TIMESTAMP_CLOCK_ID,
                      BUILTIN_CLOCK_REALTIME);
    pfd_protobuf_uint(&t->out, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
    return packet;
}

/* Times are those of CLOCK_REALTIME, which is also the trace's clock. */
static void begin_trace(struct pfd_trace *t, uint64_t time)
{
    size_t packet = begin_packet(t);
    pfd_protobuf_uint(&t->out, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
    size_t snapshot = pfd_protobuf_begin(&t->out, PACKET_CLOCK_SNAPSHOT);
    size_t clock = pfd_protobuf_begin(&t->out, SNAPSHOT_CLOCKS);
    pfd_protobuf_uint(&t->out, CLOCK_ID, BUILTIN_CLOCK_REALTIME);
    pfd_protobuf_uint(&t->out, CLOCK_TIMESTAMP, time);
    pfd_protobuf_end(&t->out, clock);
    pfd_protobuf_uint(&t->out, SNAPSHOT_PRIMARY_CLOCK, BUILTIN_CLOCK_REALTIME);
    pfd_protobuf_end(&t->out, snapshot);
    pfd_protobuf_end(&t->out, packet);
    t->is_begun = true;
}

/* parent 0: none; of a counter, its column's name follows the text. */
static void add_track(struct pfd_trace *t, uint64_t uuid, uint64_t parent,
                      const char *text, size_t n, const char *column)
{
    size_t packet = begin_packet(t);
    size_t track = pfd_protobuf_begin(&t->out, PACKET_TRACK_DESCRIPTOR);
    pfd_protobuf_uint(&t->out, TRACK_UUID, uuid);
    text = safe_text(t, text, &n);
    size_t n_column = column ? strlen(column) + 2 : 0;
    pfd_protobuf_raw(&t->out, TRACK_NAME << 3 | PFD_PROTOBUF_LEN);
    pfd_protobuf_raw(&t->out, n + n_column);
    pfd_text_add(&t->out, text, n);
    if (column)
        pfd_text_printf(&t->out, ": %s", column);
    if (parent)
        pfd_protobuf_uint(&t->out, TRACK_PARENT_UUID, parent);
    if (column)
        pfd_protobuf_bytes(&t->out, TRACK_COUNTER, "", 0);
    pfd_protobuf_end(&t->out, track);
    pfd_protobuf_end(&t->out, packet);
}

/* ---- columns ---- */

static void name_columns(struct pfd_trace *t, size_t string,
                         struct named *named)
{
    size_t n = pfd_strings_columns(t->spec.strings, string, NULL, 0);
    n = n < NAMED_MAX ? n : NAMED_MAX;
    named->columns = calloc(n + 1, sizeof *named->columns);
    if (!named->columns) {
        t->failed = true;
        return;
    }
    named->n = n;
    named->next = t->last_named;
    t->last_named = string;
    pfd_strings_columns(t->spec.strings, string, named->columns, n);
}

static const struct named *columns_of(struct pfd_trace *t,
                                      const struct pfd_row *row)
{
    static const struct named none = { 0 };
    if (row->string >= PFD_ROW_NO_STRING)
        return &none;
    if (row->string >= t->n_named) {
        size_t n = pfd_strings_count(t->spec.strings);
        struct named *more = realloc(t->named, n * sizeof *more);
        if (!more || row->string >= n) {
            t->named = more ? more : t->named;
            t->failed |= !more;
            return &none;
        }
        memset(more + t->n_named, 0, (n - t->n_named) * sizeof *more);
        t->named = more;
        t->n_named = n;
    }
    struct named *named = &t->named[row->string];
    if (!named->columns && row->n_cells)
        name_columns(t, row->string, named);
    return named;
}

static const char *column_name(const struct named *named, size_t i,
                               char room[16])
{
    if (i < named->n)
        return named->columns[i].name;
    snprintf(room, 16, "a%u", (unsigned)i);
    return room;
}

/* ---- annotations of an instant ---- */

static size_t begin_annotation(struct pfd_trace *t, const char *name)
{
    size_t begin = pfd_protobuf_begin(&t->out, EVENT_DEBUG_ANNOTATIONS);
    add_name(t, &t->words, INTERNED_ANNOTATION_NAMES, ANNOTATION_NAME_IID,
             ANNOTATION_NAME, name, strlen(name));
    return begin;
}

static void annotate_text(struct pfd_trace *t, const char *name,
                          const char *text, size_t n)
{
    size_t begin = begin_annotation(t, name);
    add_text(t, &t->out, ANNOTATION_STRING, text, n);
    pfd_protobuf_end(&t->out, begin);
}

static void annotate_number(struct pfd_trace *t, const char *name,
                            unsigned field, uint64_t value)
{
    size_t begin = begin_annotation(t, name);
    pfd_protobuf_uint(&t->out, field, value);
    pfd_protobuf_end(&t->out, begin);
}

static void annotate_cell(struct pfd_trace *t, const char *name,
                          const struct pfd_row *row,
                          const struct pfd_cell *cell)
{
    switch (cell->type) {
    case PFD_ARGUMENT_TEXT:
        if (cell->n_text == PFD_ROW_NULL) {
            annotate_number(t, name, ANNOTATION_POINTER, 0);
        } else {
            annotate_text(t, name, pfd_row_text(row, cell), cell->n_text);
        }
        return;
    case PFD_ARGUMENT_FLOAT: {
        size_t begin = begin_annotation(t, name);
        pfd_protobuf_double(&t->out, ANNOTATION_DOUBLE,
                            pfd_float_value(cell->bits, cell->n_bytes));
        pfd_protobuf_end(&t->out, begin);
        return;
    }
    case PFD_ARGUMENT_INT:
        annotate_number(t, name, ANNOTATION_INT, cell->bits);
        return;
    case PFD_ARGUMENT_UNSIGNED:
        annotate_number(t, name,
                        cell->conversion == 'p' ? ANNOTATION_POINTER
                                                : ANNOTATION_UINT,
                        cell->bits);
        return;
    default:
        return;
    }
}

static void annotate_origin(struct pfd_trace *t, const struct pfd_row *row,
                            const struct pfd_row_origin *o)
{
    char value[N_VALUE] = "";
    size_t n = 0;
    switch ((enum pfd_origin_type)o->type) {
    case PFD_ORIGIN_NUMBER:
        annotate_number(t, o->name, ANNOTATION_UINT, o->value[0]);
        return;
    case PFD_ORIGIN_HEX:
        annotate_number(t, o->name, ANNOTATION_POINTER, o->value[0]);
        return;
    case PFD_ORIGIN_TEXT:
        annotate_text(t, o->name, pfd_row_bytes(row, o->text), o->text.n);
        return;
    case PFD_ORIGIN_COORDS:
    case PFD_ORIGIN_FLOATS:
        break;
    }
    for (uint32_t i = 0; i < o->n && i < 3; i++) {
        const char *comma = i ? "," : "";
        int more = o->type == PFD_ORIGIN_FLOATS
                       ? snprintf(value + n, sizeof value - n, "%s%.9g", comma,
                                  pfd_float_value(o->value[i], 4))
                       : snprintf(value + n, sizeof value - n, "%s%llu", comma,
                                  (unsigned long long)o->value[i]);
        n += (size_t)more;
    }
    annotate_text(t, o->name, value, n);
}

static void annotate_findings(struct pfd_trace *t, uint64_t findings)
{
    for (uint64_t left = findings; left; left &= left - 1) {
        const char *name =
            pfd_finding_name((enum pfd_finding_kind)__builtin_ctzll(left));
        annotate_text(t, "finding", name, strlen(name));
    }
}

/* ---- an entry ---- */

/* The format string, without its newline. */
static const char *event_name(const struct pfd_trace *t,
                              const struct pfd_row *row, size_t *n)
{
    const char *text = "unknown id";
    *n = strlen(text);
    if (row->string == PFD_ROW_SYNTHESIZED) {
        text = pfd_row_bytes(row, row->text);
        *n = row->text.n;
    } else if (row->string < PFD_ROW_NO_STRING) {
        const struct pfd_string *string =
            pfd_strings_at(t->spec.strings, row->string);
        text = string ? pfd_string_text(string) : "";
        *n = string ? string->n_text : 0;
    }
    while (*n && (text[*n - 1] == '\n' || text[*n - 1] == '\r'))
        --*n;
    return text;
}

/* False: it is longer than a message may be. */
static bool add_instant(struct pfd_trace *t, const struct pfd_row *row)
{
    char id[24];
    char room[16];
    size_t n = 0;
    const char *name = event_name(t, row, &n);
    const struct named *named = columns_of(t, row);
    size_t packet = begin_timed(t, row->time);
    size_t event = pfd_protobuf_begin(&t->out, PACKET_TRACK_EVENT);
    pfd_protobuf_uint(&t->out, EVENT_TYPE, EVENT_TYPE_INSTANT);
    pfd_protobuf_uint(&t->out, EVENT_TRACK_UUID, t->track);
    add_name(t, &t->events, INTERNED_EVENT_NAMES, EVENT_NAME_IID, EVENT_NAME,
             name, n);
    if (row->message.n) {
        annotate_text(t, "message", pfd_row_bytes(row, row->message),
                      row->message.n);
    }
    for (size_t i = 0; i < row->n_cells; i++) {
        annotate_cell(t, column_name(named, i, room), row,
                      &pfd_row_cells(row)[i]);
    }
    for (size_t i = 0; i < row->n_origins; i++)
        annotate_origin(t, row, &pfd_row_origins(row)[i]);
    int n_id =
        snprintf(id, sizeof id, "0x%012llx", (unsigned long long)row->id);
    annotate_text(t, "id", id, (size_t)n_id);
    annotate_number(t, "index", ANNOTATION_UINT, row->index);
    annotate_findings(t, row->findings);
    if (!pfd_protobuf_end(&t->out, event) ||
        t->out.n - packet + t->fresh.n + AROUND > PFD_PROTOBUF_LENGTH_MAX)
        return false;
    if (t->fresh.n) {
        pfd_protobuf_bytes(&t->out, PACKET_INTERNED_DATA, t->fresh.data,
                           t->fresh.n);
        t->fresh.n = 0;
    }
    return pfd_protobuf_end(&t->out, packet);
}

/* Is it a number that varies, rather than an address or a mask? */
static bool is_counter(const struct pfd_cell *cell)
{
    return cell->type != PFD_CELL_ABSENT && cell->type != PFD_ARGUMENT_TEXT &&
           cell->conversion && strchr("diuaefgAEFG", cell->conversion);
}

static void add_counter(struct pfd_trace *t, const struct pfd_row *row,
                        size_t i, const struct named *named)
{
    char room[16];
    const struct pfd_cell *cell = &pfd_row_cells(row)[i];
    bool is_float = cell->type == PFD_ARGUMENT_FLOAT;
    double d = is_float ? pfd_float_value(cell->bits, cell->n_bytes) : 0;
    if (!isfinite(d)) {
        t->counts.unbounded++;
        return;
    }
    bool is_new = false;
    size_t n = 0;
    const char *text = event_name(t, row, &n);
    uint64_t uuid = chain_hash(t->track ^ row->id, text, n) + i;
    if (!number_of(&t->counters, &uuid, sizeof uuid, &is_new)) {
        t->counts.uncounted++;
        return;
    }
    if (is_new)
        add_track(t, uuid, t->track, text, n, column_name(named, i, room));
    size_t packet = begin_timed(t, row->time);
    size_t event = pfd_protobuf_begin(&t->out, PACKET_TRACK_EVENT);
    pfd_protobuf_uint(&t->out, EVENT_TYPE, EVENT_TYPE_COUNTER);
    pfd_protobuf_uint(&t->out, EVENT_TRACK_UUID, uuid);
    if (is_float) {
        pfd_protobuf_double(&t->out, EVENT_DOUBLE_COUNTER_VALUE, d);
    } else if (cell->type == PFD_ARGUMENT_UNSIGNED && cell->bits > INT64_MAX) {
        pfd_protobuf_double(&t->out, EVENT_DOUBLE_COUNTER_VALUE,
                            (double)cell->bits);
    } else {
        pfd_protobuf_uint(&t->out, EVENT_COUNTER_VALUE, cell->bits);
    }
    pfd_protobuf_end(&t->out, event);
    pfd_protobuf_end(&t->out, packet);
    t->counts.counters++;
}

/* Buffers of equal name share a track. */
static void add_source(struct pfd_trace *t)
{
    bool is_new = false;
    number_of(&t->tracks, &t->track, sizeof t->track, &is_new);
    if (is_new)
        add_track(t, t->track, 0, t->source.data, t->source.n, NULL);
    t->is_new_source = false;
}

static void add_row(struct pfd_trace *t, const struct pfd_row *row)
{
    if (row->string == PFD_ROW_LINE)
        return;
    if (!row->time) {
        t->counts.untimed++;
        return;
    }
    if (!t->is_begun)
        begin_trace(t, row->time);
    if (t->is_new_source)
        add_source(t);
    size_t before = t->out.n;
    if (!add_instant(t, row)) {
        t->out.n = before;
        t->counts.over_large++;
        return;
    }
    t->counts.instants++;
    const struct named *named = columns_of(t, row);
    for (size_t i = 0; i < row->n_cells; i++) {
        if (is_counter(&pfd_row_cells(row)[i]))
            add_counter(t, row, i, named);
    }
}

/* ---- public ---- */

static bool hand_over(struct pfd_trace *t)
{
    t->failed |= t->out.failed || t->text.failed || t->fresh.failed ||
                 t->source.failed || t->events.failed || t->words.failed ||
                 t->tracks.failed || t->counters.failed;
    if (t->out.n && !t->stopped && !t->failed &&
        !t->spec.write(t->spec.write_user, t->out.data, t->out.n))
        t->stopped = true;
    t->out.n = 0;
    return !t->stopped && !t->failed;
}

bool pfd_trace_write(void *user, const void *bytes, size_t n)
{
    struct pfd_trace *t = user;
    const struct pfd_row *row;
    for (size_t at = 0; (row = pfd_row_next(bytes, n, &at));) {
        add_row(t, row);
        if (t->out.n >= FLUSH_AT && !hand_over(t))
            return false;
    }
    return hand_over(t);
}

const struct pfd_consumer *pfd_trace_consumer(const struct pfd_trace *t)
{
    return &t->consumer;
}

/* Drops the looked-up names: another set may have the same address. */
void pfd_trace_set_strings(struct pfd_trace *t,
                           const struct pfd_strings *strings)
{
    while (t->last_named != SIZE_MAX) {
        struct named *named = &t->named[t->last_named];
        t->last_named = named->next;
        free(named->columns);
        *named = (struct named){ 0 };
    }
    t->spec.strings = strings;
}

void pfd_trace_set_source(struct pfd_trace *t, const char *name)
{
    t->source.n = 0;
    pfd_text_puts(&t->source, name);
    t->track = chain_hash(1, name, strlen(name));
    t->track += !t->track; /* 0 is the whole trace's */
    t->is_new_source = true;
}

enum pfd_status pfd_trace_end(const struct pfd_trace *t,
                              struct pfd_trace_counts *counts)
{
    *counts = t->counts;
    return t->failed ? PFD_ERR_NOMEM : t->stopped ? PFD_ERR_STOPPED : PFD_OK;
}

enum pfd_status pfd_trace_new(const struct pfd_trace_spec *spec,
                              struct pfd_trace **ret, struct pfd_error *err)
{
    struct pfd_trace *t = calloc(1, sizeof *t);
    if (!t)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    t->spec = *spec;
    t->consumer = (struct pfd_consumer){ .sink = &pfd_sink_rows,
                                         .pieces = true,
                                         .take = pfd_trace_write,
                                         .user = t };
    t->last_named = SIZE_MAX;
    pfd_trace_set_source(t, "");
    *ret = t;
    return PFD_OK;
}

void pfd_trace_free(struct pfd_trace *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_named; i++)
        free(t->named[i].columns);
    free(t->named);
    pfd_dictionary_free(&t->events);
    pfd_dictionary_free(&t->words);
    pfd_dictionary_free(&t->tracks);
    pfd_dictionary_free(&t->counters);
    pfd_text_free(&t->out);
    pfd_text_free(&t->text);
    pfd_text_free(&t->fresh);
    pfd_text_free(&t->source);
    free(t);
}
