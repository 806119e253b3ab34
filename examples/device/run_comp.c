/* SPDX-License-Identifier: MIT */
/*
 * Runs a compute shader once with a buffer to print into, and writes what is
 * then in that buffer to a file for printfdecode.
 *
 *   run_comp SHADER.spv X Y Z [--buffer-bytes N] [--to dump.bin]
 *            [--strings app.pfdb [--rule RULE]...]
 *
 * X, Y, Z: workgroups. The buffer is bound where the shader has the block that
 * `printfdecode scan` gives it, or its only storage buffer. Other buffers that
 * the shader wants are there, too, and all zero. --buffer-bytes: of the buffer
 * to print into, its header of 16 counted in (default: 1048576). With --strings
 * and without --to whoever reads sees the lines: printfdecoded, or `printfdecode
 * run -- run_comp ...`; --rule (printer.h) is for shaders scanned with
 * --control. Without both the shader just runs, as for one that prints with
 * debugPrintfEXT.
 *
 * Exit status: 0 done, 1 an error, 77 there is no Vulkan device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "printer.h"
#include "shader.h"

enum {
    DEFAULT_BYTES = 1 << 20,
    OTHER_BYTES = 1 << 16, /* what any uniform buffer may have: 16384 */
};

struct job {
    const char *shader;
    const char *to;
    uint32_t groups[3];
    size_t n_bytes;
    struct printer_options printer;
};

static int usage(void)
{
    fprintf(stderr, "usage: run_comp SHADER.spv X Y Z [--buffer-bytes N] "
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

static bool read_arguments(struct job *ret, int argc, char **argv)
{
    unsigned long long number;
    int n = 0;
    *ret = (struct job){ .n_bytes = DEFAULT_BYTES,
                         .printer = { .program = "run_comp" } };
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;
        if (!strcmp(argv[i], "--to") && has_value) {
            ret->to = argv[++i];
        } else if (!strcmp(argv[i], "--buffer-bytes") && has_value) {
            if (!read_number(argv[++i], UINT32_MAX, &number) || number < 16)
                return false;
            ret->n_bytes = (size_t)number;
        } else if (has_value &&
                   printer_take(&ret->printer, argv[i], argv[i + 1])) {
            i++;
        } else if (n == 0) {
            ret->shader = argv[i];
            n++;
        } else {
            if (n > 3 || !read_number(argv[i], UINT32_MAX, &number))
                return false;
            ret->groups[n++ - 1] = (uint32_t)number;
        }
    }
    return n == 4;
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

/* All that the shader wants bound; false: the control block is not to be
 * had. */
static bool make_buffers(const struct job *job, const struct shader *shader,
                         const struct shader_resource *print,
                         struct gpu_buffer *ret)
{
    for (size_t i = 0; i < shader->n_resources; i++) {
        const struct shader_resource *r = &shader->resources[i];
        size_t n = r == print ? job->n_bytes : OTHER_BYTES;
        const void *control = NULL;
        if (r->is_control && !(control = printer_control(&job->printer, &n)))
            return false;
        ret[i] = gpu_buffer(r->is_uniform && n > 16384 ? 16384 : n);
        if (control)
            memcpy(ret[i].memory, control, n);
    }
    return true;
}

/* What was printed, to whoever wants it. */
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
    void *shared = printer_share(&job->printer, job->n_bytes);
    if (shared)
        memcpy(shared, printed->memory, job->n_bytes);
    return shared != NULL;
}

static int run(const struct job *job, const struct shader *shader)
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
