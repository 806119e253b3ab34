#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads LLPC's buffers by a description: described_llpc.py PROGRAM CASES

The golden cases of llpc that decode buffers are decoded twice, by format llpc and
by examples/rings/llpc.yaml, which takes its messages from the same files. Without
findings the lines are equal; of a damaged buffer the bytes of entries and the
lost and skipped ones make the same sum."""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..'))
import run_cases  # noqa: E402

RING = os.path.abspath(os.path.join(HERE, '../../examples/rings/llpc.yaml'))
ACCOUNT = re.compile(r'(\d+) entr\w+ \((\d+) bytes\), \d+ unknown; (\d+) bytes '
                     r'lost, (\d+) skipped; (\d+) finding')
# What a description cannot know.
KNOWN = {
    'byte_swapped': 'a counter beyond 64 times what is there, and no entry',
    'vk_over2gib': 'likewise',
    'corrupt_14_odd_file_size': 'that all of the file is dwords',
}
LEAST = 150  # cases that are compared


def account(err):
    found = ACCOUNT.search(err.decode('utf-8', 'replace'))
    return [int(n) for n in found.groups()] if found else None


def decode(program, folder, *words):
    return subprocess.run([program, 'decode', '-v', '-o', 'raw', *words],
                          cwd=folder, capture_output=True, check=False)


def compare(program, case, folder):
    """None: no buffers are decoded; else what is wrong, or ''."""
    run_cases.unpack(case, folder)
    words, stdin = run_cases.arguments(case)
    files = [w for w in words if os.path.exists(os.path.join(folder, w))]
    buffers = [w for w in files if w.endswith('.bin')] or [stdin]
    strings = [w for w in files if not w.endswith('.bin')]
    if not buffers[0] or not strings or words[0] == 'strings':
        return None
    inputs = [w for b in buffers for w in ('--buffer', b)] + strings
    theirs = decode(program, folder, '--format', 'llpc', *inputs)
    ours = decode(program, folder, '--describe', RING, *inputs)
    a, b = account(theirs.stderr), account(ours.stderr)
    if not a or not b:
        return 'no summary: %r, %r' % (theirs.stderr, ours.stderr)
    if a[4] == 0 and theirs.stdout != ours.stdout:
        return 'lines differ'
    if sum(a[1:4]) != sum(b[1:4]):
        return 'accounts differ: %s and %s' % (a, b)
    return ''


def main():
    program, cases = os.path.abspath(sys.argv[1]), sys.argv[2]
    n = n_bad = 0
    for name in sorted(set(os.listdir(cases)) - set(KNOWN)):
        with tempfile.TemporaryDirectory() as folder:
            why = compare(program, os.path.join(cases, name), folder)
        n += why is not None
        if why:
            n_bad += 1
            print('%s: %s' % (name, why))
    print('%d buffers, %d wrong' % (n, n_bad))
    return 1 if n_bad or n < LEAST else 0


if __name__ == '__main__':
    sys.exit(main())
