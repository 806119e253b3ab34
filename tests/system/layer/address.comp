#version 460
#extension GL_EXT_buffer_reference : enable
#extension GL_EXT_shader_explicit_arithmetic_types : enable

layout(local_size_x = 1) in;
layout(buffer_reference, std430) buffer Word { uint word; };

// Nothing has this address.
void main()
{
    Word w = Word(uint64_t(0x123450ul + gl_GlobalInvocationID.x));
    w.word = 1u;
}
