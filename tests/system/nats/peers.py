#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""peers.py DAEMON DUMP ELF PRINTFDECODE GROUP: a nats-server that wants to know
who comes, and one that does not answer any more."""
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'daemon'))

import tls
from nkeys import make_operator
from server import Server, program

from nats import EDGE, WORKER, acknowledged, edge, lines, make, same, send, worker

from harness import N_ENTRIES, PROGRAM, REST, run, skip, until

PRINTFDECODE = REST[0]
TLS = '''tls { cert_file: "%s/server.pem", key_file: "%s/server.key",
  ca_file: "%s/ca.pem", verify: true }
authorization { user: gpu, password: "right one" }
'''


def secret(temp, name, text):
    with open(f'{temp}/{name}', 'w', encoding='ascii') as f:
        f.write(text + '\n')
    return f'{temp}/{name}'


def reasons(temp):
    """A server that is away, and then one without room for the streams: both
    are said, and the second one's cure."""
    server = Server(temp, more='')
    conf = f'{temp}/{server.name}.conf'
    with open(conf, encoding='ascii') as f:
        text = f.read()
    with open(conf, 'w', encoding='ascii') as f:
        f.write(text.replace('jetstream {', 'jetstream { max_file: 256MB,'))
    daemons = edge(temp, server), worker(temp, server)
    for d in daemons:
        until('the first', lambda d=d: 'No server available' in d.log())
        until('why', lambda d=d: 'No server available' in d.http('/readyz')[1])
        assert d.http('/readyz')[0] == 503
    assert daemons[1].metric('nats_connected') == 0
    server.start()
    for d in daemons:
        until('the second', lambda d=d: 'the servers need 1024 MiB (stream_max) '
              'for GPULOG' in d.log())
        assert '.c:' not in d.log()
        until('why', lambda d=d: 'stream_max' in d.http('/readyz')[1])
    server.kill()
    with open(conf, 'w', encoding='ascii') as f:
        f.write(text)
    server.start()
    with send(temp, 1):
        same(temp, 1)
        acknowledged(daemons[0])
    for d in daemons:
        until('ready', lambda d=d: d.http('/readyz') == (200, 'ready\n'))
    assert '64 of 64 partitions, 0 before' in daemons[1].log()
    assert daemons[1].metric('nats_connected') == 1
    for d in daemons:
        d.stop()
    server.kill()


def kept_out(temp, server, bad):
    """Edges with wrong keys get nothing, and are told why."""
    for i, (keys, words) in enumerate(bad):
        e = make(temp, f'bad{i}', EDGE % (server.url, keys))
        until('it is said', lambda e=e, words=words: words in e.log() and
              'trying again' in e.log())
        assert e.metric('output_connected') == 0
        e.stop()


def let_in(temp, server, keys, right, wrong):
    """With these keys an edge and a worker are as without; so is the command
    with the words `right`, and gets nothing with `wrong`."""
    e = make(temp, 'edge', EDGE % (server.url, keys))
    w = make(temp, 'worker',
             (WORKER % server.url).replace('"]}', f'"], {keys}}}'))
    with send(temp, 3):
        same(temp, 3)
        acknowledged(e)
    for words, status, n in ((right, 0, 3 * N_ENTRIES), (wrong, 1, 0)):
        done = subprocess.run([PRINTFDECODE, 'replay', '--nats', server.url,
                               '-o', 'json', *words], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == status, (done.stderr, server.log())
        assert done.stdout.count(b'\n') == n
        assert bool(done.stderr) == bool(status)
    e.stop()
    w.stop()


def secure(temp):
    """With TLS, certificates of both and a password all is as without; whoever
    lacks one of them gets nothing, and is told why."""
    tls.make_all(temp)
    tls.make_certificate(temp, 'server', of='DNS:localhost')
    server = Server(temp, more=TLS % (temp, temp, temp)).start()
    server.url = f'tls://localhost:{server.port}'
    right, wrong = secret(temp, 'right', 'right one'), secret(temp, 'wrong', 'x')

    def keys(ca='ca', client='client', password=right):
        own = (f', tls_certificate: {temp}/{client}.pem, '
               f'tls_key: {temp}/{client}.key' if client else '')
        return (f'tls_ca: {temp}/{ca}.pem{own}, user: gpu, '
                f'password_file: {password}')

    kept_out(temp, server, (
        (keys(ca='other'), 'ertificate'), (keys(client=None), ''),
        (keys(password=wrong), 'uthorization'),
        (keys(password='/nowhere/x'), '/nowhere/x cannot be read')))
    ours = ['--tls-ca', f'{temp}/ca.pem', '--tls-certificate',
            f'{temp}/client.pem', '--tls-key', f'{temp}/client.key', '--user',
            'gpu', '--password-file']
    let_in(temp, server, keys(), [*ours, right], [*ours, wrong])
    server.kill()


def with_credentials(temp):
    """A server that knows nobody but who has claims of its operator: with their
    file all is as without; with those of another operator, or none, nothing."""
    if not shutil.which('openssl'):
        skip('no openssl')
    make_operator(temp, 'wrong')
    server = Server(temp, more=make_operator(temp, 'right')).start()
    kept_out(temp, server, (
        (f'credentials_file: {temp}/wrong.creds', 'uthorization'),
        ('window: 64MiB', 'uthorization'),
        ('credentials_file: /nowhere/x', '/nowhere/x')))
    let_in(temp, server, f'credentials_file: {temp}/right.creds',
           *(['--credentials', f'{temp}/{name}.creds'] for name in ('right', 'wrong')))
    server.kill()


def checked(temp):
    """check-config says what is not there, and what would be done."""
    path = f'{temp}/c.yaml'
    with open(path, 'w', encoding='ascii') as f:
        f.write(f'state_dir: {temp}/state\n'
                'inputs: [{type: stdin}]\noutputs:\n'
                '  - {type: nats, servers: ["tls://a.example"], user: me, '
                'password_file: /nowhere/p, tls_ca: /nowhere/ca}\n')
    done = subprocess.run([PROGRAM, 'check-config', path], check=False,
                          text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    assert 'to NATS at tls://a.example, as me' in done.stdout, done.stdout
    for missing in '/nowhere/p', '/nowhere/ca':
        assert f'{missing}: No such file' in done.stderr, done.stderr


def count(temp, name):
    with open(f'{temp}/{name}/kept.log', 'rb') as f:
        return f.read().count(b'\n')


def capped(name, d):
    """Within its cap, by its own account and, but for what it was before it
    began, by the system's."""
    taken = d.metric('memory_accounted_bytes')
    assert taken <= 64 << 20, (name, taken)
    return taken


def half_open(temp):
    """A server that stands still: all else goes on, in the memory that it may
    have, and what waits is there when the server is back, once."""
    server = Server(temp).start()
    e = make(temp, 'edge', 'memory_max: 64MiB\nring: 4MiB\n' +
             EDGE % (server.url, 'window: 4MiB'))
    w = make(temp, 'worker', 'memory_max: 64MiB\nring: 4MiB\n' +
             WORKER % server.url)
    with send(temp, 5):
        same(temp, 5)
    server.freeze()
    n = 5
    while any('connection lost' not in d.log() for d in (e, w)):
        with send(temp, 5, first=100 * n):
            n += 5
            until('the file', lambda n=n: count(temp, 'edge') == n * N_ENTRIES)
        capped('edge', e)
        capped('worker', w)
        time.sleep(0.5)
    until('it is known', lambda: e.metric('output_connected') == 0)
    server.thaw()
    same(temp, n)
    acknowledged(e)
    e.stop()
    w.stop()
    server.kill()


def gone(temp):
    """A server that never comes back holds up nobody's end; an edge that never
    does holds nothing at a worker: others' entries and its end come."""
    server = Server(temp).start()
    one, two = edge(temp, server, 'edge'), edge(temp, server, 'two')
    w = worker(temp, server)
    socks = [send(temp, 5, name, first=i)
             for i, name in ((1, 'edge'), (100, 'two'))]
    same(temp, 10, ('edge', 'two'))
    two.kill()
    with send(temp, 5, first=200):
        same(temp, 15, ('edge', 'two'))
    acknowledged(one)
    server.freeze()
    with send(temp, 5, first=300):
        until('the file', lambda: sum(lines(temp, 'edge').values()) ==
              15 * N_ENTRIES)
    one.stop()
    w.stop()
    for sock in socks:
        sock.close()
    server.kill()


GROUPS = {
    'peers': (reasons, checked, secure, with_credentials, half_open, gone),
}

if __name__ == '__main__':
    if not program():
        skip('no nats-server')
    run(*GROUPS[os.path.basename(REST[1])])
