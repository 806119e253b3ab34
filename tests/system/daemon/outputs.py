#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""outputs.py DAEMON DUMP ELF FOLLOW: what subscribers may ask for, on each kind
of socket, and subscribers that acknowledge."""
import datetime
import json
import os
import resource
import signal
import socket
import subprocess
import time
import urllib.request

from harness import (N_ENTRIES, PATIENCE, PROGRAM, REST, START, Daemon,
                     can_be_ended, dial, dial_tcp, dump_frames, elf_frame,
                     frame, free_port, http, is_sanitized, need, producer, run,
                     slurp, until)

FOLLOW = REST[0]
IDLE = '10' if is_sanitized(PROGRAM) else '2'  # seconds; a busy machine takes some

ASKED = '''code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: listen, address: "tcp:127.0.0.1:%d"}
  - {type: http, address: "tcp:127.0.0.1:%d"}
'''

WEB = '''inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: http, address: "tcp:127.0.0.1:%d"}
'''

COUNTED = '''state_dir: $T/state
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: file, path: "$T/all"}
  - {type: file, path: "$T/some", match: workgroup}
  - {type: file, path: "$T/of-{buffer}"}
  - {type: file, path: "$T/kept", required: true}
  - {type: stdout, output: text}
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: listen, address: "unix:$T/ack.sock", required: true, name: collector}
  - {type: http, address: "unix:$T/http.sock"}
'''

# Longer than the daemon's end is waited for.
ACKED = '''state_dir: $T/state
drain: 600s
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/ack.sock", required: true, name: collector}
  - {type: listen, address: "unix:$T/l.sock"}
'''


def entries(path, n):
    """n dumps, one behind the other."""
    sock = producer(path, elf_frame(),
                    *(f for i in range(n)
                      for f in dump_frames(buffer=i + 1, name=f'b{i}')))
    return sock


def acked(temp):
    """What the checkpoint has."""
    try:
        with open(f'{temp}/state/checkpoint') as f:
            return json.load(f)['acked'].get('collector', 0)
    except FileNotFoundError:
        return 0


def outputs_are_counted(temp):
    """Files, standard output and subscribers have the metrics of outputs to
    services: lines that were written, not those that were not wanted."""
    d = Daemon(temp, COUNTED)

    def value(name, output):
        return d.metric(f'output_{name}{{type="[a-z]*",output="{output}"')
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    with entries(f'{temp}/in.sock', 2):
        lines.entries(2 * N_ENTRIES)

        def written(name):
            path = f'{temp}/{name}'
            return slurp(path).count(b'\n') if os.path.exists(path) else 0
        until('all of it', lambda: written('kept') >= 2 * N_ENTRIES and
              value('acknowledged_total', f'{temp}/kept') == written('kept'))
        for name in 'all', 'some', 'kept':
            until(name, lambda: value('sent_total', f'{temp}/{name}') ==
                  written(name) > 0)
            assert value('connected', f'{temp}/{name}') == 1
            assert value('dropped_total', f'{temp}/{name}') == 0
        assert written('some') < written('all')
        until('files of sources', lambda: value('sent_total', f'{temp}/of-.buffer.') ==
              written('of-b0') + written('of-b1') == written('all'))
        assert value('sent_total', 'stdout') >= 2 * N_ENTRIES
        address = f'unix:{temp}/l.sock'
        assert value('sent_total', address) >= 2 * N_ENTRIES
        assert value('connected', address) == 1
        assert value('connected', 'collector') == 0
        assert value('oldest_seconds', 'collector') > 0
        assert value('sent_total', 'collector') == 0
        lines.sock.close()
        until('its end', lambda: value('connected', address) == 0)
        assert value('sent_total', address) >= 2 * N_ENTRIES
        got = dial(f'{temp}/ack.sock').entries(2 * N_ENTRIES)
        until('it was sent', lambda: value('sent_total', 'collector') >= 2 * N_ENTRIES)
        assert got
    d.kill()


def asked(temp):
    tcp, web = free_port(), free_port()
    d = Daemon(temp, ASKED % (tcp, web))
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    first = entries(f'{temp}/in.sock', 1)
    live.entries(N_ENTRIES)
    time.sleep(0.05)
    between = time.time()
    middle = datetime.datetime.fromtimestamp(
        between, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.%fZ')
    time.sleep(0.05)
    second = producer(f'{temp}/in.sock', *dump_frames(name='other'))
    later = live.entries(N_ENTRIES)
    assert later[0]['source'] == 'other', later[0]
    first_later = later[0]['sequence']

    def from_socket(dialled):
        return lambda request: dialled(request).entries(1)[0]

    def from_http(request):
        query = '&'.join(f'{k}={v}' for k, v in request.items())
        with urllib.request.urlopen(f'http://127.0.0.1:{web}/lines?{query}',
                                    timeout=PATIENCE) as f:
            while True:
                line = f.readline()
                if request.get('output') == 'text':
                    return line.rstrip(b'\n')
                if json.loads(line)['type'] == 'entry':
                    return json.loads(line)

    for name, ask in (
            ('unix', from_socket(lambda r: dial(f'{temp}/l.sock', r))),
            ('tcp', from_socket(lambda r: dial_tcp(tcp, r))),
            ('http', from_http)):
        assert ask({'from': first_later + 3})['sequence'] == first_later + 3, name
        # Everything of before is of other lines in the same chunk.
        at = ask({'from': middle})
        assert at['sequence'] == first_later and at['source'] == 'other', (name, at)
        assert int(at['time_unix_nano']) >= between * 1e9 - 1e6
        assert ask({'from': 'oldest'})['source'] == 'b0', name
        found = ask({'from': 'oldest', 'match': 'workgroup'})
        assert 'workgroup' in found['message'], (name, found)
        assert ask({'from': 'oldest', 'source': 'other'})['source'] == 'other'
        text = ask({'from': 'oldest', 'output': 'text', 'match': 'workgroup'})
        assert text.startswith(b'workgroup size:'), (name, text)
    assert http(web, '/lines?from=yesterday')[0] == 400
    assert http(web, '/lines?entries_only=perhaps')[0] == 400
    bad = dial(f'{temp}/l.sock', {'from': '2026-13-01T00:00:00Z'})
    assert bad.next()['type'] == 'error' and bad.next() is None
    for where in f'{temp}/l.sock', f'http://127.0.0.1:{web}/':
        out = subprocess.run(
            [FOLLOW, 'follow', '--from', middle, '-o', 'json', '--until-idle',
             IDLE, where], stdout=subprocess.PIPE, check=True, timeout=PATIENCE).stdout
        assert json.loads(out.split(b'\n')[0])['sequence'] >= first_later
        assert out.count(b'"type":"entry"') == N_ENTRIES, where
    first.close()
    second.close()
    live.close()
    d.stop()


def acknowledged(temp):
    """Nothing that was not acknowledged is lost, whatever ends."""
    d = Daemon(temp, ACKED)
    with entries(f'{temp}/in.sock', 2):
        one = dial(f'{temp}/ack.sock')
        seen = one.entries(2 * N_ENTRIES)
        numbers = [e['sequence'] for e in seen]
        assert numbers == sorted(set(numbers))
        # A second one at the same time is told so.
        two = dial(f'{temp}/ack.sock')
        assert two.next()['type'] == 'error' and two.next() is None
        one.send({'ack': numbers[9]})
        until('a checkpoint', lambda: acked(temp) == numbers[9])
        one.close()
        # Behind what was acknowledged, not behind what was sent.
        again = dial(f'{temp}/ack.sock', {'output': 'json'})
        assert again.entries(1)[0]['sequence'] == numbers[10]
        again.send({'ack': numbers[19]})
        until('a checkpoint', lambda: acked(temp) == numbers[19])
        d.kill()
    d.start()
    after = dial(f'{temp}/ack.sock')
    rest = after.entries(2 * N_ENTRIES - 20)
    assert [e['sequence'] for e in rest] == numbers[20:]
    assert [e['message'] for e in rest] == [e['message'] for e in seen[20:]]
    # What was not sent cannot be acknowledged.
    after.send({'ack': numbers[-1] + 1000})
    said = after.next()
    while said and said['type'] != 'error':
        said = after.next()
    assert said and after.next() is None
    # A filter has no place here.
    picky = dial(f'{temp}/ack.sock', {'match': 'x'})
    said = picky.next()
    while said and said['type'] != 'error':
        said = picky.next()
    assert said
    # Nobody to acknowledge: the end does not wait for anybody.
    d.stop()
    assert 'not written all' not in d.log()


CHOSEN = ACKED + '''  - {type: file, path: $T/no.log, required: true, match: ^no arguments}
'''
CHOSEN = CHOSEN.replace('name: collector', 'name: collector, match: ^workgroup, '
                        'findings: no')


def numbers_of(path):
    with open(path, encoding='utf-8') as f:
        lines = [json.loads(line) for line in f]
    assert all(line['message'].startswith('no arguments') for line in lines)
    return [line['sequence'] for line in lines]


def chosen(temp):
    """A required output gets what it wants, each once, and acknowledges with it
    what it does not: nothing of that stays on disk for it."""
    d = Daemon(temp, CHOSEN)
    every = []
    for n in range(3):
        live = dial(f'{temp}/l.sock', {'from': 'oldest'})
        with entries(f'{temp}/in.sock', 2):
            some = live.entries(2 * N_ENTRIES)
            every += some
            got = dial(f'{temp}/ack.sock')
            wanted = [e['sequence'] for e in some
                      if e['message'].startswith('workgroup')]
            assert [e['sequence'] for e in got.entries(len(wanted))] == wanted
            # Some of them, and from the first that is missing on again.
            got.send({'ack': wanted[3]})
            until('a checkpoint', lambda s=wanted[3]: acked(temp) == s)
            got.close()
            got = dial(f'{temp}/ack.sock')
            assert [e['sequence'] for e in got.entries(len(wanted) - 4)] == wanted[4:]
            got.send({'ack': wanted[-1]})
            # If what it does not want counted, it would stay there.
            last = some[-1]['sequence']
            assert last > wanted[-1]
            until('a checkpoint', lambda s=last: acked(temp) >= s)
            got.close()
        no = [e['sequence'] for e in every
              if e['message'].startswith('no arguments')]
        until('its file', lambda no=no: numbers_of(f'{temp}/no.log') == no)
        live.close()
        if n == 0:
            d.kill()
            d.start()
        elif n == 1:
            d.stop()
            d.start()
    d.stop()
    assert numbers_of(f'{temp}/no.log') == no


def followed(temp):
    """printfdecode follow --ack: each line once, over restarts of both."""
    d = Daemon(temp, ACKED)
    got = b''
    for i in range(3):
        with producer(f'{temp}/in.sock', elf_frame(),
                      *dump_frames(name=f'c{i}')):
            f = subprocess.Popen(
                [FOLLOW, 'follow', '--ack', '-o', 'json', f'{temp}/ack.sock'],
                stdout=subprocess.PIPE)
            here = b''
            while here.count(b'"type":"entry"') < N_ENTRIES:
                here += f.stdout.readline()
            got += here
            last = max(json.loads(line)['sequence']
                       for line in here.splitlines())
            until('a checkpoint', lambda: acked(temp) >= last)
            f.send_signal(signal.SIGTERM)
            rest = f.communicate()[0]
            got += rest
        d.kill() if i == 1 else d.stop()
        d.start()
    d.stop()
    numbers = [json.loads(line)['sequence'] for line in got.splitlines()
               if b'"type":"entry"' in line]
    assert len(numbers) == len(set(numbers)) == 3 * N_ENTRIES, len(numbers)


def killed(temp):
    """The same where nobody ends in order: nothing is lost, and what comes again,
    because nobody had acknowledged it, is what it was."""
    d = Daemon(temp, ACKED)
    got = {}
    for i in range(4):
        n = len(got) + N_ENTRIES
        with producer(f'{temp}/in.sock', elf_frame(),
                      *dump_frames(name=f'c{i}')):
            with subprocess.Popen(
                    [FOLLOW, 'follow', '--ack', '-o', 'json', f'{temp}/ack.sock'],
                    stdout=subprocess.PIPE) as f:
                while len(got) < n:
                    line = f.stdout.readline()
                    sequence = json.loads(line)['sequence']
                    assert got.setdefault(sequence, line) == line, line
                f.kill()
            if i % 2:
                d.kill()
                d.start()
    entries = sorted(map(json.loads, got.values()), key=lambda r: r['sequence'])
    wanted = [(f'c{i}', j) for i in range(4) for j in range(N_ENTRIES)]
    assert [(e['source'], e['index']) for e in entries
            if e['type'] == 'entry'] == wanted
    d.stop()


def printed(temp):
    """printfdecode follow --ack prints any form of what such an output wants,
    and says what it cannot do."""
    d = Daemon(temp, CHOSEN)
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    for form in 'text', 'raw', 'json':
        with entries(f'{temp}/in.sock', 1):
            some = live.entries(N_ENTRIES)
            wanted = [e for e in some if e['message'].startswith('workgroup')]
            p = subprocess.run(
                [FOLLOW, 'follow', '--ack', '-o', form, '-n', str(len(wanted)),
                 f'{temp}/ack.sock'], stdout=subprocess.PIPE, check=True,
                timeout=PATIENCE)
            out = p.stdout.decode().splitlines()
            if form == 'json':
                out = [json.loads(line) for line in out]
                assert out == wanted, (form, out)
            else:
                said = '\n'.join(e['message'] for e in wanted)
                assert '\n'.join(out).split() == said.split(), (form, out)
        # What it does not want is acknowledged with what it does.
        last = some[-1]['sequence']
        assert last > wanted[-1]['sequence']
        until('a checkpoint', lambda s=last: acked(temp) >= s)
    for words in ('--collapse',), ('-o', 'perfetto'), ('--match', 'x'):
        p = follow('--ack', *words, f'{temp}/ack.sock')
        assert p.wait(PATIENCE) == 1 and '--ack' in p.stderr.read(), words
    # Words of somebody who has entries stand in the stream, as its end.
    sock = dial(f'{temp}/ack.sock', {'output': 'entries'})
    with entries(f'{temp}/in.sock', 1):
        assert sock.sock.recv(8) == START[:8]
        sock.send({'ack': 1 << 40})
        got = b''
        while more := sock.sock.recv(1 << 16):
            got += more
        assert b'that was sent' in got or got, got
    sock.close()
    d.stop()


def follow(*args):
    return subprocess.Popen([FOLLOW, 'follow', *args], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended(temp):
    """printfdecode follow: what ends it, and what that is called."""
    tcp, web = free_port(), free_port()
    d = Daemon(temp, ASKED % (tcp, web))
    url = f'http://127.0.0.1:{web}'
    with entries(f'{temp}/in.sock', 1):
        for where in (f'{temp}/l.sock', f'unix:{temp}/l.sock',
                      f'tcp:127.0.0.1:{tcp}', url):
            for number in signal.SIGINT, signal.SIGTERM:
                f = follow('--from', 'oldest', where)
                assert f.stdout.readline()
                f.send_signal(number)
                rest, said = f.communicate(timeout=PATIENCE)
                assert f.returncode == 0 and said == '', (where, said)
    f = follow('--from', 'oldest', f'{temp}/l.sock')
    f.stdout.readline()
    d.stop()
    rest, said = f.communicate(timeout=PATIENCE)
    assert f.returncode == 0, said
    assert 'the daemon has ended the connection' in said, said
    f = follow(url)
    rest, said = f.communicate(timeout=PATIENCE)
    assert f.returncode == 1 and f'{url}: Connection refused' in said, said
    f = follow(f'unix:{temp}/none')
    rest, said = f.communicate(timeout=PATIENCE)
    assert f.returncode == 1 and 'none: No such file' in said, said


def crowded(temp):
    """A socket that lets nobody in yet is waited for."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f'{temp}/s')
        server.listen(0)
        with socket.socket(socket.AF_UNIX) as first:
            first.connect(f'{temp}/s')
            f = follow(f'{temp}/s')
            can_be_ended(f, signal.SIGINT)
            f.send_signal(signal.SIGINT)
            assert f.communicate(timeout=PATIENCE) == ('', '') and f.returncode == 0
            f = follow(f'{temp}/s')
            time.sleep(0.1)
            server.accept()[0].close()
            with server.accept()[0] as s:
                assert s.recv(4096) == b'{"output":"entries"}\n'
                s.sendall(START + frame('gap', lost_entries=3, sequence=4))
        said = f.communicate(timeout=PATIENCE)[0]
        assert said == '! gap: 3 records missed, next is 4\n', said


def resumed(temp):
    """Events go on behind the one that a browser says it had last."""
    need('http')
    tcp, web = free_port(), free_port()
    d = Daemon(temp, ASKED % (tcp, web))

    def ids(n, last=None):
        headers = {'Last-Event-ID': last} if last else {}
        query = '' if last else '?from=oldest'
        ask = urllib.request.Request(f'http://127.0.0.1:{web}/events{query}',
                                     headers=headers)
        with urllib.request.urlopen(ask, timeout=PATIENCE) as f:
            lines = iter(f.readline, b'')
            found = (line[4:].strip().decode() for line in lines
                     if line.startswith(b'id: '))
            return [next(found) for _ in range(n)]

    with entries(f'{temp}/in.sock', 1):
        whole = ids(N_ENTRIES)
        assert len(set(whole)) == N_ENTRIES, whole
        assert ids(10, whole[49]) == whole[50:60]
    d.stop()


def too_slow(temp):
    """on_lag: disconnect ends who lags, and nobody else."""
    d = Daemon(temp, '''ring: 1MiB
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock", on_lag: disconnect}
''')
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    with socket.socket(socket.AF_UNIX) as slow:
        slow.connect(f'{temp}/l.sock')
        slow.sendall(b'{"output":"json"}\n')
        time.sleep(0.1)
        sent = 0
        while 'was too slow: disconnected' not in d.log():
            with entries(f'{temp}/in.sock', 1):
                lines.entries(N_ENTRIES)
            sent += 1
            assert sent < 1000, d.log()
        slow.settimeout(PATIENCE)
        while slow.recv(65536):  # to the end
            pass
    with entries(f'{temp}/in.sock', 1):
        lines.entries(N_ENTRIES)
    d.stop()


def http_has_no_port(temp):
    """Somebody else has it: at the start that is the end, in a configuration
    that is read again a line in the log."""
    need('http')
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))
        other.listen(1)
        busy = WEB % other.getsockname()[1]
        with open(f'{temp}/busy.yaml', 'w') as f:
            f.write(busy.replace('$T', temp))
        ended = subprocess.run([PROGRAM, '-c', f'{temp}/busy.yaml'], timeout=PATIENCE,
                               stderr=subprocess.PIPE, check=False)
        assert ended.returncode == 1, ended
        assert b'Address already in use' in ended.stderr, ended
        assert b'left behind' not in ended.stderr, ended
        web = free_port()
        d = Daemon(temp, WEB % web)
        for i in range(5):
            d.reload(busy + '#' * i)
            assert d.log().count('Address already in use') == i + 1
    d.reload(WEB % web)
    assert http(web, '/healthz')[0] == 200
    time.sleep(0.2)  # what was begun of the others is gone by now
    assert http(web, '/healthz')[0] == 200
    d.stop()


def http_moves(temp):
    """From port to port, with somebody there at once each time: what a server
    leaves behind is not closed in the next one's place."""
    need('http')
    ports = free_port(), free_port()
    d = Daemon(temp, WEB % ports[0])
    for i in range(1, 8):  # more of a line the log leaves out
        port = ports[i % 2]
        d.reload(WEB % port)
        for _ in range(3):
            assert http(port, '/healthz')[0] == 200
    d.stop()


def few_descriptors(temp):
    """However few there are: it says so and ends, or it runs."""
    need('http')
    path = f'{temp}/few.yaml'
    with open(path, 'w') as f:
        f.write((WEB % free_port()).replace('$T', temp))
    ends = set()
    for most in range(8, 26):
        process = subprocess.Popen(
            [PROGRAM, '-c', path], stderr=subprocess.PIPE, preexec_fn=lambda: (
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))))
        said = b''
        while b': ready' not in said and b'error: ' not in said:
            line = process.stderr.readline()
            assert line, (most, said, process.wait())
            said += line
        if b': ready' in said:
            process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == (b': ready' not in said), (
            most, said, rest, process.returncode)
        assert b'left behind' not in rest, (most, said, rest)
        ends.add(process.returncode)
    assert ends == {0, 1}, ends


run(asked, outputs_are_counted, acknowledged, chosen, followed, killed, printed, ended, crowded, resumed, too_slow,
    http_has_no_port, http_moves, few_descriptors)
