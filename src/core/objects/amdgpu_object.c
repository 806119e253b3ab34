/* SPDX-License-Identifier: MIT */
/*
 * Sources: "ELF Code Object" and "Code Object Metadata" of LLVM's AMDGPUUsage,
 * and llvm/include/llvm/BinaryFormat/ELF.h for the numbers of e_flags.
 */
#include "core/objects/amdgpu_object.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/objects/metadata.h"

enum {
    EM_AMDGPU = 224,
    OSABI_HSA = 64,
    OSABI_PAL = 65,
    OSABI_MESA = 66,
    NT_AMD_ISA_VERSION = 3,
    NT_AMD_METADATA = 10,
    NT_AMD_ISA_NAME = 11,
    NT_AMDGPU_METADATA = 32,

    MACHINE_MASK = 0xff,
    TARGET_MAX = 63,
};

/* EF_AMDGPU_MACH_AMDGCN_*, by number. */
static const char *const machines[256] = {
    [0x20] = "gfx600",          [0x21] = "gfx601",
    [0x22] = "gfx700",          [0x23] = "gfx701",
    [0x24] = "gfx702",          [0x25] = "gfx703",
    [0x26] = "gfx704",          [0x28] = "gfx801",
    [0x29] = "gfx802",          [0x2a] = "gfx803",
    [0x2b] = "gfx810",          [0x2c] = "gfx900",
    [0x2d] = "gfx902",          [0x2e] = "gfx904",
    [0x2f] = "gfx906",          [0x30] = "gfx908",
    [0x31] = "gfx909",          [0x32] = "gfx90c",
    [0x33] = "gfx1010",         [0x34] = "gfx1011",
    [0x35] = "gfx1012",         [0x36] = "gfx1030",
    [0x37] = "gfx1031",         [0x38] = "gfx1032",
    [0x39] = "gfx1033",         [0x3a] = "gfx602",
    [0x3b] = "gfx705",          [0x3c] = "gfx805",
    [0x3d] = "gfx1035",         [0x3e] = "gfx1034",
    [0x3f] = "gfx90a",          [0x40] = "gfx940",
    [0x41] = "gfx1100",         [0x42] = "gfx1013",
    [0x43] = "gfx1150",         [0x44] = "gfx1103",
    [0x45] = "gfx1036",         [0x46] = "gfx1101",
    [0x47] = "gfx1102",         [0x48] = "gfx1200",
    [0x49] = "gfx1250",         [0x4a] = "gfx1151",
    [0x4b] = "gfx941",          [0x4c] = "gfx942",
    [0x4e] = "gfx1201",         [0x4f] = "gfx950",
    [0x50] = "gfx1310",         [0x51] = "gfx9-generic",
    [0x52] = "gfx10-1-generic", [0x53] = "gfx10-3-generic",
    [0x54] = "gfx11-generic",   [0x55] = "gfx1152",
    [0x57] = "gfx1154",         [0x58] = "gfx1153",
    [0x59] = "gfx12-generic",   [0x5a] = "gfx1251",
    [0x5b] = "gfx12-5-generic", [0x5c] = "gfx1172",
    [0x5d] = "gfx1170",         [0x5e] = "gfx1171",
    [0x5f] = "gfx9-4-generic",  [0x62] = "gfx11-7-generic",
    [0x63] = "gfx13-generic",
};

/* The names of the same things in the two notations. */
struct words {
    const char *printf_table;
    const char *kernels;
    const char *name;
    const char *args;
    const char *kind;
    const char *printf_buffer;
    const char *hostcall_buffer;
};

static const struct words msgpack_words = {
    "amdhsa.printf",
    "amdhsa.kernels",
    ".name",
    ".args",
    ".value_kind",
    "hidden_printf_buffer",
    "hidden_hostcall_buffer",
};

static const struct words yaml_words = {
    "Printf",
    "Kernels",
    "Name",
    "Args",
    "ValueKind",
    "HiddenPrintfBuffer",
    "HiddenHostcallBuffer",
};

struct pfd_object {
    struct pfd_object_info info;
    struct pfd_arena arena;
    struct pfd_kernel_info *kernels; /* [info.n_kernels] of room */
    size_t room;
    char target[TARGET_MAX + 1];
    bool has_metadata;
    bool is_damaged; /* some of its metadata cannot be read */
    bool has_hostcall;
    bool has_pal_table;
    bool is_no_map; /* metadata that is there and has no keys */
};

/* -- Documents -- */

/* Takes one metadata document of an image. */
struct document {
    const struct pfd_metadata *metadata;
    const struct pfd_value *root;
    const struct words *words;
    const struct pfd_note *note;
};
typedef enum pfd_status (*document_fn)(void *user, const struct document *doc);

struct documents {
    document_fn fn;
    void *user;
    bool damaged; /* a document could not be read to its end */
    struct pfd_error *err;
};

static bool is_note(const struct pfd_note *note, const char *owner,
                    uint32_t type)
{
    size_t n = strlen(owner);
    return note->type == type && note->n_owner == n &&
           memcmp(note->owner, owner, n) == 0;
}

/* The formats that read a document report its faults. */
static enum pfd_status open_yaml(struct documents *walk,
                                 const struct pfd_note *note,
                                 struct pfd_metadata **ret)
{
    struct pfd_error problem;
    enum pfd_status status = pfd_metadata_open_yaml(note->desc, note->room, ret,
                                                    &problem, walk->err);
    walk->damaged |= status == PFD_OK && problem.code != PFD_OK;
    return status;
}

static enum pfd_status open_msgpack(struct documents *walk,
                                    const struct pfd_note *note,
                                    struct pfd_metadata **ret)
{
    struct pfd_error why;
    size_t n_used;
    enum pfd_status status =
        pfd_metadata_open(note->desc, note->room, ret, &n_used, &why);
    if (status == PFD_ERR_NOMEM && walk->err)
        *walk->err = why;
    walk->damaged |= status != PFD_OK;
    return status;
}

static enum pfd_status read_note(void *user, const struct pfd_note *note)
{
    struct documents *walk = user;
    bool yaml = is_note(note, "AMD", NT_AMD_METADATA);
    struct pfd_metadata *metadata = NULL;
    if (!yaml && !is_note(note, "AMDGPU", NT_AMDGPU_METADATA))
        return PFD_OK;
    enum pfd_status status = yaml ? open_yaml(walk, note, &metadata)
                                  : open_msgpack(walk, note, &metadata);
    if (status != PFD_OK)
        return status == PFD_ERR_NOMEM ? status : PFD_OK;
    struct document doc = {
        .metadata = metadata,
        .root = pfd_metadata_root(metadata),
        .words = yaml ? &yaml_words : &msgpack_words,
        .note = note,
    };
    status = walk->fn(walk->user, &doc);
    pfd_metadata_free(metadata);
    return status;
}

/* -- Kernels -- */

static bool is_text(const struct pfd_value *value, const char *text)
{
    const char *p;
    size_t n;
    return pfd_value_bytes(value, &p, &n) && n == strlen(text) &&
           memcmp(p, text, n) == 0;
}

static uint64_t number_of(const struct pfd_value *map, const char *key,
                          uint64_t otherwise)
{
    uint64_t number;
    bool negative;
    const struct pfd_value *value = pfd_value_get(map, key, NULL);
    return pfd_value_int(value, &number, &negative) && !negative ? number
                                                                 : otherwise;
}

/* V2 has no offsets: arguments lie one after another, each at its alignment. */
static uint64_t place_argument(const struct pfd_value *arg, uint64_t *next)
{
    uint64_t align = number_of(arg, "Align", 1);
    uint64_t at = *next;
    if (align > 1 && align <= 4096)
        at = (at + align - 1) / align * align;
    *next = at + number_of(arg, "Size", 0) % (1 << 20);
    return at;
}

static void read_arguments(struct pfd_object *object,
                           const struct document *doc,
                           const struct pfd_value *args,
                           struct pfd_kernel_info *kernel)
{
    uint64_t next = 0;
    for (size_t i = 0; i < pfd_value_count(args); i++) {
        const struct pfd_value *arg = pfd_value_at(args, i);
        const struct pfd_value *kind =
            pfd_value_get(arg, doc->words->kind, NULL);
        uint64_t at = doc->words == &yaml_words
                          ? place_argument(arg, &next)
                          : number_of(arg, ".offset", PFD_NO_OFFSET);
        if (is_text(kind, doc->words->printf_buffer))
            kernel->printf_buffer = at;
        if (is_text(kind, doc->words->hostcall_buffer)) {
            kernel->hostcall_buffer = at;
            object->has_hostcall = true;
        }
    }
}

static bool add_kernel(struct pfd_object *object,
                       const struct pfd_kernel_info *kernel)
{
    size_t n = object->info.n_kernels;
    if (n == object->room) {
        size_t room = 2 * n + 4;
        void *kernels =
            realloc(object->kernels, room * sizeof *object->kernels);
        if (!kernels)
            return false;
        object->kernels = kernels;
        object->room = room;
    }
    char *name = pfd_arena_take(&object->arena, kernel->n_name + 1);
    if (!name)
        return false;
    if (kernel->n_name > 0)
        memcpy(name, kernel->name, kernel->n_name);
    name[kernel->n_name] = '\0';
    object->kernels[n] = *kernel;
    object->kernels[n].name = name;
    object->info.n_kernels = n + 1;
    return true;
}

static bool read_kernels(struct pfd_object *object, const struct document *doc)
{
    const struct pfd_value *kernels =
        pfd_value_get(doc->root, doc->words->kernels, NULL);
    for (size_t i = 0; i < pfd_value_count(kernels); i++) {
        const struct pfd_value *map = pfd_value_at(kernels, i);
        struct pfd_kernel_info kernel = {
            .printf_buffer = PFD_NO_OFFSET,
            .hostcall_buffer = PFD_NO_OFFSET,
        };
        if (pfd_value_kind(map) != PFD_VALUE_MAP)
            continue;
        pfd_value_bytes(pfd_value_get(map, doc->words->name, NULL),
                        &kernel.name, &kernel.n_name);
        read_arguments(object, doc, pfd_value_get(map, doc->words->args, NULL),
                       &kernel);
        if (!add_kernel(object, &kernel))
            return false;
    }
    return true;
}

/* -- The target -- */

static void set_target(struct pfd_object *object, const char *text, size_t n)
{
    if (object->info.target || n == 0 || n > TARGET_MAX)
        return;
    memcpy(object->target, text, n);
    object->info.target = object->target;
}

/* The processor in "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-". */
static void read_target(struct pfd_object *object, const char *text, size_t n)
{
    size_t at = n;
    while (at > 0 && !(n - at >= 3 && !memcmp(text + at, "gfx", 3)))
        at--;
    const char *end = memchr(text + at, ':', n - at);
    if (n - at >= 3 && !memcmp(text + at, "gfx", 3)) {
        set_target(object, text + at,
                   end ? (size_t)(end - (text + at)) : n - at);
    }
}

/* Of code objects V2: "AMD" type 11 is the name, type 3 the number. */
static enum pfd_status read_isa(void *user, const struct pfd_note *note)
{
    struct pfd_object *object = user;
    struct pfd_byte_reader c = note->desc;
    if (is_note(note, "AMD", NT_AMD_ISA_NAME)) {
        read_target(object, (const char *)c.base, c.n);
    } else if (is_note(note, "AMD", NT_AMD_ISA_VERSION)) {
        char text[TARGET_MAX];
        pfd_byte_reader_skip(&c,
                             4); /* lengths of the names after the numbers */
        unsigned major = pfd_byte_reader_u32(&c);
        unsigned minor = pfd_byte_reader_u32(&c);
        unsigned stepping = pfd_byte_reader_u32(&c);
        int n =
            snprintf(text, sizeof text, "gfx%u%u%x", major, minor, stepping);
        if (pfd_byte_reader_ok(&c) && n > 0)
            set_target(object, text, (size_t)n);
    }
    return PFD_OK;
}

static void read_flags(struct pfd_object *object, uint32_t flags)
{
    struct pfd_object_info *info = &object->info;
    const char *name = machines[flags & MACHINE_MASK];
    if (name)
        set_target(object, name, strlen(name));
    if (info->version >= 4) {
        info->xnack = (enum pfd_feature)(flags >> 8 & 3);
        info->sramecc = (enum pfd_feature)(flags >> 10 & 3);
    } else { /* one bit each: on, or off and perhaps not there at all */
        info->xnack = flags & 0x100 ? PFD_FEATURE_ON : PFD_FEATURE_UNSUPPORTED;
        info->sramecc =
            flags & 0x200 ? PFD_FEATURE_ON : PFD_FEATURE_UNSUPPORTED;
    }
}

static void read_header(struct pfd_object *object,
                        const struct pfd_image_header *header)
{
    struct pfd_object_info *info = &object->info;
    if (header->machine != EM_AMDGPU)
        return;
    switch (header->osabi) {
    case OSABI_HSA:
        info->os = "HSA";
        info->version = 2u + header->abi_version;
        break;
    case OSABI_PAL:
        info->os = "PAL";
        break;
    case OSABI_MESA:
        info->os = "Mesa";
        break;
    default:
        break;
    }
    read_flags(object, header->flags);
}

/* -- The whole object -- */

static enum pfd_status read_document(void *user, const struct document *doc)
{
    struct pfd_object *object = user;
    const char *text;
    size_t n;
    object->has_metadata = true;
    if (pfd_value_bytes(pfd_value_get(doc->root, "amdhsa.target", NULL), &text,
                        &n))
        read_target(object, text, n);
    const struct pfd_value *pal =
        pfd_value_get(doc->root, "amdpal.format_strings", NULL);
    object->has_pal_table |= pal != NULL;
    object->is_no_map |= pfd_value_kind(doc->root) != PFD_VALUE_MAP;
    object->info.n_strings +=
        pfd_value_count(
            pfd_value_get(doc->root, doc->words->printf_table, NULL)) +
        pfd_value_count(pfd_value_get(pal, ".strings", NULL));
    return read_kernels(object, doc) ? PFD_OK : PFD_ERR_NOMEM;
}

/* The reason for a missing table of strings, in one sentence. */
static const char *why_none(const struct pfd_object *object)
{
    const struct pfd_object_info *info = &object->info;
    if (info->n_strings > 0 || object->has_pal_table)
        return NULL;
    if (!info->os)
        return "not a code object of AMD's drivers";
    if (object->is_damaged) {
        return "its metadata is damaged, and what can be read of it has no "
               "table";
    }
    if (!object->has_metadata)
        return "it has no metadata: stripped, or cut";
    if (object->is_no_map) {
        return "its metadata is no map of names to values, and a table is "
               "looked for in none else";
    }
    if (info->version && object->has_hostcall) {
        return "its kernels print through hostcall, if at all: the packets "
               "carry their own format strings, so there is no table";
    }
    if (info->version) {
        return "nothing in it calls printf: compilers write a table only "
               "where something does";
    }
    return "its shaders print nothing, or were compiled with printing "
           "switched off";
}

enum pfd_status pfd_object_read(const struct pfd_image *image,
                                struct pfd_object **ret, struct pfd_error *err)
{
    struct pfd_report silent = { .source = "" };
    struct pfd_object *object = calloc(1, sizeof *object);
    if (!object)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    read_header(object, pfd_image_header(image));
    struct documents walk = { read_document, object, false, err };
    enum pfd_status status =
        pfd_image_notes(image, read_note, &walk, &silent, err);
    if (status == PFD_OK && !object->info.target)
        status = pfd_image_notes(image, read_isa, object, &silent, err);
    if (status != PFD_OK) {
        pfd_object_free(object);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    object->is_damaged = walk.damaged;
    object->info.kernels = object->kernels;
    object->info.why_none = why_none(object);
    *ret = object;
    return PFD_OK;
}

bool pfd_object_is_sound(const struct pfd_object *object)
{
    return object->has_metadata && !object->is_damaged &&
           !object->info.n_strings;
}

void pfd_object_free(struct pfd_object *object)
{
    if (!object)
        return;
    pfd_arena_free(&object->arena);
    free(object->kernels);
    free(object);
}

void pfd_object_describe(const struct pfd_object *object,
                         struct pfd_object_info *ret)
{
    const struct pfd_object_info *info = &object->info;
    ret->os = info->os;
    ret->version = info->version;
    ret->target = info->target;
    ret->xnack = info->xnack;
    ret->sramecc = info->sramecc;
    ret->kernels = info->kernels;
    ret->n_kernels = info->n_kernels;
    ret->n_strings = info->n_strings;
    ret->why_none = info->why_none;
}
