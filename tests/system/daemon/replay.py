#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replay.py PRINTFDECODE DAEMON CASES RUN: what real shaders left in a buffer while
they ran, then the complete dump, as a mapped file that grows, for `printfdecode
follow` and for the daemon at the same time. Each line of the complete dump must
come out exactly once from either; what is printed beside them is counted."""
import collections
import json
import signal
import struct
import subprocess
import sys
import tempfile
import time

from harness import (PATIENCE, Buffer, Daemon, Subscriber, can_be_ended, slurp,
                     until, used_bytes)

program, daemon, cases, which = sys.argv[1:]
SIZES = {3, 6, 5, 2, 13}  # dwords of the entries of those shaders
failures = []


def case(name):
    return slurp(f'{cases}/llpc/{name}/buffer.bin')


def elf(name):
    return f'{cases}/llpc/{name}/image.elf'


def known_ids(dump):
    """The ids of a complete dump, with their entries' dwords."""
    ids = {}
    at = 16
    while at < used_bytes(dump):
        header = struct.unpack_from('<Q', dump, at)[0]
        ids[header >> 16] = header & 0xffff
        at += 4 * (header & 0xffff)
    return ids


def split(n):
    """n dwords as sizes of entries."""
    parts = []
    while n:
        for size in (13, 6, 5, 3, 2):
            if size == n or n - size >= 2:
                parts.append(size)
                n -= size
                break
    return parts


def complete(live, ids):
    """A dump with the holes of `live` filled by entries that nothing else in it
    says: its own complete dump was not kept."""
    data = bytearray(live)
    padded = live + bytes(8)
    of_size = {size: key for key, size in ids.items()}
    at = 16
    end = used_bytes(live)
    n_filled = n_holes = 0
    while at < end:
        header = struct.unpack_from('<Q', data, at)[0]
        if ids.get(header >> 16) == header & 0xffff:
            at += 4 * (header & 0xffff)
            continue
        hole = at
        while at < end and ids.get(
                struct.unpack_from('<Q', padded, at)[0] >> 16) != \
                struct.unpack_from('<H', data, at)[0]:
            at += 4
        n_holes += 1
        for size in split((at - hole) // 4):
            n_filled += 1
            struct.pack_into('<Q', data, hole, of_size[size] << 16 | size)
            for i in range(2, size):
                struct.pack_into('<I', data, hole + 4 * i,
                                 0x40000000 | n_filled)
            hole += 4 * size
    return bytes(data), n_holes, n_filled


def messages_of(dump, image, temp):
    """How often each message is in a dump."""
    with open(f'{temp}/whole', 'wb') as f:
        f.write(dump)
    out = subprocess.run([program, '-o', 'json', f'{temp}/whole', image],
                         capture_output=True).stdout
    return collections.Counter(
        r['message'] for r in map(json.loads, out.splitlines())
        if r['type'] == 'entry')


def count(lines):
    """Messages; those that are perhaps stale apart."""
    plain = collections.Counter()
    stale = collections.Counter()
    for r in map(json.loads, lines):
        if r['type'] == 'entry':
            to = stale if 'stale' in r.get('findings', []) else plain
            to[r.get('message', r['id'])] += 1
    return plain, stale


def check(name, who, lines, want, allowed):
    plain, stale = count(lines)
    extra = plain - want
    missing = want - plain
    missing_at_all = missing - stale
    late = sum(b'"late"' in line and line.startswith(b'{"type":"entry"')
               for line in lines)
    print(f'{name}, {who}: {sum(want.values())} lines, '
          f'{sum(missing_at_all.values())} missing, '
          f'{sum(extra.values())} that were in no complete dump, '
          f'{sum(stale.values())} flagged as perhaps stale, {late} late')
    if (sum(extra.values()) > allowed[0] or
            sum(missing_at_all.values()) > allowed[1]):
        failures.append(f'{name}, {who}: missing '
                        f'{list(missing_at_all.items())[:3]}, extra '
                        f'{list(extra.items())[:3]}')


def replay(name, steps, pause, end, allowed=(0, 0), attach=False):
    """end: a signal for `follow`, or None: --until-idle; allowed: lines
    that nobody can keep back, and lines that come out torn instead; attach:
    the first snapshot is there before anybody looks."""
    image = elf('vk_midflight')
    with tempfile.TemporaryDirectory() as temp:
        want = messages_of(steps[-1], image, temp)
        b = Buffer(f'{temp}/b', max(len(s) for s in steps))
        if attach:
            b.snapshot(steps[0])
        d = Daemon(temp, f'''code_objects: [{image}]
inputs:
  - {{type: buffer, path: $T/b, name: b}}
outputs:
  - {{type: listen, address: "unix:$T/l"}}
''', program=daemon)
        s = Subscriber(f'{temp}/l', keep=True)
        s.start()
        follow = subprocess.Popen(
            [program, 'follow', '-v', '-o', 'json', f'{temp}/b', image]
            + ([] if end else ['--until-idle', '5']),
            stdout=open(f'{temp}/out', 'wb'), stderr=subprocess.DEVNULL)
        can_be_ended(follow, signal.SIGINT)
        time.sleep(0.3)
        for step in steps:
            b.snapshot(step)
            if step is not steps[-1]:
                time.sleep(pause)
        if end:
            # At once: what has not been printed yet must still come.
            follow.send_signal(end)
        status = follow.wait(PATIENCE)
        if status not in (0, 2):
            failures.append(f'{name}: follow ended with {status}')
        total = sum(want.values())
        until(f'the lines of {name}', lambda: s.entries >= total)
        time.sleep(0.6)
        d.stop()
        s.join(PATIENCE)
        failures.extend(s.failures)
        with open(f'{temp}/out', 'rb') as f:
            check(name, 'follow', f.read().splitlines(), want, allowed)
        check(name, 'daemon', s.lines, want, allowed)


def snapshots(*names):
    return [case(name) for name in names]


def h200(end):
    live = case('gpu_h200_live1')
    whole, n_holes, n_filled = complete(live, known_ids(case('vk_midflight')))
    print(f'h200_live1: {n_holes} holes, filled with {n_filled} entries')
    replay('h200_live1', [live, whole], 0.6, end)


MIDFLIGHT = 'vk_midflight_live0', 'vk_midflight_live1', 'vk_midflight'
# What stood still for 400 ms is printed torn: 13 lines.
TORN = 'vk_torn_live0', 'vk_torn_live1', 'vk_torn'
STALE = ('vk_stalelive_again_live0', 'vk_stalelive_again_live1',
         'vk_stalelive_again')
RUNS = {
    'midflight': lambda: replay(
        'midflight', snapshots(*MIDFLIGHT), 0.4, None),
    'hurry': lambda: replay(
        'midflight, in a hurry', snapshots(*MIDFLIGHT), 0.02, signal.SIGINT),
    'sigterm': lambda: replay(
        'midflight, SIGTERM', snapshots(*MIDFLIGHT), 0.4, signal.SIGTERM),
    'h200': lambda: h200(None),
    'h200_sigint': lambda: h200(signal.SIGINT),
    'torn': lambda: replay(
        'torn', snapshots(*TORN), 0.4, None, allowed=(13, 13)),
    'stale': lambda: replay('stalelive', snapshots(*STALE), 0.4, None,
                            allowed=(18, 0), attach=True),
}
RUNS[which]()
if failures:
    print('\n'.join(failures))
    sys.exit(1)
