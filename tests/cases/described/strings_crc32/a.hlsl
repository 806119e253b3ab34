// "no message" %u
#include "engine.hlsl"
void main(uint3 id : SV_DispatchThreadID)
{
    /* "nor here" */
    log("tile %u\n", id.x);
    log("a \"quoted\" \x41\101 "
        "joined %d\n", -7); char c = '"';
    log("broken
}
