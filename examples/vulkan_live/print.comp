#version 450
/* Prints one line for each thread, the way AMD's Vulkan compiler lowers
 * debugPrintfEXT: a header of four dwords whose first counts, then entries. */
layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) coherent buffer Printf
{
    uint used;
    uint used_high;
    uint reserved[2];
    uint words[];
} print;

/* The id of "ray %u hit t=%.3f prim %#010x\n" in ../data/app.elf. */
const uint ID = 0x7e88a4e9u;
const uint ID_HIGH = 0x2df0u;

void main()
{
    uint thread = gl_GlobalInvocationID.x;
    uint at = atomicAdd(print.used, 5u);
    if (at + 5u > print.words.length())
        return;
    print.words[at + 2u] = thread;
    print.words[at + 3u] = floatBitsToUint(float(thread) * 0.25);
    print.words[at + 4u] = thread * 3u;
    memoryBarrierBuffer();
    /* id << 16 | 5, the half with the size last. */
    print.words[at + 1u] = ID_HIGH << 16 | ID >> 16;
    memoryBarrierBuffer();
    print.words[at] = (ID & 0xffffu) << 16 | 5u;
}
