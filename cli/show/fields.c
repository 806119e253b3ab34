/* SPDX-License-Identifier: MIT */
#include "fields.h"

#include <string.h>

#include "output.h"

static void close_list(struct fields *f)
{
    if (f->list && f->json) {
        output_printf("]");
        f->follows = true;
    }
    f->list = NULL;
}

/* Prints everything before a field's value. */
static void begin_field(struct fields *f, const char *name)
{
    if (!f->in_item)
        close_list(f);
    if (f->json) {
        output_printf("%s\"%s\":", f->follows ? "," : "", name);
    } else if (f->in_item) {
        output_printf("%s%s ", f->follows ? ", " : "", name);
    } else {
        output_printf("  %s: ", name);
    }
    f->follows = true;
}

static void end_field(const struct fields *f)
{
    if (!f->json && !f->in_item)
        output_printf("\n");
}

void fields_begin(struct fields *f, bool json, const char *file,
                  const char *kind)
{
    *f = (struct fields){ .json = json };
    if (json) {
        output_printf("{\"file\":\"");
        output_json(file, strlen(file));
        output_printf("\",\"kind\":\"%s\"", kind);
        f->follows = true;
    } else {
        output_escaped(file, strlen(file));
        output_printf(": %s\n", kind);
    }
}

void fields_begin_facts(struct fields *f, bool json, const char *subject)
{
    *f = (struct fields){ .json = json };
    if (json) {
        output_printf("{\"type\":\"facts\",");
        output_json_text("subject", subject, strlen(subject));
        f->follows = true;
    } else {
        output_escaped(subject, strlen(subject));
        output_printf("\n");
    }
}

void fields_end(struct fields *f)
{
    close_list(f);
    if (f->json)
        output_printf("}\n");
}

void fields_text_n(struct fields *f, const char *name, const char *value,
                   size_t n)
{
    begin_field(f, name);
    if (f->json) {
        output_printf("\"");
        output_json(value, n);
        output_printf("\"");
    } else {
        output_escaped(value, n);
    }
    end_field(f);
}

void fields_text(struct fields *f, const char *name, const char *value)
{
    if (value)
        fields_text_n(f, name, value, strlen(value));
}

void fields_number(struct fields *f, const char *name, uint64_t value)
{
    begin_field(f, name);
    output_printf("%llu", (unsigned long long)value);
    end_field(f);
}

void fields_count(struct fields *f, const char *name, uint64_t value)
{
    if (value)
        fields_number(f, name, value);
}

void fields_hex(struct fields *f, const char *name, uint64_t value)
{
    const char *quote = f->json ? "\"" : "";
    begin_field(f, name);
    output_printf("%s0x%llx%s", quote, (unsigned long long)value, quote);
    end_field(f);
}

void fields_flag(struct fields *f, const char *name, bool value)
{
    begin_field(f, name);
    output_printf(f->json ? value ? "true" : "false" : value ? "yes" : "no");
    end_field(f);
}

void fields_item(struct fields *f, const char *list, const char *name)
{
    bool same = f->list && !strcmp(f->list, list);
    if (!same)
        close_list(f);
    if (f->json) {
        if (same) {
            output_printf(",{");
        } else {
            output_printf("%s\"%s\":[{", f->follows ? "," : "", list);
        }
    } else {
        output_printf("  %s: ", name);
    }
    f->list = list;
    f->in_item = true;
    f->follows = false;
}

void fields_item_end(struct fields *f)
{
    output_printf(f->json ? "}" : "\n");
    f->in_item = false;
    f->follows = true;
}
