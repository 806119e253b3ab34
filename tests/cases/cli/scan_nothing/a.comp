#version 450
#extension GL_EXT_debug_printf : require
void main()
{
    debugPrintfEXT("x");
}
