#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""web.py DAEMON DUMP ELF: strangers at the HTTP server. What is asked for and
not understood is refused; pages of another origin read nothing; no connection
becomes anything else than HTTP/1."""
import json
import os
import re
import socket
import sys

from harness import (DUMP, N_ENTRIES, PATIENCE, PROGRAM, Daemon, dial,
                     dump_frames, elf_frame, entry_ends, frame, free_port, http,
                     is_sanitized, need, producer, run, slurp, until, used_bytes)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', '..', 'make'))
import llpc_cases as box  # noqa: E402

PAGES = '/', '/page.css', '/state', '/metrics', '/healthz', '/readyz', '/events', '/lines', '/none'
CONFIG = '''inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "tcp:127.0.0.1:%d"%s}
  - {type: http, address: "unix:$T/http.sock"}
'''


def started(temp, more=''):
    need('http')
    port = free_port()
    return Daemon(temp, CONFIG % (port, more)), port


def connect(port):
    s = socket.create_connection(('127.0.0.1', port), timeout=PATIENCE)
    return s


def to_the_end(s):
    got = b''
    try:
        while True:
            more = s.recv(65536)
            if not more:
                return got
            got += more
    except ConnectionResetError:
        return got
    except TimeoutError:
        raise AssertionError(f'no end behind {got!r}') from None


def raw(port, *pieces):
    """What comes back for bytes, up to the end of the connection."""
    with connect(port) as s:
        for piece in pieces:
            s.sendall(piece)
        return to_the_end(s)


def ask(port, path, *fields, method='GET'):
    """Status and body, of a connection of its own."""
    head = '\r\n'.join([f'{method} {path} HTTP/1.1', 'Host: localhost',
                        'Connection: close', *fields, '', ''])
    got = raw(port, head.encode('latin-1'))
    head, _, body = got.partition(b'\r\n\r\n')
    return int(head.split()[1]), body.decode()


def a_filter_never_widens(temp):
    """Lines are there that a filter which is left out would let through."""
    d, port = started(temp)
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames()):
        lines.entries(N_ENTRIES)
    refused = {
        'source': ['x' * n for n in (256, 299, 300, 301, 400, 4000)] + ['', '%00',
                                                                       'b%00',
                                                                       '%ff'],
        'match': ['(', '((a{999}){999}){999}', '%', '%4', '%zz', '%ff'],
        'where': ['', 'a0 ==', '%ff', 'a0 > 1)', '(' * 500],
        'id': ['', '0x', '-1', '0x1ffffffffffffffff', 'one', '1' * 400],
        'format_string': ['(', '%ff'],
        'invert': ['', '1', 'yes'],
        'from': ['', '-1', '1' * 20, 'yesterday', '1' * 400],
        'entries_only': ['', '1', 'TRUE', 'true' + ' ' * 300],
        'findings': ['no', 'x' * 400],
        'collapse': ['', '1', 'some'],
        'window': ['', '0', '-1', '5'],
        'output': ['', 'xml', 'j' * 400],
    }
    for page in '/lines', '/events':
        for name, values in refused.items():
            for value in values:
                path = f'{page}?{name}={value.replace(" ", "%20")}'
                for query in path, path + '&from=oldest', \
                        f'{page}?from=oldest&' + path.split('?')[1]:
                    status, body = ask(port, query)
                    assert status == 400 and '"entry"' not in body, (
                        query, status, body)
    # What is unknown is named; what is given twice could mean either.
    for path, said in (
            ('/lines?sourcce=b', "no parameter 'sourcce'"),
            ('/lines?from=oldest&Source=b', "no parameter 'Source'"),
            ('/lines?' + 'x' * 400 + '=1', "no parameter 'xxx"),
            ('/lines?source=b&source=c', 'twice'),
            ('/lines?s%6furce=b&source=c', 'twice'),
            ('/events?output=json', "'output'"),
            ('/metrics?x', "no parameter 'x'"),
            ('/healthz?source=b', "no parameter 'source'"),
            ('/state?source=b', "no parameter 'source'"),
            ('/?where=a0', "no parameter 'where'"),
            ('/page.css?x', "no parameter 'x'"),
            ('/lines?' + '&'.join(f'a{i}=' for i in range(17)), 'parameters')):
        status, body = ask(port, path)
        assert status == 400 and said in body, (path, status, body)
    status, body = ask(port, '/events', 'Last-Event-ID: ' + '1' * 400)
    assert status == 400 and 'Last-Event-ID' in body, body
    assert ask(port, '/events', 'Last-Event-ID: x')[0] == 400
    # Too long for anything: never an answer with lines.
    for n, statuses in (7000, {400}), (20000, {414}):
        assert ask(port, '/lines?from=oldest&source=' + 'x' * n)[0] in statuses
    assert ask(port, '/metrics', 'X: ' + 'x' * 20000)[0] == 431
    # As a subscriber of a socket, too.
    for n in 0, 256, 400:
        bad = dial(f'{temp}/l.sock', {'from': 'oldest', 'source': 'x' * n})
        assert bad.next()['type'] == 'error' and bad.next() is None
    # And one that is understood is followed.
    for query in 'source=b', 's%6Furce=%62', '&&source=b&', 'match=workgroup':
        with connect(port) as s:
            s.sendall(f'GET /lines?from=oldest&{query} HTTP/1.0\r\n\r\n'
                      .encode())
            f = s.makefile('rb')
            assert f.readline().startswith(b'HTTP/1.1 200 ')
            while f.readline() != b'\r\n':
                pass
            assert json.loads(f.readline())['source'] == 'b'
    d.stop()


def other_methods(temp):
    """No page, whatever becomes of the body, and nothing is left behind."""
    d, port = started(temp)
    for page in PAGES:
        for method in ('POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE',
                       'CONNECT', 'get', 'X' * 100):
            for fields in [], ['Content-Length: 3'], [
                    'Transfer-Encoding: chunked']:
                status, body = ask(port, page, *fields, method=method)
                assert status == 405 and 'printfdecode_' not in body, (
                    page, method, status, body)
    got = raw(port, b'POST /metrics HTTP/1.1\r\nHost: localhost\r\n'
              b'Content-Length: 300000\r\n\r\n', b'x' * 300000)
    assert got == b'' or got.startswith(b'HTTP/1.1 405 '), got
    assert b'\r\nAllow: GET, HEAD\r\n' in raw(
        port, b'POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n')
    # Nor does GET take one: what follows is not another request.
    for field in ('Content-Length: 60', 'Transfer-Encoding: chunked',
                  'Content-Length: 0, 60', 'Content-Length: 0\r\n'
                  'Content-Length: 60'):
        got = raw(port, f'GET /healthz HTTP/1.1\r\nHost: localhost\r\n{field}'
                  '\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.encode())
        assert got.startswith(b'HTTP/1.1 400 ') and got.count(b'HTTP/1.1 ') == 1
    before = None
    for i in range(4):
        for _ in range(250):
            raw(port, b'POST /metrics HTTP/1.1\r\nHost: localhost\r\n'
                b'Content-Length: 1\r\n\r\nx')
            raw(port, b'GET /metrics HTTP/1.1\r\nHost: localhost\r\n'
                b'Content-Length: 1\r\n\r\nx')
        if i == 0:
            before = d.memory_kib()
    # The page has some 16 KiB: 750 of each would be 24 MiB.
    # A sanitizer holds on to what is freed.
    assert is_sanitized(PROGRAM) or d.memory_kib() < before + 6000, (
        before, d.memory_kib())
    head = raw(port, b'HEAD /metrics HTTP/1.0\r\n\r\n')
    assert head.endswith(b'\r\n\r\n') and head.startswith(b'HTTP/1.1 200 ')
    assert int(re.search(rb'Content-Length: (\d+)', head)[1]) > 1000
    assert raw(port, b'HEAD /lines HTTP/1.0\r\n\r\n').endswith(b'\r\n\r\n')
    d.stop()


def browsers(temp):
    """A page of another origin, or of a name that was made to point here."""
    d, port = started(temp)

    def asks(host, *fields, where=port):
        got = {}
        for page in PAGES:
            head = '\r\n'.join([f'GET {page} HTTP/1.1', *host,
                                'Connection: close', *fields, '', ''])
            if isinstance(where, int):
                s = connect(where)
            else:
                s = socket.socket(socket.AF_UNIX)
                s.connect(where)
            with s:
                s.settimeout(PATIENCE)
                s.sendall(head.encode())
                got[page] = int(s.makefile('rb').readline().split()[1])
        return set(got.values())
    fine, no = {200, 404}, {403}
    for host in ('localhost', f'localhost:{port}', '127.0.0.1', '127.1.2.3:80',
                 f'127.0.0.1:{port}', '[::1]', '[::1]:9', 'LOCALHOST'):
        assert asks([f'Host: {host}']) == fine, host
    for host in ('evil.example', f'evil.example:{port}', 'localhost.evil.example',
                 '127.0.0.1.evil.example', '127.0.0.1:80:evil', '128.0.0.1',
                 'localhost:x', '[::1', '[::1]x', '', 'x' * 200, '0.0.0.0',
                 'localhost, evil.example', '169.254.1.1', '[::2]'):
        assert asks([f'Host: {host}']) == no, host
    assert asks([]) == {400}
    assert asks(['Host: localhost', 'Host: localhost']) == {400}
    me = [f'Host: localhost:{port}']
    assert asks(me, f'Origin: http://localhost:{port}') == fine
    assert asks(me, 'Sec-Fetch-Site: same-origin') == fine
    assert asks(me, 'Sec-Fetch-Site: none') == fine
    for field in ('Origin: http://evil.example', 'Origin: null', 'Origin: ',
                  'Origin: http://localhost', 'Origin: http://localhost:1',
                  f'Origin: http://127.0.0.1:{port}', 'Sec-Fetch-Site: x',
                  f'Origin: http://localhost:{port}/x',
                  'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Site: same-site'):
        assert asks(me, field) == no, field
    # No browser reaches a unix socket by a name; another one's page may be
    # passed on to it.
    assert asks(['Host: any'], where=f'{temp}/http.sock') == fine
    assert asks(['Host: any'], 'Origin: http://evil.example',
                where=f'{temp}/http.sock') == no
    page = raw(port, b'GET /metrics HTTP/1.0\r\n\r\n').lower()
    assert b'access-control' not in page
    assert b'\r\nx-content-type-options: nosniff\r\n' in page
    assert b'\r\ncross-origin-resource-policy: same-origin\r\n' in page
    d.stop()


def the_page_is_alone(temp):
    """Its files name nothing but each other, and may do nothing else."""
    d, port = started(temp)
    found, names = {}, {'/'}
    while names:
        name = names.pop()
        head, _, body = raw(port, f'GET {name} HTTP/1.0\r\n\r\n'.encode()
                            ).decode().partition('\r\n\r\n')
        assert head.startswith('HTTP/1.1 200 '), (name, head)
        policy = re.search('Content-Security-Policy: (.*)\r', head)[1].split('; ')
        assert "default-src 'none'" in policy and "script-src 'self'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert 'unsafe' not in head and '*' not in head, head
        assert 'X-Content-Type-Options: nosniff' in head
        assert 'Referrer-Policy: no-referrer' in head
        assert not re.search(r'(?i)(src|href|url|import)\W{1,3}(https?:)?//', body)
        assert not re.search(r'(?i) (on\w+|style)="|<style|innerHTML|eval\(', body)
        found[name] = body
        more = re.findall(r'(?:href|src)="(/[^"#]*)"', body)
        more += re.findall(r"from '\.(/[\w.]+)'", body)
        names |= set(more) - set(found)
    assert {'/', '/page.css', '/main.js', '/stream.js', '/icon.svg'} <= set(found)
    d.stop()


def long_inputs(temp):
    """What is said of an input is cut between letters."""
    paths = []
    for letter in 'é', '€', '😀':
        for shift in range(4):
            path = f'{temp}/' + 'a' * shift + letter
            for _ in range(8):
                path += letter * (200 // len(letter.encode()))
                os.makedirs(path)
                path += '/'
            paths.append(path)
    need('http')
    port = free_port()
    d = Daemon(temp, 'inputs:\n' + ''.join(
        f'  - {{type: directory, path: "{path}", dumps: "*.bin"}}\n'
        for path in paths) +
        f'outputs:\n  - {{type: http, address: "tcp:127.0.0.1:{port}"}}\n')
    inputs = json.loads(ask(port, '/state')[1])['inputs']
    assert len(inputs) == len(paths)
    for told in inputs:
        n = len(told['text'].encode())
        assert 1020 <= n <= 1023, n
        assert any(told['text'] in f'files that appear in {path} are read:'
                   for path in paths), told
    d.stop()


def the_state(temp):
    """What became of sources, however many, and whatever they are called."""
    d, port = started(temp)
    data = slurp(DUMP)
    cut = data[:entry_ends(data)[9]]
    unknown = bytearray(data)
    unknown[18:24] = b'\x55' * 6  # the first entry's id
    state = json.loads(ask(port, '/state')[1])
    assert state['sources'] == [] and len(state['inputs']) == 1, state
    assert f'connect to unix:{temp}/in.sock' in state['inputs'][0]['text'], state
    odd = 'a"b\\c\nd\x1b</script>\u202e'
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(1, odd, data),
                  *dump_frames(2, 'cut', cut),
                  *dump_frames(3, 'unknown', bytes(unknown)),
                  frame('buffer', buffer=4, name='empty', size=4096),
                  frame('data', buffer=4, bytes=bytes(16))):
        def sources():
            said = json.loads(ask(port, '/state')[1])
            return {s['name']: s for s in said['sources']}
        until('entries', lambda: len(sources()) == 4 and
              sources()['unknown']['entries'] == N_ENTRIES)
        now = until('a look', lambda: sources()['empty']['size'] and sources())
        assert now['empty']['unwritten'] == now['empty']['buffers'] == 1
        lost = used_bytes(data) - len(cut)
        assert now['cut']['overflow'] == {
            'size': len(cut), 'lost_bytes': lost, 'entries': 10}, now['cut']
        assert now['cut']['lost_bytes'] == lost and now['cut']['findings']
        assert now['unknown']['unknown_ids'] == ['0x555555555555'], now
        assert now['unknown']['unknown'] == 1
        name, = set(now) - {'cut', 'empty', 'unknown'}
        assert '\n' not in name and '\x1b' not in name and '"' in name, name
        assert now[name]['entries'] == N_ENTRIES
    # It stays short. Buffers of one producer may be there when the next comes:
    # what they take together is another promise.
    for first in range(0, 600, 50):
        until('their end', lambda: d.metric('sessions') == 0)
        with producer(f'{temp}/in.sock', *(
                f for i in range(50) for f in
                dump_frames(i + 1, f'n{first + i}', cut))):
            until('its sources', lambda: json.loads(ask(port, '/state')[1])
                  ['n_sources'] >= 4 + first + 50)
    _, body = ask(port, '/state')
    assert len(json.loads(body)['sources']) == 256 and len(body) < 300000
    for _ in range(300):
        assert ask(port, '/state')[0] == 200
    d.stop()


def a_sample_says_what_it_lacks(temp):
    """However little is asked for, all of it is counted."""
    d, port = started(temp)
    data = slurp(DUMP)
    unknown = bytearray(data)
    unknown[18:24] = b'\x55' * 6  # the first entry's id
    all_lines = dial(f'{temp}/l.sock', {'output': 'json'})
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(1, 'b', data),
                  *dump_frames(2, 'c', bytes(unknown))):
        all_lines.entries(2 * N_ENTRIES)
    all_lines.close()

    def sample(query, page='/lines'):
        with connect(port) as s:
            s.sendall(f'GET {page}?from=oldest&{query} HTTP/1.0\r\n\r\n'.encode())
            f = s.makefile('rb')
            entries, left = [], None
            for line in f:
                if line.startswith(b'data: '):
                    line = line[6:]
                record = json.loads(line) if line.startswith(b'{') else {}
                if record.get('type') == 'entry':
                    entries.append(record)
                if record.get('type') == 'left_out':
                    left = record
                n = len(entries) + (left['filtered']['entries'] +
                                    left['sampled']['entries'] if left else 0)
                if n >= 2 * N_ENTRIES:
                    return entries, left
        raise AssertionError((len(entries), left))
    for page in '/lines', '/events':
        entries, left = sample('sample=10', page)
        assert 2 < len(entries) < 60, len(entries)
        # Spread, and what is amiss comes first of all.
        assert entries[-1]['sequence'] > N_ENTRIES
        assert [e for e in entries if e.get('findings')] and \
            left['sampled']['findings'] == 0, left
        entries, left = sample('sample=1000000', page)
        assert len(entries) == 2 * N_ENTRIES and not left, left
    entries, left = sample('sample=100000&source=b&id=0x555555555555')
    assert not entries and left['filtered']['entries'] == 2 * N_ENTRIES
    assert left['filtered']['findings'] >= 1, left
    assert 'condition' not in left, left
    # A name that no entry had so far; one that none can have is refused.
    entries, left = sample('sample=10&where=hots==%22node1%22')
    assert left['condition'].startswith("no format string has an argument 'hots', and "
                                        'no entry has it; near to it: host; there is '), left
    status, said = ask(port, '/lines?where=entry.findngs')
    assert status == 400 and "no entry can have 'entry.findngs'; near to it: findings" in said
    # What was there before the stream began is not limited, if so wished.
    entries, left = sample('sample=10&sample_history=false')
    assert len(entries) == 2 * N_ENTRIES and not left, left
    entries, left = sample('sample=10&sample_history=true')
    assert len(entries) < 60 and left['sampled']['entries'], left
    for query in 'sample_history=false', 'sample=10&sample_history=no':
        assert ask(port, f'/lines?{query}')[0] == 400, query
    for value in '0', '-1', '1000001', '1' * 30, '', 'x', '1.5':
        assert ask(port, f'/lines?sample={value}')[0] == 400, value
    for form in 'text', 'raw', 'entries':
        assert ask(port, f'/lines?sample=5&output={form}')[0] == 400, form
    assert ask(port, '/lines?sample=5&collapse=true')[0] == 400
    bad = dial(f'{temp}/l.sock', {'output': 'text', 'sample': 5})
    assert bad.next()['type'] == 'error'
    # What fills a page leaves nothing of its share behind.
    long = box.Str(0x123456789abc, 'x' * 2000 + '%u\n', '4')
    with producer(f'{temp}/in.sock',
                  frame('code_object', code_object=2, name='long.elf',
                        bytes=box.image(long)),
                  *dump_frames(3, 'd', box.buffer(*(long(i) for i in range(3000))))):
        until('all of it', lambda: {s['name']: s['entries'] for s in json.loads(
            ask(port, '/state')[1])['sources']}.get('d') == 3000)
        with connect(port) as s:
            s.sendall(b'GET /lines?from=oldest&sample=4000 HTTP/1.0\r\n\r\n')
            f = s.makefile('rb')
            n = 0
            while n < 3000:
                line = f.readline()
                assert b'left_out' not in line, (n, line)
                n += b'"source":"d"' in line
    d.stop()


def nothing_but_http_1(temp):
    d, port = started(temp)
    upgrade = ('GET /healthz HTTP/1.1\r\nHost: localhost\r\n'
               'Connection: Upgrade, HTTP2-Settings, close\r\n'
               'Upgrade: %s\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'
               'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
               'Sec-WebSocket-Version: 13\r\n\r\n')
    for what in 'h2c', 'websocket', 'HTTP/2.0', 'h2c, websocket', 'x':
        got = raw(port, (upgrade % what).encode())
        assert got.startswith(b'HTTP/1.1 200 ') and b'101' not in got[:20], got
        assert got.endswith(b'\r\n\r\nok\n') and b'pgrade' not in got, got
    for got in (raw(port, b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
                raw(port, b'GET /healthz HTTP/2\r\n\r\n'),
                raw(port, b'GET /healthz HTTP/0.9\r\n\r\n')):
        assert got.startswith(b'HTTP/1.1 505 '), got
    for head in (b'\r\n\r\n', b'GET\r\n\r\n', b'GET /healthz\r\n\r\n',
                 b'GET  /healthz HTTP/1.1\r\n\r\n', b'\x16\x03\x01\r\n\r\n',
                 b'GET http://x/healthz HTTP/1.1\r\nHost: x\r\n\r\n',
                 b'GET /healthz HTTP/1.1 \r\nHost: localhost\r\n\r\n',
                 b'GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n',
                 b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n X: y\r\n\r\n',
                 b'GET /healthz HTTP/1.1\r\nHost: localhost\r\nnone\r\n\r\n',
                 b'GET /healthz HTTP/1.1\r\nHost: local\0host\r\n\r\n',
                 b'GET /healthz HTTP/1.1\r\nHost: local\rhost\r\n\r\n',
                 b'GET /heal\x7fthz HTTP/1.0\r\n\r\n',
                 b'GET /healthz# HTTP/1.0\r\n\r\n'):
        got = raw(port, head)
        assert got[:12] in (b'HTTP/1.1 400', b'HTTP/1.1 505'), (head, got)
    # Nobody waits for the rest of what can be none.
    for head in b'\x16\x03\x01\x02\0\x01', b'\x89PNG\r\n\x1a\n', b'GET /\0':
        got = raw(port, head)
        assert got.startswith(b'HTTP/1.1 400 '), (head, got)
    # The paths are these, and not what might be made of others.
    for path in '/x/../metrics', '//metrics', '/metrics/', '/%6detrics', '/index', \
            '/page', '/../page.css', '/page.css/', '//':
        assert ask(port, path)[0] == 404, path
    d.stop()


def one_after_another(temp):
    """Requests in pieces, and many at once in a connection that is kept."""
    d, port = started(temp)
    one = b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
    last = one.replace(b'\r\n\r\n', b'\r\nConnection: close\r\n\r\n')
    for line in one * 300 + last, (one * 300 + last).replace(b'\r', b''):
        got = raw(port, line)
        assert got.count(b'HTTP/1.1 200 OK') == 301, got.count(b'HTTP/1.1 ')
        assert got.count(b'\r\n\r\nok\n') == 301
    pieces = one + b'GET /none HTTP/1.1\nHost: localhost\n\n' + last
    with connect(port) as s:
        for i in range(len(pieces)):
            s.sendall(pieces[i:i + 1])
        got = to_the_end(s)
    assert re.findall(rb'HTTP/1.1 (\d+)', got) == [b'200', b'404', b'200']
    # Whoever has said all gets all.
    with connect(port) as s:
        s.sendall(one * 3)
        s.shutdown(socket.SHUT_WR)
        assert to_the_end(s).count(b'\r\n\r\nok\n') == 3
    with connect(port) as s:
        s.sendall(one[:-1])
        s.shutdown(socket.SHUT_WR)
        assert to_the_end(s) == b''
    d.stop()


def crowded(temp):
    """Streams take no page's place, and whoever says nothing takes nobody's."""
    d, port = started(temp, ', max_clients: 4')
    streams = []
    for _ in range(4):
        s = connect(port)
        s.sendall(b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
        assert s.recv(12) == b'HTTP/1.1 200'
        streams.append(s)
    assert 'printfdecode_refused_total 0\n' in ask(port, '/metrics')[1]
    assert ask(port, '/lines')[0] == 503
    assert 'printfdecode_refused_total 1\n' in ask(port, '/metrics')[1]
    silent = [connect(port) for _ in range(200)]
    for i, s in enumerate(silent[::2]):
        try:
            s.sendall(b'GET /metrics HTTP/1.1\r\n' if i % 2 else b'G')
        except OSError:
            pass
    assert ask(port, '/healthz') == (200, 'ok\n')
    assert ask(port, '/lines')[0] == 503
    # The oldest had to go, and the daemon has no more than it said.
    until('closed ones', lambda: sum(is_closed(s) for s in silent) >= 180)
    assert not any(is_closed(s) for s in streams)
    streams.pop().close()
    until('a place', lambda: http(port, '/metrics') and has_place(port))
    for s in silent + streams:
        s.close()
    d.stop()


def has_place(port):
    with connect(port) as s:
        s.sendall(b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
        return s.recv(12) == b'HTTP/1.1 200'


def is_closed(s):
    s.setblocking(False)
    try:
        return s.recv(65536, socket.MSG_PEEK) == b''
    except BlockingIOError:
        return False
    except OSError:
        return True


if __name__ == '__main__':
    run(a_filter_never_widens, other_methods, browsers, the_page_is_alone, long_inputs,
        the_state, a_sample_says_what_it_lacks, nothing_but_http_1, one_after_another,
        crowded)
