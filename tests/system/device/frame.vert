#version 460

layout(push_constant) uniform Move
{
    vec2 by;
};

void main()
{
    vec2 at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    gl_Position = vec4(at * 0.1 + by, 0.0, 1.0);
}
