#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tls.py DAEMON DUMP ELF FOLLOW: TLS with certificates on both sides, made
here; whoever has none, or a wrong one, gets nothing and hurts nobody. And
printfdecode follow as the client of it."""
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

from harness import (ELF, N_ENTRIES, PATIENCE, PROGRAM, REST, START, Daemon,
                     Lines, can_be_ended, dump_frames, elf_frame, frame,
                     free_port, producer, run, skip, slurp, until)

FOLLOW = REST[0]
if not shutil.which('openssl'):
    skip('no openssl command')

TLS = 'tls_certificate: $T/%s.pem, tls_key: $T/%s.key, tls_ca: $T/ca.pem'
CONFIG = '''drain: 1s
inputs:
  - {type: listen, address: "tcp:127.0.0.1:%(input)d", %(tls)s}
outputs:
  - {type: listen, address: "tcp:0.0.0.0:%(lines)d", output: json, %(tls)s}
  - {type: http, address: "tcp:127.0.0.1:%(https)d", %(tls)s}
  - {type: http, address: "tcp:127.0.0.1:%(http)d"}
'''


def openssl(temp, *args):
    subprocess.run(['openssl', *args], cwd=temp, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_authority(temp, name):
    openssl(temp, 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
            'ec_paramgen_curve:P-256', '-nodes', '-subj', f'/CN={name}',
            '-keyout', f'{name}.key', '-out', f'{name}.pem', '-days', '2')


def make_request(temp, name, of):
    with open(f'{temp}/ext', 'w') as f:
        f.write(f'subjectAltName={of}\n')
    openssl(temp, 'req', '-newkey', 'ec', '-pkeyopt',
            'ec_paramgen_curve:P-256', '-nodes', '-subj', f'/CN={name}',
            '-keyout', f'{name}.key', '-out', f'{name}.csr')


def make_certificate(temp, name, authority='ca', of='IP:127.0.0.1'):
    make_request(temp, name, of)
    openssl(temp, 'x509', '-req', '-in', f'{name}.csr', '-CA',
            f'{authority}.pem', '-CAkey', f'{authority}.key',
            '-CAcreateserial', '-extfile', 'ext', '-days', '2', '-out',
            f'{name}.pem')


def make_expired(temp, name):
    """By `ca`, which takes dates in every OpenSSL."""
    make_request(temp, name, 'IP:127.0.0.1')
    with open(f'{temp}/ca.cnf', 'w') as f:
        f.write('[ca]\ndefault_ca=ours\n[ours]\ndatabase=index\n'
                'new_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\n'
                'policy=names\n[names]\ncommonName=supplied\n')
    with open(f'{temp}/index', 'w'):
        pass  # of none so far
    openssl(temp, 'ca', '-batch', '-notext', '-config', 'ca.cnf', '-cert',
            'ca.pem', '-keyfile', 'ca.key', '-startdate', '20200101000000Z',
            '-enddate', '20200102000000Z', '-extfile', 'ext', '-in',
            f'{name}.csr', '-out', f'{name}.pem')


def make_all(temp):
    make_authority(temp, 'ca')
    make_authority(temp, 'other')
    make_certificate(temp, 'server')
    make_certificate(temp, 'client')
    make_certificate(temp, 'stranger', 'other')


def context(temp, name='client'):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.load_verify_locations(f'{temp}/ca.pem')
    if name:
        c.load_cert_chain(f'{temp}/{name}.pem', f'{temp}/{name}.key')
    return c


def dial(temp, port, name='client'):
    sock = socket.create_connection(('127.0.0.1', port), timeout=PATIENCE)
    return context(temp, name).wrap_socket(sock, server_hostname='127.0.0.1')


def refused(temp, port, name):
    """TLS 1.3: the client hears of it when it reads."""
    try:
        with dial(temp, port, name) as s:
            s.sendall(b'{"from":"oldest"}\n')
            return s.recv(1) == b''
    except (ssl.SSLError, ConnectionError):
        return True


def started(temp):
    make_all(temp)
    ports = {k: free_port() for k in ('input', 'lines', 'https', 'http')}
    tls = TLS % ('server', 'server')
    return Daemon(temp, CONFIG % {**ports, 'tls': tls}), ports


def both_ways(temp):
    d, port = started(temp)
    lines = Lines(dial(temp, port['lines']), {'from': 'oldest'})
    big = b''.join(elf_frame(i + 1) for i in range(100))
    with dial(temp, port['input']) as p:
        p.sendall(START + big + b''.join(
            f for i in range(40) for f in dump_frames(i + 1, f'b{i}')))
        got = lines.entries(40 * N_ENTRIES)
    assert len({(e['source'], e['index']) for e in got}) == 40 * N_ENTRIES
    # One that ends its side gets what there is, and the end.
    sock = dial(temp, port['lines'])
    half = Lines(sock, {'from': 'oldest'})
    assert len(half.entries(N_ENTRIES)) == N_ENTRIES
    with dial(temp, port['https']) as s:
        s.sendall(b'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
        answer = b''
        while more := s.recv(4096):
            answer += more
    assert answer.startswith(b'HTTP/1.1 200') and answer.endswith(b'ok\n')
    # A renewed certificate is taken up without a word from anybody.
    time.sleep(0.01)
    make_certificate(temp, 'server')
    with dial(temp, port['lines']):
        until('renewal', lambda: 'a new certificate' in d.log())
    # What is connected stays so through a reload.
    d.reload(open(d.path).read() + 'log_level: info\n')
    with dial(temp, port['input']) as p:
        p.sendall(START + elf_frame() + b''.join(dump_frames(1, 'last')))
        assert lines.entries(1)[0]['source'] == 'last'
    d.stop()


def named_files(temp):
    """Whoever sends behind TLS is not us, though we pass on what it sends."""
    d, port = started(temp)
    lines = Lines(dial(temp, port['lines']), {'from': 'oldest'})
    shutil.copy(ELF, f'{temp}/app.elf')
    with dial(temp, port['input']) as p:
        p.sendall(START + b''.join([
            frame('code_object', code_object=1, uri=f'file://{temp}/app.elf'),
            frame('code_object', code_object=2, uri='memory://'
                  f'{d.process.pid}#offset=4096&size=64'), *dump_frames()]))
        got = lines.entries(N_ENTRIES)
    assert not any(e['message'] for e in got), got
    assert not any('pid' in e.get('origin', {}) for e in got), got
    assert d.log().count('which this producer may not use') == 2, d.log()
    d.stop()


def strangers(temp):
    d, port = started(temp)
    ok = Lines(dial(temp, port['lines']), {'from': 'oldest'})
    for name in 'stranger', None:
        for where in 'lines', 'input', 'https':
            assert refused(temp, port[where], name), (name, where)
    # Old versions, plain requests, random bytes, silence, half a hello.
    old = context(temp)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        with socket.create_connection(('127.0.0.1', port['lines'])) as s:
            old.wrap_socket(s, server_hostname='127.0.0.1')
        raise AssertionError('TLS 1.2')
    except (ssl.SSLError, ConnectionError):
        pass
    silent = [socket.create_connection(('127.0.0.1', port['lines']))
              for _ in range(10)]
    for junk in (b'{"from":"oldest"}\n', START, os.urandom(5000),
                 b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', b'\x00' * 3):
        with socket.create_connection(('127.0.0.1', port['input'])) as s:
            try:
                s.sendall(junk)
                s.shutdown(socket.SHUT_WR)
                s.settimeout(PATIENCE)
                while more := s.recv(4096):
                    assert b'entry' not in more
            except OSError:  # it was quicker to end this
                pass
    with dial(temp, port['input']) as p:
        p.sendall(START + elf_frame() + b''.join(dump_frames()))
        ok.entries(N_ENTRIES)
        # Garbage inside of TLS ends its sender only.
        with dial(temp, port['input']) as bad:
            bad.sendall(os.urandom(4096))
            try:
                while more := bad.recv(4096):
                    assert b'"type":"error"' in more, more
            except (ssl.SSLError, ConnectionError):
                pass
        p.sendall(START + b''.join(dump_frames(1, 'second')))
        ok.entries(N_ENTRIES)
    until('silence to be ended', lambda: all(
        s.recv(1) == b'' for s in silent))
    log = d.log()
    assert 'peer did not return a certificate' in log, log
    assert 'unable to get local issuer certificate' in log, log
    d.stop()


def silent_strangers(temp):
    """However many, and however often: who has a certificate gets in."""
    d, port = started(temp)
    silent = []
    for where in 'lines', 'input', 'https':
        for i in range(90):
            s = socket.create_connection(('127.0.0.1', port[where]))
            if i % 2:
                s.send(b'\x16\x03\x01\x02\x00\x01')
            silent.append(s)
    for i in range(3):
        lines = Lines(dial(temp, port['lines']), {'output': 'json'})
        with dial(temp, port['input']) as p:
            p.sendall(START + elf_frame() + b''.join(dump_frames()))
            lines.entries(N_ENTRIES)
        with dial(temp, port['https']) as s:
            s.sendall(b'GET /healthz HTTP/1.0\r\n\r\n')
            assert s.recv(12) == b'HTTP/1.1 200'
        for where in 'lines', 'input', 'https':
            silent += [socket.create_connection(('127.0.0.1', port[where]))
                       for _ in range(40)]
    d.stop()
    for s in silent:
        s.close()


class Server(threading.Thread):
    """Whom the daemon or `follow` connects to."""

    def __init__(self, temp, name='server', talk=None):
        super().__init__(daemon=True)
        self.talk = talk or self.send_dump
        self.sock = socket.create_server(('127.0.0.1', 0))
        self.port = self.sock.getsockname()[1]
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(f'{temp}/{name}.pem', f'{temp}/{name}.key')
        self.context.load_verify_locations(f'{temp}/ca.pem')
        self.context.verify_mode = ssl.CERT_REQUIRED
        self.start()

    def run(self):
        while True:
            plain, _ = self.sock.accept()
            threading.Thread(target=self.serve, args=(plain,),
                             daemon=True).start()

    def serve(self, plain):
        try:
            with self.context.wrap_socket(plain, server_side=True) as s:
                self.talk(s)
        except OSError:
            pass

    def send_dump(self, s):
        s.sendall(START + elf_frame() + b''.join(dump_frames()))
        s.recv(1)


def connects(temp):
    make_all(temp)
    good = Server(temp, 'server')
    bad = Server(temp, 'stranger')
    config = 'inputs:\n'
    for server in good, bad:
        config += f'''  - {{type: connect, address: "tcp:127.0.0.1:{server.port}",
     {TLS % ('client', 'client')}}}
'''
    # The right authority, but another name than what is wanted.
    config += f'''  - {{type: connect, address: "tcp:127.0.0.1:{good.port}",
     tls_name: else.example, {TLS % ('client', 'client')}}}
outputs:
  - {{type: listen, address: "unix:$T/l.sock"}}
'''
    d = Daemon(temp, config)
    lines = Lines(socket.socket(socket.AF_UNIX))
    lines.sock.connect(f'{temp}/l.sock')
    lines.send({'from': 'oldest'})
    lines.entries(N_ENTRIES)
    until('complaints', lambda: 'mismatch' in d.log() and
          'unable to get local issuer certificate' in d.log())
    assert lines.is_quiet()
    d.stop()


def not_without(temp):
    """Configurations that would let others listen in, each with its place."""
    def check(output):
        path = f'{temp}/c.yaml'
        with open(path, 'w') as f:
            f.write('outputs:\n  - {type: listen, ' + output + '}\n'
                    'inputs: [{type: stdin}]\n')
        p = subprocess.run([PROGRAM, 'check-config', path], text=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           check=False)
        said = [line for line in p.stderr.replace(path, 'c.yaml').splitlines()
                if ' warning: ' not in line]  # the files are not there
        return p.returncode, '\n'.join(said)
    whole = 'tls_certificate: /a, tls_key: /b, tls_ca: /c'
    for address in '0.0.0.0:1', '192.168.1.2:9000', '[::]:9000':
        rc, said = check(f'address: "tcp:{address}"')
        assert rc == 78 and said.startswith(
            'c.yaml:2:29: TCP beyond this machine wants TLS'), said
        assert check(f'address: "tcp:{address}", {whole}') == (0, '')
    assert check('address: "tcp:127.0.0.1:1"') == (0, '')
    rc, said = check('address: "tcp:127.0.0.1:1", tls_key: /b')
    assert rc == 78 and "c.yaml:2:5: 'tls_certificate' is missing" in said
    assert "c.yaml:2:5: 'tls_ca' is missing" in said, said
    rc, said = check(f'address: "unix:/x", {whole}')
    assert rc == 78 and "'tls_certificate' is for TCP" in said, said


def files_that_are_none(temp):
    make_all(temp)
    openssl(temp, 'ec', '-in', 'client.key', '-aes128', '-passout',
            'pass:secret', '-out', 'asked.key')
    asked = slurp(f'{temp}/asked.key').decode()
    for name, text, why in (('client.key', 'no key', ''), ('ca.pem', '', ''),
                            ('client.key', asked, 'by a passphrase')):
        os.rename(f'{temp}/{name}', f'{temp}/saved')
        with open(f'{temp}/{name}', 'w') as f:
            f.write(text)
        with open(f'{temp}/c.yaml', 'w') as f:
            f.write('inputs: [{type: stdin}]\noutputs:\n'
                    '  - {type: listen, address: "tcp:0.0.0.0:0", ' +
                    (TLS % ('client', 'client')).replace('$T', temp) + '}\n')
        p = subprocess.run([PROGRAM, '-c', f'{temp}/c.yaml'], text=True,
                           stderr=subprocess.PIPE, check=False, timeout=PATIENCE)
        assert p.returncode == 1 and name in p.stderr, p.stderr
        assert why in p.stderr, p.stderr
        os.rename(f'{temp}/saved', f'{temp}/{name}')


# ---- printfdecode follow ----

def own(temp, name='client'):
    return ['--tls-ca', f'{temp}/ca.pem', '--tls-certificate',
            f'{temp}/{name}.pem', '--tls-key', f'{temp}/{name}.key']


def start_follow(*args):
    return subprocess.Popen([FOLLOW, 'follow', *args], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def follow(*args):
    """Exit status, lines of JSON, standard error."""
    f = start_follow('-o', 'json', *args)
    out, said = f.communicate(timeout=PATIENCE)
    return f.returncode, [json.loads(line) for line in out.splitlines()], said


def entries(lines):
    return [e for e in lines if e['type'] == 'entry']


def follow_for(n, *args):
    """n entries, and no more."""
    f = start_follow('-o', 'json', *args)
    lines = []
    while len(entries(lines)) < n:
        line = f.stdout.readline()
        assert line, f.communicate()
        lines.append(json.loads(line))
    f.terminate()
    rest, said = f.communicate(timeout=PATIENCE)
    assert (f.returncode, said) == (0, ''), said
    return entries(lines + [json.loads(line) for line in rest.splitlines()])


def addresses(port):
    return (f'tls:127.0.0.1:{port["lines"]}',
            f'https://127.0.0.1:{port["https"]}/')


def followed(temp):
    """Whole, with what is asked for, resumed, and ended by signals."""
    n = 40 * N_ENTRIES
    d, port = started(temp)
    with dial(temp, port['input']) as p:
        p.sendall(START + elf_frame() + b''.join(
            f for i in range(40) for f in dump_frames(i + 1, f'b{i}')))
        for where in addresses(port):
            sees = [*own(temp), where]
            whole = follow_for(n, '--from', 'oldest', *sees)
            middle = str(whole[n // 2]['sequence'])
            assert follow_for(n // 2, '--from', middle, *sees) == whole[n // 2:]
            some = [e for e in whole if 'workgroup' in e['message']]
            assert 0 < len(some) < n
            assert follow_for(len(some), '--from', 'oldest', '-m', 'workgroup',
                              *sees) == some
            for number in signal.SIGINT, signal.SIGTERM:
                f = start_follow('--from', 'oldest', *own(temp), where)
                assert f.stdout.readline()
                f.send_signal(number)
                said = f.communicate(timeout=PATIENCE)[1]
                assert (f.returncode, said) == (0, ''), where
    # A name in the place of an address, and one that is said to be it.
    lines = addresses(port)[0].replace('127.0.0.1', 'localhost')
    assert follow(*own(temp), '--tls-name', '127.0.0.1', '--until-idle', '0.1',
                  lines) == (0, [], '')
    make_certificate(temp, 'server', of='DNS:localhost')
    assert follow(*own(temp), '--until-idle', '0.1', lines) == (0, [], '')
    f = start_follow(*own(temp), '--from', 'oldest', lines)
    f.stdout.readline()
    d.stop()
    said = f.communicate(timeout=PATIENCE)[1]
    assert f.returncode == 0 and 'daemon has ended the connection' in said, said
    rc, _, said = follow(*own(temp), lines)
    assert rc == 1 and f'{lines}: Connection refused' in said, said


def acknowledged(temp):
    """Each line once, over restarts of both."""
    make_all(temp)
    port = free_port()
    d = Daemon(temp, f'''state_dir: $T/state
drain: 1s
inputs: [{{type: listen, address: "unix:$T/in.sock"}}]
outputs:
  - {{type: listen, address: "tcp:127.0.0.1:{port}", required: true, name: c,
     {TLS % ('server', 'server')}}}
''')

    def acked():
        try:
            with open(f'{temp}/state/checkpoint') as f:
                return json.load(f)['acked'].get('c', 0)
        except FileNotFoundError:
            return 0
    numbers = []
    for i in range(3):
        with producer(f'{temp}/in.sock', elf_frame(),
                      *dump_frames(name=f'c{i}')):
            f = start_follow('--ack', '-o', 'json', *own(temp),
                             f'tls:127.0.0.1:{port}')
            here = []
            while len(here) < N_ENTRIES:
                here += entries([json.loads(f.stdout.readline())])
            until('a checkpoint', lambda: acked() >= here[-1]['sequence'])
            f.terminate()
            rest, said = f.communicate(timeout=PATIENCE)
            assert (f.returncode, said) == (0, ''), said
            here += entries(json.loads(line) for line in rest.splitlines())
            numbers += [e['sequence'] for e in here]
        d.kill() if i == 1 else d.stop()
        d.start()
    d.stop()
    assert len(numbers) == len(set(numbers)) == 3 * N_ENTRIES, len(numbers)


def says(what, *args):
    rc, lines, said = follow(*args)
    assert (rc, lines) == (1, []), (what, rc, lines)
    where = f'printfdecode: {args[-1]}: '
    assert said.startswith(where) and said.count('\n') == 1, (what, said)
    assert what in said, (what, said)


def certificates(temp):
    """Whoever is not proved to be the right one is not listened to, and what
    the server has against us is said."""
    d, port = started(temp)
    make_expired(temp, 'old')
    ca = ['--tls-ca', f'{temp}/ca.pem']
    for where in addresses(port):
        says(f'is not signed by {temp}/other.pem', *own(temp), '--tls-ca',
             f'{temp}/other.pem', where)
        says('is not signed by an authority of this system', where)
        says('is for another name than localhost', *own(temp),
             where.replace('127.0.0.1', 'localhost'))
        says('is for another name than 127.0.0.2', *own(temp), '--tls-name',
             '127.0.0.2', where)
        says("'' is no name of a server", *own(temp), '--tls-name', '', where)
        says('the server wants a certificate', *ca, where)
        says('does not know who signed our certificate',
             *own(temp, 'stranger'), *ca, where)
        says('says that our certificate has expired', *own(temp, 'old'), where)
    make_expired(temp, 'server')
    says('cannot be trusted: certificate has expired', *own(temp),
         addresses(port)[0])
    d.stop()


def no_keys(temp):
    make_all(temp)
    openssl(temp, 'genrsa', '-out', 'rsa.key')
    openssl(temp, 'ec', '-in', 'client.key', '-aes128', '-passout',
            'pass:secret', '-out', 'asked.key')
    openssl(temp, 'pkcs8', '-topk8', '-in', 'client.key', '-passout',
            'pass:secret', '-out', 'asked8.key')
    nobody = f'tls:127.0.0.1:{free_port()}'
    for option, name, what in (
            ('ca', 'none', 'No such file'),
            ('certificate', 'none', 'No such file'),
            ('key', 'none', 'No such file'),
            ('ca', 'client.key', 'no certificates in PEM form'),
            ('certificate', 'client.key', 'no certificate in PEM form'),
            ('key', 'client.pem', 'no private key in PEM form'),
            ('key', 'stranger.key', f'not the key of {temp}/client.pem'),
            ('key', 'rsa.key', f'not the key of {temp}/client.pem'),
            ('key', 'asked.key', 'protected by a passphrase'),
            ('key', 'asked8.key', 'protected by a passphrase')):
        says(f'{temp}/{name}: {what}', *own(temp), f'--tls-{option}',
             f'{temp}/{name}', nobody)
    if os.getuid() != 0:
        os.chmod(f'{temp}/client.key', 0)
        says(f'{temp}/client.key: Permission denied', *own(temp), nobody)
    for where, what, args in (
            (nobody, 'go together', ['--tls-key', '/k']),
            (nobody, 'go together', ['--tls-certificate', '/c']),
            (nobody.rpartition(':')[0], 'the port is missing', []),
            ('http://127.0.0.1:1', 'are for tls:HOST:PORT', own(temp)),
            (FOLLOW, 'are for a daemon', own(temp))):
        rc, lines, said = follow(*args, where)
        assert rc == 1 and what in said, (rc, said)


def other_servers(temp):
    """Those that speak no TLS, an old one, or end in the middle of it."""
    make_all(temp)
    silent = socket.create_server(('127.0.0.1', 0))
    at_silent = f'tls:127.0.0.1:{silent.getsockname()[1]}'
    late = start_follow(*own(temp), at_silent)
    f = start_follow(*own(temp), at_silent)
    can_be_ended(f, signal.SIGINT)
    f.send_signal(signal.SIGINT)
    assert f.communicate(timeout=PATIENCE) == ('', '') and f.returncode == 0

    port = free_port()
    d = Daemon(temp, f'''inputs: [{{type: stdin}}]
outputs:
  - {{type: http, address: "tcp:127.0.0.1:{port}"}}
''')
    for scheme in 'tls:', 'https://':
        says('the server does not speak TLS\n', *own(temp),
             f'{scheme}127.0.0.1:{port}')
    d.stop()

    # At once, or with a goodbye (close_notify) instead of a hello.
    def hang_up(last):
        plain = hasty.accept()[0]
        plain.recv(4096)
        plain.sendall(last)
        plain.close()
    with socket.create_server(('127.0.0.1', 0)) as hasty:
        for last in b'', b'\x15\x03\x03\x00\x02\x01\x00':
            threading.Thread(target=hang_up, args=[last], daemon=True).start()
            says('the server hangs up', *own(temp),
                 f'tls:127.0.0.1:{hasty.getsockname()[1]}')

    old = Server(temp)
    old.context.maximum_version = ssl.TLSVersion.TLSv1_2
    says('the server does not speak TLS 1.3\n', *own(temp),
         f'tls:127.0.0.1:{old.port}')

    # Whoever ends it says so: else somebody has cut it off.
    for end, rc, what in ((lambda s: s.unwrap(), 2, 'daemon has ended'),
                          (lambda s: None, 1, 'the connection was cut off')):
        def talk(s):
            s.recv(4096)
            s.sendall(START + frame('gap', lost_entries=3, sequence=4))
            end(s)
        server = Server(temp, talk=talk)
        got, lines, said = follow(*own(temp), f'tls:127.0.0.1:{server.port}')
        assert (got, len(lines)) == (rc, 1) and what in said, (rc, said)

    assert late.wait(PATIENCE) == 1
    said = late.communicate()[1]
    assert f'{at_silent}: no answer of TLS within 10 s' in said, said


if 'built without TLS' in subprocess.run(
        [PROGRAM, 'check-config', '/dev/stdin'], text=True, check=False,
        input='outputs: [{type: listen, address: "tcp:127.0.0.1:0", '
              'tls_certificate: /a, tls_key: /b, tls_ca: /c}]',
        stderr=subprocess.PIPE).stderr:
    for address in 'tls:127.0.0.1:1', 'https://127.0.0.1:1':
        says('built without TLS', address)
    skip('built without TLS')
if __name__ == '__main__':
    run(both_ways, named_files, strangers, silent_strangers, connects,
        not_without, files_that_are_none, followed, acknowledged, certificates,
        no_keys, other_servers)
