#version 460
#extension GL_EXT_debug_printf : enable
layout(local_size_x = 4) in;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    debugPrintfEXT("hello from %u: %f of debugPrintf", i, float(i) / 4.0);
}
