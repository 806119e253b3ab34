/* SPDX-License-Identifier: MIT */
/*
 * Runs a compute shader once with a buffer to print into, and writes what is
 * then in that buffer to a file for printfdecode.
 *
 *   run_comp SHADER.spv X Y Z [--arg VALUE]... [--buffer SET,BINDING=BYTES]...
 *            [--buffer-bytes N] [--to dump.bin]
 *            [--strings app.pfdb [--rule RULE]...]
 *
 * X, Y, Z: workgroups. The buffer is bound where the shader has the block that
 * `printfdecode scan` gives it, or its only storage buffer. Other buffers that
 * the shader wants are there, too, and all zero, of 65536 bytes or what --buffer
 * says. --arg: one for each member of the push constants, in their order: a
 * number, or numbers with commas between for a vector; without any all are zero.
 * --buffer-bytes: of the buffer
 * to print into, its header of 16 counted in (default: 1048576). With --strings
 * and without --to a reader sees the lines: printfdecoded, or `printfdecode
 * run -- run_comp ...`; --rule (printer.h) is for shaders scanned with
 * --control. Without both the shader just runs, as for one that prints with
 * debugPrintfEXT.
 *
 * Exit status: 0 done, 1 an error, 77 there is no Vulkan, or no device.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "gpu.h"
#include "printer.h"
#include "shader.h"

enum {
    DEFAULT_BYTES = 1 << 20,
    OTHER_BYTES = 1 << 16,
    UNIFORM_BYTES = 16384, /* what any uniform buffer may have */
};

struct job {
    const char *shader;
    const char *to;
    uint32_t groups[3];
    size_t n_bytes;
    const char *arguments[SHADER_PUSH_MAX]; /* [n_arguments] */
    size_t n_arguments;
    struct {
        unsigned set;
        unsigned binding;
        size_t n_bytes;
        bool is_used;
    } buffers[SHADER_RESOURCES_MAX]; /* [n_buffers] */
    size_t n_buffers;
    struct printer_options printer;
};

static bool refuse(const char *what, const char *why)
{
    fprintf(stderr, "run_comp: %s: %s\n", what, why);
    return false;
}

static int usage(void)
{
    fprintf(stderr, "usage: run_comp SHADER.spv X Y Z [--arg VALUE]... "
                    "[--buffer SET,BINDING=BYTES]... [--buffer-bytes N] "
                    "[--to FILE] [--strings FILE [--rule RULE]...]\n");
    return 1;
}

static bool read_number(const char *text, unsigned long long max,
                        unsigned long long *ret)
{
    char *end = NULL;
    *ret = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && *ret <= max;
}

/* Digits up to a character, which *at is moved behind. */
static bool take_u32(const char **at, char end, uint32_t *ret)
{
    char *rest = NULL;
    errno = 0;
    unsigned long value = strtoul(*at, &rest, 10);
    if (**at < '0' || **at > '9' || *rest != end || errno || value > UINT32_MAX)
        return false;
    *ret = (uint32_t)value;
    *at = rest + 1;
    return true;
}

/* "0,1=4096" */
static bool take_buffer(struct job *ret, const char *text)
{
    uint32_t set = 0;
    uint32_t binding = 0;
    size_t bytes = 0;
    const char *at = text;
    if (ret->n_buffers == SHADER_RESOURCES_MAX || !take_u32(&at, ',', &set) ||
        !take_u32(&at, '=', &binding) || !argument_bytes(at, &bytes))
        return refuse(text, "is no SET,BINDING=BYTES");
    ret->buffers[ret->n_buffers].set = set;
    ret->buffers[ret->n_buffers].binding = binding;
    ret->buffers[ret->n_buffers++].n_bytes = bytes;
    return true;
}

static bool take_option(struct job *ret, const char *name, const char *value)
{
    unsigned long long number;
    if (!strcmp(name, "--to")) {
        ret->to = value;
    } else if (!strcmp(name, "--arg")) {
        if (ret->n_arguments == SHADER_PUSH_MAX)
            return refuse(value, "is one argument too many");
        ret->arguments[ret->n_arguments++] = value;
    } else if (!strcmp(name, "--buffer")) {
        return take_buffer(ret, value);
    } else if (!strcmp(name, "--buffer-bytes")) {
        if (!read_number(value, UINT32_MAX, &number) || number < 16)
            return refuse(value, "is no size of a buffer: 16 bytes at least");
        ret->n_bytes = (size_t)number;
    } else if (!printer_take(&ret->printer, name, value)) {
        return refuse(name, "is no option, or one too many");
    }
    return true;
}

static bool read_arguments(struct job *ret, int argc, char **argv)
{
    unsigned long long number;
    int n = 0;
    *ret = (struct job){ .n_bytes = DEFAULT_BYTES,
                         .printer = { .program = "run_comp" } };
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "--", 2)) {
            if (i + 1 == argc)
                return refuse(argv[i], "has no value behind it");
            if (!take_option(ret, argv[i], argv[i + 1]))
                return false;
            i++;
        } else if (n == 0) {
            ret->shader = argv[i];
            n++;
        } else {
            if (n > 3 || !read_number(argv[i], UINT32_MAX, &number))
                return refuse(argv[i], "is no number of workgroups");
            ret->groups[n++ - 1] = (uint32_t)number;
        }
    }
    return n == 4 || refuse("SHADER.spv X Y Z", "not all of them are given");
}

/* Puts the arguments into the push constants. */
static bool push(const struct job *job, struct shader *shader)
{
    for (size_t i = 0; i < job->n_arguments; i++) {
        const struct shader_push *to = &shader->pushes[i];
        if (i >= shader->n_pushes) {
            return refuse(job->arguments[i], "the shader has no push constant "
                                             "for it");
        }
        if (!to->type.kind) {
            return refuse(job->arguments[i], "the push constant is neither a "
                                             "number nor a vector");
        }
        if (!argument_read(job->arguments[i], &to->type,
                           shader->push + to->offset)) {
            return refuse(job->arguments[i],
                          "does not go with the push constant's type");
        }
    }
    return !job->n_arguments || job->n_arguments == shader->n_pushes ||
           refuse(job->shader, "has more push constants than --arg gives");
}

/* How long the buffer is that the shader wants there. */
static size_t bytes_of(struct job *job, const struct shader_resource *r)
{
    for (size_t i = 0; i < job->n_buffers; i++) {
        if (job->buffers[i].set == r->set &&
            job->buffers[i].binding == r->binding) {
            job->buffers[i].is_used = true;
            return job->buffers[i].n_bytes;
        }
    }
    return r->is_uniform ? UNIFORM_BYTES : OTHER_BYTES;
}

/* Which of the shader's buffers is printed into; NULL: that is not clear. */
static const struct shader_resource *print_buffer(const struct shader *shader)
{
    const struct shader_resource *only = NULL;
    size_t n = 0;
    for (size_t i = 0; i < shader->n_resources; i++) {
        const struct shader_resource *r = &shader->resources[i];
        if (r->is_print)
            return r;
        if (!r->is_uniform) {
            only = r;
            n++;
        }
    }
    return n == 1 ? only : NULL;
}

static bool write_file(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(bytes, 1, n, file) == n;
    return file && !fclose(file) && ok;
}

/* All that the shader wants bound. False: said why not. */
static bool make_buffers(struct job *job, const struct shader *shader,
                         const struct shader_resource *print,
                         struct gpu_buffer *ret)
{
    bool is_asked = false;
    for (size_t i = 0; i < shader->n_resources; i++) {
        const struct shader_resource *r = &shader->resources[i];
        size_t n = r == print ? job->n_bytes : bytes_of(job, r);
        const void *control = NULL;
        for (size_t k = 0; k < i; k++) {
            if (shader->resources[k].set == r->set &&
                shader->resources[k].binding == r->binding) {
                return refuse(job->shader, "two buffers have one set and "
                                           "binding: scan --binding N");
            }
        }
        if (r->is_control && !(control = printer_control(&job->printer, &n)))
            return false;
        is_asked |= r->is_control;
        ret[i] = gpu_buffer(n);
        if (control)
            memcpy(ret[i].memory, control, n);
    }
    for (size_t i = 0; i < job->n_buffers; i++) {
        if (!job->buffers[i].is_used) {
            return refuse(job->shader, "has no buffer where --buffer says, but "
                                       "what it prints into");
        }
    }
    return is_asked || !job->printer.n_rules ||
           refuse(job->shader, "was not scanned with --control, which --rule "
                               "needs");
}

/* The header first, as shaders reserve before they write: memcpy() may write the
 * first bytes last, and entries behind a header that reserves none read as those
 * of an earlier run. */
static void copy_as_written(char *to, const char *from, size_t n)
{
    enum {
        HEADER_BYTES = 16
    };
    memcpy(to, from, HEADER_BYTES);
    atomic_thread_fence(memory_order_seq_cst);
    memcpy(to + HEADER_BYTES, from + HEADER_BYTES, n - HEADER_BYTES);
}

/* Gives the printed bytes to the file or the service. */
static bool hand_over(const struct job *job, const struct shader *shader,
                      const struct shader_resource *print,
                      const struct gpu_buffer *buffers)
{
    const struct gpu_buffer *printed = &buffers[print - shader->resources];
    for (size_t i = 0; i < shader->n_resources; i++) {
        if (shader->resources[i].is_control)
            printer_say_withheld(buffers[i].memory, buffers[i].n_bytes);
    }
    if (job->to) {
        bool ok = write_file(job->to, printed->memory, job->n_bytes);
        if (!ok)
            perror(job->to);
        return ok;
    }
    char *shared = printer_share(&job->printer, job->n_bytes);
    if (shared)
        copy_as_written(shared, printed->memory, job->n_bytes);
    return shared != NULL;
}

static int run(struct job *job, struct shader *shader)
{
    const struct shader_resource *print = print_buffer(shader);
    struct gpu_buffer buffers[SHADER_RESOURCES_MAX] = { 0 };
    bool is_wanted = job->to || job->printer.strings;
    if (!print && is_wanted) {
        fprintf(stderr,
                "run_comp: %s: which buffer it prints into is not "
                "clear: it has no block pfd_buffer\n",
                job->shader);
        return 1;
    }
    if (!push(job, shader))
        return 1;
    gpu_open();
    bool ok = make_buffers(job, shader, print, buffers);
    if (ok)
        gpu_dispatch(shader, buffers, job->groups);
    ok = ok && (!is_wanted || hand_over(job, shader, print, buffers));
    printer_close();
    gpu_close();
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct job job;
    struct shader shader;
    if (!read_arguments(&job, argc, argv))
        return usage();
    const char *why = shader_read(&shader, job.shader);
    int status = 1;
    if (!why && !shader.is_compute)
        why = "is no compute shader";
    if (why) {
        fprintf(stderr, "run_comp: %s: %s\n", job.shader, why);
    } else {
        status = run(&job, &shader);
    }
    shader_free(&shader);
    return status;
}
