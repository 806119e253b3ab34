/* SPDX-License-Identifier: MIT */
/*
 * The error buffer of the Vulkan validation layer's GPU-assisted validation.
 * README.md beside this file lists its records by age, with sources.
 */
#include "core/decode/inspect.h"
#include "core/decode/validation_chain.h"
#include "core/spirv/khronos.h"
#include "core/spirv/shader_table.h"
#include "layout.h"

enum {
    DWORD = GPUAV_DWORD,
    /* Words before the error; a record's payload begins after them. */
    HEADER = GPUAV_HEADER * DWORD,
    LEAST = 8, /* dwords of the smallest record */
};

struct state {
    struct gpuav_age age; /* data 0: not decided yet */
    struct pfd_validation_chain validation_chain;
    uint32_t told; /* 1 + the loose module that was reported last */
};

/* All bytes of the view from `at` on; none beyond its end. */
static const uint8_t *bytes_at(const struct pfd_walk *w, uint64_t at,
                               size_t *n_bytes)
{
    struct pfd_byte_reader c = w->view;
    *n_bytes = 0;
    if (at - w->base > c.n)
        return c.base;
    pfd_byte_reader_seek(&c, at - w->base);
    *n_bytes = pfd_byte_reader_left(&c) / DWORD * DWORD;
    return pfd_byte_reader_bytes(&c, *n_bytes);
}

/* ---- records ---- */

/* Bytes before the error, by the record's number of dwords. */
static uint8_t header_of(uint32_t size)
{
    return size < 10 ? HEADER - DWORD : HEADER;
}

/* Is the record followed by another record or by zeros? */
static bool leads_on(const uint8_t *bytes, size_t n_bytes, uint8_t data)
{
    return n_bytes < LEAST * DWORD || gpuav_word(bytes, 0) == 0 ||
           gpuav_plausible(bytes, n_bytes, data);
}

/* The size of the plausible record at `at`, if the bytes after it fit; else
 * 0. */
static uint32_t record_at(struct pfd_walk *w, uint64_t at)
{
    const struct state *st = w->state;
    size_t n = 0;
    const uint8_t *bytes = bytes_at(w, at, &n);
    if (n < LEAST * DWORD)
        return 0;
    uint32_t size = gpuav_plausible(bytes, n, st->age.data);
    size_t n_record = (size_t)size * DWORD;
    if (size && !w->last && n < n_record + GPUAV_RECORD_MAX * DWORD)
        return size + GPUAV_RECORD_MAX;
    return size && n_record <= n &&
                   leads_on(bytes + n_record, n - n_record, st->age.data)
               ? size
               : 0;
}

/* Do records lead from `at` to the end that the count says? Looks at the next
 * few. */
static bool leads_to_end(const struct pfd_walk *w, uint64_t at)
{
    enum {
        FAR = 16
    };
    const struct state *st = w->state;
    uint64_t limit = pfd_validation_chain_limit(&st->validation_chain);
    uint32_t size = 1;
    for (unsigned i = 0; i < FAR && size && at < limit; i++) {
        size_t n = 0;
        const uint8_t *bytes = bytes_at(w, at, &n);
        size = n < LEAST * DWORD ? 0 : gpuav_plausible(bytes, n, st->age.data);
        at += (uint64_t)size * DWORD;
    }
    return size && at <= limit;
}

/* Does a record that is not plausible contain other records? Then its size is
 * damaged, unless it leads to records, too. */
static bool hides_records(struct pfd_walk *w, uint32_t size)
{
    if (leads_to_end(w, w->at + (uint64_t)size * DWORD))
        return false;
    for (uint32_t i = 1; i + LEAST <= size; i++) {
        uint32_t inner = record_at(w, w->at + (uint64_t)i * DWORD);
        if (inner && i + inner <= size + GPUAV_RECORD_MAX)
            return true;
    }
    return false;
}

static void report_module(struct pfd_walk *w, const struct gpuav_record *record,
                          const struct gpuav_place *place)
{
    struct state *st = w->state;
    if (!place->shader || !place->shader->is_loose ||
        st->told == place->shader->id + 1)
        return;
    st->told = place->shader->id + 1;
    pfd_walk_finding(w, PFD_FINDING_module_choice, w->at,
                     "shader %u is '%s': only there an instruction reaches "
                     "this resource",
                     record->shader, place->shader->source);
}

/* One of the two readings of a record. */
struct reading {
    bool from_one;
    bool fits;
    struct gpuav_record record;
    struct gpuav_place place;
};

static struct reading read_as(const struct pfd_walk *w, const uint8_t *bytes,
                              uint32_t size, bool from_one)
{
    struct reading ret = { .from_one = from_one };
    ret.fits = gpuav_codes_fit(bytes, size, from_one);
    gpuav_read(bytes, size, from_one, &ret.record);
    ret.place = gpuav_place_of(w->shader_table, &ret.record);
    return ret;
}

/* Is there an instruction that can have this error? */
static bool has_place(const struct reading *r)
{
    return r->place.k != PFD_SPIRV_NONE && !r->place.is_wrong;
}

/* For 16 dwords if the codes decide nothing: prefers the reading whose
 * parameters fit, then the one with an instruction that can have the error.
 * False: undecided. */
static bool choose(struct reading r[2])
{
    bool first = r[0].fits;
    bool second = r[1].fits;
    if (first && second) {
        first = has_place(&r[0]);
        second = has_place(&r[1]);
    }
    if (first == second)
        return false;
    if (second) {
        struct reading other = r[0];
        r[0] = r[1];
        r[1] = other;
    }
    return true;
}

/* Is the second reading possible as well? */
static bool is_ambiguous(const struct gpuav_age *age, uint32_t size,
                         struct reading r[2])
{
    bool is_decided = size == GPUAV_RECORD_MAX
                          ? !age->either || choose(r)
                          : !r[1].fits || (!age->is_even && r[0].fits);
    return !is_decided && r[0].record.fault.kind != r[1].record.fault.kind;
}

static void set_reading(const struct reading *reading, struct pfd_record *r)
{
    r->key = gpuav_id(&reading->record);
    r->flags =
        PFD_RECORD_SYNTHESIZED | (reading->from_one ? GPUAV_FROM_ONE : 0);
    r->findings |= reading->place.is_wrong ? PFD_FINDING_BIT(wrong_module) : 0;
}

/* Adds the record at w->at, also in the other reading if that is as good. */
static void add_record(struct pfd_walk *w, struct state *st, uint32_t size)
{
    size_t n = 0;
    const uint8_t *bytes = bytes_at(w, w->at, &n);
    bool from_one =
        size == GPUAV_RECORD_MAX ? st->age.earlier : st->age.from_one;
    struct reading readings[2] = { read_as(w, bytes, size, from_one),
                                   read_as(w, bytes, size, !from_one) };
    bool ambiguous = is_ambiguous(&st->age, size, readings);
    report_module(w, &readings[0].record, &readings[0].place);
    struct pfd_record *r = pfd_walk_record(w);
    *r = (struct pfd_record){
        .offset = w->at,
        .n_bytes = size * DWORD,
        .n_header = header_of(size),
        .kind = PFD_RECORD_ENTRY,
    };
    set_reading(&readings[0], r);
    if (ambiguous) {
        r->findings |= PFD_FINDING_BIT(ambiguous);
        struct pfd_record reading = *r;
        set_reading(&readings[1], &reading);
        pfd_walk_alternative(w, &reading);
    }
    pfd_validation_chain_pass(&st->validation_chain, w, size,
                              (uint64_t)size * DWORD);
}

/* ---- the walk ---- */

static enum pfd_status open_buffer(struct pfd_walk *w, struct state *st)
{
    if (!w->last && w->view.n < GPUAV_EVIDENCE_BYTES)
        return PFD_MORE;
    if (!pfd_validation_chain_has_header(w))
        return PFD_END;
    st->age = gpuav_decide(w);
    st->validation_chain = (struct pfd_validation_chain){
        .data = st->age.data,
        .wanted = pfd_walk_u32(w, (st->age.data - 1u) * (uint64_t)DWORD),
        .header = LEAST,
        .flags = "flags (1: buffer bounds are checked)",
        .sizes = "8 to 14 or 16",
        .record_at = record_at,
    };
    pfd_validation_chain_open(&st->validation_chain, w);
    return PFD_OK;
}

/* A possible size of a record that is not plausible: a later layer's, or
 * damaged. */
static enum pfd_status step_strange(struct pfd_walk *w, struct state *st,
                                    uint32_t size, uint64_t left)
{
    size_t n = 0;
    if (size == 0) {
        return pfd_validation_chain_lose(&st->validation_chain, w, size,
                                         PFD_VALIDATION_CHAIN_ZERO);
    }
    if (!gpuav_is_size(size)) {
        return pfd_validation_chain_lose(&st->validation_chain, w, size,
                                         PFD_VALIDATION_CHAIN_BAD_SIZE);
    }
    if ((uint64_t)size * DWORD > left) {
        return pfd_validation_chain_lose(&st->validation_chain, w, size,
                                         PFD_VALIDATION_CHAIN_CUT);
    }
    if (w->at + (uint64_t)size * DWORD >
        pfd_validation_chain_limit(&st->validation_chain)) {
        return pfd_validation_chain_lose(&st->validation_chain, w, size,
                                         PFD_VALIDATION_CHAIN_PAST_END);
    }
    if (hides_records(w, size)) {
        return pfd_validation_chain_lose(&st->validation_chain, w, size,
                                         PFD_VALIDATION_CHAIN_HIDING);
    }
    const uint8_t *bytes = bytes_at(w, w->at + (uint64_t)size * DWORD, &n);
    if (!leads_on(bytes, n, st->age.data)) {
        return pfd_validation_chain_lose(&st->validation_chain, w, size,
                                         PFD_VALIDATION_CHAIN_STRAY);
    }
    add_record(w, st, size);
    return PFD_OK;
}

static enum pfd_status step(struct pfd_walk *w, struct state *st)
{
    uint64_t left = pfd_walk_end(w) - w->at;
    size_t n = 0;
    if (!w->last && left < 3 * GPUAV_RECORD_MAX * DWORD)
        return PFD_MORE;
    if (left < LEAST * DWORD)
        return pfd_validation_chain_end(&st->validation_chain, w);
    const uint8_t *bytes = bytes_at(w, w->at, &n);
    uint32_t size = gpuav_plausible(bytes, n, st->age.data);
    if (!size)
        return step_strange(w, st, gpuav_word(bytes, 0), n);
    if ((size_t)size * DWORD > n) {
        return pfd_validation_chain_lose(&st->validation_chain, w, size,
                                         PFD_VALIDATION_CHAIN_CUT);
    }
    if (w->at + (uint64_t)size * DWORD >
            pfd_validation_chain_limit(&st->validation_chain) &&
        !record_at(w, w->at)) {
        return pfd_validation_chain_lose(&st->validation_chain, w, size,
                                         PFD_VALIDATION_CHAIN_PAST_END);
    }
    add_record(w, st, size);
    return PFD_OK;
}

static enum pfd_status gpuav_walk(struct pfd_walk *w)
{
    struct state *st = w->state;
    if (!st->age.data) {
        enum pfd_status status = open_buffer(w, st);
        if (status != PFD_OK)
            return status;
    }
    while (pfd_walk_has_room(w)) {
        enum pfd_status status =
            st->validation_chain.is_lost
                ? pfd_validation_chain_find(&st->validation_chain, w)
                : step(w, st);
        if (status != PFD_OK)
            return status;
    }
    return PFD_OK;
}

/* ---- records from elsewhere ---- */

static bool gpuav_is_record(const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    const uint8_t *bytes = record_view->bytes.base;
    uint32_t size = r->n_bytes / DWORD;
    struct gpuav_record record;
    if (r->string || r->layout || r->n_bytes != record_view->bytes.n ||
        r->n_bytes % DWORD || !gpuav_is_size(size) ||
        r->n_header != header_of(size) ||
        (r->flags & ~(GPUAV_FROM_ONE | PFD_RECORD_COPIED)) !=
            PFD_RECORD_SYNTHESIZED)
        return false;
    uint32_t stated = gpuav_word(bytes, 0);
    if (stated != size && (stated || size != GPUAV_OWN_CHECK))
        return false;
    gpuav_read(bytes, size, r->flags & GPUAV_FROM_ONE, &record);
    return r->key == gpuav_id(&record);
}

/* ---- messages ---- */

struct view {
    struct gpuav_record record;
    const struct pfd_shader *shader;
    uint32_t k; /* the instruction's index */
};

static struct view view_of(const struct pfd_record_view *record_view)
{
    struct pfd_byte_reader c = record_view->bytes;
    uint32_t n = (uint32_t)pfd_byte_reader_left(&c);
    const uint8_t *payload = pfd_byte_reader_bytes(&c, n);
    struct view v = { .k = PFD_SPIRV_NONE };
    gpuav_read(payload - record_view->record->n_header,
               (n + record_view->record->n_header) / DWORD,
               record_view->record->flags & GPUAV_FROM_ONE, &v.record);
    struct gpuav_place place =
        gpuav_place_of(record_view->shader_table, &v.record);
    if (!place.is_wrong) {
        v.shader = place.shader;
        v.k = place.k;
    }
    return v;
}

static void add_layer_old(const struct pfd_record_view *record_view,
                          const struct view *v, struct pfd_text *out)
{
    static const struct pfd_vulkan_object none;
    const struct gpuav_record *r = &v->record;
    if (r->fault.kind == GPUAV_DRAW || r->fault.kind == GPUAV_DISPATCH)
        return;
    pfd_text_puts(out, " ");
    pfd_khronos_common_2019(out, &record_view->shader_table->capture,
                            v->shader ? &v->shader->object : &none,
                            r->position);
    pfd_text_puts(out, " ");
    pfd_khronos_stage_text(out, r->stage, r->words, PFD_KHRONOS_OLD);
    pfd_text_puts(out, " ");
    pfd_khronos_source_2019(out, v->shader ? v->shader->module : NULL,
                            r->position, false);
}

static void add_layer_now(const struct pfd_record_view *record_view,
                          const struct view *v, struct pfd_text *out)
{
    static const struct pfd_vulkan_object none;
    const struct gpuav_record *r = &v->record;
    pfd_text_puts(out, "\n");
    pfd_khronos_stage_text(out, r->stage, r->words, PFD_KHRONOS_NOW);
    pfd_text_puts(out, "\n");
    pfd_khronos_debug_info(out, &record_view->shader_table->capture,
                           v->shader ? &v->shader->object : &none, r->shader);
    pfd_khronos_source(out, v->shader ? v->shader->module : NULL, v->k, false);
}

static void gpuav_make(const struct pfd_record_view *record_view,
                       struct pfd_synthesized *ret)
{
    struct view v = view_of(record_view);
    bool as_layer = record_view->options->compat == PFD_COMPAT_KHRONOS;
    size_t n = pfd_byte_reader_left(&record_view->bytes) / DWORD;
    ret->literal = true;
    gpuav_fault_text(ret->text, &v.record, &record_view->shader_table->capture,
                     as_layer);
    if (as_layer && v.record.is_now) {
        add_layer_now(record_view, &v, ret->text);
    } else if (as_layer && v.record.size <= 11) {
        add_layer_old(record_view, &v, ret->text);
    }
    for (size_t i = 0; i < n; i++) {
        ret->slots[i] = (struct pfd_slot){ .at = (uint32_t)(i * DWORD),
                                           .store = PFD_STORE_DWORD };
    }
    ret->n_slots = n;
}

static size_t add_action(const struct gpuav_record *r, struct pfd_origin *ret)
{
    *ret =
        (struct pfd_origin){ .name = "action", .n = 1, .value = { r->action } };
    return r->has_action;
}

static size_t gpuav_origin(const struct pfd_record_view *record_view,
                           struct pfd_origin *ret)
{
    struct view v = view_of(record_view);
    const struct gpuav_record *r = &v.record;
    size_t n = gpuav_fault_origin(&r->fault, ret);
    if (r->is_own)
        return n + (r->is_now ? 0 : add_action(r, ret + n));
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
    n += add_action(r, ret + n);
    if (!v.shader || v.k == PFD_SPIRV_NONE) {
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

static bool gpuav_buffer_word(const struct pfd_walk *w, uint64_t at,
                              struct pfd_word *ret)
{
    const struct state *st = w->state;
    return pfd_validation_chain_word(&st->validation_chain, at, ret);
}

/* The format has no strings. */
static void gpuav_layout(const struct pfd_string *string,
                         const struct pfd_program_facts *facts,
                         struct pfd_layout *ret)
{
    (void)string;
    (void)facts;
    ret->n_slots = 0;
}

static size_t gpuav_slots(const struct pfd_record_view *record_view,
                          struct pfd_slot *ret, uint64_t *findings)
{
    (void)record_view;
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
    "opcode",
    "alignment",
    "access_offset",
    "ray_flags",
    "axis",
    "count",
    "draw",
    "first_index",
    "index_count",
    "index_offset",
    "vertex_offset",
    "vertex_index",
    "width",
    "height",
    "depth",
    "texel_offset",
    "parameters",
    "parameter_3",
    "parameter_4",
    "shader",
    "module",
    "stage",
    "action",
    "position",
    "instruction",
    PFD_KHRONOS_ORIGINS,
    NULL,
};

static const struct pfd_format_option *const options[] = { &pfd_option_compat,
                                                           NULL };

const struct pfd_format pfd_format_gpuav = {
    .info = {
        .name = "gpuav",
        .title = "GPU-AV error records of the Vulkan validation layer",
    },
    .complains = true,
    .options = options,
    .state_size = sizeof(struct state),
    .strings = { .name = "gpuav", .layout = gpuav_layout },
    .reads_shaders = true,
    .probe = gpuav_probe,
    .walk = gpuav_walk,
    .is_record = gpuav_is_record,
    .slots = gpuav_slots,
    .make = gpuav_make,
    .origins = { .list = gpuav_origin, .names = origin_names },
    .buffer_word = gpuav_buffer_word,
    .find = gpuav_find,
    .entry_word = gpuav_entry_word,
};
