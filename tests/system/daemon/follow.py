#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""follow.py DAEMON DUMP ELF FOLLOW: what `printfdecode follow` makes of a
daemon's lines: forms, choices, exit status, and whoever is no daemon."""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading

from harness import (DUMP, ELF, N_ENTRIES, PATIENCE, REST, START, Daemon, dial,
                     dump_frames, elf_frame, frame, free_port, idle, producer, run,
                     slurp, until)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'make'))
import llpc_cases as box  # noqa: E402

FOLLOW = REST[0]
PIXEL = box.Str(0x51, 'pixel %d,%d: %f\n', '448')
OTHERS = [box.Str(0x52 + i, f'other{i} %d\n', '4') for i in range(3)]
CONFIG = '''code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
'''
ID = '0x9fe7282b62d4'
N_OF_ID = 13
CUT = os.path.join(os.path.dirname(DUMP), 'h200_cut.bin')


def follow(*args, until_idle=idle(1), env=None):
    p = subprocess.run([FOLLOW, 'follow', '--until-idle', until_idle, *args],
                       check=False, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=PATIENCE, env=env)
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


def with_http(temp):
    """A daemon that has all entries; the addresses of its socket and by HTTP."""
    web = free_port()
    d = Daemon(temp, CONFIG + '  - {type: http, address: "tcp:127.0.0.1:%d"}\n'
               % web)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    producer(f'{temp}/in.sock', elf_frame(), *dump_frames())
    lines.entries(N_ENTRIES)
    return d, (f'{temp}/l.sock', f'http://127.0.0.1:{web}')


def chosen(temp):
    d, addresses = with_http(temp)
    for at in addresses:
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


def unknown_names_are_told(temp):
    """A name that no entry has so far is said once, on a socket and by HTTP; a
    name that one has is not."""
    d, addresses = with_http(temp)
    for at in addresses:
        for form in 'text', 'json':
            rc, out, err = follow('--from', 'oldest', '-o', form, '--where',
                                  'hots == "node1"', at)
            assert (rc, out) == (3, b''), (rc, out)
            assert re.fullmatch(r"printfdecode: so far: no format string has an argument "
                                r"'hots', and no entry has it; near to it: host; "
                                r"there (is|are) .*\n", err), err
        rc, out, err = follow('--from', 'oldest', '--where', 'source != ""', at)
        assert (rc, err) == (0, '') and out, (rc, err)
    d.stop()


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


def collapses(temp):
    d, at, oldest = started(temp, slurp(DUMP), slurp(DUMP))
    every = *oldest, '-n', str(2 * N_ENTRIES)
    for how in ('--collapse',), ('--collapse=equal',), ('--collapse', '--window', '1'):
        rc, out, err = follow(*how, *every, at, until_idle='60')
        assert (rc, err) == (0, ''), err
        wanted = decoded(*how, DUMP, ELF)
        assert out == wanted + wanted, (how, out)
        rc, out, err = follow(*how, '-o', 'json', *every, at, until_idle='60')
        own = 'last_sequence', 'last_time_unix_nano'
        got = [{k: v for k, v in r.items() if k not in own}
               for r in lines_of(out)]
        wanted = [r for r in lines_of(decoded(*how, '-o', 'json', DUMP, ELF))
                  if r['type'] == 'entry']
        assert got == wanted + wanted, how
        for r in map(json.loads, out.splitlines()):
            assert r['sequence'] >= 1 and 'time_unix_nano' in r, r
            assert r.get('last_sequence', N_ENTRIES) - r['sequence'] < N_ENTRIES
    # What is wanted is counted before it is collapsed.
    rc, out, err = follow('--collapse', '--id', ID, '-n', '5', *oldest, at,
                          until_idle='60')
    assert rc == 0 and out.count(b'\n') == 1 and '\u00d75'.encode() in out, out
    for args in ('--ack', '-o', 'json'), ('-o', 'raw'), ('--ack',):
        rc, out, err = follow('--collapse', *args, at)
        assert (rc, out) == (1, b''), (args, out)
    d.stop()


def what_waits_is_said(temp):
    """Findings stay in their place; a pause ends what goes on no longer."""
    d, at, oldest = started(temp, slurp(DUMP), slurp(CUT))
    until('the end of it', lambda: b'overflow' in follow(
        '-o', 'json', *oldest, at)[1])
    plain = follow(*oldest, at)[1].decode().splitlines()
    rc, out, err = follow('--collapse', *oldest, at)
    out = out.decode().splitlines()
    assert rc == 2, rc
    told = [line for line in plain if line.startswith('! ')]
    assert told and [line for line in out if line.startswith('! ')] == told, out
    for line in told:  # behind the entry that it is about, if there is one
        before = plain[plain.index(line) - 1]
        assert before.startswith('! ') or 'so far' in line or \
            out[out.index(line) - 1] == before or '\u00d7' in out[
                out.index(line) - 1], (line, before)
    with subprocess.Popen([FOLLOW, 'follow', '--collapse', *oldest, at],
                          stdout=subprocess.PIPE) as p:
        for line in out:
            assert p.stdout.readline().decode().rstrip('\n') == line
        p.terminate()
    d.stop()


def patterns_of_the_daemon(temp):
    """It matches: here patterns are for colour, and not needed without."""
    d, at, oldest = started(temp, slurp(DUMP))
    wanted = follow('--match', '^[a-m]', *oldest, at)
    assert wanted[1], wanted
    colored = follow('--color=always', '--match', '^[a-m]', *oldest, at)
    assert b'\033[1;31m' in colored[1], colored
    os.mkdir(f'{temp}/none')
    with open(f'{temp}/none/libpcre2-8.so.0', 'wb'):
        pass  # no library
    path = [f'{temp}/none', os.environ.get('LD_LIBRARY_PATH', '')]
    env = dict(os.environ, LD_LIBRARY_PATH=':'.join(filter(None, path)))
    assert follow('--match', '^[a-m]', *oldest, at, env=env) == wanted
    rows = follow('-o', 'json', '--match', '^[a-m]', *oldest, at, env=env)
    assert rows[0] == wanted[0] and rows[1], rows
    plain = follow('--color=always', '--match', '^[a-m]', *oldest, at, env=env)
    assert plain[0] == wanted[0] and b'\033[1;31m' not in plain[1], plain
    d.stop()


def refusals(temp):
    d, at, _ = started(temp)
    bad = '(a+)+{9}', at
    for args, why in ((('--match', *bad), 'refused: '),
                      (('--color=always', '--match', *bad), 'quantifier does not follow'),
                      (('--from', 'yesterday', at), "refused: 'from' is"),
                      ((f'{temp}/in.sock',), 'refused: producers connect')):
        rc, out, err = follow(*args)
        assert (rc, out) == (1, b''), (args, rc, out)
        assert why in err and err.count('\n') == 1, err
    d.stop()


def lines_of(data):
    """Without what a daemon says of its own."""
    return [{k: v for k, v in json.loads(line).items()
             if k not in ('sequence', 'time', 'time_unix_nano', 'origin',
                          'source')} for line in data.splitlines()]


def decoded_already(temp):
    """Entries that come as such, of a capture or of another daemon, are what
    they were, and what is none is a gap and harms nobody."""
    d, at, oldest = started(temp, slurp(DUMP))
    wanted = follow('-o', 'json', *oldest, at)[1]
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(at)
        s.sendall(b'{"output":"entries","from":"oldest"}\n')
        s.shutdown(socket.SHUT_WR)
        stream = s.makefile('rb').read()
    subprocess.run([FOLLOW, 'capture', '--entries', '-o', f'{temp}/e.pfcap',
                    DUMP, ELF], check=True, stderr=subprocess.DEVNULL)
    for name, data in ('other', stream), ('capture', slurp(f'{temp}/e.pfcap')):
        os.mkdir(f'{temp}/{name}')
        b = Daemon(f'{temp}/{name}', CONFIG)
        lines = dial(f'{temp}/{name}/l.sock', {'from': 'oldest'})
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(f'{temp}/{name}/in.sock')
            s.sendall(data)
        lines.entries(N_ENTRIES)
        rc, out, err = follow('-o', 'json', *oldest, f'{temp}/{name}/l.sock')
        assert (rc, err) == (0, ''), (name, rc, err, out[-300:])
        assert lines_of(out) == lines_of(wanted), name
        until('the sum', lambda: f'ended: {N_ENTRIES} entries' in b.log())
        b.stop()
    # Of any bytes; and of a buffer that nobody has spoken of.
    for chunk in b'', b'x' * 100, stream[-300:]:
        for known in True, False:
            given = frame('entries', buffer=1 if known else 2,
                                 sequence=1, bytes=chunk)
            producer(f'{temp}/in.sock',
                     frame('buffer', buffer=1, name='none', size=8),
                     given).close()
    until('gaps', lambda: follow('-o', 'json', *oldest, at)[1].count(
        b'"reason":"bad_frame"') >= 6)
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


def pixels(first, n):
    return [PIXEL(i % 16, i // 16, i / 4) for i in range(first, first + n)]


def says(temp, name, strings, entries):
    """A producer with a code object of its own."""
    return producer(f'{temp}/in.sock', frame(
        'code_object', code_object=1, name='own.elf',
        bytes=box.image(*strings)), *dump_frames(name=name,
                                                 data=box.buffer(*entries)))


def bare(temp, to, *entries):
    """The picture of these, from a file."""
    for name, data in (('dump.bin', box.buffer(*entries)),
                       ('app.elf', box.image(PIXEL))):
        with open(f'{temp}/{name}', 'wb') as f:
            f.write(data)
    subprocess.run([FOLLOW, 'plot', *HEAT, '--to', to, f'{temp}/dump.bin',
                    f'{temp}/app.elf'], check=True)
    return slurp(to)


HEAT = ['heat', '--x', 'pixel', '--y', '1', '--value', '2', '--bare']


def pictures(temp):
    """Of a daemon's entries, drawn again as they come; those of two producers
    whose strings are the same text at other places of their sets."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    at = f'{temp}/l.sock'
    to = f'{temp}/live.png'
    half = bare(temp, f'{temp}/half.png', *pixels(0, 128))
    whole = bare(temp, f'{temp}/whole.png', *pixels(0, 256))
    assert half != whole
    with subprocess.Popen(
            [FOLLOW, 'plot', *HEAT, '--live=50', '--to', to, '--from',
             'oldest', '--format-string', '^pixel', at],
            stderr=subprocess.PIPE) as p:
        says(temp, 'a', [*OTHERS, PIXEL],
             [OTHERS[0](1), *pixels(0, 128), OTHERS[1](2)])
        until('half of it', lambda: os.path.exists(to) and slurp(to) == half)
        says(temp, 'b', [OTHERS[2], PIXEL], [*pixels(128, 128), OTHERS[2](3)])
        until('all of it', lambda: slurp(to) == whole)
        p.send_signal(signal.SIGINT)
        err = p.stderr.read().decode()
        assert (p.wait(PATIENCE), err) == (0, ''), err
    lines.entries(259)
    for words, rc, why in (
            ([], 0, "what is drawn is 'other0 %d'"),
            (['--format-string', 'nowhere'], 1, 'nothing to draw'),
            (['--ack'], 1, '--ack'),
            (['--skip', '1'], 1, '--skip is not')):
        words = [*HEAT[:1], '--x', '0', '--y', '0', '--live', '--force', '--to', to,
                 '--until-idle', idle(1), '--from', 'oldest', *words]
        p = subprocess.run([FOLLOW, 'plot', *words, at], check=False,
                           stderr=subprocess.PIPE, timeout=PATIENCE)
        assert p.returncode == rc and why in p.stderr.decode(), (words, p)
    p = subprocess.run([FOLLOW, 'plot', *HEAT, '--live', '--force', '--to', to, '--from',
                        'oldest', f'{temp}/dump.bin'], check=False,
                       stderr=subprocess.PIPE, timeout=PATIENCE)
    assert p.returncode == 1 and b'are for a daemon' in p.stderr, p
    d.stop()


def traces(temp):
    """-o perfetto: entries of two producers, each read with its own strings."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    at = f'{temp}/l.sock'
    for i in range(3):
        says(temp, f'a{i}', [*OTHERS, PIXEL],
             [OTHERS[0](i), *pixels(0, 3), box.entry(0xbadbad, b'1234')])
        says(temp, f'b{i}', [OTHERS[2], PIXEL], [*pixels(3, 4), OTHERS[2](i)])
        lines.entries(10)
    p = subprocess.run([FOLLOW, 'follow', '-o', 'perfetto', '--from', 'oldest',
                        '--until-idle', idle(1), at], check=False,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=PATIENCE)
    assert p.returncode == 2 and b'unknown_id' in p.stderr, p.stderr
    assert follow('-o', 'perfetto', '-n', '2', '--from', 'oldest', at)[0] == 0
    if shutil.which('protoc'):
        check_trace(p.stdout)
    else:
        print('no protoc: traces are not read')
    d.stop()


def check_trace(trace):
    read = subprocess.run(
        ['protoc', '--decode=perfetto.protos.Trace', '--proto_path=' +
         os.path.join(HERE, '..', 'trace'), 'trace.proto'], input=trace,
        check=True, capture_output=True, timeout=PATIENCE).stdout.decode()
    said = re.findall(r'string_value: "(pixel.*|other.*)\\n"', read)
    wanted = [f'pixel {i},0: {i / 4:f}' for i in range(7)] * 3
    wanted += [f'other{k} {i}' for k in (0, 2) for i in range(3)]
    assert sorted(said) == sorted(wanted), said
    names = re.findall(r'name: "(.*)"', read)
    for name in 'pixel %d,%d: %f', 'other0 %d', 'other2 %d', 'unknown id':
        assert names.count(name) == 1, names  # and then by its number
    assert read.count('type: TYPE_INSTANT') == 30, read.count('TYPE_INSTANT')
    assert read.count('type: TYPE_COUNTER') == 3 * (7 * 3 + 2)


def tables(temp):
    """What the daemon numbered is a column of what it sent."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    for i in range(3):
        says(temp, f'p{i}', [*OTHERS, PIXEL],
             [*pixels(0, i), OTHERS[0](1), box.entry(0xbad, b'1234'),
              *pixels(i, 5)])
    records = lines.take(24)
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(f'{temp}/l.sock')
        s.sendall(b'{"output":"entries","from":"oldest"}\n')
        s.shutdown(socket.SHUT_WR)
        with open(f'{temp}/sent', 'wb') as f:
            f.write(s.makefile('rb').read())
    for words in ([], ['--threads', '4'], ['--where', 'pixel > 0']):
        out = subprocess.run(
            [FOLLOW, 'table', '-o', 'json', '--format-string', '^pixel',
             *words, f'{temp}/sent'], check=False, timeout=PATIENCE,
            stdout=subprocess.PIPE).stdout
        got = [json.loads(line) for line in out.splitlines()]
        wanted = [(r['sequence'], r['args'][0]) for r in records
                  if (r.get('format_string') or '').startswith('pixel') and
                  (not words or words[0] != '--where' or r['args'][0])]
        assert [(r['sequence'], r['pixel.x']) for r in got] == wanted, out
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
                (b'{"type":"entry","mess', 'no printfdecoded that sends'),
                (b'{"type":"error","text":"cut', 'refused: cut'),
                (START[:9], 'cut'),
                (START + elf_frame()[:-1], 'cut'),
                (START + b'\xff' * 64, 'byte 16'),
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


run(forms, chosen, collapses, what_waits_is_said, unknown_names_are_told,
    doubt_is_the_exit_status, decoded_already, patterns_of_the_daemon, refusals,
    wrong_door, pictures, traces, tables, strangers)
