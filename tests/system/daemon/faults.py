#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""faults.py PRINTFDECODE DAEMON CLOCK DUMP ELF [FAULT...]: what goes wrong
around the daemon: garbage on its sockets, a full disk, a clock that is set,
descriptors that run out, files that are cut and replaced, a second daemon. The
daemon must go on, count what was lost and say it among the lines."""
import json
import mmap
import os
import random
import re
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import time

from harness import (PATIENCE, Buffer, Daemon, Subscriber, entry_ends, free_port,
                     until)

program, daemon, clock, dump, elf = sys.argv[1:6]
data = open(dump, 'rb').read()
entries = len(entry_ends(data))
MANY = 300  # copies of the dump for a disk to be full of
HTTP = '  - {type: http, address: "unix:$T/http.sock"}\n'
LINES = '  - {type: listen, address: "unix:$T/l"}\n'
FOLLOW = f'''code_objects: [{elf}]
inputs:
  - {{type: buffer, path: $T/b, name: b}}
outputs:
{LINES}{HTTP}'''


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f'{what}: {got}, not {wanted}')


def at_least(what, got, least):
    if got < least:
        sys.exit(f'{what}: {got}, not at least {least}')


def start(temp, config, **kwargs):
    d = Daemon(temp, config, program=daemon, **kwargs)
    s = Subscriber(f'{temp}/l', keep=True)
    s.start()
    return d, s


def finish(d, *subscribers):
    d.stop()
    for s in subscribers:
        s.join(PATIENCE)
        if s.failures:
            sys.exit(f'sequence numbers: {s.failures[:3]}')


def repeat(n):
    """A dump with all entries n times."""
    body = data[16:entry_ends(data)[-1]] * n
    return struct.pack('<QQ', len(body) // 4, 0) + body


# ---- sockets ----

def send(kind, address, message, piece=1 << 20, pause=0):
    """Bytes in pieces; the other side may close at any time."""
    s = socket.socket(kind)
    s.settimeout(PATIENCE)
    s.connect(address)
    try:
        for i in range(0, len(message), piece):
            s.sendall(message[i:i + piece])
            if pause:
                time.sleep(pause)
        s.shutdown(socket.SHUT_WR)
        got = b''
        while True:
            more = s.recv(1 << 16)
            if not more:
                return got
            got += more
    except OSError:
        return b''
    finally:
        s.close()


def sockets(temp):
    """Garbage, half messages and single bytes on each socket."""
    random.seed(1)
    capture = f'{temp}/run.pfcap'
    subprocess.run([program, 'capture', '-o', capture, dump, elf], check=True)
    frames = open(capture, 'rb').read()
    ports = free_port(), free_port(), free_port()
    d, s = start(temp, f'''inputs:
  - {{type: listen, address: "unix:$T/in"}}
  - {{type: listen, address: "tcp:127.0.0.1:{ports[0]}"}}
outputs:
{LINES}{HTTP}  - {{type: listen, address: "tcp:127.0.0.1:{ports[1]}"}}
  - {{type: http, address: "tcp:127.0.0.1:{ports[2]}"}}
''')
    unix, tcp = socket.AF_UNIX, socket.AF_INET
    places = [
        (unix, f'{temp}/in', frames),
        (tcp, ('127.0.0.1', ports[0]), frames),
        (unix, f'{temp}/l', b'{"output":"text","from":"oldest"}\n'),
        (tcp, ('127.0.0.1', ports[1]), b'{"from":1}\n'),
        (unix, f'{temp}/http.sock', b'GET /healthz HTTP/1.1\r\nHost: x\r\n'
                                    b'Connection: close\r\n\r\n'),
        (tcp, ('127.0.0.1', ports[2]), b'GET /metrics HTTP/1.1\r\nHost: x\r\n'
                                       b'Connection: close\r\n\r\n'),
    ]
    n_whole = 0
    for kind, address, good in places:
        is_input = good is frames
        for i in range(40):
            noise = random.randbytes(random.randrange(1, 3000))
            send(kind, address, noise)
            send(kind, address, good[:random.randrange(len(good))])
            flipped = bytearray(good)
            flipped[random.randrange(len(good))] ^= 1 + random.randrange(255)
            send(kind, address, bytes(flipped))
        for piece in (1, 1000):
            before = s.entries
            answer = send(kind, address, good, piece)
            if is_input:
                n_whole += 1
                until('the entries of whole frames',
                      lambda: s.entries >= before + entries)
            elif not answer:
                sys.exit(f'{address}: no answer to single bytes')
    expect('health', d.http('/healthz')[0], 200)
    bad = d.metric('bad_frames_total')
    at_least('bad frames', bad, 80)
    gaps = sum(r['reason'] == 'bad_frame' for r in s.records('gap'))
    at_least('gap records for bad frames', gaps, 80)
    finish(d, s)
    return (f'{len(places)} sockets, 120 broken messages and 2 in pieces each, '
            f'{bad:.0f} bad frames counted, {gaps} gap records, '
            f'{n_whole} whole captures decoded')


# ---- files ----

def files(temp):
    """Cut, removed, replaced while they are followed."""
    b = Buffer(f'{temp}/b', len(data))
    d, s = start(temp, FOLLOW)
    b.put(data)
    until('entries', lambda: s.entries == entries)
    os.truncate(b.path, 100)
    until('a record of the cut', lambda: s.gaps.get('truncated') == 1)
    expect('truncated', d.metric('truncated_total'), 1)
    os.unlink(b.path)
    time.sleep(0.4)
    Buffer(f'{temp}/new', len(data)).put(data)
    os.rename(f'{temp}/new', b.path)
    until('entries of another file', lambda: s.entries == 2 * entries)
    expect('replaced', d.metric('replaced_total'), 1)
    # Many times, at any moment.
    random.seed(2)
    for i in range(30):
        other = Buffer(f'{temp}/new', len(data))
        other.put(data)
        os.rename(f'{temp}/new', b.path)
        time.sleep(random.uniform(0, 0.1))
        os.truncate(b.path, random.randrange(len(data)))
        time.sleep(random.uniform(0, 0.1))
        if i % 3 == 0:
            os.unlink(b.path)
    expect('health', d.http('/healthz')[0], 200)
    Buffer(f'{temp}/new', len(data)).put(data)
    before = s.entries
    os.rename(f'{temp}/new', b.path)
    until('entries of the last file', lambda: s.entries >= before + entries)
    replaced = d.metric('replaced_total')
    cut = d.metric('truncated_total')
    finish(d, s)
    return f'{replaced:.0f} replaced and {cut:.0f} cuts counted'


# ---- disk ----

REQUIRED = f'''state_dir: $T/state
code_objects: [{elf}]
inputs:
  - {{type: buffer, path: $T/b, name: b}}
outputs:
  - {{type: file, path: $T/out.ndjson, required: true}}
{LINES}{HTTP}'''


def check_file(path, n):
    """Every line is whole and there once, and every entry is there."""
    with open(path, 'rb') as f:
        records = [json.loads(line) for line in f]
    expect('numbers', [r['sequence'] for r in records],
           list(range(1, len(records) + 1)))
    found = {r['index'] for r in records if r['type'] == 'entry'}
    expect('entries in the file', len(found), n)


def out_of_space(d, s, b, temp, grow):
    """Fills the disk, sees it said, makes room, and loses nothing."""
    whole = repeat(MANY)
    b.put(whole)
    until('the queue to fail', lambda: d.metric('queue_failing') or
          d.metric('file_errors_total'))
    until('a daemon that is not ready', lambda: d.http('/readyz')[0] == 503)
    until('why', lambda: re.search('No space left on device|File too large',
                                   d.http('/readyz')[1]))
    expect('health', d.http('/healthz')[0], 200)
    time.sleep(1)
    errors = d.metric('queue_errors_total') + d.metric('file_errors_total')
    grow()
    until('the rest', lambda: d.metric('lines_total') >= MANY * entries and
          d.http('/readyz')[0] == 200)
    until('subscribers', lambda: s.entries + s.missed >= MANY * entries)
    finish(d, s)
    check_file(f'{temp}/out.ndjson', MANY * entries)
    return (f'{MANY * entries} entries, {errors:.0f} errors counted while it '
            'was full, nothing lost, twice or broken')


def disk_limit(temp):
    """Files that may not grow (RLIMIT_FSIZE)."""
    b = Buffer(f'{temp}/b', len(repeat(MANY)))
    d, s = start(temp, REQUIRED)
    limit = resource.RLIMIT_FSIZE
    hard = resource.prlimit(d.process.pid, limit)[1]
    resource.prlimit(d.process.pid, limit, (1 << 20, hard))
    return out_of_space(d, s, b, temp, lambda: resource.prlimit(
        d.process.pid, limit, (resource.RLIM_INFINITY, hard)))


def disk_full(temp):
    """A small file system, nearly full."""
    if os.geteuid() != 0 or subprocess.run(
            ['mount', '-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', temp],
            capture_output=True).returncode != 0:
        return 'skipped: nobody but root may mount a small file system'
    elsewhere = tempfile.TemporaryDirectory()
    try:
        b = Buffer(f'{elsewhere.name}/b', len(repeat(MANY)))
        d, s = start(temp, REQUIRED.replace('$T/b', b.path))
        b.put(repeat(1))
        out = f'{temp}/out.ndjson'
        until('the first entries', lambda: os.path.exists(out) and
              open(out).read().count('"type":"entry"') == entries)
        room = os.statvfs(temp).f_bavail * os.statvfs(temp).f_bsize
        ballast = f'{temp}/ballast'
        with open(ballast, 'wb') as f:
            os.posix_fallocate(f.fileno(), 0, room - 256 * 1024)
        return out_of_space(d, s, b, temp, lambda: os.unlink(ballast))
    finally:
        subprocess.run(['umount', '-l', temp])
        elsewhere.cleanup()


# ---- time ----

def clock_steps(temp):
    """The clock is set by an hour, a day, and back, while lines come."""
    ends = entry_ends(data)
    b = Buffer(f'{temp}/b', len(data))
    with open(f'{temp}/clock', 'w+b') as f:
        f.write(bytes(8))
        f.flush()
        ahead = mmap.mmap(f.fileno(), 8)
    d, s = start(temp, REQUIRED.replace('required: true',
                                        'required: true, rotate_age: 1h'),
                 env={'LD_PRELOAD': clock, 'CLOCK_FILE': f'{temp}/clock',
                      'ASAN_OPTIONS': 'verify_asan_link_order=0:'
                      + os.environ.get('ASAN_OPTIONS', '')})
    at = 16
    n_steps = 0
    steps = [3600, -3600, 86400, 0, -86400 * 365, 86400 * 3650, 0]
    for i, end in enumerate(ends):
        b.put(data, at, end)
        at = end
        until('the entry', lambda: s.entries == i + 1)
        if i % 8 == 0:
            ahead[0:8] = struct.pack('<q', steps[i // 8 % len(steps)])
            n_steps += 1
    expect('health', d.http('/healthz')[0], 200)
    again = Subscriber(f'{temp}/l', {'from': '2001-01-01T00:00:00Z'})
    again.start()
    until('entries from a time on', lambda: again.entries == entries)
    times = [int(r['time_unix_nano']) for r in s.records()]
    backwards = sum(a > b for a, b in zip(times, times[1:]))
    at_least('times that go back', backwards, 1)
    finish(d, s, again)
    names = [n for n in os.listdir(temp) if n.startswith('out.ndjson')]
    n = 0
    for name in names:
        with open(f'{temp}/{name}') as f:
            n += sum('"type":"entry"' in line for line in f)
    expect('entries in files', n, entries)
    # One that is old by a step, either way, is so once.
    at_least('rotated files', len(names) - 1, 1)
    at_least('steps', n_steps, len(names) - 1)
    return (f'{entries} entries, times went back {backwards} times, '
            f'{len(names)} files')


# ---- descriptors ----

def descriptors(temp):
    """More clients than descriptors."""
    b = Buffer(f'{temp}/b', len(data))
    d, s = start(temp, FOLLOW)
    limit = resource.RLIMIT_NOFILE
    soft, hard = resource.prlimit(d.process.pid, limit)
    http_first = d.metric('out_of_descriptors_total')
    expect('out of descriptors', http_first, 0)
    used = len(os.listdir(f'/proc/{d.process.pid}/fd'))
    resource.prlimit(d.process.pid, limit, (used + 5, hard))
    clients = []
    for _ in range(30):
        clients.append(Subscriber(f'{temp}/l', keep=True))
        clients[-1].start()
    until('a word of it', lambda: 'cannot accept' in d.log())
    b.put(data)
    until('entries while there are none', lambda: s.entries == entries)
    resource.prlimit(d.process.pid, limit, (soft, hard))
    until('all clients', lambda: d.metric('readers') >= 31)
    n = d.metric('out_of_descriptors_total')
    at_least('out of descriptors', n, 1)
    b.clear_header()
    d.looks_again()
    b.put(data)
    until('entries for all',
          lambda: all(c.entries >= 2 * entries for c in clients))
    finish(d, s, *clients)
    return f'{n:.0f} times none was left; all 30 clients were served later'


# ---- two ----

def two(temp):
    """Two daemons: on the same sockets, and on others."""
    b = Buffer(f'{temp}/b', len(data))
    d, s = start(temp, FOLLOW)
    other = f'{temp}/other'
    os.mkdir(other)
    with open(f'{other}/same.yaml', 'w') as f:
        f.write(FOLLOW.replace('$T', temp))
    p = subprocess.run([daemon, '-c', f'{other}/same.yaml'],
                       capture_output=True, timeout=PATIENCE)
    said = p.stderr.decode()
    expect('status of the second one', p.returncode, 1)
    if 'in use' not in said or f'{temp}/l' not in said:
        sys.exit(f'no clear error: {said}')
    d2, s2 = start(other, FOLLOW.replace('$T/b', f'{temp}/b'))
    b.put(data)
    until('entries of both',
          lambda: s.entries == entries and s2.entries == entries)
    finish(d2, s2)
    finish(d, s)
    return [x for x in said.splitlines() if 'in use' in x][0]


FAULTS = (sockets, files, disk_limit, disk_full, clock_steps, descriptors, two)
for fault in FAULTS:
    if len(sys.argv) > 6 and fault.__name__ not in sys.argv[6:]:
        continue
    with tempfile.TemporaryDirectory() as temp:
        begin = time.monotonic()
        print(f'{fault.__name__}: {fault(temp)} '
              f'({time.monotonic() - begin:.1f} s)', flush=True)
