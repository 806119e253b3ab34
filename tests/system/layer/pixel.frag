#version 460
#extension GL_EXT_debug_printf : enable

layout(location = 0) out vec4 color;

void main()
{
    for (int i = 0; i < 50; i++)
        debugPrintfEXT("pixel %v2d, %d\n", ivec2(gl_FragCoord.xy), i);
    color = vec4(1.0);
}
