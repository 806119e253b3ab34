/* SPDX-License-Identifier: MIT */
/*
 * Runs an OpenCL kernel once with a buffer to print into, and writes what is
 * then in that buffer to a file for printfdecode.
 *
 *   run_cl SOURCE.cl KERNEL ITEMS [--arg VALUE]... [--local N]
 *          [--options TEXT] [--buffer-bytes N] [--to dump.bin]
 *          [--strings app.pfdb [--rule RULE]...]
 *
 * --arg: one for each of the kernel's parameters but PFD_PARAMETERS, in their
 * order: a number, numbers with commas between for a vector, and for a pointer
 * how many bytes it points to, which are zero; ITEMS: work-items, --local: of a work-group; --options: for the compiler, as
 * -DPFD_SUBGROUPS; --buffer-bytes: with the header of 16 (default: 1048576).
 * With --strings and without --to a reader sees the lines while the kernel
 * runs, if the device works on the host's memory: printfdecoded, or
 * `printfdecode run -- run_cl ...`. --rule (printer.h) is for kernels scanned
 * with --control.
 *
 * Exit status: 0 done, 1 an error, 77 there is no OpenCL, or no device.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "printer.h"

enum {
    SOURCE_MAX = 16 << 20,
    LOG_MAX = 1 << 16,
};

struct job {
    const char *source;
    const char *kernel;
    const char *options;
    const char *to;
    size_t n_items;
    size_t n_local; /* 0: the driver chooses */
    cl_uint n_bytes;
    const char *arguments[KERNEL_ARGUMENTS_MAX]; /* [n_arguments] */
    size_t n_arguments;
    struct printer_options printer;
};

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;

static void must(cl_int status, const char *what)
{
    if (status == CL_SUCCESS)
        return;
    fprintf(stderr, "run_cl: %s: error %d\n", what, (int)status);
    exit(1);
}

static bool read_number(const char *text, size_t *ret)
{
    char *end = NULL;
    unsigned long long number = strtoull(text, &end, 10);
    *ret = (size_t)number;
    return *text >= '0' && *text <= '9' && !*end && number <= UINT32_MAX;
}

static bool read_option(struct job *ret, const char *name, const char *value)
{
    size_t n = 0;
    if (!strcmp(name, "--to")) {
        ret->to = value;
    } else if (!strcmp(name, "--options")) {
        ret->options = value;
    } else if (!strcmp(name, "--arg")) {
        if (ret->n_arguments == KERNEL_ARGUMENTS_MAX)
            return false;
        ret->arguments[ret->n_arguments++] = value;
    } else if (!strcmp(name, "--local")) {
        return read_number(value, &ret->n_local);
    } else if (!strcmp(name, "--buffer-bytes")) {
        bool ok = read_number(value, &n) && n >= 16;
        ret->n_bytes = (cl_uint)n;
        return ok;
    } else {
        return printer_take(&ret->printer, name, value);
    }
    return true;
}

static bool refuse(const char *why, const char *what)
{
    fprintf(stderr, "run_cl: %s: %s\n", what, why);
    return false;
}

static bool read_arguments(struct job *ret, int argc, char **argv)
{
    *ret = (struct job){ .options = "",
                         .n_bytes = 1 << 20,
                         .printer = { .program = "run_cl" } };
    if (argc < 6)
        return false;
    ret->source = argv[1];
    ret->kernel = argv[2];
    if (!read_number(argv[3], &ret->n_items))
        return refuse("ITEMS is no number", argv[3]);
    for (int i = 4; i < argc; i += 2) {
        if (i + 1 == argc)
            return refuse("no value is behind it", argv[i]);
        if (!read_option(ret, argv[i], argv[i + 1])) {
            return refuse("it is no option, or not its value is behind it",
                          argv[i]);
        }
    }
    return ret->to || ret->printer.strings ||
           refuse("--to or --strings is missing", ret->source);
}

static void open_device(void)
{
    cl_platform_id platforms[8];
    cl_uint n = 0;
    cl_int status;
    if (!opencl_load())
        exit(77);
    if (cl.GetPlatformIDs(8, platforms, &n) != CL_SUCCESS)
        n = 0;
    for (cl_uint i = 0; i < n && i < 8 && !device; i++)
        cl.GetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    if (!device) {
        fprintf(stderr, "run_cl: there is no OpenCL device\n");
        exit(77);
    }
    context = cl.CreateContext(NULL, 1, &device, NULL, NULL, &status);
    must(status, "context");
    queue = cl.CreateCommandQueue(context, device, 0, &status);
    must(status, "queue");
}

static void say_build_log(cl_program program)
{
    char *log = calloc(1, LOG_MAX + 1);
    if (log) {
        cl.GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, LOG_MAX,
                               log, NULL);
    }
    fprintf(stderr, "%s\n", log ? log : "out of memory");
    if (log && strstr(log, "'pfd_buffer'")) {
        fprintf(stderr, "run_cl: kernels and functions that print need the "
                        "parameter PFD_PARAMETERS\n");
    }
    free(log);
}

static cl_kernel build(const struct job *job)
{
    FILE *file = fopen(job->source, "rb");
    char *source = file ? malloc(SOURCE_MAX) : NULL;
    if (!source) {
        perror(job->source);
        exit(1);
    }
    size_t n = fread(source, 1, SOURCE_MAX, file);
    const char *text = source;
    cl_int status;
    fclose(file);
    cl_program program =
        cl.CreateProgramWithSource(context, 1, &text, &n, &status);
    must(status, "program");
    free(source);
    size_t n_options = strlen(job->options) + sizeof KERNEL_OPTIONS;
    char *options = malloc(n_options);
    if (options)
        snprintf(options, n_options, "%s" KERNEL_OPTIONS, job->options);
    status = cl.BuildProgram(program, 1, &device, options, NULL, NULL);
    free(options);
    if (status != CL_SUCCESS) {
        say_build_log(program);
        exit(1);
    }
    cl_kernel kernel = cl.CreateKernel(program, job->kernel, &status);
    if (status != CL_SUCCESS) {
        char names[4096] = "";
        cl.GetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names - 1,
                          names, NULL);
        fprintf(stderr, "run_cl: there is no kernel %s in %s, which has: %s\n",
                job->kernel, job->source, names);
        exit(1);
    }
    cl.ReleaseProgram(program);
    return kernel;
}

static cl_mem make_buffer(void *bytes, size_t n)
{
    cl_int status;
    cl_mem ret = cl.CreateBuffer(
        context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, n, bytes, &status);
    must(status, "buffer");
    return ret;
}

/* Waits for the kernel; what it wrote is then in the buffer's own bytes. */
static void take_back(cl_mem from, size_t n)
{
    cl_int status;
    void *mapped = cl.EnqueueMapBuffer(queue, from, CL_TRUE, CL_MAP_READ, 0, n,
                                       0, NULL, NULL, &status);
    must(status, "reading the buffer");
    must(cl.EnqueueUnmapMemObject(queue, from, mapped, 0, NULL, NULL),
         "reading the buffer");
    must(cl.Finish(queue), "reading the buffer");
    cl.ReleaseMemObject(from);
}

/* The control block, where the kernel asks for it. False: it is not to be had,
 * or asked for in vain. */
static bool make_rules(const struct job *job,
                       const struct kernel_places *places, void **control,
                       size_t *n)
{
    *control = NULL;
    if (places->rules != KERNEL_NONE)
        return (*control = printer_control(&job->printer, n)) != NULL;
    return !job->printer.n_rules ||
           refuse("the source was not scanned with --control, which --rule "
                  "needs",
                  job->source);
}

/* Into bytes [job->n_bytes]. False: said why. */
static bool run(const struct job *job, void *bytes)
{
    cl_kernel kernel = build(job);
    cl_uint n_dwords = job->n_bytes / 4;
    size_t n_control = 0;
    void *control = NULL;
    cl_mem rules = NULL;
    struct kernel_places places;
    if (!kernel_places(kernel, &places) ||
        !kernel_set(kernel, context, &places, job->arguments,
                    job->n_arguments) ||
        !make_rules(job, &places, &control, &n_control))
        return false;
    if (control) {
        rules = make_buffer(control, n_control);
        must(cl.SetKernelArg(kernel, (cl_uint)places.rules, sizeof(cl_mem),
                             &rules),
             "pfd_rules");
    }
    cl_mem buffer = make_buffer(bytes, job->n_bytes);
    must(cl.SetKernelArg(kernel, (cl_uint)places.buffer, sizeof(cl_mem),
                         &buffer),
         "pfd_buffer");
    must(cl.SetKernelArg(kernel, (cl_uint)places.size, sizeof n_dwords,
                         &n_dwords),
         "pfd_size");
    must(cl.EnqueueNDRangeKernel(queue, kernel, 1, NULL, &job->n_items,
                                 job->n_local ? &job->n_local : NULL, 0, NULL,
                                 NULL),
         "the kernel");
    take_back(buffer, job->n_bytes);
    if (rules) {
        take_back(rules, n_control);
        printer_say_withheld(control, n_control);
    }
    cl.ReleaseKernel(kernel);
    cl.ReleaseCommandQueue(queue);
    cl.ReleaseContext(context);
    return true;
}

static bool write_file(const struct job *job, const void *bytes)
{
    FILE *file = fopen(job->to, "wb");
    bool ok = file && fwrite(bytes, 1, job->n_bytes, file) == job->n_bytes;
    ok = file && !fclose(file) && ok;
    if (!ok)
        perror(job->to);
    return ok;
}

int main(int argc, char **argv)
{
    struct job job;
    if (!read_arguments(&job, argc, argv)) {
        fprintf(stderr,
                "usage: run_cl SOURCE.cl KERNEL ITEMS [--arg VALUE]... "
                "[--local N] [--options TEXT] [--buffer-bytes N] [--to FILE] "
                "[--strings FILE [--rule RULE]...]\n");
        return 1;
    }
    open_device();
    void *file = job.to ? calloc(1, job.n_bytes) : NULL;
    void *bytes = job.to ? file : printer_share(&job.printer, job.n_bytes);
    bool ok = bytes && run(&job, bytes) && (!job.to || write_file(&job, bytes));
    printer_close();
    free(file);
    return ok ? 0 : 1;
}
