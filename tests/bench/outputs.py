#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What outputs cost next to a file of JSON: outputs.py DAEMON DUMP ELF [ENTRIES]
Each output, alone in a daemon that has one processor, gets the same entries;
its peer does nothing but what has to be done to be sent more. Best effort, where
an output can be: what the ring lets go of is said. Then what real peers take,
each on a processor of its own, and what SQLite itself needs for the same rows."""
import os
import re
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path[1:1] = [os.path.join(os.path.dirname(__file__), '..', name)
                 for name in ('daemon', 'nats', 'outputs')]

from harness import (ARGUMENTS, Daemon, dump_frames, elf_frame, free_port, http,
                     producer, until)
from load import copied, seconds_of
from real import Journald, Process, Rsyslog
from server import Server, program

COPIES = 150
PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'system', 'outputs')
# They answer as their libraries do, and leave what came.
OTLP = """const { MockOtlpServer } = require('@elastic/mockotlpserver');
new MockOtlpServer({ services: ['http'], logLevel: 'warn', httpHostname:
  '127.0.0.1', httpPort: %d, onLogs() {} }).start();"""
FORWARD = """const { FluentServer } = require('@fluent-org/logger');
new FluentServer({ listenOptions: { port: %d, host: '127.0.0.1' } }).listen();"""
# A transaction of ours has about as many rows.
ROWS = 8192
CONFIG = '''state_dir: $T/state
ring: 64MiB
memory_max: 512MiB
queue_max: 4GiB
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {%s}
  - {type: http, address: "unix:$T/http.sock"}
'''


class Sink(threading.Thread):
    """Takes what comes; `answer` says what to send back for some bytes."""

    def __init__(self, answer=None):
        super().__init__(daemon=True)
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.answer = answer
        self.start()

    def run(self):
        while True:
            try:
                peer = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.take, args=(peer,), daemon=True).start()

    def take(self, peer):
        try:
            if self.answer:
                self.answer(peer)
            while peer.recv(1 << 20):
                pass
        except OSError:
            pass


def exactly(peer, n, rest):
    """n bytes, of which some are there."""
    parts, left = [rest], n - len(rest)
    while left > 0:
        parts.append(peer.recv(min(left, 1 << 20)))
        if not parts[-1]:
            raise OSError
        left -= len(parts[-1])
    got = b''.join(parts)
    return got[:n], got[n:]


def answer_http(peer):
    rest = b''
    while True:
        while b'\r\n\r\n' not in rest:
            more = peer.recv(1 << 16)
            if not more:
                return
            rest += more
            if b'100-continue' in rest and b'\r\n\r\n' in rest:
                peer.sendall(b'HTTP/1.1 100 Continue\r\n\r\n')
        head, rest = rest.split(b'\r\n\r\n', 1)
        n = int(re.search(rb'(?i)content-length: (\d+)', head)[1])
        _, rest = exactly(peer, n, rest)
        peer.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
                     b'Content-Length: 2\r\n\r\n{}')


def answer_forward(peer):
    """[tag, bin, {"chunk": id, ...}]: the id goes back."""
    rest = b''
    while True:
        head, rest = exactly(peer, 2, rest)
        assert head[0] == 0x93 and head[1] >> 5 == 5, head
        _, rest = exactly(peer, head[1] & 31, rest)
        kind, rest = exactly(peer, 1, rest)
        form = {0xc4: '>B', 0xc5: '>H', 0xc6: '>I'}[kind[0]]
        size, rest = exactly(peer, struct.calcsize(form), rest)
        _, rest = exactly(peer, struct.unpack(form, size)[0], rest)
        while b'chunk' not in rest or len(rest) < rest.find(b'chunk') + 30:
            rest += peer.recv(1 << 16)
            if len(rest) > 1 << 20:
                raise OSError
            if b'chunk' in rest:
                break
        options, rest = rest, b''
        at = options.index(b'chunk') + 5
        n = options[at] & 31 if options[at] >> 5 == 5 else options[at + 1]
        begin = at if options[at] >> 5 == 5 else at + 1
        peer.sendall(b'\x81\xa3ack' + options[at:begin + 1 + n])
        rest = options[begin + 1 + n:]
        if rest[:5] == b'\xa4size':
            widths = {0xcc: 2, 0xcd: 3, 0xce: 5, 0xcf: 9}
            rest = rest[5 + widths.get(rest[5], 1):]


def cases(temp):
    yield 'file', 'type: file, path: $T/out.json', None
    yield ('file, required', 'type: file, path: $T/out.json, required: true',
           None)
    yield 'listen', 'type: listen, address: "unix:$T/l.sock", output: json', None
    sink = Sink()
    yield 'syslog, tcp', f'type: syslog, address: "tcp:127.0.0.1:{sink.port}"', sink
    sink = Sink(answer_forward)
    yield 'forward', f'type: forward, address: "tcp:127.0.0.1:{sink.port}"', sink
    sink = Sink(answer_http)
    yield 'otlp', f'type: otlp, url: "http://127.0.0.1:{sink.port}/v1/logs"', sink
    yield ('otlp, not packed',
           f'type: otlp, url: "http://127.0.0.1:{sink.port}/v1/logs", compress: no', sink)
    yield 'sqlite', 'type: sqlite, path: $T/out.db', None
    if program():
        server = Server(temp).start()
        yield 'nats', f'type: nats, servers: ["{server.url}"], window: 16GiB', server


class Node(Process):
    """A server of somebody else's library."""

    def __init__(self, script):
        self.port = free_port()
        super().__init__(shutil.which('node'), '-e', script % self.port,
                         cwd=PEERS, stdout=subprocess.DEVNULL)
        until('the server', self.is_up)

    def is_up(self):
        try:
            socket.create_connection(('127.0.0.1', self.port)).close()
            return True
        except OSError:
            return False


def real_peers(temp):
    """(output, whose, configuration, peer)"""
    if shutil.which('node') and os.path.isdir(f'{PEERS}/node_modules'):
        peer = Node(FORWARD)
        yield ('forward', 'FluentServer',
               f'type: forward, address: "tcp:127.0.0.1:{peer.port}"', peer)
        peer = Node(OTLP)
        yield ('otlp', 'mockotlpserver',
               f'type: otlp, url: "http://127.0.0.1:{peer.port}/v1/logs", '
               'compress: no, required: true', peer)
    else:
        print("forward and otlp are left out: 'npm ci' in tests/system/outputs")
    if Rsyslog.is_here():
        peer = Rsyslog(temp, 'tcp', free_port())
        yield ('syslog', 'rsyslogd',
               f'type: syslog, address: "tcp:127.0.0.1:{peer.port}", '
               'required: true', peer)
    else:
        print('syslog is left out: no rsyslogd')
    why = Journald.is_here()
    if not why:
        peer = Journald(temp)
        yield ('journald', 'systemd-journald',
               f'type: journald, address: "unix:{peer.socket}"', peer)
    else:
        print(f'journald is left out: {why}')


def measure_peers(top, n_buffers):
    """What they take, each on the other processor."""
    for output, name, config, peer in real_peers(top):
        temp = f'{top}/{output}-peer'
        os.mkdir(temp)
        give_processor(peer.pid(), 1)
        before = seconds_of(peer.pid())
        took, cost, missed = measure(temp, config, n_buffers, output)
        given = n_buffers * 64 * COPIES / 1e6 - missed / 1e6
        own = seconds_of(peer.pid()) - before
        print(f'{output} to {name}: {given / took:6.3f} million entries/s; '
              f'of a processor for a million: ours {cost / given:5.2f} s, the '
              f"peer's {own / given:5.2f} s, {missed:.0f} left out", flush=True)
        peer.kill()


def sqlite_itself(path):
    """The same rows into another file, by SQLite alone: seconds of a processor for
    a million."""
    db = sqlite3.connect(f'{path}.copy', isolation_level=None)
    db.execute('PRAGMA auto_vacuum = INCREMENTAL')
    for words in ('journal_mode = WAL', 'synchronous = NORMAL',
                  'temp_store = MEMORY', 'cache_size = -2048'):
        db.execute(f'PRAGMA {words}')
    db.execute('ATTACH ? AS ours', (path,))
    for (sql,) in db.execute('SELECT sql FROM ours.sqlite_master '
                             "WHERE name LIKE 'messages%'").fetchall():
        db.execute(sql)
    first, last = db.execute('SELECT min(rowid), max(rowid) FROM ours.messages'
                             ).fetchone()
    begun = time.process_time()
    for at in range(first, last + 1, ROWS):
        db.execute('INSERT INTO main.messages SELECT * FROM ours.messages '
                   'WHERE rowid >= ? AND rowid < ?', (at, at + ROWS))
    cost = time.process_time() - begun
    n = db.execute('SELECT count(*) FROM main.messages').fetchone()[0]
    return cost / n * 1e6


def subscribe(path):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(path)

    def take():
        while peer.recv(1 << 20):
            pass
    threading.Thread(target=take, daemon=True).start()


def read_metric(d, name):
    found = re.findall(rf'(?m)^printfdecode_{name}(?:\{{.*\}})? (\S+)$',
                       http(f'{d.temp}/http.sock', '/metrics')[1])
    return sum(map(float, found))


def last_work(d, patience=3):
    """When it did something for the last time, and the seconds of a processor
    that it had taken by then. Peers that are busy answer late; to be asked is no
    work."""
    seen, end = (0, 0), time.monotonic()
    while time.monotonic() - end < patience:
        now = (seconds_of(d.process.pid), read_metric(d, 'output_sent_total'))
        if now[1] != seen[1] or now[0] > seen[0] + 0.05:
            seen, end = now, time.monotonic()
        time.sleep(0.2)
    return end, seen[0]


def give_processor(pid, number):
    for thread in os.listdir(f'/proc/{pid}/task'):
        os.sched_setaffinity(int(thread), {number})


def measure(temp, config, n_buffers, name):
    d = Daemon(temp, CONFIG % config)
    give_processor(d.process.pid, 0)
    if name == 'listen':
        subscribe(f'{temp}/l.sock')
    data = copied(COPIES)
    before = seconds_of(d.process.pid)
    begun = time.monotonic()
    with producer(f'{temp}/in.sock', elf_frame(),
                  *(f for i in range(n_buffers)
                    for f in dump_frames(buffer=i + 1, name=f'b{i}', data=data))):
        until('all is decoded', lambda: read_metric(d, 'source_entries_total') >=
              n_buffers * 64 * COPIES)
        end, cost = last_work(d)
    missed = (read_metric(d, 'output_dropped_total') +
              read_metric(d, 'missed_lines_total'))
    d.stop()
    return end - begun, cost - before, missed


def main():
    n_buffers = max(1, int(os.path.basename((ARGUMENTS[3:] or ['960000'])[0])) // (64 * COPIES))
    millions = n_buffers * 64 * COPIES / 1e6
    base = None
    with tempfile.TemporaryDirectory(dir='/dev/shm') as top:
        for i, (name, config, peer) in enumerate(cases(top)):
            temp = f'{top}/{i}'
            os.mkdir(temp)
            took, cost, missed = measure(temp, config, n_buffers, name)
            given = millions - missed / 1e6
            each = cost / given if given > 0 else float('nan')
            base = base or each
            print(f'{name:16} {given / took:6.3f} million entries/s, {each:5.2f} s '
                  f'of a processor for a million, {each / base:5.2f} of a file\'s'
                  f', {missed:.0f} left out', flush=True)
            if hasattr(peer, 'kill'):
                peer.kill()
            if name == 'sqlite':
                own = sqlite_itself(f'{temp}/out.db')
                print(f'sqlite itself, copying these rows: {own:5.2f} s of a '
                      f'processor for a million; and a file: {own + base:5.2f} s',
                      flush=True)
        measure_peers(top, n_buffers)


if __name__ == '__main__':
    main()
