/* SPDX-License-Identifier: MIT */
/*
 * The keys of each input and output that this daemon is built with: each one
 * that a class takes makes a difference when the configuration is read again,
 * shares its place with no other one, is freed (under a sanitizer), and what is
 * not taken is refused with its place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/printfdecode.h>

#include "../../unit/suite.h"
#include "config/config.h"

struct told {
    char lines[4096];
};

static void hear(void *user, const char *text)
{
    struct told *told = user;
    size_t n = strlen(told->lines);
    snprintf(told->lines + n, sizeof told->lines - n, "%s\n", text);
}

/* ---- values that are not what holds without the key ---- */

static void change_option(const char *name, void *member)
{
    struct pfd_option_info info;
    struct pfd_error err;
    char spelled[64];
    snprintf(spelled, sizeof spelled, "%s", name);
    for (char *at = spelled; *at; at++)
        *at = *at == '_' ? '-' : *at;
    for (size_t i = 0; pfd_option_get(i, &info) == PFD_OK; i++) {
        if (strcmp(info.name, spelled) != 0)
            continue;
        ck_assert_uint_ne(info.n_words, 1);
        const char *word = info.n_words ? info.words[1] : "other";
        ck_assert_int_eq(pfd_options_set(member, name, word, &err), PFD_OK);
        return;
    }
    ck_abort_msg("no option '%s'", name);
}

static void change_ids(struct pfdd_ids *ids)
{
    ids->items = calloc(2, sizeof *ids->items);
    ck_assert_ptr_nonnull(ids->items);
    ids->n = 1;
}

static void change_names(struct pfdd_names *names)
{
    names->items = calloc(2, sizeof *names->items);
    ck_assert_ptr_nonnull(names->items);
    names->items[names->n++] = strdup("/a/name");
}

static void change(const struct pfdd_key *key, void *member)
{
    char err[160];
    switch (key->kind) {
    case PFDD_KEY_TEXT:
        *(char **)member = strdup("/a/text");
        break;
    case PFDD_KEY_BOOL:
        *(bool *)member = !*(bool *)member;
        break;
    case PFDD_KEY_NUMBER:
    case PFDD_KEY_SIZE:
    case PFDD_KEY_TIME:
        ck_assert_uint_le(key->min, key->max);
        ++*(uint64_t *)member;
        break;
    case PFDD_KEY_WORD:
        ck_assert_ptr_nonnull(key->words[1]);
        *(unsigned *)member = *(unsigned *)member ? 0 : 1;
        break;
    case PFDD_KEY_MODE:
        *(unsigned *)member ^= 1;
        break;
    case PFDD_KEY_OPTION:
        change_option(key->name, member);
        break;
    case PFDD_KEY_ADDRESS:
        ck_assert(pfdd_address_read(member, "unix:/a/b", err, sizeof err));
        break;
    case PFDD_KEY_NAMES:
        change_names(member);
        break;
    case PFDD_KEY_UIDS:
    case PFDD_KEY_GIDS:
        change_ids(member);
        break;
    case PFDD_KEY_BLOCKS:
        break;
    }
}

/* ---- of each class ---- */

static struct pfdd_block *new_block(const struct pfdd_type_class *type_class)
{
    struct pfdd_block *ret = calloc(1, type_class->size);
    ck_assert_ptr_nonnull(ret);
    ret->type_class = type_class;
    pfdd_keys_init(type_class->parts, ret);
    return ret;
}

static bool count_path(void *user, enum pfdd_use use, const char *path)
{
    ck_assert_str_ne(path, "");
    ck_assert_int_ne(use, PFDD_USE_NONE);
    ++*(unsigned *)user;
    return true;
}

/* A block with that key alone, against one without keys and others with one. */
static void check_key(const struct pfdd_type_class *type_class,
                      struct pfdd_key_at at)
{
    const char *name = at.key->name;
    struct pfdd_block *with = new_block(type_class);
    struct pfdd_block *without = new_block(type_class);
    struct pfdd_key_at other = { NULL, NULL };
    unsigned n_paths = 0;
    ck_assert(pfdd_block_is_same(with, without));
    change(at.key, pfdd_keys_member(at, with));
    ck_assert_msg(!pfdd_block_is_same(with, without),
                  "%s: a reload does not see '%s'", type_class->name, name);
    ck_assert(pfdd_block_is_same(with, with));
    ck_assert(pfdd_keys_paths(type_class->parts, with, count_path, &n_paths));
    ck_assert_msg((n_paths > 0) == (at.key->use != PFDD_USE_NONE),
                  "%s: the path of '%s'", type_class->name, name);
    /* A path that nobody grants cannot be opened in the sandbox. */
    ck_assert_msg(strcmp(name, "path") != 0 || at.key->use != PFDD_USE_NONE,
                  "%s: 'path' is used for nothing", type_class->name);
    while (pfdd_keys_next(type_class->parts, &other)) {
        if (other.key == at.key)
            continue;
        ck_assert_str_ne(other.key->name, name);
        struct pfdd_block *one = new_block(type_class);
        change(other.key, pfdd_keys_member(other, one));
        ck_assert_msg(!pfdd_block_is_same(with, one),
                      "%s: '%s' and '%s' are one member", type_class->name,
                      name, other.key->name);
        pfdd_block_free(one);
    }
    pfdd_block_free(with);
    pfdd_block_free(without);
}

static void check_class(const struct pfdd_type_class *type_class, bool is_input)
{
    struct pfdd_key_at at = { NULL, NULL };
    char *plan = NULL;
    size_t n_plan = 0;
    FILE *out = open_memstream(&plan, &n_plan);
    struct pfdd_block *block = new_block(type_class);
    ck_assert_uint_ge(type_class->size,
                      is_input ? sizeof(struct pfdd_input_config)
                               : sizeof(struct pfdd_output_config));
    while (pfdd_keys_next(type_class->parts, &at)) {
        check_key(type_class, at);
        if (at.key->needed || at.key->kind == PFDD_KEY_ADDRESS)
            change(at.key, pfdd_keys_member(at, block));
    }
    type_class->plan(block, out);
    fclose(out);
    ck_assert_uint_gt(n_plan, 0);
    free(plan);
    pfdd_block_free(block);
}

START_TEST(keys_make_a_difference)
{
    for (size_t i = 0; pfdd_inputs[i]; i++)
        check_class(pfdd_inputs[i], true);
    for (size_t i = 0; pfdd_outputs[i]; i++) {
        if (!pfdd_outputs[i]->lacks)
            check_class(pfdd_outputs[i], false);
    }
}
END_TEST

/* ---- and of the daemon itself ---- */

START_TEST(top_keys_make_a_difference)
{
    struct pfdd_key_at at = { NULL, NULL };
    while (pfdd_keys_next(pfdd_config_parts, &at)) {
        struct pfdd_config a = { 0 };
        struct pfdd_config b = { 0 };
        pfdd_keys_init(pfdd_config_parts, &a);
        pfdd_keys_init(pfdd_config_parts, &b);
        change(at.key, pfdd_keys_member(at, &a));
        ck_assert_msg(pfdd_keys_are_same(pfdd_config_parts, &a, &b) ==
                          (at.key->kind == PFDD_KEY_BLOCKS),
                      "%s", at.key->name);
        pfdd_keys_free(pfdd_config_parts, &a);
        pfdd_keys_free(pfdd_config_parts, &b);
    }
}
END_TEST

/* ---- what is not taken ---- */

static void refuse(const char *list, const char *type, const char *key,
                   const char *why)
{
    char text[256];
    char line[256];
    struct told told = { 0 };
    int n = snprintf(text, sizeof text, "%s:\n  - type: %s\n    %s: x\n", list,
                     type, key);
    snprintf(line, sizeof line, "c:3:5: %s\n", why);
    ck_assert_ptr_null(
        pfdd_config_read_text("c", text, (size_t)n, hear, &told));
    ck_assert_msg(strstr(told.lines, line), "%s%s", text, told.lines);
}

/* Keys that another class of the list takes. */
static void refuse_others(const char *list,
                          const struct pfdd_type_class *type_class,
                          const struct pfdd_type_class *other)
{
    struct pfdd_key_at at = { NULL, NULL };
    char why[160];
    while (!other->lacks && pfdd_keys_next(other->parts, &at)) {
        const char *key = at.key->name;
        if (pfdd_keys_find(type_class->parts, key).key)
            continue;
        snprintf(why, sizeof why, "'%s' is no key of this type", key);
        refuse(list, type_class->name, key, why);
    }
}

static void refuse_all(const char *list,
                       const struct pfdd_type_class *const *classes)
{
    for (size_t i = 0; classes[i]; i++) {
        if (classes[i]->lacks)
            continue;
        refuse(list, classes[i]->name, "what", "unknown key 'what'");
        for (size_t k = 0; classes[k]; k++)
            refuse_others(list, classes[i], classes[k]);
    }
}

START_TEST(others_are_refused)
{
    refuse_all("inputs", pfdd_inputs);
    refuse_all("outputs", pfdd_outputs);
}
END_TEST

START_TEST(keys_are_given_once)
{
    for (size_t i = 0; pfdd_inputs[i]; i++) {
        struct pfdd_key_at at = { NULL, NULL };
        while (pfdd_keys_next(pfdd_inputs[i]->parts, &at)) {
            char text[256];
            char line[160];
            struct told told = { 0 };
            const char *key = at.key->name;
            int n = snprintf(text, sizeof text,
                             "inputs: [{type: %s, %s: x,\n  %s: x}]",
                             pfdd_inputs[i]->name, key, key);
            snprintf(line, sizeof line, "c:2:3: '%s' is given twice\n", key);
            ck_assert_ptr_null(
                pfdd_config_read_text("c", text, (size_t)n, hear, &told));
            ck_assert_msg(strstr(told.lines, line), "%s", told.lines);
        }
    }
}
END_TEST

int main(void)
{
    return suite_run("keys",
                     TESTS(keys_make_a_difference, top_keys_make_a_difference,
                           others_are_refused, keys_are_given_once),
                     60);
}
