#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""day.py DAEMON DUMP ELF PRINTFDECODE [NODE FORWARD.JS]: an operator's day with
one farm, from its first start to its last: a real nats-server that takes small
messages, edges on copied and restored state folders, a worker that writes to a
file, a database and log services. Each step prints what held; what a service is
missing for is left out by name. All entries of the day are counted at its end.

What operators met, by the numbers that steps print, and the tests that have it:
   1  edges with copies of one state folder  here; nats copies: cloned, queued
   2  state folders that went back           here; nats copies: put_back, gone_back
   3  servers of small messages              here; nats small
   4  reasons of an outage, and its end      here; nats peers, permitted; daemon log
   5  hosts are told apart                   here; nats replay; daemon directory, web
   6  restarts without a descriptor store    here; daemon restart
   7  batches over buffers                   here; output otlp, forward
   8  a reload while lines wait              here; output otlp: reloaded
   9  what waits, and for whom               here; nats plain: looked_at; nats peers
  10  window beyond stream_max               here; nats plain: windows_are_summed
  11  a filter looks through the whole ring  web page
  12  a mistake in a filter                  web page
  13  a phone, columns of time and severity  web page
  14  what log services are told             here; output keys, forward, otlp, syslog
  15  the installed unit                     daemon shipped: unit_fits
  17  replay of an empty stream              here; nats replay: nothing
  18  outputs in each other's way            here; daemon config: files_are_apart
  19  what cannot be bound                   here; daemon config: addresses_are_told
  20  metrics of each output, and why not    here; daemon outputs, prometheus
  21  all mistakes of an output at once      here; daemon config: errors_have_places
  22  the word that was meant                here; daemon config: errors_have_places
  23  what a reload cannot change            here; daemon config: defaults_fit
  24  no places in libnats' source           here; nats peers, replay
  25  a full disk at the start               here
  26  links in a watched folder              here; daemon watched
  27  patterns and code objects of nothing   here; daemon shipped: plans_are_told
  28  exports of the page                    web page
  30  a prefix of one's own                  install
  31  a service that flaps                   here; daemon log: test_outage
"""
import collections
import contextlib
import gzip
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'daemon'), os.path.join(HERE, '..', 'outputs')]

from server import Server, program

import restart
from copies import TWO, copy_state, incarnations
from nats import WORKER, acknowledged, edge, make, send, status_of
from real import Process, Rsyslog
from small import frames, large_elf
from systemd import Shared

from harness import (ELF, N_ENTRIES, PROGRAM, REST, free_port, has, producer, run, skip,
                     until)

PRINTFDECODE, NODE, FLUENT = (REST + ['', '', ''])[:3]

class Collector:
    """Of OTLP: says an error until it is told to work; then it may flap."""

    def __init__(self):
        self.works = self.flaps = False
        self.n_requests = 0
        self.records = []
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers['Content-Length']))
                if self.headers['Content-Encoding'] == 'gzip':
                    body = gzip.decompress(body)
                collector.n_requests += 1
                works = collector.works and not (
                    collector.flaps and collector.n_requests % 2)
                if works:
                    collector.take(json.loads(body))
                self.send_response(200 if works else 503)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', '2')
                self.end_headers()
                self.wfile.write(b'{}')

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=[0.05], daemon=True).start()

    def take(self, request):
        for resource in request['resourceLogs']:
            for scope in resource['scopeLogs']:
                for record in scope['logRecords']:
                    words = {a['key']: next(iter(a['value'].values()))
                             for a in record['attributes']}
                    if words['gpu.type'] == 'entry':
                        self.records.append(int(words['gpu.sequence']))

    def sequences(self):
        return collections.Counter(self.records)


class Fluent(Process):
    """A server of Fluent's Forward protocol, in node."""

    def __init__(self, temp, port):
        self.out, self.said = f'{temp}/fluent.out', f'{temp}/fluent.log'
        with open(self.out, 'ab') as out, open(self.said, 'wb') as log:
            super().__init__(NODE, FLUENT, str(port), stdout=out, stderr=log)
        until('the server', lambda: 'listening' in open(self.said, encoding='utf-8').read())

    def sequences(self):
        with open(self.out, 'rb') as f:
            records = [json.loads(line)['record'] for line in f.read().split(b'\n')[:-1]]
        return collections.Counter(int(r['sequence']) for r in records if r['type'] == 'entry')


def database(worker):
    """What has been written, without a copy of its own journal."""
    code = ('import sqlite3, sys; d = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True, '
            'timeout=60); print(*(r[0] for r in d.execute("SELECT sequence FROM messages '
            'WHERE type = \'entry\'")))')
    done = subprocess.run([sys.executable, '-c', code, f'{worker.temp}/log.db'],
                          check=False, capture_output=True, text=True)
    return collections.Counter(map(int, done.stdout.split()))


def replay(server, *args):
    return subprocess.run([PRINTFDECODE, 'replay', '--nats', server.url, *args],
                          check=False, capture_output=True, text=True)


class Day:
    def __init__(self, temp):
        self.temp = temp
        self.n_buffers = 0  # of N_ENTRIES each, that were printed by now
        self.extra = 0  # entries besides
        self.first = 1

    def number(self, n):
        self.first += n
        self.n_buffers += n
        return self.first - n

    def send(self, n, name='edge'):
        return send(self.temp, n, name, self.number(n))

    def records(self):
        """Of the worker's file and of what was rotated away."""
        found = []
        for name in sorted(os.listdir(f'{self.temp}/worker')):
            if name.startswith('kept.log'):
                with open(f'{self.temp}/worker/{name}', 'rb') as f:
                    found += [json.loads(line) for line in f.read().split(b'\n')[:-1]]
        return [r for r in found if r['type'] == 'entry']

    def all_is_there(self):
        """Once each."""
        n = self.n_buffers * N_ENTRIES + self.extra
        until(f'{n} entries', lambda: len(self.records()) >= n)
        records = self.records()
        times = collections.Counter((r['source'], r['index']) for r in records)
        assert len(records) == n, (len(records), n)
        assert set(times.values()) == {1}, [k for k, v in times.items() if v > 1][:5]
        assert all(r['message'] is not None for r in records)
        return f'{n} entries, each once'

    def sequences(self):
        return collections.Counter(r['sequence'] for r in self.records())


def held(number, what, result=''):
    print(f'{number:>9}  {what}: held{"; " if result else ""}{result}', flush=True)


FORBIDDEN = '''no_auth_user: any
authorization { users: [ {user: any, password: any,
  permissions: {publish: {deny: ["$JS.API.STREAM.INFO.>"]}}} ] }
'''


def begins(day, server, daemons):
    """Nobody is there, then a server that forbids, one without room, and one that
    works."""
    path = f'{server.temp}/{server.name}.conf'
    with open(path, encoding='ascii') as f:
        conf = f.read()
    for words, room, rules in (
            ('No server available', '', None), ('Permissions Violation', '', FORBIDDEN),
            ('the servers need 1024 MiB', ' max_file: 256MB,', '')):
        if rules is not None:
            with open(path, 'w', encoding='ascii') as f:
                f.write(conf.replace('jetstream {', 'jetstream {' + room) + rules)
            server.start()
        for d in daemons:
            until(words, lambda d=d, words=words: words in d.log())
            until('why', lambda d=d, words=words: words in d.http('/readyz')[1])
        if rules is not None:
            server.kill()
    with open(path, 'w', encoding='ascii') as f:
        f.write(conf)
    server.start()
    for d in daemons:
        until('ready', lambda d=d: d.http('/readyz')[0] == 200)
    done = replay(server)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', ''), done
    held('17', 'a stream that is there, and empty')
    with day.send(2):
        result = day.all_is_there()
    held('4', 'each reason of an outage is said, and the cure is noticed', result)


def small_messages(day, edge_):
    with producer(f'{day.temp}/edge/in.sock', *frames(day.number(2), 2, large_elf())):
        result = day.all_is_there()
        acknowledged(edge_)
    assert edge_.metric('output_dropped_total') == 0
    held('3', 'a code object of 300 KiB at a server of 64 KiB', result)


def cloned(day, edge_, worker, server):
    edge_.stop()
    for name in 'twin', 'third':
        copy_state(day.temp, 'edge', name)
    edge_.start()
    twins = [edge(day.temp, server, name) for name in ('twin', 'third')]
    while TWO not in worker.log():
        assert day.first < 100, worker.log()
        with day.send(1), day.send(1, 'twin'), day.send(1, 'third'):
            result = day.all_is_there()
    assert len({incarnations(day.temp, name)[-1] for name in ('edge', 'twin', 'third')}) == 3
    held('1', 'three edges with copies of one state folder',
         f'{result}, and the worker says so')
    return twins


def put_back(day, edge_, whose, name, what):
    """The state folder of one process is as it was before entries that came."""
    whose.stop()
    copy_state(day.temp, name, 'backup')
    whose.start()
    with day.send(3):
        day.all_is_there()
        acknowledged(edge_)
    whose.stop()
    copy_state(day.temp, 'backup', name)
    whose.start()
    with day.send(2):
        result = day.all_is_there()
        acknowledged(edge_)
    held('2', what, result)


def put_back_with_chunks(day, edge_, server):
    """The copy is of a running edge, and has chunks that wait."""
    server.kill()
    before = printed(day)
    with day.send(2):
        until('the edge', lambda: printed(day) == before + 2 * N_ENTRIES)
        copy_state(day.temp, 'edge', 'backup')
        server.start()
        day.all_is_there()
        acknowledged(edge_)
    edge_.kill()
    copy_state(day.temp, 'backup', 'edge')
    edge_.start()
    with day.send(2):
        result = day.all_is_there()
        acknowledged(edge_)
    held('2', 'one that was put back with chunks that wait', result)


def restarted(day, edge_):
    """A producer whose buffer lives on, without a store of descriptors."""
    b = Shared()
    sock = restart.announce(b, f'{day.temp}/edge')
    for end in edge_.stop, edge_.kill:
        b.write(10)
        day.extra += 10
        day.all_is_there()
        end()
        sock.close()
        b.write(10)
        day.extra += 10
        edge_.start()
        sock = restart.announce(b, f'{day.temp}/edge')
        result = day.all_is_there()
    sock.close()
    held('6', 'restarts without a store of descriptors', result)


def told_apart(day, edge_, worker, server):
    """By their hosts, and what nobody has is said to be nobody's."""
    host = day.records()[0]['origin']['host']
    assert f'source="b{day.first - 1}"' in worker.http()[1]
    done = replay(server, '--where', f'host == "{host}"')
    assert done.returncode in (0, 2) and done.stdout, done
    done = replay(server, '--where', 'host == "nobody"')
    assert done.returncode == 3 and not done.stdout, done
    for name in 'hots', 'origin.hots':
        done = replay(server, '--where', f'{name} == "a"')
        assert done.returncode == 1 and 'near to it: host' in done.stderr, done
    said = status_of(edge_)
    assert 'workers: 1' in said and ' 64 partitions: 0-63' in said, said
    assert ' of which 0 have lines' in said, said
    held('5, 9', 'hosts are told apart; nats-status', said.splitlines()[0])


def services(day, worker, collector):
    """New outputs by a restart, one of which says errors; then a reload while
    lines wait for one that is away."""
    port = free_port()
    peers, config = {'sqlite': lambda: database(worker)}, WORKER % day.url
    config += '  - {type: sqlite, path: $T/log.db, required: true}\n'
    if has('curl'):
        config += ('  - {type: otlp, url: "http://127.0.0.1:%d/v1/logs", required: true, '
                   'name: otlp}\n' % collector.port)
        peers['otlp'] = collector.sequences
    fluent = NODE and os.path.isdir(os.path.join(os.path.dirname(FLUENT), 'node_modules'))
    if fluent:
        fluent_port = free_port()
        config += ('  - {type: forward, address: "tcp:127.0.0.1:%d", required: true, name: '
                   'fluent}\n' % fluent_port)
        peers['forward'] = Fluent(day.temp, fluent_port).sequences
    config += '  - {type: syslog, address: "tcp:127.0.0.1:%d"%s}\n'
    worker.stop()
    before = day.sequences()
    worker.write_config(config % (port, ''))
    worker.start()
    with day.send(20):
        day.all_is_there()
    worker.reload(config % (port, ', facility: local3'))
    assert ': reloaded' in worker.log() and 'stays' not in worker.log()
    collector.n_requests = 0
    collector.works = True
    day.since = before.keys()
    wanted = day.sequences() - before
    for name, read in peers.items():
        until(name, lambda read=read: not wanted - read())
        assert set(read()) <= set(day.sequences()), name
        if name == 'otlp': # one may have been under way
            assert collector.n_requests < 10, collector.n_requests
    said = ', '.join(peers)
    if Rsyslog.is_here():
        os.makedirs(f'{day.temp}/rsyslog')
        syslog = Rsyslog(f'{day.temp}/rsyslog', 'tcp', port)
        until('rsyslogd', lambda: sum(b'type="entry"' in line[6] for line in syslog.read()) >=
              sum(wanted.values()))
        said += ', rsyslogd'
    held('7, 8, 14', 'log services, one of which was away, over a reload', said)
    return peers


def rotated(day, worker):
    """As logrotate does, without a signal: create, then copytruncate."""
    kept = f'{worker.temp}/kept.log'
    os.rename(kept, kept + '.1')
    with day.send(1):
        day.all_is_there()
    assert os.path.exists(kept)
    shutil.copy(kept, kept + '.2')
    os.truncate(kept, 0)
    with day.send(1):
        result = day.all_is_there()
    held('', 'a file that was moved away, and one that was cut', result)


def flapping(day, worker, collector):
    """Errors in turn with success are no news."""
    before = worker.metric('output_retried_total')
    lines = worker.log().count('status 503')
    collector.flaps = True
    while worker.metric('output_retried_total') < before + 20:
        with day.send(1):
            result = day.all_is_there()
    collector.flaps = False
    n = worker.log().count('status 503') - lines
    assert n <= 5, n
    held('31', 'a service that flaps', f'{result}; {n} lines of its log')


@contextlib.contextmanager
def small_disk(path):
    """None where nobody may mount one."""
    os.makedirs(path)
    ok = os.geteuid() == 0 and subprocess.run(
        ['mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', path],
        capture_output=True, check=False).returncode == 0
    try:
        yield ok
    finally:
        if ok:
            subprocess.run(['umount', '-l', path], check=False)


def full(day, worker):
    ballast = f'{worker.temp}/ballast'
    disk = os.statvfs(worker.temp)
    with open(ballast, 'wb') as f:
        os.posix_fallocate(f.fileno(), 0, disk.f_bavail * disk.f_bsize - (256 << 10))
    with day.send(40):
        until('it is said', lambda: 'No space left on device' in worker.log())
        until('why', lambda: worker.http('/readyz')[0] == 503)
        until('why', lambda: re.match('not ready: (a required output |the queue |file: |sqlite: )',
                                      worker.http('/readyz')[1]))
        full_at_start(day)
        os.unlink(ballast)
        result = day.all_is_there()
    until('ready', lambda: worker.http('/readyz')[0] == 200)
    held('20, 25', 'a full disk, also at the start', result)


def full_at_start(day):
    """Of the state folder; where no line comes none is missed."""
    d = make(day.temp, 'late', CONFIG % 'file, path: $T/all.json')
    d.stop()
    d.write_config(f'state_dir: {day.temp}/worker/late\n' +
                   CONFIG % 'file, path: $T/all.json, required: true')
    d.start()
    d.stop()
    assert 'have not written' not in d.log(), d.log()


def printed(day):
    """By all edges; what they have not read a producer does not tell again."""
    n = 0
    for name in 'edge', 'twin', 'third':
        if not os.path.exists(f'{day.temp}/{name}/kept.log'):
            continue
        with open(f'{day.temp}/{name}/kept.log', 'rb') as f:
            n += f.read().count(b'"type":"entry"')
    return n


def killed(day, server, daemons):
    """Whoever it is, while lines are on their way."""
    for has_store in True, False:
        for name in 'edge', 'worker', 'server':
            before = printed(day)
            with day.send(5):
                until('the edge', lambda n=before + 5 * N_ENTRIES: printed(day) >= n)
                if name in daemons:
                    daemons[name].kill()
                    daemons[name].start()
                else:
                    server.kill()
                    if not has_store:
                        server.roll_back()
                    server.start()
    held('', 'kill -9 of edge, worker and server, and a server without its store',
         day.all_is_there())


CONFIG = '''inputs: [{type: listen, address: "unix:$T/in.sock"}]
outputs: [{type: %s}]
'''
# Number, outputs (or a line in front of all), and what check-config says.
MISTAKES = (
    ('10', 'nats, servers: ["nats://127.0.0.1:1"], stream_max: 2MiB, window: 16MiB',
     "'window' is more than 'stream_max'"),
    ('18', 'listen, address: "unix:$T/in.sock"', 'another input or output listens at'),
    ('18', 'http, address: "unix:$T/h"}, {type: http, address: "unix:$T/h"',
     'another input or output listens at'),
    ('18', 'file, path: $T/a}, {type: file, path: $T/./a', 'two outputs would write one file'),
    ('18', 'syslog, address: "tcp:127.0.0.1:9"}, {type: syslog, address: "tcp:127.0.0.1:9"',
     'two outputs are called'),
    ('21', 'file, path: $T/a, match: "(", window: q', 'closing parenthesis'),
    ('21', 'file, path: $T/a, match: "(", window: q', "'window' wants a whole number"),
    ('22', 'listen, adress: "unix:$T/a"', 'near to it: address'),
    ('22', 'stdout, output: JSON', 'near to it: json'),
    ('22', '\nlog_level: INFO\n', 'near to it: info'),
    ('22', '\nmemory_max: 1GB\n', 'near to it: 1GiB'),
    ('22', '\n\tring: 1MiB\n', 'a tab: lines of YAML are indented by spaces'),
    ('27', '\ncode_objects: [$T/config.yaml]\n', 'no code object'),
    ('27', '\ninputs: [{type: directory, path: $T, dumps: "[*.bin"}]\n', "its '[' has no ']'"),
)


def configured(day):
    """What check-config finds, what cannot start, and what a reload refuses."""
    d = make(day.temp, 'late', CONFIG % 'http, address: "unix:$T/http.sock"')
    for number, text, words in MISTAKES:
        text = (text + 'outputs: [{type: stdout}]\n' if text.startswith('\ninputs') else
                text + CONFIG % 'stdout' if text.startswith('\n') else
                'state_dir: $T/state\n' + CONFIG % text)
        path = f'{day.temp}/mistake.yaml'
        with open(path, 'w', encoding='ascii') as f:
            f.write(text.lstrip('\n').replace('$T', d.temp))
        done = subprocess.run([PROGRAM, 'check-config', path], check=False,
                              capture_output=True, text=True)
        assert words in done.stdout + done.stderr, (number, text, done)
    config = CONFIG % 'http, address: "unix:$T/http.sock"'
    d.reload('ring: 16MiB\n' + config)
    assert 'ring only changes with a restart' in d.log()
    for name in 'process_cpu_seconds_total', 'process_resident_memory_bytes':
        assert f'\n{name} ' in d.http()[1], name
    os.makedirs(f'{d.temp}/in')
    d.reload(config.replace('inputs: [', 'inputs: [{type: directory, path: $T/in, dumps: "*"}, '))
    os.symlink(ELF, f'{d.temp}/in/app.elf')
    until('the link', lambda: 'app.elf: not read: it is a symbolic link' in d.log())
    path = f'{day.temp}/mistake.yaml'
    with open(path, 'w', encoding='ascii') as f:
        f.write(CONFIG.replace('$T', day.temp) % f'http, address: "tcp:{day.url[7:]}"')
    done = subprocess.run([PROGRAM, '-c', path], check=False, capture_output=True, text=True)
    assert done.returncode == 1, done
    assert f'tcp:{day.url[7:]}: Address already in use' in done.stderr, done
    d.stop()
    held('10, 18-23, 26, 27', 'mistakes of a configuration are told')


def whole(temp):
    day = Day(temp)
    collector = Collector()
    server = Server(temp, more='max_payload: 65536\n')
    day.url = server.url
    with small_disk(f'{temp}/worker') as is_small:
        edge_ = edge(temp, server)
        worker = make(temp, 'worker', WORKER % server.url)
        begins(day, server, (edge_, worker))
        small_messages(day, edge_)
        twins = cloned(day, edge_, worker, server)
        put_back(day, edge_, edge_, 'edge', 'a state folder that was put back')
        put_back_with_chunks(day, edge_, server)
        put_back(day, edge_, worker, 'worker',
                 "a worker's state folder that was put back")
        restarted(day, edge_)
        told_apart(day, edge_, worker, server)
        configured(day)
        rotated(day, worker)
        peers = services(day, worker, collector)
        if 'otlp' in peers:
            flapping(day, worker, collector)
        if is_small:
            full(day, worker)
        else:
            print('left out: a full disk: nobody but root may mount a small one')
        killed(day, server, {'edge': edge_, 'worker': worker})
        for name, read in peers.items():
            # A new required output may have what was queued before it, too.
            wanted = day.sequences().keys() - day.since
            until(name, lambda read=read, wanted=wanted: wanted <= read().keys())
            assert read().keys() <= day.sequences().keys(), name
            if name == 'sqlite':
                assert set(read().values()) == {1}
        for d in edge_, *twins:
            acknowledged(d)
            assert d.metric('output_dropped_total') == 0
        assert worker.metric('output_sent_total{type="file"') > 0
        for d in edge_, *twins, worker:
            d.stop()
            assert '.c:' not in d.log(), d.log()
        held('', 'all of the day', day.all_is_there())
        server.kill()


if __name__ == '__main__':
    if not program():
        skip('no nats-server')
    run(whole)
