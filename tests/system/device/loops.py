#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""loops.py PRINTFDECODE RUNNER [GLSLANG]: each line comes once where subgroups
of a workgroup print in loops of different length, which llvmpipe of Mesa 22
loses behind memory barriers. With a GLSL compiler RUNNER is run_comp, else
run_cl. Exit status 77: there is no device."""
import collections
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM, RUNNER = (os.path.abspath(a) for a in sys.argv[1:3])
GLSLANG = sys.argv[3] if len(sys.argv) > 3 else None
SOURCE = 'loops.comp' if GLSLANG else 'loops.cl'
THREADS = 128


def said():
    lines = collections.Counter()
    for i in range(THREADS):
        lines.update(f'loop {i}.{n}' for n in range(i // 8))
        lines[f'after {i}'] += 1
        t = 0
        for _ in range(100):
            t += 0.25
            lines[f'march {i} at {t:.2f}'] += 1
            if t * 16 > i:
                break
        lines.update(f'nested {i}.{n}.{k}' for n in range(0, i // 16, 2)
                     for k in range(n + 1))
        if i >= 24:
            lines.update(f'left {i}.{left}' for left in range(i % 5 + 1))
    return lines


def call(*args):
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True)
    if p.returncode == 77:
        print('skipped:', p.stderr.strip())
        sys.exit(77)
    assert p.returncode == 0, (args, p.returncode, p.stderr)
    return p.stdout


def check(*options):
    out = 'out.comp' if GLSLANG else 'out.cl'
    call(PROGRAM, 'scan', os.path.join(HERE, SOURCE), '-o', out, '--strings',
         'app.pfdb', '--force', *options)
    to = ['--to', 'dump.bin', '--strings', 'app.pfdb']
    if GLSLANG:
        call(GLSLANG, '--target-env', 'vulkan1.1', '-V', out, '-o', 'out.spv')
        call(RUNNER, 'out.spv', str(THREADS // 64), '1', '1', *to)
    else:
        call(RUNNER, out, 'loops', str(THREADS), '--local', '64', *to)
    got = collections.Counter(
        call(PROGRAM, 'dump.bin', 'app.pfdb').splitlines())
    wanted = said()
    assert got == wanted, (options, list((wanted - got).items())[:9],
                           list((got - wanted).items())[:9])
    print('ok:', *options)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ['POCL_CACHE_DIR'] = folder
        for options in ([], ['--subgroups'], ['--commit'], ['--sites'],
                        ['--origin', '--subgroups'], ['--control'],
                        ['--control', '--commit', '--origin', '--subgroups']):
            check(*options)
        if GLSLANG:
            check('--wide-atomics')


main()
