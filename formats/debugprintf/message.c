/* SPDX-License-Identifier: MIT */
/* The message of a debugPrintf record, and its origin. */
#include <string.h>

#include "core/spirv/khronos.h"
#include "core/spirv/shader_table.h"
#include "layout.h"

/* ---- messages in the layer's form ---- */

struct view {
    const struct debugprintf_shape *shape;
    const uint8_t *header;
    const uint8_t *values;
    size_t n_values; /* bytes */
    const struct pfd_shader *shader;
};

static struct view view_of(const struct pfd_record_view *record_view)
{
    struct pfd_byte_reader c = record_view->bytes;
    size_t n = pfd_byte_reader_left(&c);
    struct view v = { .shape = debugprintf_shape_of(record_view->record) };
    v.values = pfd_byte_reader_bytes(&c, n);
    v.n_values = n;
    v.header = v.values - record_view->record->n_header;
    if (record_view->record->string) {
        v.shader = pfd_shader_table_find(
            record_view->shader_table,
            (uint32_t)(record_view->record->string->key >> 32));
    }
    return v;
}

static uint32_t mask_of(const struct view *v, uint8_t at)
{
    return at ? debugprintf_word(v->header, at) : 0;
}

/* Gets the stage from the record, or from the module. */
static bool stage_of(const struct view *v, uint32_t *ret)
{
    if (v->shape->is_packed) {
        *ret = debugprintf_word(v->header, DEBUGPRINTF_AT_POSITION) >>
               DEBUGPRINTF_OFFSET_BITS;
    } else if (v->shape->stage) {
        *ret = debugprintf_word(v->header, v->shape->stage);
    } else {
        *ret = PFD_STAGE_UNKNOWN;
    }
    if (pfd_stage_of(*ret) != PFD_STAGE_UNKNOWN)
        return true;
    if (v->shader && v->shader->has_stage) {
        *ret = v->shader->stage;
        return true;
    }
    return false;
}

static void stage_words(const struct view *v, uint32_t ret[3])
{
    for (size_t i = 0; i < 3; i++) {
        ret[i] = v->shape->info
                     ? debugprintf_word(v->header, v->shape->info + i)
                     : 0;
    }
}

static void add_verbose_old(const struct pfd_record_view *record_view,
                            const struct view *v, struct pfd_text *out,
                            struct pfd_text *message)
{
    uint32_t position = debugprintf_word(v->header, DEBUGPRINTF_AT_POSITION);
    uint32_t words[3];
    stage_words(v, words);
    pfd_khronos_common_2019(out, &record_view->shader_table->capture,
                            &v->shader->object, position);
    pfd_text_puts(out, " ");
    pfd_khronos_stage_text(
        out, v->shape->stage ? debugprintf_word(v->header, v->shape->stage) : 0,
        words, PFD_KHRONOS_OLD);
    pfd_text_puts(out, " ");
    pfd_text_add(out, message->data, message->n);
    pfd_text_puts(out, " ");
    pfd_khronos_source_2019(out, v->shader->module, position, true);
}

static void add_verbose_now(const struct pfd_record_view *record_view,
                            const struct view *v, struct pfd_text *out,
                            struct pfd_text *message)
{
    const struct pfd_spirv *module = v->shader->module;
    uint32_t k =
        pfd_spirv_by_offset(module, (uint32_t)record_view->record->key);
    uint32_t stage = PFD_STAGE_UNKNOWN;
    uint32_t words[3];
    stage_of(v, &stage);
    stage_words(v, words);
    pfd_text_add(out, message->data, message->n);
    pfd_text_puts(out, "\n");
    pfd_khronos_stage_text(out, stage, words, PFD_KHRONOS_NOW);
    pfd_text_puts(out, "\n");
    pfd_khronos_debug_info(out, &record_view->shader_table->capture,
                           &v->shader->object,
                           debugprintf_word(v->header, DEBUGPRINTF_AT_SHADER));
    pfd_khronos_source(out, module, k, true);
}

static void add_message(const struct pfd_record_view *record_view,
                        const struct view *v, struct pfd_text *out)
{
    const struct pfd_string *s = record_view->record->string;
    uint64_t ignored = 0; /* the layer reports no findings */
    struct pfd_khronos_values values = {
        .bytes = v->values,
        .n = v->n_values,
        .doubles = mask_of(v, v->shape->doubles),
        .signed8 = mask_of(v, v->shape->signed8),
        .signed16 = mask_of(v, v->shape->signed16),
    };
    pfd_khronos_print(out, pfd_string_text(s), s->n_text, &values,
                      v->shape->age, &ignored);
}

/* Removes the slots of values that are not stored; returns how many remain. */
static size_t keep_stored(struct pfd_slot *slots, size_t n)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (slots[i].store != PFD_STORE_NONE)
            slots[n_kept++] = slots[i];
    }
    return n_kept;
}

/* The message in the layer's form; the record's call is known. */
void debugprintf_make(const struct pfd_record_view *record_view,
                      struct pfd_synthesized *ret)
{
    struct view v = view_of(record_view);
    struct pfd_text message = { 0 };
    uint64_t ignored = 0;
    ret->literal = true;
    if (!record_view->shader_table->capture.verbose) {
        add_message(record_view, &v, ret->text);
    } else {
        add_message(record_view, &v, &message);
        if (v.shape->age == PFD_KHRONOS_OLD) {
            add_verbose_old(record_view, &v, ret->text, &message);
        } else {
            add_verbose_now(record_view, &v, ret->text, &message);
        }
    }
    ret->text->failed |= message.failed;
    pfd_text_free(&message);
    size_t n = debugprintf_slots(record_view, ret->slots, &ignored);
    ret->n_slots = keep_stored(ret->slots, n);
}

/* ---- origins ---- */

struct origins {
    struct pfd_origin *list;
    size_t n;
};

static void add_number(struct origins *o, const char *name, uint64_t value)
{
    o->list[o->n++] = (struct pfd_origin){
        .name = name, .type = PFD_ORIGIN_NUMBER, .n = 1, .value = { value }
    };
}

static void add_text(struct origins *o, const char *name, const char *text,
                     size_t n)
{
    o->list[o->n++] = (struct pfd_origin){
        .name = name,
        .type = PFD_ORIGIN_TEXT,
        .n = (uint32_t)(n < UINT32_MAX ? n : UINT32_MAX),
        .text = text,
    };
}

size_t debugprintf_origin(const struct pfd_record_view *record_view,
                          struct pfd_origin *ret)
{
    struct view v = view_of(record_view);
    struct origins o = { ret, 0 };
    uint32_t stage = 0;
    uint32_t words[3];
    add_number(&o, "shader", debugprintf_word(v.header, DEBUGPRINTF_AT_SHADER));
    if (v.shader)
        add_text(&o, "module", v.shader->source, strlen(v.shader->source));
    if (stage_of(&v, &stage)) {
        const char *name = pfd_stage_name(pfd_stage_of(stage));
        add_text(&o, "stage", name, strlen(name));
        stage_words(&v, words);
        if (v.shape->info)
            o.n += pfd_khronos_origin(ret + o.n, stage, words);
    }
    if (!record_view->record->string || !v.shader) {
        add_number(
            &o, "position",
            debugprintf_offset_of(
                v.shape, debugprintf_word(v.header, DEBUGPRINTF_AT_POSITION)));
        return o.n;
    }
    uint32_t offset = (uint32_t)record_view->record->key;
    add_number(&o, "instruction", offset);
    size_t call = debugprintf_call_at(
        v.shader->module, pfd_spirv_by_offset(v.shader->module, offset));
    o.n += pfd_khronos_place_origin(
        ret + o.n,
        pfd_shader_table_place(record_view->shader_table, v.shader, call));
    return o.n;
}
