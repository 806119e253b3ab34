#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tls.py DAEMON DUMP ELF FOLLOW: TLS with certificates on both sides, made
here; whoever has none, or a wrong one, gets nothing and hurts nobody."""
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time

from harness import (N_ENTRIES, PROGRAM, START, Daemon, Lines, dump_frames,
                     elf_frame, free_port, run, skip, until)

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


def make_certificate(temp, name, authority='ca'):
    with open(f'{temp}/ext', 'w') as f:
        f.write('subjectAltName=IP:127.0.0.1\n')
    openssl(temp, 'req', '-newkey', 'ec', '-pkeyopt',
            'ec_paramgen_curve:P-256', '-nodes', '-subj', f'/CN={name}',
            '-keyout', f'{name}.key', '-out', f'{name}.csr')
    openssl(temp, 'x509', '-req', '-in', f'{name}.csr', '-CA',
            f'{authority}.pem', '-CAkey', f'{authority}.key',
            '-CAcreateserial', '-extfile', 'ext', '-days', '2', '-out',
            f'{name}.pem')


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
    sock = socket.create_connection(('127.0.0.1', port), timeout=20)
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
                s.settimeout(20)
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
                assert bad.recv(1) == b''
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


class Server(threading.Thread):
    """Whom the daemon connects to."""

    def __init__(self, temp, name):
        super().__init__(daemon=True)
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
                s.sendall(START + elf_frame() + b''.join(dump_frames()))
                s.recv(1)
        except OSError:
            pass


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
            f.write('outputs:\n  - {type: listen, ' + output + '}\n')
        p = subprocess.run([PROGRAM, 'check-config', path], text=True,
                           stderr=subprocess.PIPE, check=False)
        return p.returncode, p.stderr.replace(path, 'c.yaml').strip()
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
    for name, text in ('client.key', 'no key'), ('ca.pem', ''):
        os.rename(f'{temp}/{name}', f'{temp}/saved')
        with open(f'{temp}/{name}', 'w') as f:
            f.write(text)
        with open(f'{temp}/c.yaml', 'w') as f:
            f.write('outputs:\n  - {type: listen, address: "tcp:0.0.0.0:0", ' +
                    (TLS % ('client', 'client')).replace('$T', temp) + '}\n')
        p = subprocess.run([PROGRAM, '-c', f'{temp}/c.yaml'], text=True,
                           stderr=subprocess.PIPE, check=False, timeout=20)
        assert p.returncode == 1 and name in p.stderr, p.stderr
        os.rename(f'{temp}/saved', f'{temp}/{name}')


if 'built without TLS' in subprocess.run(
        [PROGRAM, 'check-config', '/dev/stdin'], text=True, check=False,
        input='outputs: [{type: listen, address: "tcp:127.0.0.1:0", '
              'tls_certificate: /a, tls_key: /b, tls_ca: /c}]',
        stderr=subprocess.PIPE).stderr:
    skip('built without TLS')
run(both_ways, strangers, connects, not_without, files_that_are_none)
