#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fragments.py PRINTFDECODE DRAW GLSLANG: a fragment shader prints each pixel
once, with subgroups and without; what does not fit is counted; and rules let
some pixels print, and say how many they kept back. 77: there is no device."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM, DRAW, GLSLANG = (os.path.abspath(a) for a in sys.argv[1:4])
SIZE = 15  # odd: the last quads are half outside


def run(*args, ok=(0,)):
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True)
    if p.returncode == 77:
        print('skipped:', p.stderr.strip())
        sys.exit(77)
    assert p.returncode in ok, (args, p.returncode, p.stdout, p.stderr)
    return p


def call(*args, ok=(0,)):
    return run(*args, ok=ok).stdout


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


def check_pixels(*options):
    """Only pixels 3 to 5, 4 to 20, and of the second site one in two."""
    call(PROGRAM, 'scan', '--force', f'{HERE}/says.frag', '-o', 'says.frag',
         '--strings', 'app.pfdb', '--control', '--origin', '--commit', *options)
    call(GLSLANG, '--target-env', 'vulkan1.1', '-V', 'says.frag', '-o',
         'says.spv')
    p = run(DRAW, 'all.spv', 'says.spv', str(SIZE), str(SIZE), '65536',
            'dump.bin', '--strings', 'app.pfdb', '--rule', 'pixels=3,4-5,20',
            '--rule', 'every=2@*:10')
    entries = [json.loads(line) for line in call(
        PROGRAM, '-o', 'json', 'dump.bin', 'app.pfdb').splitlines()][:-1]
    wanted = {(x, y) for x in range(3, 6) for y in range(4, SIZE)}
    got = {'pixel': set(), 'third': set()}
    for e in entries:
        word, x = e['message'].split()[0], e['args'][0]
        pixel = (x, e['args'][1]) if word == 'pixel' else (x // 100, x % 100)
        assert e['origin']['fragment'] == list(pixel), e
        assert 'workgroup' not in e['origin'], e
        assert pixel not in got[word], e
        got[word].add(pixel)
    thirds = {p for p in wanted if sum(p) % 3 == 0}
    assert got['pixel'] == wanted, got
    assert got['third'] <= thirds, got
    assert len(got['third']) == (len(thirds) + 1) // 2, got
    withheld = sum(int(n) for n in re.findall(r': (\d+) entries were withheld',
                                              p.stderr))
    assert withheld == sum(said().values()) - len(entries), p.stderr
    print('ok: pixels', *options)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        call(PROGRAM, 'scan', '--force', f'{HERE}/says.frag', '-o', 'says.frag',
             '--strings', 'app.pfdb')
        call(GLSLANG, '-V', f'{HERE}/all.vert', '-o', 'all.spv')
        check()
        check('-DPFD_SUBGROUPS')
        check_pixels()
        check_pixels('--subgroups')


main()
