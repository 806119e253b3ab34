#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""excerpt.py DAEMON DUMP ELF: the source around a line, asked for over HTTP. It
is the source of the module that the line was printed by; what is not known is
said, and what is not understood refused."""
import contextlib
import json
import os
import socket
import struct
import sys

from harness import (PATIENCE, Daemon, dial, dump_frames, elf_frame, frame,
                     free_port, http, need, producer, run, until)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', '..', 'make'))
import spirv_module as spv  # noqa: E402

CONFIG = '''%sinputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "tcp:127.0.0.1:%d", max_clients: 8}
'''
LINES = [f'// {i}' for i in range(1, 61)]


def started(temp, more=''):
    need('http')
    port = free_port()
    return Daemon(temp, CONFIG % (more, port)), port


def shader(source, line, text='sum %u', values=(42,), named='a.comp'):
    """A module that prints once for each value, at this line of its source."""
    module = spv.Module()
    name = module.string(named)
    if source is not None:
        module.source(name, source)
    module.line(name, line, 3)
    call = module.call(module.string(text), ['u32'])
    binary = module.bytes()
    data = spv.printf_buffer('p4', [spv.record('p4', 0, module, call, [v])
                                    for v in values])
    return binary, data


def play(temp, name, source, line, **more):
    binary, data = shader(source, line, **more)
    with producer(f'{temp}/in.sock',
                  frame('code_object', code_object=1, name='x', bytes=binary),
                  frame('shader', shader=0, code_object=1),
                  *dump_frames(1, name, data)):
        pass


def lines_of(temp, source, n=1, **more):
    return dial(f'{temp}/l.sock', {'output': 'json', 'from': 'oldest',
                                   'source': source, **more}).entries(n)


def ask(port, query):
    status, body = http(port, f'/excerpt?{query}')
    return status, json.loads(body) if status == 200 else body


def told(port, entry, lines=5):
    status, body = ask(port, f'sequence={entry["sequence"]}'
                             f'&source={entry["source"]}&lines={lines}')
    assert status == 200 and body['sequence'] == entry['sequence'], body
    return body


def next_sequence(port):
    return json.loads(http(port, '/state')[1])['next_sequence']


def neighbours(temp):
    d, port = started(temp)
    play(temp, 's', '\n'.join(LINES) + '\n', 30)
    # The same file in another module, with other text: never confused.
    play(temp, 'other', '\n'.join(['// other'] * 60), 30)
    entry, = lines_of(temp, 's')
    other, = lines_of(temp, 'other')
    assert entry['origin']['source_line'] == '// 30', entry
    for n in 0, 1, 5, 20:
        body = told(port, entry, n)
        assert body['marked'] == n
        assert body['lines'] == [
            {'line': i, 'text': f'// {i}'} for i in range(30 - n, 31 + n)], body
    assert ask(port, f'sequence={entry["sequence"]}')[1] == told(port, entry)
    assert {l['text'] for l in told(port, other)['lines']} == {'// other'}
    # At both ends of the text there are fewer.
    for at, first, end, name in (1, 1, 6, 'first'), (60, 55, 60, 'last'):
        play(temp, name, '\n'.join(LINES) + '\n', at)
        entry, = lines_of(temp, name)
        body = told(port, entry)
        assert [l['line'] for l in body['lines']] == list(range(first, end + 1))
        assert body['lines'][body['marked']]['line'] == at
    d.stop()


def numbers(temp):
    """Behind a #line others count: those numbers are not known."""
    d, port = started(temp)
    play(temp, 's', '// made\n#line 1\nint a;\nprint();\n}\n#line 1 "b"\nint b;\n',
         2)
    entry, = lines_of(temp, 's')
    body = told(port, entry)
    assert entry['origin']['source_line'] == 'print();'
    assert [(l['line'], l['text']) for l in body['lines']] == [
        (None, '// made'), (None, '#line 1'), (1, 'int a;'), (2, 'print();'),
        (3, '}'), (4, '#line 1 "b"'), (None, 'int b;')], body
    assert body['marked'] == 3
    d.stop()


def foreign(temp):
    """Any bytes, and lines without end."""
    d, port = started(temp)
    text = b'\xff\xfe </script>\n"quoted" \\ \x01\x1b[31m\n' + \
        'ä'.encode() * 3000 + b'\n' + b'x' * 70000 + b'\nhere\n'
    play(temp, 's', text, 5)
    entry, = lines_of(temp, 's')
    body = told(port, entry)
    assert [l['text'][:12] for l in body['lines']] == [
        '\ufffd\ufffd </script>', '"quoted" \\ \x01', 'ä' * 12, 'x' * 12, 'here']
    assert [l.get('cut', False) for l in body['lines']] == [
        False, False, True, True, False]
    assert body['lines'][2]['text'] == 'ä' * 500, len(body['lines'][2]['text'])
    assert len(body['lines'][3]['text']) == 1000
    d.stop()


def what_is_not_known(temp):
    d, port = started(temp)
    no_text = 'no module has the text'
    play(temp, 'bare', None, 7)
    play(temp, 'short', 'one line\n', 7)
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(1, 'llpc')):
        llpc = lines_of(temp, 'llpc')[0]
    for entry in lines_of(temp, 'bare')[0], lines_of(temp, 'short')[0], llpc:
        body = told(port, entry)
        assert body['lines'] == [] and no_text in body['reason'], body
        assert 'marked' not in body
    # A finding, too, has a number.
    data = spv.printf_buffer('p4', [], wanted=1000)
    with producer(f'{temp}/in.sock', *dump_frames(1, 'cut', data[:64])):
        reader = dial(f'{temp}/l.sock', {'output': 'json', 'from': 'oldest',
                                         'source': 'cut'})
        finding = reader.next()
    assert finding['type'] == 'finding', finding
    assert told(port, finding)['reason'] == 'this is no message'
    d.stop()


def refused(temp):
    """Never an answer to something else than what was asked."""
    d, port = started(temp)
    play(temp, 's', '\n'.join(LINES), 30)
    entry, = lines_of(temp, 's')
    at = entry['sequence']
    for query in ('', 'sequence=', 'sequence=x', 'sequence=-1', 'sequence=%201',
                  'sequence=' + '1' * 20, f'sequence={at}&sequence={at}',
                  f'sequence={at}&lines=', f'sequence={at}&lines=21',
                  f'sequence={at}&lines=-1', f'sequence={at}&lines=1&lines=1',
                  f'sequence={at}&source=', f'sequence={at}&source=s&source=s',
                  f'sequence={at}&where=a0', f'Sequence={at}', 'lines=5',
                  f'sequence={at}&file=/etc/passwd', f'sequence={at}%00'):
        status, body = ask(port, query)
        assert status == 400 and '//' not in body, (query, status, body)
    for query, said in ((f'sequence={at + 1000}', 'yet'),
                        ('sequence=' + '9' * 19, 'yet'),
                        (f'sequence={at}&source=t', 'another source'),
                        (f'sequence={at}&source={"s" * 300}', 'another source')):
        status, body = ask(port, query)
        assert status == 404 and said in body and '//' not in body, (query, body)
    query = f'/excerpt?sequence={at}'
    for head, status in (
            (f'GET {query} HTTP/1.1\r\nHost: evil.example\r\n', 403),
            (f'GET {query} HTTP/1.1\r\nHost: localhost\r\n'
             'Sec-Fetch-Site: cross-site\r\n', 403),
            (f'POST {query} HTTP/1.1\r\nHost: localhost\r\n', 405),
            (f'HEAD {query} HTTP/1.1\r\nHost: localhost\r\n', 200)):
        with socket.create_connection(('127.0.0.1', port), PATIENCE) as s:
            s.sendall(f'{head}Connection: close\r\n\r\n'.encode())
            got = s.makefile('rb').read()
        assert got.split()[1] == b'%d' % status, got
        assert got.endswith(b'\r\n\r\n') == head.startswith('HEAD') and \
            b'// 30' not in got, got
    d.stop()


def gone(temp):
    """A line that the ring has let go of, while others' are there; and the
    module's sender has gone long since."""
    d, port = started(temp, 'ring: 1MiB\n')
    play(temp, 'old', '\n'.join(LINES), 30)
    old, = lines_of(temp, 'old')
    assert told(port, old)['marked'] == 5
    while ask(port, f'sequence={old["sequence"]}')[0] == 200:
        n = next_sequence(port)
        play(temp, 'new', '\n'.join(LINES), 31, values=range(5000))
        # What all of them send at once may be more than there is memory for.
        until('it has come', lambda: next_sequence(port) >= n + 5000)
    status, body = ask(port, f'sequence={old["sequence"]}')
    assert status == 404 and 'not kept' in body, body
    last = next_sequence(port) - 1
    body = ask(port, f'sequence={last}')[1]
    assert body['lines'][body['marked']]['text'] == '// 31', body
    d.stop()


def answers(port, questions):
    """Nothing, where too many of us have come: who comes is refused."""
    with contextlib.suppress(OSError), socket.create_connection(
            ('127.0.0.1', port), PATIENCE) as s:
        s.sendall(questions)
        s.shutdown(socket.SHUT_WR)
        return s.makefile('rb').read()
    return b''


def in_a_row(temp):
    """Connections that ask and go, that ask again and again, and the daemon's
    end while one waits."""
    d, port = started(temp)
    play(temp, 's', '\n'.join(LINES), 30, values=range(2000))
    last = lines_of(temp, 's', 2000)[-1]
    one = (f'GET /excerpt?sequence={last["sequence"]} HTTP/1.1\r\n'
           'Host: localhost\r\n\r\n').encode()
    for i in range(200):
        with socket.create_connection(('127.0.0.1', port), PATIENCE) as s:
            s.sendall(one * (1 + i % 5))
            if i % 3 == 0:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                             struct.pack('ii', 1, 0))
    got = until('those that have gone are served',
                lambda: answers(port, one * 50))
    assert got.count(b'HTTP/1.1 200') == got.count(b'"marked":5') == 50, got
    asking = [socket.create_connection(('127.0.0.1', port), PATIENCE)
              for _ in range(8)]
    for s in asking:
        s.sendall(one * 50)
    d.stop()
    for s in asking:
        s.close()


run(neighbours, numbers, foreign, what_is_not_known, refused, gone, in_a_row)
