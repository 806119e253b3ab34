#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sources.py PRINTFDECODE RUNNER [GLSLANG]: sources as people have them, rewritten,
compiled, run and decoded. With a GLSL compiler RUNNER is run_comp, and other
stages are compiled only; else it is run_cl. Exit status 77: there is no
device."""
import os
import subprocess
import sys
import tempfile

PROGRAM, RUNNER = (os.path.abspath(a) for a in sys.argv[1:3])
GLSLANG = sys.argv[3] if len(sys.argv) > 3 else None
MARK = '\ufeff'

# What is tried; files, the first of which is compiled; options of scan; the
# lines that come out, sorted, or None where it is compiled only.
GLSL = [
    ('an apostrophe in #if 0', {'a.comp': '''#version 450
layout(local_size_x = 2) in;
#if 0
This shouldn't matter, nor PFD_PRINTF.
#endif
void main() { PFD_PRINTF("x %u\\n", gl_GlobalInvocationID.x); }
'''}, [], ['x 0', 'x 1']),
    ('GLSL ES', {'a.comp': '''#version 310 es
layout(local_size_x = 2) in;
precision mediump float;
precision mediump int;
void main()
{
    uint i = gl_LocalInvocationID.x;
    PFD_PRINTF("%u %f %v2f %v3d %ld\\n", i, 1.5, vec2(1, 2), ivec3(1, -2, 3),
               -5);
}
'''}, ['--control', '--commit', '--origin', '--subgroups'],
     [f'{i} 1.500000 1.000000, 2.000000 1, -2, 3 -5' for i in (0, 1)]),
    ('a piece of a function', {'a.comp': '''#version 450
#extension GL_GOOGLE_include_directive : require
layout(local_size_x = 1) in;
#include "lib/f.glsl"
void main()
{
    PFD_PRINTF("main\\n");
    f();
#include "lib/piece.glsl"
}
''', 'lib/piece.glsl': '''PFD_PRINTF("piece %d %lu %v2f\\n", 1, 2u, vec2(3, 4));
''', 'lib/f.glsl': '''void f() { PFD_PRINTF("f %f\\n", 0.5); }
'''}, [], ['f 0.500000', 'main', 'piece 1 2 3.000000, 4.000000']),
    ('a binding by --binding', {'a.comp': '''#version 450
layout(set = 0, binding = 0) buffer Out { float x[]; };
void main() { PFD_PRINTF("x %f\\n", x[0]); }
'''}, ['--binding', '1'], ['x 0.000000']),
    ('GLSL 420', {'a.comp': '''#version 420
#extension GL_ARB_compute_shader : require
layout(local_size_x = 2) in;
void main() { PFD_PRINTF("%f\\n", 1.5); }
'''}, [], ['1.500000', '1.500000']),
    ('a byte order mark', {'a.comp': MARK + '''#version 450
void main() { PFD_PRINTF("x\\n"); }
'''}, [], ['x']),
]
HEADS = {
    'frag': 'precision mediump float;\nlayout(location = 0) out vec4 c;',
    'vert': '',
    'geom': 'layout(points) in;\nlayout(points, max_vertices = 1) out;',
    'tesc': 'layout(vertices = 3) out;',
    'tese': 'layout(triangles) in;',
}
GLSL += [(f'GLSL {version} .{stage} {" ".join(options)}', {f'a.{stage}': f'''\
#version {version}
#extension GL_EXT_geometry_shader : enable
#extension GL_EXT_tessellation_shader : enable
{head}
void main() {{ PFD_PRINTF("%d %u %v2f\\n", 1, 2u, vec2(1, 2)); }}
'''}, options, None) for version in ('310 es', '420', '450')
         for stage, head in HEADS.items()
         for options in ([], ['--control', '--commit', '--origin',
                              '--subgroups'])]
OPENCL = [
    ('a piece of a function', {'a.cl': '''__kernel void k(PFD_PARAMETERS)
{
    if (get_global_id(0) == 0) {
#include "piece.cl"
    }
}
''', 'piece.cl': '''PFD_PRINTF("piece %d %v2f\\n", 1, (float2)(3, 4));
'''}, [], ['piece 1 3.000000, 4.000000']),
    ('an apostrophe in #if 0', {'a.cl': '''#if 0
This shouldn't matter, "nor this, nor PFD_PRINTF.
#endif
__kernel void k(PFD_PARAMETERS)
{
    char c = '"';
    PFD_PRINTF("%c %u\\n", c, (uint)get_global_id(0));
}
'''}, [], ['" 0', '" 1']),
    ('a byte order mark', {'a.cl': MARK + '''__kernel void k(PFD_PARAMETERS)
{
    PFD_PRINTF("x %u\\n", (uint)get_global_id(0));
}
'''}, [], ['x 0', 'x 1']),
    ('names of characters', {'a.cl': '''__kernel void k(PFD_PARAMETERS)
{
    PFD_PRINTF("caf\\u00e9 \\U0001f600 %u\\n", (uint)get_global_id(0));
}
'''}, [], ['café 😀 0', 'café 😀 1']),
]

OPENCL += [
    ('OpenCL\'s own printf', {'a.cl': '''__kernel void k(PFD_PARAMETERS)
{
    float4 f = (float4)(1.0f, 2.5f, -3.0f, 4.0f);
    if (get_global_id(0))
        return;
    PFD_PRINTF("f %v4hlf i %v2hld\\n", f, (int2)(-1, 7));
    int n = printf("f %v4hlf i %v2hld\\n", f, (int2)(-1, 7));
    printf("returned %d\\n", n);
}
'''}, ['--call', 'printf', *more],
     ['f 1.000000, 2.500000, -3.000000, 4.000000 i -1, 7',
      'f 1.000000,2.500000,-3.000000,4.000000 i -1,7', 'returned 0'])
    for more in ([], ['--sites'], ['--control', '--commit', '--origin'])
]


def call(*args):
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True)
    if p.returncode == 77:
        print('skipped:', p.stderr.strip())
        sys.exit(77)
    assert p.returncode == 0, (args, p.returncode, p.stdout, p.stderr)
    return p.stdout


def check(what, files, options, lines):
    for name, text in files.items():
        os.makedirs(os.path.dirname('src/' + name), exist_ok=True)
        with open('src/' + name, 'w') as f:
            f.write(text)
    call(PROGRAM, 'scan', *('src/' + name for name in files), '-o', 'out/', '--strings', 'app.pfdb',
         *options)
    first = 'out/' + next(iter(files))
    to = ['--to', 'dump.bin', '--strings', 'app.pfdb']
    if GLSLANG:
        call(GLSLANG, '--target-env', 'vulkan1.1', '-V', first, '-o', 'a.spv')
        if lines is not None:
            call(RUNNER, 'a.spv', '1', '1', '1', *to)
    else:
        call(RUNNER, first, 'k', '2', '--options', '-Iout', *to)
    if lines is not None:
        got = sorted(call(PROGRAM, '-o', 'raw', 'dump.bin',
                          'app.pfdb').splitlines())
        assert got == lines, (what, got, lines)
    print('ok:', what)


def main():
    for what, files, options, lines in GLSL if GLSLANG else OPENCL:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            os.environ['POCL_CACHE_DIR'] = folder
            check(what, files, options, lines)
            os.chdir('/')


main()
