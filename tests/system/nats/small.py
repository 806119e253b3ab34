#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""small.py DAEMON DUMP ELF PRINTFDECODE small: servers that take small messages:
chunks and code objects are cut to them, and what cannot be stored costs itself
only."""
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'daemon'))

from server import Server, program

from nats import acknowledged, edge, lines, same, worker

from harness import (DUMP, ELF, N_ENTRIES, REST, dump_frames, elf_frame,
                     frame, producer, run, skip, slurp, until)

PRINTFDECODE = REST[0]


def large_elf():
    """A code object with 300 KiB behind it that are not alike."""
    with open(ELF, 'rb') as f:
        return f.read() + random.Random(7).randbytes(300 << 10)


def frames(first, n, code=None):
    data = slurp(DUMP)
    return [frame('code_object', code_object=1, name='large.elf', bytes=code)
            if code else elf_frame()] + [
        f for i in range(n)
        for f in dump_frames(buffer=first + i, name=f'b{first + i}', data=data)]


def cut(temp):
    """All comes, with its strings, and readers have it, too."""
    for size in 65536, 8192, 4096:
        temp_of = f'{temp}/{size}'
        os.mkdir(temp_of)
        server = Server(temp_of, more=f'max_payload: {size}\n').start()
        e, w = edge(temp_of, server), worker(temp_of, server)
        with producer(f'{temp_of}/edge/in.sock', *frames(1, 5, large_elf())):
            same(temp_of, 5)
            acknowledged(e)
        assert e.metric('output_dropped_total') == 0
        assert 'unknown_id' not in str(lines(temp_of, 'worker'))
        said = subprocess.run(
            [PRINTFDECODE, 'replay', '--nats', server.url, '-o', 'json'],
            stdout=subprocess.PIPE, check=True, text=True).stdout
        assert said.count('"type":"entry"') == 5 * N_ENTRIES
        assert 'unknown_id' not in said
        e.stop()
        w.stop()
        server.kill()


def changes(temp):
    """A server takes less than the one before it: what was cut in another way
    comes once."""
    server = Server(temp, more='max_payload: 65536\n').start()
    e, w = edge(temp, server), worker(temp, server)
    with producer(f'{temp}/edge/in.sock', *frames(1, 2)):
        same(temp, 2)
    w.stop()
    with producer(f'{temp}/edge/in.sock', *frames(10, 5)):
        until('sent', lambda: e.metric('output_sent_total') >= 7)
        server.kill()
        with open(f'{temp}/one.conf', encoding='ascii') as f:
            text = f.read()
        with open(f'{temp}/one.conf', 'w', encoding='ascii') as f:
            f.write(text.replace('max_payload: 65536', 'max_payload: 4096'))
        server.start()
        w.start()
        same(temp, 7)
        acknowledged(e)
    e.stop()
    w.stop()
    server.kill()


def never(temp):
    """A message that is larger than a stream takes costs itself only."""
    server = Server(temp).start()
    e = edge(temp, server)
    until('the streams', lambda: 'made stream GPULEASE' in e.log())
    e.stop()
    config = server.request('$JS.API.STREAM.INFO.GPUCODE', b'')
    text = re.search(rb'"config":(\{.*?\}),"created"', config, re.S)[1]
    text = re.sub(rb'"max_msg_size":-?\d+', b'"max_msg_size":4096', text)
    assert b'"error"' not in server.request('$JS.API.STREAM.UPDATE.GPUCODE', text)
    e.start()
    w = worker(temp, server)
    with producer(f'{temp}/edge/in.sock', *frames(1, 1, large_elf())), producer(
            f'{temp}/edge/in.sock', *frames(10, 1)):
        until('all', lambda: sum(n for line, n in lines(temp, 'worker').items()
                                 if '"entry"' in line) == 2 * N_ENTRIES)
        acknowledged(e)
    assert 'workers go without it' in e.log()
    e.stop()
    w.stop()
    server.kill()


if __name__ == '__main__':
    if not program():
        skip('no nats-server')
    run(cut, changes, never)
