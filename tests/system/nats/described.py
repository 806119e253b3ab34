#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""described.py DAEMON DUMP ELF PRINTFDECODE described: rings of one edge, each by a
description of its own: a worker and readers print them by these."""
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'daemon'))

from server import Server

from nats import acknowledged, edge, lines, worker

from harness import REST, frame, producer, run, until

PRINTFDECODE = REST[0]
N = 30
RING = '''ring: drawn
counter: {at: 0, unit: 1, from: 4}
data: 4
messages: {1: "%s %%u\\n"}
'''


def frames(name, description):
    data = b''.join(struct.pack('<II', 1, i) for i in range(N))
    data = struct.pack('<I', len(data)) + data
    return [frame('code_object', code_object=1, name='ring.yaml',
                  bytes=(RING % description).encode()),
            frame('buffer', buffer=1, name=name, size=len(data), format='described'),
            frame('data', buffer=1, bytes=data), frame('done', buffer=1)]


def messages(records):
    return sorted((r['source'], r['message']) for r in records if r['type'] == 'entry')


def each_by_its_own(temp):
    """Two rings at once, the first description once more, and another ring by the
    second."""
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    rings = [('a', 'left'), ('b', 'right'), ('c', 'left'), ('d', 'right')]
    for name, description in rings:
        producer(f'{temp}/edge/in.sock', *frames(name, description)).close()
    n = N * len(rings)
    until('the worker', lambda: sum(lines(temp, 'worker').values()) >= n)
    acknowledged(e)
    expected = sorted((name, '%s %d\n' % (description, i))
                      for name, description in rings for i in range(N))
    for name in ('edge', 'worker'):
        got = messages(json.loads(line) for line in lines(temp, name).elements())
        assert got == expected, (name, got)
    said = subprocess.run([PRINTFDECODE, 'replay', '--nats', server.url, '-o', 'json'],
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    got = messages(json.loads(line) for line in said.splitlines())
    assert got == expected, got
    e.stop()
    w.stop()
    server.kill()


run(each_by_its_own)
