#version 460
#extension GL_EXT_debug_printf : enable

layout(local_size_x = 32) in;

void main()
{
    debugPrintfEXT("short %u", gl_GlobalInvocationID.x);
}
