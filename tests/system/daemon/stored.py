#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stored.py DAEMON DUMP ELF FOLLOW: what the queue has on disk is delivered after
a restart, when whoever sent it has gone: with its code objects, also those that
came late, and whatever became of its files; as lines, and as entries that
printfdecode follow prints."""
import contextlib
import glob
import json
import os
import random
import struct
import subprocess
import time

from harness import (ELF, N_ENTRIES, PATIENCE, REST, Daemon, dial, dump_frames,
                     elf_frame, frame, need, producer, run, slurp, until, written)

CONFIG = '''state_dir: $T/state
queue_max: 64MiB
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/ack.sock", required: true, name: collector}
'''


def segments(temp):
    return sorted(glob.glob(f'{temp}/state/queue/*.seg'))


def objects(temp):
    return glob.glob(f'{temp}/state/queue/objects/*')


def lists(temp):
    return glob.glob(f'{temp}/state/queue/strings/*')


def are_listed(temp):
    """The strings of the ELF are in a list, which is whole; before it is, a kill leaves
    them out."""
    return any(b'app.elf' in written(p) for p in lists(temp) if p[-1].isdigit())


def acknowledged(temp):
    """What the checkpoint has."""
    try:
        with open(f'{temp}/state/checkpoint') as f:
            return json.load(f)['acked'].get('collector', 0)
    except FileNotFoundError:
        return 0


def is_stored(temp, n):
    """So many entries are on disk."""
    at = 0
    for path in segments(temp):
        try:
            data = slurp(path)
        except FileNotFoundError:  # everybody has it
            continue
        place = 16
        while place + 16 <= len(data):
            size, _, number = struct.unpack_from('<IIQ', data, place)
            if size == 0:
                break
            if number:
                at += struct.unpack_from('<I', data, place + 16 + 48)[0]
            place += 16 + size
    return at >= n


def fill(d, temp, *frames, n=N_ENTRIES):
    with producer(f'{temp}/in.sock', *frames):
        until('entries on disk', lambda: is_stored(temp, n))


def delivered(temp, n=N_ENTRIES):
    sock = dial(f'{temp}/ack.sock')
    lines = sock.entries(n)
    sock.close()
    return lines


def followed(temp, n, form='json'):
    """What printfdecode prints of n entries, which it acknowledges."""
    p = subprocess.run(
        [REST[0], 'follow', '--ack', '-o', form, '-n', str(n),
         f'{temp}/ack.sock'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        check=False, timeout=PATIENCE)
    assert p.returncode in (0, 2), p.stderr
    return p.stdout


def followed_entries(temp, n):
    lines = [json.loads(line) for line in followed(temp, n).splitlines()]
    return [line for line in lines if line['type'] == 'entry']


def raw_entries(temp, is_enough):
    """The stream of entries itself, until it is enough."""
    sock = dial(f'{temp}/ack.sock', {'output': 'entries'})
    sock.sock.settimeout(PATIENCE)
    got = b''
    while not is_enough(got):
        more = sock.sock.recv(1 << 20)
        assert more, len(got)
        got += more
    sock.close()
    return got


def are_known(lines):
    return all('unknown_id' not in line.get('findings', []) for line in lines)


def after_a_restart(temp):
    """The same lines, though the producer and its code object have gone."""
    d = Daemon(temp, CONFIG)
    fill(d, temp, elf_frame(), *dump_frames())
    before = delivered(temp)
    assert are_known(before) and len(objects(temp)) == 1, objects(temp)
    d.kill()
    d.start()
    assert delivered(temp) == before
    # Lists and objects that nobody needs go.
    d.kill()
    for path in ('objects/' + '0' * 64, 'objects/x.part', 'strings/' + '9' * 18,
                 'strings/00000000000000000077'):
        with open(f'{temp}/state/queue/{path}', 'w') as f:
            f.write('{}')
    d.start()
    assert delivered(temp) == before
    assert len(objects(temp)) == len(lists(temp)) == 1, objects(temp)
    # From one entry on, in the middle of a chunk.
    sock = dial(f'{temp}/ack.sock')
    numbers = [line['sequence'] for line in sock.entries(N_ENTRIES)]
    sock.send({'ack': numbers[20]})
    until('the checkpoint', lambda: acknowledged(temp) == numbers[20])
    sock.close()
    d.kill()
    d.start()
    assert delivered(temp, N_ENTRIES - 21) == before[21:]
    d.stop()


def strings_come_late(temp):
    """A code object behind the last entry is there after a restart, too."""
    d = Daemon(temp, CONFIG)
    fill(d, temp, *dump_frames())
    with producer(f'{temp}/in.sock', elf_frame()):
        until('the object', lambda: len(objects(temp)) == 1)
        until('its list', lambda: are_listed(temp))
    assert are_known(delivered(temp))
    d.kill()
    d.start()
    assert are_known(delivered(temp))
    d.stop()


def large_ones_hold_up_none(temp):
    """A late code object that has no room on disk is told of; one behind it that has
    is there after a restart."""
    need('http')
    d = Daemon(temp, CONFIG.replace('64MiB', '8MiB') +
               '  - {type: http, address: "unix:$T/http.sock"}\n')
    fill(d, temp, *dump_frames())
    large = frame('code_object', code_object=1, name='large',
                  bytes=slurp(ELF) + bytes(9 << 20))
    with producer(f'{temp}/in.sock', large):
        until('that it is told', lambda: 'some have no room within queue_max' in d.log())
        assert d.metric('queue_left_objects') == 1 and not objects(temp)
        with producer(f'{temp}/in.sock', elf_frame()):
            until('the other one', lambda: len(objects(temp)) == 1)
            until('its list', lambda: are_listed(temp))
            assert d.metric('queue_left_objects') == 1
        d.kill()
    d.start()
    assert are_known(delivered(temp))
    d.stop()


def objects_are_what_came(temp):
    d = Daemon(temp, CONFIG)
    fill(d, temp, elf_frame(), *dump_frames())
    d.kill()
    path = objects(temp)[0]
    assert slurp(path) == slurp(ELF)
    with open(path, 'r+b') as f:
        f.seek(100)
        f.write(b'something else')
    d.start()
    assert not are_known(delivered(temp))
    assert 'it is not what it was' in d.log(), d.log()
    d.kill()
    os.remove(path)
    d.start()
    assert not are_known(delivered(temp))
    assert d.log().count('No such file') == 1, d.log()
    d.kill()
    os.remove(lists(temp)[0])
    d.start()
    assert not are_known(delivered(temp))
    d.stop()


def entries_are_the_lines(temp):
    """Entries that are printed by who gets them are the lines that the daemon
    makes, each once, from any entry on, whoever is killed between."""
    d = Daemon(temp, CONFIG)
    fill(d, temp, elf_frame(), *dump_frames(name='a'), *dump_frames(2, 'b'),
         n=2 * N_ENTRIES)
    before = delivered(temp, 2 * N_ENTRIES)
    assert are_known(before)
    got = []
    for i, n in enumerate((1, 20, 3, N_ENTRIES, N_ENTRIES - 24)):
        got += followed_entries(temp, n)
        assert got == before[:len(got)], i
        at = got[-1]['sequence']
        until('the checkpoint', lambda at=at: acknowledged(temp) >= at)
        if i % 2:
            d.kill()
            d.start()
    assert got == before
    # In any form.
    fill(d, temp, elf_frame(), *dump_frames())
    text = followed(temp, N_ENTRIES, 'text').decode().splitlines()
    fill(d, temp, elf_frame(), *dump_frames())
    raw = followed(temp, N_ENTRIES, 'raw').decode()
    messages = [line['message'] for line in before[:N_ENTRIES]]
    assert raw.split() == '\n'.join(messages).split(), raw
    assert '\n'.join(text).split() == raw.split(), text
    d.stop()


def entries_of_several_stocks(temp):
    """Code objects of before a restart and of behind it, which call something
    else by the same number: each entry has its own, and each stands once in
    the stream."""
    other = slurp(ELF).replace(b'half %f bool %d', b'HALF %f BOOL %d')
    assert other != slurp(ELF)
    d = Daemon(temp, CONFIG)
    for i in range(3):
        code = elf_frame() if i % 2 else frame(
            'code_object', code_object=1, name='other', bytes=other)
        fill(d, temp, code, *dump_frames(), n=(i + 1) * N_ENTRIES)
        d.kill()
        d.start()
    stocks = len(lists(temp))
    assert stocks == 3 and len(objects(temp)) == 2, (lists(temp), objects(temp))
    before = delivered(temp, 3 * N_ENTRIES)
    said = [line['message'].split()[0] for line in before
            if line['message'].lower().startswith('half')]
    assert set(said) == {'half', 'HALF'} and said[0] == 'HALF', said
    stream = raw_entries(temp, lambda got: got.count(b'\x7fELF') >= stocks)
    assert stream.count(b'\x89PFDCAP\n') == 1, stream[:64]
    got = followed_entries(temp, 3 * N_ENTRIES)
    assert got == before
    d.stop()


def entries_get_late_strings(temp):
    """What a stock has got behind its last entry is told before that."""
    d = Daemon(temp, CONFIG)
    fill(d, temp, *dump_frames())
    d.kill()
    d.start()
    with producer(f'{temp}/in.sock', *dump_frames(2, 'b')):
        until('entries on disk', lambda: is_stored(temp, 2 * N_ENTRIES))
        unknown = followed_entries(temp, 5)
        assert len(unknown) == 5 and not are_known(unknown)
        with producer(f'{temp}/in.sock', elf_frame()):
            until('the object', lambda: any(b'sha256' in written(path)
                                            for path in lists(temp)))
        rest = followed_entries(temp, 2 * N_ENTRIES - 5)
    assert not are_known(rest[:N_ENTRIES - 5])
    assert are_known(rest[N_ENTRIES - 5:])
    d.stop()


def entries_without_objects(temp):
    """What is not what it was is not told; entries come all the same."""
    d = Daemon(temp, CONFIG)
    fill(d, temp, elf_frame(), *dump_frames())
    d.kill()
    with open(objects(temp)[0], 'r+b') as f:
        f.seek(100)
        f.write(b'something else')
    d.start()
    got = followed_entries(temp, 10)
    assert len(got) == 10 and not are_known(got)
    assert 'it is not what it was' in d.log(), d.log()
    d.kill()
    os.remove(lists(temp)[0])
    d.start()
    assert len(followed_entries(temp, N_ENTRIES - 10)) == N_ENTRIES - 10
    d.stop()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def of_the_version_before(temp):
    """Its segments have lines, which are delivered as they are."""
    lines = [json.dumps({'type': 'entry', 'sequence': i, 'message': 'old'},
                        separators=(',', ':')).encode() + b'\n'
             for i in range(5, 12)]
    os.makedirs(f'{temp}/state/queue')
    with open(f'{temp}/state/queue/{5:020}.seg', 'wb') as f:
        f.write(b'PFDQ' + struct.pack('<IQ', 1, 5))
        for i, line in enumerate(lines):
            number = struct.pack('<Q', 5 + i)
            f.write(struct.pack('<II', len(line), crc32c(number + line)) +
                    number + line)
    d = Daemon(temp, CONFIG)
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames()):
        sock = dial(f'{temp}/ack.sock', {'output': 'entries'})
        said = sock.next()
        assert said['type'] == 'error' and 'json' in said['text'], said
        assert sock.next() is None
        sock.close()
        sock = dial(f'{temp}/ack.sock')
        got = sock.entries(7 + N_ENTRIES)
    numbers = [line['sequence'] for line in got]
    assert numbers == list(range(5, 12 + N_ENTRIES)), numbers
    assert [line['message'] for line in got[:7]] == ['old'] * 7
    sock.send({'ack': numbers[-1]})
    until('one segment', lambda: len(segments(temp)) == 1)
    sock.close()
    d.stop()


def of_a_later_version(temp):
    os.makedirs(f'{temp}/state/queue')
    path = f'{temp}/state/queue/{5:020}.seg'
    with open(path, 'wb') as f:
        f.write(b'PFDQ' + struct.pack('<IQ', 3, 5) + b'whatever')
    before = slurp(path)
    d = Daemon(temp, CONFIG)
    assert 'version 3' in d.log() and 'left alone' in d.log(), d.log()
    d.stop()
    assert slurp(path) == before


def any_bytes(temp):
    """Bytes are changed, in any file: it starts, and goes on."""
    seed = int(os.environ.get('SEED', time.time_ns() % 1000000))
    random.seed(seed)
    d = Daemon(temp, CONFIG)
    fill(d, temp, elf_frame(), *dump_frames())
    d.kill()
    files = {path: slurp(path).rstrip(b'\0')
             for path in segments(temp) + lists(temp) + objects(temp)}
    for _ in range(12):
        for path, data in files.items():
            data = bytearray(data)
            for _ in range(random.choice((0, 1, 1, 20))):
                data[random.randrange(len(data))] = random.randrange(256)
            with open(path, 'wb') as f:
                f.write(data[:random.choice((len(data), len(data), 40))])
        try:
            d.start()
            n = d.log().count('ready')
            sock = dial(f'{temp}/ack.sock')
            time.sleep(0.05)
            sock.close()
            d.kill()
        except Exception:
            print(f'seed {seed}', d.log())
            raise
        assert n, d.log()
    # What comes is delivered all the same.
    for path in segments(temp):
        os.remove(path)
    d.start()
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(name='c')):
        assert len(delivered(temp)) == N_ENTRIES
    d.stop()


def blocks(temp):
    """Bytes on disk, and files; what is being written anew stands there already."""
    found = [os.path.join(at, name)
             for at, _, names in os.walk(f'{temp}/state/queue') for name in names
             if not name.endswith('.part')]
    sizes = []
    for path in found:
        with contextlib.suppress(FileNotFoundError):
            sizes.append(os.stat(path).st_blocks * 512)
    return sum(sizes), len(sizes)


def little_objects(temp):
    """However little each is, a file of its own takes a block of disk, and a list
    speaks of it: all that is within queue_max while others wait."""
    most = 0
    n_max = 8 << 20
    need('http')
    d = Daemon(temp, CONFIG.replace('64MiB', '8MiB') +
               '  - {type: http, address: "unix:$T/http.sock"}\n')
    dump = list(dump_frames())
    for i in range(30):
        frames = [frame('code_object', code_object=k + 1, name='o',
                        bytes=slurp(ELF) + struct.pack('<QQ', i, k))
                  for k in range(100)]
        with producer(f'{temp}/in.sock', *frames, *dump):
            until('its lines', lambda i=i:
                  d.metric('lines_total') >= N_ENTRIES * (i + 1))
        most = max(most, blocks(temp)[0])
        assert most <= n_max, (i, blocks(temp))
    until('that it is full', lambda: 'full: the required output' in d.log())
    # Objects are written by lists: how many lists have room depends on how many
    # producers came while one was written. The first one always has.
    until('that there are many', lambda: blocks(temp)[1] > 100)
    lines = dial(f'{temp}/ack.sock')
    for i in range(30):
        entries = lines.entries(N_ENTRIES)
        assert are_known(entries), i
        lines.send({'ack': entries[-1]['sequence']})
    d.stop()


run(after_a_restart, strings_come_late, large_ones_hold_up_none, objects_are_what_came, little_objects,
    entries_are_the_lines, entries_of_several_stocks, entries_get_late_strings,
    entries_without_objects, of_the_version_before, of_a_later_version, any_bytes)
