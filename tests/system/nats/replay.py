#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replay.py DAEMON DUMP ELF PRINTFDECODE GROUP: what edges have sent to a real
nats-server is read back by `replay --nats` and `follow --nats`."""
import itertools
import json
import os
import subprocess
import time

from server import Server, program

from nats import acknowledged, edge, lines, same, send, worker

from harness import (N_ENTRIES, REST, can_be_ended, die_with_us, free_port, frame, run, skip,
                     until)

PRINTFDECODE = REST[0]


def said(*args):
    """(status, lines, errors)"""
    done = subprocess.run([PRINTFDECODE, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, timeout=100)
    return (done.returncode, done.stdout.decode(errors='replace').splitlines(),
            done.stderr.decode())


def replay(server, *args):
    return said('replay', '--nats', server.url, *args)


def bare(records):
    """As lines() has them."""
    ret = []
    for text in records:
        record = json.loads(text)
        record.pop('sequence')
        record['origin'].pop('host')
        if not record['origin']:
            record.pop('origin')
        ret.append(json.dumps(record, sort_keys=True))
    return sorted(ret)


def equal(temp):
    """What is read back is what the worker wrote, each record once, also where
    the edge sent all of it several times."""
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    with send(temp, 6):
        same(temp, 6)
        acknowledged(e)
    status, got, errors = replay(server, '-o', 'json')
    assert status == 0 and not errors, errors
    assert bare(got) == sorted(lines(temp, 'worker').elements())
    w.stop()
    with send(temp, 4, first=100):
        # Nobody acknowledges: all of it is sent once more.
        until('sent', lambda: e.metric('output_sent_total') >= 10)
        e.kill()
        e.start()
        until('sent again', lambda: e.metric('output_sent_total') >= 4)
    until('all', lambda: len(replay(server, '-o', 'json')[1]) == 10 * N_ENTRIES)
    status, got, errors = replay(server, '-o', 'json')
    assert status == 0 and not errors, errors
    assert bare(got) == sorted(lines(temp, 'edge').elements())
    e.stop()
    server.kill()


def chosen(temp):
    """The usual filters and forms."""
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    with send(temp, 3):
        same(temp, 3)
    all_lines = replay(server)[1]
    assert len(all_lines) >= 3 * N_ENTRIES
    assert replay(server, '--limit', '3')[:2] == (0, all_lines[:3])
    status, got, _ = replay(server, '--source', 'b2', '-o', 'json')
    assert status == 0 and len(got) == N_ENTRIES
    assert all(json.loads(text)['source'] == 'b2' for text in got)
    status, got, _ = replay(server, '-m', '^half', '--where', 'byte == 0x5c',
                            '-o', 'json')
    assert status == 0 and len(got) == 3, got
    assert replay(server, '--source', 'nobody')[:2] == (3, [])
    assert replay(server, '-m', 'no such line')[:2] == (3, [])
    status, got, errors = replay(server, '--where', 'no_such_name == 1')
    assert status == 1 and not got and "'no_such_name'" in errors, errors
    assert 'byte' in errors, errors
    assert replay(server, '--since', '1h')[:2] == (0, all_lines)
    assert replay(server, '--since', '2100-01-01T00:00:00Z')[:2] == (0, [])
    assert replay(server, '--since', '1999-12-31T23:59:59.5+01:00')[1] == all_lines
    assert '×' in replay(server, '--collapse')[1][0]
    status, got, _ = replay(server, '-o', 'perfetto')
    assert status == 0 and 'Output' in ''.join(got)
    time.sleep(1.5)
    with send(temp, 1, first=50):
        same(temp, 4)
    # Only what came since then.
    status, got, _ = replay(server, '--since', '1s', '-o', 'json')
    assert {json.loads(text)['source'] for text in got} <= {'b50'}, got
    e.stop()
    w.stop()
    server.kill()


def checked(temp):
    """What lets a build fail does so with entries that servers have kept, once
    they are all judged; losses are those of servers."""
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    with send(temp, 3):
        same(temp, 3)
        acknowledged(e)
    all_lines = replay(server)[1]
    for args, wanted, words in (
            (('--fail-on', '^half .* bool 1'), 4, '--fail-on: half 400.5'),
            (('--fail-on', 'no such line'), 0, ''),
            (('--fail-where', 'byte == 0x5c'), 4, '--fail-where: half '),
            (('--fail-where', 'byte == 0x99'), 0, ''),
            (('--fail-on-errors',), 0, ''), (('--fail-on-loss',), 0, '')):
        status, got, errors = replay(server, *args)
        assert status == wanted and got == all_lines, (args, status, errors)
        assert words in errors and bool(errors) == bool(words), (args, errors)
    # Filters choose what is judged, and forms report it.
    assert replay(server, '--fail-on', '^half', '--source', 'nobody')[0] == 3
    status, got, _ = replay(server, '--fail-on', '^half', '-o', 'sarif')
    results = json.loads('\n'.join(got))['runs'][0]['results']
    assert status == 4 and results[0]['ruleId'] == 'fail-on', got
    status, got, _ = replay(server, '--fail-on', '^half', '-o', 'tap')
    assert status == 4 and got[0] == 'TAP version 14', got
    e.stop()
    w.stop()
    server.request('$JS.API.STREAM.MSG.DELETE.GPULOG', b'{"seq": 2}')
    status, _, errors = replay(server, '--fail-on-loss')
    assert status == 4 and '--fail-on-loss: ' in errors, errors
    server.kill()


def refused(temp):
    """What cannot be is said, with status 1."""
    url = f'nats://127.0.0.1:{free_port()}'
    for args, words in (
            ((), '--nats URL is missing'),
            (('--nats', 'http://a'), "'http://a' is no nats://HOST:PORT"),
            (('--nats', 'nats://me:pw@127.0.0.1'), '--password-file'),
            (('--nats', url, '--user', 'me'), 'go together'),
            (('--nats', 'nats://a.example', '--user', 'me', '--password-file',
              '/dev/null'), 'tls://'),
            (('--nats', url, '--user', 'me', '--password-file', '/nowhere'),
             '/nowhere cannot be read'),
            (('--nats', url, '--tls-ca', '/dev/null'), 'tls://'),
            (('--nats', url, '--since', 'yesterday'), "'yesterday'"),
            (('--nats', url, '--since', '10'), "'10'"),
            (('--nats', url), url)):
        status, got, errors = said('replay', *args)
        assert status == 1 and not got and words in errors, (args, errors)
    assert 'for --nats' in said('follow', '/dev/null', '--since', '1h')[2]
    # A server without the stream, without JetStream, and one that hangs.
    server = Server(temp).start()
    status, got, errors = replay(server)
    assert status == 1 and 'there is no stream GPULOG' in errors, errors
    server.freeze()
    status, got, errors = replay(server)
    assert status == 1 and server.url in errors, errors
    server.thaw()
    server.kill()


def poisoned(temp):
    """What is no edge's is told, and the rest is printed."""
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    with send(temp, 1):
        same(temp, 1)
    begun = frame('buffer', buffer=1, name='x')
    for i, (payload, keys) in enumerate((
            (b'x', {}), (begun, {'Gpulog_First': 5, 'Gpulog_Last': 4}),
            (begun, {}), (begun + b'\0' * 50, {}),
            (begun + frame('entries', buffer=1, bytes=b'\0' * 99), {}),
            (begun + frame('entries', buffer=1, bytes=b''), {}))):
        server.publish('gpulog.v1.07.h.g', payload, **{
            'Gpulog_Edge': '0' * 32, 'Gpulog_First': i + 1,
            'Gpulog_Last': i + 1, 'Gpulog_Previous': i, 'Gpulog_Acked': 0,
            'Gpulog_Epoch': 1, **keys})
    server.publish('gpulog.v1.07.h.g', b'without headers')
    with send(temp, 1, first=9):
        until('the second', lambda: len(replay(server, '-o', 'json', '--source',
                                               'b9')[1]) == N_ENTRIES)
    status, got, errors = replay(server, '-o', 'json')
    assert status == 2 and len(got) == 2 * N_ENTRIES, (status, len(got))
    assert errors.count(': message ') == 7, errors
    e.stop()
    w.stop()
    server.kill()


def lost(temp):
    """What a server has lost is told where the edge does not send it again, and
    where the code objects are gone entries are of unknown ids."""
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    with send(temp, 3):
        same(temp, 3)
        acknowledged(e)
    e.stop()
    w.stop()
    server.request('$JS.API.STREAM.MSG.DELETE.GPULOG', b'{"seq": 2}')
    status, got, errors = replay(server, '-o', 'json')
    assert status == 2 and 'are not in the stream' in errors, errors
    assert len(got) == 2 * N_ENTRIES
    server.request('$JS.API.STREAM.PURGE.GPUCODE', b'')
    status, got, errors = replay(server, '-o', 'json')
    assert status == 2 and 'is not at the servers' in errors, errors
    server.kill()


def followed(temp):
    """New lines come as they are written, also after the server was away."""
    server = Server(temp).start()
    e, w = edge(temp, server), worker(temp, server)
    with send(temp, 1):
        same(temp, 1)
    with open(f'{temp}/out', 'wb') as out:
        process = subprocess.Popen(
            [PRINTFDECODE, 'follow', '--nats', server.url, '-o', 'json'],
            stdout=out, preexec_fn=die_with_us)

    def got():
        with open(f'{temp}/out', 'rb') as f:
            return [json.loads(line)['source'] for line in f
                    if line.endswith(b'\n')]

    can_be_ended(process, 15)
    names = itertools.count(900)

    def any_line():
        with send(temp, 1, first=next(names)):
            time.sleep(0.3)
        return got()

    until('that it follows', any_line)  # what came before it did is not its
    with send(temp, 1, first=10):
        until('new lines', lambda: got().count('b10') == N_ENTRIES)
    server.kill()
    server.start()
    with send(temp, 1, first=20):
        until('more lines', lambda: got().count('b20') == N_ENTRIES)
    # One that begins anew has nothing that was there.
    server.kill()
    server.roll_back()
    server.start()
    with send(temp, 1, first=30):
        until('other lines', lambda: got().count('b30') == N_ENTRIES)
    process.terminate()
    assert process.wait() == 0
    late = [name for name in got() if len(name) == len('b10')]
    assert set(late) == {'b10', 'b20', 'b30'}, set(late)
    assert len(late) == 3 * N_ENTRIES
    # And it ends by itself.
    status, lines_of, _ = said('follow', '--nats', server.url, '--since', '1h',
                               '--until-idle', '0.5', '-n', '7')
    assert status == 0 and len(lines_of) == 7
    e.stop()
    w.stop()
    server.kill()


def nothing(temp):
    """A stream that is there, and empty, is no fault."""
    server = Server(temp).start()
    e = edge(temp, server)
    until('the streams', lambda: 'made stream GPULEASE' in e.log())
    assert replay(server) == (0, [], '')
    e.stop()
    server.kill()
    status, got, errors = replay(server)
    assert status == 1 and not got and 'No server available' in errors, errors
    assert '.c:' not in errors, errors


GROUPS = {
    'replay': (nothing, refused, equal, chosen, checked, poisoned, lost, followed),
}

if __name__ == '__main__':
    if not program():
        skip('no nats-server')
    run(*GROUPS[os.path.basename(REST[1])])
