/* SPDX-License-Identifier: MIT */
#include "config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/address.h"
#include "config/overlap.h"
#include "config/type_class.h"
#include "config/value.h"

/* Reads mappings of a configuration by tables of keys. */

/* The value of a key in a mapping; NULL: it is missing. */
static const yaml_node_t *map_find(const struct pfdd_document *doc,
                                   const yaml_node_t *map, const char *key)
{
    const yaml_node_pair_t *pair = map->data.mapping.pairs.start;
    for (; pair < map->data.mapping.pairs.top; pair++) {
        const char *text =
            pfdd_scalar(yaml_document_get_node(doc->yaml, pair->key));
        if (text && !strcmp(text, key))
            return yaml_document_get_node(doc->yaml, pair->value);
    }
    return NULL;
}

/* True: the key exists in another class. */
static bool is_of_another(const struct pfdd_type_class *const *classes,
                          const char *key)
{
    for (; classes && *classes; classes++) {
        if ((*classes)->parts && pfdd_keys_find((*classes)->parts, key).key)
            return true;
    }
    return false;
}

/* Reports an invalid key; text is NULL if it is no text. */
static void complain_of_key(const struct pfdd_document *doc,
                            struct pfdd_place place, const char *text,
                            const struct pfdd_part *parts,
                            const struct pfdd_type_class *const *classes)
{
    char near[PFDD_NEAR] = "";
    struct pfdd_key_at at = { NULL, NULL };
    if (text && is_of_another(classes, text)) {
        pfdd_diagnostics_add_at(doc->diagnostics, place,
                                "'%s' is no key of this type", text);
        return;
    }
    if (text && classes)
        pfdd_near_add(near, text, "type");
    while (text && pfdd_keys_next(parts, &at))
        pfdd_near_add(near, text, at.key->name);
    pfdd_diagnostics_add_at(doc->diagnostics, place, "unknown key '%.64s'%s",
                            text ? text : "(not a text)", near);
}

/* True: a block that is there for its anchors, which others refer to. */
static bool is_ignored(const char *text,
                       const struct pfdd_type_class *const *classes)
{
    return !classes && !strncmp(text, "x-", 2);
}

static void read_pair(const struct pfdd_document *doc,
                      const yaml_node_pair_t *pair,
                      const struct pfdd_part *parts,
                      const struct pfdd_type_class *const *classes, void *base,
                      struct pfdd_places *places)
{
    const yaml_node_t *name = yaml_document_get_node(doc->yaml, pair->key);
    const yaml_node_t *value = yaml_document_get_node(doc->yaml, pair->value);
    const char *text = pfdd_scalar(name);
    struct pfdd_key_at at = { NULL, NULL };
    bool is_type = classes && text && !strcmp(text, "type");
    if (text && !is_type)
        at = pfdd_keys_find(parts, text);
    const char *key = is_type ? "type" : at.key ? at.key->name : NULL;
    if (!key && text && is_ignored(text, classes))
        return;
    if (!key) {
        complain_of_key(doc, pfdd_place_of(name), text, parts, classes);
    } else if (pfdd_is_given(places, key)) {
        pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(name),
                                "'%s' is given twice", key);
    } else if (places->n < PFDD_KEYS_MAX) {
        places->given[places->n].key = key;
        places->given[places->n++].at = pfdd_place_of(value);
        if (!is_type)
            pfdd_value_read(doc, value, at.key, pfdd_keys_member(at, base));
    }
}

/*
 * Reads a mapping into a struct that has these parts. classes: an error names
 * keys of other classes as such, and `type` names the class; NULL: neither.
 */
static void map_read(const struct pfdd_document *doc, const yaml_node_t *map,
                     const struct pfdd_part *parts,
                     const struct pfdd_type_class *const *classes, void *base)
{
    struct pfdd_places places = { .diagnostics = doc->diagnostics,
                                  .start = pfdd_place_of(map) };
    struct pfdd_key_at at = { NULL, NULL };
    pfdd_keys_init(parts, base);
    const yaml_node_pair_t *pair = map->data.mapping.pairs.start;
    for (; pair < map->data.mapping.pairs.top; pair++)
        read_pair(doc, pair, parts, classes, base, &places);
    while (pfdd_keys_next(parts, &at)) {
        if (at.key->needed && !pfdd_is_given(&places, at.key->name)) {
            pfdd_diagnostics_add(&places, NULL, "'%s' is missing",
                                 at.key->name);
        }
    }
    for (const struct pfdd_part *part = parts; part->group; part++) {
        if (part->group->check)
            part->group->check((char *)base + part->at, &places);
    }
}

static void report_no_class(const struct pfdd_document *doc,
                            const yaml_node_t *type,
                            const struct pfdd_type_class *const *classes)
{
    const char *text = pfdd_scalar(type);
    char all[160] = "";
    char near[PFDD_NEAR] = "";
    for (size_t i = 0; classes[i]; i++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "",
                 classes[i]->name);
        if (text)
            pfdd_near_add(near, text, classes[i]->name);
    }
    pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(type),
                            "'type' is one of: %s%s", all, near);
}

/* The class of that name; NULL: an error was reported. */
static const struct pfdd_type_class *find_class(
    const struct pfdd_document *doc, const yaml_node_t *map,
    const struct pfdd_type_class *const *classes)
{
    const yaml_node_t *type = map_find(doc, map, "type");
    const char *text = type ? pfdd_scalar(type) : NULL;
    if (!type) {
        pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(map),
                                "'type' is missing");
        return NULL;
    }
    for (size_t i = 0; text && classes[i]; i++) {
        if (!strcmp(text, classes[i]->name))
            return classes[i];
    }
    report_no_class(doc, type, classes);
    return NULL;
}

/* Reads a block of one of the classes. NULL: an error was reported. */
static struct pfdd_block *block_read(
    const struct pfdd_document *doc, const yaml_node_t *map,
    const struct pfdd_type_class *const *classes)
{
    const struct pfdd_type_class *type_class = find_class(doc, map, classes);
    if (type_class && type_class->lacks) {
        pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(map),
                                "this printfdecoded is built without %s: %s",
                                type_class->lacks,
                                pfdd_feature_remedy(type_class->feature));
        return NULL;
    }
    struct pfdd_block *block = type_class ? calloc(1, type_class->size) : NULL;
    if (block) {
        block->type_class = type_class;
        block->place = pfdd_place_of(map);
        map_read(doc, map, type_class->parts, classes, block);
    } else if (type_class) {
        pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(map),
                                "out of memory");
    }
    return block;
}

bool pfdd_block_is_same(const struct pfdd_block *a, const struct pfdd_block *b)
{
    return a->type_class == b->type_class &&
           pfdd_keys_are_same(a->type_class->parts, a, b);
}

void pfdd_block_free(struct pfdd_block *block)
{
    if (block)
        pfdd_keys_free(block->type_class->parts, block);
    free(block);
}

enum {
    CONFIG_MAX = 1 << 20, /* bytes of a file */
};

/* ---- keys ---- */

#define AT(member) offsetof(struct pfdd_config, member)

static const char *const levels[] = { "error", "warning", "info", "debug",
                                      NULL };

static const struct pfdd_key top_keys[] = {
    { .name = "log_level",
      .kind = PFDD_KEY_WORD,
      .at = AT(log_level),
      .words = levels,
      .initial = PFDD_INFO },
    { .name = "ring",
      .kind = PFDD_KEY_SIZE,
      .at = AT(ring),
      .min = 1 << 20,
      .max = UINT64_C(1) << 36 },
    { .name = "memory_max",
      .kind = PFDD_KEY_SIZE,
      .at = AT(memory_max),
      .min = 16 << 20,
      .max = UINT64_C(1) << 40,
      .initial = 256 << 20 },
    { .name = "queue_max",
      .kind = PFDD_KEY_SIZE,
      .at = AT(queue_max),
      .min = 4 << 20,
      .max = UINT64_C(1) << 44,
      .initial = UINT64_C(1) << 30 },
    { .name = "workers",
      .kind = PFDD_KEY_NUMBER,
      .at = AT(workers),
      .max = 64 },
    { .name = "drain",
      .kind = PFDD_KEY_TIME,
      .at = AT(drain_ms),
      .max = UINT64_C(30) * 24 * 3600000,
      .initial = 5000 },
    { .name = "sandbox",
      .kind = PFDD_KEY_BOOL,
      .at = AT(sandbox),
      .initial = true },
    { .name = "code_objects",
      .kind = PFDD_KEY_NAMES,
      .at = AT(code_objects),
      .use = PFDD_USE_READ },
    { .name = "state_dir",
      .kind = PFDD_KEY_TEXT,
      .at = AT(state_dir),
      .use = PFDD_USE_KEEP },
    { .name = "inputs", .kind = PFDD_KEY_BLOCKS },
    { .name = "outputs", .kind = PFDD_KEY_BLOCKS },
    { 0 },
};
static const struct pfdd_group top_group = { top_keys, NULL };
const struct pfdd_part pfdd_config_parts[] = { { &top_group, 0 }, { 0 } };

/* ---- all blocks ---- */

const struct pfdd_input_config *pfdd_config_input(
    const struct pfdd_config *config, size_t i)
{
    return (const struct pfdd_input_config *)config->inputs[i];
}

const struct pfdd_output_config *pfdd_config_output(
    const struct pfdd_config *config, size_t i)
{
    return (const struct pfdd_output_config *)config->outputs[i];
}

struct pfdd_block *pfdd_config_block(const struct pfdd_config *config, size_t i)
{
    return i < config->n_inputs ? config->inputs[i]
                                : config->outputs[i - config->n_inputs];
}

/* Reports blocks of a class that allows only one. */
static void check_only_one(struct pfdd_diagnostics *c,
                           struct pfdd_block *const *blocks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct pfdd_type_class *type_class = blocks[i]->type_class;
        size_t k = 0;
        while (k < i && blocks[k]->type_class != type_class)
            k++;
        if (type_class->only_one && k < i) {
            pfdd_diagnostics_add_at(c, blocks[i]->place, "%s",
                                    type_class->only_one);
        }
    }
}

/* The name of an output in the checkpoint and in metrics; NULL: it has none. */
static const char *name_of(const struct pfdd_config *config, size_t i)
{
    const struct pfdd_output_config *out = pfdd_config_output(config, i);
    const struct pfdd_output_class *class = pfdd_output_class_of(out);
    return class->checkpoint_name ? class->checkpoint_name(out) : NULL;
}

/* True: a file's path is its name, and overlap.h tells files apart. */
static bool is_file(const struct pfdd_output_config *out)
{
    struct pfdd_key_at at = { NULL, NULL };
    while (pfdd_keys_next(out->block.type_class->parts, &at)) {
        if (at.key->use == PFDD_USE_WRITE || at.key->use == PFDD_USE_DATABASE)
            return true;
    }
    return false;
}

/* Required outputs share a checkpoint, outputs of one type a metric. Addresses
 * with port 0 become different ones. */
static bool share_names(const struct pfdd_output_config *a,
                        const struct pfdd_output_config *b)
{
    const struct pfdd_address *address = &a->access.address;
    bool is_new = !a->name && address->host[0] && !address->port;
    return (a->required && b->required) ||
           (a->block.type_class == b->block.type_class && !is_file(a) &&
            !is_new);
}

static void check_names(struct pfdd_diagnostics *c,
                        const struct pfdd_config *config)
{
    for (size_t i = 0; i < config->n_outputs; i++) {
        const char *name = name_of(config, i);
        bool is_taken = false;
        for (size_t k = 0; name && k < i && !is_taken; k++) {
            const char *other = name_of(config, k);
            is_taken = other && !strcmp(other, name) &&
                       share_names(pfdd_config_output(config, i),
                                   pfdd_config_output(config, k));
        }
        if (is_taken) {
            pfdd_diagnostics_add_at(
                c, config->outputs[i]->place,
                "two outputs are called '%.64s': give one of them a 'name'",
                name);
        }
    }
}

/* The address at which a block listens; NULL: at none. */
static const struct pfdd_address *address_of(struct pfdd_block *block)
{
    struct pfdd_key_at at = { NULL, NULL };
    while (pfdd_keys_next(block->type_class->parts, &at)) {
        if (at.key->kind == PFDD_KEY_ADDRESS && at.key->use == PFDD_USE_LISTEN)
            return pfdd_keys_member(at, block);
    }
    return NULL;
}

/* Reports blocks that listen where another one does. */
static void check_addresses(struct pfdd_diagnostics *c,
                            const struct pfdd_config *config)
{
    const size_t n = config->n_inputs + config->n_outputs;
    for (size_t i = 0; i < n; i++) {
        struct pfdd_block *block = pfdd_config_block(config, i);
        const struct pfdd_address *address = address_of(block);
        bool is_taken = false;
        for (size_t k = 0; address && k < i && !is_taken; k++) {
            const struct pfdd_address *other =
                address_of(pfdd_config_block(config, k));
            is_taken = other && pfdd_address_is_same(address, other);
        }
        if (is_taken) {
            pfdd_diagnostics_add_at(c, block->place,
                                    "another input or output listens at '%s'",
                                    address->text);
        }
    }
}

bool pfdd_config_has_required(const struct pfdd_config *config)
{
    for (size_t i = 0; i < config->n_outputs; i++) {
        if (pfdd_config_output(config, i)->required)
            return true;
    }
    return false;
}

bool pfdd_config_reads_processes(const struct pfdd_config *config)
{
    for (size_t i = 0; i < config->n_inputs; i++) {
        if (config->inputs[i]->type_class->reads_processes)
            return true;
    }
    return false;
}

static bool has_class(struct pfdd_block *const *blocks, size_t n,
                      const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(blocks[i]->type_class->name, name))
            return true;
    }
    return false;
}

static void check_farm(struct pfdd_diagnostics *c, struct pfdd_place at,
                       const struct pfdd_config *config)
{
    for (size_t i = 0; i < config->n_inputs; i++) {
        const char *why = config->inputs[i]->type_class->needs_required;
        if (why && !pfdd_config_has_required(config))
            pfdd_diagnostics_add_at(c, at, "%s", why);
    }
    if (has_class(config->inputs, config->n_inputs, "nats") &&
        has_class(config->outputs, config->n_outputs, "nats")) {
        pfdd_diagnostics_add_at(
            c, at,
            "with an input and an output 'nats' entries would "
            "come back for ever");
    }
}

/* Lines of a farm in files that are called after this machine: a reader would
 * take them for this machine's. */
static void check_hosts(struct pfdd_diagnostics *c,
                        const struct pfdd_config *config)
{
    if (!has_class(config->inputs, config->n_inputs, "nats"))
        return;
    for (size_t i = 0; i < config->n_outputs; i++) {
        const struct pfdd_block *block = config->outputs[i];
        struct pfdd_key_at at = { NULL, NULL };
        while (pfdd_keys_next(block->type_class->parts, &at)) {
            char *const *path = pfdd_keys_member(at, config->outputs[i]);
            if (at.key->use == PFDD_USE_WRITE && *path &&
                strstr(*path, "{host}") && !strstr(*path, "{buffer}")) {
                pfdd_diagnostics_add_at(
                    c, block->place,
                    "'%s': lines of all edges are in one file, and {host} would "
                    "be this machine: with {buffer} it is theirs",
                    at.key->name);
            }
        }
    }
}

bool pfdd_config_paths(const struct pfdd_config *config, pfdd_path_fn call,
                       void *user)
{
    bool ok = pfdd_keys_paths(pfdd_config_parts, config, call, user);
    for (size_t i = 0; ok && i < config->n_inputs; i++) {
        const struct pfdd_block *block = config->inputs[i];
        ok = pfdd_keys_paths(block->type_class->parts, block, call, user);
    }
    for (size_t i = 0; ok && i < config->n_outputs; i++) {
        const struct pfdd_block *block = config->outputs[i];
        ok = pfdd_keys_paths(block->type_class->parts, block, call, user);
    }
    return ok;
}

static void check_files(struct pfdd_diagnostics *c, struct pfdd_place at,
                        const struct pfdd_config *config)
{
    struct pfdd_overlap o = { 0 };
    bool ok = pfdd_config_paths(config, pfdd_overlap_write, &o) &&
              pfdd_config_paths(config, pfdd_overlap_look, &o) &&
              pfdd_overlap_look(&o, PFDD_USE_READ, c->name);
    if (!ok)
        pfdd_diagnostics_add_at(c, at, "%s", o.why);
    pfdd_overlap_deinit(&o);
}

/* An eighth of the default cap, and no more than a quarter of a smaller one. */
static uint64_t default_ring(uint64_t memory_max)
{
    const uint64_t ring = 32 << 20;
    return memory_max / 4 < ring ? memory_max / 4 : ring;
}

static void check_all(struct pfdd_diagnostics *c, struct pfdd_place at,
                      const struct pfdd_config *config)
{
    check_only_one(c, config->inputs, config->n_inputs);
    check_only_one(c, config->outputs, config->n_outputs);
    check_names(c, config);
    check_addresses(c, config);
    check_farm(c, at, config);
    check_hosts(c, config);
    check_files(c, at, config);
    if (config->n_inputs == 0)
        pfdd_diagnostics_add_at(c, at, "no inputs: there is nothing to do");
    if (pfdd_config_has_required(config) && !config->state_dir) {
        pfdd_diagnostics_add_at(
            c, at, "a required output needs 'state_dir' for its queue");
    }
    if (config->ring > config->memory_max / 2) {
        pfdd_diagnostics_add_at(c, at,
                                "'ring' is more than half of 'memory_max'");
    }
}

/* ---- reading ---- */

/* Reads the blocks of a list [*n_ret]; NULL: there are none. */
static struct pfdd_block **read_blocks(
    const struct pfdd_document *doc, const yaml_node_t *root, const char *name,
    const struct pfdd_type_class *const *classes, size_t *n_ret)
{
    const yaml_node_t *node = map_find(doc, root, name);
    *n_ret = 0;
    if (!node)
        return NULL;
    const yaml_node_item_t *item = node->data.sequence.items.start;
    struct pfdd_place place = pfdd_place_of(node);
    if (node->type != YAML_SEQUENCE_NODE) {
        pfdd_diagnostics_add_at(doc->diagnostics, place, "'%s' wants a list",
                                name);
        return NULL;
    }
    size_t n = (size_t)(node->data.sequence.items.top - item);
    if (n > PFDD_ITEMS_MAX) {
        pfdd_diagnostics_add_at(doc->diagnostics, place, "more than %d %s",
                                PFDD_ITEMS_MAX, name);
        return NULL;
    }
    struct pfdd_block **ret = calloc(n + 1, sizeof(void *));
    for (size_t i = 0; ret && i < n; i++) {
        const yaml_node_t *map = yaml_document_get_node(doc->yaml, item[i]);
        if (map->type != YAML_MAPPING_NODE) {
            pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(map),
                                    "an item of '%s' is a mapping", name);
            continue;
        }
        struct pfdd_block *block = block_read(doc, map, classes);
        if (block)
            ret[(*n_ret)++] = block;
    }
    return ret;
}

static void read_root(const struct pfdd_document *doc,
                      struct pfdd_config *config)
{
    const yaml_node_t *root = yaml_document_get_root_node(doc->yaml);
    struct pfdd_place start = { 0, 0 };
    if (!root || root->type != YAML_MAPPING_NODE) {
        pfdd_diagnostics_add_at(doc->diagnostics,
                                root ? pfdd_place_of(root) : start,
                                "a configuration is a mapping");
        return;
    }
    map_read(doc, root, pfdd_config_parts, NULL, config);
    config->inputs =
        read_blocks(doc, root, "inputs", pfdd_inputs, &config->n_inputs);
    config->outputs =
        read_blocks(doc, root, "outputs", pfdd_outputs, &config->n_outputs);
    if (!config->ring)
        config->ring = default_ring(config->memory_max);
    if (doc->diagnostics->n == 0)
        check_all(doc->diagnostics, pfdd_place_of(root), config);
}

/* True: at this place, or before it in its line, text [n] has a tab before
 * anything else. */
static bool is_tab(const char *text, size_t n, struct pfdd_place at)
{
    const char *end = text + n;
    const char *line = text;
    for (size_t i = 0; line && i < at.line; i++) {
        line = memchr(line, '\n', (size_t)(end - line));
        if (line)
            line++;
    }
    while (line && line < end && *line == ' ')
        line++;
    return line && line < end && *line == '\t';
}

struct pfdd_config *pfdd_config_read_text(const char *name, const char *text,
                                          size_t n, pfdd_config_tell_fn tell,
                                          void *user)
{
    struct pfdd_diagnostics diagnostics = { .name = name,
                                            .tell = tell,
                                            .user = user };
    struct pfdd_config *config = calloc(1, sizeof *config);
    yaml_parser_t parser;
    yaml_document_t yaml;
    if (!config || !yaml_parser_initialize(&parser)) {
        free(config);
        tell(user, "out of memory");
        return NULL;
    }
    config->refs = 1;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
    if (!yaml_parser_load(&parser, &yaml)) {
        struct pfdd_place at = { parser.problem_mark.line,
                                 parser.problem_mark.column };
        const char *why = parser.problem ? parser.problem : "out of memory";
        if (is_tab(text, n, at))
            why = "a tab: lines of YAML are indented by spaces";
        pfdd_diagnostics_add_at(&diagnostics, at, "%s", why);
    } else {
        struct pfdd_document doc = { &yaml, &diagnostics };
        read_root(&doc, config);
        yaml_document_delete(&yaml);
    }
    yaml_parser_delete(&parser);
    if (diagnostics.n == 0)
        return config;
    pfdd_config_unref(config);
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

struct pfdd_config *pfdd_config_ref(struct pfdd_config *config)
{
    config->refs++;
    return config;
}

void pfdd_config_unref(struct pfdd_config *config)
{
    if (!config || --config->refs > 0)
        return;
    for (size_t i = 0; i < config->n_inputs; i++)
        pfdd_block_free(config->inputs[i]);
    for (size_t i = 0; i < config->n_outputs; i++)
        pfdd_block_free(config->outputs[i]);
    pfdd_keys_free(pfdd_config_parts, config);
    free(config->inputs);
    free(config->outputs);
    free(config);
}
