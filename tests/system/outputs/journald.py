#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""journald.py DAEMON DUMP ELF PRINTFDECODE: what the journal gets, and what it
does to others when it is away. With a real systemd-journald in namespaces of
its own where that can be run, else with a socket that reads its protocol."""
import array
import collections
import fcntl
import json
import mmap
import os
import socket
import struct
import subprocess
import sys
import threading

from real import Journald, check_config, text_of
import kept

from harness import (Lacking, DUMP, ELF, N_ENTRIES, REST, Daemon, dial, dump_frames,
                     producer, run, slurp, until)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..', 'bench'))
import inputs  # noqa: E402  pylint: disable=wrong-import-position

PRINTFDECODE = REST[0]
CONFIG = '''code_objects: [%s]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: journald, name: journal, address: "unix:$T/run/systemd/journal/socket"%s}
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "unix:$T/http.sock"}
'''
LONG = 'ab' * 200000 + 'c'


class Strict:
    """In the place of journald: its protocol, and nothing else, is read."""

    def __init__(self, temp):
        self.path = f'{temp}/run/systemd/journal/socket'
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self.entries = []
        self.begin()

    def begin(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        threading.Thread(target=self.serve, args=[self.socket],
                         daemon=True).start()

    def serve(self, sock):
        while True:
            try:
                data, control, flags, _ = sock.recvmsg(1 << 20, 64)
            except OSError:
                return
            assert not flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC)
            fds = array.array('i')
            for level, kind, what in control:
                assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
                fds.frombytes(what)
            if not data and not fds:
                return
            if not data:
                data = memory(fds[0])
            self.entries.append(parse(data))

    def kill(self):
        # Nobody else is woken.
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def again(self, _temp):
        self.begin()
        return self

    def read(self, *matches):
        wanted = [m.split('=', 1) for m in matches]
        return [e for e in list(self.entries)
                if all(e.get(key) == value for key, value in wanted)]


def memory(fd):
    seals = (fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW |
             fcntl.F_SEAL_WRITE)
    assert fcntl.fcntl(fd, fcntl.F_GET_SEALS) == seals, 'it is not sealed'
    with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as m:
        return m[:]


def parse(data):
    entry = collections.OrderedDict()
    while data:
        line, data = data.split(b'\n', 1)
        key, is_short, value = line.partition(b'=')
        assert key and not key.startswith(b'_'), key
        assert not set(key) - set(b'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_')
        if not is_short:
            n = struct.unpack_from('<Q', data)[0]
            value, end, data = data[8:8 + n], data[8 + n:9 + n], data[9 + n:]
            assert end == b'\n' and len(value) == n
        entry[key.decode()] = value.decode(errors='surrogateescape')
    return entry


class Real(Journald):
    def again(self, temp):
        return Real(temp)


WHY = Journald.is_here()
if WHY:
    print(f'a stand-in for journald: {WHY}')
PEER = Strict if WHY else Real


def ours(peer, n, *matches):
    """So many entries of ours, in the order of their numbers."""
    def found():
        entries = peer.read('SYSLOG_IDENTIFIER=printfdecode', *matches)
        return entries if len(entries) >= n else None
    entries = until(f'{n} entries in the journal', found)
    return sorted(entries, key=lambda e: int(e['GPU_SEQUENCE']))


def expected():
    out = subprocess.run([PRINTFDECODE, '-o', 'json', DUMP, ELF], check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    lines = [json.loads(line) for line in out.splitlines()]
    return [line for line in lines if line['type'] == 'entry']


def stripped(text):
    return text[:-1] if text.endswith('\n') else text


def fields(temp):
    peer = PEER(temp)
    d = Daemon(temp, CONFIG % ('$E', ''))
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    sock = producer(f'{temp}/in.sock', *dump_frames(name='dump 1'))
    said = live.entries(N_ENTRIES)
    got = ours(peer, N_ENTRIES)
    assert len(got) == N_ENTRIES
    for entry, line, want in zip(got, said, expected()):
        assert text_of(entry['MESSAGE']) == stripped(want['message']).encode()
        assert entry['GPU_SEQUENCE'] == str(line['sequence'])
        assert entry['GPU_TIME_UNIX_NANO'] == line['time_unix_nano']
        assert int(entry['GPU_ID'], 16) == int(line['id'], 16)
        assert entry['GPU_SOURCE'] == 'dump 1' and entry['GPU_TYPE'] == 'entry'
        assert entry['PRIORITY'] == '6'
    assert d.metric('output_sent_total') == N_ENTRIES
    assert d.metric('output_dropped_total') == 0
    assert d.metric('output_connected') == 1
    sock.close()
    d.stop()
    peer.kill()


def sites(temp):
    """Level, file and line; a message of two lines; what was found; one that
    no datagram holds."""
    with open(f'{temp}/a.comp', 'w', encoding='ascii') as f:
        f.write('#version 450\nlayout(local_size_x=1) in;\nvoid main() {\n'
                'PFD_LOG(ERROR, "two\\nlines %d\\n", 3);\n}\n')
    subprocess.run([PRINTFDECODE, 'scan', f'{temp}/a.comp', '-o',
                    f'{temp}/o.comp', '--strings', f'{temp}/s.pfdb', '--sites'],
                   check=True)
    out = subprocess.run([PRINTFDECODE, 'strings', '-o', 'json',
                          f'{temp}/s.pfdb'], check=True, stdout=subprocess.PIPE)
    ident = int(json.loads(out.stdout.splitlines()[0])['id'], 16)
    with open(f'{temp}/long.elf', 'wb') as f:
        f.write(inputs.elf([inputs.row(0x10002, LONG, [])]))
    peer = PEER(temp)
    d = Daemon(temp, CONFIG % ('$T/s.pfdb, $T/long.elf', ''))
    entries = (struct.pack('<QI', ident << 16 | 3, 7) +
               struct.pack('<QI', 0x777777777777 << 16 | 3, 9) +
               struct.pack('<Q', 0x10002 << 16 | 2))
    data = struct.pack('<QQ', len(entries) // 4 + 9, 0) + entries
    sock = producer(f'{temp}/in.sock', *dump_frames(data=data))
    two, unknown, long, *found = ours(peer, 4)
    assert text_of(two['MESSAGE']) == b'two\nlines 7', two
    assert two['PRIORITY'] == '3' and two['GPU_LEVEL'] == 'error'
    assert os.path.basename(two['CODE_FILE']) == 'a.comp'
    assert two['CODE_LINE'] == '4', two
    assert text_of(long['MESSAGE']) == LONG.encode()
    assert 'unknown id 0x777777777777: 00000009' in unknown['MESSAGE'], unknown
    assert unknown['PRIORITY'] == '4' and unknown['GPU_ID'] == '0x777777777777'
    assert unknown['GPU_FINDINGS'] == 'unknown_id'
    assert any('overflow' in f['MESSAGE'] and f['PRIORITY'] == '4' and
               f['GPU_TYPE'] == 'finding' for f in found), found
    sock.close()
    d.stop()
    peer.kill()


def chosen(temp):
    peer = PEER(temp)
    d = Daemon(temp, CONFIG % ('$E', ', match: workgroup, findings: no, '
                               'identifier: shaders'))
    sock = producer(f'{temp}/in.sock', *dump_frames())
    want = [e for e in expected() if 'workgroup' in e['message']]
    until('those', lambda: len(peer.read('SYSLOG_IDENTIFIER=shaders')) ==
          len(want))
    assert all('workgroup' in e['MESSAGE']
               for e in peer.read('SYSLOG_IDENTIFIER=shaders'))
    sock.close()
    d.stop()
    peer.kill()


def away(temp):
    """No journal at the start, then one, which dies and comes again: others have
    everything all the while, and it has what the ring still has."""
    os.makedirs(f'{temp}/run/systemd/journal')
    d = Daemon(temp, CONFIG % ('$E', ''))
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    first = producer(f'{temp}/in.sock', *dump_frames(name='first'))
    live.entries(N_ENTRIES)
    until('a warning', lambda: 'trying again' in d.log())
    assert d.metric('output_connected') == 0
    peer = PEER(temp)
    assert len(ours(peer, N_ENTRIES)) == N_ENTRIES
    peer.kill()
    second = producer(f'{temp}/in.sock', *dump_frames(name='second'))
    live.entries(N_ENTRIES)
    until('it is missed', lambda: d.metric('output_connected') == 0)
    assert d.metric('output_retried_total') > 0
    peer = peer.again(temp)
    ours(peer, N_ENTRIES, 'GPU_SOURCE=second')
    assert d.metric('output_sent_total') == 2 * N_ENTRIES
    first.close()
    second.close()
    d.stop()
    peer.kill()


def dead(temp):
    """Nobody ever: the daemon ends without waiting for it, and says what was
    lost in a note when there is one to tell."""
    os.makedirs(f'{temp}/run/systemd/journal')
    small = CONFIG.replace('inputs:', 'ring: 1MiB\ninputs:', 1)
    d = Daemon(temp, small % ('$E', ''))
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    n = 0
    data = slurp(DUMP)
    while not d.metric('output_dropped_total'):
        with producer(f'{temp}/in.sock',
                      *(f for i in range(20)
                        for f in dump_frames(buffer=i + 1, data=data))):
            n += 20 * N_ENTRIES
            assert len(live.entries(20 * N_ENTRIES)) == 20 * N_ENTRIES
    peer = PEER(temp)
    until('all is said', lambda: d.metric('output_connected') == 1 and
          d.metric('behind_lines') == 0)
    missed = d.metric('output_dropped_total')
    assert missed > 0
    assert d.metric('output_sent_total') + missed == n + 1
    gaps = until('the gap', lambda: peer.read('GPU_TYPE=gap'))
    assert len(gaps) == 1, gaps
    assert f'{int(missed)} records missed' in gaps[0]['MESSAGE'], gaps
    assert gaps[0]['PRIORITY'] == '4'
    peer.kill()
    d.stop()


class Sink:
    def __init__(self, temp):
        self.temp, self.peer, self.is_up = temp, None, False
        os.makedirs(f'{temp}/run/systemd/journal')
        self.keys = ('type: journald, address: '
                     f'"unix:{temp}/run/systemd/journal/socket"')

    def begin(self):
        if not self.is_up:
            self.peer = self.peer.again(self.temp) if self.peer else PEER(
                self.temp)
        self.is_up = True

    def end(self):
        self.peer.kill()
        self.is_up = False

    def entries(self):
        return [(int(e['GPU_SEQUENCE']), int(e['GPU_TIME_UNIX_NANO']))
                for e in (self.peer.read('GPU_TYPE=entry') if self.peer else [])]


def required(temp):
    """The daemon is killed at any time."""
    sink = Sink(temp)
    kept.killed(temp, sink.keys, sink.entries, sink.begin)
    sink.end()


def required_away(temp):
    """Of datagrams nobody hears that the journal has gone."""
    sink = Sink(temp)
    times = kept.away(temp, sink.keys, sink.entries, sink.begin, sink.end,
                      is_heard=False)
    assert set(times.values()) == {1}


def stands_still(temp):
    """The real one; of a stand-in, see dead()."""
    if WHY:
        raise Lacking(WHY)
    peer = PEER(temp)
    kept.still(temp, f'type: journald, address: "unix:{peer.socket}"',
               lambda: sorted(int(e['GPU_SEQUENCE'])
                              for e in peer.read('GPU_TYPE=entry')), peer)
    peer.kill()


def refused(temp):
    for block, place, words in (
            ('{type: journald, required: true}', '1:1', 'state_dir'),
            ('{type: journald, output: json}', '1:28', 'output'),
            ('{type: journald, address: "tcp:127.0.0.1:1"}', '1:37',
             'a unix socket'),
            ('{type: journald, identifier: "a b"}', '1:40', 'letters')):
        check_config(temp, f'outputs: [{block}]', place, words)


if __name__ == '__main__':
    run(fields, sites, chosen, away, dead, stands_still, required,
        required_away, refused)
