/* SPDX-License-Identifier: MIT */
#include "config/config.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include <printfdecode/printfdecode.h>

#include "config/keys.h"
#include "core/feature.h"
#include "core/name.h"

enum {
    CONFIG_MAX = 1 << 20, /* bytes of a file */
    ITEMS_MAX = 4096,     /* of a list */
};

/* What is being read, and who hears what is wrong with it. */
struct context {
    const char *name;
    yaml_document_t *doc;
    pfdd_config_tell_fn tell;
    void *user;
    unsigned n_errors;
};

/* The keys of a type of block, and those it cannot do without; by type. */
struct block_type {
    const char *allowed;
    const char *needed;
};

#define OPTIONS " compat layout opencl_strings "

static const struct block_type input_blocks[] = {
    { OPTIONS " name path format settle ", " path " },
    { OPTIONS " path format code_objects dumps owners ", " path " },
    { OPTIONS
      " address mode allow_uids allow_gids max_clients settle tls_certificate "
      "tls_key tls_ca code_object_uris ",
      " address " },
    { OPTIONS " address settle tls_certificate tls_key tls_ca tls_name "
              "code_object_uris ",
      " address " },
    { OPTIONS " settle ", "" },
};

#define CHOICE " match format_string id where ignore_case invert "

static const struct block_type output_blocks[] = {
    { CHOICE " name output entries_only findings required ", "" },
    { CHOICE " name path output entries_only findings required rotate_size "
             "rotate_age keep compress ",
      " path " },
    { CHOICE
      " name address mode allow_uids allow_gids max_clients output "
      "entries_only findings required on_lag tls_certificate tls_key tls_ca ",
      " address " },
    { " address mode allow_uids allow_gids max_clients on_lag idle_timeout "
      "tls_certificate "
      "tls_key tls_ca ",
      " address " },
};

__attribute__((format(printf, 3, 4))) static bool wrong(struct context *c,
                                                        yaml_mark_t mark,
                                                        const char *text, ...)
{
    char what[320];
    char line[768];
    va_list args;
    va_start(args, text);
    vsnprintf(what, sizeof what, text, args);
    va_end(args);
    snprintf(line, sizeof line, "%s:%zu:%zu: %s", c->name, mark.line + 1,
             mark.column + 1, what);
    c->tell(c->user, line);
    c->n_errors++;
    return false;
}

static const char *scalar(const yaml_node_t *node)
{
    if (node->type != YAML_SCALAR_NODE)
        return NULL;
    const char *text = (const char *)node->data.scalar.value;
    return strlen(text) == node->data.scalar.length ? text : NULL;
}

struct unit {
    const char *name;
    uint64_t factor;
};

static bool read_number(const char *text, const struct unit *units,
                        uint64_t *ret)
{
    char *end = NULL;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno)
        return false;
    for (const struct unit *u = units; u->name; u++) {
        if (!strcmp(end, u->name))
            return !__builtin_mul_overflow(value, u->factor, ret);
    }
    return false;
}

static bool read_text(struct context *c, const yaml_node_t *node,
                      const struct pfdd_key *key, char *at)
{
    const char *text = scalar(node);
    if (!text || !*text)
        return wrong(c, node->start_mark, "'%s' wants a text", key->name);
    *(char **)(void *)at = strdup(text);
    return true;
}

static bool read_bool(struct context *c, const yaml_node_t *node,
                      const struct pfdd_key *key, char *at)
{
    const char *text = scalar(node);
    bool yes = text && (!strcmp(text, "true") || !strcmp(text, "yes"));
    bool no = text && (!strcmp(text, "false") || !strcmp(text, "no"));
    if (!yes && !no)
        return wrong(c, node->start_mark, "'%s' is true or false", key->name);
    *(bool *)(void *)at = yes;
    return true;
}

static bool read_word(struct context *c, const yaml_node_t *node,
                      const struct pfdd_key *key, char *at)
{
    const char *text = scalar(node);
    char all[160] = "";
    for (unsigned i = 0; key->words[i]; i++) {
        if (text && !strcmp(text, key->words[i])) {
            *(unsigned *)(void *)at = i;
            return true;
        }
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                 i ? ", " : "", key->words[i]);
    }
    return wrong(c, node->start_mark, "'%s' is one of: %s", key->name, all);
}

static bool read_option(struct context *c, const yaml_node_t *node,
                        const struct pfdd_key *key, char *at)
{
    struct pfd_error err;
    const char *text = scalar(node);
    if (text && pfd_options_set((struct pfd_options *)(void *)at, key->name,
                                text, &err) == PFD_OK)
        return true;
    return wrong(c, node->start_mark, "'%s': %s", key->name,
                 text ? err.text : "a text is wanted");
}

static bool read_amount(struct context *c, const yaml_node_t *node,
                        const struct pfdd_key *key, char *at)
{
    static const struct unit plain[] = { { "", 1 }, { 0 } };
    static const struct unit sizes[] = { { "", 1 },          { "B", 1 },
                                         { "KiB", 1 << 10 }, { "MiB", 1 << 20 },
                                         { "GiB", 1 << 30 }, { 0 } };
    static const struct unit times[] = { { "ms", 1 },       { "s", 1000 },
                                         { "min", 60000 },  { "h", 3600000 },
                                         { "d", 86400000 }, { 0 } };
    const struct unit *units = key->kind == PFDD_KEY_SIZE   ? sizes
                               : key->kind == PFDD_KEY_TIME ? times
                                                            : plain;
    static const char *const like[] = { "a whole number",
                                        "a size such as 32MiB",
                                        "a time such as 100ms or 5s" };
    uint64_t value = 0;
    const char *text = scalar(node);
    if (!text || !read_number(text, units, &value)) {
        return wrong(c, node->start_mark, "'%s' wants %s", key->name,
                     like[key->kind - PFDD_KEY_NUMBER]);
    }
    if (value < key->min || value > key->max) {
        return wrong(c, node->start_mark,
                     "'%s' is from %" PRIu64 " to %" PRIu64 "%s", key->name,
                     key->min, key->max,
                     key->kind == PFDD_KEY_SIZE   ? " bytes"
                     : key->kind == PFDD_KEY_TIME ? " ms"
                                                  : "");
    }
    *(uint64_t *)(void *)at = value;
    return true;
}

static bool read_mode(struct context *c, const yaml_node_t *node,
                      const struct pfdd_key *key, char *at)
{
    const char *text = scalar(node);
    char *end = NULL;
    unsigned long mode = text ? strtoul(text, &end, 8) : 0;
    if (!text || !*text || *end || mode > key->max) {
        return wrong(c, node->start_mark, "'%s' is octal, such as 0660",
                     key->name);
    }
    *(unsigned *)(void *)at = (unsigned)mode;
    return true;
}

static bool find_id(const char *text, bool is_user, unsigned *ret)
{
    char *end = NULL;
    unsigned long id = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && id < UINT32_MAX) {
        *ret = (unsigned)id;
        return true;
    }
    const struct passwd *user = is_user ? getpwnam(text) : NULL;
    const struct group *group = is_user ? NULL : getgrnam(text);
    if (!user && !group)
        return false;
    *ret = user ? user->pw_uid : group->gr_gid;
    return true;
}

static bool read_list(struct context *c, const yaml_node_t *node,
                      const struct pfdd_key *key, char *at)
{
    if (node->type != YAML_SEQUENCE_NODE)
        return wrong(c, node->start_mark, "'%s' wants a list", key->name);
    const yaml_node_item_t *item = node->data.sequence.items.start;
    size_t n = (size_t)(node->data.sequence.items.top - item);
    if (n > ITEMS_MAX) {
        return wrong(c, node->start_mark, "'%s' has more than %d items",
                     key->name, ITEMS_MAX);
    }
    struct pfdd_names *names = (void *)at;
    struct pfdd_ids *ids = (void *)at;
    if (key->kind == PFDD_KEY_NAMES) {
        names->items = calloc(n + 1, sizeof *names->items);
    } else {
        ids->items = calloc(n + 1, sizeof *ids->items);
    }
    for (size_t i = 0; i < n; i++) {
        const yaml_node_t *one = yaml_document_get_node(c->doc, item[i]);
        const char *text = scalar(one);
        if (!text || !*text) {
            return wrong(c, one->start_mark, "'%s' is a list of texts",
                         key->name);
        }
        if (key->kind == PFDD_KEY_NAMES) {
            names->items[names->n++] = strdup(text);
        } else if (!find_id(text, key->kind == PFDD_KEY_UIDS,
                            &ids->items[ids->n++])) {
            return wrong(c, one->start_mark, "there is no %s '%.64s'",
                         key->kind == PFDD_KEY_UIDS ? "user" : "group", text);
        }
    }
    return true;
}

static bool read_value(struct context *c, const yaml_node_t *node,
                       const struct pfdd_key *key, char *at)
{
    switch (key->kind) {
    case PFDD_KEY_TEXT:
        return read_text(c, node, key, at);
    case PFDD_KEY_BOOL:
        return read_bool(c, node, key, at);
    case PFDD_KEY_WORD:
        return read_word(c, node, key, at);
    case PFDD_KEY_OPTION:
        return read_option(c, node, key, at);
    case PFDD_KEY_MODE:
        return read_mode(c, node, key, at);
    case PFDD_KEY_NUMBER:
    case PFDD_KEY_SIZE:
    case PFDD_KEY_TIME:
        return read_amount(c, node, key, at);
    case PFDD_KEY_NAMES:
    case PFDD_KEY_UIDS:
    case PFDD_KEY_GIDS:
        return read_list(c, node, key, at);
    case PFDD_KEY_BLOCKS:
        break;
    }
    return true;
}

static const struct pfdd_key *find_key(const struct pfdd_key *keys,
                                       const char *name)
{
    for (; keys->name; keys++) {
        if (!strcmp(keys->name, name))
            return keys;
    }
    return NULL;
}

/* The value of a key in a mapping; NULL: it has none. */
static const yaml_node_t *find_value(struct context *c, const yaml_node_t *map,
                                     const char *name)
{
    const yaml_node_pair_t *pair = map->data.mapping.pairs.start;
    for (; pair < map->data.mapping.pairs.top; pair++) {
        const char *key = scalar(yaml_document_get_node(c->doc, pair->key));
        if (key && !strcmp(key, name))
            return yaml_document_get_node(c->doc, pair->value);
    }
    return NULL;
}

static yaml_mark_t mark_of(struct context *c, const yaml_node_t *map,
                           const char *name)
{
    const yaml_node_t *node = find_value(c, map, name);
    return node ? node->start_mark : map->start_mark;
}

static void read_map(struct context *c, const yaml_node_t *map,
                     const struct pfdd_key *keys, char *base,
                     const struct block_type *type)
{
    uint64_t given = 0;
    const yaml_node_pair_t *pair = map->data.mapping.pairs.start;
    for (; pair < map->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name = yaml_document_get_node(c->doc, pair->key);
        const char *text = scalar(name);
        const struct pfdd_key *key = text ? find_key(keys, text) : NULL;
        char padded[40];
        snprintf(padded, sizeof padded, " %.36s ", text ? text : "");
        if (!key) {
            wrong(c, name->start_mark, "unknown key '%.64s'",
                  text ? text : "(not a text)");
        } else if (type && strcmp(text, "type") != 0 &&
                   !strstr(type->allowed, padded)) {
            wrong(c, name->start_mark, "'%s' is no key of this type", text);
        } else if (given & UINT64_C(1) << (key - keys)) {
            wrong(c, name->start_mark, "'%s' is given twice", text);
        } else {
            given |= UINT64_C(1) << (key - keys);
            read_value(c, yaml_document_get_node(c->doc, pair->value), key,
                       base + key->at);
        }
    }
    for (const struct pfdd_key *key = keys; type && key->name; key++) {
        char padded[40];
        snprintf(padded, sizeof padded, " %s ", key->name);
        if (strstr(type->needed, padded) &&
            !(given & UINT64_C(1) << (key - keys)))
            wrong(c, map->start_mark, "'%s' is missing", key->name);
    }
}

static void check_address(struct context *c, const yaml_node_t *map,
                          const char *text, struct pfdd_address *ret)
{
    char err[160];
    const yaml_node_t *node = text ? find_value(c, map, "address") : NULL;
    if (node && !pfdd_address_read(ret, text, err, sizeof err))
        wrong(c, node->start_mark, "'address': %s", err);
}

/* What is asked for has to have been built. */
static void check_feature(struct context *c, const yaml_node_t *map,
                          enum pfdd_feature feature, const char *what)
{
    if (!pfdd_feature_is_there(feature)) {
        wrong(c, map->start_mark, "this printfdecoded is built without %s: %s",
              what, pfdd_feature_remedy(feature));
    }
}

/* All of a certificate, its key and whom to trust, or nothing of it; something
 * where others can listen in. */
static void check_tls(struct context *c, const yaml_node_t *map,
                      const struct pfdd_address *address,
                      const struct pfdd_tls_config *tls)
{
    const char *const keys[] = { "tls_certificate", "tls_key", "tls_ca" };
    const char *const values[] = { tls->certificate, tls->key, tls->authority };
    bool any = tls->certificate || tls->key || tls->authority || tls->name;
    bool is_beyond =
        address->host[0] && !address->is_unix && !address->is_loopback;
    if (is_beyond && !any) {
        wrong(c, mark_of(c, map, "address"),
              "TCP beyond this machine wants TLS: give 'tls_certificate', "
              "'tls_key' and 'tls_ca', or use 127.0.0.1, ::1 or a unix socket");
        return;
    }
    for (int i = 0; any && i < 3; i++) {
        if (values[i] && address->is_unix)
            wrong(c, mark_of(c, map, keys[i]), "'%s' is for TCP", keys[i]);
        if (!values[i] && !address->is_unix)
            wrong(c, map->start_mark, "'%s' is missing", keys[i]);
    }
    if (any)
        check_feature(c, map, PFDD_FEATURE_TLS, "TLS");
}

static bool is_format(const char *name)
{
    struct pfd_format_info info;
    for (size_t i = 0; pfd_format_get(i, &info) == PFD_OK; i++) {
        if (!strcmp(info.name, name))
            return true;
    }
    return false;
}

static void check_input(struct context *c, const yaml_node_t *map,
                        struct pfdd_input_config *in)
{
    char name[PFDD_NAME_ROOM];
    check_address(c, map, in->address_text, &in->address);
    check_tls(c, map, &in->address, &in->access.tls);
    if (find_value(c, map, "code_object_uris") && !in->address.is_unix) {
        wrong(c, mark_of(c, map, "code_object_uris"),
              "'code_object_uris' is for unix sockets: who sends on others is "
              "not known");
    }
    if (in->format && !is_format(in->format)) {
        wrong(c, mark_of(c, map, "format"),
              "no buffer format is called '%.64s'", in->format);
    }
    if (in->name && !pfdd_name_put(name, in->name, strlen(in->name)))
        wrong(c, mark_of(c, map, "name"), "'name' is too long for a name");
    if (in->type == PFDD_INPUT_DIRECTORY && !in->code_objects && !in->dumps) {
        wrong(c, map->start_mark,
              "a directory wants 'code_objects', 'dumps' or both");
    }
}

static bool is_template(const char *path)
{
    for (const char *at = strchr(path, '{'); at; at = strchr(at + 1, '{')) {
        if (strncmp(at, "{host}", 6) != 0 && strncmp(at, "{pid}", 5) != 0 &&
            strncmp(at, "{buffer}", 8) != 0)
            return false;
    }
    return true;
}

/* The first of its keys that choose entries; NULL: none does. */
static const char *choice_key(const struct pfdd_output_config *out)
{
    return out->match           ? "match"
           : out->where         ? "where"
           : out->format_string ? "format_string"
           : out->id            ? "id"
                                : NULL;
}

bool pfdd_config_request(const struct pfdd_output_config *out,
                         struct pfdd_request *ret, char *err, size_t n_err)
{
    const struct {
        const char *key;
        const char *value;
    } keys[] = {
        { "match", out->match },
        { "format_string", out->format_string },
        { "id", out->id },
        { "where", out->where },
    };
    *ret = (struct pfdd_request){ .form = (enum pfdd_form)out->form };
    ret->ignore_case = out->ignore_case;
    ret->invert = out->invert;
    ret->wants.entries_only = out->entries_only;
    ret->wants.no_findings = !out->findings;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i].value &&
            !pfdd_request_set(ret, keys[i].key, keys[i].value, err, n_err))
            return false;
    }
    ret->keys_seen = 0; /* who asks may say them otherwise */
    return true;
}

static void check_output(struct context *c, const yaml_node_t *map,
                         struct pfdd_output_config *out)
{
    char err[256];
    struct pfdd_request request;
    check_address(c, map, out->address_text, &out->address);
    check_tls(c, map, &out->address, &out->access.tls);
    if (out->type == PFDD_OUTPUT_HTTP)
        check_feature(c, map, PFDD_FEATURE_HTTP, "HTTP");
    if (!pfdd_config_request(out, &request, err, sizeof err) ||
        !pfdd_request_finish(&request, err, sizeof err)) {
        wrong(c, mark_of(c, map, choice_key(out)), "'%s': %s", choice_key(out),
              err);
    }
    pfdd_request_deinit(&request);
    if (out->type == PFDD_OUTPUT_FILE && out->path && !is_template(out->path)) {
        wrong(c, mark_of(c, map, "path"),
              "'path' knows {host}, {pid} and {buffer}");
    }
    if (out->required && out->form != PFDD_JSON) {
        wrong(c, map->start_mark,
              "a required output is json: only there lines have numbers");
    }
    if (out->required &&
        (choice_key(out) || out->entries_only || !out->findings)) {
        wrong(c,
              mark_of(c, map,
                      choice_key(out)     ? choice_key(out)
                      : out->entries_only ? "entries_only"
                                          : "findings"),
              "a required output gets all lines");
    }
    if (out->required && out->on_lag == PFDD_DISCONNECT) {
        wrong(c, mark_of(c, map, "on_lag"),
              "a required output is waited for, whatever its lag");
    }
    if (out->name && out->type == PFDD_OUTPUT_LISTEN && !out->required) {
        wrong(c, mark_of(c, map, "name"),
              "'name' is for required outputs: the checkpoint has it");
    }
    if (out->required && out->path && strstr(out->path, "{buffer}"))
        wrong(c, map->start_mark, "a required output is one file: no {buffer}");
}

static void read_input(struct context *c, const yaml_node_t *map, void *at)
{
    struct pfdd_input_config *in = at;
    *in = (struct pfdd_input_config){
        .settle_ms = 100, .access = { .mode = 0660, .max_clients = 64 }
    };
    const yaml_node_t *type = find_value(c, map, "type");
    if (!type) {
        wrong(c, map->start_mark, "'type' is missing");
    } else if (read_word(c, type, &pfdd_input_keys[0], (char *)in)) {
        read_map(c, map, pfdd_input_keys, (char *)in, &input_blocks[in->type]);
        check_input(c, map, in);
    }
}

static void read_output(struct context *c, const yaml_node_t *map, void *at)
{
    struct pfdd_output_config *out = at;
    *out = (struct pfdd_output_config){
        .findings = true,
        .idle_ms = 30000,
        .access = { .mode = 0660, .max_clients = 64 },
    };
    const yaml_node_t *type = find_value(c, map, "type");
    if (!type) {
        wrong(c, map->start_mark, "'type' is missing");
    } else if (read_word(c, type, &pfdd_output_keys[0], (char *)out)) {
        read_map(c, map, pfdd_output_keys, (char *)out,
                 &output_blocks[out->type]);
        check_output(c, map, out);
    }
}

static void *read_blocks(struct context *c, const yaml_node_t *root,
                         const char *name, size_t size, size_t *n_ret,
                         void (*read)(struct context *, const yaml_node_t *,
                                      void *))
{
    const yaml_node_t *node = find_value(c, root, name);
    if (!node)
        return NULL;
    const yaml_node_item_t *item = node->data.sequence.items.start;
    if (node->type != YAML_SEQUENCE_NODE) {
        wrong(c, node->start_mark, "'%s' wants a list", name);
        return NULL;
    }
    size_t n = (size_t)(node->data.sequence.items.top - item);
    if (n > ITEMS_MAX) {
        wrong(c, node->start_mark, "more than %d %s", ITEMS_MAX, name);
        return NULL;
    }
    char *ret = calloc(n + 1, size);
    for (size_t i = 0; ret && i < n; i++) {
        const yaml_node_t *block = yaml_document_get_node(c->doc, item[i]);
        if (block->type != YAML_MAPPING_NODE) {
            wrong(c, block->start_mark, "an item of '%s' is a mapping", name);
        } else {
            read(c, block, ret + i * size);
        }
    }
    *n_ret = ret ? n : 0;
    return ret;
}

/* What the checkpoint calls a required output. */
static const char *checkpoint_name(const struct pfdd_output_config *out)
{
    return out->path           ? out->path
           : out->name         ? out->name
           : out->address_text ? out->address_text
                               : "stdout";
}

static bool is_taken(const struct pfdd_config *config, size_t n)
{
    const char *name = checkpoint_name(&config->outputs[n]);
    for (size_t i = 0; i < n; i++) {
        if (config->outputs[i].required &&
            !strcmp(checkpoint_name(&config->outputs[i]), name))
            return true;
    }
    return false;
}

static unsigned count_inputs(const struct pfdd_config *config, unsigned type)
{
    unsigned n = 0;
    for (size_t i = 0; i < config->n_inputs; i++)
        n += config->inputs[i].type == type;
    return n;
}

static unsigned count_outputs(const struct pfdd_config *config, unsigned type)
{
    unsigned n = 0;
    for (size_t i = 0; i < config->n_outputs; i++)
        n += config->outputs[i].type == type;
    return n;
}

static void check_all(struct context *c, const yaml_node_t *root,
                      const struct pfdd_config *config)
{
    bool required = false;
    for (size_t i = 0; i < config->n_outputs; i++) {
        required |= config->outputs[i].required;
        if (config->outputs[i].required && is_taken(config, i)) {
            wrong(c, root->start_mark,
                  "two required outputs are called '%.64s'",
                  checkpoint_name(&config->outputs[i]));
        }
    }
    if (config->n_inputs == 0)
        wrong(c, root->start_mark, "no inputs: there is nothing to do");
    if (required && !config->state_dir) {
        wrong(c, root->start_mark,
              "a required output needs 'state_dir' for its queue");
    }
    if (count_inputs(config, PFDD_INPUT_STDIN) > 1)
        wrong(c, root->start_mark, "there is one standard input only");
    if (count_outputs(config, PFDD_OUTPUT_STDOUT) > 1)
        wrong(c, root->start_mark, "there is one standard output only");
    if (config->ring > config->memory_max / 2)
        wrong(c, root->start_mark, "'ring' is more than half of 'memory_max'");
}

static void read_root(struct context *c, struct pfdd_config *config)
{
    const yaml_node_t *root = yaml_document_get_root_node(c->doc);
    yaml_mark_t start = { 0 };
    if (!root || root->type != YAML_MAPPING_NODE) {
        wrong(c, root ? root->start_mark : start,
              "a configuration is a mapping");
        return;
    }
    read_map(c, root, pfdd_top_keys, (char *)config, NULL);
    config->inputs = read_blocks(c, root, "inputs", sizeof *config->inputs,
                                 &config->n_inputs, read_input);
    config->outputs = read_blocks(c, root, "outputs", sizeof *config->outputs,
                                  &config->n_outputs, read_output);
    if (c->n_errors == 0)
        check_all(c, root, config);
}

struct pfdd_config *pfdd_config_read_text(const char *name, const char *text,
                                          size_t n, pfdd_config_tell_fn tell,
                                          void *user)
{
    struct context c = { .name = name, .tell = tell, .user = user };
    struct pfdd_config *config = calloc(1, sizeof *config);
    yaml_parser_t parser;
    yaml_document_t doc;
    if (!config || !yaml_parser_initialize(&parser)) {
        free(config);
        tell(user, "out of memory");
        return NULL;
    }
    config->log_level = PFDD_INFO;
    config->sandbox = true;
    config->ring = 32 << 20;
    config->memory_max = 256 << 20;
    config->queue_max = UINT64_C(1) << 30;
    config->drain_ms = 5000;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
    if (!yaml_parser_load(&parser, &doc)) {
        wrong(&c, parser.problem_mark, "%s",
              parser.problem ? parser.problem : "out of memory");
    } else {
        c.doc = &doc;
        read_root(&c, config);
        yaml_document_delete(&doc);
    }
    yaml_parser_delete(&parser);
    if (c.n_errors == 0)
        return config;
    pfdd_config_free(config);
    return NULL;
}

struct pfdd_config *pfdd_config_read(const char *path, pfdd_config_tell_fn tell,
                                     void *user)
{
    char why[512];
    char *text = malloc(CONFIG_MAX + 1);
    FILE *file = fopen(path, "re");
    size_t n = text && file ? fread(text, 1, CONFIG_MAX + 1, file) : 0;
    struct pfdd_config *config = NULL;
    if (!file || !text || ferror(file)) {
        snprintf(why, sizeof why, "%s: %s", path, strerror(errno));
    } else if (n > CONFIG_MAX) {
        snprintf(why, sizeof why, "%s: larger than 1 MiB", path);
    } else {
        config = pfdd_config_read_text(path, text, n, tell, user);
    }
    if (!file || !text || ferror(file) || n > CONFIG_MAX)
        tell(user, why);
    if (file)
        fclose(file);
    free(text);
    return config;
}

void pfdd_config_free(struct pfdd_config *config)
{
    if (!config)
        return;
    for (size_t i = 0; i < config->n_inputs; i++)
        pfdd_keys_free(pfdd_input_keys, &config->inputs[i]);
    for (size_t i = 0; i < config->n_outputs; i++)
        pfdd_keys_free(pfdd_output_keys, &config->outputs[i]);
    pfdd_keys_free(pfdd_top_keys, config);
    free(config->inputs);
    free(config->outputs);
    free(config);
}
