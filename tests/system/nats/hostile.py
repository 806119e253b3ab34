#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile.py DAEMON DUMP ELF PRINTFDECODE GROUP: somebody else may publish at the
servers, and publishes what is to stop, fill or mislead edges, workers and the
command."""
import collections
import hashlib
import json
import os
import random
import re
import socket
import subprocess
import threading
import time

from server import Server, program

from nats import WORKER, acknowledged, edge, lines, make, same, send, worker

from harness import (ELF, N_ENTRIES, PROGRAM, REST, frame, is_sanitized, run, skip, slurp,
                     until)

PRINTFDECODE = REST[0]
JUNK = 'gpulog.v1.%02d.h.g'


class Stranger:
    """A connection that publishes, however often, without a word back."""

    def __init__(self, server, user=None):
        self.socket = socket.create_connection(('127.0.0.1', server.port))
        said = {'verbose': False, 'headers': True, **(user or {})}
        self.socket.sendall(f'CONNECT {json.dumps(said)}\r\n'.encode())

    def publish(self, subject, payload=b'', head=b''):
        if head:
            self.socket.sendall(
                f'HPUB {subject} {len(head)} {len(head) + len(payload)}'
                '\r\n'.encode() + head + payload + b'\r\n')
        else:
            self.socket.sendall(f'PUB {subject} {len(payload)}\r\n'.encode() +
                                payload + b'\r\n')

    def subscribe(self, subject):
        self.socket.sendall(f'SUB {subject} 1\r\n'.encode())

    def flush(self):
        """All of it is with the server; what it says against it."""
        self.socket.sendall(b'PING\r\n')
        said = b''
        while b'PONG\r\n' not in said:
            more = self.socket.recv(65536)
            assert more, said
            said += more
        return re.findall(rb"-ERR '([^']*)'", said)


def head_of(**headers):
    return ('NATS/1.0\r\n' + ''.join(f'{key.replace("_", "-")}: {value}\r\n'
                                     for key, value in headers.items()) +
            '\r\n').encode()


def of_edge(name, first=1, last=1, previous=0, **more):
    return head_of(Gpulog_Edge=name, Gpulog_First=first, Gpulog_Last=last,
                   Gpulog_Previous=previous, Gpulog_Acked=0, Gpulog_Epoch=1,
                   **more)


def partition_of(edge_id):
    number = 2166136261
    for c in edge_id.encode():
        number = (number ^ c) * 16777619 & 0xffffffff
    return number % 64


def identity(temp, name='edge'):
    with open(f'{temp}/{name}/state/edge', encoding='ascii') as f:
        return f.read().strip()


def highest_memory(d):
    """KiB, of what was ever in memory at once."""
    with open(f'/proc/{d.process.pid}/status', encoding='ascii') as f:
        return int(re.search(r'VmHWM:\s+(\d+)', f.read())[1])


def stays_below(d, mib):
    """What a sanitizer keeps is not the daemon's."""
    print('at most', highest_memory(d) // 1024, 'MiB')
    assert is_sanitized(PROGRAM) or highest_memory(d) < mib << 10


def begin(temp, more=''):
    server = Server(temp).start()
    w = make(temp, 'worker', more + WORKER % server.url)
    until('a worker', lambda: w.metric('nats_partitions') == 64)
    return server, w


def end(server, *daemons):
    for d in daemons:
        d.stop()
    server.kill()


# What the server says of a message that it hands out in headers, said by others.
TRANSPORT = (
    {'Nats_Time_Stamp': 'x'}, {'Nats_Sequence': 'x'},
    {'Nats_Sequence': 2 ** 63 - 1}, {'Nats_Sequence': '-5'},
    {'Nats_Subject': 'gpulog.v1.63.a.b'}, {'Nats_Stream': 'GPUACK'},
    {'Status': '404 Message Not Found'}, {'Status': '503'},
    {'Nats_Last_Sequence': 'x'},
)
HEADS = tuple(head_of(**each) for each in TRANSPORT) + (
    b'x', b'NATS/1.0', b'\r\n\r\n', b'NATS/1.0\r\nno colon\r\n\r\n',
    b'NATS/1.0\r\nNats-Sequence: 1\r\nGpulog-Edge', b'\0' * 40)


def transport_headers(temp):
    """Whatever a message says of itself, those behind it come, also after a
    restart, and what it was is counted and said."""
    server, w = begin(temp)
    e = edge(temp, server)
    with send(temp, 2):
        same(temp, 2)
        acknowledged(e)
        stranger = Stranger(server)
        mine = partition_of(identity(temp))
        for part in {mine, 7}:
            for head in HEADS:
                for payload in (b'', b'payload'):
                    stranger.publish(JUNK % part, payload, head)
            stranger.publish(f'gpulog.v1.{part:02}.h.\0"\xff', b'x')
        stranger.flush()
    n = 2 * len(HEADS)
    with send(temp, 2, first=10):
        same(temp, 4)
        acknowledged(e)
    until('all counted', lambda: w.metric('nats_refused_total') >= n)
    assert 'is none of an edge' in w.log(), w.log()
    w.kill()
    w.start()
    with send(temp, 2, first=20):
        same(temp, 6)
        acknowledged(e)
    done = subprocess.run([PRINTFDECODE, 'replay', '--nats', server.url, '-o',
                           'json'], check=False, capture_output=True)
    assert done.returncode == 2, done.stderr
    assert done.stdout.count(b'\n') == 6 * N_ENTRIES, done.stderr
    assert b'it is none of an edge' in done.stderr
    end(server, e, w)


def bad_pieces(temp):
    """Likewise of what lies where code objects are, and acknowledgements."""
    server, w = begin(temp)
    digest = hashlib.sha256(slurp(ELF)).hexdigest()
    stranger = Stranger(server)
    for i, head in enumerate(HEADS):
        stranger.publish(f'gpucode.v1.{digest}.{i}', b'not it', head)
    stranger.flush()
    e = edge(temp, server)
    ident = identity(temp)
    for head in HEADS:
        stranger.publish(f'gpuack.v1.{partition_of(ident):02}.{ident}', b'x', head)
    stranger.flush()
    with send(temp, 3):
        same(temp, 3)
        acknowledged(e)
    end(server, e, w)


def objects_kept_away(temp):
    """However often somebody puts something else where a code object belongs,
    and whatever sizes others' lists say, entries have their strings."""
    server = Server(temp).start()
    w = worker(temp, server)
    until('a worker', lambda: w.metric('nats_partitions') == 64)
    digest = hashlib.sha256(slurp(ELF)).hexdigest()
    is_over = threading.Event()
    stranger = Stranger(server)

    def again_and_again():
        while not is_over.is_set():
            for i in range(3):
                stranger.publish(f'gpucode.v1.{digest}.{i}', b'nine byte')
            time.sleep(0.002)

    thread = threading.Thread(target=again_and_again)
    thread.start()
    try:
        e = edge(temp, server)
        with send(temp, 3):
            same(temp, 3)
            acknowledged(e)
    finally:
        is_over.set()
        thread.join()
    end(server, e, w)


def wrong_sizes(temp):
    """A list that says of a good object that it is shorter does not have it
    taken away."""
    server, w = begin(temp)
    data = slurp(ELF) + b'\0' * (3 << 19)
    digest = hashlib.sha256(data).hexdigest()
    piece = 512 * 1024
    stranger = Stranger(server)
    for i in range((len(data) + piece - 1) // piece):
        stranger.publish(f'gpucode.v1.{digest}.{i}',
                         data[i * piece:(i + 1) * piece])
    text = json.dumps({'version': 1, 'objects': [
        {'sha256': digest, 'bytes': piece, 'name': 'x'}]}).encode()
    ident = 'ab' * 16
    publish_list(stranger, text, ident)
    stranger.flush()
    until('it is asked for', lambda: w.metric('nats_refused_total') >= 1)
    said = server.request('$JS.API.STREAM.INFO.GPUCODE',
                          b'{"subjects_filter":"gpucode.v1.%s.*"}' %
                          digest.encode())
    assert said.count(digest.encode()) >= 4, said
    end(server, w)


def publish_list(stranger, text, ident, first=1, partition=None):
    """Something that claims to be a list, and a message that needs it."""
    if partition is None:
        partition = partition_of(ident)
    digest = hashlib.sha256(text).hexdigest()
    piece = 512 * 1024
    for i in range((len(text) + piece - 1) // piece):
        stranger.publish(f'gpucode.v1.{digest}.{i}',
                         text[i * piece:(i + 1) * piece])
    stranger.publish(JUNK % partition, b'x', of_edge(
        ident, first, first, first - 1, Gpulog_Code=digest))


def huge_lists(temp):
    """Lists that are short to write and large to read take no more memory than
    there is, of the worker and of the command; others' entries come."""
    server, w = begin(temp, 'memory_max: 64MiB\nring: 4MiB\n')
    ident = 'cd' * 16
    stranger = Stranger(server)
    item = b'{"sha256":"%s","bytes":1,"name":""}' % (b'0' * 64)
    texts = [b'{"objects":[' + b','.join([b'0'] * (20 << 20)) + b']}',
             b'{"objects":' + b'[' * (8 << 20),
             b'{"a":[' + b','.join([b'0'] * (2 << 20)) + b']}',
             b'{"objects":[{"sha256":[' + b','.join([b'{}'] * (1 << 20)) + b']}]}',
             b'{"objects":[' + b','.join([item] * 30000) + b']}',
             b'{"objects":[' + b','.join([item] * 400000) + b']}']
    for i, text in enumerate(texts):
        publish_list(stranger, text, ident, i + 1)
    stranger.flush()
    e = edge(temp, server)
    with send(temp, 2):
        same(temp, 2)
        acknowledged(e)
    until('all are asked for', lambda: w.metric('nats_refused_total') >=
          len(texts) - 1)
    assert w.metric('nats_partitions') == 64
    stays_below(w, 100)
    process = subprocess.Popen([PRINTFDECODE, 'replay', '--nats', server.url,
                                '-o', 'json'], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    out, errors = process.communicate()
    assert out.count(b'\n') == 2 * N_ENTRIES, errors
    end(server, e, w)


def one_by_one(temp):
    """A list of many little objects is fetched in turns: others' entries come
    meanwhile, and the leases stay."""
    server, w = begin(temp)
    stranger = Stranger(server)
    found = []
    for i in range(20000):
        data = b'%d' % i
        digest = hashlib.sha256(data).hexdigest()
        stranger.publish(f'gpucode.v1.{digest}.0', data)
        found.append({'sha256': digest, 'bytes': len(data), 'name': ''})
        if i % 1000 == 0:
            stranger.flush()
    text = json.dumps({'version': 1, 'objects': found}).encode()
    e = edge(temp, server)
    publish_list(stranger, text, identity(temp)[::-1])
    for i in range(64):
        stranger.publish(JUNK % i, b'x', of_edge('ef' * 16, i + 1, i + 1, i,
                                                 Gpulog_Code=hashlib.sha256(
                                                     text).hexdigest()))
    stranger.flush()
    lost = 0
    for i in range(5):
        with send(temp, 1, first=10 * (i + 1)):
            same_entries(temp, i + 1)
        lost += w.metric('nats_partitions') != 64
    assert not lost
    end(server, e, w)


def slow_lists(temp):
    """Lists that take long, one after another, each of another edge: a partition
    waits for some of them, not for all."""
    server, w = begin(temp)
    e = edge(temp, server)
    with send(temp, 1):
        same_entries(temp, 1)
        acknowledged(e)
    stranger = Stranger(server)
    digest = hashlib.sha256(b'x').hexdigest()
    stranger.publish(f'gpucode.v1.{digest}.0', b'x')
    for i in range(90):
        text = json.dumps({'version': 1, 'objects': [
            {'sha256': digest, 'bytes': 1, 'name': f'{i}.{k}'}
            for k in range(4000)]}).encode()
        publish_list(stranger, text, f'{i:032x}',
                     partition=partition_of(identity(temp)))
    stranger.flush()
    with send(temp, 1, first=10):
        same_entries(temp, 2)
        acknowledged(e)
    end(server, e, w)


def invented_edges(temp):
    """Edges that somebody invents, with entries and without, take no place from a
    real one, also after a restart, and none in the file for ever."""
    server, w = begin(temp)
    stranger = Stranger(server)
    begun = frame('buffer', buffer=1, name='x')
    for i in range(9000):
        ident = f'{i:032x}'
        stranger.publish(JUNK % partition_of(ident), begun, of_edge(ident))
    stranger.flush()
    e = edge(temp, server)
    with send(temp, 1):
        same_entries(temp, 1)
        acknowledged(e)
    until('all have come', lambda: w.metric('bad_frames_total') >= 9000)
    w.kill()
    w.start()
    with send(temp, 1, first=10):
        same_entries(temp, 2)
        acknowledged(e)
    with open(f'{temp}/worker/state/edges', encoding='ascii') as f:
        assert len(f.readlines()) == 3
    end(server, e, w)


def replay_of_invented(temp):
    """Edges that somebody invents do not end `replay`, nor does it remember those
    that have given nothing."""
    server, w = begin(temp)
    w.stop()
    stranger = Stranger(server)
    begun = frame('buffer', buffer=1, name='x')
    gap = frame('gap', buffer=1, lost_entries=1, reason='x')
    for i in range(20000):
        ident = f'{i:032x}'
        stranger.publish(JUNK % partition_of(ident), begun + (gap if i % 8 else b''),
                         of_edge(ident))
    stranger.flush()
    e = edge(temp, server)
    with send(temp, 1):
        until('sent', lambda: e.metric('output_sent_total') >= 1)
        done = subprocess.run([PRINTFDECODE, 'replay', '--nats', server.url, '-o',
                               'json', '--source', 'b1'], check=False,
                              capture_output=True)
    assert done.returncode == 2, done.stderr
    found = done.stdout.count(b'\n')
    assert found == N_ENTRIES, (found, done.stderr)
    assert b'too many edges to remember' in done.stderr, done.stderr
    end(server, e)


def large_buffers(temp):
    """What is said of buffers that somebody invents takes no more memory than
    there is, and comes to an end."""
    server, w = begin(temp, 'memory_max: 64MiB\nring: 4MiB\n')
    stranger = Stranger(server)
    begun = [frame('buffer', buffer=1, name='x', labels={'a': 'b' * n})
             for n in (30000, 120000, 900000)]
    for i in range(400):
        ident = f'{i:032x}'
        stranger.publish(JUNK % partition_of(ident), begun[i % 3] + frame(
            'gap', buffer=1, lost_entries=1, reason='x'), of_edge(ident))
    stranger.flush()
    e = edge(temp, server)
    with send(temp, 1):
        same_entries(temp, 1)
        acknowledged(e)
    until('all have come', lambda: w.metric('bad_frames_total') >= 400)
    stays_below(w, 100)
    end(server, e, w)


def forged_leases(temp):
    """What is no lease keeps no partition from a worker that has none of it, nor
    takes one that it has; workers that somebody invents have no share."""
    server = Server(temp).start()
    stranger = Stranger(server)
    stranger.publish('$JS.API.STREAM.CREATE.GPULEASE', json.dumps({
        'name': 'GPULEASE', 'subjects': ['gpulease.v1.>'], 'max_msgs_per_subject': 1,
        'max_age': 10 ** 10, 'allow_direct': True, 'retention': 'limits',
        'storage': 'file', 'num_replicas': 1, 'duplicate_window': 10 ** 10}).encode())
    stranger.flush()
    is_over = threading.Event()

    def forge():
        while not is_over.is_set():
            for i in range(20):
                text = (b'x', b'ab' * 16, b'', b'\0' * 32)[i % 4]
                stranger.publish(f'gpulease.v1.{i:02}', text)
            for i in range(70):
                stranger.publish(f'gpulease.v1.worker.{i:032x}')
                stranger.publish(f'gpulease.v1.worker.{i}')
            is_over.wait(0.7)

    forge_once = threading.Thread(target=forge)
    forge_once.start()
    try:
        w = worker(temp, server)
        e = edge(temp, server)
        until('all partitions', lambda: w.metric('nats_partitions') == 64)
        for i in range(8):
            with send(temp, 1, first=10 * (i + 1)):
                same(temp, i + 1)
            assert w.metric('nats_partitions') == 64
            time.sleep(1)
    finally:
        is_over.set()
        forge_once.join()
    end(server, e, w)


def junk_and_our_errors(temp):
    """However much junk somebody sends, what goes wrong here is in the log."""
    server, w = begin(temp)
    stranger = Stranger(server)
    for i in range(5000):
        stranger.publish(JUNK % (i % 64), b'x')
    stranger.flush()
    until('all have come', lambda: w.metric('nats_refused_total') >= 5000)
    assert w.log().count('is none of an edge') < 1000
    server.kill()
    until('it is said', lambda: 'nats: connection lost' in w.log())
    w.stop()


def drawn_numbers(dice):
    return dice.choice((0, 1, 2, 3, -1, 2 ** 32, 2 ** 60, 2 ** 63, 2 ** 64 - 1,
                        2 ** 64, 2 ** 70, 'x', '', ' 1', '1 ', '+1', '0x1', '1e3'))


def drawn_head(dice):
    """Headers of an edge, or nearly so, and headers that a server obeys."""
    name = dice.choice((f'{dice.randrange(4):032x}', 'AB' * 16, 'ab' * 15, '', 'g' * 32,
                        '../' * 10, 'ab' * 400))
    head = of_edge(name, *(drawn_numbers(dice) for _ in range(3)))
    more = head_of(**dict(dice.sample((
        ('Nats_Rollup', 'all'), ('Nats_Rollup', 'sub'), ('Nats_TTL', '1s'),
        ('Nats_Expected_Last_Sequence', '0'), ('Nats_Msg_Id', 'x'),
        ('Gpulog_Acked', drawn_numbers(dice)), ('Gpulog_Epoch', drawn_numbers(dice)),
        ('Gpulog_First', drawn_numbers(dice)), ('Gpulog_Edge', 'cd' * 16),
        ('Gpulog_Code', dice.choice(('0' * 64, 'x', '', '../../etc', 'F' * 64))),
        ('x' * 20000, 'y'), ('Gpulog_Edge', '')), dice.randrange(3))))
    return head[:-2] + more[len('NATS/1.0\r\n'):]


def drawn_payload(dice):
    entry = frame('buffer', buffer=1, name='x')
    return dice.choice((
        b'', b'x', entry, entry[:-1], entry * 50, dice.randbytes(200),
        entry + dice.randbytes(3000), frame('gap', buffer=1, lost_entries=2 ** 64 - 1,
                                            reason='x'),
        frame('end', buffer=9), frame('buffer', buffer=2 ** 64 - 1, name='x' * 60000),
        b'\xff' * 900000))


def drawn_subject(dice):
    digest = hashlib.sha256(slurp(ELF)).hexdigest()
    ident = f'{dice.randrange(4):032x}'
    part = dice.randrange(64)
    return dice.choice((
        f'gpulog.v1.{part:02}.h.g', f'gpulog.v1.{part:02}.h.g', f'gpulog.v1.{part}.h.g',
        'gpulog.v1.99.h.g', 'gpulog.v1.-1.h.g', f'gpulog.v1.{part:02}',
        'gpulog.v1.' + 'x' * 1000, f'gpuack.v1.{partition_of(ident):02}.{ident}',
        f'gpuack.v1.{part:02}.{ident}', f'gpuack.v1.{part:02}.{"z" * 300}',
        f'gpucode.v1.{digest}.{dice.choice((0, 1, 77, 2 ** 64, 2 ** 64 - 1, -1, "x"))}',
        'gpucode.v1..0'.replace('..', f'.{"f" * 500}.'), f'gpucode.v1.{digest}',
        f'gpulease.v1.{part:02}', 'gpulease.v1.64', f'gpulease.v1.{part:02}.x',
        'gpulease.v1.worker.' + dice.choice(('x', 'f' * 32, 'f' * 900))))


def drawn(temp):
    """Messages of all kinds, drawn, at all subjects: what real edges send comes,
    once and whole, before, meanwhile and after a restart, and to `replay`."""
    server, w = begin(temp)
    e = edge(temp, server)
    stranger = Stranger(server)
    dice = random.Random(32)
    for n in range(1, 5):
        for _ in range(600):
            stranger.publish(drawn_subject(dice), drawn_payload(dice),
                             drawn_head(dice) if dice.random() < 0.8 else b'')
        stranger.flush()
        with send(temp, 1, first=10 * n):
            same_entries(temp, n)
            acknowledged(e)
        if n == 2:
            w.kill()
            w.start()
    until('all partitions', lambda: w.metric('nats_partitions') == 64)
    assert w.memory_kib() < 512 << 10, w.memory_kib()
    for n in (10, 20, 30, 40):
        done = subprocess.run([PRINTFDECODE, 'replay', '--nats', server.url, '-o', 'json',
                               '--source', f'b{n}'], check=False, capture_output=True)
        assert done.returncode in (0, 2), done.stderr
        assert done.stdout.count(b'\n') == N_ENTRIES, (n, done.stderr)
    end(server, e, w)


def same_entries(temp, n):
    def entries(name):
        return collections.Counter(line for line in lines(temp, name).elements()
                                   if '"type": "entry"' in line)
    until('entries', lambda: entries('worker').total() >= n * N_ENTRIES)
    assert entries('worker') == entries('edge')


GROUPS = {
    'hostile': (transport_headers, bad_pieces, objects_kept_away, wrong_sizes,
                huge_lists, one_by_one, slow_lists, invented_edges, large_buffers, replay_of_invented,
                forged_leases, junk_and_our_errors, drawn),
}

if __name__ == '__main__':
    if not program():
        skip('no nats-server')
    wanted = os.environ.get('ONLY')
    run(*(f for f in GROUPS[os.path.basename(REST[1])]
          if not wanted or f.__name__ == wanted))
