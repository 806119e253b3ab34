/* SPDX-License-Identifier: MIT */
#include "nats_lists.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

enum {
    VALUES_MAX = 1 << 19, /* of a list: about 100,000 code objects */
};

/* Limits the memory of a parsed tree, which takes much more than its text: "0,"
 * takes 40 bytes. Counts at least as many values as the text has. */
static bool is_small(const char *text, size_t n)
{
    size_t n_values = 0;
    for (size_t i = 0; i < n; i++)
        n_values += text[i] == ',' || text[i] == '[' || text[i] == '{';
    return n_values <= VALUES_MAX;
}

static bool read_object(const json_t *value, struct nats_object *ret)
{
    const char *digest = json_string_value(json_object_get(value, "sha256"));
    const char *name = json_string_value(json_object_get(value, "name"));
    const json_t *bytes = json_object_get(value, "bytes");
    const json_t *shader = json_object_get(value, "shader");
    if (!digest || strlen(digest) != NATS_DIGEST_HEX - 1 ||
        strspn(digest, "0123456789abcdef") != NATS_DIGEST_HEX - 1 ||
        !json_is_integer(bytes) || json_integer_value(bytes) <= 0 ||
        (shader &&
         (!json_is_integer(shader) || json_integer_value(shader) < 0 ||
          json_integer_value(shader) > UINT32_MAX)))
        return false;
    memcpy(ret->digest, digest, NATS_DIGEST_HEX);
    ret->n = (size_t)json_integer_value(bytes);
    ret->is_shader = shader;
    ret->shader = (uint32_t)json_integer_value(shader);
    ret->name = strdup(name ? name : "");
    return ret->name;
}

bool nats_list_read(const char *text, size_t n, struct nats_list *ret)
{
    json_t *root = is_small(text, n) ? json_loadb(text, n, 0, NULL) : NULL;
    const json_t *objects = json_object_get(root, "objects");
    bool ok = json_is_array(objects) &&
              json_integer_value(json_object_get(root, "version")) == 1;
    *ret = (struct nats_list){ 0 };
    size_t n_objects = ok ? json_array_size(objects) : 0;
    ret->objects = calloc(n_objects + 1, sizeof *ret->objects);
    ok = ok && ret->objects;
    for (size_t i = 0; ok && i < n_objects; i++) {
        ok = read_object(json_array_get(objects, i), &ret->objects[i]);
        ret->n += ok;
    }
    json_decref(root);
    if (!ok)
        nats_list_deinit(ret);
    return ok;
}

void nats_list_deinit(struct nats_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->objects[i].name);
    free(list->objects);
    *list = (struct nats_list){ 0 };
}
