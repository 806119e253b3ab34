#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Follows described rings while they are written: one by a counter, with a
counter that goes on past the end, one of slots, one whose counter is in a file of
its own, one that another follows in its file, and two with positions that go around often. usage: described.py PROGRAM"""
import mmap
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

COUNTED = '''ring: counted
counter: {at: 8, bits: 64, unit: 4, from: 16}
data: 16
entry: {header: 8, id: {bits: 16}, length: {at: 2, bits: 16, unit: 4}}
enums: {color: [red, green, blue]}
messages:
  1: {text: "one %u is %s\\n", types: [u32, color]}
  2: "two %u\\n"
'''
SLOTS = '''ring: slots
counter: {at: 0}
data: 100
slots: {bytes: 16}
messages: {1: "slot %u\\n"}
'''
ELSEWHERE = '''ring: elsewhere
counter: {file: true, at: 4}
slots: {bytes: 16}
messages: {1: "elsewhere %u\\n"}
'''
FIRST = '''ring: first
counter: {at: 0, unit: 4, from: 4}
data: 4
capacity: 80
messages: {1: "first %u\\n"}
'''
AROUND = '''ring: around
write: {at: 0, bits: 64}
positions: {grow: %s}
data: 16
capacity: 4080
entry: {header: 4, length: {at: 2, bits: 16}, id: {bits: 16}%s}
messages: {1: "n %%u\\n", 2: "n %%u %%u\\n"}
'''
GROWS = AROUND % ('true', '')
MARKS = AROUND % ('false', ', wrap: {at: 0, value: 0xffffffff}')
N_AROUND = 5000


def write(f, at, data):
    f.seek(at)
    f.write(data)
    f.flush()


def counted(f):
    at, lines = 16, []
    for i in range(120):
        if i % 2:
            entry = struct.pack('<HHII', 2, 3, 0, i)
            lines.append('two %d' % i)
        else:
            entry = struct.pack('<HHIII', 1, 4, 0, i + 1, i % 3)
            lines.append('one %d is %s' % (i + 1,
                                           ('red', 'green', 'blue')[i % 3]))
        write(f, 8, struct.pack('<Q', (at + len(entry) - 16) // 4))
        write(f, at, entry)
        at += len(entry)
        time.sleep(0.001)
    f.truncate(at)
    write(f, 8, struct.pack('<Q', (at - 16) // 4 + 25))
    return lines, '100 bytes lost, 0 skipped'


def slots(f):
    for i in range(20):
        write(f, 0, struct.pack('<I', i + 1))
        write(f, 100 + 16 * i + 4, struct.pack('<I', i + 1))
        write(f, 100 + 16 * i, struct.pack('<I', 1))
        time.sleep(0.002)
    return ['slot %d' % (i + 1) for i in range(20)], '0 bytes lost, 0 skipped'


def elsewhere(f):
    with open(f.name + '.counter', 'r+b') as counter:
        for i in range(20):
            write(counter, 4, struct.pack('<I', i + 1))
            write(f, 16 * i + 4, struct.pack('<I', i + 1))
            write(f, 16 * i, struct.pack('<I', 1))
            time.sleep(0.002)
    return ['elsewhere %d' % (i + 1) for i in range(20)], \
        '20 entries (320 bytes), 0 unknown; 0 bytes lost, 0 skipped'


def first(f):
    for i in range(20):
        write(f, 0, struct.pack('<I', 2 * i + 2))
        if i < 10:
            write(f, 4 + 8 * i, struct.pack('<II', 1, i))
        write(f, 84, struct.pack('<III', 2, 1, 1000 + i))
        time.sleep(0.002)
    return ['first %d' % i for i in range(10)], \
        '10 entries (80 bytes), 0 unknown; 80 bytes lost, 16300 skipped; 2 findings'


def around(f, grows):
    """5,000 entries in a mapped ring of 4 KiB; the bytes of them all."""
    f.truncate(4096)
    total = at = 0
    with mmap.mmap(f.fileno(), 4096) as ring:
        for i in range(N_AROUND):
            entry = struct.pack('<HHI', 1, 8, i) if i % 3 else \
                struct.pack('<HHII', 2, 12, i, i)
            if not grows and at + len(entry) > 4080:
                if at < 4080:
                    ring[16 + at:20 + at] = b'\xff' * 4
                at = 0
            for k in range(0, len(entry), 4):
                place = 16 + at % 4080
                ring[place:place + 4] = entry[k:k + 4]
                at += 4
            total += len(entry)
            ring[0:8] = struct.pack('<Q', at)
            if i % 50 == 0:
                time.sleep(0.004)
    return total


def is_whole(lines, err, total, grows):
    """No message is made up or comes twice, and no byte is missing: where
    positions grow the account is exact."""
    numbers = [int(line.split()[-1]) for line in lines]
    account = re.search(r'\((\d+) bytes\), \d+ unknown; (\d+) bytes lost, '
                        r'(\d+) skipped', err)
    n = [int(i) for i in account.groups()]
    is_all = sum(n) == total if grows else n[0] == total or sum(n[1:]) > 0
    return numbers == sorted(set(numbers)) and is_all and \
        (len(numbers) == N_AROUND or sum(n[1:]) > 0)


def follow(program, folder, description, produce):
    ring = os.path.join(folder, 'ring.yaml')
    buffer = os.path.join(folder, 'buffer.bin')
    with open(ring, 'w') as f:
        f.write(description)
    with open(buffer, 'wb') as f:
        f.truncate(4096 if produce is around else 1 << 14)
    with open(buffer + '.counter', 'wb') as f:
        f.truncate(8)
    counter = ['--counter', buffer + '.counter'] if produce is elsewhere else []
    with open(buffer, 'r+b') as f:
        follower = subprocess.Popen(
            [program, 'follow', '--verbose', '--describe', ring, '--buffer',
             buffer, '--until-idle', '2', *counter], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        is_around = description in (GROWS, MARKS)
        if is_around:
            total = produce(f, description == GROWS)
        else:
            lines, account = produce(f)
    out, err = follower.communicate(timeout=120)
    given = [re.sub(r'^\[.*?\] ', '', line) for line in out.splitlines()]
    if is_around:
        if is_whole(given, err, total, description == GROWS):
            return True
        lines = total
    elif given == lines and account in err:
        return True
    print('%s:\n%s\n%s\n%s' % (produce.__name__, given, lines, err))
    return False


def main():
    ok = True
    for description, produce in ((COUNTED, counted), (SLOTS, slots),
                                 (ELSEWHERE, elsewhere), (FIRST, first),
                                 (GROWS, around), (MARKS, around)):
        with tempfile.TemporaryDirectory() as folder:
            ok &= follow(os.path.abspath(sys.argv[1]), folder, description,
                         produce)
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main())
