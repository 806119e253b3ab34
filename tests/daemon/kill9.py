#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kill9.py DAEMON DUMP ELF [ROUNDS]: a program writes a mapped buffer while the
daemon is killed (SIGKILL) again and again. Afterwards the required output has
every entry; lines that are there twice have the same sequence number."""
import json
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

from rig import die_with_us, load

BATCH = 256 * 1024  # bytes that an output reads from the queue at once
LINE = 64 * 1024

daemon, dump, elf = sys.argv[1:4]
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 20
seed = int(os.environ.get('SEED', time.time_ns() % 1000000))
random.seed(seed)
data = load(dump)
used = struct.unpack_from('<Q', data)[0] * 4


def entry_ends():
    """Where each entry ends, from the sizes in the entries' headers."""
    at = 16
    while at < 16 + used:
        at += 4 * (struct.unpack_from('<Q', data, at)[0] & 0xffff)
        yield at


def produce(path, seconds, done):
    with open(path, 'r+b') as f:
        memory = mmap.mmap(f.fileno(), len(data))
    ends = list(entry_ends())
    start = time.monotonic()
    at = 16
    for i, end in enumerate(ends):
        memory[at:end] = data[at:end]
        memory[0:8] = struct.pack('<Q', (end - 16) // 4)
        at = end
        ahead = start + seconds * i / len(ends) - time.monotonic()
        if ahead > 0.002:
            time.sleep(ahead)
    done.append(len(ends))


with tempfile.TemporaryDirectory() as temp:
    path = f'{temp}/buffer'
    with open(path, 'wb') as f:
        f.truncate(len(data))
    config = f'{temp}/c.yaml'
    with open(config, 'w') as f:
        f.write(f'''state_dir: {temp}/state
code_objects: [{elf}]
inputs:
  - {{type: buffer, path: {path}, name: b}}
outputs:
  - {{type: file, path: {temp}/out.ndjson, required: true}}
''')
    done = []
    writer = threading.Thread(target=produce, args=(path, rounds * 0.2, done))
    writer.start()
    for _ in range(rounds):
        p = subprocess.Popen([daemon, '-c', config], stderr=subprocess.DEVNULL,
                         preexec_fn=die_with_us)
        time.sleep(random.uniform(0.02, 0.4))
        p.send_signal(signal.SIGKILL)
        p.wait()
    writer.join()
    p = subprocess.Popen([daemon, '-c', config], stderr=subprocess.PIPE)
    time.sleep(1)
    p.send_signal(signal.SIGTERM)
    log = p.stderr.read().decode()
    status = p.wait(20)
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
    missing = [i for i in range(done[0]) if (0, i) not in seen]
    print(f'{rounds} kills, seed {seed}: {done[0]} entries, '
          f'{len(missing)} missing, {twice} twice, {len(wrong)} of them under '
          f'another number, {broken} broken lines, {len(seen)} keys; '
          f'{len(repeats)} repeats, of {max(repeats, default=0)} bytes at most')
    if len(repeats) > rounds or max(repeats, default=0) > BATCH + LINE:
        sys.exit('more is repeated than a batch for each kill')
    if missing or wrong or status != 0 or len(seen) != done[0]:
        print(missing[:10], wrong[:10], status, log)
        for line in open(f'{temp}/out.ndjson'):
            if any(f'"index":{w[0][1]},' in line for w in wrong):
                print(line)
        sys.exit(1)
