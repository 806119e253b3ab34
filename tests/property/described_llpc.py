#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads LLPC's buffers by a description: described_llpc.py PROGRAM CASES

The golden cases of llpc that decode a buffer are decoded twice, by format llpc
and by examples/rings/llpc.yaml with their strings as its messages. Without
findings the lines are equal; of a damaged buffer the bytes of entries and the
lost and skipped ones make the same sum."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RING = os.path.join(HERE, '../../examples/rings/llpc.yaml')
ACCOUNT = re.compile(r'(\d+) entr\w+ \((\d+) bytes\), \d+ unknown; (\d+) bytes '
                     r'lost, (\d+) skipped; (\d+) finding')
# What a description cannot know.
KNOWN = {
    'byte_swapped': 'a counter beyond 64 times what is there, and no entry',
    'vk_over2gib': 'likewise',
    'corrupt_14_odd_file_size': 'that all of the file is dwords',
}


def run(program, *words, cwd=None):
    return subprocess.run([program] + list(words), cwd=cwd, capture_output=True,
                          check=False)


def messages(program, strings, cwd):
    """The strings as messages of a description; NULL: not all can be."""
    ret = {}
    for line in run(program, 'strings', '-o', 'json', *strings,
                    cwd=cwd).stdout.splitlines():
        row = json.loads(line)
        if row.get('format') != 'llpc' or 'id' not in row:
            continue
        # Strings in the entry; two of one id; bytes that are no text of YAML.
        if 0 in row['widths'] or row['id'] in ret or '\ufffd' in row['string']:
            return None
        ret[row['id']] = {'text': row['string'],
                          'types': ['u%d' % w for w in row['widths']]}
    return ret


def account(err):
    found = ACCOUNT.search(err.decode('utf-8', 'replace'))
    return [int(n) for n in found.groups()] if found else None


def compare(program, case, folder):
    """None: not compared; else what is wrong, or ''."""
    with open(os.path.join(case, 'cmd'), encoding='utf-8') as f:
        words = shlex.split(f.readline())
    buffers = [w for w in words if w.endswith('.bin')]
    strings = [w for w in words if w not in buffers]
    if len(buffers) != 1 or not strings:
        return None
    if not all(os.path.exists(os.path.join(case, w)) for w in words):
        return None
    rows = messages(program, strings, case)
    if not rows:
        return None
    ring = os.path.join(folder, 'ring.yaml')
    with open(RING, encoding='utf-8') as f, \
            open(ring, 'w', encoding='utf-8') as to:
        to.write(f.read().split('messages:')[0] + 'messages:\n')
        for i, m in rows.items():
            to.write('  %d: %s\n' % (int(i, 16), json.dumps(m)))
    theirs = run(program, 'decode', '--format', 'llpc', '-v', '-o', 'raw',
                 '--buffer', buffers[0], *strings, cwd=case)
    ours = run(program, 'decode', '-v', '-o', 'raw', '--describe', ring,
               '--buffer', buffers[0], cwd=case)
    a, b = account(theirs.stderr), account(ours.stderr)
    if not a or not b:
        return None
    if a[4] == 0 and theirs.stdout != ours.stdout:
        return 'lines differ'
    if sum(a[1:4]) != sum(b[1:4]):
        return 'accounts differ: %s and %s' % (a, b)
    return ''


def main():
    program, cases = os.path.abspath(sys.argv[1]), sys.argv[2]
    n = n_bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(set(os.listdir(cases)) - set(KNOWN)):
            why = compare(program, os.path.join(cases, name), folder)
            n += why is not None
            if why:
                n_bad += 1
                print('%s: %s' % (name, why))
    print('%d buffers, %d wrong' % (n, n_bad))
    return 1 if n_bad or n < 10 else 0


if __name__ == '__main__':
    sys.exit(main())
