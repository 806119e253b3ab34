#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""copies.py DAEMON DUMP ELF FOLLOW copies: edges whose state folder was copied or
put back, and edges and workers of a release without incarnations. $OLD_DAEMON,
if it is set, is such a printfdecoded."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'daemon'))

from server import Server, program

from nats import EDGE, acknowledged, edge, lines, same, same_entries, send, worker

from harness import N_ENTRIES, PROGRAM, Daemon, run, skip, until

OLD = os.environ.get('OLD_DAEMON')
TWO = 'two edges run with copies of one state folder'


def copy_state(temp, name, to):
    os.makedirs(f'{temp}/{to}', exist_ok=True)
    shutil.rmtree(f'{temp}/{to}/state', ignore_errors=True)
    shutil.copytree(f'{temp}/{name}/state', f'{temp}/{to}/state')


def incarnations(temp, name):
    with open(f'{temp}/{name}/state/incarnations', encoding='ascii') as f:
        return re.findall('(?m)^([0-9a-f]{32}) ([0-9]+)$', f.read())


def count(temp, name):
    """How many entries there are, however often."""
    return sum(n for line, n in lines(temp, name).items() if '"entry"' in line)


def cloned(temp):
    """Two edges from one image: all of both comes, once, and the worker says
    that there are two."""
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    with send(temp, 1):
        same(temp, 1)
        acknowledged(e)
    e.stop()
    copy_state(temp, 'edge', 'twin')
    e.start()
    twin = edge(temp, server, 'twin')
    n = 1
    while TWO not in w.log():
        assert n < 20, w.log()
        with send(temp, 1, first=2 * n), send(temp, 1, 'twin', 2 * n + 1):
            n += 1
            until('all', lambda: count(temp, 'worker') >= (2 * n - 1) * N_ENTRIES)
            assert count(temp, 'worker') == (2 * n - 1) * N_ENTRIES
    for d in (e, twin):
        acknowledged(d)
        d.stop()
    assert incarnations(temp, 'edge')[-1] != incarnations(temp, 'twin')[-1]
    assert 'warning: nats: ' + TWO in w.log()
    w.stop()
    server.kill()


def queued(temp):
    """What was queued before the copy was made counts once, and so does what is
    sent again after a kill."""
    server = Server(temp)
    e = edge(temp, server)
    with send(temp, 3):
        until('the file', lambda: sum(lines(temp, 'edge').values()) ==
              3 * N_ENTRIES)
        e.kill()
    copy_state(temp, 'edge', 'twin')
    server.start()
    w = worker(temp, server)
    twin = edge(temp, server, 'twin')
    e.start()
    with send(temp, 2, first=10), send(temp, 2, 'twin', 20):
        until('all', lambda: count(temp, 'worker') >= 7 * N_ENTRIES)
        acknowledged(e)
        acknowledged(twin)
    assert count(temp, 'worker') == 7 * N_ENTRIES
    for d in (e, twin, w):
        d.stop()
    server.kill()


def put_back(temp):
    """A state folder as it was some time ago: what follows is new."""
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    with send(temp, 1):
        same(temp, 1)
        acknowledged(e)
    e.stop()
    copy_state(temp, 'edge', 'backup')
    e.start()
    with send(temp, 10, first=10):
        same(temp, 11)
        acknowledged(e)
    e.stop()
    copy_state(temp, 'backup', 'edge')
    e.start()
    with send(temp, 3, first=50):
        same(temp, 14)
        acknowledged(e)
    e.stop()
    w.stop()
    server.kill()


def gone_back(temp):
    """A machine that goes back while it runs hears of items that it never had:
    it says so, and loses nothing."""
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    with send(temp, 1):
        same(temp, 1)
        acknowledged(e)
    ident = incarnations(temp, 'edge')[-1][0]
    for partition in range(64):
        server.publish(f'gpuack.v1.{partition:02}.{ident}', b'100000 1 ok')
    until('a word', lambda: 'this machine has gone back' in e.log())
    until('another identity', lambda: incarnations(temp, 'edge')[-1][0] != ident)
    with send(temp, 3, first=10):
        same_entries(temp, 4)
        acknowledged(e)
    e.stop()
    w.stop()
    server.kill()


def first_release(temp, name):
    """The folder is as a release without incarnations leaves it."""
    os.remove(f'{temp}/{name}/state/incarnations')


def of_old(temp):
    """What an old release has queued belongs to the folder's identity: a worker
    that has it already knows it."""
    server = Server(temp).start()
    e = edge(temp, server)
    e.stop()
    # As that release would: under the folder's identity.
    with open(f'{temp}/edge/state/edge', encoding='ascii') as f:
        ident = f.read()
    with open(f'{temp}/edge/state/incarnations', 'w', encoding='ascii') as f:
        f.write(f'printfdecoded incarnations 1\n{ident} 1\nend\n')
    server.kill()
    e.start()
    with send(temp, 2):
        until('the file', lambda: sum(lines(temp, 'edge').values()) ==
              2 * N_ENTRIES)
        e.stop()
    first_release(temp, 'edge')
    server.start()
    w = worker(temp, server)
    e.start()
    with send(temp, 1, first=10):
        same(temp, 3)
        acknowledged(e)
    e.stop()
    w.stop()
    server.kill()


def equal(temp, n):
    """The edge has at least so many entries, and the worker the same."""
    until('the same', lambda: sum(lines(temp, 'edge').values()) >= n and
          lines(temp, 'edge') == lines(temp, 'worker'))
    return sum(lines(temp, 'edge').values())


def mixed(temp):
    """An old edge with a new worker, and the reverse; each then the other."""
    if not OLD:
        print('an old release is left out: no $OLD_DAEMON')
        return
    server = Server(temp).start()

    def old(name, config):
        os.makedirs(f'{temp}/{name}', exist_ok=True)
        return Daemon(f'{temp}/{name}', config, program=OLD)

    n = 0
    d = {'edge': old('edge', EDGE % (server.url, 'window: 64MiB')),
         'worker': worker(temp, server)}
    for turn, who in enumerate(('edge', 'worker', 'edge', 'worker', 'worker',
                                'edge')):
        with send(temp, 2, first=100 * turn + 1):
            n = equal(temp, n + 2 * N_ENTRIES)
        is_old = d[who].program == OLD
        with send(temp, 2, first=100 * turn + 11):
            d[who].kill()
            d[who].program = PROGRAM if is_old else OLD
            d[who].start()
        # Of what came while an edge was killed its own file has some or all.
        n = equal(temp, n)
        acknowledged(d['edge'])
    for each in d.values():
        each.stop()
    server.kill()


def two_old(temp):
    """Two edges of a release without incarnations with one identity are told."""
    server = Server(temp).start()
    w = worker(temp, server)
    until('a worker', lambda: w.metric('nats_partitions') == 64)
    for i in range(4):
        server.publish('gpulog.v1.07.h.g', b'x', Gpulog_Edge='a' * 32,
                       Gpulog_Previous=i, Gpulog_First=i + 1, Gpulog_Last=i + 1,
                       Gpulog_Acked=0, Gpulog_Epoch=10 ** 15 * (1 + i % 2))
    until('a word', lambda: TWO in w.log())
    assert 'release without incarnations' in w.log()
    w.stop()
    server.kill()


if __name__ == '__main__':
    if not program():
        skip('no nats-server')
    run(cloned, queued, put_back, gone_back, of_old, two_old, mixed)
