#version 460
#extension GL_EXT_debug_printf : enable
#extension GL_EXT_shader_explicit_arithmetic_types : enable

layout(local_size_x = 4) in;

// One of each kind of value, made so that no compiler knows it.
void main()
{
    uint i = gl_GlobalInvocationID.x;
    float f = float(i) * 1.5 - 1.0;
    vec4 v = vec4(f, -f, f * f, 1e10);
    uint64_t q = 0xfedcba9876543210ul + i;
    debugPrintfEXT("u %u x 0x%x d %d o %o", i, ~i, -int(i), i);
    debugPrintfEXT("f %f e %e g %g a %a %.3f|%8.2f|", f, f, f, f, f, f);
    debugPrintfEXT("v2 %v2f v3 %1.2v3f v4 %v4f", v.xy, v.xyz, v);
    debugPrintfEXT("apart %f %f %f", v.x, v.y, v.z);
    debugPrintfEXT("iv %v3d uv %v2u", ivec3(v.xyz), uvec2(i, ~i));
    debugPrintfEXT("ul 0x%ul lu %lu lx 0x%lx then %u", q, q, q, i);
    debugPrintfEXT("halves %08x%08x then %u", uint(q >> 32), uint(q), i);
    debugPrintfEXT("half %f u8 %u bool %u", float16_t(f), uint8_t(i), i > 1u);
    debugPrintfEXT("bvec %v2u", bvec2(i > 1u, i > 2u));
    debugPrintfEXT("100%% without a value");
    if (i == 3u)
        debugPrintfEXT("twice %u", i);
    debugPrintfEXT("twice %u", i);
}
