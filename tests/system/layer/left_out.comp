#version 460
#extension GL_EXT_debug_printf : enable

layout(local_size_x = 1) in;

// What the validation layer leaves out since 1.3.296, between what it prints.
void main()
{
    uint i = gl_GlobalInvocationID.x;
    debugPrintfEXT("first %u", i);
    debugPrintfEXT("string %s", i);
    debugPrintfEXT("letter %c", i);
    debugPrintfEXT("left %-8d", i);
    debugPrintfEXT("sign %+d", i);
    debugPrintfEXT("");
    debugPrintfEXT("few %u %u", i);
    debugPrintfEXT("wide %10s", i);
    debugPrintfEXT("last %u", i);
}
