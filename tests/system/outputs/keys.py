#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""keys.py DAEMON DUMP ELF PRINTFDECODE: lines of JSON with the names of others:
those of the Elastic Common Schema, and of one's own."""
import datetime
import json
import os
import random
import re
import sys
import time

from real import check_config
import kept

from harness import (DUMP, N_ENTRIES, Daemon, dial, dump_frames, frame, producer, run,
                     slurp, until)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..', 'bench'))
import inputs  # noqa: E402  pylint: disable=wrong-import-position

CONFIG = '''code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: file, path: $T/out, keys: [%s]}
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: listen, address: "unix:$T/ecs.sock", keys: [%s]}
'''


def once(pairs):
    assert len({k for k, _ in pairs}) == len(pairs), ('twice', pairs)
    return dict(pairs)


def lines_of(temp):
    try:
        return [json.loads(line, object_pairs_hook=once)
                for line in slurp(f'{temp}/out').split(b'\n')[:-1]]
    except FileNotFoundError:
        return []


def made(temp, keys, data=None, name='dump', n=N_ENTRIES, config=CONFIG):
    """Its lines, and what a subscriber had without names of others."""
    d = Daemon(temp, config % (keys, keys))
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    other = dial(f'{temp}/ecs.sock', {'from': 'oldest'})
    with producer(f'{temp}/in.sock', *dump_frames(name=name, data=data)):
        said = live.entries(n)
        first = other.next()
        until('the file', lambda: len(lines_of(temp)) >= n)
        # Who asks for another form has that.
        plain = dial(f'{temp}/ecs.sock', {'from': 'oldest', 'output': 'text'})
        assert plain.sock.recv(1) not in b'{'
    got = lines_of(temp)
    assert first == got[0], (first, got[0])
    d.stop()
    return got, said


def ecs(temp):
    got, said = made(temp, 'ecs')
    assert len(got) == N_ENTRIES
    for line, want in zip(got, said):
        assert list(line)[:4] == ['@timestamp', 'log.level', 'message',
                                  'ecs.version'], line
        at = datetime.datetime.fromisoformat(line['@timestamp'][:26] + '+00:00')
        ns = int(want['time_unix_nano'])
        assert re.search(r'\.\d{9}Z$', line['@timestamp'])
        assert line['@timestamp'].endswith('%09dZ' % (ns % 10**9))
        assert int(at.timestamp()) == ns // 10**9
        assert line['message'] == want['message'].removesuffix('\n')
        assert line['log.level'] == 'info' and line['ecs.version'] == '1.6.0'
        assert line['event.sequence'] == want['sequence']
        assert line['labels.gpu_source'] == 'dump'
        assert line['labels.gpu_id'] == want['id']
        # Labels are words, and nothing is nested.
        assert all(isinstance(v, str) for k, v in line.items()
                   if k.startswith('labels.')), line
        assert not any(isinstance(v, (dict, list)) for v in line.values())


def own(temp):
    got, said = made(temp, 'time=ts, message=msg, severity=, "*=gpu.", '
                     'sequence=n, id=')
    for line, want in zip(got, said):
        assert list(line)[:2] == ['ts', 'msg']
        assert line['n'] == want['sequence'] and line['gpu.source'] == 'dump'
        assert not {'severity', 'id', 'gpu.id', 'gpu.severity'} & set(line)
        # No reader of JSON has to keep what a double cannot.
        assert line['gpu.time_unix_nano'] == want['time_unix_nano']


def few(temp):
    """A preset, changed; and all else left out."""
    got, _ = made(temp, 'ecs, "*=", sequence=seq, type=kind')
    assert set(got[0]) == {'@timestamp', 'log.level', 'message', 'ecs.version',
                           'seq', 'kind'}, got[0]


def hostile(temp):
    """Whatever is printed, and whatever others are called: a line each, of
    whole JSON, in which no name comes twice."""
    with open(f'{temp}/odd.elf', 'wb') as f:
        f.write(inputs.elf([inputs.row(0x10002, '"\\\n\x01~', [])]).replace(
            b'\x01~', b'\x01\xff'))
    data = kept.buffer(kept.entry(0x10002) + kept.entry(0x777777777777, 9))
    # message becomes what another field is called.
    got, _ = made(temp, 'message=source', data=data, name='a"\\\x02', n=2,
                  config=CONFIG.replace('$E', '$T/odd.elf'))
    texts = [line['source'] for line in got]
    assert texts[0] == '"\\\n\x01\ufffd', texts
    assert 'unknown id 0x777777777777' in texts[1]
    assert got[1]['findings'] == 'unknown_id' and got[1]['severity'] == 'warning'


def everything(temp):
    """Labels, the format string, arguments and the place are fields, too, as log
    services get them."""
    d = Daemon(temp, CONFIG % ('"*=gpu."', '"*=gpu."'))
    data = slurp(DUMP)
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    labels = {'job': 'nightly', 'a]="b': 'x', 'a[="b': 'second', 'n' * 40: 'long'}
    with producer(f'{temp}/in.sock', frame('buffer', buffer=1, name='b',
                                           size=len(data), labels=labels),
                  frame('data', buffer=1, bytes=data), frame('done', buffer=1)):
        said = live.entries(N_ENTRIES)
        until('the file', lambda: len(lines_of(temp)) >= N_ENTRIES)
    for ours, theirs in zip(said, lines_of(temp)):
        assert theirs['gpu.label_job'] == 'nightly', theirs
        assert theirs['gpu.label_a___b'] == 'x', theirs
        assert theirs['gpu.label_' + 'n' * 26] == 'long', theirs
        for name in 'format_string', 'index', 'offset':
            assert theirs['gpu.' + name] == ours[name], (name, ours, theirs)
        assert json.loads(theirs['gpu.args']) == ours['args'], (ours, theirs)
    d.stop()


def numbers(temp):
    """(number, time) of each entry of the file of others' names."""
    try:
        lines = slurp(f'{temp}/sink.log').split(b'\n')[:-1]
    except FileNotFoundError:
        return []
    found = [json.loads(line, object_pairs_hook=once) for line in lines]
    return [(e.get('event.sequence', e.get('n')), ns_of(e['@timestamp']))
            for e in found
            if 'entry' in (e.get('labels.gpu_type'), e.get('kind'))]


def required(temp):
    """Each line once, whoever is killed, under names of others, too."""
    dice = random.Random(15)
    for i, keys in enumerate(('[ecs]', '[ecs, "*=", sequence=n, type=kind]')):
        path = f'{temp}/{i}'
        os.mkdir(path)
        d = Daemon(path, kept.CONFIG % (
            f'type: file, path: $T/sink.log, keys: {keys}'))
        for _ in range(5):
            sock = kept.produce(path, 40)
            time.sleep(dice.random() * 0.2)
            d.kill()
            sock.close()
            # Half a line, as a crash of the machine leaves one.
            with open(f'{path}/sink.log', 'ab') as f:
                f.write(b'{"@timestamp":"2026-11-23T08:')
            d.start()
        with kept.produce(path, 3):
            until('all', lambda p=path: kept.in_file(p) and
                  set(kept.in_file(p)) == set(numbers(p)) and
                  len(kept.in_file(p)) >= 3 * N_ENTRIES)
        d.stop()
        assert len(numbers(path)) == len(set(numbers(path)))
        assert set(numbers(path)) == set(kept.in_file(path))


def ns_of(text):
    at = datetime.datetime.fromisoformat(text[:19] + '+00:00')
    return int(at.timestamp()) * 10**9 + int(text[20:29])


def refused(temp):
    for keys, place, words in (
            ('[what]', '1:32', "is 'ecs', or"),
            ('["a=b c"]', '1:32', "'a=b c' is 'ecs', or"),
            ('["=x"]', '1:32', "'=x' is 'ecs', or"),
            ('["time=x", "message=x"]', '1:32', "two fields are called 'x'"),
            ('[ecs], output: text', '1:32', 'of json'),
            ('[ecs], collapse: true', '1:32', 'not collapsed'),
            ('["*="], required: true', '1:32', "'sequence' and 'time'"),
            ('["time="], required: true', '1:32', "'sequence' and 'time'"),
            ('["type=sequence"], required: true', '1:32',
             "'sequence' and 'time'")):
        check_config(temp, f'outputs: [{{type: stdout, keys: {keys}}}]', place,
                     words)


if __name__ == '__main__':
    run(ecs, own, few, hostile, everything, required, refused)
