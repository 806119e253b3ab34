#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""arguments.py PRINTFDECODE RUNNER [GLSLANG]: what a runner gives a kernel or a
shader is what that prints, no parameter is taken for the control block, and what
is wrong is said. With a GLSL compiler RUNNER is run_comp, else run_cl. Exit
status 77: there is no device."""
import os
import subprocess
import sys
import tempfile

PROGRAM, RUNNER = (os.path.abspath(a) for a in sys.argv[1:3])
GLSLANG = sys.argv[3] if len(sys.argv) > 3 else None
GLSL = '''#version 450
layout(push_constant) uniform P { float dt; ivec3 v; uint n; } p;
layout(binding = 1) buffer B { uint x[]; } b;
void main()
{
    PFD_PRINTF("%f %v3d %u %d\\n", p.dt, p.v, p.n, b.x.length());
}
'''
OPENCL = '''__kernel void one(PFD_PARAMETERS, float dt)
{
    PFD_PRINTF("%f\\n", dt);
}
__kernel void many(__global float4 *p, int3 v, PFD_PARAMETERS, ulong n,
                   __local int *t)
{
    PFD_PRINTF("%f %v3d %lu\\n", p[1].x, v, n);
}
__kernel void none(float dt) {}
'''


def call(*args, ok=(0,)):
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True)
    if p.returncode == 77:
        print('skipped:', p.stderr.strip())
        sys.exit(77)
    assert p.returncode in ok, (args, p.returncode, p.stdout, p.stderr)
    return p


def scan(text, *options):
    name = 'a.comp' if GLSLANG else 'a.cl'
    with open(name, 'w') as f:
        f.write(text)
    call(PROGRAM, 'scan', name, '-o', 'out/', '--strings', 'a.pfdb', '--force',
         *options)
    if GLSLANG:
        call(GLSLANG, '-V', 'out/a.comp', '-o', 'a.spv')


def run(what, *args, ok=(0,)):
    start = ['a.spv', *what] if GLSLANG else ['out/a.cl', *what]
    p = call(RUNNER, *start, *args, '--to', 'dump.bin', '--strings', 'a.pfdb',
             ok=ok)
    if p.returncode:
        return p.stderr
    return call(PROGRAM, 'dump.bin', 'a.pfdb').stdout


def give(*values):
    return [word for v in values for word in ('--arg', v)]


def check(wanted, what, *args):
    got = run(what, *args)
    assert got == wanted, (args, got)
    print('ok:', *args)


def refuse(why, what, *args):
    got = run(what, *args, ok=(1,))
    assert why in got, (args, got)
    print('refused:', *args)


def glsl():
    one = ('1', '1', '1')
    check('0.000000 0, 0, 0 0 16384\n', one)
    check('0.500000 1, -2, 3 7 64\n', one, *give('0.5', '1,-2,3', '7'),
          '--buffer', '0,1=256')
    refuse('more push constants', one, *give('1'))
    refuse('no push constant for it', one, *give('1', '1,2,3', '1', '1'))
    refuse('does not go with', one, *give('1', '1,2', '1'))
    refuse('does not go with', one, *give('1', '1,2,3', '-1'))
    refuse('has no buffer where', one, '--buffer', '0,7=4')
    refuse('was not scanned with --control', one, '--rule', 'off')
    refuse('is no option', one, '--args', '1')


def opencl():
    for options in ([], ['--control']):
        scan(OPENCL, *options)
        check('0.250000\n' * 2, ('one', '2'), *give('0.25'))
        check('0.000000 1, -2, 3 18446744073709551615\n', ('many', '1'),
              *give('32', '1,-2,3', '0xffffffffffffffff', '16'))
    check('', ('one', '2'), *give('1'), '--rule', 'off')
    scan(OPENCL)
    refuse("'float dt' of one is not given: --arg", ('one', '1'))
    refuse('has 1 parameters of its own, --arg gives 2', ('one', '1'),
           *give('1', '2'))
    refuse("wants NUMBER", ('one', '1'), *give('x'))
    refuse("wants BYTES", ('many', '1'), *give('-1'))
    refuse('none has no PFD_PARAMETERS', ('none', '1'), *give('1'))
    refuse('which has: one;many;none', ('two', '1'))
    refuse('was not scanned with --control', ('one', '1'), *give('1'),
           '--rule', 'off')
    refuse('is no number', ('one', 'x'))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ['POCL_CACHE_DIR'] = folder
        if GLSLANG:
            scan(GLSL)
            glsl()
        else:
            opencl()
        os.chdir('/')


main()
