#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""permitted.py DAEMON DUMP ELF PRINTFDECODE GROUP: a real nats-server with the
permissions that we ship: share/printfdecode.nats.conf."""
import os
import subprocess

from server import Server, program

from nats import EDGE, WORKER, acknowledged, make, same, send

from hostile import PRINTFDECODE, Stranger, end
from small import frames, large_elf

from harness import N_ENTRIES, PROGRAM, producer, run, skip, until

CONF = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..',
                    'share', 'printfdecode.nats.conf')
USERS = ('edge', 'worker', 'reader', 'setup')
# What nobody may do but those that are named.
ALLOWED = {
    'gpulog.v1.00.h.g': 'edge', 'gpucode.v1.a.0': 'edge',
    'gpuack.v1.00.a': 'worker', 'gpulease.v1.00': 'worker',
    'gpulease.v1.worker.a': 'worker',
    '$JS.API.STREAM.PURGE.GPUCODE': 'worker', '$JS.API.STREAM.PURGE.GPULOG': '',
    '$JS.API.STREAM.MSG.DELETE.GPULEASE': 'worker',
    '$JS.API.STREAM.MSG.DELETE.GPULOG': '', '$JS.API.STREAM.MSG.DELETE.GPUCODE': '',
    '$JS.API.STREAM.CREATE.GPULOG': 'setup', '$JS.API.STREAM.UPDATE.GPUACK': 'setup',
    '$JS.API.STREAM.CREATE.OTHER': '', '$JS.API.STREAM.DELETE.GPULOG': '',
    '$JS.API.CONSUMER.CREATE.GPULOG': '', '$JS.API.STREAM.RESTORE.GPULOG': '',
    '$JS.API.STREAM.SNAPSHOT.GPULOG': '', '$JS.API.DIRECT.GET.GPULOG': '',
    '$JS.API.STREAM.MSG.GET.GPULOG': 'worker reader',
    '$JS.API.STREAM.MSG.GET.GPUCODE': 'edge worker reader',
    '$JS.API.STREAM.MSG.GET.GPULEASE': 'worker', '_INBOX.worker.a': '',
    '_INBOX.reader.a': '', '_INBOX.edge.a': '',
}
HEARD = {
    'gpulog.v1.>': '', 'gpucode.v1.>': '', 'gpulease.v1.>': '',
    'gpuack.v1.>': 'edge', '_INBOX.>': '', '>': '', '_INBOX.edge.>': 'edge',
    '_INBOX.worker.>': 'worker', '_INBOX.reader.>': 'reader',
}


def secret(temp, name):
    with open(f'{temp}/{name}.password', 'w', encoding='ascii') as f:
        f.write(f'{name}-secret\n')
    return f'user: {name}, password_file: {temp}/{name}.password'


def permitted(temp):
    """With the permissions that we ship all works, and nobody may do what is
    another one's."""
    for name in USERS:
        os.environ[f'GPULOG_{name.upper()}_PASSWORD'] = f'{name}-secret'
    server = Server(temp, more=f'include "{os.path.relpath(CONF, temp)}"\n').start()
    path = f'{temp}/setup.yaml'
    with open(path, 'w', encoding='ascii') as f:
        f.write((EDGE % (server.url, secret(temp, 'setup'))).replace('$T', temp))
    done = subprocess.run([PROGRAM, 'nats-setup', path], capture_output=True,
                          check=False)
    assert done.returncode == 0, done
    e = make(temp, 'edge', EDGE % (server.url, secret(temp, 'edge')))
    workers = [make(temp, name, (WORKER % server.url).replace(
        '"]}', f'"], {secret(temp, "worker")}}}')) for name in ('worker', 'two')]
    until('halves', lambda: all(w.metric('nats_partitions') == 32 for w in workers))
    workers[1].stop()
    with send(temp, 3):
        same(temp, 3)
        acknowledged(e)
    secret(temp, 'reader')
    done = subprocess.run(
        [PRINTFDECODE, 'replay', '--nats', server.url, '-o', 'json', '--user',
         'reader', '--password-file', f'{temp}/reader.password'],
        capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b'\n') == 3 * N_ENTRIES
    for name in USERS:
        for subject, who in ALLOWED.items():
            stranger = Stranger(server, {'user': name, 'pass': f'{name}-secret'})
            stranger.publish(subject, b'x')
            said = stranger.flush()
            assert bool(said) == (name not in who.split()), (name, subject, said)
        for subject, who in HEARD.items():
            stranger = Stranger(server, {'user': name, 'pass': f'{name}-secret'})
            stranger.subscribe(subject)
            said = stranger.flush()
            assert bool(said) == (name not in who.split()), (name, subject, said)
    end(server, e, workers[0])


def forbidden(temp):
    """What a server forbids is said with its words, and why nobody is ready."""
    cases = (('edge', '$JS.API.STREAM.INFO.GPULOG'), ('edge', 'gpulog'),
             ('edge', 'gpucode'), ('worker', '$JS.API.STREAM.MSG.GET.GPULOG'))
    users = '{user: all, password: all-secret}'
    for i, (_, subject) in enumerate(cases):
        deny = f'{{publish: {{deny: ["{subject}", "{subject}.>"]}}}}'
        users += f', {{user: u{i}, password: u{i}-secret, permissions: {deny}}}'
    server = Server(temp, more=f'authorization {{ users: [ {users} ] }}\n').start()
    daemons = [make(temp, 'all', EDGE % (server.url, secret(temp, 'all')))]
    for i, (who, _) in enumerate(cases):
        keys = secret(temp, f'u{i}')
        daemons.append(make(temp, f'{who}{i}', EDGE % (server.url, keys) if who == 'edge' else
                            (WORKER % server.url).replace('"]}', f'"], {keys}}}')))
    socks = [send(temp, 1, name) for name in ('all', 'edge0', 'edge1')]
    # A code object that no other edge has stored.
    socks.append(producer(f'{temp}/edge2/in.sock', *frames(1, 1, large_elf())))
    for d, (_, subject) in zip(daemons[1:], cases):
        words = f'the server said Permissions Violation for Publish to "{subject}'
        until(words, lambda d=d, words=words: words in d.log())
        until('why', lambda d=d, words=words: words in d.http('/readyz')[1])
    done = subprocess.run([PRINTFDECODE, 'replay', '--nats', server.url, '--user', 'u3',
                           '--password-file', f'{temp}/u3.password'],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and 'Permissions Violation' in done.stderr, done
    for sock in socks:
        sock.close()
    for d in daemons:
        d.kill()
    server.kill()


if __name__ == '__main__':
    if not program():
        skip('no nats-server')
    run(permitted, forbidden)
