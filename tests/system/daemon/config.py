#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""config.py DAEMON DUMP ELF PRINTFDECODE: what a configuration may say, who
may connect, how much is said and kept."""
import os
import re
import socket
import stat
import struct
import subprocess
import time

from harness import (DUMP, N_ENTRIES, PATIENCE, PROGRAM, START, Daemon, dial,
                     dump_frames, elf_frame, frame, free_port, has, http, metric,
                     producer, run, send_behind, slurp, until)

CHOICE = 'match format_string id where ignore_case invert '
BATCH = 'batch_size batch_time '
OPTIONS = 'compat layout opencl_strings kernel '
READING = 'format describe '
KEYS = {
    '': 'log_level state_dir ring memory_max queue_max workers drain '
        'code_objects sandbox inputs outputs',
    'inputs buffer': OPTIONS + READING + 'name path settle',
    'inputs directory': OPTIONS + READING + 'path code_objects dumps owners',
    'inputs listen': OPTIONS + READING +
                     'address mode allow_uids allow_gids max_clients settle '
                     'idle_timeout tls_certificate tls_key tls_ca code_object_uris',
    'inputs connect': OPTIONS + READING +
                      'address settle tls_certificate tls_key tls_ca tls_name '
                      'code_object_uris',
    'inputs stdin': OPTIONS + READING + 'settle',
    'inputs process': OPTIONS + READING + 'pid name address size settle',
    'outputs stdout': CHOICE + 'name output entries_only findings required collapse window '
                      'fields keys',
    'outputs file': CHOICE + 'fields keys name path output entries_only findings required collapse '
                    'window '
                    'rotate_size rotate_age keep compress',
    'outputs listen': CHOICE +
                      'fields keys name address mode allow_uids allow_gids max_clients '
                      'output entries_only findings required on_lag collapse window '
                      'tls_certificate tls_key tls_ca',
    'outputs http': 'address mode allow_uids allow_gids max_clients on_lag '
                    'idle_timeout tls_certificate tls_key tls_ca',
    'outputs journald': CHOICE + 'name entries_only findings required address '
                        'identifier ' + BATCH,
    'outputs syslog': CHOICE + 'name entries_only findings required address '
                      'facility identifier framing stream enterprise ' + BATCH +
                      'tls_certificate tls_key tls_ca tls_name',
    'outputs forward': CHOICE + 'name entries_only findings required address tag '
                       'shared_key_file ack_timeout tls_certificate tls_key '
                       'tls_ca tls_name user password_file compress ' + BATCH,
}
if has('sqlite'):
    KEYS['outputs sqlite'] = CHOICE + (
        'name entries_only findings required path max_size max_age ' + BATCH)
if has('curl'):
    KEYS['outputs otlp'] = CHOICE + (
        'name entries_only findings required url headers_file service compress '
        'timeout tls_certificate tls_key tls_ca ' + BATCH)
FARM = ('servers credentials_file user password_file tls_ca tls_certificate '
        'tls_key replicas stream_max stream_age')
if has('nats'):
    KEYS['inputs nats'] = FARM
    KEYS['outputs nats'] = FARM + ' name required window'
MANUAL = f'{os.path.dirname(os.path.abspath(__file__))}/../../../daemon/printfdecoded.8'
EVERY = sorted({k for keys in KEYS.values() for k in keys.split()} | {'what'})

WRONG = [
    ('log_level: loud', '1:12', "'log_level' is one of: error, warning, info"),
    ('ring: 32 potatoes', '1:7', "'ring' wants a size"),
    ('ring: 1KiB', '1:7', "'ring' is from 1MiB to 64GiB, not 1KiB"),
    ('memory_max: 256', '1:13', "'memory_max' is from 16MiB to 1024GiB, not 256B"),
    ('ring: 1GB', '1:7', "'ring' wants a size such as 32MiB; near to it: 1GiB"),
    ('ring: 32 mb', '1:7', 'near to it: 32MiB'),
    ('drain: 5 sec', '1:8', 'near to it: 5s'),
    ('drain: 40d', '1:8', "'drain' is from 0ms to 30d, not 40d"),
    ('log_level: INFO', '1:12', 'error, warning, info, debug; near to it: info'),
    ('sandbox: off', '1:10', "'sandbox' is true or false; near to it: false"),
    ('rin: 3MiB', '1:1', "unknown key 'rin'; near to it: ring"),
    ('x: 1', '1:1', "unknown key 'x'"),
    ('inputs: [{type: listn}]', '1:17', 'near to it: listen'),
    ('inputs: [{type: listen, adress: "unix:/a"}]', '1:25',
     "unknown key 'adress'; near to it: address"),
    ('outputs: [{type: file, path: /a, rotate_sise: 1MiB}]', '1:34',
     'near to it: rotate_size'),
    ('outputs: [{type: stdout, output: JSON}]', '1:34', 'near to it: json'),
    # Each key that chooses entries is told on its own, once.
    ('outputs: [{type: file, path: /a, match: "(", id: x, where: "1 +"}]', '1:41',
     "'match': "),
    ('outputs: [{type: file, path: /a, match: "(", id: x, where: "1 +"}]', '1:50',
     "'id' is up to 16 ids"),
    ('outputs: [{type: file, path: /a, match: "(", id: x, where: "1 +"}]', '1:60',
     "'where': "),
    ('outputs: [{type: file, path: /a, window: 3}]', '1:42',
     "'window' is for 'collapse'"),
    # Two of one.
    ('outputs: [{type: listen, address: "unix:/a"}, {type: http, address: "unix:/a"}]',
     '1:47', "another input or output listens at 'unix:/a'"),
    ('inputs: [{type: listen, address: "tcp:127.0.0.1:7"}, '
     '{type: listen, address: "tcp:localhost:7"}]', '1:54',
     "another input or output listens at 'tcp:localhost:7'"),
    ('outputs: [{type: journald}, {type: journald, match: x}]', '1:29',
     "two outputs are called 'journald': give one of them a 'name'"),
    ('drain: 5', '1:8', "'drain' wants a time"),
    ('workers: -1', '1:10', "'workers' wants a whole number"),
    ('workers: 65', '1:10', "'workers' is from 0 to 64"),
    ('sandbox: perhaps', '1:10', "'sandbox' is true or false"),
    ('code_objects: a', '1:15', "'code_objects' wants a list"),
    ('code_objects: [[]]', '1:16', "is a list of texts"),
    ('state_dir: []', '1:12', "'state_dir' wants a text"),
    ('ring: 2MiB\nring: 3MiB', '2:1', "'ring' is given twice"),
    ('inputs: {}', '1:9', "'inputs' wants a list"),
    ('inputs:\n  - a', '2:5', "an item of 'inputs' is a mapping"),
    ('inputs:\n  - path: /a', '2:5', "'type' is missing"),
    ('inputs:\n  - type: guess', '2:11', "'type' is one of: buffer"),
    ('inputs:\n  - type: buffer', '2:5', "'path' is missing"),
    ('inputs:\n  - {type: buffer, path: a, format: x}', '2:37',
     "no buffer format is called 'x'"),
    ('inputs: [{type: stdin, layout: p9}]', '1:32', "'layout': "),
    ('inputs: [{type: stdin, compat: []}]', '1:32', "'compat': a text"),
    ('inputs: [{type: listen, address: "unix:/a", code_object_uris: x}]', '1:63',
     "'code_object_uris' is one of: own, all, none"),
    ('inputs: [{type: listen, address: "tcp:[::1]:9", code_object_uris: own}]',
     '1:67', "'code_object_uris' is for unix sockets"),
    ('inputs: [{type: directory, path: a, dumps: x, owners: [no one]}]', '1:56',
     "there is no user 'no one'"),
    ('inputs: [{type: directory, path: a}]', '1:10', "'code_objects', 'dumps'"),
    ('inputs: [{type: process, address: 0x1000}]', '1:10',
     "chosen by 'pid' or by 'name'"),
    ('inputs: [{type: process, pid: 1, name: x, address: 1}]', '1:40',
     "chosen by 'pid' or by 'name'"),
    ('inputs: [{type: process, pid: 1, size: 4}]', '1:40', "at 'address'"),
    ('inputs: [{type: process, pid: 1, address: 0x}]', '1:43',
     "'address' wants a whole number"),
    ('inputs: [{type: stdin}, {type: stdin}]', '1:25', 'one standard input'),
    ('outputs: [{type: stdout}, {type: stdout}]', '1:27', 'one standard output'),
    ('outputs: [{type: listen, address: "unix:a"}]', '1:35', 'unix:/PATH'),
    ('outputs: [{type: listen, address: "tcp:a:1"}]', '1:35', 'an IP address'),
    ('outputs: [{type: listen, address: "tcp:[::1]:99999"}]', '1:35',
     'the port is from'),
    ('outputs: [{type: listen, address: "tcp:1.2.3.4:5"}]', '1:35',
     'wants TLS'),
    ('outputs: [{type: listen, address: "unix:/a", mode: 999}]', '1:52',
     "'mode' is octal"),
    ('outputs: [{type: listen, address: "unix:/a", allow_uids: [nobody-x]}]',
     '1:59', "there is no user 'nobody-x'"),
    ('outputs: [{type: listen, address: "unix:/a", allow_gids: [nobody-x]}]',
     '1:59', "there is no group 'nobody-x'"),
    ('outputs: [{type: listen, address: "unix:/a", name: x}]', '1:52',
     "'name' is for required outputs"),
    ('outputs: [{type: file, path: "/a/{job}"}]', '1:30', "'path' knows"),
    ('outputs: [{type: file, path: /a, match: "("}]', '1:41', "'match': "),
    ('outputs: [{type: file, path: /a, required: true}]', '1:1',
     "needs 'state_dir'"),
    ('state_dir: /s\noutputs: [{type: file, path: /a, required: true, '
     'output: text}]', '2:11', 'a required output is json'),
    ('state_dir: /s\noutputs: [{type: listen, address: "unix:/a", '
     'required: true, on_lag: disconnect}]', '2:70', 'is waited for'),
    ('state_dir: /s\noutputs: [{type: file, path: /a, required: true}, '
     '{type: file, path: /a, required: true}]', '2:51', 'are called'),
    ('state_dir: /s\ninputs: [{type: nats, servers: ["tls://a"]}]\n'
     'outputs: [{type: file, path: "/{host}", required: true}]', '3:11',
     "'path': lines of all edges are in one file"),
    ('ring: 9MiB\nmemory_max: 16MiB', '1:1', "more than half of 'memory_max'"),
    ('a: [', '2:1', ''),
    ('\tx: 1', '1:1', 'a tab: lines of YAML are indented by spaces'),
    ('inputs:\n\t- type: stdin', '2:1', 'a tab'),
    ('- a', '1:1', 'a configuration is a mapping'),
]


def check(temp, text):
    path = f'{temp}/c.yaml'
    with open(path, 'w') as f:
        f.write(text)
    p = subprocess.run([PROGRAM, 'check-config', path], text=True, check=False,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert p.stdout == ''
    return p.returncode, p.stderr.replace(path + ':', '').strip()


def errors_have_places(temp):
    for text, place, why in WRONG:
        rc, said = check(temp, text)
        assert rc == 78 and any(
            line.startswith(place + ': ') and why in line
            for line in said.splitlines()), (text, place, why, said)
    rc, said = check(temp, 'outputs: [{type: stdout, keys: [ecss]}]')
    assert rc == 78 and len(said.splitlines()) == 1 and "'keys': 'ecss' is" in said, said
    # All of them, not just the first.
    rc, said = check(temp, 'ring: 1\nworkers: x\nwhat: 1\n')
    assert rc == 78 and re.findall(r'^(\d+:\d+):', said, re.M) == [
        '1:7', '2:10', '3:1'], said
    rc, said = check(temp, '')
    assert rc == 78, said
    p = subprocess.run([PROGRAM, 'check-config', f'{temp}/none'], check=False,
                       stderr=subprocess.PIPE, text=True)
    assert p.returncode == 78 and 'No such file' in p.stderr


def files_are_apart(temp):
    """No file that an output writes is read or written by another part, before
    anything is opened:
    not by its path, by a link, or as the name that a source may have."""
    os.mkdir(f'{temp}/state')
    os.mkdir(f'{temp}/out')
    for name in 'key', 'app.elf', 'buffer', 'code', 'out/taken':
        with open(f'{temp}/{name}', 'w') as f:
            f.write('bytes')
    for name in 'key', 'c.yaml', 'app.elf', 'buffer':
        os.symlink(f'{temp}/{name}', f'{temp}/soft-{name}')
    os.link(f'{temp}/key', f'{temp}/hard')
    os.symlink(f'{temp}/state', f'{temp}/way')
    text = ('state_dir: $T/state\ncode_objects: [$T/app.elf]\ninputs:\n'
            '  - {type: buffer, path: $T/buffer}\n'
            '  - {type: buffer, path: $T/comes.bin}\n'
            '  - {type: buffer, path: $T/log.db-wal}\n'
            '  - {type: listen, address: "tcp:127.0.0.1:0", '
            'tls_ca: $T/out/taken, tls_certificate: $T/key, tls_key: $T/key}\n'
            'outputs:\n'
            '  - {type: file, path: $T/log}\n').replace('$T', temp)
    read, kept = 'which is read', 'keeps for itself'
    for path, why in (
            ('key', read), ('./key', read), ('hard', read), ('soft-key', read),
            ('app.elf', read), ('soft-app.elf', read), ('buffer', read),
            ('soft-buffer', read), ('c.yaml', read), ('soft-c.yaml', read),
            ('comes.bin', read), ('out/../comes.bin', read),
            ('{buffer}.yaml', read), ('{buffer}', 'two outputs'),
            ('out/{buffer}', read), ('log.db-wal', read),
            ('state/checkpoint', kept), ('way/edges', kept),
            ('state/{buffer}', kept), ('state/queue/00.seg', kept),
            ('way/lock', kept), ('log', 'two outputs')):
        rc, said = check(temp, f'{text}  - {{type: file, path: '
                         f'"{temp}/{path}"}}\n')
        assert rc == 78 and why in said, (path, rc, said)
    # By what is not there yet, in folders that are read, and of two outputs.
    os.mkdir(f'{temp}/bufs')
    os.mkdir(f'{temp}/more')
    host = socket.gethostname()
    for folder in host, 'links', 'names':
        os.mkdir(f'{temp}/more/{folder}')
    with open(f'{temp}/more/{host}/key', 'w') as f:
        f.write('bytes')
    for name, target in (('comes', f'{temp}/comes.bin'), ('far', 'comes'),
                         ('checkpoint', 'state/checkpoint'), ('circle', 'circle'),
                         ('more/links/x.json', f'{temp}/key'),
                         ('more/links/soon.txt', '../../comes.bin'),
                         ('more/way', '../state')):
        os.symlink(target, f'{temp}/{name}')
    os.link(f'{temp}/key', f'{temp}/more/names/x.json')
    with open(f'{temp}/bufs/there', 'w') as f:
        f.write('bytes')
    os.link(f'{temp}/bufs/there', f'{temp}/linked')
    text2 = text.replace('inputs:\n', (
        'inputs:\n'
        '  - {type: directory, path: $T/bufs, dumps: "*.bin", code_objects: "t?er*"}\n'
        f'  - {{type: buffer, path: "$T/more/{host}/key"}}\n'
    ).replace('$T', temp), 1)
    for path, why in (
            ('bufs/a.bin', read), ('bufs/{buffer}', read), ('linked', read),
            ('bufs/there', read), ('comes', read), ('far', read),
            ('checkpoint', kept), ('more/{host}/key', read),
            ('more/{buffer}/key', read), ('more/{buffer}/checkpoint', kept),
            ('more/way/queue/x/{buffer}', kept),
            ('more/links/{buffer}.json', read), ('more/links/{buffer}.txt', read),
            ('more/names/{buffer}.json', read), ('none/../key', read)):
        rc, said = check(temp, f'{text2}  - {{type: file, path: '
                         f'"{temp}/{path}"}}\n')
        assert rc == 78 and why in said, (path, rc, said)
    pairs = [(('file', 'out/{buffer}.json'), ('file', 'out/{buffer}.json')),
             (('file', 'out/a.json'), ('file', 'out/{buffer}.json')),
             (('file', 'out/{buffer}.json'), ('file', 'out/a{buffer}')),
             (('file', 'soon'), ('file', 'out/../soon'))]
    if has('sqlite'):
        pairs += [(('file', 'some.db-wal'), ('sqlite', 'some.db')),
                  (('sqlite', 'some.db'), ('sqlite', 'some.db'))]
    for pair in pairs:
        for one in pair, pair[::-1]:
            rc, said = check(temp, text2 + ''.join(
                f'  - {{type: {kind}, path: "{temp}/{path}"}}\n'
                for kind, path in one))
            assert rc == 78 and 'two outputs' in said, (one, rc, said)
    for pair in (('app', 'app-journal'), ('out/{buffer}.json', 'out/{buffer}.text'),
                 ('bufs/a.json', 'bufs/of-{buffer}.text'), ('circle', 'bufs/.bin')):
        with open(f'{temp}/c.yaml', 'w') as f:
            f.write(text2 + ''.join(
                f'  - {{type: file, path: "{temp}/{path}"}}\n' for path in pair))
        done = subprocess.run([PROGRAM, 'check-config', f'{temp}/c.yaml'],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, (pair, done)
    for path in 'out/x', 'state/log', 'out/{buffer}.json', 'state/q{pid}':
        with open(f'{temp}/c.yaml', 'w') as f:
            f.write(f'{text}  - {{type: file, path: "{temp}/{path}"}}\n')
        done = subprocess.run([PROGRAM, 'check-config', f'{temp}/c.yaml'],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, (path, done)
    # No device is anybody's alone.
    assert subprocess.run(
        [PROGRAM, 'check-config', '/dev/stdin'], text=True, check=False,
        stdout=subprocess.DEVNULL, input=text + 2 * (
            '  - {type: file, path: /dev/null}\n')).returncode == 0
    # Nor is it opened where the configuration is read again.
    with open(f'{temp}/c.yaml', 'w') as f:
        f.write(f'{text}  - {{type: file, path: "{temp}/soft-key"}}\n')
    done = subprocess.run([PROGRAM, '-c', f'{temp}/c.yaml'], check=False,
                          capture_output=True, timeout=60)
    assert done.returncode == 78, done
    for name in 'key', 'app.elf', 'buffer':
        with open(f'{temp}/{name}') as f:
            assert f.read() == 'bytes'


def features_are_said(temp):
    """What is not built in is refused with the package that brings it."""
    said = subprocess.run([PROGRAM, '--version'], text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    print(said.strip())
    there = re.search('^with (.*)$', said, re.M)
    missing = re.search('^without (.*)$', said, re.M)
    listed = re.findall(r'[a-z]+(?= \(|,|$)', re.sub(
        r'\(.*?\)', '', ','.join(m[1] for m in (there, missing) if m))
        .replace(' ', ''))
    assert sorted(listed) == ['curl', 'http', 'nats', 'seccomp', 'sqlite',
                              'systemd', 'tls'], said
    for feature, package, text in (
            ('http', '-Dhttp=enabled',
             'outputs: [{type: http, address: "unix:/a"}]'),
            ('curl', 'libcurl4-openssl-dev',
             'outputs: [{type: otlp, url: "http://[::1]/v1/logs"}]'),
            ('sqlite', 'libsqlite3-dev',
             'outputs: [{type: sqlite, path: /tmp/log.db}]'),
            ('nats', 'libnats-dev',
             'outputs: [{type: nats, servers: ["nats://[::1]"]}]'),
            ('tls', 'libssl-dev',
             'outputs: [{type: listen, address: "tcp:127.0.0.1:0", '
             'tls_certificate: /a, tls_key: /b, tls_ca: /c}]')):
        rc, errors = check(temp, text)
        if there and feature in there[1]:
            assert 'built without' not in errors, errors
        else:
            assert f'{feature} ({package})' in missing[1], said
            assert rc == 78 and package in errors, errors


def every_other_key_is_an_error(temp):
    for where, allowed in KEYS.items():
        # All errors are told: one file for all keys, two lines each.
        head, column = '', 1
        text = ''.join(f'{key}: x\n# \n' for key in EVERY)
        if where:
            block, kind = where.split()
            head, column = f'{block}:\n', 5
            text = ''.join(f'  - type: {kind}\n    {key}: x\n' for key in EVERY)
        rc, said = check(temp, head + text)
        assert rc == 78
        said = '\n' + said
        for i, key in enumerate(EVERY):
            place = f'\n{2 * i + (3 if where else 1)}:{column}: '
            refused = place + 'unknown key' in said or (
                f"{place}'{key}' is no key of this type" in said)
            assert refused == (key not in allowed.split()), (where, key, said)


def keys_are_described(_):
    with open(MANUAL) as f:
        said = ' '.join(re.findall(r'^\.(?:It Cm|Cm|Ss) (.*)$', f.read(), re.M))
    words = set(re.findall('[a-z_]+', said))
    missing = {key for keys in KEYS.values() for key in keys.split()} - words
    assert not missing, missing


def connect_as(uid, path):
    """True: somebody listens to that user, and says what is wrong."""
    code = ('import os,socket,sys\n'
            f'os.setgid({uid}); os.setuid({uid})\n'
            's=socket.socket(socket.AF_UNIX)\n'
            'try:\n'
            f'  s.connect({path!r}); s.settimeout({PATIENCE})\n'
            'except PermissionError: sys.exit(2)\n'
            'try:\n'
            '  s.sendall(b\'{"nonsense":1}\\n\')\n'
            '  sys.exit(0 if s.recv(1) else 1)\n'
            'except ConnectionError: sys.exit(1)\n')
    return subprocess.run(['python3', '-c', code], check=False).returncode == 0


def who_may_connect(temp):
    os.chmod(temp, 0o755)
    config = '''inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/open.sock", mode: 0666}
  - {type: listen, address: "unix:$T/some.sock", mode: 0666, allow_uids: [%d]}
  - {type: listen, address: "unix:$T/group.sock", mode: 0666, allow_gids: [65534]}
''' % os.getuid()
    d = Daemon(temp, config)
    mode = stat.S_IMODE(os.stat(f'{temp}/in.sock').st_mode)
    assert mode == 0o660, oct(mode)
    dial(f'{temp}/some.sock')
    if os.getuid() == 0:
        assert connect_as(65534, f'{temp}/open.sock')
        assert not connect_as(65534, f'{temp}/some.sock')
        assert connect_as(65534, f'{temp}/group.sock')
        assert not connect_as(65534, f'{temp}/in.sock')
        until('a word of it', lambda: 'refused user 65534' in d.log())
    else:
        print('who_may_connect: no other user without root')
    d.stop()


def words_are_limited(temp):
    port = free_port()
    if not has_http():
        return
    d = Daemon(temp, f'''log_level: warning
inputs:
  - {{type: listen, address: "unix:$T/in.sock"}}
outputs:
  - {{type: http, address: "tcp:127.0.0.1:{port}"}}
''')
    begin = time.monotonic()
    for _ in range(4):
        with producer(f'{temp}/in.sock', *[
                frame('data', buffer=7, bytes=b'x')] * 90):
            pass
    until('them to be counted', lambda: metric(port, 'bad_frames_total') >= 360)
    lines = d.log().count('was not announced')
    most = 11 + time.monotonic() - begin  # at once, and each second
    assert 5 <= lines <= min(360, most), (lines, most)
    assert metric(port, 'log_suppressed_total') >= 360 - most
    assert 'ready' not in d.log().replace(temp, '')  # it is no warning
    d.stop()


def is_below_cap(port):
    """Now, and at every moment so far."""
    page = http(port, '/metrics')[1]
    parts = dict(re.findall(r'memory_bytes\{part="(\w+)"\} (\d+)', page))
    assert sorted(parts) == ['buffers', 'frames', 'helpers', 'inputs', 'outputs',
                             'pages', 'ring', 'sessions', 'strings'], parts
    total, peak, cap = (
        int(re.search(rf'(?m)^printfdecode_memory_{name}_bytes (\d+)', page)
            .group(1)) for name in ('accounted', 'peak', 'max'))
    assert sum(map(int, parts.values())) == total, parts
    assert cap == 24 << 20 and total <= cap and peak <= cap, (peak, parts)
    return f'{parts}, {peak} at most'


def waiting_producer(temp, *frames):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(f'{temp}/in.sock')
    send_behind(sock, START + b''.join(frames))
    return sock


def memory_has_a_cap(temp):
    if not has_http():
        return
    d, port, lines = small(temp)
    data = slurp(DUMP)
    last = frame('code_object', code_object=2, bytes=bytes(4 << 20),
                 total=200 << 20)
    socks = [waiting_producer(temp, elf_frame(), *(
        frame('buffer', buffer=b, name=f'{i}.{b}', size=8 << 20) +
        frame('data', buffer=b, bytes=data) for b in range(1, 9)), last)
        for i in range(16)]
    until('a refusal', lambda: metric(port, 'bad_frames_total') > 0)
    until('its reason', lambda: 'is up to its cap' in d.log())
    print(f'memory: {is_below_cap(port)}, {d.memory_kib()} KiB resident')
    for sock in socks:
        sock.close()
    # What is still decoded takes memory once more.
    until('room', lambda: metric(port, 'sessions') == 0 and
          metric(port, 'memory_accounted_bytes') < 16 << 20)
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(1, 'after')):
        while lines.entries(1)[0]['source'] != 'after':
            pass
    is_below_cap(port)
    d.stop()


SMALL = '''memory_max: 24MiB
ring: 4MiB
inputs:
  - {type: listen, address: "unix:$T/in.sock", max_clients: 200}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "tcp:127.0.0.1:$P"}
'''


def resident(d):
    """MiB; 0: of a sanitizer, which holds on to what is freed."""
    if b'__asan_init' in slurp(PROGRAM):
        return 0
    return d.memory_kib() >> 10


def small(temp):
    """A daemon of little memory, its port, and its lines."""
    port = free_port()
    d = Daemon(temp, SMALL.replace('$P', str(port)))
    return d, port, dial(f'{temp}/l.sock', {'from': 'oldest'})


def part(port, name):
    page = http(port, '/metrics')[1]
    return int(re.search(rf'part="{name}"\}} (\d+)', page).group(1))


def too_large(lines):
    """The next gap says so."""
    gap = next(line for line in iter(lines.next, None)
               if line['type'] == 'gap')
    assert gap['reason'] == 'too_large', gap


def buffers_have_a_cap(temp):
    """Producers send a MiB a frame, and more than there is room for."""
    if not has_http():
        return
    d, port, lines = small(temp)
    mib = bytes(1 << 20)
    socks = [waiting_producer(
        temp, frame('buffer', buffer=1, name=f'b{i}'),
        *[frame('data', buffer=1, offset=k << 20, bytes=mib)
          for k in range(12)]) for i in range(4)]
    until('refusals', lambda: metric(port, 'bad_frames_total') >= 20)
    buffers = part(port, 'buffers')
    # Their frames on the way, the ring and looks have the rest.
    assert 4 << 20 < buffers < 24 << 20, buffers
    is_below_cap(port)
    too_large(lines)
    for sock in socks:
        sock.close()
    until('room', lambda: metric(port, 'memory_accounted_bytes') < 12 << 20)
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(1, 'after')):
        while lines.entries(1)[0]['source'] != 'after':
            pass
    d.stop()


def half_frames_have_a_cap(temp):
    """Twenty producers, each with a part of a frame of 16 MiB."""
    if not has_http():
        return
    d, port, lines = small(temp)
    before = resident(d)
    half = struct.pack('<II', 16 << 20, 0) + bytes(7 << 19)
    socks = [waiting_producer(temp, half) for _ in range(20)]
    until('refusals', lambda: metric(port, 'bad_frames_total') > 0 and
          (metric(port, 'bad_frames_total') >= 16 or 'who comes waits' in d.log()))
    frames = part(port, 'frames')
    assert 4 << 20 < frames < 12 << 20, frames
    is_below_cap(port)
    print(f'{frames >> 20} MiB of frames, {before} MiB resident before, '
          f'{resident(d)} MiB now')
    assert resident(d) < before + 32, d.log()
    assert 'a frame of 16777224 bytes is not taken' in d.log()
    too_large(lines)
    # What is behind a frame that was passed over is taken.
    data = slurp(DUMP)
    many = [frame('data', buffer=1, offset=len(data), bytes=bytes(3 << 20))]
    with producer(f'{temp}/in.sock', elf_frame(),
                  *dump_frames(1, 'behind')[:1], *many,
                  *dump_frames(1, 'behind')[1:]):
        assert lines.entries(1)[0]['source'] == 'behind'
    for sock in socks:
        sock.close()
    until('room', lambda: part(port, 'frames') == 0)
    bad = metric(port, 'bad_frames_total')
    with producer(f'{temp}/in.sock', *dump_frames(1, 'after')[:1], *many,
                  *dump_frames(1, 'after')[1:]):
        while lines.entries(1)[0]['source'] != 'after':
            pass
    assert metric(port, 'bad_frames_total') == bad
    until('the frames to be gone', lambda: part(port, 'frames') == 0)
    d.stop()


def names_have_a_cap(temp):
    """Names and labels as long as a frame, on many buffers."""
    if not has_http():
        return
    d, port, lines = small(temp)
    before = resident(d)
    many = {f'k{i}': 'v' * 2000 for i in range(60)}
    for i in range(4):
        with producer(f'{temp}/in.sock', elf_frame(), *(
                frame('buffer', buffer=b, name=f'{i}.{b}.' + 'n' * (1 << 16),
                      device='d' * (1 << 16), labels=many)
                for b in range(1, 11))) as sock:
            sock.sendall(b''.join(dump_frames(1, 'b')[1:]))
            e = lines.entries(N_ENTRIES)[0]
            assert re.fullmatch(r'producer \d+/1', e['source']), e
            assert 'labels' not in e['origin'], e
            assert len(e['origin']['device']) == 255, e
    assert 'labels of more than 64 KiB are left out' in d.log()
    is_below_cap(port)
    assert resident(d) < before + 32, (before, resident(d))
    d.stop()


LEAST = '''inputs: [{type: listen, address: "unix:$T/in.sock"}]
outputs: [{type: file, path: $T/out.log}]
'''


def defaults_fit(temp):
    """A small cap alone is enough; of two sizes that do not fit it is said; a
    reload names what it refuses."""
    path = f'{temp}/c.yaml'

    def said(text):
        with open(path, 'w', encoding='ascii') as f:
            f.write(text)
        done = subprocess.run([PROGRAM, 'check-config', path], check=False,
                              text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    text = 'inputs: [{type: stdin}]\noutputs: [%s]\n'
    status, out = said('memory_max: 32MiB\n' + text % '{type: stdout}')
    assert status == 0 and '8 MiB for' in out, out
    if has('NATS'):
        status, out = said(f'state_dir: {temp}/s\n' + text % (
            '{type: nats, servers: ["nats://127.0.0.1:1"], stream_max: 2MiB, '
            'window: 16MiB}'))
        assert status == 0 and "'window' is more than 'stream_max'" in out, out
    d = Daemon(temp, 'workers: 1\n' + LEAST)
    d.reload('workers: 2\n' + LEAST)
    assert 'workers only changes with a restart' in d.log()
    d.reload('workers: 2\nring: 9MiB\nqueue_max: 9MiB\n' + LEAST)
    assert (': ring, queue_max and workers only change with a restart' in
            d.log()), d.log()
    d.stop()


def addresses_are_told(temp):
    """What cannot be bound is told with its port; anchors may stand at the top."""
    with socket.create_server(('127.0.0.1', 0)) as taken:
        address = f'tcp:127.0.0.1:{taken.getsockname()[1]}'
        path = f'{temp}/taken.yaml'
        with open(path, 'w', encoding='ascii') as f:
            f.write('x-all: &all {max_clients: 2}\ninputs:\n'
                    f'  - {{type: listen, address: "{address}", max_clients: 2}}\n')
        done = subprocess.run([PROGRAM, '-c', path], check=False, text=True,
                              capture_output=True, timeout=PATIENCE)
    assert done.returncode == 1, done
    assert f'error: {address}: Address already in use' in done.stderr, done.stderr


def who_comes_at_the_cap_waits(temp):
    if not has_http():
        return
    d, port, lines = small(temp)
    # Of some: one alone may not have as much.
    socks = [producer(f'{temp}/in.sock', *(frame(
        'code_object', code_object=1, offset=k << 20, bytes=bytes(1 << 20),
        total=6 << 20) for k in range(4))) for _ in range(2)]
    until('the room', lambda: metric(
        port, 'memory_accounted_bytes') > 4 << 20)
    for _ in range(100):
        socks.append(socket.socket(socket.AF_UNIX))
        socks[-1].connect(f'{temp}/in.sock')
    until('that who comes waits', lambda: 'who comes waits' in d.log())
    is_below_cap(port)
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames()):
        for sock in socks:
            sock.close()
        lines.entries(N_ENTRIES)
    assert metric(port, 'refused_total') == 0
    d.stop()


def has_http():
    if has('http'):
        return True
    print('left out: built without HTTP')
    return False


run(errors_have_places, files_are_apart, features_are_said,
    every_other_key_is_an_error,
    keys_are_described, who_may_connect, words_are_limited, memory_has_a_cap,
    buffers_have_a_cap, half_frames_have_a_cap, names_have_a_cap, who_comes_at_the_cap_waits, defaults_fit,
    addresses_are_told)
