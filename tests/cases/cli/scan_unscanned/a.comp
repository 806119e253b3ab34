#version 450
#include "lib.glsl"
void main() { f(); }
