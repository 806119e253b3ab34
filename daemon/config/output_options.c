/* SPDX-License-Identifier: MIT */
#include "config/output_options.h"

#include <stddef.h>
#include <string.h>

#include "config/field_map.h"
#include "config/units.h"

#define AT(member) offsetof(struct pfdd_output_config, member)

static const char *const forms[] = { "json", "text", "raw", NULL };
/* In the order of enum pfdd_collapse, as in requests. */
static const char *const collapses[] = { "false", "true", "equal", NULL };
static const char *const lags[] = { "drop_oldest", "disconnect", "wait", NULL };

void pfdd_check_word(const struct pfdd_places *places, const char *key,
                     const char *text)
{
    size_t n =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY"
                     "Z0123456789-._");
    if (n == 0 || n > 64 || text[n]) {
        pfdd_diagnostics_add(
            places, key, "'%s' is of 1 to 64 letters, digits, '-', '_', '.'",
            key);
    }
}

const char *pfdd_output_name(const struct pfdd_output_config *config)
{
    const char *address = config->access.address.text;
    return config->name ? config->name
           : *address   ? address
                        : config->block.type_class->name;
}

const char *pfdd_output_form(const struct pfdd_output_config *config)
{
    return forms[config->form];
}

const struct pfdd_output_class *pfdd_output_class_of(
    const struct pfdd_output_config *config)
{
    return (const struct pfdd_output_class *)config->block.type_class;
}

void pfdd_output_explain(const struct pfdd_output_config *config, FILE *out)
{
    if (config->match)
        fprintf(out, ", messages that match %s", config->match);
    if (config->batch_ms) {
        fputs(", in batches of ", out);
        pfdd_units_put_size(out, config->batch_size);
        fputs(" or what comes within ", out);
        pfdd_units_put_time(out, config->batch_ms);
    }
    for (size_t i = 0; i < config->keys.n; i++) {
        fprintf(out, "%s%s", i ? " " : ", with the names ",
                config->keys.items[i]);
    }
    if (!config->findings || config->entries_only) {
        fprintf(out, ", without findings%s",
                config->findings ? "" : " and gaps");
    }
}

/* Its keys that filter entries, each a member of a request. */
enum {
    N_CHOICES = 4
};
struct choice {
    const char *key;
    const char *value; /* NULL: not given */
};

static void get_choices(const struct pfdd_output_config *out,
                        struct choice ret[N_CHOICES])
{
    ret[0] = (struct choice){ "match", out->match };
    ret[1] = (struct choice){ "format_string", out->format_string };
    ret[2] = (struct choice){ "id", out->id };
    ret[3] = (struct choice){ "where", out->where };
}

bool pfdd_output_request(const struct pfdd_output_config *out,
                         struct pfdd_request *ret, char *err, size_t n_err)
{
    struct choice choices[N_CHOICES];
    get_choices(out, choices);
    *ret = (struct pfdd_request){ .form = (enum pfdd_form)out->form };
    ret->ignore_case = out->ignore_case;
    ret->invert = out->invert;
    ret->wants.entries_only = out->entries_only;
    ret->wants.no_findings = !out->findings;
    ret->wants.fields = out->fields;
    ret->wants.collapse = (enum pfdd_collapse)out->collapse;
    ret->wants.window = out->window;
    if (out->keys.n) {
        ret->wants.map =
            pfdd_field_map_new(out->keys.items, out->keys.n, err, n_err);
        if (!ret->wants.map)
            return false;
    }
    for (size_t i = 0; i < N_CHOICES; i++) {
        if (choices[i].value && !pfdd_request_set(ret, choices[i].key,
                                                  choices[i].value, err, n_err))
            return false;
    }
    ret->keys_seen = 0; /* a request may override them */
    return true;
}

static void check_required(const struct pfdd_output_config *out,
                           const struct pfdd_places *places)
{
    if (out->form != PFDD_JSON) {
        pfdd_diagnostics_add(places, NULL,
                             "a required output is json: only there lines have "
                             "numbers");
    }
    if (out->collapse) {
        pfdd_diagnostics_add(
            places, "collapse",
            "a required output has each entry: not 'collapse'");
    }
}

/* Reports an error of a request at the key that caused it, by its name. */
static void add_request_error(const struct pfdd_places *places, const char *key,
                              const char *err)
{
    size_t n = strlen(key);
    bool is_named =
        *err == '\'' && !strncmp(err + 1, key, n) && err[1 + n] == '\'';
    if (is_named) {
        pfdd_diagnostics_add(places, key, "%s", err);
    } else {
        pfdd_diagnostics_add(places, key, "'%s': %s", key, err);
    }
}

/* Each on its own: all that are wrong are reported. */
static void check_choice(const void *group, const struct pfdd_places *places)
{
    const struct pfdd_output_config *out = group;
    struct choice choices[N_CHOICES];
    char err[256];
    get_choices(out, choices);
    for (size_t i = 0; i < N_CHOICES; i++) {
        struct pfdd_request request = { .ignore_case = out->ignore_case };
        const struct choice *c = &choices[i];
        if (c->value &&
            !(pfdd_request_set(&request, c->key, c->value, err, sizeof err) &&
              pfdd_request_finish(&request, err, sizeof err)))
            add_request_error(places, c->key, err);
        pfdd_request_deinit(&request);
    }
}

static void check_collapse(const struct pfdd_output_config *out,
                           const struct pfdd_places *places)
{
    struct pfdd_request request = { .form = (enum pfdd_form)out->form };
    char err[256];
    request.wants.collapse = (enum pfdd_collapse)out->collapse;
    request.wants.window = out->window;
    if (!pfdd_request_finish(&request, err, sizeof err))
        add_request_error(places, out->collapse ? "collapse" : "window", err);
    pfdd_request_deinit(&request);
}

static void check_keys(const struct pfdd_output_config *out,
                       const struct pfdd_places *places)
{
    char err[200];
    struct pfdd_field_map *map =
        pfdd_field_map_new(out->keys.items, out->keys.n, err, sizeof err);
    if (!map) {
        pfdd_diagnostics_add(places, "keys", "'keys': %s", err);
    } else if (out->required && (!pfdd_field_map_keeps(map, "sequence") ||
                                 !pfdd_field_map_keeps(map, "time"))) {
        pfdd_diagnostics_add(
            places, "keys",
            "a required output has 'sequence' and 'time', each under "
            "a name of its own: by these it is known where it goes "
            "on");
    }
    pfdd_field_map_free(map);
    if (out->form != PFDD_JSON || out->collapse) {
        pfdd_diagnostics_add(places, "keys",
                             "'keys' are of json, not collapsed");
    }
}

static void check_form(const void *group, const struct pfdd_places *places)
{
    const struct pfdd_output_config *out = group;
    check_collapse(out, places);
    if (out->required)
        check_required(out, places);
    if (out->keys.n)
        check_keys(out, places);
    if (out->fields && out->form != PFDD_JSON)
        pfdd_diagnostics_add(places, "fields", "'fields' are of json");
}

static const struct pfdd_key choice_keys[] = {
    { .name = "name", .kind = PFDD_KEY_TEXT, .at = AT(name) },
    { .name = "match", .kind = PFDD_KEY_TEXT, .at = AT(match) },
    { .name = "format_string", .kind = PFDD_KEY_TEXT, .at = AT(format_string) },
    { .name = "id", .kind = PFDD_KEY_TEXT, .at = AT(id) },
    { .name = "where", .kind = PFDD_KEY_TEXT, .at = AT(where) },
    { .name = "ignore_case", .kind = PFDD_KEY_BOOL, .at = AT(ignore_case) },
    { .name = "invert", .kind = PFDD_KEY_BOOL, .at = AT(invert) },
    { .name = "entries_only", .kind = PFDD_KEY_BOOL, .at = AT(entries_only) },
    { .name = "findings",
      .kind = PFDD_KEY_BOOL,
      .at = AT(findings),
      .initial = true },
    { 0 },
};
const struct pfdd_group pfdd_render_choice_group = { choice_keys,
                                                     check_choice };

static const struct pfdd_key form_keys[] = {
    { .name = "output", .kind = PFDD_KEY_WORD, .at = AT(form), .words = forms },
    { .name = "required", .kind = PFDD_KEY_BOOL, .at = AT(required) },
    { .name = "keys", .kind = PFDD_KEY_NAMES, .at = AT(keys) },
    { .name = "fields", .kind = PFDD_KEY_BOOL, .at = AT(fields) },
    { .name = "collapse",
      .kind = PFDD_KEY_WORD,
      .at = AT(collapse),
      .words = collapses },
    { .name = "window",
      .kind = PFDD_KEY_NUMBER,
      .at = AT(window),
      .min = 1,
      .max = 1 << 20 },
    { 0 },
};
const struct pfdd_group pfdd_form_group = { form_keys, check_form };

static const struct pfdd_key required_keys[] = {
    { .name = "required", .kind = PFDD_KEY_BOOL, .at = AT(required) },
    { 0 },
};
const struct pfdd_group pfdd_required_group = { required_keys, NULL };

static const struct pfdd_key lag_keys[] = {
    { .name = "on_lag",
      .kind = PFDD_KEY_WORD,
      .at = AT(on_lag),
      .words = lags },
    { 0 },
};
const struct pfdd_group pfdd_lag_group = { lag_keys, NULL };
