/* SPDX-License-Identifier: MIT */
/* Every record that a walk makes of a golden case's buffers is one that it
 * could have made; and some that none does are not. */
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <jansson.h>

#include <printfdecode/strings.h>

#include "build.h"
#include "core/base/text.h"
#include "core/decode/walk.h"
#include "suite.h"

enum {
    BATCH = 64,
    FORMATS_MAX = 16,
};

/* Records of each format that were looked at. */
static size_t n_checked[FORMATS_MAX];

/* ---- a case's folder ---- */

static void read_file(const char *path, struct build *ret)
{
    uint8_t part[1 << 16];
    gzFile f = gzopen(path, "rb"); /* what is not compressed comes as it is */
    ck_assert_ptr_nonnull(f);
    for (int n; (n = gzread(f, part, sizeof part)) > 0;)
        build_bytes(ret, part, (size_t)n);
    gzclose(f);
}

static bool is_shader(const char *path)
{
    return strstr(path, ".spv") != NULL;
}

static void add_shader(struct pfd_strings *strings, uint32_t id,
                       const char *path)
{
    struct build file = { 0 };
    if (access(path, R_OK) != 0)
        return;
    read_file(path, &file);
    struct pfd_shader_info info = {
        .id = id, .bytes = file.bytes, .n_bytes = file.n, .source = path
    };
    pfd_strings_add_shader(strings, &info, NULL, NULL, NULL);
    build_free(&file);
}

/* The numbers that the command tells: --shader 7=m.spv. */
static void add_told(struct pfd_strings *strings)
{
    struct build cmd = { 0 };
    unsigned id;
    char name[64];
    read_file("cmd", &cmd);
    build_bytes(&cmd, "", 1);
    const char *at = (const char *)cmd.bytes;
    while ((at = strstr(at, "--shader"))) {
        at += strlen("--shader");
        if (sscanf(at, "%u=%63s", &id, name) == 2)
            add_shader(strings, id, name);
    }
    build_free(&cmd);
}

/* Those of a map: {"shaders": {"0": {"spv": FILE}}}. */
static void add_mapped(struct pfd_strings *strings)
{
    json_t *map = json_load_file("map.json", 0, NULL);
    const char *id;
    json_t *shader;
    json_object_foreach(json_object_get(map, "shaders"), id, shader)
    {
        const char *path = json_string_value(json_object_get(shader, "spv"));
        if (path)
            add_shader(strings, (uint32_t)strtoul(id, NULL, 10), path);
    }
    json_decref(map);
}

/* All strings of the folder; shaders by their numbers, or as loose ones. */
static struct pfd_strings *load_folder(const glob_t *files, bool is_told)
{
    struct pfd_strings *strings = pfd_strings_new();
    ck_assert_ptr_nonnull(strings);
    if (is_told) {
        add_told(strings);
        add_mapped(strings);
    }
    for (size_t i = 0; i < files->gl_pathc; i++) {
        struct build file = { 0 };
        if (is_told && is_shader(files->gl_pathv[i]))
            continue;
        read_file(files->gl_pathv[i], &file);
        if (pfd_strings_recognise(file.bytes, file.n)) {
            pfd_strings_load(strings, file.bytes, file.n, "file", NULL, NULL,
                             NULL);
        }
        build_free(&file);
    }
    return strings;
}

/* ---- records ---- */

/* Bytes [n] of the entry, then those of readings that have their own. */
struct reading {
    const uint8_t *bytes;
    size_t n;
    size_t n_before;
};

static struct pfd_record_view look_at(const struct pfd_walk *walk,
                                      const struct pfd_record *r,
                                      const uint8_t *bytes, size_t n)
{
    struct pfd_record_view record_view = {
        .record = r,
        .string = r->string,
        .bytes = pfd_byte_reader(bytes, n),
        .table = walk->table,
        .shader_table = walk->shader_table,
        .options = walk->options,
    };
    pfd_byte_reader_skip(&record_view.bytes, r->n_header);
    return record_view;
}

/* No walk makes it once a bit is another one. */
static void check_damaged(const struct pfd_format *format,
                          const struct pfd_record_view *sound)
{
    struct pfd_record r = *sound->record;
    struct pfd_record_view record_view = *sound;
    record_view.record = &r;
    r.kind = PFD_RECORD_FINDING;
    ck_assert(!pfd_record_is_sound(format, &record_view));
    r.kind = sound->record->kind;
    r.flags |= 128;
    ck_assert(!pfd_record_is_sound(format, &record_view));
    r.flags = PFD_RECORD_STDOUT | PFD_RECORD_STDERR;
    ck_assert(!pfd_record_is_sound(format, &record_view));
    r.flags = sound->record->flags;
    r.n_header = 255;
    ck_assert(!pfd_record_is_sound(format, &record_view));
    r.n_header = sound->record->n_header;
    r.n_alternatives = 255;
    ck_assert(!pfd_record_is_sound(format, &record_view));
}

/* A format that makes an entry of no string can: no peer may say so of others. */
static void check_made(const struct pfd_format *format,
                       const struct pfd_record_view *record_view)
{
    static struct pfd_slot slots[PFD_ARGUMENTS_MAX];
    static uint64_t layout[PFD_LAYOUT_MAX];
    struct pfd_text text = { 0 };
    struct pfd_synthesized made = {
        .text = &text,
        .slots = slots,
        .layout = layout,
    };
    if (format->make && pfd_record_is_sound(format, record_view))
        format->make(record_view, &made);
    ck_assert(!text.failed);
    pfd_text_free(&text);
}

/* Without its string it is one of an unknown id. */
static void check_unknown(const struct pfd_format *format,
                          const struct pfd_record_view *sound)
{
    struct pfd_record r = *sound->record;
    struct pfd_record_view record_view = *sound;
    record_view.record = &r;
    record_view.string = r.string = NULL;
    r.layout = 0;
    r.flags &= (uint8_t)~PFD_RECORD_SYNTHESIZED;
    ck_assert(pfd_record_is_sound(format, &record_view));
    r.flags |= PFD_RECORD_SYNTHESIZED;
    check_made(format, &record_view);
}

static void check_record(const struct pfd_format *format,
                         const struct pfd_record_view *record_view)
{
    bool is_sound = pfd_record_is_sound(format, record_view);
    if (!is_sound) {
        char folder[512];
        const struct pfd_record *r = record_view->record;
        ck_abort_msg("%s: a %s record at %llu (kind %u, flags %u, layout %llx, "
                     "%u bytes) is refused",
                     getcwd(folder, sizeof folder), format->info.name,
                     (unsigned long long)r->offset, r->kind, r->flags,
                     (unsigned long long)r->layout, r->n_bytes);
    }
    check_damaged(format, record_view);
    if (record_view->string)
        check_unknown(format, record_view);
}

/* Record i of the walk's batch; reading: kept from the entry on. */
static void check_at(const struct pfd_format *format,
                     const struct pfd_walk *walk, size_t i,
                     struct reading *reading)
{
    const struct pfd_record *r = &walk->batch->records[i];
    const uint8_t *bytes = reading->bytes;
    size_t n = reading->n;
    if (r->kind == PFD_RECORD_ENTRY) {
        uint32_t n_payload = 0;
        bytes = pfd_record_batch_payload(walk->batch, &walk->view, walk->base,
                                         r, &n_payload) -
                r->n_header;
        n = n_payload + r->n_header;
        *reading = (struct reading){ .bytes = bytes, .n = n, .n_before = n };
    } else if (r->flags & PFD_RECORD_COPIED) {
        const struct pfd_text *all = &walk->batch->bytes;
        bytes += reading->n_before;
        n = r->n_bytes;
        reading->n_before += n;
        ck_assert_uint_le((size_t)(bytes - (const uint8_t *)all->data) + n,
                          all->n);
    }
    struct pfd_record_view record_view = look_at(walk, r, bytes, n);
    check_record(format, &record_view);
}

static size_t check_batch(const struct pfd_format *format,
                          const struct pfd_walk *walk)
{
    struct reading reading = { NULL, 0, 0 };
    size_t n = 0;
    for (size_t i = 0; i < walk->batch->n; i++) {
        if (walk->batch->records[i].kind == PFD_RECORD_FINDING)
            continue;
        check_at(format, walk, i, &reading);
        n++;
    }
    return n;
}

static size_t check_buffer(const struct pfd_format *format,
                           const struct pfd_strings *strings,
                           const struct pfd_options *options,
                           const struct build *buffer)
{
    struct pfd_walk walk;
    struct pfd_record_batch batch;
    size_t n = 0;
    ck_assert(pfd_walk_init(&walk, format, strings, options));
    ck_assert(pfd_record_batch_init(&batch, BATCH));
    walk.batch = &batch;
    walk.view = pfd_byte_reader(buffer->bytes, buffer->n);
    walk.last = true;
    for (enum pfd_status status = PFD_OK; status == PFD_OK;) {
        pfd_record_batch_clear(&batch);
        status = format->walk(&walk);
        n += check_batch(format, &walk);
    }
    pfd_record_batch_deinit(&batch);
    pfd_walk_deinit(&walk);
    return n;
}

/* The buffer as each format reads it, and with other habits. */
static void check_formats(const struct pfd_strings *strings,
                          const struct build *buffer)
{
    static const enum pfd_compat habits[] = { PFD_COMPAT_NONE, PFD_COMPAT_CLR,
                                              PFD_COMPAT_KHRONOS };
    for (size_t i = 0; pfd_formats[i]; i++) {
        ck_assert_uint_lt(i, FORMATS_MAX);
        for (size_t k = 0; k < sizeof habits / sizeof *habits; k++) {
            struct pfd_options options = { .compat = habits[k] };
            n_checked[i] +=
                check_buffer(pfd_formats[i], strings, &options, buffer);
        }
    }
}

static void check_folder(const char *folder)
{
    glob_t files;
    glob_t buffers;
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(glob("*", 0, NULL, &files), 0);
    if (glob("*.bin*", 0, NULL, &buffers) != 0)
        buffers.gl_pathc = 0;
    for (unsigned is_told = 0; is_told < 2 && buffers.gl_pathc; is_told++) {
        struct pfd_strings *strings = load_folder(&files, is_told);
        for (size_t i = 0; i < buffers.gl_pathc; i++) {
            struct build buffer = { 0 };
            read_file(buffers.gl_pathv[i], &buffer);
            check_formats(strings, &buffer);
            build_free(&buffer);
        }
        pfd_strings_free(strings);
    }
    globfree(&files);
    globfree(&buffers);
}

START_TEST(golden_cases)
{
    char pattern[512];
    glob_t folders;
    snprintf(pattern, sizeof pattern, "%s/*/*/", getenv("CASES"));
    ck_assert_int_eq(glob(pattern, 0, NULL, &folders), 0);
    int n = (int)folders.gl_pathc;
    for (int i = 0; i < n; i += n / suite_turns(n, n / 6))
        check_folder(folders.gl_pathv[i]);
    globfree(&folders);
    for (size_t i = 0; pfd_formats[i]; i++) {
        ck_assert_msg(n_checked[i] > 0, "no record of %s",
                      pfd_formats[i]->info.name);
        printf("%s: %zu records\n", pfd_formats[i]->info.name, n_checked[i]);
    }
}
END_TEST

int main(void)
{
    return suite_run("record", TESTS(golden_cases), 280);
}
