/* SPDX-License-Identifier: MIT */
#include "config/value.h"

#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <printfdecode/printfdecode.h>

#include "config/address.h"
#include "config/units.h"

struct pfdd_place pfdd_place_of(const yaml_node_t *node)
{
    return (struct pfdd_place){ node->start_mark.line,
                                node->start_mark.column };
}

const char *pfdd_scalar(const yaml_node_t *node)
{
    if (node->type != YAML_SCALAR_NODE)
        return NULL;
    const char *text = (const char *)node->data.scalar.value;
    return strlen(text) == node->data.scalar.length ? text : NULL;
}

static bool read_text(const struct pfdd_document *doc, const yaml_node_t *node,
                      const struct pfdd_key *key, char *at)
{
    const char *text = pfdd_scalar(node);
    if (!text || !*text) {
        return pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(node),
                                       "'%s' wants a text", key->name);
    }
    *(char **)(void *)at = strdup(text);
    return true;
}

/* The end of a message about a word that is neither. */
static const char *meant_bool(const char *text)
{
    static const struct {
        const char *word;
        bool is_true;
    } words[] = {
        { "true", true }, { "yes", true },    { "on", true },  { "y", true },
        { "1", true },    { "false", false }, { "no", false }, { "off", false },
        { "n", false },   { "0", false },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strcasecmp(text, words[i].word)) {
            return words[i].is_true ? "; near to it: true"
                                    : "; near to it: false";
        }
    }
    return "";
}

static bool read_bool(const struct pfdd_document *doc, const yaml_node_t *node,
                      const struct pfdd_key *key, char *at)
{
    const char *text = pfdd_scalar(node);
    bool yes = text && (!strcmp(text, "true") || !strcmp(text, "yes"));
    bool no = text && (!strcmp(text, "false") || !strcmp(text, "no"));
    if (!yes && !no) {
        return pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(node),
                                       "'%s' is true or false%s", key->name,
                                       text ? meant_bool(text) : "");
    }
    *(bool *)(void *)at = yes;
    return true;
}

static bool read_word(const struct pfdd_document *doc, const yaml_node_t *node,
                      const struct pfdd_key *key, char *at)
{
    const char *text = pfdd_scalar(node);
    char all[160] = "";
    char near[PFDD_NEAR] = "";
    for (unsigned i = 0; key->words[i]; i++) {
        if (text && !strcmp(text, key->words[i])) {
            *(unsigned *)(void *)at = i;
            return true;
        }
    }
    for (unsigned i = 0; key->words[i]; i++) {
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                 i ? ", " : "", key->words[i]);
        if (text)
            pfdd_near_add(near, text, key->words[i]);
    }
    return pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(node),
                                   "'%s' is one of: %s%s", key->name, all,
                                   near);
}

static bool read_option(const struct pfdd_document *doc,
                        const yaml_node_t *node, const struct pfdd_key *key,
                        char *at)
{
    struct pfd_error err;
    const char *text = pfdd_scalar(node);
    if (text && pfd_options_set((struct pfd_options *)(void *)at, key->name,
                                text, &err) == PFD_OK)
        return true;
    return pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(node),
                                   "'%s': %s", key->name,
                                   text ? err.text : "a text is wanted");
}

static void write_number(char ret[PFDD_UNITS_TEXT], uint64_t value)
{
    snprintf(ret, PFDD_UNITS_TEXT, "%" PRIu64, value);
}

/* How a kind of amounts is read and said. */
static const struct amount {
    bool (*read)(const char *text, uint64_t *ret);
    void (*write)(char ret[PFDD_UNITS_TEXT], uint64_t value);
    bool (*meant)(char ret[PFDD_UNITS_TEXT], const char *text);
    const char *like;
} amounts[] = {
    [PFDD_KEY_NUMBER] = { pfdd_units_read_number, write_number, NULL,
                          "a whole number" },
    [PFDD_KEY_SIZE] = { pfdd_units_read_size, pfdd_units_size_text,
                        pfdd_units_meant_size, "a size such as 32MiB" },
    [PFDD_KEY_TIME] = { pfdd_units_read_time, pfdd_units_time_text,
                        pfdd_units_meant_time, "a time such as 100ms or 5s" },
};

static bool read_amount(const struct pfdd_document *doc,
                        const yaml_node_t *node, const struct pfdd_key *key,
                        char *at)
{
    const struct amount *amount = &amounts[key->kind];
    char meant[PFDD_UNITS_TEXT] = "";
    char min[PFDD_UNITS_TEXT];
    char max[PFDD_UNITS_TEXT];
    uint64_t value = 0;
    const char *text = pfdd_scalar(node);
    if (!text || !amount->read(text, &value)) {
        bool is_meant = text && amount->meant && amount->meant(meant, text);
        return pfdd_diagnostics_add_at(
            doc->diagnostics, pfdd_place_of(node), "'%s' wants %s%s%s",
            key->name, amount->like, is_meant ? "; near to it: " : "", meant);
    }
    if (value < key->min || value > key->max) {
        amount->write(min, key->min);
        amount->write(max, key->max);
        amount->write(meant, value);
        return pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(node),
                                       "'%s' is from %s to %s, not %s",
                                       key->name, min, max, meant);
    }
    *(uint64_t *)(void *)at = value;
    return true;
}

static bool read_mode(const struct pfdd_document *doc, const yaml_node_t *node,
                      const struct pfdd_key *key, char *at)
{
    const char *text = pfdd_scalar(node);
    char *end = NULL;
    unsigned long mode = text ? strtoul(text, &end, 8) : 0;
    if (!text || !*text || *end || mode > key->max) {
        return pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(node),
                                       "'%s' is octal, such as 0660",
                                       key->name);
    }
    *(unsigned *)(void *)at = (unsigned)mode;
    return true;
}

static bool read_address(const struct pfdd_document *doc,
                         const yaml_node_t *node, const struct pfdd_key *key,
                         char *at)
{
    char err[160];
    const char *text = pfdd_scalar(node);
    if (!text || !*text) {
        return pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(node),
                                       "'%s' wants a text", key->name);
    }
    struct pfdd_address *address = (struct pfdd_address *)(void *)at;
    bool ok = pfdd_address_read(address, text, err, sizeof err);
    if (ok && address->is_name && key->use == PFDD_USE_LISTEN) {
        ok = false;
        snprintf(err, sizeof err, "the host is an IP address or localhost");
    }
    return ok || pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(node),
                                         "'%s': %s", key->name, err);
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

static bool read_list(const struct pfdd_document *doc, const yaml_node_t *node,
                      const struct pfdd_key *key, char *at)
{
    if (node->type != YAML_SEQUENCE_NODE) {
        return pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(node),
                                       "'%s' wants a list", key->name);
    }
    const yaml_node_item_t *item = node->data.sequence.items.start;
    size_t n = (size_t)(node->data.sequence.items.top - item);
    if (n > PFDD_ITEMS_MAX) {
        return pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(node),
                                       "'%s' has more than %d items", key->name,
                                       PFDD_ITEMS_MAX);
    }
    struct pfdd_names *names = (void *)at;
    struct pfdd_ids *ids = (void *)at;
    if (key->kind == PFDD_KEY_NAMES) {
        names->items = calloc(n + 1, sizeof *names->items);
    } else {
        ids->items = calloc(n + 1, sizeof *ids->items);
    }
    for (size_t i = 0; i < n; i++) {
        const yaml_node_t *one = yaml_document_get_node(doc->yaml, item[i]);
        const char *text = pfdd_scalar(one);
        if (!text || !*text) {
            return pfdd_diagnostics_add_at(doc->diagnostics, pfdd_place_of(one),
                                           "'%s' is a list of texts",
                                           key->name);
        }
        if (key->kind == PFDD_KEY_NAMES) {
            names->items[names->n++] = strdup(text);
        } else if (!find_id(text, key->kind == PFDD_KEY_UIDS,
                            &ids->items[ids->n++])) {
            return pfdd_diagnostics_add_at(
                doc->diagnostics, pfdd_place_of(one), "there is no %s '%.64s'",
                key->kind == PFDD_KEY_UIDS ? "user" : "group", text);
        }
    }
    return true;
}

bool pfdd_value_read(const struct pfdd_document *doc, const yaml_node_t *node,
                     const struct pfdd_key *key, void *member)
{
    char *at = member;
    switch (key->kind) {
    case PFDD_KEY_TEXT:
        return read_text(doc, node, key, at);
    case PFDD_KEY_BOOL:
        return read_bool(doc, node, key, at);
    case PFDD_KEY_WORD:
        return read_word(doc, node, key, at);
    case PFDD_KEY_OPTION:
        return read_option(doc, node, key, at);
    case PFDD_KEY_ADDRESS:
        return read_address(doc, node, key, at);
    case PFDD_KEY_MODE:
        return read_mode(doc, node, key, at);
    case PFDD_KEY_NUMBER:
    case PFDD_KEY_SIZE:
    case PFDD_KEY_TIME:
        return read_amount(doc, node, key, at);
    case PFDD_KEY_NAMES:
    case PFDD_KEY_UIDS:
    case PFDD_KEY_GIDS:
        return read_list(doc, node, key, at);
    case PFDD_KEY_BLOCKS:
        break;
    }
    return true;
}
