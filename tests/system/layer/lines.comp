#version 460
#extension GL_EXT_debug_printf : enable
layout(local_size_x = 1) in;
shared uint x;

void tell(uint a)
{
    debugPrintfEXT("in a function");
}

void main()
{
    uint i = gl_GlobalInvocationID.x;
    debugPrintfEXT("one %u", i);
    i = i + 3u;
    debugPrintfEXT("nothing");
    i = i * 7u;
    debugPrintfEXT("constant %u", 5u);
    debugPrintfEXT("nothing again");
    if (i > 2u)
        debugPrintfEXT("in a branch");
    for (uint k = 0u; k < 2u; k++)
        debugPrintfEXT("loop %u", k);
    x = i; debugPrintfEXT("behind");
    tell(i);
}
