#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""streams.py DAEMON DUMP ELF PRINTFDECODE: what frames may bring: modules of a
validation layer, code objects named by URIs, times and origins."""
import os
import shutil
import socket
import subprocess

from harness import (DUMP, ELF, N_ENTRIES, REST, Daemon, dial,
                     dump_frames, elf_frame, frame, producer, run, slurp,
                     until)

HERE = os.path.dirname(os.path.abspath(__file__))
CASE = f'{HERE}/../cases/debugprintf/capture_bytes'
CONFIG = '''inputs:
  - {type: listen, address: "unix:$T/in.sock"}
  - {type: listen, address: "tcp:127.0.0.1:0"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
'''


def decoded(*args, cwd=None):
    return subprocess.run([REST[0], *args], stdout=subprocess.PIPE, cwd=cwd,
                          stderr=subprocess.DEVNULL, check=False, timeout=20)


def shaders(temp):
    """capture --shaders, then all of it from the file, and over the socket."""
    capture = f'{temp}/run.pfcap'
    made = decoded('capture', '-o', capture, '--shaders', 'map.json',
                   'buffer.bin', cwd=CASE)
    assert made.returncode == 0
    wanted = slurp(f'{CASE}/expect.text')
    alone = decoded(capture)
    assert alone.stdout == wanted and alone.returncode == 0, alone
    d = Daemon(temp, CONFIG)
    text = dial(f'{temp}/l.sock', {'output': 'text', 'from': 'oldest'})
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(f'{temp}/in.sock')
        sock.sendall(slurp(capture))
        sock.shutdown(socket.SHUT_WR)
        got = b''
        while len(got) < len(wanted):
            got += text.sock.recv(65536)
    assert got == wanted, got
    # A shader of a module that has not come.
    with producer(f'{temp}/in.sock', frame('shader', shader=1, code_object=9)):
        until('a refusal', lambda: 'has not come' in d.log())
    d.stop()


def loose_module(temp):
    """A module that no shader speaks of is not lost."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'text', 'from': 'oldest'})
    module = next(n for n in os.listdir(CASE) if n.endswith('.spv'))
    with producer(f'{temp}/in.sock',
                  frame('code_object', code_object=1, name='m',
                        bytes=slurp(f'{CASE}/{module}')),
                  *dump_frames(1, 'b', slurp(f'{CASE}/buffer.bin'))):
        first = slurp(f'{CASE}/expect.text')
        got = b''
        while len(got) < len(first):
            got += lines.sock.recv(65536)
    assert got == first, got
    d.stop()


def by_uri(temp):
    shutil.copy(ELF, f'{temp}/app.elf')
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    n = os.path.getsize(ELF)
    with producer(f'{temp}/in.sock',
                  frame('code_object', code_object=1,
                        uri=f'file://{temp}/app.elf#offset=0&size={n}'),
                  *dump_frames()):
        assert all('message' in e for e in lines.entries(N_ENTRIES))
    for i, uri in enumerate(('memory://1#offset=4096&size=4096',
                             'http://example/a.elf', 'file:' + 'x' * 5000,
                             f'file://{temp}/none.elf')):
        before = d.log().count('warning')
        # As bytes: a text of more than 255 bytes has another head.
        with producer(f'{temp}/in.sock', frame(
                'code_object', code_object=i + 2, uri=uri.encode())):
            until('a complaint', lambda: d.log().count('warning') > before)
    with producer(f'{temp}/in.sock', *dump_frames()):
        lines.entries(N_ENTRIES)
    d.stop()


def origins(temp):
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    when = 1795205389038881123
    data = slurp(DUMP)
    with producer(f'{temp}/in.sock',
                  frame('hello', host='n1', process='trainer', pid=4242),
                  elf_frame(),
                  frame('buffer', buffer=1, name='b', size=len(data),
                        device='gpu0', queue='compute', labels={'job': 'x'}),
                  frame('data', buffer=1, bytes=data, time=when),
                  frame('done', buffer=1)):
        for entry in lines.entries(N_ENTRIES):
            assert entry['time_unix_nano'] == str(when), entry
            assert entry['time'] == '2026-11-20T20:09:49.038881123Z', entry
            o = entry['origin']
            assert (o['host'], o['process'], o['pid'], o['device'],
                    o['queue'], o['labels']) == (
                        'n1', 'trainer', 4242, 'gpu0', 'compute',
                        {'job': 'x'}), o
    d.stop()


run(shaders, loose_module, by_uri, origins)
