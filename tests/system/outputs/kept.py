# SPDX-License-Identifier: MIT
"""What a required output may not lose, whoever is killed: compared with a
required file, which has each line of the queue once."""
import collections
import json
import random
import signal
import struct
import time

from harness import (DUMP, N_ENTRIES, Daemon, dial, dump_frames, producer, slurp,
                     until)

CONFIG = '''state_dir: $T/state
drain: 600s
code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {%s, required: true, name: sink}
  - {type: file, path: $T/kept.log, required: true}
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "unix:$T/http.sock"}
'''


def in_file(temp):
    """(number, time) of each entry."""
    try:
        with open(f'{temp}/kept.log', 'rb') as f:
            lines = [json.loads(line) for line in f.read().split(b'\n')[:-1]]
    except FileNotFoundError:
        return []
    return [(line['sequence'], int(line['time_unix_nano'])) for line in lines
            if line['type'] == 'entry']


def produce(temp, n_dumps):
    """Some dumps, and its connection, so that they are not cut off."""
    data = slurp(DUMP)
    return producer(f'{temp}/in.sock',
                    *(f for i in range(n_dumps)
                      for f in dump_frames(buffer=i + 1, data=data)))


def entry(ident, *dwords):
    """One of a buffer of LLPC."""
    return struct.pack('<Q', ident << 16 | (2 + len(dwords))) + b''.join(
        struct.pack('<I', d) for d in dwords)


def buffer(entries):
    return struct.pack('<QQ', len(entries) // 4, 0) + entries


def same(temp, read, what):
    """All that the file has arrived, and nothing else."""
    until(f'{what}: all of it', lambda: set(in_file(temp)) <= set(read()))
    wanted, got = in_file(temp), read()
    assert len(wanted) == len(set(wanted)), what
    assert set(got) == set(wanted), (what, set(got) ^ set(wanted))
    return collections.Counter(got)


def acked_by(temp, name):
    """What the checkpoint has."""
    try:
        with open(f'{temp}/state/checkpoint', encoding='utf-8') as f:
            return json.load(f)['acked'].get(name, 0)
    except FileNotFoundError:
        return 0


def arrived(temp, d, n_entries):
    """The file has so many at least, and nothing is on its way to anybody."""
    until('the file', lambda: len(in_file(temp)) >= n_entries)
    until('acknowledged', lambda: d.metric('output_oldest_seconds') == 0 and
          d.metric('behind_lines') == 0)


def killed(temp, output, read, peer):
    """The daemon is killed at any time; peer(): one that there was ends, if
    any, and another one begins. Returns how often each came."""
    d = Daemon(temp, CONFIG % output)
    dice = random.Random(15)
    for _ in range(6):
        sock = produce(temp, 60)
        time.sleep(dice.random() * 0.1)
        if dice.random() < 0.5:
            peer()
        time.sleep(dice.random() * 0.1)
        d.kill()
        sock.close()
        d.start()
    peer()
    n_before = len(in_file(temp))
    with produce(temp, 3):
        arrived(temp, d, n_before + 3 * N_ENTRIES)
        times = same(temp, read, 'killed')
    assert sum(times.values()) >= 3 * N_ENTRIES
    assert d.metric('output_dropped_total') == 0
    d.stop()
    return times


def away(temp, output, read, peer, gone, is_heard=True):
    """Nobody is there while lines come, and while the daemon begins again; the
    age of the oldest says so. Each arrives once."""
    d = Daemon(temp, CONFIG % output)
    with produce(temp, 20):
        until('the file', lambda: len(in_file(temp)) == 20 * N_ENTRIES)
        until('it is old', lambda: d.metric('output_oldest_seconds') > 0.2)
        assert not read() and d.metric('output_acknowledged_total') == 0
        d.stop()
    d.start()
    until('it is older', lambda: d.metric('output_oldest_seconds') > 0.4)
    peer()
    arrived(temp, d, 20 * N_ENTRIES)
    times = same(temp, read, 'away')
    assert set(times.values()) == {1}
    gone()
    if is_heard:
        until('its end is seen', lambda: d.metric('output_connected') == 0)
    with produce(temp, 20):
        until('the file', lambda: len(in_file(temp)) == 40 * N_ENTRIES)
        peer()
        arrived(temp, d, 40 * N_ENTRIES)
    times = same(temp, read, 'gone')
    # An orderly end and another start send nothing again.
    d.stop()
    d.start()
    with produce(temp, 1):
        arrived(temp, d, 41 * N_ENTRIES)
        assert same(temp, read, 'again').keys() > times.keys()
    assert len(in_file(temp)) == 41 * N_ENTRIES
    gone()
    d.stop()
    return collections.Counter(read())


def still(temp, output, read, peer):
    """The service stands still, connected: others have everything, the memory
    stays within its bounds, and what comes when it goes on arrives. read(): its
    numbers of entries."""
    d = Daemon(temp, f'''ring: 1MiB
memory_max: 32MiB
drain: 600s
code_objects: [$E]
inputs:
  - {{type: listen, address: "unix:$T/in.sock"}}
outputs:
  - {{{output}}}
  - {{type: listen, address: "unix:$T/l.sock"}}
  - {{type: http, address: "unix:$T/http.sock"}}
''')
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    with produce(temp, 1):
        live.entries(N_ENTRIES)
        until('it is there', lambda: len(set(read())) == N_ENTRIES)
    peer.signal(signal.SIGSTOP)
    n = N_ENTRIES
    try:
        while not d.metric('output_dropped_total'):
            with produce(temp, 50):
                live.entries(50 * N_ENTRIES)
                n += 50 * N_ENTRIES
            assert d.metric('memory_accounted_bytes') < 32 << 20
        assert d.metric('output_oldest_seconds') > 0
    finally:
        peer.signal(signal.SIGCONT)
    with produce(temp, 1):
        until('the last of them', lambda: n + N_ENTRIES in set(read()))
    # What it lacks was counted, and told.
    got = set(read())
    assert len(got) + d.metric('output_dropped_total') >= n
    assert got <= set(range(1, n + N_ENTRIES + 100)), max(got)
    d.stop()


def chosen(temp, output, read, peer):
    """What it does not want is waited for by nobody."""
    d = Daemon(temp, CONFIG % (output + ', match: ^workgroup, findings: no'))
    peer()
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    with produce(temp, 3):
        said = live.entries(3 * N_ENTRIES)
        arrived(temp, d, 3 * N_ENTRIES)
    wanted = {(e['sequence'], int(e['time_unix_nano'])) for e in said
              if e['message'].startswith('workgroup')}
    until('those', lambda: len(read()) >= len(wanted) > 0)
    assert collections.Counter(read()) == {w: 1 for w in wanted}
    until('a checkpoint', lambda: acked_by(temp, 'sink') >= said[-1]['sequence'])
    d.stop()


__all__ = ['CONFIG', 'arrived', 'away', 'buffer', 'chosen', 'entry', 'in_file', 'killed', 'produce', 'still']
