#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""forward.py DAEMON DUMP ELF FOLLOW NODE FORWARD.JS: what a real server of
Fluent's Forward protocol is sent and acknowledges, with a shared key and
without; and peers that answer badly, or not at all."""
import gzip
import json
import os
import signal
import socket
import struct
import threading

from real import Process, check_config
import kept

from harness import (DUMP, N_ENTRIES, PATIENCE, REST, Daemon, Lacking, dial,
                     dump_frames, free_port, need, pack, producer, run, slurp, until)

NODE, SERVER = REST[1:]
CONFIG = '''drain: 1s
code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: forward, address: "tcp:localhost:%d", %s}
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "unix:$T/http.sock"}
'''


class Fluent(Process):
    """FluentServer of @fluent-org/logger."""

    def __init__(self, temp, port, *args):
        if not os.path.isdir(os.path.join(os.path.dirname(SERVER),
                                          'node_modules')):
            raise Lacking('node_modules (npm ci in tests/system/outputs)')
        self.out, self.said = f'{temp}/fluent.out', f'{temp}/fluent.log'
        with open(self.out, 'ab') as out, open(self.said, 'wb') as log:
            super().__init__(NODE, SERVER, str(port), *args, stdout=out,
                             stderr=log)
        until('the server', lambda: 'listening' in open(
            self.said, encoding='utf-8').read())

    def read(self):
        with open(self.out, 'rb') as f:
            return [json.loads(line) for line in f.read().split(b'\n')[:-1]]


def unpacked(data, at=0):
    """What of MessagePack a chunk may have: the value at a place, and its end."""
    kind = data[at]
    if kind < 0x80:
        return kind, at + 1
    if 0x80 <= kind < 0x90 or kind == 0xde:
        n, at = ((kind & 15, at + 1) if kind < 0x90 else
                 (struct.unpack_from('>H', data, at + 1)[0], at + 3))
        found = {}
        for _ in range(n):
            key, at = unpacked(data, at)
            found[key], at = unpacked(data, at)
        return found, at
    if 0x90 <= kind < 0xa0:
        found = []
        at += 1
        for _ in range(kind & 15):
            value, at = unpacked(data, at)
            found.append(value)
        return found, at
    if kind == 0xd7:
        assert data[at + 1] == 0, 'an EventTime'
        return struct.unpack_from('>II', data, at + 2), at + 10
    if kind in (0xcc, 0xcd, 0xce):
        n = 1 << kind - 0xcc
        return int.from_bytes(data[at + 1:at + 1 + n], 'big'), at + 1 + n
    widths = {0xc4: 1, 0xc5: 2, 0xc6: 4, 0xd9: 1, 0xda: 2, 0xdb: 4}
    if 0xa0 <= kind < 0xc0:
        n, at = kind & 31, at + 1
    else:
        width = widths[kind]
        n, at = int.from_bytes(data[at + 1:at + 1 + width], 'big'), at + 1 + width
    if at + n > len(data):
        raise IndexError
    value = data[at:at + n]
    return (value if kind in (0xc4, 0xc5, 0xc6) else value.decode()), at + n


class Peer:
    """Takes chunks, and answers as told."""

    def __init__(self, answer):
        self.server = socket.create_server(('127.0.0.1', 0))
        self.port = self.server.getsockname()[1]
        self.answer = answer
        self.chunks = []  # (name, sequence numbers)
        self.sizes = []  # bytes of entries, as they came
        self.connections = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            sock, _ = self.server.accept()
            self.connections += 1
            threading.Thread(target=self.serve, args=[sock], daemon=True).start()

    def serve(self, sock):
        data = b''
        try:
            while more := sock.recv(1 << 20):
                data += more
                while data:
                    try:
                        (_, entries, option), end = unpacked(data)
                    except (IndexError, struct.error):
                        break
                    data = data[end:]
                    self.take(sock, entries, option)
        except OSError:
            pass

    def take(self, sock, entries, option):
        numbers = []
        at = 0
        n_bytes = len(entries)
        if 'compressed' in option:
            assert option['compressed'] == 'gzip', option
            entries = gzip.decompress(entries)
        while at < len(entries):
            (_, record), at = unpacked(entries, at)
            numbers.append(int(record['sequence']))
        assert option['size'] == len(numbers), option
        self.sizes.append(n_bytes)
        self.chunks.append((option['chunk'], numbers))
        answer = self.answer(option['chunk'])
        if answer:
            sock.sendall(answer)

    def numbers(self):
        return [n for _, numbers in self.chunks for n in numbers]


def ack(name):
    return pack({'ack': name})


def sent(temp, keys, *args):
    port = free_port()
    peer = Fluent(temp, port, *args)
    d = Daemon(temp, CONFIG % (port, keys))
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    with producer(f'{temp}/in.sock', *dump_frames(name='dump')):
        said = live.entries(N_ENTRIES)
        until('all of them', lambda: len(peer.read()) >= N_ENTRIES)
    got = peer.read()
    assert len(got) == N_ENTRIES
    for entry, line in zip(got, said):
        record = entry['record']
        assert entry['tag'] == 'gpu.lines'
        assert entry['time'] == line['time_unix_nano'], (entry, line)
        assert record['time_unix_nano'] == entry['time']
        assert record['message'] == line['message'].removesuffix('\n')
        assert record['sequence'] == str(line['sequence'])
        assert record['id'] == line['id'] and record['source'] == 'dump'
        assert record['type'] == 'entry' and record['severity'] == 'info'
    until('acknowledged', lambda: d.metric('output_sent_total') == N_ENTRIES)
    assert d.metric('output_retried_total') == 0
    # Another one in its place has what comes then.
    peer.kill()
    with producer(f'{temp}/in.sock', *dump_frames(name='later')):
        live.entries(N_ENTRIES)
        until('its end is seen', lambda: d.metric('output_connected') == 0)
        peer = Fluent(temp, port, *args)
        until('the rest', lambda: len(peer.read()) >= 2 * N_ENTRIES)
    until('acknowledged', lambda: d.metric('output_sent_total') == 2 * N_ENTRIES)
    assert {int(e['record']['sequence']) for e in peer.read()} == set(
        range(1, 2 * N_ENTRIES + 1))
    d.stop()
    peer.kill()


def plain(temp):
    sent(temp, 'tag: gpu.lines')


def with_key(temp):
    need('TLS')
    with open(f'{temp}/key', 'w', encoding='ascii') as f:
        f.write('open sesame\n')
    sent(temp, 'tag: gpu.lines, shared_key_file: $T/key', 'open sesame')


def wrong_key(temp):
    """Nothing is sent, either side may be the one that does not know it."""
    need('TLS')
    with open(f'{temp}/key', 'w', encoding='ascii') as f:
        f.write('a guess')
    port = free_port()
    peer = Fluent(temp, port, 'open sesame')
    for keys, words in (('shared_key_file: $T/key', 'refuses our shared key'),
                        ('tag: a', 'wants a shared key')):
        d = Daemon(temp, CONFIG % (port, keys))
        live = dial(f'{temp}/l.sock', {'from': 'oldest'})
        with producer(f'{temp}/in.sock', *dump_frames()):
            live.entries(N_ENTRIES)
            until('it is said', lambda d=d, words=words: words in d.log())
        assert not peer.read()
        assert d.metric('output_sent_total') == 0
        d.kill()
        os.unlink(f'{temp}/log')
    peer.kill()


def compressed(temp):
    """Compressed by workers, in order, and a fraction as long."""
    sent(temp, 'tag: gpu.lines, compress: yes')
    sizes = {}
    for word in ('no', 'yes'):
        peer = Peer(ack)
        d = Daemon(temp, CONFIG % (peer.port, f'compress: {word}'))
        n = 100 * N_ENTRIES
        with kept.produce(temp, 100):
            until('all of them', lambda d=d, n=n:
                  d.metric('output_sent_total') == n)
        assert peer.numbers() == list(range(1, n + 1))
        sizes[word] = sum(peer.sizes)
        d.stop()
    assert sizes['yes'] < sizes['no'] / 2, sizes


def secrets(temp):
    need('TLS')
    for name, text in (('key', 'open sesame\n'), ('password', 'p\u00e4ss\n'),
                       ('guess', 'pass')):
        with open(f'{temp}/{name}', 'w', encoding='utf-8') as f:
            f.write(text)


def with_password(temp):
    secrets(temp)
    sent(temp, 'tag: gpu.lines, shared_key_file: $T/key, user: gpu, '
         'password_file: $T/password', 'open sesame', 'gpu', 'p\u00e4ss')


def wrong_password(temp):
    """Nothing is sent; who is not asked does not say it."""
    secrets(temp)
    port = free_port()
    peer = Fluent(temp, port, 'open sesame', 'gpu', 'p\u00e4ss')
    for keys, words in (
            (', user: gpu, password_file: $T/guess', 'user or password'),
            (', user: cpu, password_file: $T/password', 'user or password'),
            ('', 'wants a user and a password')):
        d = Daemon(temp, CONFIG % (port, 'shared_key_file: $T/key' + keys))
        with producer(f'{temp}/in.sock', *dump_frames()):
            until('it is said', lambda d=d, words=words: words in d.log())
        assert not peer.read() and d.metric('output_sent_total') == 0
        d.kill()
        os.unlink(f'{temp}/log')
    peer.kill()


def gathered(temp):
    """As much as batch_size goes at once, less after batch_time, or when we
    end."""
    for keys, chunks in (('batch_size: 1KiB, batch_time: 60s', range(8, 65)),
                         ('batch_size: 256KiB, batch_time: 60s', [1])):
        peer = Peer(ack)
        d = Daemon(temp, (CONFIG % (peer.port, keys)).replace('1s', '600s', 1))
        live = dial(f'{temp}/l.sock', {'from': 'oldest'})
        with producer(f'{temp}/in.sock', *dump_frames()):
            live.entries(N_ENTRIES)
            if len(chunks) == 1:
                assert d.metric('output_sent_total') == 0 and not peer.chunks
            d.stop()
        assert peer.numbers() == list(range(1, N_ENTRIES + 1))
        assert len(peer.chunks) in chunks, len(peer.chunks)


def silent(temp):
    """Who acknowledges nothing is sent the same chunks again, under the same
    names, and no more than a few; then it acknowledges."""
    answers = {'ack': False}
    peer = Peer(lambda name: ack(name) if answers['ack'] else b'')
    d = Daemon(temp, CONFIG % (peer.port, 'ack_timeout: 300ms'))
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    data = slurp(DUMP)
    n = 200 * N_ENTRIES
    with producer(f'{temp}/in.sock',
                  *(f for i in range(200)
                    for f in dump_frames(buffer=i + 1, data=data))):
        live.entries(n)
        until('three times', lambda: peer.connections >= 3 and
              len(peer.chunks) > 2 * len({c for c, _ in peer.chunks}))
        names = {}
        for name, numbers in list(peer.chunks):
            assert names.setdefault(name, numbers) == numbers
        assert len(names) <= 8, names.keys()
        assert d.metric('output_sent_total') == 0
        assert d.metric('output_retried_total') > 0
        answers['ack'] = True
        until('all is acknowledged', lambda: d.metric('output_sent_total') == n)
    assert set(peer.numbers()) == set(range(1, n + 1))
    assert d.metric('output_dropped_total') == 0
    d.stop()


def stands_still(temp):
    """The real server."""
    port = free_port()
    peer = Fluent(temp, port)
    kept.still(temp, f'type: forward, address: "tcp:127.0.0.1:{port}"',
               lambda: [int(e['record']['sequence']) for e in peer.read()
                        if e['record']['type'] == 'entry'], peer)
    peer.kill()


def bad_replies(temp):
    """Nothing that a peer says hurts: it is left, and tried again."""
    bad = [b'\xc1', ack('another'), b'\xdd\xff\xff\xff\xff', pack({'ack': 7}),
           b'\x92' + pack('HELO') + pack({'nonce': ''})]
    peer = Peer(lambda name: bad.pop(0) if bad else ack(name))
    d = Daemon(temp, CONFIG % (peer.port, 'ack_timeout: 1s'))
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    with producer(f'{temp}/in.sock', *dump_frames()):
        live.entries(N_ENTRIES)
        until('the answer', lambda: d.metric('output_sent_total') == N_ENTRIES)
    assert not bad and set(peer.numbers()) == set(range(1, N_ENTRIES + 1))
    d.stop()


class Sink:
    """A real server, which ends at any time and begins again."""

    def __init__(self, temp):
        self.temp, self.port, self.peer = temp, free_port(), None
        self.out = f'{temp}/fluent.out'

    def begin(self):
        self.end()
        self.peer = Fluent(self.temp, self.port)

    def end(self):
        if self.peer:
            self.peer.signal(signal.SIGTERM)
            self.peer.process.wait(PATIENCE)

    def records(self):
        if not os.path.exists(self.out):
            return []
        # Of a line that its end cut in two, the rest does not come.
        with open(self.out, 'rb') as f:
            lines = f.read().split(b'\n')[:-1]
        return [json.loads(line[line.rindex(b'{"tag"'):])['record']
                for line in lines]

    def entries(self):
        return [(int(r['sequence']), int(r['time_unix_nano']))
                for r in self.records() if r['type'] == 'entry']

    def keys(self):
        return f'type: forward, address: "tcp:127.0.0.1:{self.port}"'


def required(temp):
    """Nothing is lost, whoever ends; what comes twice is what was on its
    way then: eight chunks of some 64 KiB, at most, each time."""
    sink = Sink(temp)
    times = kept.killed(temp, sink.keys(), sink.entries, sink.begin)
    chunk = 64 * 1024 // min(len(json.dumps(r)) for r in sink.records()) + 64
    twice = sum(times.values()) - len(times)
    assert twice <= 12 * 8 * chunk, (twice, chunk)
    sink.end()


def required_away(temp):
    sink = Sink(temp)
    times = kept.away(temp, sink.keys(), sink.entries, sink.begin, sink.end)
    assert set(times.values()) == {1}


def required_chosen(temp):
    sink = Sink(temp)
    kept.chosen(temp, sink.keys(), sink.entries, sink.begin)
    sink.end()


def refused(temp):
    for block, place, words in (
            ('{type: forward}', '1:11', "'address' is missing"),
            ('{type: forward, address: "tcp:a.example:24224"}', '1:36',
             'wants TLS'),
            ('{type: forward, address: "unix:/a", tag: "a b"}', '1:52',
             'letters'),
            ('{type: forward, address: "unix:/a", user: a}', '1:11',
             "'password_file' is missing"),
            ('{type: forward, address: "unix:/a", user: a, password_file: b}',
             '1:53', "'shared_key_file' is missing"),
            ('{type: forward, address: "unix:/a", batch_size: 1MiB}', '1:59',
             "'batch_size' is from 1KiB to 256KiB, not "),
            ('{type: forward, address: "unix:/a", required: true}', '1:1',
             "'state_dir'")):
        check_config(temp, f'outputs: [{block}]', place, words)


if __name__ == '__main__':
    run(plain, with_key, wrong_key, compressed, with_password, wrong_password,
        gathered, silent, stands_still, bad_replies, required,
        required_away, required_chosen, refused)
