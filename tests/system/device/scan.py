#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scan.py PRINTFDECODE RUNNER [GLSLANG | WAVES]: shaders are rewritten,
compiled, run and decoded; what comes out is what was said. With a GLSL compiler
RUNNER is run_comp, else run_cl, and WAVES stands in for sub-groups. Exit status
77: there is no device."""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM, RUNNER = (os.path.abspath(a) for a in sys.argv[1:3])
GLSL = os.path.basename(RUNNER) == 'run_comp'
GLSLANG = sys.argv[3] if GLSL else None
WAVES = None if GLSL or len(sys.argv) < 4 else os.path.abspath(sys.argv[3])
THREADS = 1024

SPECIAL = [
    'none', '1 -3 -4 A 0x0000beef 10 -9|   42|43   |',
    '-5 18446744073709551615 123456789ab -6 7 0x1000',
    '1.250000 -1.000000e-03 0.100000, -2.000000 1, -2, 3 1, 2',
    '    42|1.50    |0.1 1.000000e+10 0x1p-1',
    '3.000000 0.500000 1.500000, -0.250000', '1, 0, 1, 1',
]
OPENCL = ['65535, 65535, 65535, 65535, 65535, 65535, 65535, 65535'
          ' 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, a, b, c, d, e, ff']


def said():
    lines = collections.Counter(SPECIAL + ([] if GLSLANG else OPENCL))
    for t in range(THREADS):
        f = t * 0.25
        lines[f'ray {t} t={f:.6f} 50%|ab    |'] += 1
        for i in range(t % 4):
            lines[f'turn {t}.{i}'] += 1
            lines[f'deep {t}'] += t % 5 == 1
        if t % 3 == 0:
            lines[f'v {f:.6f}, 1.000000, {-f:.6f} {t}, -1, 2, 3'
                  f' {t}, 4000000000'] += 1
        else:
            lines[f'log {-t} of mine'] += 1
    return +lines


def call(*args, ok=(0,)):
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True)
    if p.returncode == 77:
        print('skipped:', p.stderr.strip())
        sys.exit(77)
    assert p.returncode in ok, (args, p.returncode, p.stdout, p.stderr)
    return p


def scan(source, *options):
    out = 'out.comp' if GLSLANG else 'out.cl'
    call(PROGRAM, 'scan', '--force', source, '-o', out, '--strings', 'app.pfdb',
         '--call', 'printf', *options)
    return out


def compile_glsl(source, defines):
    call(GLSLANG, '--target-env', 'vulkan1.1', *defines, '-V', source, '-o',
         'out.spv')


def run(defines, n_bytes, waves=None):
    """Runs what was compiled with a buffer of so many bytes; waves: how wide
    those are that are stood in for."""
    if waves:
        call(WAVES, './out.so', 'says', str(waves), str(THREADS // waves),
             str(n_bytes), 'dump.bin')
    elif GLSLANG:
        call(RUNNER, 'out.spv', str(THREADS // 64), '1', '1', '--buffer-bytes',
             str(n_bytes), '--to', 'dump.bin', '--strings', 'app.pfdb')
    else:
        call(RUNNER, 'out.cl', 'says', str(THREADS), '--local', '64',
             '--options', ' '.join(defines), '--buffer-bytes', str(n_bytes),
             '--to', 'dump.bin', '--strings', 'app.pfdb')


def decoded():
    """(lines, the summary, kinds of findings)"""
    p = call(PROGRAM, '-o', 'json', 'dump.bin', 'app.pfdb', ok=(0, 2))
    records = [json.loads(line) for line in p.stdout.splitlines()]
    lines = collections.Counter(r['message'].rstrip('\n') for r in records
                                if r['type'] == 'entry')
    kinds = {r['kind'] for r in records if r['type'] == 'finding'}
    return lines, records[-1], kinds


def check_small(defines, whole, waves=None):
    """Buffers that are too small: what is there is right, the rest counted."""
    for n_bytes in (16, 20, 24, 100, 1000, 30000):
        run(defines, n_bytes, waves)
        lines, summary, kinds = decoded()
        wrong = lines - said()
        assert not wrong, (n_bytes, wrong)
        account = (summary['bytes'] + summary['skipped_bytes'] +
                   summary['lost_bytes'])
        assert account == whole, (n_bytes, summary)
        assert summary['lost_bytes'] == whole - (n_bytes - 16), summary
        assert kinds <= {'overflow', 'truncated_entry', 'stray_dword'}, kinds


def check(source, defines, *options):
    out = scan(source, *options)
    if GLSLANG:
        compile_glsl(out, defines)
    run(defines, 1 << 20)
    lines, summary, kinds = decoded()
    assert lines == said(), (defines, options, lines - said(), said() - lines)
    assert not kinds and not summary['lost_bytes'], (kinds, summary)
    check_small(defines, summary['bytes'])
    print('ok:', source.rsplit('/', 1)[1], *defines, *options)


WRONG = [  # a call, and what the compiler must not take
    ('"%d", 1.5f', 'a float for %d'),
    ('"%v2d", 5', 'a scalar for a vector'),
    ('"%v3f", VEC2(1, 2)', 'a vector of two for three'),
    ('"%f", DOUBLE(1.5)', 'a double for %f'),
    ('"%d", LONG(5)', '64 bits for %d'),
]
MAIN = {True: '''#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define VEC2 vec2
#define DOUBLE double
#define LONG int64_t
void main()
{
    PFD_PRINTF(%s);
}
''', False: '''#define VEC2 (float2)
#define DOUBLE (double)
#define LONG (long)


__kernel void says(PFD_PARAMETERS)
{
    PFD_PRINTF(%s);
}
'''}


def check_wrong():
    """What does not go with its conversion is an error in its line, 8."""
    for arguments, what in WRONG:
        name = 'wrong.comp' if GLSLANG else 'wrong.cl'
        with open(name, 'w') as f:
            f.write(MAIN[bool(GLSLANG)] % arguments)
        out = scan(name)
        if GLSLANG:
            p = call(GLSLANG, '-V', out, '-o', 'x.spv', ok=(1, 2))
            place = ":8: 'pfd_argument_1_of_percent_" + arguments[2:4].strip('"')
        else:
            p = call(RUNNER, out, 'says', '1', '--to', 'x.bin', ok=(1,))
            place = 'wrong.cl:8:'
        assert place in p.stdout + p.stderr, (what, p.stdout, p.stderr)
        print('refused:', what)


def check_subgroups(source):
    """What no driver here can run is at least code for a GPU."""
    if not shutil.which('clang'):
        print('not compiled with sub-groups: no clang')
        return
    out = scan(source)
    p = call('clang', '-target', 'spir64', '-x', 'cl', '-cl-std=CL2.0',
             '-Xclang', '-finclude-default-header', '-DPFD_SUBGROUPS',
             '-Dcl_khr_subgroup_ballot', '-Werror', '-S', '-emit-llvm', out,
             '-o', '-')
    assert 'sub_group_ballot' in p.stdout
    print('compiled with sub-groups')


def check_waves(source, defines, *options):
    """Compiled for this processor, with sub-groups that are stood in for:
    lanes meet at a place in all ways there are."""
    if not WAVES or not shutil.which('clang'):
        print('not run with sub-groups: no clang, or no C++')
        return
    out = scan(source, '--subgroups', *options)
    call('clang', '-w', '-x', 'cl', '-cl-std=CL2.0', '-Xclang',
         '-finclude-default-header', '-Dcl_khr_subgroup_ballot',
         '-Dcl_khr_int64_base_atomics', *defines, '-O2', '-mllvm',
         '-inline-threshold=1000000', '-fPIC', '-shared', out,
         os.path.join(HERE, 'waves.cl'), '-o', 'out.so')
    for width in (8, 32, 64) if not options else (32,):
        run([], 1 << 20, width)
        lines, summary, kinds = decoded()
        assert lines == said(), (width, lines - said(), said() - lines)
        assert not kinds and not summary['lost_bytes'], (kinds, summary)
        if width == 32:
            check_small([], summary['bytes'], width)
        print('ok: waves of', width, *defines, *options)


def main():
    name = 'says.comp' if GLSLANG else 'says.cl'
    source = os.path.join(HERE, name)
    modes = [[], ['-DPFD_SUBGROUPS'], ['-DPFD_WIDE_ATOMICS'],
             ['-DPFD_SUBGROUPS', '-DPFD_WIDE_ATOMICS']]
    if not GLSLANG:
        modes = [[], ['-DPFD_ATOMICS_32'], ['-DPFD_SUBGROUPS']]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ['POCL_CACHE_DIR'] = folder
        for defines in modes:
            check(source, defines)
        if GLSLANG:
            check(source, [], '--subgroups', '--wide-atomics', '--set', '2',
                  '--binding', '5')
            check(source, ['-DPFD_SET=3'], '--binding', '7')
        for options in (['--sites'], ['--control', '--subgroups'],
                        ['--commit', '--origin', '--control']):
            check(source, [], *options)
        if not GLSLANG:
            check_subgroups(source)
            check_waves(source, [])
            check_waves(source, ['-DPFD_ATOMICS_32'])
            check_waves(source, [], '--commit', '--origin')
        check_wrong()


main()
