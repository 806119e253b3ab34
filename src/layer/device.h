/* SPDX-License-Identifier: MIT */
/*
 * Instances and devices, and the tracked state of a device's objects. The
 * members of a device below `lock` are read and written under it; no call that
 * waits for a GPU is made with the lock held.
 */
#ifndef LAYER_DEVICE_H
#define LAYER_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "dispatch.h"
#include "frame_output.h"
#include "handle_map.h"

enum {
    NAME_MAX_BYTES = 256,
    BINDINGS_MAX = 8, /* bindings of a set that are tracked */
    TOLD_MAX = 16,
    OWN_QUEUES_MAX = 8,
};

/* The contents of a buffer. */
enum contents {
    CONTENTS_UNKNOWN, /* the decoder detects them */
    CONTENTS_DEBUGPRINTF,
    CONTENTS_GPUAV,
    CONTENTS_NAMED, /* by the application */
};

/* The place where validation's shaders write, according to one of its
 * modules. */
struct told {
    uint32_t set;
    uint32_t binding;
    enum contents contents;
};

struct memory {
    VkDeviceMemory handle;
    VkDeviceSize size;
    bool is_coherent;
    bool is_cached;        /* by the processor */
    bool is_local;         /* the device's own */
    bool is_used;          /* a taken buffer is in it */
    bool by_us;            /* the mapping is ours: of the whole memory, until it
                              is freed */
    bool by_other;         /* the application, or a layer above, has it
                              mapped */
    char *base;            /* address of offset 0; NULL: not mapped */
    VkDeviceSize from, to; /* the mapped range */
};

/* The bytes of a named buffer that were sent last. */
struct last_sent {
    char *bytes; /* [n], owned */
    size_t n;
    bool is_open;    /* its generation is not finished */
    bool is_renewed; /* it was restarted since */
    unsigned epoch;  /* of the frame output */
};

struct buffer {
    VkBuffer handle;
    uint64_t serial; /* handles are reused */
    VkDeviceSize size;
    VkBufferUsageFlags usage; /* as the program gave it */
    bool is_copyable;         /* by the device */
    VkDeviceMemory memory;
    VkDeviceSize offset;
    char *name; /* behind pfd:; NULL: it has no such name. owned */
    uint64_t number;
    uint64_t generation;
    uint64_t round;      /* the device's, when the buffer was taken last */
    unsigned n_writing;  /* uses by submissions that are not finished */
    unsigned n_renewing; /* submissions that restart it and are not finished */
    struct last_sent last_sent;
};

struct set {
    VkBuffer buffers[BINDINGS_MAX];
};

/* An action that writes a buffer. */
struct use {
    VkBuffer buffer;
    uint64_t serial;
    enum contents contents;
    VkCommandBuffer command;
    VkPipeline pipeline; /* null: none, or several */
    VkPipelineBindPoint point;
    uint32_t index; /* of the action, among the actions of its kind */
    bool is_before; /* by a check before an action, in validation's own
                       pipeline */
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

/* Work of a queue that is not known to be finished. */
struct submission {
    struct submission *next; /* the next later one */
    uint64_t number;
    VkQueue queue;
    VkFence fence;
    struct signal *signals; /* [n_signals], owned */
    size_t n_signals;
    struct uses uses;
    struct uses renewed; /* named buffers that it restarts */
};

struct module {
    struct module *next;
    VkShaderModule handle; /* null: destroyed, or it never had one */
    char *name;            /* of a destroyed module; NULL: it had none. owned */
    uint64_t number;
    uint64_t likeness; /* of an original that is not sent yet */
    size_t n;
    char bytes[];
};

struct instance {
    struct instance *next;
    VkInstance handle;
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
    PFN_vkDestroyInstance DestroyInstance;
    PFN_vkCreateDebugUtilsMessengerEXT CreateDebugUtilsMessengerEXT;
    PFN_vkCreateDebugReportCallbackEXT CreateDebugReportCallbackEXT;
    atomic_bool wants_prints; /* the program has a messenger for what shaders
                                 print */
    bool has_debug_utils;
    bool is_validated;   /* the validation layer is above */
    uint32_t validation; /* its version; 0: unknown */
};

struct copier;

/* A queue on which the layer copies: its own, or one of the program's. */
struct own_queue {
    uint32_t family;
    uint32_t index;
    struct copier *copier; /* NULL: not needed yet. owned by gpu_copy.c */
    VkQueue shared;        /* the program's; null: the queue is the layer's */
    atomic_uint n_calls;   /* of the program that use the shared queue now;
                              it rises under the device's lock */
    uint64_t last;         /* submission on the shared queue */
    uint64_t done;         /* the last one that is known to be finished */
};

/* Queues of the layer's own. */
struct own_queues {
    struct own_queue at[OWN_QUEUES_MAX];
    size_t n;
    uint32_t sharing;     /* a bit for each family on whose queues, which are
                            the program's, the layer may copy */
    bool has_one_family;  /* the program uses queues of one family */
    pthread_mutex_t lock; /* taken after the device's */
};

/* Objects of the program. */
struct objects {
    struct table queues;    /* the struct own_queue for each */
    struct table timelines; /* semaphores that count; a value is the device */
    struct table memories;
    struct table buffers;
    struct table sets;
    struct table commands;
};

struct object_names {
    struct table pipelines;
    struct table commands;
    struct table modules;
};

/* What the validation layer has added. */
struct validation {
    struct told output_bindings[TOLD_MAX];
    size_t n_output_bindings;
    bool is_checked;   /* a module was instrumented for errors */
    bool knows_errors; /* a buffer for errors was bound */
};

struct submissions {
    struct submission *first;
    struct submission **last;
    size_t n;
    bool is_unknown; /* work was submitted that is not among them, and may not
                        be finished */
    uint64_t n_so_far;
    uint64_t round; /* of submissions that finish together */
};

struct modules {
    struct module *first; /* not sent yet, in order */
    struct module **last;
    struct module *originals; /* modules of the program that may be needed
                                 later */
    uint64_t n;               /* so far */
    size_t n_bytes;           /* of all copies so far */
};

struct device {
    struct device *next_device;
    struct instance *instance;
    VkDevice handle;
    struct dispatch next;
    VkPhysicalDeviceMemoryProperties memory_types;
    char name[NAME_MAX_BYTES];
    uint32_t reserved_set; /* the set that validation reserves */
    bool is_validated;     /* the validation layer is above */
    struct frame_output *frame_output;
    PFN_vkSetDeviceLoaderData set_loader_data;
    struct own_queues own_queues;
    atomic_bool is_instrumented; /* validation has changed a module */
    atomic_bool has_sets;        /* a set may be validation's */

    pthread_mutex_t lock;
    bool is_lost;
    uint64_t serial;
    struct objects objects;
    struct object_names names;
    size_t n_named; /* named buffers */
    bool is_dirty;  /* work was submitted since named buffers were taken */
    struct validation validation;
    struct submissions submissions;
    struct modules modules;
    struct {
        uint64_t numbers[3]; /* of enum contents; 0: none yet */
        uint64_t generations[3];
    } streams;
    uint64_t n_wanted; /* bytes that shaders wanted to write to a buffer that
                          was too small, at most; 0: none was */
    bool is_reported;  /* in the file of settings */
    struct {
        char *bytes; /* [n] */
        size_t n;
    } scratch;
};

/* The instance or device of any dispatchable handle; NULL: not one of ours. */
struct instance *instance_of(const void *handle);
struct device *device_of(const void *handle);

/* Adds an instance that the caller allocated; the list owns it then. */
void instance_add(struct instance *instance);
void instance_remove(struct instance *instance);

/* Makes a device for a new handle; NULL: out of memory. */
struct device *device_new(struct instance *instance, VkDevice handle,
                          PFN_vkGetDeviceProcAddr next);
void device_add(struct device *device);

/* The buffer of a use; NULL: it was destroyed. The caller holds the lock. */
struct buffer *device_buffer(const struct device *device,
                             const struct use *use);

/* A file's part in the end of a device; either may be NULL. */
struct device_end {
    void (*finish)(struct device *device); /* sends the remaining data, with the
                                              lock held */
    void (*forget)(struct device *device); /* frees the file's records */
};

/* Calls all finish functions, then all forget functions, in order, and frees
 * the device's state; the caller destroys the device. */
void device_remove(struct device *device, const struct device_end *ends,
                   size_t n);

/* The key of a non-dispatchable handle. */
#define KEY(handle) ((uint64_t)(uintptr_t)(handle))

#endif
