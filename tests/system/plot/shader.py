#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shader.py PRINTFDECODE RUN_COMP GLSLANG: a compute shader prints x, y and a
value per pixel, and one command makes it the picture, pixel by pixel. Exit
status 77: there is no device."""
import os
import subprocess
import sys
import tempfile

import png

PROGRAM, RUNNER, GLSLANG = (os.path.abspath(a) for a in sys.argv[1:4])
WIDTH, HEIGHT = 72, 40
SHADER = """#version 450
layout(local_size_x = 8, local_size_y = 8) in;
%s
void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    %s
}
"""
VALUE = """float value = float((at.x * 7u + at.y * 13u) & 255u);
    if (at.x == at.y)
        value = uintBitsToFloat(0x7fc00000u);
    if (at.x == at.y + 5u)
        value = uintBitsToFloat(0x7f800000u);
    if (at.x != at.y + 9u)
        PFD_PRINTF("pixel %u,%u: %f\\n", at.x, at.y, value);"""
COLOURS = 'PFD_PRINTF("at %u,%u: %f\\n", at.x, at.y, float(at.x));'


def must(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=240)
    if done.returncode == 77:
        print(done.stdout.decode())
        sys.exit(77)
    if done.returncode:
        sys.exit("%s: %d\n%s" % (" ".join(words), done.returncode,
                                 done.stdout.decode()))


def picture(text, groups):
    with open("a.comp", "w", encoding="ascii") as f:
        f.write(SHADER % ("", text))
    must(PROGRAM, "scan", "--force", "a.comp", "-o", "a.gen.comp", "--strings", "a.pfdb")
    must(GLSLANG, "-V", "a.gen.comp", "-o", "a.spv")
    must(RUNNER, "a.spv", *map(str, groups), "--to", "dump.bin")
    must(PROGRAM, "plot", "heat", "--x", "0", "--y", "1", "--value", "2",
         "--bare", "--force", "--to", "out.png", "dump.bin", "a.pfdb")
    with open("out.png", "rb") as f:
        return png.read(f.read())


def colour_of(x, y, colours):
    if x == y + 9:
        return (255, 255, 255)
    if x == y:
        return (255, 0, 255)
    return (255, 40, 0) if x == y + 5 else colours[x * 7 + y * 13 & 255]


def main():
    colours = picture(COLOURS, (32, 1, 1))[0]
    assert len(colours) == 256
    rows = picture(VALUE, (WIDTH // 8, HEIGHT // 8, 1))
    wanted = [[colour_of(x, y, colours) for x in range(WIDTH)]
              for y in range(HEIGHT)]
    assert (len(rows), len(rows[0])) == (HEIGHT, WIDTH)
    wrong = [(x, y) for y in range(HEIGHT) for x in range(WIDTH)
             if rows[y][x] != wanted[y][x]]
    assert not wrong, wrong[:9]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
