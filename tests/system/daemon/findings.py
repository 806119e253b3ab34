#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""findings.py DAEMON DUMP ELF FOLLOW: what is lost or in doubt is told in every
output that has a place for it, in the log and in /metrics."""
import os
import re
import subprocess
import time

from harness import (DUMP, ELF, N_ENTRIES, PATIENCE, PROGRAM, REST, Daemon,
                     UnixConnection, dial, die_with_us, dump_frames, entry_ends,
                     frame, has, producer, run, slurp, until, used_bytes,
                     written)

COMMAND = REST[0]
HAS_HTTP = has('http')
N_CUT = 10  # entries that fit

CONFIG = '''code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/text.sock", output: text}
  - {type: listen, address: "unix:$T/quiet.sock", output: text, findings: no}
  - {type: file, path: $T/text, output: text}
  - {type: file, path: $T/quiet, output: text, findings: no}
  - {type: file, path: $T/raw, output: raw}
  - {type: file, path: $T/json, findings: no}
''' + ('  - {type: http, address: "unix:$T/http.sock"}\n' if HAS_HTTP else '')


def cut_dump():
    """A buffer that the other entries did not fit in."""
    data = slurp(DUMP)
    return data[:entry_ends(data)[N_CUT - 1]]


def messages(temp, data, form='text'):
    path = f'{temp}/dump'
    with open(path, 'wb') as f:
        f.write(data)
    return subprocess.run([COMMAND, '--output', form, path, ELF], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                          ).stdout


def take(read, n):
    """n bytes."""
    got = b''
    while len(got) < n:
        more = read(n - len(got))
        assert more, (got, n)
        got += more
    return got


def from_socket(path, request):
    lines = dial(path, request)
    return lines.sock.recv


def from_web(temp, query):
    connection = UnixConnection(f'{temp}/http.sock', timeout=PATIENCE)
    connection.request('GET', '/lines?from=oldest&' + query,
                       headers={'Host': 'localhost'})
    return connection.getresponse().read1


def from_command(path, *args):
    child = subprocess.Popen([COMMAND, 'follow', path, '--from', 'oldest', *args],
                             stdout=subprocess.PIPE, preexec_fn=die_with_us)
    return child.stdout.read1


def outputs_tell(temp):
    d = Daemon(temp, CONFIG)
    lost = used_bytes(slurp(DUMP)) - len(cut_dump())
    send = [*dump_frames(1, 'cut\x1b', cut_dump())]
    with producer(f'{temp}/in.sock', *send):
        until('the loss', lambda: b'overflow' in written(f'{temp}/text'))
    with producer(f'{temp}/in.sock', *dump_frames(1, 'whole')):
        cut, whole = (messages(temp, data) for data in
                      (cut_dump(), slurp(DUMP)))
        said = (f'! cut\\x1b: dword {len(cut_dump()) // 4}: overflow: {lost} '
                f'bytes were written beyond the end of a buffer of '
                f'{len(cut_dump())}: a buffer of at least '
                f'{used_bytes(slurp(DUMP))} bytes would have held everything\n')
        told = cut + said.encode() + whole
        quiet = cut + whole
        sockets = [(f'{temp}/text.sock', {}, told),
                   (f'{temp}/quiet.sock', {}, quiet),
                   (f'{temp}/quiet.sock', {'findings': True}, told),
                   (f'{temp}/text.sock', {'findings': False}, quiet)]
        for path, request, wanted in sockets:
            got = take(from_socket(path, {'from': 'oldest', **request}),
                       len(wanted))
            assert got == wanted, (path, request, got)
        for args, wanted in (((), told), (('--findings=yes',), told),
                             (('--findings=no',), quiet)):
            got = take(from_command(f'{temp}/text.sock', *args), len(wanted))
            assert got == wanted, (args, got)
        for args, severity in ((), b'warning: '), (('--fail-on-loss',), b'error: '):
            read = from_command(f'{temp}/text.sock', '-o', 'quickfix', *args)
            got = b''
            while b'would have held' not in got:
                more = read()
                assert more, got
                got += more
            lines = [one for one in got.splitlines() if b': overflow: ' in one]
            assert lines == [severity + b'cut\\x1b: ' + said.encode().strip()
                             .partition(b': ')[2].partition(b': ')[2]], lines
        for query, wanted in (('output=text', told),
                              ('output=text&findings=true', told),
                              ('output=text&findings=false', quiet)):
            if HAS_HTTP:
                got = take(from_web(temp, query), len(wanted))
                assert got == wanted, (query, got)
        raw = b''.join(messages(temp, data, 'raw') for data in
                       (cut_dump(), slurp(DUMP)))
        for name, wanted in ('text', told), ('quiet', quiet), ('raw', raw):
            until(name, lambda: len(written(f'{temp}/{name}')) >= len(wanted))
            assert written(f'{temp}/{name}') == wanted, name
        until('json', lambda: written(f'{temp}/json').count(b'\n') >=
              N_CUT + N_ENTRIES)
        assert b'overflow' not in written(f'{temp}/json')
    d.stop()
    assert f'cut\\x1b: ended: {N_CUT} entries, 0 unknown, {lost} bytes lost, ' \
        '0 skipped; 1 overflow\n' in d.log(), d.log()
    assert 'printfdecoded: whole: ended: 64 entries, 0 unknown, 0 bytes lost, ' \
        '0 skipped\n' in d.log(), d.log()


def pieces_come_as_they_like(temp):
    """Frames end within entries, and more comes after long: nothing is given up
    that is on its way."""
    d = Daemon(temp, CONFIG.replace('in.sock"', 'in.sock", settle: 1ms'))
    data = slurp(DUMP)
    ends = entry_ends(data)
    lines = dial(f'{temp}/text.sock', {'output': 'json', 'from': 'oldest'})
    for i, cut in enumerate((4, 8, 12, 21)):
        with producer(f'{temp}/in.sock', *dump_frames(1, f'b{i}')[:1]) as sock:
            at = 0
            for n in (10, 30, 50):
                end = ends[n - 1] + cut % (ends[n] - ends[n - 1])
                sock.sendall(frame('data', buffer=1, offset=at,
                                   bytes=data[at:end]))
                had = ends.index(next(e for e in ends if e > at)) if at else 0
                lines.entries(n - had)
                time.sleep(0.05)  # many times `settle`
                at = end
            sock.sendall(frame('data', buffer=1, offset=at, bytes=data[at:]) +
                         frame('done', buffer=1))
            assert [e['index'] for e in lines.entries(14)] == [*range(50, 64)]
    d.stop()
    assert '! ' not in written(f'{temp}/text').decode()
    assert written(f'{temp}/text') == 4 * messages(temp, data)


def one_may_not_follow_with_findings(temp):
    for args in (['follow', DUMP, ELF, '--findings=no'],
                 ['follow', f'{temp}/none', '--findings=perhaps']):
        p = subprocess.run([COMMAND, *args], check=False, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
        assert p.returncode == 1 and p.stdout == b'', p
        assert b'--findings' in p.stderr or b'not yes or no' in p.stderr, p


def sums_are_counted(temp):
    """Counters stay when what they count has gone; who loses much does not
    flood the log."""
    d = Daemon(temp, CONFIG)
    n = 150  # all at once have room in a producer's share of the memory
    lost = used_bytes(slurp(DUMP)) - len(cut_dump())
    begin = time.monotonic()
    with producer(f'{temp}/in.sock', *(
            f for i in range(n)
            for f in dump_frames(i + 1, f'b{i}', cut_dump()))):
        pass
    until('all', lambda: written(f'{temp}/text').count(b'overflow') == n)
    with producer(f'{temp}/in.sock', frame('data', buffer=7, bytes=b'x')):
        until('another line', lambda: 'was not announced' in d.log())
    lines = d.log().count(': ended: ')
    seconds = time.monotonic() - begin
    assert 0 < lines <= min(n, 51 + 5 * seconds), (lines, seconds)
    if HAS_HTTP:
        until('their end', lambda: d.metric('sessions') == 0)
        page = d.http()[1]
        kinds = dict(re.findall(r'findings_total\{kind="(\w+)"\} (\d+)', page))
        assert kinds.pop('overflow') == str(n), page
        assert len(kinds) > 50 and set(kinds.values()) == {'0'}, kinds
        assert d.metric('lost_bytes_total') == n * lost
        assert d.metric('unknown_entries_total') == 0
        assert d.metric('skipped_bytes_total') == 0
    d.stop()


def says_why_there_are_no_strings(temp):
    """Once of each object, in the command's words."""
    cases = f'{os.path.dirname(os.path.abspath(__file__))}/../../cases/container'
    words = {'nobits_note/k.debug': 'is listed and is not in the file',
             'no_note/k.co': 'it has no metadata: stripped, or cut'}
    paths = ', '.join(f'{cases}/{name}' for name in words)
    d = Daemon(temp, CONFIG.replace('code_objects: [$E]',
                                    f'code_objects: [$E, {paths}]'))
    for name, why in words.items():
        until(name, lambda name=name, why=why: any(
            name in line and why in line for line in d.log().splitlines()))
    d.stop()
    for why in words.values():
        assert d.log().count(why) == 1, d.log()


def junk_hides_no_reason(temp):
    """Why a configured code object has no strings is said, whatever peers send."""
    stripped = f'{temp}/stripped.co'
    with open(stripped, 'wb') as f:
        f.write(slurp(f'{os.path.dirname(os.path.abspath(__file__))}/../../cases/'
                      'container/no_note/k.co'))
    d = Daemon(temp, CONFIG)
    with producer(f'{temp}/in.sock', *(
            frame('code_object', code_object=i + 1, name=f'junk{i}',
                  bytes=b'junk %d' % i) for i in range(40))):
        until('junk', lambda: d.log().count('/junk') >= 10)
        d.reload(CONFIG.replace('code_objects: [$E]',
                                f'code_objects: [$E, {temp}/none, {stripped}]'))
        until('the reason', lambda: 'stripped.co: no format strings' in d.log())
        until('the other', lambda: f'{temp}/none: ' in d.log())
    d.stop()


run(says_why_there_are_no_strings, junk_hides_no_reason, outputs_tell,
    pieces_come_as_they_like, one_may_not_follow_with_findings, sums_are_counted)
