/* SPDX-License-Identifier: MIT */
#include "printer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/client.h>
#include <printfdecode/sites.h>

enum {
    FILE_MAX = 64 << 20
};

static struct pfd_sites *sites;
static struct pfd_client *client;
static struct pfd_client_buffer *buffer;

bool printer_take(struct printer_options *o, const char *name,
                  const char *value)
{
    if (!strcmp(name, "--strings")) {
        o->strings = value;
        return true;
    }
    if (strcmp(name, "--rule") != 0 || o->n_rules == PRINTER_RULES_MAX)
        return false;
    o->rules[o->n_rules++] = value;
    return true;
}

/* ---- rules ---- */

/* "1" or "1,2,3" into ret; missing numbers stay. Returns the rest of the text. */
static const char *read_place(const char *text, uint32_t *ret)
{
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        ret[i] = (uint32_t)strtoul(text, &end, 10);
        if (end == text)
            return NULL;
        text = end;
        if (*text != ',')
            return text;
        text++;
    }
    return NULL;
}

static bool set_range(struct pfd_control_range *range, const char *text)
{
    const char *behind = read_place(text, range->first);
    behind =
        behind && *behind == '-' ? read_place(behind + 1, range->last) : NULL;
    return behind && !*behind;
}

static struct pfd_control_range *range_of(struct pfd_control *control,
                                          const char *rule)
{
    if (!strncmp(rule, "threads=", 8))
        return &control->threads;
    if (!strncmp(rule, "groups=", 7))
        return &control->groups;
    return !strncmp(rule, "pixels=", 7) ? &control->pixels : NULL;
}

/* What a site may do, as "off", "budget=5". */
static bool read_rule(const char *text, struct pfd_site_rule *ret)
{
    char *end = NULL;
    const char *number = strchr(text, '=');
    uint32_t value = number ? (uint32_t)strtoul(number + 1, &end, 10) : 0;
    *ret = (struct pfd_site_rule){ .is_on = true, .budget = PFD_NO_BUDGET };
    if (number && (end == number + 1 || *end))
        return false;
    if (!strncmp(text, "budget=", 7)) {
        ret->budget = value;
    } else if (!strncmp(text, "every=", 6)) {
        ret->every = value;
    } else {
        ret->is_on = !strcmp(text, "on");
        return ret->is_on || !strcmp(text, "off");
    }
    return true;
}

static bool set_rule(const char *text)
{
    struct pfd_control *control = pfd_sites_control(sites, NULL);
    struct pfd_control_range *range = range_of(control, text);
    char copy[512];
    struct pfd_site_match match = { 0 };
    struct pfd_site_rule rule;
    if (range) {
        control->is_filtered = 1;
        return set_range(range, strchr(text, '=') + 1);
    }
    snprintf(copy, sizeof copy, "%s", text);
    char *file = strchr(copy, '@');
    if (file) {
        *file++ = '\0';
        match.file = file;
        char *line = strrchr(file, ':');
        if (line) {
            *line++ = '\0';
            match.line = (uint32_t)strtoul(line, NULL, 10);
        }
    }
    return read_rule(copy, &rule) &&
           pfd_sites_set(sites, file ? &match : NULL, &rule) > 0;
}

void *printer_control(const struct printer_options *o, size_t *n)
{
    struct pfd_error err;
    if (!o->strings) {
        fprintf(stderr,
                "%s: the shader asks what it may print: --strings FILE "
                "is missing\n",
                o->program);
        return NULL;
    }
    if (pfd_sites_new(o->strings, &sites, &err) != PFD_OK) {
        fprintf(stderr, "%s: %s\n", o->program, err.text);
        return NULL;
    }
    for (size_t i = 0; i < o->n_rules; i++) {
        if (!set_rule(o->rules[i])) {
            fprintf(stderr, "%s: %s is no rule, or no site is meant\n",
                    o->program, o->rules[i]);
            return NULL;
        }
    }
    return pfd_sites_control(sites, n);
}

void printer_say_withheld(const void *control, size_t n)
{
    struct pfd_site_info site = { 0 };
    pfd_sites_take(sites, control, n, NULL);
    for (size_t i = 0; pfd_sites_get(sites, i, &site) == PFD_OK; i++) {
        if (!site.now.withheld)
            continue;
        fprintf(stderr, "%.*s:%u: %llu entries were withheld\n",
                (int)site.n_file, site.file, site.line,
                (unsigned long long)site.now.withheld);
    }
}

/* ---- sharing ---- */

static void *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    void *ret = file ? malloc(FILE_MAX) : NULL;
    *n = ret ? fread(ret, 1, FILE_MAX, file) : 0;
    if (file)
        fclose(file);
    if (*n == 0)
        perror(path);
    return ret;
}

void *printer_share(const struct printer_options *o, size_t n_bytes)
{
    struct pfd_error err;
    struct pfd_wire_frame origin = { .size = n_bytes };
    size_t n = 0;
    void *strings = read_file(o->strings, &n);
    origin.name = pfd_wire_text("printf");
    origin.format = pfd_wire_text("llpc");
    bool ok =
        n > 0 && pfd_client_new(NULL, o->program, 0, &client, &err) == PFD_OK &&
        pfd_client_code_object(client, o->strings, strings, n, NULL, &err) ==
            PFD_OK &&
        pfd_client_buffer_new(client, &origin, true, &buffer, &err) == PFD_OK;
    free(strings);
    if (!ok) {
        fprintf(stderr, "%s: the buffer cannot be shared\n", o->program);
        return NULL;
    }
    pfd_client_poll(client);
    return pfd_client_buffer_memory(buffer, NULL);
}

void printer_close(void)
{
    if (buffer)
        pfd_client_buffer_ring(buffer);
    pfd_client_buffer_free(buffer);
    pfd_client_free(client);
    pfd_sites_free(sites);
}
