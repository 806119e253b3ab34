#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""load.py DAEMON DUMP ELF PRINTFDECODE load [EDGES SECONDS RATE COPIES]: many
edges, each with a connection of its own, publish chunks that a real edge has
made, RATE of them a second, to a real nats-server; a real worker writes them
and says so to each. COPIES: how often a chunk has what is in DUMP. Prints what
came of it and what it cost; without numbers a short run that is a test."""
import asyncio
import json
import os
import struct
import time

from server import Server, program

from nats import acknowledged, edge, lines, send_data, worker

from harness import DUMP, N_ENTRIES, REST, run, skip, slurp, until, used_bytes

WINDOW = 16  # messages of an edge that nobody has written yet


def partition_of(ident):
    value = 2166136261
    for c in ident.encode():
        value = (value ^ c) * 16777619 & 0xffffffff
    return value % 64


def copied(n):
    """A dump with the entries of DUMP, n times."""
    data = slurp(DUMP)
    entries = data[16:used_bytes(data)]
    used = len(entries) * n
    return struct.pack('<IIII', used // 4, 0, 0, 0) + entries * n


class Peer:
    """A connection that plays an edge, or asks."""

    async def open(self, server, ident=None):
        self.reader, self.writer = await asyncio.open_connection(
            '127.0.0.1', server.port, limit=4 << 20)
        self.ident, self.acked, self.stored = ident, 0, 0
        self.sent_at, self.took, self.stored_after = {}, [], []
        self.news = asyncio.Event()
        self.writer.write(b'CONNECT {"verbose":false,"headers":true}\r\n'
                          b'SUB _INBOX.%d 1\r\n' % id(self))
        if ident:
            self.part = partition_of(ident)
            self.writer.write(f'SUB gpuack.v1.{self.part:02}.{ident} 2\r\n'
                              .encode())
        return self

    async def message(self):
        """(subject, headers, payload) of the next one."""
        while True:
            line = (await self.reader.readline()).split()
            if not line:
                raise EOFError
            if line[0] == b'PING':
                self.writer.write(b'PONG\r\n')
            if line[0] not in (b'MSG', b'HMSG'):
                continue
            body = await self.reader.readexactly(int(line[-1]) + 2)
            n_head = int(line[-2]) if line[0] == b'HMSG' else 0
            return line[1].decode(), body[:n_head].decode(), body[n_head:-2]

    async def ask(self, subject, payload):
        self.writer.write(b'PUB %s _INBOX.%d %d\r\n%s\r\n' % (
            subject.encode(), id(self), len(payload), payload))
        return await self.message()

    def publish(self, number, chunk):
        """Chunk `number`, from 1; each is one item of the edge."""
        head = ('NATS/1.0\r\n' + ''.join(f'{key}: {value}\r\n' for key, value in {
            'Gpulog-Edge': self.ident, 'Gpulog-First': number,
            'Gpulog-Last': number, 'Gpulog-Previous': number - 1,
            'Gpulog-Acked': self.acked, 'Gpulog-Epoch': 1,
            'Gpulog-Code': chunk[0],
            'Nats-Msg-Id': f'{self.ident}/{number}'}.items()) + '\r\n').encode()
        self.writer.write(
            b'HPUB gpulog.v1.%02d.h%s.gpu0 _INBOX.%d %d %d\r\n' % (
                self.part, self.ident[:6].encode(), id(self), len(head),
                len(head) + len(chunk[1])) + head + chunk[1] + b'\r\n')
        self.sent_at[number] = time.monotonic()

    async def listen(self):
        """Counts what the server and a worker say."""
        while True:
            try:
                subject, _, text = await self.message()
            except (EOFError, asyncio.IncompleteReadError, ConnectionError):
                return
            now = time.monotonic()
            if subject.startswith('gpuack'):
                number, _, verdict = text.split()
                assert verdict == b'ok', text
                for done in range(self.acked + 1, int(number) + 1):
                    self.took.append(now - self.sent_at.pop(done))
                self.acked = max(self.acked, int(number))
            else:
                said = json.loads(text)
                assert 'error' not in said, said
                self.stored += 1
                # The server answers in the order in which it was sent.
                if self.stored in self.sent_at:
                    self.stored_after.append(now - self.sent_at[self.stored])
            self.news.set()

    async def play(self, chunk, n, rate, delay):
        await asyncio.sleep(delay)
        begun = time.monotonic()
        for number in range(1, n + 1):
            await asyncio.sleep(begun + (number - 1) / rate - time.monotonic())
            while number - self.acked > WINDOW:
                self.news.clear()
                await self.news.wait()
            self.publish(number, chunk)
            await self.writer.drain()
        while self.acked < n:
            self.news.clear()
            await self.news.wait()


def share(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))] * 1000


def seconds_of(pid):
    """Of a processor."""
    with open(f'/proc/{pid}/stat', encoding='ascii') as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def resident(pid):
    with open(f'/proc/{pid}/statm', encoding='ascii') as f:
        return int(f.read().split()[1]) * 4096 >> 20


def items_of(payload):
    """Of the chunk in an `entries` frame."""
    at = payload.index(b'\xa5bytes', payload.index(b'\xa7entries')) + 6
    at += {0xc4: 2, 0xc5: 3, 0xc6: 5}[payload[at]]
    return struct.unpack_from('<II', payload, at)[1]


async def largest_chunk(server):
    """Of what a real edge has published: (its list of code objects, its frames,
    how many entries it has)."""
    peer = await Peer().open(server)
    best, number = ('', b''), 0
    while True:
        number += 1
        _, head, payload = await peer.ask('$JS.API.DIRECT.GET.GPULOG',
                                          b'{"seq": %d}' % number)
        if not payload:
            break
        code = [line.split(': ')[1] for line in head.split('\r\n')
                if line.startswith('Gpulog-Code')]
        if len(payload) > len(best[1]):
            best = code[0], payload
    peer.writer.close()
    return *best, items_of(best[1])


async def drive(server, w, n_edges, seconds, rate):
    chunk = await largest_chunk(server)
    n_entries = chunk[2]
    peers = []
    for i in range(n_edges):
        peers.append(await Peer().open(server, f'{i:032x}'))
    tasks = [asyncio.create_task(p.listen()) for p in peers]
    n = max(1, int(seconds * rate))
    pids = {'server': server.process.pid, 'worker': w.process.pid,
            'generator': os.getpid()}
    before = {name: seconds_of(pid) for name, pid in pids.items()}
    begun = time.monotonic()
    await asyncio.gather(*(p.play(chunk, n, rate, i / n_edges / rate)
                           for i, p in enumerate(peers)))
    took = time.monotonic() - begun
    millions = n_edges * n * n_entries / 1e6
    print(f'{n_edges} edges, {n} chunks each of {n_entries} entries and '
          f'{len(chunk[1])} bytes, in {took:.1f} s: '
          f'{n_edges * n / took:.0f} chunks/s, {millions / took:.3f} million '
          f'entries/s, {n_edges * n * len(chunk[1]) / took / 1e6:.1f} MB/s')
    for name, times in (
            ('stored', [t for p in peers for t in p.stored_after]),
            ('written', [t for p in peers for t in p.took])):
        if times:
            print(f'{name} after {share(times, 0.5):.0f} ms (median), '
                  f'{share(times, 0.99):.0f} ms (of 99 %)')
    for name, pid in pids.items():
        print(f'{name}: {(seconds_of(pid) - before[name]) / millions:.2f} s of a '
              f'processor for a million entries, {resident(pid)} MiB')
    for p in peers:
        p.writer.close()
    await asyncio.gather(*tasks)
    return n_edges * n * n_entries


def load(temp):
    n_edges, seconds, rate, copies = (
        float(os.path.basename(word))
        for word in REST[2:6] or ('30', '1', '5', '3'))
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    with send_data(temp, copied(int(copies))):
        acknowledged(e)
        until('it is written', lambda: lines(temp, 'worker'))
    e.stop()
    n = asyncio.run(drive(server, w, int(n_edges), seconds, rate))
    # Each once: also of the real edge.
    with open(f'{temp}/worker/kept.log', 'rb') as f:
        n_lines = sum(block.count(b'\n') for block in iter(
            lambda: f.read(1 << 20), b''))
    n += N_ENTRIES * int(copies)
    assert n_lines == n, (n_lines, n)
    assert w.metric('nats_duplicates_total') == 0
    w.stop()
    server.kill()


if __name__ == '__main__':
    if not program():
        skip('no nats-server')
    run(load)
