#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""described_streams.py DAEMON FOLLOW: producers whose rings have descriptions of
their own, or their input's; subscribers that read them, before and behind a restart;
a stream with two."""
import json
import struct
import subprocess

from harness import ARGUMENTS, PATIENCE, Daemon, dial, frame, producer, run, until

RING = '''ring: %s
counter: {at: 0, unit: 1, from: 4}
data: 4
messages: {1: "%s %%u\\n"}
'''
CONFIG = '''state_dir: $T/state
inputs:
  - {type: listen, address: "unix:$T/in.sock", describe: $T/input.yaml}
  - {type: listen, address: "unix:$T/other.sock", describe: $T/other.yaml}
outputs:
  - {type: listen, address: "unix:$T/out.sock"}
  - {type: listen, address: "unix:$T/ack.sock", required: true, name: collector}
'''
N = 20


def ring(first):
    data = b''.join(struct.pack('<II', 1, first + i) for i in range(N))
    return struct.pack('<I', len(data)) + data


def described(number, name, scope=0):
    """The description of one ring more."""
    return frame('code_object', code_object=number, name=name + '.yaml', scope=scope,
                 bytes=(RING % (name, name)).encode())


def buffer(number, name, first, **keys):
    data = ring(first)
    return [frame('buffer', buffer=number, name=name, size=len(data), **keys),
            frame('data', buffer=number, bytes=data), frame('done', buffer=number)]


def messages(name, first):
    return ['%s %d\n' % (name, first + i) for i in range(N)]


def start(temp):
    for name in ('input', 'other'):
        with open(f'{temp}/{name}.yaml', 'w', encoding='utf-8') as f:
            f.write(RING % (name, name))
    return Daemon(temp, CONFIG)


def followed(temp, n, socket):
    """What a subscriber prints that renders itself."""
    done = subprocess.run(
        [ARGUMENTS[1], 'follow', '-o', 'json', '-n', str(n), f'{temp}/{socket}'],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return sorted(line['message'] for line in lines if line['type'] == 'entry')


def each_by_its_own(temp):
    """Four producers: two with descriptions of their own, two without."""
    d = start(temp)
    out = dial(f'{temp}/out.sock', {})
    expected = []
    for i, (path, own) in enumerate((('in', 'first'), ('in', None), ('other', None),
                                     ('other', 'second'))):
        frames = [described(1, own)] if own else []
        name = own or {'in': 'input'}.get(path, path)
        expected += messages(name, 100 * i)
        producer(f'{temp}/{path}.sock', *frames,
                 *buffer(1, f'ring{i}', 100 * i)).close()
    found = [entry['message'] for entry in out.entries(len(expected))]
    assert sorted(found) == sorted(expected), found
    out.close()
    d.stop()
    d.start()
    assert followed(temp, len(expected), 'ack.sock') == sorted(expected)
    d.stop()


def two_in_a_stream(temp):
    """The second one's ring is not read; the next stream's is."""
    d = start(temp)
    out = dial(f'{temp}/out.sock', {})
    with producer(f'{temp}/in.sock', described(1, 'mine', 1), described(2, 'theirs', 2),
                  *buffer(1, 'a', 0, scope=1), *buffer(2, 'b', 100, scope=2)):
        found = [entry['message'] for entry in out.entries(N)]
        until('refusal', lambda: 'description is another' in d.log())
    assert found == messages('mine', 0), found
    with producer(f'{temp}/in.sock', described(1, 'theirs'), *buffer(1, 'b', 200)):
        found = [entry['message'] for entry in out.entries(N)]
    assert found == messages('theirs', 200), found
    out.close()
    d.stop()


run(each_by_its_own, two_in_a_stream)
