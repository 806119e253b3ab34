#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""daemon.py DAEMON DUMP ELF PROGRAM NODE VALIDATE SCHEMA: the schema has all
lines of a daemon, whichever way they come."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', 'daemon'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', '..', 'make'))
import spirv_module as spv  # noqa: E402
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


def sampled(temp):
    connection = UnixConnection(f'{temp}/http.sock', timeout=PATIENCE)
    connection.request('GET', '/lines?from=oldest&sample=1',
                       headers={'Host': 'localhost'})
    answer = connection.getresponse()
    lines = []
    while not lines or b'"left_out"' not in lines[-1]:
        lines.append(answer.readline())
    return b''.join(lines)


def excerpts(temp, d):
    """Of a line whose source is known, and of one whose is not."""
    module = spv.Module()
    name = module.string('a.comp')
    module.source(name, '// 1\n#line 7\n// 7\n' + 'x' * 2000 + '\n')
    module.line(name, 7)
    call = module.call(module.string('%u'), ['u32'])
    binary = module.bytes()
    data = spv.printf_buffer('p4', [spv.record('p4', 0, module, call, [1])])
    with producer(f'{temp}/in.sock',
                  frame('code_object', code_object=1, name='x', bytes=binary),
                  frame('shader', shader=0, code_object=1),
                  *dump_frames(1, 'shader', data)):
        line, = dial(f'{temp}/l.sock', {'output': 'json', 'from': 'oldest',
                                        'source': 'shader'}).entries(1)
    for sequence in line['sequence'], line['sequence'] - 1:
        status, text = d.http(f'/excerpt?sequence={sequence}')
        assert status == 200, text
        yield text.encode()


def followed(temp, *more):
    done = subprocess.run(
        [COMMAND, 'follow', '-o', 'json', *more, '--from', 'oldest',
         '--until-idle', '0.3', f'{temp}/l.sock'], stdout=subprocess.PIPE,
        check=False)
    assert done.returncode in (0, 2), done
    return done.stdout


def all_lines(temp):
    folder = f'{temp}/checked'
    os.mkdir(folder)
    lines = Lines(folder)
    d = Daemon(temp, CONFIG)
    feed(temp)
    lines.add(['follow', 'the file'], written(temp))
    lines.add(['follow', 'the socket'], followed(temp))
    collapsed = followed(temp, '--collapse')
    assert b'"last_sequence"' in collapsed
    lines.add(['follow', '--collapse'], collapsed)
    if HAS_HTTP:
        n = written(temp).count(b'\n')
        lines.add(['follow', 'the web'], from_web(temp, n))
        lines.add(['follow', 'a sample'], sampled(temp))
        lines.add(['state'], d.http('/state')[1].encode())
        for excerpt in excerpts(temp, d):
            lines.add(['excerpt'], excerpt)
    for refusal in refusals(temp):
        lines.add(['follow', 'a refusal'], refusal)
    d.stop()
    kinds = ['entry', 'finding', 'gap', 'error', *['state', 'left_out', 'excerpt'] * HAS_HTTP]
    status = lines.validate(VALIDATE, kinds)
    if status == SKIP:
        raise Lacking('node_modules')
    assert status == 0, status


run(all_lines)
