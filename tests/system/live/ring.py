#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a shader that prints into a ring of its own, and decodes that by its
description: ring.py PROGRAM RUN_COMP EXAMPLES"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

N = 64  # threads


def want():
    ret = ['tile %d: %d triangles' % (i, 100 * i - 50) for i in range(N)]
    return sorted(ret + ['bad normal 0.000000 %.6f %.6f at %d'
                         % (-i, 0.5 * i, i) for i in range(3, N, 4)])


def main():
    program, run_comp, rings = sys.argv[1:]
    if not shutil.which('glslangValidator'):
        print('there is no glslangValidator')
        return 77
    ring = os.path.join(rings, 'own.yaml')
    with tempfile.TemporaryDirectory() as folder:
        spv, dump = (os.path.join(folder, n) for n in ('own.spv', 'own.bin'))
        subprocess.run(['glslangValidator', '-V', '-o', spv,
                        os.path.join(rings, 'own.comp')], check=True,
                       stdout=subprocess.DEVNULL)
        for n_bytes in (65536, 400):
            done = subprocess.run([run_comp, spv, str(N // 8), '1', '1',
                                   '--buffer-bytes', str(n_bytes), '--to',
                                   dump], check=False)
            if done.returncode:
                return done.returncode
            done = subprocess.run([program, 'decode', '-v', '--describe', ring,
                                   '--buffer', dump], capture_output=True,
                                  text=True, check=False)
            lines = sorted(done.stdout.splitlines())
            account = re.search(r'\((\d+) bytes\), 0 unknown; (\d+) bytes lost, '
                                r'(\d+) skipped', done.stderr)
            n = sum(int(k) for k in account.groups())
            assert n == N * 12 + N // 4 * 20, done.stderr
            assert n_bytes == 400 or lines == want(), lines
            assert set(lines) <= set(want()), lines
    return 0


if __name__ == '__main__':
    sys.exit(main())
