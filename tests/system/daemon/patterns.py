#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""patterns.py DAEMON DUMP ELF: what subscribers match costs nobody else. A
pattern that backtracks without end meets messages that make it."""
import os
import socket
import struct
import sys
import time

from harness import (PATIENCE, Daemon, dial, dump_frames, has, producer, run,
                     until)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..', 'bench'))
import inputs  # noqa: E402  pylint: disable=wrong-import-position

HOSTILE = '(a+b+)+(ab+)+(a*b*)*(b+a+)+$'
SHORT = 'ab' * 60 + 'c'
LONG = 'ab' * 200000 + 'c'
N = 4000

CONFIG = '''code_objects: [$T/long.elf]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
''' + ('  - {type: http, address: "unix:$T/http.sock"}\n' if has('http') else '')


def write_strings(temp):
    with open(f'{temp}/long.elf', 'wb') as f:
        f.write(inputs.elf([inputs.row(0x10001, SHORT + ' %u', [0]),
                            inputs.row(0x10002, LONG, [])]))


def entry(ident, *words):
    """An LLPC entry: 16 bits of its length in dwords, 48 of its id."""
    size = 2 + len(words)
    return struct.pack('<Q', ident << 16 | size) + struct.pack(
        f'<{len(words)}I', *words)


def dump(entries):
    data = b''.join(entries)
    return struct.pack('<QQ', len(data) // 4, 0) + data


def give(temp, name, data):
    return producer(f'{temp}/in.sock', *dump_frames(1, name, data))


def others_are_served(temp):
    """Eight of them, on ordinary lines: whoever chooses modestly has all of
    theirs, and the daemon answers all the while."""
    write_strings(temp)
    d = Daemon(temp, CONFIG)
    bad = [dial(f'{temp}/l.sock', {'match': HOSTILE}) for _ in range(8)]
    plain = dial(f'{temp}/l.sock', {'output': 'json'})
    modest = dial(f'{temp}/l.sock', {'match': 'c [0-9]*7$'})
    until('readers', lambda: not has('http') or d.metric('readers') == 10)
    with give(temp, 'b', dump(entry(0x10001, i) for i in range(N))):
        assert [e['args'] for e in plain.entries(N)] == [[i] for i in range(N)]
        wanted = [i for i in range(N) if i % 10 == 7]
        got = [e['args'][0] for e in modest.entries(len(wanted))]
        assert got == wanted, got
    # Who costs too much is told, and cut off.
    said = None
    for line in iter(bad[0].next, None):
        said = line
    assert said['type'] == 'error' and 'costs more' in said['text'], said
    if has('http'):
        until('all of them', lambda: d.metric('costly_total') == len(bad))
    d.stop()


def answers(temp):
    """One answer of /healthz, and how long it took."""
    began = time.monotonic()
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(PATIENCE)
        s.connect(f'{temp}/http.sock')
        s.sendall(b'GET /healthz HTTP/1.0\r\n\r\n')
        got = s.recv(4096)
    assert b' 200 ' in got, got
    return time.monotonic() - began


def long_messages(temp):
    """400 kB each: the loop turns, and a message that no pattern was tried on
    to its end is shown, with a finding."""
    write_strings(temp)
    d = Daemon(temp, CONFIG)
    bad = dial(f'{temp}/l.sock', {'match': HOSTILE, 'output': 'json'})
    until('a reader', lambda: not has('http') or d.metric('readers') == 1)
    n, longest = 40, 0
    with give(temp, 'b', dump(entry(0x10002) for _ in range(n))):
        shown = doubted = 0
        while shown < n or doubted < n:
            line = bad.next()
            shown += line['type'] == 'entry'
            doubted += (line['type'] == 'finding' and
                        line['kind'] == 'too_large' and
                        'gave up' in line['text'])
            if has('http') and shown % 8 == 1:
                longest = max(longest, answers(temp))
        assert shown == doubted == n
    print(f'{n} messages of {len(LONG)} bytes; /healthz took {longest:.3f} s at '
          'most')
    d.stop()


def conditions(temp):
    """A condition is bounded, too, and wrong ones are refused."""
    write_strings(temp)
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'where': 'a0 % 1000 == 999 && a0 > 2000'})
    until('a reader', lambda: not has('http') or d.metric('readers') == 1)
    with give(temp, 'b', dump(entry(0x10001, i) for i in range(N))):
        assert [e['args'][0] for e in lines.entries(2)] == [2999, 3999]
    bad = dial(f'{temp}/l.sock', {'where': '(' * 1000 + 'a0'})
    assert bad.next()['type'] == 'error' and bad.next() is None
    d.stop()


run(others_are_served, long_messages, conditions)
