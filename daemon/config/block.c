/* SPDX-License-Identifier: MIT */
#include "config/block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const yaml_node_t *pfdd_map_find(const struct pfdd_document *doc,
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
                            const struct pfdd_type_class *const *classes)
{
    if (text && is_of_another(classes, text)) {
        pfdd_diagnostics_add_at(doc->diagnostics, place,
                                "'%s' is no key of this type", text);
    } else {
        pfdd_diagnostics_add_at(doc->diagnostics, place, "unknown key '%.64s'",
                                text ? text : "(not a text)");
    }
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
    if (!key) {
        complain_of_key(doc, pfdd_place_of(name), text, classes);
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

void pfdd_map_read(const struct pfdd_document *doc, const yaml_node_t *map,
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

/* The class of that name; NULL: an error was reported. */
static const struct pfdd_type_class *find_class(
    const struct pfdd_document *doc, const yaml_node_t *map,
    const struct pfdd_type_class *const *classes)
{
    const yaml_node_t *type = pfdd_map_find(doc, map, "type");
    const char *text = type ? pfdd_scalar(type) : NULL;
    char all[160] = "";
    if (!type) {
        pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(map),
                                "'type' is missing");
        return NULL;
    }
    for (size_t i = 0; classes[i]; i++) {
        if (text && !strcmp(text, classes[i]->name))
            return classes[i];
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "",
                 classes[i]->name);
    }
    pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(type),
                            "'type' is one of: %s", all);
    return NULL;
}

struct pfdd_block *pfdd_block_read(const struct pfdd_document *doc,
                                   const yaml_node_t *map,
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
        pfdd_map_read(doc, map, type_class->parts, classes, block);
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
