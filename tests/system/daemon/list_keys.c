/* SPDX-License-Identifier: MIT */
/* Prints the keys of each block of a configuration, from the rows that read them:
 * the tables of printfdecoded.yaml(5). */
#include <inttypes.h>
#include <stdio.h>

#include "config/config.h"
#include "config/type_class.h"
#include "config/units.h"

static const char *const paths[] = {
    [PFDD_USE_NONE] = "text",
    [PFDD_USE_READ] = "file to read",
    [PFDD_USE_AWAIT] = "file to read, which may come later",
    [PFDD_USE_WATCH] = "folder to watch",
    [PFDD_USE_NAMES] = "glob pattern",
    [PFDD_USE_WRITE] = "file to write",
    [PFDD_USE_DATABASE] = "file to write",
    [PFDD_USE_KEEP] = "folder to write in",
};

static const char *const kinds[] = {
    [PFDD_KEY_OPTION] = "as the option of printfdecode(1)",
    [PFDD_KEY_MODE] = "file mode, octal",
    [PFDD_KEY_UIDS] = "list of users",
    [PFDD_KEY_GIDS] = "list of groups",
    [PFDD_KEY_BLOCKS] = "list of blocks, below",
};

typedef void (*put_fn)(FILE *out, uint64_t value);

static void put_number(FILE *out, uint64_t value)
{
    fprintf(out, "%" PRIu64, value);
}

/* How numbers of a kind are written; NULL: the kind has no numbers. */
static put_fn number_put(const struct pfdd_key *key)
{
    return key->kind == PFDD_KEY_SIZE     ? pfdd_units_put_size
           : key->kind == PFDD_KEY_TIME   ? pfdd_units_put_time
           : key->kind == PFDD_KEY_NUMBER ? put_number
                                          : NULL;
}

/* As the configuration takes it: without a space before the unit. */
static void put_value(const struct pfdd_key *key, uint64_t value)
{
    char text[40] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    if (!out)
        return;
    number_put(key)(out, value);
    fclose(out);
    for (const char *c = text; *c; c++) {
        if (*c != ' ')
            putchar(*c);
    }
}

static void put_words(const struct pfdd_key *key)
{
    for (size_t i = 0; key->words[i]; i++)
        printf("%s%s", i ? " | " : "", key->words[i]);
}

static void put_range(const struct pfdd_key *key)
{
    fputs(key->kind == PFDD_KEY_SIZE   ? "size, "
          : key->kind == PFDD_KEY_TIME ? "time, "
                                       : "number, ",
          stdout);
    put_value(key, key->min);
    fputs(" to ", stdout);
    put_value(key, key->max);
}

static void put_type(const struct pfdd_key *key)
{
    if (number_put(key)) {
        put_range(key);
    } else if (key->kind == PFDD_KEY_WORD) {
        put_words(key);
    } else if (key->kind == PFDD_KEY_BOOL) {
        fputs("true | false", stdout);
    } else if (key->kind == PFDD_KEY_ADDRESS) {
        fputs(key->use == PFDD_USE_LISTEN ? "address to listen at"
                                          : "address to connect to",
              stdout);
    } else if (key->kind == PFDD_KEY_TEXT || key->kind == PFDD_KEY_NAMES) {
        printf("%s%s", key->kind == PFDD_KEY_NAMES ? "list, each " : "",
               paths[key->use]);
    } else {
        fputs(kinds[key->kind], stdout);
    }
}

static void put_default(const struct pfdd_key *key)
{
    if (key->needed) {
        fputs("(needed)", stdout);
    } else if (number_put(key) && key->initial >= key->min) {
        put_value(key, key->initial);
    } else if (key->kind == PFDD_KEY_WORD) {
        fputs(key->words[key->initial], stdout);
    } else if (key->kind == PFDD_KEY_BOOL) {
        fputs(key->initial ? "true" : "false", stdout);
    } else if (key->kind == PFDD_KEY_MODE) {
        printf("%04" PRIo64, key->initial);
    } else {
        fputs("-", stdout);
    }
}

static void put_table(const struct pfdd_part *parts)
{
    struct pfdd_key_at at = { NULL, NULL };
    puts(".Bl -column \"code_object_uris\" \"file to read, which may come "
         "later\" \"(needed)\"");
    puts(".It Sy key Ta Sy value Ta Sy default");
    while (pfdd_keys_next(parts, &at)) {
        printf(".It Cm %s Ta ", at.key->name);
        put_type(at.key);
        fputs(" Ta ", stdout);
        put_default(at.key);
        putchar('\n');
    }
    puts(".El");
}

/* False: a type is not in this build, and its keys are not known. */
static bool put_blocks(const char *what,
                       const struct pfdd_type_class *const *classes)
{
    bool is_whole = true;
    for (; *classes; classes++) {
        if ((*classes)->lacks) {
            fprintf(stderr, "built without %s: the %s '%s' is not known\n",
                    (*classes)->lacks, what, (*classes)->name);
            is_whole = false;
            continue;
        }
        printf(".Ss %s of type %s\n", what, (*classes)->name);
        struct pfdd_key_at at = { NULL, NULL };
        if (pfdd_keys_next((*classes)->parts, &at)) {
            put_table((*classes)->parts);
        } else {
            puts("No further keys.");
        }
    }
    return is_whole;
}

int main(void)
{
    puts(".Ss The file itself");
    put_table(pfdd_config_parts);
    bool ok = put_blocks("Input", pfdd_inputs);
    ok = put_blocks("Output", pfdd_outputs) && ok;
    return ok ? 0 : 77;
}
