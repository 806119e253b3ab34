#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""follow.py DAEMON DUMP ELF FOLLOW: what `printfdecode follow` makes of a
daemon's lines: forms, choices, exit status, and whoever is no daemon."""
import contextlib
import json
import os
import socket
import subprocess
import threading

from harness import (DUMP, ELF, N_ENTRIES, PATIENCE, REST, START, Daemon, dial,
                     dump_frames, elf_frame, free_port, producer, run, slurp,
                     until)

FOLLOW = REST[0]
CONFIG = '''code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
'''
ID = '0x9fe7282b62d4'
N_OF_ID = 13
CUT = os.path.join(os.path.dirname(DUMP), 'h200_cut.bin')


def follow(*args, until_idle='1'):
    p = subprocess.run([FOLLOW, 'follow', '--until-idle', until_idle, *args],
                       check=False, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=PATIENCE)
    return p.returncode, p.stdout, p.stderr.decode()


def decoded(*args):
    return subprocess.run([FOLLOW, *args], check=False,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def started(temp, *dumps):
    """A daemon that has said all of the dumps, and where."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    for i, data in enumerate(dumps):
        producer(f'{temp}/in.sock', elf_frame(),
                 *dump_frames(name=f'b{i}', data=data))
        lines.entries(N_ENTRIES if data == slurp(DUMP) else 1)
    return d, f'{temp}/l.sock', ('--from', 'oldest')


def forms(temp):
    d, at, oldest = started(temp, slurp(DUMP))
    for form in 'text', 'raw':
        rc, out, err = follow('-o', form, *oldest, at)
        assert (rc, err) == (0, ''), err
        assert out == decoded('-o', form, DUMP, ELF), out[:300]
        # The daemon itself makes the same of it.
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(at)
            s.sendall(b'{"output":"%s","from":"oldest"}\n' % form.encode())
            s.shutdown(socket.SHUT_WR)
            assert s.makefile('rb').read() == out
    rc, out, err = follow('-o', 'json', *oldest, at)
    records = [json.loads(line) for line in out.splitlines()]
    assert (rc, err) == (0, '')
    assert sum(r['type'] == 'entry' for r in records) == N_ENTRIES
    d.stop()


def chosen(temp):
    web = free_port()
    d = Daemon(temp, CONFIG + '  - {type: http, address: "tcp:127.0.0.1:%d"}\n'
               % web)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    producer(f'{temp}/in.sock', elf_frame(), *dump_frames())
    lines.entries(N_ENTRIES)
    for at in f'{temp}/l.sock', f'http://127.0.0.1:{web}':
        limits(at)
    d.stop()


def limits(at):
    oldest = '--from', 'oldest'
    for form in 'text', 'json', 'raw':
        rc, out, err = follow('-o', form, '-n', '3', *oldest, at,
                              until_idle='60')
        wanted = decoded('-o', 'raw' if form == 'raw' else 'text', '-n', '3',
                         DUMP, ELF)
        assert (rc, err) == (0, ''), (rc, err)
        if form == 'json':
            out = b''.join(json.loads(line)['message'].encode()
                           for line in out.splitlines())
        assert out == wanted, (form, out)
    rc, out, err = follow('-n', '0', *oldest, at)
    assert (rc, out) == (0, b''), out
    rc, out, err = follow('--id', ID, *oldest, at)
    assert rc == 0 and len(out.splitlines()) == N_OF_ID, out
    assert out == decoded('--id', ID, DUMP, ELF), out
    rc, out, err = follow('--id', ID, '-n', '2', '-m', 'bool 1', *oldest, at)
    assert rc == 0 and len(out.splitlines()) == 2, out
    assert all(b'bool 1' in line for line in out.splitlines()), out
    rc, out, err = follow('--id', '0x1', '-o', 'json', *oldest, at)
    assert (rc, out) == (3, b''), (rc, out)  # nothing was found


def doubt_is_the_exit_status(temp):
    d, at, oldest = started(temp, slurp(DUMP), slurp(CUT))
    until('the end of it', lambda: b'overflow' in follow(
        '-o', 'json', *oldest, at)[1])
    for args in ('-o', 'json'), ('-o', 'text'), ('-o', 'raw'):
        rc, out, err = follow(*args, *oldest, at)
        assert rc == 2, (args, rc, err)
    # Not what stands before it, nor what is not wanted.
    for args in ('-n', '64'), ('--findings', 'no', '-n', '64'):
        rc, out, err = follow(*args, *oldest, at)
        assert rc == 0, (args, rc, out)
    rc, out, err = follow('--from', '100000', '-n', '1', at)
    assert (rc, out) == (0, b''), (rc, out)
    d.stop()


def refusals(temp):
    d, at, _ = started(temp)
    for args, why in ((('--match', '(a+)+{9}', at), 'refused: '),
                      (('--from', 'yesterday', at), "refused: 'from' is"),
                      ((f'{temp}/in.sock',), 'refused: producers connect')):
        rc, out, err = follow(*args)
        assert (rc, out) == (1, b''), (args, rc, out)
        assert why in err and err.count('\n') == 1, err
    d.stop()


def all_said(s):
    """Up to the end, or to what the kernel makes of one that left bytes of ours
    unread."""
    said = b''
    with contextlib.suppress(ConnectionResetError):
        while more := s.recv(65536):
            said += more
    return said


def wrong_door(temp):
    """Nobody else hears of it, whoever it was, however little came at once;
    producers go on as before."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    for words in (b'{"output":"text"}\n', b'GET / HTTP/1.1\r\n\r\n',
                  b'\x16\x03\x01\x02', b'\x89PNG\r\n\x1a\n', b'\x89PFDCAQ', b'x'):
        for piece in len(words), 1:
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(f'{temp}/in.sock')
                s.settimeout(PATIENCE)
                try:
                    for i in range(0, len(words), piece):
                        s.sendall(words[i:i + piece])
                except ConnectionError:
                    pass
                said = all_said(s)
                assert b'"type":"error"' in said and b'producers' in said, said
    for words in b'', b'\x89PFDC':  # gone before it can be told
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(f'{temp}/in.sock')
            s.sendall(words)
    # A producer whose first bytes come one by one, with those behind.
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(f'{temp}/in.sock')
        stream = START + elf_frame() + b''.join(dump_frames())
        for i in range(12):
            s.sendall(stream[i:i + 1])
        s.sendall(stream[12:])
        assert {r['type'] for r in lines.take(N_ENTRIES)} == {'entry'}
    assert d.log().count('refused as a producer') >= 2, d.log()
    # And a producer among subscribers.
    with producer(f'{temp}/l.sock', elf_frame()) as s:
        said = all_said(s)
        assert b'subscribers connect here' in said, said
    d.stop()


def strangers(temp):
    """Whatever answers: one sentence, nothing on standard output."""
    path = f'{temp}/s.sock'
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        for words, why in (
                (b'HTTP/1.1 400 Bad Request\r\n\r\n', "'HTTP/1.1 400 Bad"),
                (b'\x1b[2J\n', "'\\x1b[2J'"),
                (b'SSH-2.0', "'SSH-2.0'"),
                (b'{"type":"entry","mess', 'ended within a line'),
                (b'{"type":"error","text":"no \\u001b"}\n', 'refused: no')):
            def answer():
                with server.accept()[0] as s:
                    s.recv(4096)
                    s.sendall(words)
            thread = threading.Thread(target=answer)
            thread.start()
            rc, out, err = follow(path)
            thread.join()
            assert (rc, out) == (1, b''), (words, rc, out)
            assert why in err and '\x1b' not in err, (words, err)


run(forms, chosen, doubt_is_the_exit_status, refusals, wrong_door, strangers)
