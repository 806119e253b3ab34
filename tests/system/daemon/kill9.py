#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kill9.py DAEMON DUMP ELF [ROUNDS]: a program writes a mapped buffer while the
daemon is killed (SIGKILL) again and again. Afterwards the required outputs, one
of them rotated and compressed, have whole lines only, each of them once and in
order, and every entry; and nothing else is left."""
import glob
import json
import os
import random
import re
import sys
import tempfile
import threading
import time

from harness import (DUMP, Buffer, Daemon, entry_ends, slurp, unzstd, until,
                     written)

CONFIG = '''state_dir: $T/state
code_objects: [$E]
inputs:
  - {type: buffer, path: $T/b, name: b}
outputs:
  - {type: file, path: $T/plain, required: true}
  - {type: file, path: $T/rotated, required: true, rotate_size: 64KiB,
     compress: true}
'''
STAMP = re.compile(r'\.\d{8}T\d{6}\.\d{9}$')

rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 20
seed = int(os.environ.get('SEED', time.time_ns() % 1000000))
random.seed(seed)
data = slurp(DUMP)
ends = entry_ends(data)


def produce(buffer, seconds):
    start = time.monotonic()
    at = 16
    for i, end in enumerate(ends):
        buffer.put(data, at, end)
        at = end
        ahead = start + seconds * i / len(ends) - time.monotonic()
        if ahead > 0.002:
            time.sleep(ahead)


def is_tidy(temp):
    """Old ones are there once, compressed; halves are gone."""
    return all(STAMP.search(path.removesuffix('.zst')) and path.endswith('.zst')
               for path in glob.glob(f'{temp}/rotated.*')) and \
        not glob.glob(f'{temp}/**/*.part', recursive=True)


def check(name, data):
    """All lines of an output, one file after the other."""
    lines = data.split(b'\n')
    assert lines.pop() == b'', f'{name} ends within a line'
    records = [json.loads(line) for line in lines]
    numbers = [r['sequence'] for r in records]
    wrong = [(a, b) for a, b in zip([0, *numbers], numbers) if b != a + 1]
    assert not wrong, f'{name}: {len(wrong)} steps, such as {wrong[:5]}'
    found = [(r.get('generation', 0), r['index']) for r in records
             if r['type'] == 'entry']
    assert found == [(0, i) for i in range(len(ends))], (name, len(found))
    return numbers[-1]


with tempfile.TemporaryDirectory() as temp:
    buffer = Buffer(f'{temp}/b', len(data))
    d = Daemon(temp, CONFIG)
    d.kill()
    writer = threading.Thread(target=produce, args=(buffer, rounds * 0.2))
    writer.start()
    untidy = 0
    for _ in range(rounds):
        d.start(wait=False)
        time.sleep(random.uniform(0.02, 0.4))
        d.kill()
        untidy += not is_tidy(temp)
    writer.join()
    d.start()
    until('all lines', lambda: written(f'{temp}/plain').count(
        b'"type":"entry"') >= len(ends))
    d.stop()
    d.start()  # once more, with nothing to do
    until('order', lambda: is_tidy(temp))
    d.stop()
    try:
        last = check('plain', slurp(f'{temp}/plain'))
        old = sorted(glob.glob(f'{temp}/rotated.*'))
        whole = b''.join(map(unzstd, old)) + written(f'{temp}/rotated')
        assert last == check('rotated', whole)
    except AssertionError:
        print(f'seed {seed}', d.log())
        raise
    print(f'{rounds} kills, seed {seed}: {len(ends)} entries, {last} lines in '
          f'order in one file and in {len(old)} compressed ones; '
          f'{untidy} kills left something, '
          f'{d.log().count("cut off")} of them half a line')
