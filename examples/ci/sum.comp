#version 450
#extension GL_EXT_debug_printf : require
/* Sums 64 numbers in shared memory, and checks what comes out. With BROKEN a
 * step of it is left out. */
layout(local_size_x = 64) in;
shared uint part[64];

void main()
{
    uint i = gl_LocalInvocationIndex;
    part[i] = i + 1;
    barrier();
#ifdef BROKEN
    for (uint n = 16; n > 0; n /= 2) {
#else
    for (uint n = 32; n > 0; n /= 2) {
#endif
        if (i < n)
            part[i] += part[i + n];
        barrier();
    }
    if (i == 0 && part[0] != 2080)
        debugPrintfEXT("FAILED: the sum of group %u is %u, not 2080",
                       gl_WorkGroupID.x, part[0]);
    if (i == 0)
        debugPrintfEXT("group %u is done", gl_WorkGroupID.x);
}
