#version 450
// A ring of one's own, as own.yaml describes it: a counter of dwords behind 16 bytes, then
// entries of an id and values. A call adds its size to the counter even where it finds no
// room, so that what is lost is known.
layout(local_size_x = 8) in;
layout(std430, binding = 0) buffer Ring { uint used; uint reserved[3]; uint data[]; } ring;

uint reserve(uint n)
{
    uint at = atomicAdd(ring.used, n);
    return at + n <= ring.data.length() ? at : 0xffffffffu;
}

void print_tile(uint tile, int triangles)
{
    uint at = reserve(3);
    if (at == 0xffffffffu)
        return;
    ring.data[at] = 1;
    ring.data[at + 1] = tile;
    ring.data[at + 2] = uint(triangles);
}

void print_normal(vec3 normal, uint pixel)
{
    uint at = reserve(5);
    if (at == 0xffffffffu)
        return;
    ring.data[at] = 7;
    for (uint i = 0; i < 3; i++)
        ring.data[at + 1 + i] = floatBitsToUint(normal[i]);
    ring.data[at + 4] = pixel;
}

void main()
{
    uint i = gl_GlobalInvocationID.x;
    print_tile(i, int(i) * 100 - 50);
    if (i % 4 == 3)
        print_normal(vec3(0, -1, 0.5) * float(i), i);
}
