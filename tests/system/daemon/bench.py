#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench.py BUILD [--entries N] [--runs N] [--check]: what the daemon costs.

throughput  a buffer of N entries, from one write until a subscriber has all
            of it, against `printfdecode -o json` of the same file, into a pipe
            whose reader does the same work, and to /dev/null
latency     from a store to the subscriber, one entry each few milliseconds
idle        processor time with 64 buffers that nobody writes

Medians are printed. --check: only ratios decide, each with room for a machine
that does other things as well."""
import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from harness import Buffer, Daemon, entry_ends

HERE = os.path.dirname(os.path.abspath(__file__))
IDLE_BUFFERS = 64
# What is at most asked for by --check; the goals are 1.25 and 0.005.
SLOWER_AT_MOST = 4.0
IDLE_AT_MOST = 0.02

parser = argparse.ArgumentParser()
parser.add_argument('build')
parser.add_argument('--entries', type=int, default=1000000)
parser.add_argument('--runs', type=int, default=5)
parser.add_argument('--kinds', default='hot,mixed')
parser.add_argument('--check', action='store_true')
parser.add_argument('--only')
o = parser.parse_args()
program = f'{o.build}/cli/printfdecode'
daemon = f'{o.build}/daemon/printfdecoded'
failures = []
CONFIG = '''code_objects: [{elf}]
inputs:
{inputs}outputs:
  - {{type: listen, address: "unix:$T/l"}}
'''


def config(elf, n):
    return CONFIG.format(elf=elf, inputs=''.join(
        f'  - {{type: buffer, path: $T/b{i}, name: b{i}}}\n'
        for i in range(n)))


def make(temp, kind, entries):
    bench = f'{HERE}/../../bench'
    elf, rows, out = (f'{temp}/{kind}.{x}' for x in ('elf', 'rows', 'bin'))
    subprocess.run([sys.executable, f'{bench}/inputs.py', kind, elf, rows],
                   check=True)
    subprocess.run([f'{o.build}/tests/bench/dump', rows, str(entries), out],
                   check=True)
    return out, elf


def subscribe(temp):
    s = socket.socket(socket.AF_UNIX)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    s.settimeout(30)
    s.connect(f'{temp}/l')
    s.sendall(b'{"output":"json"}\n')
    return s


def count_lines(s, n, data=bytearray(1 << 20)):
    """Reads until n lines have come."""
    view = memoryview(data)
    lines = 0
    while lines < n:
        got = s.recv_into(view)
        if not got:
            sys.exit('the daemon closed the connection')
        lines += data.count(b'\n', 0, got)


def time_cli(out, elf):
    begin = time.monotonic()
    p = subprocess.Popen([program, '-o', 'json', out, elf],
                         stdout=subprocess.PIPE, pipesize=1 << 20)
    data = bytearray(1 << 20)
    n = 0
    while True:
        got = p.stdout.readinto(data)
        if not got:
            break
        n += data.count(b'\n', 0, got)
    p.wait()
    return time.monotonic() - begin, n


def time_null(out, elf):
    begin = time.monotonic()
    subprocess.run([program, '-o', 'json', out, elf],
                   stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def time_daemon(out, elf, entries):
    """A subscriber, and a buffer that is there all at once."""
    with tempfile.TemporaryDirectory(dir='/dev/shm') as temp:
        with open(out, 'rb') as f:
            data = f.read()
        b = Buffer(f'{temp}/b0', len(data))
        d = Daemon(temp, config(elf, 1), program=daemon)
        s = subscribe(temp)
        time.sleep(0.4)
        b.memory[16:] = data[16:]
        begin = time.monotonic()
        b.memory[0:8] = data[0:8]
        count_lines(s, entries)
        seconds = time.monotonic() - begin
        cpu = d.cpu_seconds()
        d.stop()
    return seconds, cpu


def throughput(temp):
    for kind in o.kinds.split(','):
        out, elf = make(temp, kind, o.entries)
        cli, null, ours, cpus = [], [], [], []
        for _ in range(o.runs):
            seconds, n = time_cli(out, elf)
            if n < o.entries:
                sys.exit(f'{n} lines of {o.entries}')
            cli.append(seconds)
            null.append(time_null(out, elf))
            seconds, cpu = time_daemon(out, elf, o.entries)
            ours.append(seconds)
            cpus.append(cpu)
        ratio = statistics.median(a / b for a, b in zip(ours, cli))
        print(f'throughput, {kind}, {o.entries} entries: printfdecode '
              f'{statistics.median(cli):.3f} s, daemon '
              f'{statistics.median(ours):.3f} s (processor '
              f'{statistics.median(cpus):.3f} s), ratio {ratio:.2f}')
        if ratio > SLOWER_AT_MOST:
            failures.append(f'throughput: ratio {ratio:.2f}')


def latency(temp, n=2000):
    """Of entries that are stored one by one."""
    out, elf = make(temp, 'hot', n + 100)
    with open(out, 'rb') as f:
        data = f.read()
    ends = entry_ends(data)
    with tempfile.TemporaryDirectory(dir='/dev/shm') as folder:
        b = Buffer(f'{folder}/b0', len(data))
        d = Daemon(folder, config(elf, 1), program=daemon)
        s = subscribe(folder)
        time.sleep(0.4)
        times = []
        at = 16
        for i, end in enumerate(ends):
            begin = time.monotonic()
            b.put(data, at, end)
            at = end
            s.settimeout(5)
            s.recv(1 << 16)
            if i >= 100:
                times.append((time.monotonic() - begin) * 1000)
            time.sleep(0.0005 + i % 7 * 0.0003)
        d.stop()
    times.sort()
    print(f'latency, store to subscriber, {n} entries: median '
          f'{times[n // 2]:.2f} ms, p90 {times[n * 90 // 100]:.2f} ms, p99 '
          f'{times[n * 99 // 100]:.2f} ms, longest {times[-1]:.2f} ms')
    # A poll's turn is a millisecond: of two looks, at least one.
    if times[n // 2] > 50:
        failures.append('latency: the median is no poll or two')


def idle(temp, seconds=10):
    out, elf = make(temp, 'hot', 1000)
    with open(out, 'rb') as f:
        data = f.read()
    with tempfile.TemporaryDirectory(dir='/dev/shm') as folder:
        buffers = [Buffer(f'{folder}/b{i}', len(data))
                   for i in range(IDLE_BUFFERS)]
        d = Daemon(folder, config(elf, IDLE_BUFFERS), program=daemon)
        s = subscribe(folder)
        time.sleep(0.4)
        for b in buffers:
            b.put(data)
        count_lines(s, 1000 * IDLE_BUFFERS)
        time.sleep(12)
        before = d.cpu_seconds()
        begin = time.monotonic()
        time.sleep(seconds)
        share = (d.cpu_seconds() - before) / (time.monotonic() - begin)
        d.stop()
    print(f'idle, {IDLE_BUFFERS} buffers: {share * 100:.2f} % of a processor')
    if share > IDLE_AT_MOST:
        failures.append(f'idle: {share * 100:.2f} %')


with tempfile.TemporaryDirectory() as temp:
    for name, what in (('throughput', throughput), ('latency', latency),
                       ('idle', idle)):
        if not o.only or o.only == name:
            what(temp)
if failures:
    print('\n'.join(failures))
    sys.exit(o.check)
