/* SPDX-License-Identifier: MIT */
#include "open_inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/decode/string_loader.h"
#include "core/strings/strings.h"
#include "counter.h"
#include "file_order.h"
#include "found_buffers.h"
#include "input.h"
#include "memory.h"
#include "process_code.h"
#include "shaders.h"
#include "show/messages.h"

/* Buffers in the memory that the command line names. */

enum {
    SIZE_GUESSED_MAX = 64 << 20, /* bytes, when the size is not given */
};

#define SIZE_MAX_COPIED (UINT64_C(16) << 30) /* bytes */

static bool fail_memory(const struct buffer *b, const struct pfd_error *err)
{
    message_error("%s: %s", b->name, err->text);
    return false;
}

/* The size up to the end of the address's mapping. */
static bool guess_size(const struct options *o, struct pfd_memory *memory,
                       uint64_t *ret)
{
    struct pfd_memory_region r;
    if (pfd_memory_find(memory, o->memory.address, &r) != PFD_OK ||
        r.address > o->memory.address) {
        message_error("%s: nothing is mapped at 0x%llx",
                      pfd_memory_name(memory),
                      (unsigned long long)o->memory.address);
        return false;
    }
    uint64_t n = r.address + r.size - o->memory.address;
    *ret = n < SIZE_GUESSED_MAX ? n : SIZE_GUESSED_MAX;
    message_hint("the buffer's size is not given: %llu bytes%s, to the end of "
                 "what is mapped there, are taken for it (--size)",
                 (unsigned long long)*ret, n > *ret ? ", and not" : "");
    return true;
}

static struct buffer *add_buffer(struct inputs *in, const struct options *o,
                                 uint64_t size)
{
    struct buffer *b = inputs_add(in);
    b->is_memory = true;
    b->address = o->memory.address;
    b->n = (size_t)size;
    int n =
        o->memory.core
            ? asprintf(&b->own_name, "%s@0x%llx", o->memory.core,
                       (unsigned long long)o->memory.address)
            : asprintf(&b->own_name, "memory://%llu#offset=0x%llx&size=%llu",
                       (unsigned long long)pfd_memory_pid(in->memory),
                       (unsigned long long)o->memory.address,
                       (unsigned long long)size);
    if (n < 0) {
        message_error("out of memory");
        exit(error_status());
    }
    b->name = b->own_name;
    return b;
}

static bool copy_buffer(struct inputs *in, struct buffer *b,
                        pfd_finding_fn tell, void *user)
{
    struct pfd_error err;
    b->bytes = in->core ? core_bytes(in->core, b->address, b->n) : NULL;
    b->is_borrowed = b->bytes != NULL;
    if (b->bytes)
        return true;
    if (pfd_memory_copy(in->memory, b->address, b->n, b->name, tell, user,
                        &b->copied, &err) != PFD_OK)
        return fail_memory(b, &err);
    b->bytes = b->copied.bytes;
    b->missing = b->copied.missing;
    b->n_missing = b->copied.n_missing;
    if (b->n_missing == 1 && b->missing[0].to - b->missing[0].from == b->n) {
        message_error("%s: nothing of it can be read", b->name);
        return false;
    }
    return true;
}

static bool add_found(struct inputs *in, const struct options *o,
                      pfd_finding_fn tell, void *user)
{
    bool ok = found_buffers_add(in, o, tell, user);
    for (size_t i = 0; ok && i < in->n_buffers; i++) {
        struct buffer *b = &in->buffers[i];
        if (b->is_memory && !o->follows)
            ok = copy_buffer(in, b, tell, user);
    }
    return ok;
}

/*
 * Opens it as inputs->memory, loads its code objects if no strings are given,
 * and adds the buffer: its bytes, or for `follow` its address. Findings go to
 * tell with user. False: an error was printed.
 */
static bool memory_add(struct inputs *in, const struct options *o,
                       pfd_finding_fn tell, void *user)
{
    uint64_t size = o->memory.size;
    bool has_strings = in->n_strings_files > 0;
    if (!memory_open(in, o, tell, user) ||
        ((!has_strings || o->memory.scan) &&
         !process_code_add(in, o, tell, user)))
        return false;
    if (o->verb->wants_strings)
        return true;
    if (!o->memory.has_address)
        return add_found(in, o, tell, user);
    if (size > SIZE_MAX_COPIED) {
        message_error("--size %llu is too large: at most %llu bytes are read",
                      (unsigned long long)size,
                      (unsigned long long)SIZE_MAX_COPIED);
        return false;
    }
    if (!size && !guess_size(o, in->memory, &size))
        return false;
    struct buffer *b = add_buffer(in, o, size);
    return o->follows || copy_buffer(in, b, tell, user);
}

enum {
    BLOCK = 512, /* unit of st_blocks */
};

/* Forwards findings and counts them. */
struct listener {
    struct inputs *inputs;
    bool notes;
    bool searches;    /* files for code objects, byte by byte */
    bool wants_cores; /* a core is to be searched, not loaded */
    bool is_found;    /* in a folder, which may have files without strings */
    bool is_split;    /* its code is in other files, which are read, too */
    bool why_none;    /* the note that explains why there are no strings */
    uint64_t max_inflated;
    pfd_finding_fn tell;
    void *user;
};

static void keep_stringless(struct inputs *in,
                            const struct pfd_finding *finding)
{
    if (in->n_stringless < INPUTS_STRINGLESS_MAX) {
        struct stringless_file *v = &in->stringless[in->n_stringless];
        v->source = strdup(finding->source);
        v->text = strdup(finding->text);
        if (!v->source || !v->text) {
            message_error("out of memory");
            exit(error_status());
        }
    }
    in->n_stringless++;
}

static void hear(void *user, const struct pfd_finding *finding)
{
    struct listener *l = user;
    if (l->is_split && finding->kind == PFD_FINDING_no_format_strings)
        return;
    bool note = pfd_finding_is_note(finding->kind) ||
                (l->is_found && finding->kind == PFD_FINDING_no_format_strings);
    l->inputs->n_findings += !note;
    if (!note || l->notes ||
        (l->why_none && finding->kind == PFD_FINDING_no_table)) {
        l->tell(l->user, finding);
    } else if (finding->kind == PFD_FINDING_no_table ||
               finding->kind == PFD_FINDING_no_format_strings) {
        keep_stringless(l->inputs, finding);
    }
}

static bool fail(struct inputs *in, const char *path, const char *why)
{
    message_error("%s: %s", path, why);
    in->failed = true;
    return false;
}

static bool add_hole(struct buffer *b, uint64_t from, uint64_t to)
{
    size_t n = b->n_holes;
    if ((n & (n - 1)) == 0) { /* doubled when it is full */
        void *holes =
            realloc(b->own_holes, (n ? 2 * n : 1) * sizeof *b->own_holes);
        if (!holes)
            return false;
        b->own_holes = holes;
        b->holes = holes;
    }
    b->own_holes[b->n_holes++] = (struct pfd_range){ from, to };
    return true;
}

/* Records where a sparse file has no bytes. */
static void find_holes(struct buffer *b)
{
    off_t end = (off_t)b->n;
    bool ok = true;
    for (off_t at = 0; ok && at < end;) {
        off_t data = lseek(b->fd, at, SEEK_DATA);
        if (data < 0 && errno != ENXIO)
            break; /* the file system does not support it */
        data = data < 0 || data > end ? end : data;
        if (data > at)
            ok = add_hole(b, (uint64_t)at, (uint64_t)data);
        at = data < end ? lseek(b->fd, data, SEEK_HOLE) : end;
        ok = ok && at > 0;
    }
    lseek(b->fd, 0, SEEK_SET);
}

static bool open_buffer(struct inputs *in, const char *path, struct buffer *ret)
{
    struct stat st;
    *ret = (struct buffer){ .name = path };
    if (!strcmp(path, "-")) {
        ret->fd = dup(STDIN_FILENO);
        if (isatty(STDIN_FILENO))
            message_hint("reads a buffer from the terminal, up to Ctrl-D");
    } else {
        ret->fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    int why = errno;
    if (ret->fd < 0 && !stat(path, &st) && S_ISSOCK(st.st_mode)) {
        return fail(in, path,
                    "it is a socket: 'printfdecode follow' shows what a "
                    "daemon writes to it");
    }
    if (ret->fd < 0 || fstat(ret->fd, &st))
        return fail(in, path, strerror(ret->fd < 0 ? why : errno));
    if (S_ISDIR(st.st_mode))
        return fail(in, path, strerror(EISDIR));
    /* Files of /proc and /sys have size 0, but contents: read them. */
    if (!S_ISREG(st.st_mode) || st.st_size == 0 ||
        lseek(ret->fd, 0, SEEK_CUR) != 0)
        return true;
    void *bytes =
        mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, ret->fd, 0);
    if (bytes == MAP_FAILED)
        return true;
    ret->bytes = bytes;
    ret->n = (size_t)st.st_size;
    ret->is_mapped = true;
    madvise(bytes, ret->n, MADV_SEQUENTIAL);
    if ((uint64_t)st.st_blocks * BLOCK < ret->n)
        find_holes(ret);
    return true;
}

static void close_buffer(struct buffer *b)
{
    input_unmap(b);
    pfd_input_close(b->input);
    if (b->owns_capture)
        pfd_capture_free(b->capture);
    free(b->own_holes);
    free(b->own_name);
    if (b->copied.bytes) {
        pfd_memory_copy_free(&b->copied);
        b->bytes = NULL;
    }
    if (b->bytes && !b->input && !b->is_borrowed)
        munmap((void *)(uintptr_t)b->bytes, b->n);
    if (b->fd >= 0)
        close(b->fd);
}

/* Reads a stream's first bytes into its head, enough to tell its type. */
static void read_head(struct buffer *b)
{
    while (b->n_head < sizeof b->head) {
        ssize_t n =
            read(b->fd, b->head + b->n_head, sizeof b->head - b->n_head);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* a read error recurs when the rest is read */
        b->n_head += (size_t)n;
    }
}

/* The role of a file with these first bytes. */
static enum role role_of(const void *bytes, size_t n,
                         const struct listener *listener)
{
    enum {
        E_TYPE = 16, /* offset of e_type in an ELF header, and its value */
        CORE = 4
    };
    const char *head = bytes;
    if (listener->wants_cores && n > E_TYPE && !memcmp(head, "\177ELF", 4) &&
        head[E_TYPE] == CORE)
        return ROLE_BUFFER;
    bool is_code =
        n > 0 && (pfd_strings_recognise(head, n) ||
                  (listener->searches && pfd_strings_search(head, n)));
    return is_code ? ROLE_STRINGS : ROLE_BUFFER;
}

/* The buffer's first bytes [*n]; of a stream they are read first. */
static const void *first_bytes(struct buffer *b, size_t *n)
{
    if (!b->bytes)
        read_head(b);
    *n = b->bytes ? b->n : b->n_head;
    return b->bytes ? b->bytes : b->head;
}

/* Replaces the buffer's bytes by inflated ones when they are compressed. */
static void inflate_buffer(struct inputs *in, struct buffer *b,
                           struct listener *listener)
{
    struct pfd_error err;
    void *inflated = NULL;
    size_t n = 0;
    const void *head = first_bytes(b, &n);
    if (!pfd_input_is_compressed(head, n))
        return;
    if (!input_map(b, &err) ||
        pfd_input_inflate(b->bytes, b->n, listener->max_inflated, b->name, hear,
                          listener, &inflated, &n, &err) != PFD_OK) {
        fail(in, b->name, err.text);
        return;
    }
    if (!inflated)
        return; /* it may only look compressed; that was printed */
    struct buffer old = *b;
    *b = (struct buffer){ .name = old.name,
                          .fd = -1,
                          .slurped = inflated,
                          .bytes = inflated,
                          .n = n };
    close_buffer(&old);
}

/* Loads the strings of a capture, and leaves its buffers alone. */
static void load_captured(struct inputs *in, const struct buffer *b,
                          struct listener *listener)
{
    struct pfd_capture *capture = NULL;
    struct pfd_error err;
    if (pfd_capture_open(b->bytes, b->n, b->name, in->strings, hear, listener,
                         &capture, &err) != PFD_OK)
        fail(in, b->name, err.text);
    pfd_capture_free(capture);
}

/* Loads the strings of a file that is mapped or a pipe. */
static void load_strings(struct inputs *in, struct buffer *b,
                         struct listener *listener)
{
    struct pfd_error err;
    in->n_strings_files++;
    bool ok = input_map(b, &err);
    if (ok && !b->n) {
        fail(in, b->name, "the file is empty");
        return;
    }
    if (ok && pfd_wire_recognise(b->bytes, b->n)) {
        load_captured(in, b, listener);
        return;
    }
    ok = ok && pfd_strings_load(in->strings, b->bytes, b->n, b->name, hear,
                                listener, &err) >= 0;
    if (!ok)
        fail(in, b->name, err.text);
}

/* Handles an opened file by its role, given or detected. */
static void take_file(struct inputs *in, const struct file *file,
                      struct listener *listener)
{
    struct buffer *b = &in->buffers[in->n_buffers];
    enum role role = file->role;
    size_t n = 0;
    inflate_buffer(in, b, listener);
    if (role == ROLE_BY_CONTENT) {
        const void *head = first_bytes(b, &n);
        role = role_of(head, n, listener);
    }
    if (role == ROLE_BUFFER) {
        in->n_buffers++;
        return;
    }
    load_strings(in, b, listener);
    close_buffer(b);
}

/* Loads the counters of described rings, when all descriptions are loaded. */
static void load_counters(struct inputs *in, const struct options *options,
                          struct listener *listener)
{
    for (size_t i = 0; i < options->n_files; i++) {
        const char *path = options->files[i].path;
        struct pfd_text text = { 0 };
        struct pfd_error err;
        if (options->files[i].role != ROLE_COUNTER)
            continue;
        if (counter_describe(path, &text, &err) != PFD_OK ||
            pfd_strings_load(in->strings, text.data, text.n, path, hear,
                             listener, &err) < 0)
            fail(in, path, err.text);
        pfd_text_free(&text);
    }
}

static void open_file(struct inputs *in, const struct file *file,
                      struct listener *listener)
{
    struct buffer *b = &in->buffers[in->n_buffers];
    if (open_buffer(in, file->path, b)) {
        take_file(in, file, listener);
    } else {
        close_buffer(b);
    }
}

/* Opens the target of a URI: a part of a file or of a process. */
static void open_uri(struct inputs *in, const struct file *file,
                     struct listener *listener)
{
    struct buffer *b = &in->buffers[in->n_buffers];
    struct pfd_error err;
    *b = (struct buffer){ .name = file->path, .fd = -1 };
    if (pfd_input_open(file->path, &b->input, &err) != PFD_OK) {
        fail(in, file->path, err.text);
        return;
    }
    b->bytes = pfd_input_bytes(b->input, &b->n);
    take_file(in, file, listener);
}

/* ---- captures ---- */

static bool is_capture(struct buffer *b)
{
    size_t n = 0;
    const void *head = first_bytes(b, &n);
    return pfd_wire_recognise(head, n);
}

/* Opens buffer b as a capture and appends its buffers to the list. */
static void open_capture(struct inputs *in, struct buffer *b,
                         struct listener *listener)
{
    struct pfd_capture *capture = NULL;
    const struct pfd_capture_buffer *captured;
    struct pfd_error err;
    if (!input_map(b, &err) ||
        pfd_capture_open(b->bytes, b->n, b->name, in->strings, hear, listener,
                         &capture, &err) != PFD_OK)
        fail(in, b->name, err.text);
    close_buffer(b);
    in->n_strings_files++;
    in->n_captures++;
    for (size_t i = 0; capture && (captured = pfd_capture_get(capture, i));
         i++) {
        *inputs_add(in) = (struct buffer){
            .name = captured->name,
            .fd = -1,
            .n = captured->n,
            .holes = captured->holes,
            .n_holes = captured->n_holes,
            .missing = captured->missing,
            .n_missing = captured->n_missing,
            .capture = capture,
            .owns_capture = i == 0,
            .i = i,
            .captured = *captured,
        };
    }
    if (capture && !pfd_capture_get(capture, 0))
        pfd_capture_free(capture);
}

/* Replaces captures in the list by the buffers in them. */
static void open_captures(struct inputs *in, struct listener *listener)
{
    size_t n = in->n_buffers;
    struct buffer *files = in->buffers;
    in->buffers = NULL;
    in->n_buffers = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_capture(&files[i])) {
            open_capture(in, &files[i], listener);
            continue;
        }
        *inputs_add(in) = files[i];
    }
    free(files);
}

static void close_buffers(struct inputs *inputs)
{
    /* Backwards: a capture's first buffer owns it, and is closed last. */
    for (size_t i = inputs->n_buffers; i-- > 0;)
        close_buffer(&inputs->buffers[i]);
    inputs->n_buffers = 0;
}

static void open_input(struct inputs *in, const struct file *file,
                       struct listener *listener)
{
    listener->is_found = file->found != NULL;
    listener->is_split = file->is_split;
    in->n_found += listener->is_found;
    if (file->role == ROLE_SHADER) {
        in->failed |= !shaders_add(in->strings, file->path, hear, listener);
    } else if (file->role == ROLE_SHADERS) {
        in->failed |= !shaders_add_map(in->strings, file->path, hear, listener);
    } else if (pfd_input_is_uri(file->path)) {
        open_uri(in, file, listener);
    } else if (file->role != ROLE_COUNTER) {
        open_file(in, file, listener);
    }
}

static void open_inputs(struct inputs *in, const struct options *options,
                        struct listener *listener)
{
    size_t *order = file_order(options);
    for (size_t i = 0; i < options->n_files; i++) {
        if (in->failed && !options->reading.keep_going)
            break;
        open_input(in, &options->files[order[i]], listener);
    }
    free(order);
}

void inputs_open(struct inputs *ret, const struct options *options,
                 pfd_finding_fn tell, void *user)
{
    struct listener listener = {
        .inputs = ret,
        .notes = options->verbose,
        .wants_cores = options->verb->takes_cores,
        .why_none = options->verb->wants_strings,
        .searches = options->memory.scan && !options_have_memory(options),
        .max_inflated = options->reading.max_inflated,
        .tell = tell,
        .user = user,
    };
    *ret = (struct inputs){ .strings = pfd_strings_new() };
    ret->buffers = calloc(options->n_files + 1, sizeof *ret->buffers);
    if (!ret->strings || !ret->buffers) {
        message_error("out of memory");
        exit(error_status());
    }
    ret->n_findings = options->n_findings;
    pfd_strings_set_max_inflated(ret->strings, options->reading.max_inflated);
    pfd_strings_set_search(ret->strings, listener.searches);
    open_inputs(ret, options, &listener);
    open_captures(ret, &listener);
    load_counters(ret, options, &listener);
    listener.is_found = listener.is_split = false;
    if (options_have_memory(options) &&
        (!ret->failed || options->reading.keep_going))
        ret->failed |= !memory_add(ret, options, hear, &listener);
    if (ret->failed && !options->reading.keep_going) {
        /* Without this file, the output would not be the one that was meant. */
        if (ret->n_buffers)
            message_hint("nothing is decoded; --keep-going does without it");
        close_buffers(ret);
    }
}

/* Closes what memory_add() opened. */
static void close_memory(struct inputs *in)
{
    found_buffers_free(in->found);
    pfd_process_code_close(in->process_code);
    memory_close(in);
}

void inputs_close(struct inputs *inputs)
{
    close_buffers(inputs);
    for (size_t i = 0; i < inputs->n_stringless && i < INPUTS_STRINGLESS_MAX;
         i++) {
        free(inputs->stringless[i].source);
        free(inputs->stringless[i].text);
    }
    free(inputs->buffers);
    if (inputs->memory || inputs->core)
        close_memory(inputs);
    pfd_strings_free(inputs->strings);
}
