/* SPDX-License-Identifier: MIT */
/* Names of the words of the layer's records, for dumps word by word. */
#include "core/spirv/khronos.h"

enum {
    N_WORDS = 3, /* stage words */
};

static const struct stage_words {
    const char *names[N_WORDS]; /* NULL: not used */
} rows[] = {
    [PFD_STAGE_VERTEX] = { { "VertexIndex", "InstanceIndex" } },
    [PFD_STAGE_TESS_CONTROL] = { { "InvocationId", "PrimitiveId" } },
    [PFD_STAGE_TESS_EVAL] = { { "PrimitiveId", "TessCoord.u, a float",
                                "TessCoord.v, a float" } },
    [PFD_STAGE_GEOMETRY] = { { "PrimitiveId", "InvocationId" } },
    [PFD_STAGE_FRAGMENT] = { { "FragCoord.x, a float",
                               "FragCoord.y, a float" } },
    [PFD_STAGE_COMPUTE] = { { "GlobalInvocationId.x", "GlobalInvocationId.y",
                              "GlobalInvocationId.z" } },
    [PFD_STAGE_RAY_GENERATION] = { { "LaunchId.x", "LaunchId.y",
                                     "LaunchId.z" } },
};

/* Stages of one kind share their words. */
static enum pfd_stage row_of(enum pfd_stage stage)
{
    switch (stage) {
    case PFD_STAGE_KERNEL:
    case PFD_STAGE_TASK_NV:
    case PFD_STAGE_MESH_NV:
    case PFD_STAGE_TASK:
    case PFD_STAGE_MESH:
        return PFD_STAGE_COMPUTE;
    case PFD_STAGE_INTERSECTION:
    case PFD_STAGE_ANY_HIT:
    case PFD_STAGE_CLOSEST_HIT:
    case PFD_STAGE_MISS:
    case PFD_STAGE_CALLABLE:
        return PFD_STAGE_RAY_GENERATION;
    case PFD_STAGE_VERTEX:
    case PFD_STAGE_TESS_CONTROL:
    case PFD_STAGE_TESS_EVAL:
    case PFD_STAGE_GEOMETRY:
    case PFD_STAGE_FRAGMENT:
    case PFD_STAGE_COMPUTE:
    case PFD_STAGE_RAY_GENERATION:
    case PFD_STAGE_UNKNOWN:
        break;
    }
    return stage;
}

const char *pfd_khronos_stage_word(uint32_t number, unsigned i)
{
    enum pfd_stage stage = row_of(pfd_stage_of(number));
    if (stage == PFD_STAGE_UNKNOWN)
        return "of a stage that is not known";
    const char *name = i < N_WORDS ? rows[stage].names[i] : NULL;
    return name ? name : "not used by this stage";
}
