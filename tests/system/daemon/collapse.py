#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collapse.py DAEMON DUMP ELF COMMAND: subscribers that want runs of entries
as one line get what `printfdecode --collapse` says of the same buffer; what
waits is said in a pause and at the end, and never twice."""
import json
import os
import socket
import subprocess

from harness import (DUMP, ELF, N_ENTRIES, PATIENCE, REST, Daemon, dial,
                     dump_frames, elf_frame, free_port, has, producer, run, slurp,
                     until)

COMMAND = REST[0]
CUT = os.path.join(os.path.dirname(DUMP), 'h200_cut.bin')
CONFIG = '''code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
'''
HTTP = '  - {type: http, address: "tcp:127.0.0.1:%d"}\n'
WAYS = (({'fields': True}, ['--fields']),
        ({'collapse': True}, ['--collapse']),
        ({'collapse': 'equal'}, ['--collapse=equal']),
        ({'collapse': 'true', 'window': 1}, ['--collapse', '--window', '1']))
OWN = ('sequence', 'time', 'time_unix_nano', 'origin', 'source',
       'last_sequence', 'last_time_unix_nano')


def decoded(*args):
    done = subprocess.run([COMMAND, *args], check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    assert done.returncode in (0, 2), done
    return done.stdout


def bare(record):
    return {k: v for k, v in record.items() if k not in OWN}


def entries_of(text):
    return [bare(r) for r in map(json.loads, text.splitlines())
            if r['type'] == 'entry']


def everything(path, request):
    """Of a subscriber that ends its own side."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(PATIENCE)
        s.connect(path)
        s.sendall(json.dumps(request).encode() + b'\n')
        s.shutdown(socket.SHUT_WR)
        return s.makefile('rb').read()


def fed(temp, config=CONFIG, dump=DUMP):
    d = Daemon(temp, config)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    producer(f'{temp}/in.sock', elf_frame(), *dump_frames(data=slurp(dump)))
    lines.entries(N_ENTRIES if dump == DUMP else 8)
    return d


def as_the_command_has_it(temp):
    d = fed(temp)
    for keys, words in WAYS:
        request = dict(keys, **{'from': 'oldest'})
        got = everything(f'{temp}/l.sock', dict(request, output='text'))
        assert got == decoded(*words, DUMP, ELF), got
        got = everything(f'{temp}/l.sock', request)
        assert entries_of(got) == entries_of(
            decoded(*words, '-o', 'json', DUMP, ELF)), got
        for r in map(json.loads, got.splitlines()):
            first, n = r['sequence'], r.get('collapsed', 1)
            assert first >= 1 and 'time_unix_nano' in r, r
            assert n == 1 or r['last_sequence'] >= first + n - 1, r
    chosen = everything(f'{temp}/l.sock', {
        'from': 'oldest', 'collapse': True, 'match': 'bool 1', 'output': 'text'})
    assert chosen == decoded('--collapse', '-m', 'bool 1', DUMP, ELF), chosen
    d.stop()


def a_pause_ends_them(temp):
    """All that was sent is there, although nothing comes behind it."""
    d = fed(temp, dump=CUT)
    plain = everything(f'{temp}/l.sock', {'from': 'oldest', 'output': 'text'})
    told = [line for line in plain.splitlines() if line.startswith(b'! ')]
    until('the end of it', lambda: b'overflow' in everything(
        f'{temp}/l.sock', {'from': 'oldest', 'output': 'text'}))
    lines = dial(f'{temp}/l.sock', {'from': 'oldest', 'collapse': True})
    n = 0
    found = []
    while n < 8 or 'overflow' not in found:
        r = lines.next()
        n += r.get('collapsed', 1) if r['type'] == 'entry' else 0
        found += [r['kind']] if r['type'] == 'finding' else []
    assert n == 8, n
    # Another one, later: a line of its own, and none again.
    producer(f'{temp}/in.sock', elf_frame(), *dump_frames(name='c'))
    n = 0
    while n < N_ENTRIES:
        r = lines.next()
        if r['type'] == 'entry':
            assert r['source'] == 'c', r
            n += r.get('collapsed', 1)
    assert n == N_ENTRIES and lines.is_quiet(1.5)
    assert told or plain
    d.stop()


def runs_are_of_one_buffer(temp):
    d = fed(temp)
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(name='c')):
        def sources():
            got = everything(f'{temp}/l.sock', {'from': 'oldest',
                                                'collapse': True})
            counted = {}
            for r in map(json.loads, got.splitlines()):
                counted.setdefault(r['source'], 0)
                counted[r['source']] += r.get('collapsed', 1)
            return counted
        until('both', lambda: sources() == {'b': N_ENTRIES, 'c': N_ENTRIES})
    d.stop()


OUTPUTS = CONFIG + '''  - {type: file, path: $T/text, output: text, collapse: true}
  - {type: file, path: $T/json, collapse: equal}
  - {type: file, path: $T/each, output: text, collapse: true, window: 1}
  - {type: listen, address: "unix:$T/runs.sock", output: text, collapse: true}
'''


def outputs_have_them(temp):
    """In a pause, and all of it when the daemon ends."""
    def written(name):
        path = f'{temp}/{name}'
        return slurp(path) if os.path.exists(path) else b''
    d = fed(temp, OUTPUTS)
    text = decoded('--collapse', DUMP, ELF)
    until('the runs', lambda: written('text') == text)
    assert everything(f'{temp}/runs.sock', {'from': 'oldest'}) == text
    # Who asks may want it otherwise.
    assert everything(f'{temp}/runs.sock', {
        'from': 'oldest', 'collapse': False}) == decoded(DUMP, ELF)
    each = decoded('--collapse', '--window', '1', DUMP, ELF)
    until('each', lambda: written('each') == each)
    producer(f'{temp}/in.sock', elf_frame(), *dump_frames(name='c'))
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    lines.entries(2 * N_ENTRIES)
    d.stop()
    said = entries_of(written('json'))
    assert sum(r.get('collapsed', 1) for r in said) == 2 * N_ENTRIES, said
    assert written('text') == 2 * text


def events(temp):
    """An event has an id only where nothing waits: going on behind one, nothing
    is lost."""
    port = free_port()
    d = fed(temp, CONFIG + HTTP % port)
    with socket.create_connection(('127.0.0.1', port)) as s:
        s.settimeout(PATIENCE)
        s.sendall(b'GET /events?from=oldest&collapse=true HTTP/1.1\r\n'
                  b'Host: localhost\r\n\r\n')
        data = b''
        while f'id: {N_ENTRIES}\n\n'.encode() not in data:
            more = s.recv(65536)
            assert more, data
            data += more
    n = 0
    for line in data.decode().splitlines():
        if line.startswith('data: '):
            n += json.loads(line[6:]).get('collapsed', 1)
        elif line.startswith('id: '):
            assert int(line[4:]) == n, (line, n)
    assert n == N_ENTRIES, n
    d.stop()


run(as_the_command_has_it, a_pause_ends_them,
    runs_are_of_one_buffer, outputs_have_them, *([events] if has('http') else []))
