/* SPDX-License-Identifier: MIT */
/*
 * Buffers of the validation layer with a module. Input: a byte for the format
 * and whose habits the text follows, a byte for the layout, a byte for the
 * pieces that the buffer comes in, the module's dwords (2 bytes), the module,
 * the buffer. In pieces or whole, the same is said, and offsets only grow.
 */
#include <string.h>

#include <printfdecode/strings.h>

#include "pieces.h"

enum {
    PREFIX = 5
};

static uint64_t say_origins(uint64_t hash, struct pfd_entry *e)
{
    size_t n;
    const struct pfd_origin *o = pfd_entry_origins(e, &n);
    for (size_t i = 0; i < n; i++, o++) {
        hash = mix(hash, o->name, strlen(o->name));
        if (o->type == PFD_ORIGIN_TEXT) {
            hash = mix(hash, o->text, o->n);
        } else {
            hash = mix(hash, o->value, sizeof o->value[0]);
        }
    }
    return hash;
}

static uint64_t say(uint64_t hash, struct pfd_item *item, uint64_t *next)
{
    size_t n = 0;
    if (!item->is_entry)
        return mix(hash, item->finding->text, strlen(item->finding->text));
    struct pfd_entry *e = item->entry;
    FUZZ_CHECK(e->offset >= *next);
    *next = e->offset + e->n_bytes;
    const char *message = pfd_entry_message(e, &n);
    if (message)
        hash = mix(hash, message, n);
    hash = mix(hash, &e->findings, sizeof e->findings);
    const struct pfd_argument *arguments = pfd_entry_arguments(e, &n);
    for (size_t i = 0; i < n; i++)
        hash = mix(hash, &arguments[i].u, sizeof arguments[i].u);
    return say_origins(hash, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const formats[] = { "debugprintf", "gpuav", "abort" };
    struct pfd_strings *strings = pfd_strings_new();
    if (n < PREFIX) {
        pfd_strings_free(strings);
        return 0;
    }
    struct pfd_options options = {
        .compat = data[0] & 8 ? PFD_COMPAT_KHRONOS : PFD_COMPAT_NONE,
        .printf_layout = (enum pfd_printf_layout)(data[1] % 7),
    };
    const char *format = formats[(data[0] & 7) % 3];
    size_t piece = 4 * (size_t)data[2] + 1;
    size_t n_module = 4 * (size_t)(data[3] | data[4] << 8);
    data += PREFIX;
    n -= PREFIX;
    if (n_module > n)
        n_module = n;
    struct pfd_shader_info shader = {
        .id = 0, .bytes = data, .n_bytes = n_module, .source = "module"
    };
    struct pfd_vulkan_capture capture = { .verbose =
                                              options.compat && piece & 8 };
    pfd_strings_add_shader(strings, &shader, NULL, NULL, NULL);
    pfd_strings_set_capture(strings, &capture, NULL);
    struct pieces pieces = {
        .strings = strings,
        .format = format,
        .options = options,
        .data = data + n_module,
        .n = n - n_module,
        .say = say,
    };
    uint64_t whole = decode_pieces(&pieces, 0);
    FUZZ_CHECK(decode_pieces(&pieces, piece) == whole);
    pfd_strings_free(strings);
    return 0;
}
