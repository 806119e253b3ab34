#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rate.py BUILD [--entries N] [--runs N] [--kind hot|mixed] [--workers N]:
how fast a buffer that is there all at once comes out of the daemon.

ingest    nobody reads: until /metrics counts all of it
FORM xN   N subscribers, until each has all lines; the floor beside it is the
          bytes that the daemon sends, ready, from a plain loop into as many
          sockets
command   `printfdecode -o FORM` into a pipe

Each run does all of them, one behind the other; medians, and ratios of pairs
of one run, are printed."""
import argparse
import os
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from harness import Buffer, Daemon

HERE = os.path.dirname(os.path.abspath(__file__))
PIECE = 256 * 1024
CONFIG = '''code_objects: [{elf}]
memory_max: 512MiB
{more}inputs:
  - {{type: buffer, path: $T/b0, name: b0}}
outputs:
  - {{type: listen, address: "unix:$T/l"}}
  - {{type: http, address: "tcp:127.0.0.1:{port}"}}
'''

parser = argparse.ArgumentParser()
parser.add_argument('build')
parser.add_argument('--entries', type=int, default=1000000)
parser.add_argument('--runs', type=int, default=3)
parser.add_argument('--kind', default='mixed')
parser.add_argument('--workers', type=int)
parser.add_argument('--port', type=int, default=18998)
parser.add_argument('--only', nargs='*')
o = parser.parse_args()
program = f'{o.build}/cli/printfdecode'
daemon = f'{o.build}/daemon/printfdecoded'


def make(temp):
    bench = f'{HERE}/../../bench'
    elf, rows, out = (f'{temp}/{o.kind}.{x}' for x in ('elf', 'rows', 'bin'))
    subprocess.run([sys.executable, f'{bench}/inputs.py', o.kind, elf, rows],
                   check=True)
    subprocess.run([f'{o.build}/tests/bench/dump', rows, str(o.entries), out],
                   check=True)
    return out, elf


def read_lines(get, n):
    """Until n lines have come, or the end."""
    data = bytearray(1 << 20)
    lines = 0
    total = 0
    while lines < n:
        got = get(data)
        if not got:
            break
        lines += data.count(b'\n', 0, got)
        total += got
    return lines, total


class Readers:
    """Processes that each read all of it; pids by pipe."""
    def __init__(self, sockets, n_lines):
        self.pids = []
        for s in sockets:
            pid = os.fork()
            if pid == 0:
                lines, _ = read_lines(s.recv_into, n_lines)
                os._exit(0 if lines >= n_lines else 1)
            s.close()
            self.pids.append(pid)

    def wait(self):
        for pid in self.pids:
            if os.waitpid(pid, 0)[1]:
                sys.exit('a reader did not get all lines')


def start(folder, elf):
    more = f'workers: {o.workers}\n' if o.workers else ''
    d = Daemon(folder, CONFIG.format(elf=elf, port=o.port, more=more),
               program=daemon)
    return d


def subscribe(folder, form):
    s = socket.socket(socket.AF_UNIX)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    s.connect(f'{folder}/l')
    s.sendall(b'{"output":"%s"}\n' % form.encode())
    return s


def go(b, data):
    b.memory[16:] = data[16:]
    begin = time.monotonic()
    b.memory[0:8] = data[0:8]
    return begin


def time_readers(data, elf, form, n_readers, n_lines):
    with tempfile.TemporaryDirectory(dir='/dev/shm') as folder:
        b = Buffer(f'{folder}/b0', len(data))
        d = start(folder, elf)
        readers = Readers([subscribe(folder, form) for _ in range(n_readers)],
                          n_lines)
        time.sleep(0.4)
        begin = go(b, data)
        readers.wait()
        seconds = time.monotonic() - begin
        cpu = d.cpu_seconds()
        d.stop()
    return seconds, cpu


def time_floor(ready, n_readers, n_lines):
    """A loop that writes what it has wherever there is room."""
    pairs = [socket.socketpair() for _ in range(n_readers)]
    for ours, theirs in pairs:
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        ours.setblocking(False)
    readers = Readers([theirs for _, theirs in pairs], n_lines)
    time.sleep(0.1)
    begin = time.monotonic()
    poll = select.epoll()
    at = {}
    for ours, _ in pairs:
        poll.register(ours, select.EPOLLOUT)
        at[ours.fileno()] = (ours, 0)
    view = memoryview(ready)
    while at:
        for fd, _ in poll.poll():
            ours, n = at[fd]
            n += ours.send(view[n:n + PIECE])
            at[fd] = ours, n
            if n == len(ready):
                poll.unregister(fd)
                at.pop(fd)
    readers.wait()
    return time.monotonic() - begin


def time_command(out, elf, form):
    begin = time.monotonic()
    p = subprocess.Popen([program, '-o', form, out, elf],
                         stdout=subprocess.PIPE, pipesize=1 << 20)
    read_lines(p.stdout.readinto, 1 << 62)
    p.wait()
    return time.monotonic() - begin


def time_ingest(data, elf):
    wanted = b'printfdecode_lines_total{type="entry"} %d\n' % o.entries
    with tempfile.TemporaryDirectory(dir='/dev/shm') as folder:
        b = Buffer(f'{folder}/b0', len(data))
        d = start(folder, elf)
        time.sleep(0.4)
        url = f'http://127.0.0.1:{o.port}/metrics'
        begin = go(b, data)
        while wanted not in urllib.request.urlopen(url).read():
            time.sleep(0.002)
        seconds = time.monotonic() - begin
        d.stop()
    return seconds


def lines_of(data, out, elf, form):
    """What a subscriber gets, and how many lines that is: those of the command
    but the summary, which in the daemon are longer, with number and time."""
    ready = subprocess.run([program, '-o', form, out, elf], check=True,
                           stdout=subprocess.PIPE).stdout
    n_lines = ready.count(b'\n') - (form == 'json')
    with tempfile.TemporaryDirectory(dir='/dev/shm') as folder:
        b = Buffer(f'{folder}/b0', len(data))
        d = start(folder, elf)
        s = subscribe(folder, form)
        time.sleep(0.4)
        go(b, data)
        pieces = []
        lines = 0
        while lines < n_lines:
            pieces.append(s.recv(1 << 20))
            lines += pieces[-1].count(b'\n')
        d.stop()
    print(f'{form}: {len(ready) / n_lines:.0f} bytes a line of the command, '
          f'{sum(map(len, pieces)) / n_lines:.0f} of the daemon')
    return b''.join(pieces), n_lines


CASES = [('json', 1), ('text', 1), ('raw', 1), ('json', 4), ('json', 8),
         ('text', 8), ('raw', 8)]


def main():
    with tempfile.TemporaryDirectory(dir='/dev/shm') as temp:
        out, elf = make(temp)
        with open(out, 'rb') as f:
            data = f.read()
        ready = {form: lines_of(data, out, elf, form)
                 for form in ('json', 'text', 'raw')}
        results = {}

        def add(name, value):
            results.setdefault(name, []).append(value)

        for _ in range(o.runs):
            if not o.only or 'ingest' in o.only:
                add('ingest', time_ingest(data, elf))
            for form, n in CASES:
                if o.only and f'{form}{n}' not in o.only:
                    continue
                text, n_lines = ready[form]
                name = f'{form} x{n}'
                seconds, cpu = time_readers(data, elf, form, n, n_lines)
                add(name, seconds)
                add(name + ' processor', cpu)
                add(name + ' floor', time_floor(text, n, n_lines))
                if n == 1:
                    add(name + ' command', time_command(out, elf, form))
        for name, values in results.items():
            line = (f'{name}: {statistics.median(values):.3f} s '
                    f'({min(values):.3f} to {max(values):.3f})')
            base = name.rsplit(' ', 1)[0]
            if name.endswith((' floor', ' command')):
                ratio = statistics.median(
                    a / b for a, b in zip(results[base], values))
                line += f'; daemon {ratio:.2f} times that'
            print(line)


main()
