#version 460
#extension GL_EXT_debug_printf : enable

layout(local_size_x = 64) in;

void main()
{
    uint ray = gl_GlobalInvocationID.x;
    debugPrintfEXT("ray %u hit t=%f prim %d", ray, float(ray % 1024u) * 0.25,
                   int(ray % 4096u) - 1);
}
