#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""daemon.py DAEMON DUMP ELF PROGRAM NODE VALIDATE SCHEMA: the schema has all
lines of a daemon, whichever way they come."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', 'daemon'))
from harness import (DUMP, N_ENTRIES, PATIENCE, PROGRAM, REST, SKIP, Daemon, Lacking,
                     UnixConnection, dial, dump_frames, entry_ends, frame,
                     has, producer, run, slurp, until)
from lines import Lines

COMMAND, *VALIDATE = REST
N_CUT = 10  # entries that fit in the buffer
HAS_HTTP = has('http')
CONFIG = '''code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: file, path: $T/lines}
''' + ('  - {type: http, address: "unix:$T/http.sock"}\n' if HAS_HTTP else '')


def written(temp):
    path = f'{temp}/lines'
    return slurp(path) if os.path.exists(path) else b''


def feed(temp):
    """A buffer that lost entries, one that has all, one with an unknown id, and
    a damaged frame."""
    data = slurp(DUMP)
    cut = data[:entry_ends(data)[N_CUT - 1]]
    unknown = bytearray(data)
    unknown[18:24] = b'\x55' * 6  # the first entry's id
    path = f'{temp}/in.sock'
    for i, sent in enumerate((cut, data, bytes(unknown))):
        with producer(path, *dump_frames(1, f'b{i}', sent)):
            pass
    damaged = frame('done', buffer=1)[:-1] + b'?'
    with producer(path, *dump_frames(1, 'cut off')[:2], damaged):
        until('all of it', lambda: b'"type":"gap"' in written(temp))
    until('entries', lambda: written(temp).count(b'"type":"entry"') >=
          N_CUT + 2 * N_ENTRIES)


def refusals(temp):
    for request in {'from': 'yesterday'}, {'match': '('}, {'nonsense': 1}:
        sock = dial(f'{temp}/l.sock', request).sock
        yield b''.join(iter(lambda: sock.recv(65536), b''))


def from_web(temp, n):
    connection = UnixConnection(f'{temp}/http.sock', timeout=PATIENCE)
    connection.request('GET', '/lines?from=oldest', headers={'Host': 'localhost'})
    answer = connection.getresponse()
    return b''.join(answer.readline() for _ in range(n))


def all_lines(temp):
    folder = f'{temp}/checked'
    os.mkdir(folder)
    lines = Lines(folder)
    d = Daemon(temp, CONFIG)
    feed(temp)
    lines.add(['follow', 'the file'], written(temp))
    followed = subprocess.run(
        [COMMAND, 'follow', '-o', 'json', '--from', 'oldest', '--until-idle',
         '0.3', f'{temp}/l.sock'], stdout=subprocess.PIPE, check=False).stdout
    lines.add(['follow', 'the socket'], followed)
    if HAS_HTTP:
        n = written(temp).count(b'\n')
        lines.add(['follow', 'the web'], from_web(temp, n))
    for refusal in refusals(temp):
        lines.add(['follow', 'a refusal'], refusal)
    d.stop()
    status = lines.validate(VALIDATE, ('entry', 'finding', 'gap', 'error'))
    if status == SKIP:
        raise Lacking('node_modules')
    assert status == 0, status


run(all_lines)
