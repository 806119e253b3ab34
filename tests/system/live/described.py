#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Follows described rings while they are written: one by a counter, with a
counter that goes on past the end, one of slots, one whose counter is in a file of
its own, and one with positions, which comes out as a whole at the end. usage: described.py PROGRAM"""
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
POSITIONS = '''ring: positions
write: {at: 0}
read: {at: 4}
data: 8
messages: {1: "position %u\\n"}
'''


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


def positions(f):
    f.truncate(8 + 64)
    for i in range(7):
        write(f, 8 + 8 * i, struct.pack('<II', 1, i))
    write(f, 0, struct.pack('<II', 56, 8))
    return ['position %d' % i for i in range(1, 7)], '0 bytes lost, 0 skipped'


def follow(program, folder, description, produce):
    ring = os.path.join(folder, 'ring.yaml')
    buffer = os.path.join(folder, 'buffer.bin')
    with open(ring, 'w') as f:
        f.write(description)
    with open(buffer, 'wb') as f:
        f.truncate(1 << 14)
    with open(buffer + '.counter', 'wb') as f:
        f.truncate(8)
    counter = ['--counter', buffer + '.counter'] if produce is elsewhere else []
    with open(buffer, 'r+b') as f:
        follower = subprocess.Popen(
            [program, 'follow', '--verbose', '--describe', ring, '--buffer',
             buffer, '--until-idle', '2', *counter], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        lines, account = produce(f)
    out, err = follower.communicate(timeout=120)
    given = [re.sub(r'^\[.*?\] ', '', line) for line in out.splitlines()]
    if given != lines or account not in err:
        print('%s:\n%s\n%s\n%s' % (produce.__name__, given, lines, err))
        return False
    return True


def main():
    ok = True
    for description, produce in ((COUNTED, counted), (SLOTS, slots),
                                 (ELSEWHERE, elsewhere),
                                 (POSITIONS, positions)):
        with tempfile.TemporaryDirectory() as folder:
            ok &= follow(os.path.abspath(sys.argv[1]), folder, description,
                         produce)
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(main())
