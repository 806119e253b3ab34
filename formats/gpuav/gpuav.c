/* SPDX-License-Identifier: MIT */
/*
 * The error buffer of the Vulkan validation layer's GPU-assisted validation.
 * Its records by age, and their sources, are in README.md beside this file.
 */
#include "gpuav.h"

#include <string.h>

#include "khronos.h"
#include "shaders.h"

#define FINDING(kind) (UINT64_C(1) << PFD_FINDING_##kind)

enum {
    DWORD = GPUAV_DWORD,
    /* Words before the error: what a record's payload begins behind. */
    HEADER = 7 * DWORD,
    RECORD_MAX = 16, /* dwords */
};

struct state {
    bool opened;
    uint8_t data;    /* dword of the first record: 1, or 2 since 1.3.236 */
    uint32_t wanted; /* dwords */
    uint64_t end_of_last;
    bool ended;      /* no more records */
    uint64_t bad_at; /* what is no record; 0: nothing */
    uint32_t bad_size;
    bool closed;
    uint32_t same_size; /* of all records so far; 0: they differ */
    bool any;
};

static bool is_size(uint32_t n)
{
    return (n >= 8 && n <= 14) || n == 16;
}

static uint32_t word(const uint8_t *bytes, size_t i)
{
    uint32_t v;
    memcpy(&v, bytes + DWORD * i, sizeof v);
    return v;
}

/* ---- the walk ---- */

static enum pfd_status open_buffer(struct pfd_walk *w, struct state *st)
{
    enum {
        LOOK = (2 + RECORD_MAX) * DWORD
    };
    if (!w->last && w->view.n < LOOK)
        return PFD_MORE;
    if (w->view.n < 2 * DWORD) {
        pfd_walk_finding(w, PFD_FINDING_no_header, 0,
                         "%zu bytes, a buffer's header needs 4 or 8",
                         w->view.n);
        w->batch->skipped_bytes += w->view.n;
        w->at = w->view.n;
        return PFD_END;
    }
    uint32_t first = pfd_walk_u32(w, 0);
    uint32_t second = pfd_walk_u32(w, DWORD);
    /* A count is never below a record's size; flags are. */
    st->data = is_size(second) && first >= second ? 1 : 2;
    st->wanted = st->data == 1 ? first : second;
    st->opened = true;
    w->at = st->data * (uint64_t)DWORD;
    st->end_of_last = w->at;
    return PFD_OK;
}

/* The layer's own checks leave all of the header 0, its size, too: all but
 * the error, 8 or 9. */
static bool is_own_check(const struct pfd_walk *w, uint64_t at, uint64_t end)
{
    if (end - at < GPUAV_OWN_CHECK * DWORD)
        return false;
    for (uint64_t i = 0; i < 7; i++) {
        if (pfd_walk_u32(w, at + i * DWORD))
            return false;
    }
    uint32_t error = pfd_walk_u32(w, at + 7 * (uint64_t)DWORD);
    return error == 8 || error == 9;
}

static void add_record(struct pfd_walk *w, struct state *st, uint32_t size)
{
    struct gpuav_record record;
    uint32_t n_bytes = size * DWORD;
    uint8_t bytes[RECORD_MAX * DWORD] = { 0 };
    for (uint32_t i = 0; i < size; i++) {
        uint32_t v = pfd_walk_u32(w, w->at + (uint64_t)i * DWORD);
        memcpy(bytes + (size_t)i * DWORD, &v, sizeof v);
    }
    gpuav_read(bytes, size, &record);
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = w->at,
        .key = gpuav_id(&record),
        .n_bytes = n_bytes,
        .n_header = size < 10 ? HEADER - DWORD : HEADER,
        .flags = PFD_RECORD_MADE,
        .kind = PFD_RECORD_ENTRY,
    };
    w->at += n_bytes;
    st->end_of_last = w->at;
    st->same_size = !st->any || st->same_size == size ? size : 0;
    st->any = true;
}

static void report_loss(struct pfd_walk *w, const struct state *st)
{
    uint64_t stored = st->end_of_last / DWORD - st->data;
    uint64_t wanted = st->wanted;
    if (wanted <= stored)
        return;
    uint64_t lost = wanted - stored;
    bool exact = st->same_size && lost % st->same_size == 0;
    w->batch->lost_bytes += lost * DWORD;
    pfd_walk_finding(w, PFD_FINDING_overflow, st->end_of_last,
                     "%llu dwords of records were wanted, %llu are stored: "
                     "%llu dwords (%llu bytes) lost%s; a buffer of %llu bytes "
                     "would have held everything",
                     (unsigned long long)wanted, (unsigned long long)stored,
                     (unsigned long long)lost, (unsigned long long)lost * DWORD,
                     exact ? ", whole records if all are alike" : "",
                     (unsigned long long)(wanted + st->data) * DWORD);
}

/* What stands at bad_at is no record: nothing behind it can be believed. */
static void report_bad(struct pfd_walk *w, struct state *st, uint64_t end)
{
    uint64_t limit = (st->data + (uint64_t)st->wanted) * DWORD;
    uint64_t left = (limit < end ? limit : end) - st->bad_at;
    bool cut = is_size(st->bad_size);
    w->batch->skipped_bytes += left;
    pfd_walk_finding(
        w, cut ? PFD_FINDING_truncated_entry : PFD_FINDING_bad_size, st->bad_at,
        cut ? "a record of %u dwords, of which %llu are there"
            : "a record of %u dwords, 8 to 14 or 16 expected; the "
              "%llu dwords from here on are skipped",
        st->bad_size, (unsigned long long)(left / DWORD));
}

static enum pfd_status finish(struct pfd_walk *w, struct state *st)
{
    uint64_t end = pfd_walk_end(w);
    st->ended = true;
    w->at = end > w->at ? end : w->at;
    if (!w->last)
        return PFD_MORE;
    if (!st->closed) {
        st->closed = true;
        if (end % DWORD) {
            pfd_walk_finding(w, PFD_FINDING_odd_size, end / DWORD * DWORD,
                             "the buffer ends in %u bytes that are no whole "
                             "dword",
                             (unsigned)(end % DWORD));
        }
        if (st->bad_at) {
            report_bad(w, st, end / DWORD * DWORD);
        } else {
            report_loss(w, st);
        }
    }
    return PFD_END;
}

static enum pfd_status stop(struct pfd_walk *w, struct state *st, uint32_t size)
{
    st->bad_at = w->at;
    st->bad_size = size;
    return finish(w, st);
}

static enum pfd_status step(struct pfd_walk *w, struct state *st)
{
    uint64_t end = pfd_walk_end(w) / DWORD * DWORD;
    uint64_t limit = (st->data + (uint64_t)st->wanted) * DWORD;
    if (st->ended || w->at >= limit || (w->last && w->at >= end))
        return finish(w, st);
    if (!w->last && end < w->at + RECORD_MAX * DWORD)
        return PFD_MORE;
    uint32_t size = pfd_walk_u32(w, w->at);
    if (size == 0 && is_own_check(w, w->at, end)) {
        add_record(w, st, GPUAV_OWN_CHECK);
        return PFD_OK;
    }
    if (size == 0) /* behind the last one */
        return finish(w, st);
    if (!is_size(size) || (uint64_t)size * DWORD > end - w->at)
        return stop(w, st, size);
    add_record(w, st, size);
    return PFD_OK;
}

static enum pfd_status gpuav_walk(struct pfd_walk *w)
{
    struct state *st = w->state;
    if (!st->opened) {
        enum pfd_status status = open_buffer(w, st);
        if (status != PFD_OK)
            return status;
    }
    while (pfd_walk_has_room(w)) {
        enum pfd_status status = step(w, st);
        if (status != PFD_OK)
            return status;
    }
    return PFD_OK;
}

/* ---- messages ---- */

struct view {
    struct gpuav_record record;
    const struct pfd_shader *shader;
    uint32_t k; /* the instruction, as the record has it */
};

/* The instruction that a record is about, right where the layer was not. */
static uint32_t instruction_of(const struct view *v)
{
    const struct pfd_spirv *module = v->shader->module;
    const struct gpuav_record *r = &v->record;
    if (r->is_now) {
        return r->position ? pfd_spirv_by_offset(module, r->position)
                           : PFD_SPIRV_NONE;
    }
    /* Addresses were checked in a module that was changed before. */
    if (r->is_own || r->fault.kind == GPUAV_ADDRESS)
        return PFD_SPIRV_NONE;
    uint32_t k = pfd_spirv_by_counted(module, r->position);
    if (k == PFD_SPIRV_NONE && r->position < pfd_spirv_n_instructions(module))
        k = r->position;
    return k;
}

static struct view view_of(const struct pfd_look *look)
{
    struct pfd_cursor c = look->bytes;
    uint32_t n = (uint32_t)pfd_cursor_left(&c);
    const uint8_t *payload = pfd_cursor_bytes(&c, n);
    struct view v = { .k = PFD_SPIRV_NONE };
    gpuav_read(payload - look->record->n_header,
               (n + look->record->n_header) / DWORD, &v.record);
    if (!v.record.is_own)
        v.shader = pfd_shaders_find(look->shaders, v.record.shader);
    if (v.shader)
        v.k = instruction_of(&v);
    return v;
}

static void add_layer_old(const struct pfd_look *look, const struct view *v,
                          struct pfd_text *out)
{
    static const struct pfd_vulkan_object none;
    const struct gpuav_record *r = &v->record;
    if (r->fault.kind == GPUAV_DRAW || r->fault.kind == GPUAV_DISPATCH)
        return;
    pfd_text_puts(out, " ");
    pfd_khronos_common_2019(out, &look->shaders->capture,
                            v->shader ? &v->shader->object : &none,
                            r->position);
    pfd_text_puts(out, " ");
    pfd_khronos_stage_text(out, r->stage, r->words, PFD_KHRONOS_OLD);
    pfd_text_puts(out, " ");
    pfd_khronos_source_2019(out, v->shader ? v->shader->module : NULL,
                            r->position, false);
}

static void add_layer_now(const struct pfd_look *look, const struct view *v,
                          struct pfd_text *out)
{
    static const struct pfd_vulkan_object none;
    const struct gpuav_record *r = &v->record;
    pfd_text_puts(out, "\n");
    pfd_khronos_stage_text(out, r->stage, r->words, PFD_KHRONOS_NOW);
    pfd_text_puts(out, "\n");
    pfd_khronos_debug_info(out, &look->shaders->capture,
                           v->shader ? &v->shader->object : &none, r->shader);
    pfd_khronos_source(out, v->shader ? v->shader->module : NULL, v->k, false);
}

static void gpuav_make(const struct pfd_look *look, struct pfd_made *ret)
{
    struct view v = view_of(look);
    bool as_layer = look->options->compat == PFD_COMPAT_KHRONOS;
    size_t n = pfd_cursor_left(&look->bytes) / DWORD;
    ret->literal = true;
    gpuav_fault_text(ret->text, &v.record, &look->shaders->capture, as_layer);
    if (as_layer && v.record.is_now) {
        add_layer_now(look, &v, ret->text);
    } else if (as_layer && v.record.size <= 11) {
        add_layer_old(look, &v, ret->text);
    }
    for (size_t i = 0; i < n; i++) {
        ret->slots[i] = (struct pfd_slot){ .at = (uint32_t)(i * DWORD),
                                           .store = PFD_STORE_DWORD };
    }
    ret->n_slots = n;
}

static size_t gpuav_origin(const struct pfd_look *look, struct pfd_origin *ret)
{
    struct view v = view_of(look);
    const struct gpuav_record *r = &v.record;
    size_t n = gpuav_fault_origin(&r->fault, ret);
    if (r->is_own)
        return n;
    const char *stage = pfd_stage_name(pfd_stage_of(r->stage));
    ret[n++] =
        (struct pfd_origin){ .name = "shader", .n = 1, .value = { r->shader } };
    if (v.shader) {
        ret[n++] = (struct pfd_origin){
            .name = "module",
            .type = PFD_ORIGIN_TEXT,
            .n = (uint32_t)strlen(v.shader->source),
            .text = v.shader->source,
        };
    }
    ret[n++] = (struct pfd_origin){ .name = "stage",
                                    .type = PFD_ORIGIN_TEXT,
                                    .n = (uint32_t)strlen(stage),
                                    .text = stage };
    n += pfd_khronos_origin(ret + n, r->stage, r->words);
    if (r->is_now) {
        ret[n++] = (struct pfd_origin){ .name = "action",
                                        .n = 1,
                                        .value = { r->action } };
    }
    if (v.k == PFD_SPIRV_NONE) {
        ret[n++] = (struct pfd_origin){ .name = "position",
                                        .n = 1,
                                        .value = { r->position } };
        return n;
    }
    struct pfd_spirv_place place;
    ret[n++] = (struct pfd_origin){
        .name = "instruction",
        .n = 1,
        .value = { pfd_spirv_offset(v.shader->module, v.k) },
    };
    pfd_spirv_place_of(v.shader->module, v.k, &place);
    return n + pfd_khronos_place_origin(ret + n, &place);
}

/* ---- the format ---- */

static int gpuav_probe(const struct pfd_cursor *first, uint64_t n_buffer)
{
    struct pfd_cursor c = *first;
    const uint8_t *bytes = pfd_cursor_bytes(&c, (2 + 10) * DWORD);
    if (!bytes)
        return 0;
    uint32_t flags = word(bytes, 0);
    uint32_t wanted = word(bytes, 1);
    uint32_t size = word(bytes, 2);
    uint32_t error = word(bytes, 2 + 7);
    if (flags <= 3 && size == GPUAV_NOW && wanted % GPUAV_NOW == 0 && wanted) {
        uint32_t group = word(bytes, 3) >> 24;
        return group >= 1 && group <= 18 ? 85 : 10;
    }
    if (flags <= 3 && wanted >= 8 && is_size(size) && error < 10)
        return flags == 1 ? 80 : 30;
    if (flags <= 3 && wanted && !size && (error == 8 || error == 9))
        return 75;
    if (flags >= wanted && wanted >= 8 && wanted <= 10)
        return word(bytes, wanted == 10 ? 8 : 7) < 8 ? 30 : 5;
    return 5;
}

static bool gpuav_buffer_word(const struct pfd_walk *w, uint64_t at,
                              struct pfd_word *ret)
{
    const struct state *st = w->state;
    uint64_t end = at / DWORD * DWORD + DWORD;
    uint64_t limit = (st->data + (uint64_t)st->wanted) * DWORD;
    if (!st->opened)
        return false;
    if (at / DWORD + 1 < st->data)
        return pfd_word_set(ret, end, "flags (1: buffer bounds are checked)");
    if (at / DWORD < st->data)
        return pfd_word_set(ret, end, "count: dwords of records wanted");
    if (at >= limit)
        return pfd_word_set_unused(ret);
    return st->closed && !st->bad_at && at >= st->end_of_last &&
           pfd_word_set(ret, limit,
                        "counted, not written: for records that did not fit");
}

/* There are no format strings. */
static void gpuav_layout(const struct pfd_string *string,
                         const struct pfd_program_facts *facts,
                         struct pfd_layout *ret)
{
    (void)string;
    (void)facts;
    ret->n_slots = 0;
}

static size_t gpuav_slots(const struct pfd_look *look, struct pfd_slot *ret,
                          uint64_t *findings)
{
    (void)look;
    (void)ret;
    (void)findings;
    return 0;
}

static const char *const origin_names[] = {
    "group",
    "group_name",
    "error",
    "error_name",
    "set",
    "binding",
    "descriptor_index",
    "array_length",
    "address",
    "access",
    "size",
    "alignment",
    "access_offset",
    "axis",
    "count",
    "parameters",
    "shader",
    "module",
    "stage",
    "action",
    "position",
    "instruction",
    PFD_KHRONOS_ORIGINS,
    NULL,
};

const struct pfd_format pfd_format_gpuav = {
    .info = {
        .name = "gpuav",
        .title = "GPU-AV error records of the Vulkan validation layer",
    },
    .state_size = sizeof(struct state),
    .strings = { .name = "gpuav", .table = 9, .layout = gpuav_layout },
    .reads_shaders = true,
    .probe = gpuav_probe,
    .walk = gpuav_walk,
    .slots = gpuav_slots,
    .make = gpuav_make,
    .origin = gpuav_origin,
    .origin_names = origin_names,
    .buffer_word = gpuav_buffer_word,
    .entry_word = gpuav_entry_word,
};
