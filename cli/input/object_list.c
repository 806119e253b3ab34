/* SPDX-License-Identifier: MIT */
#include "object_list.h"

#include <string.h>

#include "code_source.h"
#include "show/output.h"

static const char *const features[] = { "unsupported", "any", "off", "on" };

static void put(const char *text)
{
    output_escaped(text, strlen(text));
}

static void print_feature_text(const char *name, enum pfd_feature feature)
{
    if (feature != PFD_FEATURE_UNSUPPORTED)
        output_printf(", %s %s", name, features[feature]);
}

static void print_argument_text(const char *before, const char *name,
                                uint64_t offset)
{
    if (offset != PFD_NO_OFFSET)
        output_printf("%s%s at %llu", before, name, (unsigned long long)offset);
}

/* How code objects are printed. */
struct printing {
    bool json;
    const struct pfd_process_code_object
        *loaded; /* the loaded object that contains them; NULL: none */
};

static void print_place_text(const struct pfd_process_code_object *loaded)
{
    output_printf("#   %s at 0x%llx\n", loaded->is_found ? "stands" : "loaded",
                  (unsigned long long)loaded->load_address);
}

static void print_text(const struct pfd_object_info *o,
                       const struct printing *p)
{
    output_printf("# ");
    put(o->source);
    output_printf(": ");
    if (o->version) {
        output_printf("code object V%u", o->version);
    } else {
        output_printf("%s%s%s", o->os ? o->os : "", o->os ? " " : "", o->kind);
    }
    if (o->target)
        output_printf(", %s", o->target);
    print_feature_text("xnack", o->xnack);
    print_feature_text("sramecc", o->sramecc);
    output_printf(", %zu bytes, %llu format string%s\n", o->n,
                  (unsigned long long)o->n_strings,
                  o->n_strings == 1 ? "" : "s");
    if (p->loaded)
        print_place_text(p->loaded);
    if (o->why_none)
        output_printf("#   no table of format strings: %s\n", o->why_none);
    for (size_t i = 0; i < o->n_kernels; i++) {
        const struct pfd_kernel_info *k = &o->kernels[i];
        bool both = k->printf_buffer != PFD_NO_OFFSET;
        output_printf("#   kernel ");
        output_escaped(k->name, k->n_name);
        print_argument_text(": ", "hidden_printf_buffer", k->printf_buffer);
        print_argument_text(both ? ", " : ": ", "hidden_hostcall_buffer",
                            k->hostcall_buffer);
        output_printf("\n");
    }
}

static void print_text_json(const char *name, const char *text)
{
    output_printf(",\"%s\":", name);
    if (!text) {
        output_printf("null");
        return;
    }
    output_printf("\"");
    output_json(text, strlen(text));
    output_printf("\"");
}

static void print_offset_json(const char *name, uint64_t offset)
{
    if (offset == PFD_NO_OFFSET) {
        output_printf(",\"%s\":null", name);
    } else {
        output_printf(",\"%s\":%llu", name, (unsigned long long)offset);
    }
}

static void print_place_json(const struct pfd_process_code_object *loaded)
{
    output_printf(",\"loaded\":%s,\"address\":\"0x%llx\"",
                  loaded->is_found ? "false" : "true",
                  (unsigned long long)loaded->load_address);
}

static void print_json(const struct pfd_object_info *o,
                       const struct printing *p)
{
    output_printf("{\"object\":\"");
    output_json(o->source, strlen(o->source));
    output_printf("\"");
    print_text_json("kind", o->kind);
    print_text_json("os", o->os);
    print_text_json("target", o->target);
    print_text_json("xnack", features[o->xnack]);
    print_text_json("sramecc", features[o->sramecc]);
    print_offset_json("offset", o->offset);
    output_printf(",\"bytes\":%zu,\"version\":%u,\"format_strings\":%llu", o->n,
                  o->version, (unsigned long long)o->n_strings);
    print_text_json("why_none", o->why_none);
    if (p->loaded)
        print_place_json(p->loaded);
    output_printf(",\"kernels\":[");
    for (size_t i = 0; i < o->n_kernels; i++) {
        const struct pfd_kernel_info *k = &o->kernels[i];
        output_printf("%s{\"name\":\"", i ? "," : "");
        output_json(k->name, k->n_name);
        output_printf("\"");
        print_offset_json("printf_buffer", k->printf_buffer);
        print_offset_json("hostcall_buffer", k->hostcall_buffer);
        output_printf("}");
    }
    output_printf("]}\n");
}

static enum pfd_status print_object(void *user,
                                    const struct pfd_object_info *object)
{
    const struct printing *p = user;
    if (p->json) {
        print_json(object, p);
    } else {
        print_text(object, p);
    }
    return PFD_OK;
}

enum pfd_status object_list_print_loaded(
    const struct pfd_process_code_object *loaded, uint64_t max_inflated,
    bool json, pfd_finding_fn tell, void *user, struct pfd_error *err)
{
    struct printing p = { .json = json, .loaded = loaded };
    return pfd_objects_read(loaded->bytes, loaded->n, loaded->source,
                            max_inflated, print_object, &p, tell, user, err);
}

void object_list_print_unknown(const struct pfd_process_code_object *loaded)
{
    output_printf("# ");
    put(loaded->source);
    output_printf(loaded->bytes ? ": no code object, %zu bytes\n"
                                : ": cannot be read\n",
                  loaded->n);
    print_place_text(loaded);
}

void object_list_print(const struct options *options, bool json)
{
    struct printing p = { .json = json };
    for (size_t i = 0; i < options->n_files; i++) {
        struct code_source code_source;
        if (code_source_open(&code_source, options->files[i].path,
                             options->reading.max_inflated, NULL, NULL,
                             NULL) == PFD_OK) {
            code_source.searches =
                options->memory.scan && !options_have_memory(options);
            (void)code_source_read(&code_source, options->reading.max_inflated,
                                   print_object, &p, NULL, NULL, NULL);
        }
        code_source_close(&code_source);
    }
}
