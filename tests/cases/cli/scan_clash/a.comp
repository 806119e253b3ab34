#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Out { float x[]; };
#include "lib.glsl"
void main() { PFD_PRINTF("x\n"); }
