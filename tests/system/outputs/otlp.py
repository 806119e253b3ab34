#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""otlp.py DAEMON DUMP ELF FOLLOW PROTOC PROTO [NODE OTLP.JS]: what is sent over
OTLP, each body checked by the mapping of protobuf to JSON and by protoc; a real
server (of a test's kind); answers of all kinds."""
import collections
import contextlib
import gzip
import http.server
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

from real import Process, check_config
import kept

from harness import (DUMP, N_ENTRIES, REST, Daemon, Lacking, dial, dump_frames,
                     free_port, need, producer, run, slurp, until)
import tls

PROTOC, PROTO = REST[1:3]
NODE, SERVER = (REST[3:5] + ['', ''])[:2]
need('curl')

CONFIG = '''drain: 1s
code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: otlp, url: "%s", %s}
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "unix:$T/http.sock"}
'''


# ---- the mapping of protobuf to JSON ----

def read_schema():
    """{message: {jsonName: (name, type, is_repeated)}}"""
    found, message = {}, None
    with open(PROTO, encoding='ascii') as f:
        for line in f:
            begin = re.match(r'message (\w+)', line)
            field = re.match(r' +(repeated )?(\w+) (\w+) = \d+;', line)
            message = begin[1] if begin else message
            if line.startswith('enum'):
                message = None
            if field and message:
                words = field[3].split('_')
                name = words[0] + ''.join(w.capitalize() for w in words[1:])
                found.setdefault(message, {})[name] = (field[3], field[2],
                                                       bool(field[1]))
    return found


SCHEMA = read_schema()
RANGES = {'fixed64': (0, 1 << 64), 'int64': (-1 << 63, 1 << 63),
          'uint32': (0, 1 << 32), 'fixed32': (0, 1 << 32)}


def quoted(text):
    return '"' + ''.join(f'\\{b:03o}' for b in text.encode()) + '"'


def as_text(value, kind):
    """A value as protobuf's text format has it; whatever the mapping does not
    allow is an error."""
    if kind in SCHEMA:
        return '{ ' + fields_as_text(value, kind) + '}'
    if kind in ('fixed64', 'int64'):
        assert isinstance(value, str) and re.fullmatch(r'0|-?[1-9]\d*', value), (
            'a 64-bit integer is a text of decimal digits', value)
        low, end = RANGES[kind]
        assert low <= int(value) < end, value
        return value
    if kind in ('uint32', 'fixed32', 'SeverityNumber'):
        assert isinstance(value, int) and not isinstance(value, bool), value
        low, end = RANGES.get(kind, (0, 25))
        assert low <= value < end, value
        return str(value)
    if kind == 'bool':
        assert isinstance(value, bool)
        return 'true' if value else 'false'
    assert kind == 'string' and isinstance(value, str), (kind, value)
    return quoted(value)


def fields_as_text(value, kind):
    assert isinstance(value, dict), (kind, value)
    if kind == 'AnyValue':
        assert len(value) == 1, ('one of several', value)
    text = ''
    for name, inner in value.items():
        assert name in SCHEMA[kind], f'{kind} has no field {name}'
        plain, inner_kind, is_repeated = SCHEMA[kind][name]
        assert isinstance(inner, list) == is_repeated, (name, inner)
        for one in inner if is_repeated else [inner]:
            text += f'{plain}: {as_text(one, inner_kind)} '
    return text


def unique(pairs):
    assert len({k for k, _ in pairs}) == len(pairs), ('twice', pairs)
    return dict(pairs)


def checked(body):
    """The request, once it is known to be one."""
    request = json.loads(body.decode('utf-8', 'strict'),
                         object_pairs_hook=unique)
    kind = 'ExportLogsServiceRequest'
    text = fields_as_text(request, kind)
    args = [PROTOC, f'--proto_path={os.path.dirname(PROTO)}', PROTO]
    done = subprocess.run(args + [f'--encode=otlp.{kind}'], check=False,
                          input=text.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr[:500]
    # Each record is there, and nothing that nobody knows.
    back = subprocess.run(args + [f'--decode=otlp.{kind}'], check=True,
                          input=done.stdout, stdout=subprocess.PIPE).stdout
    assert back.count(b'log_records {') == len(records_of(request))
    return request


def plain(value):
    (kind, inner), = value.items()
    return int(inner) if kind == 'intValue' else inner


def attributes(of):
    pairs = [(a['key'], plain(a['value'])) for a in of['attributes']]
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


def records_of(request):
    return [(attributes(r['resource']), record) for r in request['resourceLogs']
            for s in r['scopeLogs'] for record in s['logRecords']]


# ---- a server ----

def server_at(port, handler):
    """Where one was before: protoc, on its way to be another program, has that
    one's socket for a moment."""
    servers = []

    def has_begun():
        with contextlib.suppress(OSError):
            servers.append(http.server.ThreadingHTTPServer(
                ('127.0.0.1', port), handler))
        return servers

    until('a server', has_begun)
    return servers[0]


class Peer:
    """Answers as told: (status, headers, body), or None: it breaks off."""

    def __init__(self, answer=lambda n: (200, {}, b'{}'), context=None, port=0):
        self.answer = answer
        self.requests = []  # (headers, request), of those that got 2xx
        self.wrong = []
        self.n = 0
        self.times = []
        self.connections = []
        peer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def setup(self):
                super().setup()
                peer.connections.append(self.connection)

            def do_POST(self):  # pylint: disable=invalid-name
                peer.take(self)

            def log_message(self, *_):
                pass

        self.server = server_at(port, Handler)
        if context:
            self.server.socket = context.wrap_socket(self.server.socket,
                                                     server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=[0.05],
                         daemon=True).start()

    def take(self, handler):
        body = handler.rfile.read(int(handler.headers['Content-Length']))
        self.times.append(time.monotonic())
        try:
            assert handler.headers['Content-Type'] == 'application/json'
            if handler.headers['Content-Encoding']:
                assert handler.headers['Content-Encoding'] == 'gzip'
                body = gzip.decompress(body)
            request = checked(body)
        except Exception as e:  # pylint: disable=broad-except
            self.wrong.append(repr(e)[:2000])
            raise
        self.n += 1
        answer = self.answer(self.n)
        if not answer:
            handler.connection.close()
            handler.close_connection = True
            return
        status, headers, out = answer
        if 200 <= status < 300:
            self.requests.append((dict(handler.headers), request))
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header('Content-Length', str(len(out)))
        # Whoever was killed does not hear it.
        with contextlib.suppress(OSError):
            handler.end_headers()
            handler.wfile.write(out)

    def records(self):
        assert not self.wrong, self.wrong
        return sorted((r for _, request in list(self.requests)
                       for r in records_of(request)),
                      key=lambda r: attributes(r[1])['gpu.sequence'])

    def entries(self):
        return [(attributes(r)['gpu.sequence'], int(r['timeUnixNano']))
                for _, r in self.records()
                if attributes(r)['gpu.type'] == 'entry']

    def end(self):
        self.server.shutdown()
        self.server.server_close()
        for sock in self.connections:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


def url_of(peer, scheme='http'):
    return f'{scheme}://localhost:{peer.port}/v1/logs'


def all_of(peer, n=N_ENTRIES):
    until('all of them', lambda: peer.wrong or len(peer.records()) >= n)
    assert len(peer.records()) == n
    return peer.records()


# ---- tests ----

def same_as(said, got):
    for line, (resource, record) in zip(said, got):
        known = attributes(record)
        assert resource['service.name'] == 'shaders', resource
        assert resource['host.name'], resource
        assert record['body'] == {
            'stringValue': line['message'].removesuffix('\n')}
        assert record['timeUnixNano'] == line['time_unix_nano']
        assert (record['severityNumber'], record['severityText']) == (9, 'INFO')
        assert known['gpu.sequence'] == line['sequence']
        assert known['gpu.id'] == line['id'] and known['gpu.source'] == 'dump'
        assert known['gpu.type'] == 'entry'


def sent(temp, keys=''):
    peer = Peer()
    with open(f'{temp}/headers', 'w', encoding='ascii') as f:
        f.write('Authorization: Bearer open-sesame\nX-Scope: gpu\n')
    d = Daemon(temp, CONFIG % (url_of(peer), 'service: shaders, '
                               'headers_file: $T/headers' + keys))
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    with producer(f'{temp}/in.sock', *dump_frames(name='dump')):
        said = live.entries(N_ENTRIES)
        same_as(said, all_of(peer))
    until('counted', lambda: d.metric('output_sent_total') == N_ENTRIES)
    assert d.metric('output_acknowledged_total') == N_ENTRIES
    for headers, _ in peer.requests:
        assert headers['Authorization'] == 'Bearer open-sesame'
        assert headers['X-Scope'] == 'gpu'
        assert ('Content-Encoding' in headers) == (not keys), headers
    d.stop()
    peer.end()


def compressed(temp):
    sent(temp)


def uncompressed(temp):
    sent(temp, ', compress: no')


def hostile(temp):
    """Bytes that are no UTF-8, quotes, controls, levels, places."""
    with open(f'{temp}/a.comp', 'w', encoding='ascii') as f:
        f.write('#version 450\nlayout(local_size_x=1) in;\nvoid main() {\n'
                'PFD_LOG(ERROR, "two\\nlines %d\\n", 3);\n'
                'PFD_LOG(TRACE, "t %d", 3);\nPFD_LOG(WARNING, "w %d", 3);\n}\n')
    subprocess.run([REST[0], 'scan', f'{temp}/a.comp', '-o', f'{temp}/o.comp',
                    '--strings', f'{temp}/s.pfdb', '--sites'], check=True)
    out = subprocess.run([REST[0], 'strings', '-o', 'json', f'{temp}/s.pfdb'],
                         check=True, stdout=subprocess.PIPE)
    ids = [int(json.loads(line)['id'], 16) for line in out.stdout.splitlines()]
    with open(f'{temp}/odd.elf', 'wb') as f:
        f.write(inputs.elf([inputs.row(0x10002, '"\\\x01~', [])]).replace(
            b'\x01~', b'\x01\xff'))
    entries = b''.join(kept.entry(ident, 7) for ident in ids)
    entries += kept.entry(0x10002) + kept.entry(0x777777777777, 9)
    data = kept.buffer(entries)
    peer = Peer()
    d = Daemon(temp, CONFIG.replace('$E', '$T/s.pfdb, $T/odd.elf') % (
        url_of(peer), 'service: a'))
    with producer(f'{temp}/in.sock', *dump_frames(data=data, name='\x02"')):
        until('those', lambda: peer.wrong or len(peer.records()) >= len(ids) + 2)
    by_text = {r['body']['stringValue']: r for _, r in peer.records()}
    two = by_text['two\nlines 7']
    assert two['severityNumber'] == 17 and two['severityText'] == 'ERROR'
    known = attributes(two)
    assert os.path.basename(known['code.file.path']) == 'a.comp', known
    assert known['code.line.number'] == 4 and known['gpu.level'] == 'error'
    assert by_text["t 7"]['severityNumber'] == 1
    assert by_text["w 7"]['severityNumber'] == 13
    assert '"\\\x01\ufffd' in by_text, by_text.keys()
    unknown, = (r for t, r in by_text.items() if 'unknown id' in t)
    assert attributes(unknown)['gpu.findings'] == 'unknown_id'
    assert unknown['severityNumber'] == 13
    d.stop()
    peer.end()


def answers(temp):
    """429, 502, 503, 504 and no answer are tried again, other refusals are not;
    what partialSuccess refuses is counted; what is no answer hurts nobody."""
    script = [(429, {}, b''), (502, {}, b'x' * 100000), (503, {}, b'{}'),
              (504, {'Retry-After': '0'}, b''), None]
    peer = Peer(lambda n: script[n - 1] if n <= len(script) else
                (200, {}, b'{"partialSuccess":{}}'))
    d = Daemon(temp, CONFIG % (url_of(peer), 'service: a'))
    with producer(f'{temp}/in.sock', *dump_frames()):
        all_of(peer)
        until('counted', lambda: d.metric('output_sent_total') == N_ENTRIES)
        # libcurl itself tries again where a connection that stood is broken off.
        assert d.metric('output_retried_total') >= len(script) - 1
        assert peer.n > len(script)
        assert d.metric('output_dropped_total') == 0
    odd = [(b'{"partialSuccess":{"rejectedLogRecords":"3","errorMessage":"n"}}', 3),
           (b'{"partialSuccess":{"rejectedLogRecords":2}}', 2),
           (b'{"partialSuccess":{"rejectedLogRecords":"-5"}}', 0),
           (b'{"partialSuccess":{"rejectedLogRecords":"99999999999999999999"}}',
            N_ENTRIES),
           (b'{"partialSuccess":[1]}', 0), (b'', 0)]
    dropped = 0
    for body, n in odd:
        whole = threading.Semaphore(0)
        peer.answer = lambda _, body=body: (whole.release(), (202, {}, body))[1]
        before = d.metric('output_sent_total')
        with producer(f'{temp}/in.sock', *dump_frames()):
            until('counted', lambda b=before, x=dropped: d.metric(
                'output_sent_total') + d.metric('output_dropped_total') ==
                b + x + N_ENTRIES)
        got = d.metric('output_dropped_total') - dropped
        # It may have come in several requests, each of which was answered so.
        assert (got >= n > 0) or got == n == 0, (body, got)
        dropped += got
    for status in 400, 401, 404, 500, 301:
        peer.answer = lambda _, s=status: (s, {'Location': '/x'}, b'')
        peer.n = 0
        with producer(f'{temp}/in.sock', *dump_frames()):
            until('it is dropped', lambda x=dropped: d.metric(
                'output_dropped_total') == x + N_ENTRIES)
        dropped += N_ENTRIES
    assert 'status 401' in d.log() and 'records dropped' in d.log()
    d.stop()
    peer.end()


def no_answers(temp):
    """What stands in front of a server may answer 200 with something else: that
    is tried again. What the server says in protobuf, and its warnings, count."""
    page = b'<html><form action="/login">Sign in</form></html>'
    proto = {'Content-Type': 'application/x-protobuf'}
    for headers, body in (({'Content-Type': 'text/html'}, page), ({}, page),
                          ({}, b'\xff\x00'), ({}, b'[' * 100000), ({}, b'"x"'),
                          (proto, b'\x0a\x09\x08\x03'), (proto, page)):
        peer = Peer(lambda n, h=headers, b=body: (200, h, b))
        d = Daemon(temp, CONFIG % (url_of(peer), 'service: a'))
        with producer(f'{temp}/in.sock', *dump_frames()):
            until('it is tried', lambda d=d: d.metric('output_retried_total') >= 2)
            assert d.metric('output_sent_total') == 0
            assert 'status 200, but ' in d.log()
            peer.requests.clear()
            peer.answer = lambda n: (200, {}, b'{}')
            all_of(peer)
        d.stop()
        peer.end()
    peer = Peer(lambda n: (200, proto, b'\x0a\x05\x08\x03\x12\x01x'))
    d = Daemon(temp, CONFIG % (url_of(peer), 'service: a'))
    with producer(f'{temp}/in.sock', *dump_frames()):
        until('three', lambda: d.metric('output_dropped_total') >= 3)
    assert 'records refused: x' in d.log()
    peer.answer = lambda n: (
        200, {}, b'{"partialSuccess":{"errorMessage":"token expires"}}')
    with producer(f'{temp}/in.sock', *dump_frames()):
        until('a warning', lambda: 'the server warns: token expires' in d.log())
    d.stop()
    peer.end()


def batches(temp):
    """A batch goes on over buffers: what waits of forty goes in a few requests,
    also where it came bit by bit, in the order in which it came."""
    for name, config in (('kept', kept.CONFIG), ('ring', CONFIG)):
        os.mkdir(f'{temp}/{name}')
        peer = Peer(lambda n: (503, {}, b''))
        keys = f'type: otlp, url: "{url_of(peer)}", batch_time: 500ms'
        d = Daemon(f'{temp}/{name}', config % keys if name == 'kept' else
                   config % (url_of(peer), 'batch_time: 500ms'))
        with producer(f'{temp}/{name}/in.sock', *(
                f for i in range(40)
                for f in dump_frames(buffer=i + 1, name=f'b{i}'))):
            until('all', lambda d=d: d.metric('source_entries_total') == 40 * N_ENTRIES)
            until('it is tried', lambda d=d: d.metric('output_retried_total') >= 1)
            peer.answer = lambda n: (200, {}, b'')
            all_of(peer, 40 * N_ENTRIES)
        requests = [r for _, r in peer.requests]
        assert len(requests) <= 20, len(requests)
        found = [attributes(r)['gpu.sequence'] for request in requests
                 for _, r in records_of(request)]
        assert sorted(found) == list(range(1, len(found) + 1))
        d.stop()
        peer.end()


def reloaded(temp):
    """A reload that changes an output keeps what waits for it; one that takes it
    away says how much that was."""
    peer = Peer(lambda n: (503, {}, b''))
    config = CONFIG % (url_of(peer), '%s: %s')
    d = Daemon(temp, config % ('service', 'a'))
    with producer(f'{temp}/in.sock', *dump_frames()):
        until('it is tried', lambda: d.metric('output_retried_total') >= 1)
        d.reload(config % ('timeout', '8s'))
        peer.answer = lambda n: (200, {}, b'')
        all_of(peer)
        peer.answer = lambda n: (503, {}, b'')
    tried = d.metric('output_retried_total')
    with producer(f'{temp}/in.sock', *dump_frames()):
        until('it is tried', lambda: d.metric('output_retried_total') > tried)
        d.reload('\n'.join(line for line in (config % ('a', 'b')).split('\n')
                           if 'otlp' not in line))
    assert f'{N_ENTRIES} lines that waited for it are not sent' in d.log(), d.log()
    d.stop()
    peer.end()


def retry_after(temp):
    """It is left alone for as long as it says. Of several requests the second
    could be on its way when the first is answered: one entry makes one."""
    data = kept.buffer(kept.entry(0xe4d87cf98e97, 7))
    peer = Peer(lambda n: (503, {'Retry-After': '2'}, b'') if n == 1 else
                (200, {}, b''))
    d = Daemon(temp, CONFIG % (url_of(peer), 'service: a'))
    with producer(f'{temp}/in.sock', *dump_frames(data=data)):
        all_of(peer, 1)
    first, again = peer.times
    assert again - first >= 1.9, peer.times
    d.stop()
    peer.end()


def dead(temp):
    """Nobody there, and one that never answers: others have everything, the
    memory stays within its bounds, and the end comes."""
    silent = threading.Event()
    for peer in None, Peer(lambda n: (silent.wait(), None)[1]):
        port = peer.port if peer else free_port()
        d = Daemon(temp, ('ring: 1MiB\nmemory_max: 32MiB\n' + CONFIG) % (
            f'http://127.0.0.1:{port}/v1/logs', 'timeout: 600s'))
        live = dial(f'{temp}/l.sock', {'from': 'oldest'})
        data = slurp(DUMP)
        while not d.metric('output_dropped_total'):
            with producer(f'{temp}/in.sock',
                          *(f for i in range(50)
                            for f in dump_frames(buffer=i + 1, data=data))):
                live.entries(50 * N_ENTRIES)
        assert d.metric('memory_accounted_bytes') < 32 << 20
        assert d.metric('output_oldest_seconds') > 0
        live.close()
        d.stop()
    silent.set()


def over_tls(temp):
    """Whoever cannot prove who they are gets nothing."""
    need('TLS')
    tls.make_all(temp)
    tls.make_certificate(temp, 'server', of='DNS:localhost')
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f'{temp}/server.pem', f'{temp}/server.key')
    peer = Peer(context=context)
    for keys, is_known in ((', tls_ca: $T/ca.pem', True), ('', False),
                           (', tls_ca: $T/other.pem', False)):
        d = Daemon(temp, CONFIG % (url_of(peer, 'https'), 'service: a' + keys))
        with producer(f'{temp}/in.sock', *dump_frames()):
            if is_known:
                all_of(peer)
                peer.requests.clear()
            else:
                until('it is said', lambda d=d: 'certificate' in d.log())
                assert not peer.records()
        d.stop()
        os.unlink(f'{temp}/log')
    peer.end()


class Sink:
    def __init__(self):
        self.port, self.peer, self.peers = free_port(), None, []
        self.keys = f'type: otlp, url: "http://127.0.0.1:{self.port}/v1/logs"'

    def begin(self):
        self.end()
        self.peer = Peer(port=self.port)
        self.peers.append(self.peer)

    def end(self):
        if self.peer:
            self.peer.end()
        self.peer = None

    def entries(self):
        return [e for peer in self.peers for e in peer.entries()]


def required(temp):
    """Nothing is lost, whoever is killed."""
    sink = Sink()
    kept.killed(temp, sink.keys, sink.entries, sink.begin)
    sink.end()


def required_away(temp):
    sink = Sink()
    times = kept.away(temp, sink.keys, sink.entries, sink.begin, sink.end,
                      is_heard=False)
    assert set(times.values()) == {1}


def required_refused(temp):
    """A wrong token loses nothing; records that the server will not have hold
    up nobody."""
    sink = Sink()
    sink.begin()
    sink.peer.answer = lambda n: (401, {}, b'')
    d = Daemon(temp, kept.CONFIG % sink.keys)
    with kept.produce(temp, 2):
        until('it is tried', lambda: d.metric('output_retried_total') >= 2)
        assert d.metric('output_dropped_total') == 0
        sink.peer.answer = lambda n: (200, {}, b'')
        kept.arrived(temp, d, 2 * N_ENTRIES)
        assert collections.Counter(sink.entries()) == collections.Counter(
            kept.in_file(temp))
        sink.peer.answer = lambda n: (400, {}, b'')
    with kept.produce(temp, 1):
        until('it is dropped', lambda: d.metric('output_dropped_total') ==
              N_ENTRIES)
        sink.peer.answer = lambda n: (200, {}, b'')
    with kept.produce(temp, 1):
        until('the rest', lambda: len(sink.entries()) == 3 * N_ENTRIES)
    d.stop()
    sink.end()


def begin_real(temp, port):
    if not NODE or not os.path.isdir(os.path.join(
            os.path.dirname(SERVER), 'node_modules/@elastic')):
        raise Lacking('node_modules (npm ci in tests/system/outputs)')
    with open(f'{temp}/out', 'wb') as out, open(f'{temp}/said', 'wb') as log:
        peer = Process(NODE, SERVER, str(port), stdout=out, stderr=log)
    until('the server', lambda: b'listening' in slurp(f'{temp}/said'))
    return peer


def real(temp):
    """A server that is not ours."""
    port = free_port()
    peer = begin_real(temp, port)
    d = Daemon(temp, CONFIG % (f'http://127.0.0.1:{port}/v1/logs',
                               'service: shaders, compress: no'))
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    with producer(f'{temp}/in.sock', *dump_frames(name='dump')):
        said = live.entries(N_ENTRIES)
        until('all', lambda: slurp(f'{temp}/out').count(b'\n') == N_ENTRIES)
    got = [json.loads(line) for line in slurp(f'{temp}/out').splitlines()]
    texts = [g['record']['body']['stringValue'] for g in got]
    assert texts == [s['message'].removesuffix('\n') for s in said]
    assert got[0]['scope']['name'] == 'printfdecode', got[0]
    d.stop()
    peer.signal(signal.SIGTERM)


def stands_still(temp):
    """A server that is not ours."""
    port = free_port()
    peer = begin_real(temp, port)

    def read():
        found = []
        for line in slurp(f'{temp}/out').split(b'\n')[:-1]:
            told = {a['key']: a['value'] for a in json.loads(line)['record'][
                'attributes']}
            if told['gpu.type']['stringValue'] == 'entry':
                found.append(int(told['gpu.sequence']['intValue']))
        return found

    kept.still(temp, f'type: otlp, url: "http://127.0.0.1:{port}/v1/logs", '
               'compress: no', read, peer)
    peer.kill()


def refused(temp):
    with open(f'{temp}/headers', 'w', encoding='ascii') as f:
        f.write('no header\n')
    for block, place, words in (
            ('{type: otlp}', '1:11', "'url' is missing"),
            ('{type: otlp, url: "a b"}', '1:29', 'no URL'),
            ('{type: otlp, url: "ftp://a/b"}', '1:29', 'http or https'),
            ('{type: otlp, url: "http://a.example/v1/logs"}', '1:29',
             'has to be https'),
            ('{type: otlp, url: "http://127.0.0.1.example/v1/logs"}', '1:29',
             'has to be https'),
            ('{type: otlp, url: "https://me:you@a.example/v1"}', '1:29',
             'headers_file'),
            ('{type: otlp, url: "https://a/b", tls_key: /k}', '1:11',
             "'tls_certificate' is missing"),
            ('{type: otlp, url: "http://[::1]/", tls_ca: /k}', '1:29', 'https')):
        check_config(temp, f'outputs: [{block}]', place, words)


sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..', 'bench'))
import inputs  # noqa: E402  pylint: disable=wrong-import-position

if __name__ == '__main__':
    run(compressed, uncompressed, hostile, answers, no_answers, batches, reloaded,
        retry_after, dead, over_tls,
        required, required_away, required_refused, real, stands_still, refused)
