/* SPDX-License-Identifier: MIT */
/*
 * The entries of opened buffers, one after another. Decoding happens block by
 * block, while no GIL is held. An iterator belongs to one thread at a time: a
 * second one is refused; any number of iterators may read the same buffers.
 */
#include <string.h>

#include "opened.h"
#include "selection.h"
#include "stream/capture/chunk.h"

enum {
    BLOCK_BYTES = 256 << 10, /* of records that are decoded at once */
};

static PyTypeObject *entries_type;

/* Reads one buffer; needs no GIL. */
struct reading {
    const void *bytes;
    struct pfd_decoder *decoder;
    struct pfd_chunk_reader *reader; /* of chunks, the next of which is: */
    size_t chunk;
    struct pfd_filter_run *run;
    uint64_t skip;
    uint64_t left; /* of the limit */
    const char *format;
    bool is_over;
};

struct entries {
    PyObject_HEAD struct opened *opened;
    struct selection selection;
    bool findings;
    Py_ssize_t batch;
    size_t next;            /* buffer */
    struct reading reading; /* of the one before */
    bool is_open;
    struct block *block;
    size_t at; /* of the block's next record */
    bool is_busy;
    bool is_checked; /* the names of the condition */
    /* An exception that is raised behind what was read before it: behind the
     * block, or (is_due) at once; else NULL. */
    PyObject *failure[3];
    bool is_due;
};

/* ---- one buffer ---- */

static enum pfd_status open_decoder(const struct opened *o,
                                    const struct buffer *b, struct reading *r,
                                    struct pfd_error *err)
{
    size_t n = 0;
    struct pfd_convert is = { 0 };
    struct pfd_filter_facts facts;
    buffer_describe(b, &is, &facts);
    enum pfd_status status = pfd_decoder_new(o->strings->set, is.format,
                                             is.source, &r->decoder, err);
    if (status == PFD_OK)
        status = pfd_decoder_set_options(r->decoder, is.options, err);
    if (status == PFD_OK)
        status = buffer_map(b, &r->bytes, &n, err);
    if (status != PFD_OK)
        return status;
    pfd_decoder_set_holes(r->decoder, is.holes, is.n_holes);
    pfd_decoder_set_missing(r->decoder, is.missing, is.n_missing);
    return pfd_decoder_view(r->decoder, r->bytes, n, 0, true, err);
}

static enum pfd_status open_reading(const struct opened *o,
                                    const struct selection *selection,
                                    const struct buffer *b, struct reading *r,
                                    struct pfd_error *err)
{
    struct pfd_convert is = { 0 };
    struct pfd_filter_facts facts;
    enum pfd_status status = PFD_OK;
    buffer_describe(b, &is, &facts);
    *r = (struct reading){ .skip = selection->skip, .left = selection->limit };
    if (selection->filter) {
        status = pfd_filter_run_new(selection->filter, o->strings->set, &r->run,
                                    err);
    }
    if (status == PFD_OK && r->run)
        status = pfd_filter_run_set(r->run, &facts);
    if (status != PFD_OK)
        return status;
    if (buffer_is_chunks(b)) {
        return pfd_chunk_reader_new(o->strings->set, is.source, is.options,
                                    &r->reader, err);
    }
    return open_decoder(o, b, r, err);
}

static void close_reading(const struct buffer *b, struct reading *r)
{
    pfd_decoder_free(r->decoder);
    pfd_chunk_reader_free(r->reader);
    pfd_filter_run_free(r->run);
    if (r->bytes)
        buffer_unmap(b, r->bytes);
    *r = (struct reading){ 0 };
}

static void take_entry(const struct selection *selection, struct reading *r,
                       struct pfd_entry *entry, struct block_place place,
                       struct pfd_text *out)
{
    r->format = block_format(entry);
    if (!selection_has(selection, entry->index, &r->is_over))
        return;
    if (r->run && !pfd_filter_want(r->run, entry))
        return;
    if (r->skip) {
        r->skip--;
        return;
    }
    if (r->left) {
        block_add_entry(out, entry, place);
        r->left--;
    }
    r->is_over = !r->left;
}

static enum pfd_status next_decoded(const struct selection *selection,
                                    struct reading *r, bool findings,
                                    uint64_t time, struct pfd_text *out,
                                    struct pfd_error *err)
{
    struct pfd_item *item;
    enum pfd_status status = pfd_decoder_next(r->decoder, &item, err);
    if (status != PFD_OK)
        return status;
    if (item->is_entry) {
        const struct block_place place = { time, UINT64_MAX, false };
        take_entry(selection, r, item->entry, place, out);
    } else if (findings && !pfd_finding_is_note(item->finding->kind)) {
        block_add_finding(out, item->finding);
    }
    return PFD_OK;
}

/* A gap in a chunk, or a chunk that cannot be read. */
static void add_notice(struct pfd_text *out, enum pfd_finding_kind kind,
                       uint64_t count, const char *source, const char *text)
{
    const struct pfd_finding finding = { .kind = kind,
                                         .offset = PFD_NO_OFFSET,
                                         .index = PFD_NO_INDEX,
                                         .source = source,
                                         .text = text,
                                         .count = count };
    block_add_finding(out, &finding);
}

/* Opens the next chunk. PFD_END: there is none. */
static enum pfd_status next_chunk(const struct buffer *b, struct reading *r,
                                  bool findings, struct pfd_text *out,
                                  struct pfd_error *err)
{
    const struct pfd_capture_buffer *c = &b->captured;
    if (r->chunk == c->n_chunks)
        return PFD_END;
    const struct pfd_chunk_bytes *chunk = &c->chunks[r->chunk++];
    enum pfd_status status =
        pfd_chunk_reader_open(r->reader, chunk->bytes, chunk->n, err);
    if (r->run) {
        struct pfd_filter_facts facts = { .time_unix_ns = chunk->time,
                                          .generation = c->generation,
                                          .buffer = c->origin };
        pfd_filter_run_set(r->run, &facts);
    }
    if (status == PFD_OK || status == PFD_ERR_NOMEM)
        return status;
    if (findings)
        add_notice(out, PFD_FINDING_bad_frame, 0, c->name, err->text);
    return PFD_OK;
}

static enum pfd_status next_stored(const struct selection *selection,
                                   const struct buffer *b, struct reading *r,
                                   bool findings, struct pfd_text *out,
                                   struct pfd_error *err)
{
    struct pfd_chunk_item item;
    const struct pfd_capture_buffer *c = &b->captured;
    enum pfd_status status =
        r->chunk ? pfd_chunk_reader_next(r->reader, &item, err) : PFD_END;
    if (status == PFD_ERR_CORRUPT && findings)
        add_notice(out, PFD_FINDING_bad_frame, 0, c->name, err->text);
    if (status == PFD_END || status == PFD_ERR_CORRUPT)
        return next_chunk(b, r, findings, out, err);
    if (status != PFD_OK)
        return status;
    if (item.type == PFD_CHUNK_ENTRY) {
        const struct block_place place = { c->chunks[r->chunk - 1].time,
                                           UINT64_MAX, false };
        take_entry(selection, r, &item.entry, place, out);
    } else if (findings && item.type == PFD_CHUNK_FINDING &&
               !pfd_finding_is_note(item.finding.kind)) {
        block_add_finding(out, &item.finding);
    } else if (findings && item.type == PFD_CHUNK_GAP) {
        add_notice(out, PFD_FINDING_gap, item.gap.missed, c->name,
                   item.gap.reason);
    }
    return PFD_OK;
}

/* Decodes a block. PFD_END: the buffer is done; there may be records. */
static enum pfd_status fill(const struct entries *e, const struct buffer *b,
                            struct reading *r, struct pfd_text *out,
                            struct pfd_error *err)
{
    enum pfd_status status = PFD_OK;
    size_t n_whole = 0;
    while (status == PFD_OK && out->n < BLOCK_BYTES && !r->is_over) {
        n_whole = out->n;
        status = r->reader
                     ? next_stored(&e->selection, b, r, e->findings, out, err)
                     : next_decoded(&e->selection, r, e->findings,
                                    b->captured.time, out, err);
    }
    if (!out->failed)
        return r->is_over && status >= 0 ? PFD_END : status;
    out->n = n_whole;
    out->failed = false;
    return PFD_ERR_NOMEM;
}

/* ---- all buffers ---- */

static void drop_failure(struct entries *e)
{
    for (size_t i = 0; i < 3; i++)
        Py_CLEAR(e->failure[i]);
}

/* The exception that is set is raised later. */
static void put_off(struct entries *e, bool is_due)
{
    drop_failure(e);
    PyErr_Fetch(&e->failure[0], &e->failure[1], &e->failure[2]);
    e->is_due = is_due;
}

static bool raise_now(struct entries *e)
{
    PyErr_Restore(e->failure[0], e->failure[1], e->failure[2]);
    memset(e->failure, 0, sizeof e->failure);
    e->is_due = false;
    return false;
}

/* Does the condition name what there is? False: an exception is set. */
static bool check_names(struct entries *e)
{
    struct pfd_error err = { 0 };
    if (!e->selection.filter || e->is_checked)
        return true;
    e->is_checked = true;
    enum pfd_status status =
        pfd_filter_check(e->selection.filter, e->opened->strings->set, &err);
    return status == PFD_OK || core_raise(&err, status, NULL);
}

static bool use_block(struct entries *e, struct buffer *b,
                      struct pfd_text *records, const char *format)
{
    block_free(e->block);
    e->at = 0;
    e->block = buffer_info_set_format(b->info, format)
                   ? block_new(records, e->opened->strings, b->info)
                   : NULL;
    return e->block != NULL;
}

static bool begin_buffer(struct entries *e)
{
    struct buffer *b = &e->opened->buffers[e->next];
    struct pfd_error err = { 0 };
    enum pfd_status status;
    PyThreadState *others = PyEval_SaveThread();
    status = open_reading(e->opened, &e->selection, b, &e->reading, &err);
    if (status != PFD_OK)
        close_reading(b, &e->reading);
    PyEval_RestoreThread(others);
    e->next++;
    e->is_open = status == PFD_OK;
    return status == PFD_OK ||
           core_raise(&err, status,
                      b->capture ? b->captured.name : b->held.name);
}

/* The next block of the open buffer. False: an exception is set. */
static bool next_block(struct entries *e)
{
    struct buffer *b = &e->opened->buffers[e->next - 1];
    struct pfd_text records = { 0 };
    struct pfd_error err = { 0 };
    enum pfd_status status;
    const char *format;
    PyThreadState *others = PyEval_SaveThread();
    status = fill(e, b, &e->reading, &records, &err);
    format = e->reading.format;
    if (status != PFD_OK)
        close_reading(b, &e->reading);
    PyEval_RestoreThread(others);
    if (status != PFD_OK)
        e->is_open = false;
    bool ok = use_block(e, b, &records, format);
    pfd_text_free(&records);
    if (ok && status < 0) {
        core_raise(&err, status, NULL);
        put_off(e, false);
    }
    return ok;
}

/* Makes sure that the block has a record. False: there is none left, or an
 * exception is set. */
static bool more(struct entries *e)
{
    bool ok = !e->is_due || raise_now(e);
    while (ok && (!e->block || e->at >= block_size(e->block))) {
        if (e->failure[0]) {
            ok = raise_now(e);
        } else if (e->is_open) {
            ok = next_block(e);
        } else if (e->next < e->opened->n) {
            ok = begin_buffer(e);
        } else {
            return check_names(e) && false;
        }
    }
    return ok;
}

static PyObject *next_object(struct entries *e)
{
    if (!more(e))
        return NULL;
    return block_object(e->block, block_next(e->block, &e->at));
}

static PyObject *next_batch(struct entries *e)
{
    PyObject *ret = PyList_New(0);
    while (ret && PyList_Size(ret) < e->batch) {
        PyObject *one = next_object(e);
        bool failed = !one || PyList_Append(ret, one) < 0;
        Py_XDECREF(one);
        if (failed)
            break;
    }
    if (ret && PyList_Size(ret) == 0)
        Py_CLEAR(ret);
    if (ret && PyErr_Occurred())
        put_off(e, true);
    return ret;
}

static PyObject *entries_next(struct entries *e)
{
    if (e->is_busy) {
        PyErr_SetString(PyExc_ValueError,
                        "another thread is reading this iterator; give each "
                        "thread one of its own");
        return NULL;
    }
    e->is_busy = true;
    PyObject *ret = e->batch ? next_batch(e) : next_object(e);
    e->is_busy = false;
    return ret;
}

/* With findings over those between entries, too; with batch over lists of so
 * many. */
static PyObject *new_entries(struct opened *opened, PyObject *words,
                             bool findings, Py_ssize_t batch)
{
    struct entries *e = opened_ready(opened) ? core_new(entries_type) : NULL;
    if (!e)
        return NULL;
    e->opened = (struct opened *)Py_NewRef((PyObject *)opened);
    e->findings = findings;
    e->batch = batch;
    if (!selection_read(&e->selection, words))
        Py_CLEAR(e);
    return (PyObject *)e;
}

static void entries_dealloc(struct entries *e)
{
    if (e->is_open)
        close_reading(&e->opened->buffers[e->next - 1], &e->reading);
    drop_failure(e);
    selection_free(&e->selection);
    block_free(e->block);
    Py_XDECREF((PyObject *)e->opened);
    core_free(e);
}

/* entries(OPENED, selection, findings, batch) */
static PyObject *make(PyObject *module, PyObject *args)
{
    PyObject *opened;
    PyObject *words;
    int findings;
    Py_ssize_t batch;
    if (!PyArg_ParseTuple(args, "O!O!pn", core_opened_type, &opened,
                          &PyDict_Type, &words, &findings, &batch))
        return NULL;
    if (batch < 0)
        return core_raise_usage("a batch has at least one entry");
    return new_entries((struct opened *)opened, words, findings, batch);
}

static PyMethodDef functions[] = {
    { "entries", make, METH_VARARGS, "" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, entries_dealloc },
    { Py_tp_iter, PyObject_SelfIter },
    { Py_tp_iternext, entries_next },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "printfdecode._core.Entries",
    .basicsize = sizeof(struct entries),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

bool core_add_entries(PyObject *module)
{
    return core_add_type(module, &spec, &entries_type) &&
           PyModule_AddFunctions(module, functions) == 0;
}
