/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"

enum {
    NAME_MAX_BYTES = 256
};

/* A parameter as the compiler knows it. */
struct parameter {
    char name[NAME_MAX_BYTES];
    char type[NAME_MAX_BYTES];
    cl_kernel_arg_address_qualifier space;
};

static bool ask(cl_kernel kernel, cl_uint i, struct parameter *ret)
{
    *ret = (struct parameter){ .space = CL_KERNEL_ARG_ADDRESS_PRIVATE };
    return cl.GetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof ret->name,
                               ret->name, NULL) == CL_SUCCESS &&
           cl.GetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME,
                               sizeof ret->type, ret->type,
                               NULL) == CL_SUCCESS &&
           cl.GetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
                               sizeof ret->space, &ret->space,
                               NULL) == CL_SUCCESS;
}

static cl_uint count(cl_kernel kernel)
{
    cl_uint n = 0;
    cl.GetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL);
    return n;
}

static const char *name_of(cl_kernel kernel)
{
    static char name[NAME_MAX_BYTES];
    cl.GetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name,
                     NULL);
    return name;
}

bool kernel_places(cl_kernel kernel, struct kernel_places *ret)
{
    *ret = (struct kernel_places){ KERNEL_NONE, KERNEL_NONE, KERNEL_NONE };
    for (cl_uint i = 0; i < count(kernel); i++) {
        struct parameter p;
        if (!ask(kernel, i, &p)) {
            fprintf(stderr,
                    "run_cl: the driver does not say what parameters %s has\n",
                    name_of(kernel));
            return false;
        }
        if (!strcmp(p.name, "pfd_buffer"))
            ret->buffer = (int)i;
        if (!strcmp(p.name, "pfd_size"))
            ret->size = (int)i;
        if (!strcmp(p.name, "pfd_rules"))
            ret->rules = (int)i;
    }
    if (ret->buffer != KERNEL_NONE && ret->size != KERNEL_NONE)
        return true;
    fprintf(stderr, "run_cl: %s has no PFD_PARAMETERS: it cannot print\n",
            name_of(kernel));
    return false;
}

/* "uint4" and such. False: it is no number. */
static bool type_of(const char *name, struct argument_type *ret)
{
    static const struct {
        const char *name;
        char kind;
        unsigned size;
    } types[] = {
        { "char", 'i', 1 },   { "uchar", 'u', 1 }, { "short", 'i', 2 },
        { "ushort", 'u', 2 }, { "int", 'i', 4 },   { "uint", 'u', 4 },
        { "long", 'i', 8 },   { "ulong", 'u', 8 }, { "float", 'f', 4 },
        { "double", 'f', 8 },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t n = strlen(types[i].name);
        const char *end = name + n;
        if (strncmp(name, types[i].name, n) != 0)
            continue;
        char *rest = NULL;
        unsigned components = *end ? (unsigned)strtoul(end, &rest, 10) : 1;
        *ret =
            (struct argument_type){ types[i].kind, types[i].size, components };
        if ((!rest || !*rest) && components > 0 && components <= 16)
            return true;
    }
    return false;
}

/* Zeros that the device may write. */
static bool set_buffer(cl_kernel kernel, cl_context context, cl_uint i,
                       const struct parameter *p, size_t n)
{
    cl_int status;
    if (p->space == CL_KERNEL_ARG_ADDRESS_LOCAL)
        return cl.SetKernelArg(kernel, i, n, NULL) == CL_SUCCESS;
    void *zeros = calloc(1, n);
    cl_mem buffer =
        zeros
            ? cl.CreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                              n, zeros, &status)
            : NULL;
    free(zeros);
    return buffer &&
           cl.SetKernelArg(kernel, i, sizeof(cl_mem), &buffer) == CL_SUCCESS;
}

static bool set(cl_kernel kernel, cl_context context, cl_uint i,
                const struct parameter *p, const char *value)
{
    bool is_number = p->space == CL_KERNEL_ARG_ADDRESS_PRIVATE;
    unsigned char bytes[ARGUMENT_BYTES_MAX] = { 0 };
    struct argument_type type = { 0 };
    size_t n = 0;
    const char *wanted =
        is_number ? "NUMBER (or N,N,... of a vector)" : "BYTES";
    if (is_number && !type_of(p->type, &type)) {
        fprintf(stderr,
                "run_cl: parameter '%s %s' of %s: such a type cannot be "
                "given\n",
                p->type, p->name, name_of(kernel));
        return false;
    }
    if (!value) {
        fprintf(stderr,
                "run_cl: parameter '%s %s' of %s is not given: --arg %s\n",
                p->type, p->name, name_of(kernel), wanted);
        return false;
    }
    bool ok = is_number ? argument_read(value, &type, bytes)
                        : argument_bytes(value, &n);
    if (!ok) {
        fprintf(stderr, "run_cl: parameter '%s %s' of %s wants %s, not '%s'\n",
                p->type, p->name, name_of(kernel), wanted, value);
        return false;
    }
    /* A vector of three is as long as one of four. */
    ok = is_number ? cl.SetKernelArg(kernel, i,
                                     type.size * (type.n == 3 ? 4 : type.n),
                                     bytes) == CL_SUCCESS
                   : set_buffer(kernel, context, i, p, n);
    if (!ok) {
        fprintf(stderr, "run_cl: parameter '%s %s' cannot be set\n", p->type,
                p->name);
    }
    return ok;
}

bool kernel_set(cl_kernel kernel, cl_context context,
                const struct kernel_places *places, const char *const *values,
                size_t n)
{
    size_t used = 0;
    for (cl_uint i = 0; i < count(kernel); i++) {
        struct parameter p;
        if ((int)i == places->buffer || (int)i == places->size ||
            (int)i == places->rules)
            continue;
        const char *value = used < n ? values[used] : NULL;
        if (!ask(kernel, i, &p) || !set(kernel, context, i, &p, value))
            return false;
        used++;
    }
    if (used == n)
        return true;
    fprintf(stderr,
            "run_cl: %s has %zu parameters of its own, --arg gives %zu\n",
            name_of(kernel), used, n);
    return false;
}
