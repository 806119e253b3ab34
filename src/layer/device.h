/* SPDX-License-Identifier: MIT */
/*
 * Instances and devices, and what is known of a device's objects. Everything
 * in a device below `lock` is read and written under it; nobody calls what
 * waits for a GPU with the lock held.
 */
#ifndef LAYER_DEVICE_H
#define LAYER_DEVICE_H

#include <pthread.h>
#include <stdbool.h>

#include "dispatch.h"
#include "frame_output.h"
#include "handle_map.h"

enum {
    NAME_MAX_BYTES = 256,
    BINDINGS_MAX = 8, /* of a set that are looked at */
    TOLD_MAX = 16,
};

/* What a buffer holds. */
enum contents {
    CONTENTS_UNKNOWN, /* the decoder finds it out */
    CONTENTS_DEBUGPRINTF,
    CONTENTS_GPUAV,
    CONTENTS_NAMED, /* by the application */
};

/* Where validation's shaders write, as one of its modules says it. */
struct told {
    uint32_t set;
    uint32_t binding;
    enum contents contents;
};

struct memory {
    VkDeviceMemory handle;
    VkDeviceSize size;
    bool is_coherent;
    bool is_used;          /* a buffer that is taken lies in it */
    bool by_us;            /* the mapping is ours: of all of it, and it stays */
    bool by_other;         /* somebody above has it mapped */
    char *base;            /* of offset 0; NULL: it is not mapped */
    VkDeviceSize from, to; /* what of it the mapping has */
};

/* What was given of a named buffer last. */
struct given {
    char *bytes; /* [n], owned */
    size_t n;
    bool is_open;    /* its generation is not done */
    bool is_renewed; /* it has begun anew since */
    unsigned epoch;  /* of the outlet */
};

struct buffer {
    VkBuffer handle;
    uint64_t serial; /* handles come again */
    VkDeviceSize size;
    VkBufferUsageFlags usage;
    VkDeviceMemory memory;
    VkDeviceSize offset;
    char *name; /* behind pfd:; NULL: it is not named so. owned */
    uint64_t number;
    uint64_t generation;
    uint64_t round;      /* of the device, when it was taken last */
    unsigned n_renewing; /* submissions that begin it anew, and are not done */
    struct given given;
};

struct set {
    VkBuffer buffers[BINDINGS_MAX];
};

/* An action that writes into a buffer. */
struct use {
    VkBuffer buffer;
    uint64_t serial;
    enum contents contents;
    VkCommandBuffer command;
    VkPipeline pipeline; /* null: none, or several */
    VkPipelineBindPoint point;
    uint32_t index; /* of the action, among those of its kind */
    bool is_before; /* before an action, by validation's own pipeline */
};

struct uses {
    struct use *at; /* [n], owned */
    size_t n;
    size_t room;
};

enum {
    POINTS = 3, /* graphics, compute, ray tracing */
};

struct command {
    VkCommandPool pool;
    struct uses uses;
    size_t errors;       /* number of the last use for errors; 0: none */
    struct uses renewed; /* buffers that it fills or copies to */
    VkPipeline pipeline[POINTS];
    uint32_t n_actions[POINTS];
};

struct signal {
    VkSemaphore semaphore;
    uint64_t value;
};

/* What a queue has not finished, as far as we know. */
struct submission {
    struct submission *next; /* later */
    uint64_t number;
    VkQueue queue;
    VkFence fence;
    struct signal *signals; /* [n_signals], owned */
    size_t n_signals;
    struct uses uses;
    struct uses renewed; /* named buffers that it begins anew */
};

struct module {
    struct module *next;
    VkShaderModule handle; /* null: it was destroyed */
    char *name;            /* of one that was; NULL: it had none. owned */
    uint64_t number;
    uint64_t likeness; /* of an original that is not given yet */
    size_t n;
    char bytes[];
};

struct instance {
    struct instance *next;
    VkInstance handle;
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
    PFN_vkDestroyInstance DestroyInstance;
    bool has_debug_utils;
    bool is_validated;   /* validation is above us */
    uint32_t validation; /* its version; 0: not known */
};

struct device {
    struct device *next_device;
    struct instance *instance;
    VkDevice handle;
    struct dispatch next;
    VkPhysicalDeviceMemoryProperties memory_types;
    char name[NAME_MAX_BYTES];
    uint32_t reserved_set; /* that validation takes for itself */
    bool is_validated;     /* validation is above us */
    struct frame_output *frame_output;

    pthread_mutex_t lock;
    bool is_lost;
    uint64_t serial;
    struct table memories;
    struct table buffers;
    struct table sets;
    struct table commands;
    struct table pipeline_names;
    struct table command_names;
    struct table module_names;
    size_t n_named; /* buffers */
    bool is_dirty;  /* something was submitted since named ones were taken */
    struct told told[TOLD_MAX];
    size_t n_told;
    bool is_checked;   /* a module was instrumented to look for errors */
    bool knows_errors; /* a buffer that they are written to was bound */
    struct submission *submissions;
    struct submission **last_submission;
    size_t n_submissions;
    uint64_t n_submitted;   /* so far */
    uint64_t round;         /* of submissions that finish together */
    struct module *modules; /* not given yet, in order */
    struct module **last_module;
    struct module *originals; /* as the program has them, that may be needed */
    uint64_t n_modules;       /* so far */
    size_t n_module_bytes;    /* of those that were kept so far */
    uint64_t numbers[3];      /* of the streams of enum contents; 0: none yet */
    uint64_t generations[3];
    char *scratch; /* [n_scratch] */
    size_t n_scratch;
};

/* Of any dispatchable handle; NULL: none of ours. */
struct instance *instance_of(const void *handle);
struct device *device_of(const void *handle);

/* instance is the list's from then on; the caller made it. */
void instance_add(struct instance *instance);
void instance_remove(struct instance *instance);

/* A device that nobody knows yet; NULL: out of memory. */
struct device *device_new(struct instance *instance, VkDevice handle,
                          PFN_vkGetDeviceProcAddr next);
void device_add(struct device *device);

/* Gives what is left, and forgets the device; it is not destroyed. */
void device_remove(struct device *device);

/* A non-dispatchable handle as a key. */
#define KEY(handle) ((uint64_t)(uintptr_t)(handle))

#endif
