#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nats.py DAEMON DUMP ELF FOLLOW GROUP: edges publish what they decode to a
real nats-server, workers print it: each entry once, whoever is killed. GROUP is
a word of GROUPS, below."""
import collections
import contextlib
import hashlib
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'outputs'))

from server import Server, program

from real import check_config

from harness import (DUMP, ELF, N_ENTRIES, PATIENCE, PROGRAM, REST, Daemon, dump_frames,
                     elf_frame, frame, free_port, producer, run, skip, slurp, until)

EDGE = '''state_dir: $T/state
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: nats, servers: ["%s"], %s}
  - {type: file, path: $T/kept.log, required: true}
  - {type: http, address: "unix:$T/http.sock"}
'''
WORKER = '''state_dir: $T/state
inputs:
  - {type: nats, servers: ["%s"]}
outputs:
  - {type: file, path: $T/kept.log, required: true}
  - {type: http, address: "unix:$T/http.sock"}
'''


def make(temp, name, config):
    os.makedirs(f'{temp}/{name}', exist_ok=True)
    return Daemon(f'{temp}/{name}', config)


def edge(temp, server, name='edge', more='window: 64MiB'):
    return make(temp, name, EDGE % (server.url, more))


def worker(temp, server, name='worker'):
    return make(temp, name, WORKER % server.url)


def lines(temp, name):
    """What identifies each record of a daemon's file, and how often it is
    there: all but what is of the daemon itself."""
    found = []
    try:
        with open(f'{temp}/{name}/kept.log', 'rb') as f:
            text = f.read()
    except FileNotFoundError:
        text = b''
    for line in text.split(b'\n')[:-1]:
        record = json.loads(line)
        record.pop('sequence')
        origin = record.pop('origin', {})
        origin.pop('host', None)
        if origin:
            record['origin'] = origin
        found.append(json.dumps(record, sort_keys=True))
    return collections.Counter(found)


def send(temp, n, name='edge', first=1):
    data = slurp(DUMP)
    return producer(f'{temp}/{name}/in.sock', elf_frame(),
                    *(f for i in range(n)
                      for f in dump_frames(buffer=first + i, name=f'b{first + i}',
                                           data=data)))


def send_data(temp, data, name='edge'):
    """One buffer that holds this."""
    return producer(f'{temp}/{name}/in.sock', elf_frame(),
                    *dump_frames(name='b1', data=data))


def same(temp, n, names=('edge',)):
    """All that the edges have is at the worker, once, and with its strings."""
    wanted = collections.Counter()

    def is_there():
        wanted.clear()
        for name in names:
            wanted.update(lines(temp, name))
        return sum(wanted.values()) >= n * N_ENTRIES

    until('the edges', is_there)
    until('the worker', lambda: sum(lines(temp, 'worker').values()) >=
          sum(wanted.values()))
    got = lines(temp, 'worker')
    assert got == wanted, (wanted - got, got - wanted)


def acknowledged(d):
    until('acknowledged', lambda: d.metric('output_oldest_seconds') == 0)


def plain(temp):
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    with send(temp, 20):
        same(temp, 20)
        acknowledged(e)
    until('it is counted', lambda: w.metric('nats_edges') == 1)
    until('written', lambda: w.metric('nats_waiting') == 0)
    assert "nats: an edge on '" in w.log()
    assert e.metric('output_sent_total') == e.metric('output_acknowledged_total')
    assert e.metric('output_dropped_total') == 0
    e.stop()
    w.stop()
    # Nothing comes again.
    e.start()
    w.start()
    with send(temp, 1, first=100):
        same(temp, 21)
        acknowledged(e)
    e.stop()
    w.stop()
    server.kill()


def status_of(d, expected=0):
    """What nats-status says with a daemon's configuration."""
    done = subprocess.run([PROGRAM, 'nats-status', d.path], check=False, text=True,
                          capture_output=True, timeout=PATIENCE)
    assert done.returncode == expected, done
    return done.stdout if expected == 0 else done.stderr


def looked_at(temp):
    """Streams, workers with their partitions, and which edge waits for how much."""
    host = socket.gethostname()
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    with send(temp, 3):
        same(temp, 3)
        acknowledged(e)
        said = status_of(w)
        print(said)
        assert re.search(r'(?m)^GPULOG: [1-9]\d* messages, \d+ KiB of 1 GiB, the oldest from '
                         r'\d+ seconds ago$', said), said
        assert f'workers: 1\n  {host} {w.process.pid}, ' in said, said
        assert re.search(r': 64 partitions: 0-63\n', said) and 'nobody' not in said, said
        assert 'edges: 1, of which 0 have lines' in said, said
        n = int(re.search(r'\n  .*: 0 lines wait, written up to (\d+) of \1;', said)[1])
        assert n >= 3 * N_ENTRIES, said
        assert re.search(r' seconds ago, a worker acknowledged \d+ seconds ago$', said), said
        until('its edge', lambda: w.metric('nats_edge_lag_lines') == 0)
        assert f',host="{host}"}} ' in w.http()[1]
        assert w.metric('nats_edge_silent_seconds') < 60
        w.stop()
        with send(temp, 2, first=100):
            until('they are stored', lambda: f'{2 * N_ENTRIES} lines wait, written up to '
                  f'{n} of ' in status_of(e))
        said = status_of(e)
        assert 'workers: 0\n  nobody: 64 partitions: 0-63\n' in said, said
        assert 'edges: 1, of which 1 have lines' in said, said
        until('the log', lambda: 'no worker acknowledges what was sent' in e.log())
        w.start()
        until('the end of that', lambda: 'a worker acknowledges again' in e.log())
        acknowledged(e)
        w.stop()
    server.kill()
    assert 'No server available' in status_of(e, 1)
    e.stop()
    with open(f'{temp}/c.yaml', 'w', encoding='ascii') as f:
        f.write('inputs: [{type: stdin}]\n')
    done = subprocess.run([PROGRAM, 'nats-status', f'{temp}/c.yaml'], check=False,
                          text=True, capture_output=True)
    assert done.returncode == 78 and "of type 'nats'" in done.stderr, done


def many_workers(temp):
    """More than there are partitions: nats-status leaves none out."""
    server = Server(temp).start()
    w = worker(temp, server)
    until('the streams', lambda: 'connected to' in w.log())
    others = [f'{i:032x}' for i in range(200)]

    def all_are_told():
        for each in others:
            server.publish(f'gpulease.v1.worker.{each}', f'other {each[-3:]}'.encode())
        said = status_of(w)
        return said if 'workers: 201\n' in said else None

    said = until('all workers', all_are_told)
    assert len(re.findall(r'(?m)^  other [0-9a-f]{3}, 0{8}: 0 partitions:', said)) == 200, said
    w.stop()
    server.kill()


def windows_are_summed(temp):
    """Edges that may have more in flight than the servers keep are told of."""
    server = Server(temp).start()
    w = make(temp, 'worker', (WORKER % server.url).replace('"]}', '"], stream_max: 1MiB}'))
    until('the streams', lambda: 'connected to' in w.log())
    names = 'edge', 'two', 'three'
    edges = [edge(temp, server, name) for name in names]
    socks = [send(temp, 1, name) for name in names]
    same(temp, 3, names)
    until('it is told', lambda: "3 edges may have 1 MiB in flight, and the servers "
          "keep 1 MiB (stream_max)" in w.log())
    assert all('half of that is used' in e.log() for e in edges), edges[0].log()
    for d in (*edges, w):
        d.stop()
    for sock in socks:
        sock.close()
    server.kill()


def know_edges(temp, n):
    """A worker's file that says it knows n others."""
    os.makedirs(f'{temp}/worker/state', exist_ok=True)
    with open(f'{temp}/worker/state/edges', 'w') as f:
        f.write('printfdecoded edges 1\n')
        f.writelines(f'{i:032x} 1\n' for i in range(n))
        f.write('end\n')


def too_many_edges(temp):
    """A worker that knows as many edges as it can forgets some for one more, also
    after a restart; and what it knew of that it has from the servers."""
    server = Server(temp).start()
    know_edges(temp, 65536)
    e, w = edge(temp, server), worker(temp, server)
    with send(temp, 1):
        same(temp, 1)
        acknowledged(e)
    w.stop()
    know_edges(temp, 65536)
    w.start()
    with send(temp, 1, first=10):
        same(temp, 2)
        acknowledged(e)
    e.stop()
    w.stop()
    server.kill()


def absent(temp):
    """The server comes later: until then all else works, and nothing is lost.
    When it begins anew, or stands still for a while, likewise."""
    server = Server(temp)
    e, w = edge(temp, server), worker(temp, server)
    with send(temp, 5):
        until('the file', lambda: sum(lines(temp, 'edge').values()) ==
              5 * N_ENTRIES)
        assert e.metric('output_connected') == 0
        server.start()
        same(temp, 5)
    server.kill()
    with send(temp, 5, first=10):
        until('the file', lambda: sum(lines(temp, 'edge').values()) ==
              10 * N_ENTRIES)
        server.start()
        same(temp, 10)
        acknowledged(e)
    server.freeze()
    with send(temp, 5, first=20):
        until('the file', lambda: sum(lines(temp, 'edge').values()) ==
              15 * N_ENTRIES)
        time.sleep(0.5)
        server.thaw()
        same(temp, 15)
        acknowledged(e)
    e.stop()
    w.stop()
    server.kill()


def killed(temp):
    """Anybody at any time; the server's folder may be as it was before, or
    gone. No entry is lost, or comes twice."""
    server = Server(temp).start()
    daemons = {'edge': edge(temp, server), 'worker': worker(temp, server)}
    dice = random.Random(15)
    n = 0
    for turn in range(6):
        sock = send(temp, 40, first=1 + 40 * turn)
        n += 40
        until('the file', lambda: sum(lines(temp, 'edge').values()) ==
              n * N_ENTRIES)
        for name in dice.sample(['edge', 'worker', 'server', 'power'], 2):
            time.sleep(dice.random() * 0.05)
            if name in daemons:
                daemons[name].kill()
                daemons[name].start()
            else:
                server.kill()
                if name == 'power':
                    server.roll_back()
                server.start()
        sock.close()
    same(temp, n)
    acknowledged(daemons['edge'])
    for d in daemons.values():
        d.stop()
    server.kill()


def records_of(temp, *names):
    ret = collections.Counter()
    for name in names:
        ret.update(lines(temp, name))
    return ret


def shared(temp):
    """Workers share the partitions; what one had that is killed another one
    takes, and what one leaves. All is written by somebody, once but for what
    somebody had on the way when it was killed."""
    server = Server(temp).start()
    edges = [edge(temp, server, f'edge{i}') for i in range(4)]
    names = [f'edge{i}' for i in range(4)]
    workers = {name: worker(temp, server, name) for name in ('a', 'b')}

    def have(**wanted):
        return all(workers[name].metric('nats_partitions') == n
                   for name, n in wanted.items())

    def all_there(n):
        until('the edges', lambda: sum(records_of(temp, *names).values()) == n)
        wanted = records_of(temp, *names)
        until('the workers', lambda: not wanted - records_of(temp, 'a', 'b'))
        return records_of(temp, 'a', 'b') - wanted

    until('halves', lambda: have(a=32, b=32))
    socks = [send(temp, 10, name) for name in names]
    assert not all_there(4 * 10 * N_ENTRIES)
    # In order, one leaves nothing.
    workers['b'].stop()
    until('all', lambda: have(a=64))
    socks += [send(temp, 10, name, first=100) for name in names]
    assert not all_there(4 * 20 * N_ENTRIES)
    workers['b'].start()
    until('halves', lambda: have(a=32, b=32))
    workers['a'].kill()
    socks += [send(temp, 10, name, first=200) for name in names]
    until('all', lambda: have(b=64))
    workers['a'].start()
    assert not all_there(4 * 30 * N_ENTRIES)
    for d in edges + list(workers.values()):
        d.stop()
    server.kill()


def cluster(temp):
    """Three servers, three replicas: the stream's leader is killed, then all at
    once, and their folders are as they were some seconds before."""
    routes = [free_port() for _ in range(3)]
    servers = [Server(temp, f'n{i}', routes, routes[i]) for i in range(3)]
    for s in servers:
        s.start()
    urls = '", "'.join(s.url for s in servers)
    e = make(temp, 'edge', EDGE % (urls, 'replicas: 3'))
    w = make(temp, 'worker', (WORKER % urls).replace('"]}', '"], replicas: 3}'))
    send(temp, 20).close()
    same(temp, 20)
    acknowledged(e)
    copies = []
    for s in servers:
        copies.append(f'{temp}/{s.name}.copy')
        shutil.copytree(s.store, copies[-1])
    with send(temp, 20, first=100):
        leader = next((s for s in servers if s.leads('GPULOG')), servers[0])
        leader.kill()
        same(temp, 40)
        leader.start()
        acknowledged(e)
    with send(temp, 20, first=200):
        time.sleep(0.1)
        for s in servers:
            s.kill()
        for s, copy in zip(servers, copies):
            s.roll_back(copy)
            s.start()
        same(temp, 60)
        acknowledged(e)
    e.stop()
    w.stop()
    for s in servers:
        s.kill()


def hostile(temp):
    """Whoever may publish can send anything: what is no message of an edge is
    left, what says that it is one and is not costs it a gap, and others
    nothing."""
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    until('a worker', lambda: w.metric('nats_partitions') == 64)
    said = {'Gpulog_Edge': '0' * 32, 'Gpulog_Previous': 0, 'Gpulog_Acked': 0,
            'Gpulog_Epoch': 1}
    begun = frame('buffer', buffer=1, name='x')
    dice = random.Random(15)
    bad = [b'x', begun, begun + dice.randbytes(100), dice.randbytes(3000),
           begun + frame('entries', buffer=1, sequence=1, bytes=b'\0' * 99),
           begun + frame('data', buffer=1, bytes=b'1234'),
           begun + begun, b'\xff' * 40]
    server.publish('gpulog.v1.07.h.g', b'', **said)
    for i, payload in enumerate(bad):
        server.publish('gpulog.v1.07.h.g', payload)
        server.publish('gpulog.v1.07.h.g', payload, **{
            **said, 'Gpulog_Previous': i, 'Gpulog_First': i + 1,
            'Gpulog_Last': i + 1})
    for wrong in ({'Gpulog_First': 2, 'Gpulog_Last': 1},
                  {'Gpulog_First': 'x', 'Gpulog_Last': 1},
                  {'Gpulog_First': 0, 'Gpulog_Last': 2 ** 64 - 1},
                  {'Gpulog_First': 1, 'Gpulog_Last': 1, 'Gpulog_Edge': '../x'},
                  {'Gpulog_First': 90, 'Gpulog_Last': 99,
                   'Gpulog_Previous': 89, 'Gpulog_Code': 'f' * 64}):
        server.publish('gpulog.v1.07.h.g', begun, **{**said, **wrong})
    # Acknowledgements of what was not sent, and of nobody.
    with open(f'{temp}/edge/state/incarnations', encoding='ascii') as f:
        ident = f.read().split()[-3]
    for text in (b'', b'99999999999 0 ok', b'-1 2 again', b'1 1 again extra',
                 b'18446744073709551615 18446744073709551615 again'):
        for pp in range(64):
            server.publish(f'gpuack.v1.{pp:02}.{ident}', text)
    with send(temp, 5):
        same_entries(temp, 5)
    until('gaps', lambda: w.metric('bad_frames_total') >= len(bad))
    e.stop()
    w.stop()
    server.kill()


def answer_all(listener, answer):
    """A server that says the same about everything."""
    while listener.fileno() >= 0:
        with contextlib.suppress(OSError), listener.accept()[0] as to, to.makefile('rb') as words:
            to.sendall(b'INFO {"server_id":"x","version":"2.10.0","proto":1,'
                         b'"headers":true,"max_payload":1048576}\r\n')
            inbox = b'1'
            for said in map(bytes.split, words):
                if said[0] == b'PING':
                    to.sendall(b'PONG\r\n')
                elif said[0] == b'SUB':
                    inbox = said[-1]
                elif said[0] in (b'PUB', b'HPUB'):
                    words.read(int(said[-1]) + 2)
                    to.sendall(b'MSG %s %s %d\r\n%s\r\n' %
                                 (said[2], inbox, len(answer), answer))


def forged(temp):
    """An answer that no server gives is an error, for all who ask, and does
    nothing to a terminal."""
    for i, (answer, words) in enumerate((
            (b'{"stream":"x"}', 'Protocol Error'),
            (b'{"error":{"code":400,"description":"\\u001b[31mred"}}', r'\x1b[31mred'))):
        with socket.create_server(('127.0.0.1', 0)) as listener:
            threading.Thread(target=answer_all, args=(listener, answer),
                             daemon=True).start()
            url = f'nats://127.0.0.1:{listener.getsockname()[1]}'
            e = make(temp, f'edge{i}', EDGE % (url, 'window: 64MiB'))
            w = make(temp, f'worker{i}', WORKER % url)
            for d in (e, w):
                until(words, lambda d=d: words in d.log())
                d.stop()
            said = status_of(e, 1)
            assert words in said, said


def wrong_code(temp):
    """A code object that is not what its hash says is taken away, and the edge
    sends the right one; a lease of nonsense holds no partition."""
    server = Server(temp).start()
    w = worker(temp, server)
    until('a worker', lambda: w.metric('nats_partitions') == 64)
    with open(ELF, 'rb') as f:
        digest = hashlib.sha256(f.read()).hexdigest()
    for i, payload in enumerate((b'something else', b'behind it')):
        server.publish(f'gpucode.v1.{digest}.{i}', payload)
    for name in ('x', '-1', '64', '007', 'worker', '00.more'):
        server.publish(f'gpulease.v1.{name}', b'me')
    for text in (b'5 0 ok', b'+5 0 ok', b'', b'\0' * 30, b'5 0'):
        server.publish('gpuack.v1.00.' + '-' * 32, text)
    e = edge(temp, server)
    with send(temp, 3):
        same(temp, 3)
        acknowledged(e)
    assert w.metric('nats_refused_total') >= 1
    assert 'is something else: taken away' in w.log()
    e.stop()
    w.stop()
    server.kill()


def same_entries(temp, n):
    """The entries alone."""
    def entries(name):
        return collections.Counter(line for line in lines(temp, name).elements()
                                   if '"type": "entry"' in line)
    until('entries', lambda: sum(entries('worker').values()) >= n * N_ENTRIES)
    assert entries('worker') == entries('edge')


def set_up(temp):
    """The streams are made, then left, then changed."""
    server = Server(temp).start()
    path = f'{temp}/setup.yaml'

    def said(more):
        with open(path, 'w', encoding='ascii') as f:
            f.write(EDGE.replace('$T', temp) % (server.url, more))
        done = subprocess.run([PROGRAM, 'nats-setup', path], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        return done.returncode, done.stdout.splitlines(), done.stderr

    streams = ('GPULOG', 'GPUCODE', 'GPUACK', 'GPULEASE')
    for more, first, others in (('stream_max: 2GiB', 'made', 'made'),
                                ('stream_max: 2GiB', 'is there', 'is there'),
                                ('stream_max: 3GiB', 'changed', 'is there')):
        assert said(more) == (0, [
            f'{s}: {others if i else first}' for i, s in enumerate(streams)],
            ''), more
    server.kill()
    status, out, errors = said('stream_max: 2GiB')
    assert status == 1 and not out and server.url in errors, errors
    with open(path, 'w', encoding='ascii') as f:
        f.write('inputs: [{type: stdin}]\n')
    done = subprocess.run([PROGRAM, 'nats-setup', path], text=True,
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode == 78 and 'no input or output' in done.stderr


def refused(temp):
    """What a configuration cannot mean is said where it stands."""
    farm = 'servers: ["nats://127.0.0.1:4222"]'
    for block, place, words in (
            ('{type: nats}', '1:11', "'servers' is missing"),
            ('{type: nats, servers: []}', '1:33', 'has none'),
            ('{type: nats, servers: ["http://[::1]"]}', '1:33',
             'no nats://HOST:PORT'),
            ('{type: nats, servers: ["nats://a.example"]}', '1:33',
             'beyond this machine it is tls://'),
            ('{type: nats, servers: ["tls://me:pw@a.example"]}', '1:33',
             "'password_file'"),
            ('{type: nats, %s, tls_ca: /a}' % farm, '1:33', 'is for tls://'),
            ('{type: nats, %s, user: me}' % farm, '1:11',
             "'password_file' is missing"),
            ('{type: nats, %s, required: no}' % farm, '1:70', 'always required'),
            ('{type: nats, %s}' % farm, '1:1', "'state_dir'")):
        check_config(temp, f'outputs: [{block}]', place, words)
    check_config(temp, f'inputs: [{{type: nats, {farm}}}]', '1:1',
                 'needs an output that is required')
    check_config(temp, f'state_dir: /a\ninputs: [{{type: nats, {farm}}}]\n'
                 f'outputs: [{{type: nats, {farm}}}]', '1:1', 'for ever')


GROUPS = {
    'plain': (refused, set_up, plain, looked_at, many_workers, windows_are_summed, too_many_edges,
              absent, hostile, forged, wrong_code),
    'killed': (killed,),
    'shared': (shared,),
    'cluster': (cluster,),
}

if __name__ == '__main__':
    if not program():
        skip('no nats-server')
    run(*GROUPS[os.path.basename(REST[1])])
