#version 450
#extension GL_EXT_debug_printf : enable
#extension GL_EXT_shader_explicit_arithmetic_types : enable
layout(local_size_x = 4) in;
void main()
{
    uint id = gl_GlobalInvocationID.x;
    debugPrintfEXT("id %u", id);
    debugPrintfEXT("float %f double %f", float(id), double(id) + 0.5lf);
    debugPrintfEXT("long %ld short %d vector %v3d", -int64_t(id) - 1, int16_t(-7) - int16_t(id), ivec3(id));
#line 100
    debugPrintfEXT("after a #line %v2f", vec2(id));
}
