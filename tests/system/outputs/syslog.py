#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""syslog.py DAEMON DUMP ELF PRINTFDECODE: what a real rsyslogd is sent, over each
kind of socket; that its end, or one that reads nothing, costs nobody else."""
import datetime
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time

from real import Rsyslog, check_config, skip
import kept

from harness import (DUMP, ELF, N_ENTRIES, REST, Daemon, dial, dump_frames, free_port,
                     need, producer, run, slurp, until)
import tls

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..', 'bench'))
import inputs  # noqa: E402  pylint: disable=wrong-import-position

PRINTFDECODE = REST[0]
CONFIG = '''code_objects: [%s]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: syslog, name: "the \\"one\\"", %s}
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "unix:$T/http.sock"}
'''
SD = re.compile(rb'(\w+)="((?:[^"\\\]]|\\["\\\]])*)"')

if not Rsyslog.is_here():
    skip('no rsyslogd')


def expected():
    out = subprocess.run([PRINTFDECODE, '-o', 'json', DUMP, ELF], check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    lines = [json.loads(line) for line in out.splitlines()]
    return [line for line in lines if line['type'] == 'entry']


def data_of(line, enterprise=32473):
    """Its structured data, by name."""
    begin = b'[gpu@%d ' % enterprise
    assert line[6].startswith(begin) and line[6].endswith(b']'), line
    found = SD.findall(line[6])
    assert begin + b' '.join(b'%s="%s"' % f for f in found) + b']' == line[6]
    return {k.decode(): re.sub(rb'\\(.)', rb'\1', v).decode() for k, v in found}


def lines_of(peer, n):
    until(f'{n} lines of syslog', lambda: len(peer.read()) >= n)
    lines = peer.read()
    assert len(lines) == n, (len(lines), n)
    return sorted(lines, key=lambda line: int(data_of(line)['sequence']))


def sent(temp, kind, keys, port=0, with_tls=False):
    """Each field of each line."""
    peer = Rsyslog(temp, kind, port, with_tls)
    d = Daemon(temp, CONFIG % ('$E', keys))
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    with producer(f'{temp}/in.sock', *dump_frames(name='a "b" ]c\\')):
        said = live.entries(N_ENTRIES)
        got = lines_of(peer, N_ENTRIES)
    host = socket.gethostname().encode()
    for line, entry, want in zip(got, said, expected()):
        data = data_of(line)
        assert line[0] == b'134', line  # local0.info
        assert line[2:6] == [host, b'printfdecode', b'-', b'entry'], line
        at = datetime.datetime.fromisoformat(line[1].decode())
        ns = int(entry['time_unix_nano'])
        assert re.search(rb'\.\d{6}(Z|\+00:00)$', line[1]), line
        assert round(at.timestamp() * 1e6) == ns // 1000, (line, ns)
        assert data['time_unix_nano'] == str(ns)
        assert data['sequence'] == str(entry['sequence'])
        assert data['source'] == 'a "b" ]c\\', data
        text = want['message'].removesuffix('\n')
        text = re.sub(r'[\x00-\x1f\x7f]', lambda c: f'#{ord(c[0]):03o}', text)
        assert line[7].lstrip() == text.encode().lstrip(), (line, text)
    assert d.metric('output_sent_total') == N_ENTRIES
    assert d.metric('output_dropped_total') == 0
    d.stop()
    peer.kill()


def datagrams(temp):
    sent(temp, 'datagram', 'address: "unix:$T/syslog.sock", facility: local0')


def streams(temp):
    sent(temp, 'stream', 'address: "unix:$T/syslog.sock", stream: yes, '
         'facility: local0')


def tcp(temp):
    port = free_port()
    sent(temp, 'tcp', f'address: "tcp:localhost:{port}", facility: local0', port)


def lines(temp):
    port = free_port()
    sent(temp, 'tcp', f'address: "tcp:127.0.0.1:{port}", facility: local0, '
         'framing: newline', port)


def over_tls(temp):
    """To a name, which has more addresses than the server listens at."""
    need('TLS')
    port = free_port()
    tls.make_all(temp)
    tls.make_certificate(temp, 'server', of='DNS:localhost')
    sent(temp, 'tcp', f'address: "tcp:LocalHost:{port}", facility: local0, '
         'tls_certificate: $T/client.pem, tls_key: $T/client.key, '
         'tls_ca: $T/ca.pem', port, True)


def long_ones(temp):
    """Two lines, and 400 kB; the second is no datagram."""
    long = 'ab' * 200000 + 'c'
    with open(f'{temp}/long.elf', 'wb') as f:
        f.write(inputs.elf([inputs.row(0x10002, long, []),
                            inputs.row(0x10003, 'two\nlines\n', [])]))
    data = struct.pack('<QQ', 4, 0) + struct.pack(
        '<QQ', 0x10002 << 16 | 2, 0x10003 << 16 | 2)
    port = free_port()
    peer = Rsyslog(temp, 'tcp', port)
    d = Daemon(temp, CONFIG % ('$T/long.elf', f'address: "tcp:127.0.0.1:{port}", '
                               'enterprise: 5'))
    with producer(f'{temp}/in.sock', *dump_frames(data=data)):
        until('both', lambda: len(peer.read()) == 2)
        one, two = peer.read()
        assert one[7].strip() == long.encode() and data_of(one, 5)
        assert two[7].strip() == b'two#012lines', two
    d.stop()
    peer.kill()
    os.unlink(f'{temp}/syslog')
    peer = Rsyslog(temp, 'datagram')
    d = Daemon(temp, CONFIG % ('$T/long.elf',
                               'address: "unix:$T/syslog.sock"'))
    with producer(f'{temp}/in.sock', *dump_frames(data=data)):
        until('one', lambda: len(peer.read()) == 1)
        assert d.metric('output_dropped_total') == 1
        assert 'no datagram' in d.log()
    d.stop()
    peer.kill()


def numbers(peer):
    return [int(data_of(line)['sequence']) for line in peer.read()]


def restarts(temp):
    """The server is killed and comes again while lines come: each that came
    while it was there is there."""
    port = free_port()
    d = Daemon(temp, CONFIG % ('$E', f'address: "tcp:127.0.0.1:{port}"'))
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    until('a warning', lambda: 'trying again' in d.log())
    for i in range(3):
        with producer(f'{temp}/in.sock', *dump_frames(name=f'b{i}')):
            live.entries(N_ENTRIES)
        peer = Rsyslog(temp, 'tcp', port)
        until('all of them', lambda: set(numbers(peer)) ==
              set(range(1, (i + 1) * N_ENTRIES + 1)))
        peer.kill()
        until('its end is seen', lambda: d.metric('output_connected') == 0)
    assert d.metric('output_retried_total') >= 3
    d.stop()


def stalled(temp):
    """Who accepts and reads nothing: a part of a message may be under way for
    ever. Others have everything, and the memory stays within its bounds; who
    comes after it is sent whole messages, and told what is gone."""
    with socket.create_server(('127.0.0.1', 0)) as server:
        port = server.getsockname()[1]
        d = Daemon(temp, ('ring: 1MiB\nmemory_max: 32MiB\n' + CONFIG) % (
            '$E', f'address: "tcp:127.0.0.1:{port}"'))
        deaf, _ = server.accept()
        live = dial(f'{temp}/l.sock', {'from': 'oldest'})
        data = slurp(DUMP)
        n = 0
        while not d.metric('output_dropped_total'):
            with producer(f'{temp}/in.sock',
                          *(f for i in range(50)
                            for f in dump_frames(buffer=i + 1, data=data))):
                live.entries(50 * N_ENTRIES)
                n += 50 * N_ENTRIES
        assert d.metric('memory_accounted_bytes') < 32 << 20
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    deaf.close()
    peer = Rsyslog(temp, 'tcp', port)
    until('all is said', lambda: d.metric('output_connected') == 1 and
          d.metric('behind_lines') == 0)
    until('the last of them', lambda: any(
        data_of(line)['sequence'] == str(n) for line in peer.read()[-100:]))
    gaps = [line for line in peer.read() if line[5] == b'gap']
    assert gaps and all(b'records missed' in line[7] for line in gaps), gaps
    missed = sum(int(re.search(rb'(\d+) records', g[7])[1]) for g in gaps)
    assert missed == d.metric('output_dropped_total')
    d.stop()
    peer.kill()


def stands_still(temp):
    """The real server."""
    port = free_port()
    peer = Rsyslog(temp, 'tcp', port)
    kept.still(temp, f'type: syslog, address: "tcp:127.0.0.1:{port}"',
               lambda: [int(data_of(line)['sequence']) for line in peer.read()
                        if line[5] == b'entry'], peer)
    peer.kill()


def talks_back(temp):
    """What a server says to what has no answers is read and thrown away, however
    much it is; the messages arrive."""
    heard = []

    def serve(server):
        sock, _ = server.accept()
        sock.settimeout(0.01)
        while True:
            try:
                sock.sendall(b'<no such word>\0\xff\n' * 1000)
            except TimeoutError:
                pass
            except OSError:
                return
            try:
                heard.append(sock.recv(1 << 16))
            except TimeoutError:
                pass

    with socket.create_server(('127.0.0.1', 0)) as server:
        threading.Thread(target=serve, args=[server], daemon=True).start()
        d = Daemon(temp, ('ring: 1MiB\nmemory_max: 32MiB\n' + CONFIG) % (
            '$E', f'address: "tcp:127.0.0.1:{server.getsockname()[1]}"'))
        with producer(f'{temp}/in.sock', *dump_frames()):
            until('all of them', lambda: b''.join(heard).count(
                b'time_unix_nano=') >= N_ENTRIES)
        assert d.metric('output_connected') == 1
        assert d.metric('memory_accounted_bytes') < 32 << 20
        d.stop()


class Sink:
    """A real rsyslogd, which is ended and begins again."""

    def __init__(self, temp, kind, keys):
        self.temp, self.kind, self.peer = temp, kind, None
        self.port = free_port() if kind == 'tcp' else 0
        where = (f'tcp:127.0.0.1:{self.port}' if kind == 'tcp' else
                 f'unix:{temp}/syslog.sock')
        self.keys = f'type: syslog, address: "{where}"{keys}'

    def begin(self):
        if not self.peer:
            self.peer = Rsyslog(self.temp, self.kind, self.port)

    def end(self):
        if self.peer:
            self.peer.kill()
            if self.kind != 'tcp':
                os.unlink(f'{self.temp}/syslog.sock')
        self.peer = None

    def entries(self):
        """Also of a message that was cut, when the daemon was killed, a line
        may be there; it came again."""
        found = []
        path = f'{self.temp}/syslog'
        if not os.path.exists(path):
            return found
        with open(path, 'rb') as f:
            for line in f.read().split(b'\n')[:-1]:
                fields = dict(SD.findall(line))
                if b'|entry|' in line and b'"] ' in line.replace(b'|', b' '):
                    found.append((int(fields[b'sequence']),
                                  int(fields[b'time_unix_nano'])))
        return found


def required(temp):
    """The daemon is killed at any time."""
    sink = Sink(temp, 'tcp', '')
    kept.killed(temp, sink.keys, sink.entries, sink.begin)
    sink.end()


def required_unix(temp):
    sink = Sink(temp, 'stream', ', stream: yes')
    times = kept.away(temp, sink.keys, sink.entries, sink.begin, sink.end)
    assert set(times.values()) == {1}


def required_datagrams(temp):
    sink = Sink(temp, 'datagram', '')
    times = kept.away(temp, sink.keys, sink.entries, sink.begin, sink.end,
                      is_heard=False)
    assert set(times.values()) == {1}


def required_chosen(temp):
    sink = Sink(temp, 'tcp', '')
    kept.chosen(temp, sink.keys, sink.entries, sink.begin)
    sink.end()


def half_open(temp):
    """Of a peer that reads nothing only its machine's buffer is done: what stood
    in ours when it broke goes to the next one."""
    with socket.create_server(('127.0.0.1', 0)) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        port = server.getsockname()[1]
        sink = Sink(temp, 'tcp', '')
        sink.port = port
        sink.keys = f'type: syslog, address: "tcp:127.0.0.1:{port}"'
        d = Daemon(temp, kept.CONFIG % sink.keys)
        deaf, _ = server.accept()
        with kept.produce(temp, 100):
            until('much is sent', lambda: d.metric('output_sent_total') > 1000)
            n_done = d.metric('output_acknowledged_total')
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                            struct.pack('ii', 1, 0))
            deaf.close()
            server.close()
            sink.begin()
            kept.arrived(temp, d, 100 * N_ENTRIES)
    wanted, got = set(kept.in_file(temp)), set(sink.entries())
    assert len(wanted) == 100 * N_ENTRIES and got <= wanted
    assert len(wanted - got) <= n_done < 300, (len(wanted - got), n_done)
    sink.end()
    d.stop()


def refused(temp):
    for block, place, words in (
            ('{type: syslog}', '1:11', "'address'"),
            ('{type: syslog, address: "tcp:logs.example:6514"}', '1:35',
             'wants TLS'),
            ('{type: syslog, address: "udp:127.0.0.1:514"}', '1:35', 'tcp:HOST'),
            ('{type: syslog, address: "tcp:127.0.0.1:0"}', '1:35', 'port'),
            ('{type: syslog, address: "unix:/a", framing: newline}', '1:55',
             'datagram'),
            ('{type: syslog, address: "unix:/a", facility: local9}', '1:56',
             "'facility' is one of: kern"),
            ('{type: syslog, address: "tcp:127.0.0.1:5", stream: yes}', '1:62',
             'unix sockets'),
            ('{type: syslog, address: "unix:/a", identifier: "a b"}', '1:58',
             'letters')):
        check_config(temp, f'outputs: [{block}]', place, words)


if __name__ == '__main__':
    run(datagrams, streams, tcp, lines, over_tls, long_ones, restarts, stalled,
        stands_still, talks_back, required, required_unix, required_datagrams, required_chosen, half_open,
        refused)
