#version 460

layout(set = 0, binding = 0) uniform Paint
{
    vec4 paint;
};
layout(location = 0) out vec4 color;

void main()
{
    color = paint;
}
