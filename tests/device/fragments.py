#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fragments.py PRINTFDECODE DRAW GLSLANG: a fragment shader prints each pixel
once, with subgroups and without; what does not fit is counted. 77: there is no
device."""
import collections
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM, DRAW, GLSLANG = (os.path.abspath(a) for a in sys.argv[1:4])
SIZE = 15  # odd: the last quads are half outside


def call(*args, ok=(0,)):
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True)
    if p.returncode == 77:
        print('skipped:', p.stderr.strip())
        sys.exit(77)
    assert p.returncode in ok, (args, p.returncode, p.stdout, p.stderr)
    return p.stdout


def said():
    pixels = [(x, y) for x in range(SIZE) for y in range(SIZE)]
    return collections.Counter(
        [f'pixel {x}, {y} 1.000000\n' for x, y in pixels] +
        [f'third {x * 100 + y}\n' for x, y in pixels if (x + y) % 3 == 0])


def decoded(n_bytes):
    call(DRAW, 'all.spv', 'says.spv', str(SIZE), str(SIZE), str(n_bytes),
         'dump.bin')
    records = [json.loads(line) for line in call(
        PROGRAM, '-o', 'json', 'dump.bin', 'app.pfdb', ok=(0, 2)).splitlines()]
    lines = collections.Counter(r['message'] for r in records
                                if r['type'] == 'entry')
    return lines, records[-1]


def check(*defines):
    call(GLSLANG, '--target-env', 'vulkan1.1', *defines, '-V', 'says.frag',
         '-o', 'says.spv')
    lines, whole = decoded(65536)
    assert lines == said(), (defines, lines - said(), said() - lines)
    lines, part = decoded(1000)
    assert not lines - said(), lines - said()
    assert part['lost_bytes'] == whole['bytes'] - 984, (part, whole)
    print('ok:', *defines)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        call(PROGRAM, 'scan', f'{HERE}/says.frag', '-o', 'says.frag',
             '--strings', 'app.pfdb')
        call(GLSLANG, '-V', f'{HERE}/all.vert', '-o', 'all.spv')
        check()
        check('-DPFD_SUBGROUPS')


main()
