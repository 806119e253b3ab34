#include "inner.glsl"
