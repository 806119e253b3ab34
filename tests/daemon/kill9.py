#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kill9.py DAEMON DUMP ELF [ROUNDS]: a program writes a mapped buffer while the
daemon is killed (SIGKILL) again and again. Afterwards the required output has
every entry; lines that are there twice have the same sequence number."""
import json
import os
import random
import sys
import tempfile
import threading
import time

from harness import DUMP, Buffer, Daemon, entry_ends, slurp, until, written

BATCH = 256 * 1024  # bytes that an output reads from the queue at once
LINE = 64 * 1024
CONFIG = '''state_dir: $T/state
code_objects: [$E]
inputs:
  - {type: buffer, path: $T/b, name: b}
outputs:
  - {type: file, path: $T/out.ndjson, required: true}
'''

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


with tempfile.TemporaryDirectory() as temp:
    buffer = Buffer(f'{temp}/b', len(data))
    d = Daemon(temp, CONFIG)
    d.kill()
    writer = threading.Thread(target=produce, args=(buffer, rounds * 0.2))
    writer.start()
    for _ in range(rounds):
        d.start(wait=False)
        time.sleep(random.uniform(0.02, 0.4))
        d.kill()
    writer.join()
    d.start()
    until('the last entry', lambda: written(f'{temp}/out.ndjson').rpartition(
        b'"type":"entry"')[2].count(b'"index":%d,' % (len(ends) - 1)))
    d.stop()
    seen = {}
    twice = 0
    broken = 0
    wrong = []
    lengths = {}  # of lines, by number
    last = 0
    repeats = []  # bytes of each stretch that is there again
    for line in open(f'{temp}/out.ndjson', 'rb'):
        try:
            record = json.loads(line)
        except ValueError:
            broken += 1
            continue
        number = record['sequence']
        lengths[number] = len(line)
        if number <= last:
            repeats.append(sum(lengths[i] for i in range(number, last + 1)))
        elif number != last + 1:
            wrong.append(('a gap in the numbers', last, number))
        last = number
        if record['type'] != 'entry':
            continue
        key = (record.get('generation', 0), record['index'])
        if key in seen:
            twice += 1
            if seen[key] != record['sequence']:
                wrong.append((key, seen[key], record['sequence']))
        seen[key] = record['sequence']
    missing = [i for i in range(len(ends)) if (0, i) not in seen]
    print(f'{rounds} kills, seed {seed}: {len(ends)} entries, '
          f'{len(missing)} missing, {twice} twice, {len(wrong)} of them under '
          f'another number, {broken} broken lines, {len(seen)} keys; '
          f'{len(repeats)} repeats, of {max(repeats, default=0)} bytes at most')
    if len(repeats) > rounds or max(repeats, default=0) > BATCH + LINE:
        sys.exit('more is repeated than a batch for each kill')
    if missing or wrong or len(seen) != len(ends):
        print(missing[:10], wrong[:10], d.log())
        for line in open(f'{temp}/out.ndjson'):
            if any(f'"index":{w[0][1]},' in line for w in wrong):
                print(line)
        sys.exit(1)
