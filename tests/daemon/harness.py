# SPDX-License-Identifier: MIT
"""A printfdecoded for tests, with sockets in a folder of its own, and what
talks to it. Whatever a test leaves running is ended."""
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

PROGRAM, DUMP, ELF, *REST = map(os.path.abspath, sys.argv[1:])
N_ENTRIES = 64  # of DUMP
SUPPRESSED = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          '..', 'lsan.supp')
PATIENCE = 20  # seconds until something that does not come is an error
SKIP = 77  # exit status: what this needs is not here


def skip(why):
    print('skipped:', why)
    sys.exit(SKIP)


def until(what, condition):
    """The condition's value, as soon as it has one."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError('in vain: ' + what)


class Daemon:
    def __init__(self, temp, config, env=None, pass_fds=()):
        self.temp = temp
        self.path = f'{temp}/config.yaml'
        self.log_path = f'{temp}/log'
        self.write_config(config)
        self.start(env, pass_fds)

    def write_config(self, config):
        text = config.replace('$T', self.temp).replace('$E', ELF)
        self.config = text
        with open(self.path, 'w') as f:
            f.write(text)

    def start(self, env=None, pass_fds=(), wait=True):
        before = len(self.log())
        # In its sandbox it does not see this folder.
        shutil.copy(SUPPRESSED, f'{self.temp}/lsan.supp')
        with open(self.log_path, 'a') as log:
            self.process = subprocess.Popen(
                [PROGRAM, '-c', self.path], stdin=subprocess.DEVNULL,
                stderr=log, pass_fds=pass_fds, env={
                    'LSAN_OPTIONS': 'print_suppressions=0:suppressions=' +
                                    f'{self.temp}/lsan.supp', **os.environ, **(env or {})})
        if wait:
            until('ready', lambda: self.process.poll() is not None
                  or ': ready' in self.log()[before:]
                  or 'log_level: warning' in self.config and self.is_up())
        assert self.process.poll() is None, self.log()

    def is_up(self):
        """Of one that does not say so: its first socket is there."""
        path = f'{self.temp}/in.sock'
        if not os.path.exists(path):
            return False
        try:
            dial(path).close()
            return True
        except ConnectionRefusedError:
            return False

    def log(self):
        try:
            with open(self.log_path) as f:
                return f.read()
        except FileNotFoundError:
            return ''

    def signal(self, number):
        self.process.send_signal(number)

    def reload(self, config):
        self.write_config(config)
        before = self.log().count('reloaded') + self.log().count('stays')
        self.signal(signal.SIGHUP)
        until('reload', lambda: self.log().count('reloaded') +
              self.log().count('stays') > before)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        assert status == 0, (status, self.log())


class Lines:
    """Lines from a socket, read as JSON unless they cannot be."""

    def __init__(self, sock, request=None):
        self.sock = sock
        self.sock.settimeout(PATIENCE)
        self.rest = b''
        if request is not None:
            self.send(request)

    def send(self, request):
        self.sock.sendall(json.dumps(request).encode() + b'\n')

    def next(self):
        while b'\n' not in self.rest:
            more = self.sock.recv(65536)
            if not more:
                return None
            self.rest += more
        line, self.rest = self.rest.split(b'\n', 1)
        try:
            return json.loads(line)
        except ValueError:
            return line

    def take(self, n):
        return [self.next() for _ in range(n)]

    def entries(self, n):
        found = []
        while len(found) < n:
            line = self.next()
            assert line is not None, f'{len(found)} of {n} entries, then the end'
            if not isinstance(line, dict) or line['type'] == 'entry':
                found.append(line)
        return found

    def is_quiet(self, seconds=0.3):
        self.sock.settimeout(seconds)
        try:
            return not self.rest and self.sock.recv(1, socket.MSG_PEEK) and False
        except TimeoutError:
            return True
        finally:
            self.sock.settimeout(PATIENCE)

    def close(self):
        self.sock.close()


def dial(path, request=None):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(path)
    return Lines(sock, request)


def dial_tcp(port, request=None):
    return Lines(socket.create_connection(('127.0.0.1', port)), request)


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def http(port, path):
    """Status and body."""
    try:
        with urllib.request.urlopen(f'http://127.0.0.1:{port}{path}',
                                    timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def metric(port, name):
    for line in http(port, '/metrics')[1].splitlines():
        if line.startswith(f'printfdecode_{name} '):
            return float(line.split()[-1])
    raise AssertionError(name)


# ---- frames: CRC-32C and the little of MessagePack that they need ----

TABLE = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0x82f63b78 if i & 1 else 0)
    TABLE.append(i)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xff] ^ crc >> 8
    return crc ^ 0xffffffff


def pack(value):
    if isinstance(value, int):
        return b'\xcf' + struct.pack('>Q', value)
    if isinstance(value, str):
        return b'\xd9' + bytes([len(value.encode())]) + value.encode()
    if isinstance(value, dict):
        return b'\xde' + struct.pack('>H', len(value)) + b''.join(
            pack(k) + pack(v) for k, v in value.items())
    return b'\xc6' + struct.pack('>I', len(value)) + value


START = b'\x89PFDCAP\n' + struct.pack('<II', 1, 0)


def frame(type, **keys):
    body = pack({'type': type, **keys})
    n = struct.pack('<I', len(body))
    return n + struct.pack('<I', crc32c(n + body)) + body


def slurp(path):
    with open(path, 'rb') as f:
        return f.read()


def producer(path, *frames):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(path)
    sock.sendall(START + b''.join(frames))
    return sock


def dump_frames(buffer=1, name='b', data=None):
    """A buffer that is complete."""
    data = slurp(DUMP) if data is None else data
    return [frame('buffer', buffer=buffer, name=name, size=len(data)),
            frame('data', buffer=buffer, bytes=data),
            frame('done', buffer=buffer)]


def elf_frame(number=1):
    return frame('code_object', code_object=number, name='app.elf',
                 bytes=slurp(ELF))


def run(*tests):
    """Each test with a folder of its own."""
    for test in tests:
        with tempfile.TemporaryDirectory(prefix='pfdd-') as temp:
            started = []
            real = Daemon.start

            def start(self, *args, **kwargs):
                started.append(self)
                return real(self, *args, **kwargs)
            Daemon.start = start
            try:
                test(temp)
                print('ok:', test.__name__)
            except BaseException:
                for d in started:
                    print(d.log())
                print('FAILED:', test.__name__)
                raise
            finally:
                Daemon.start = real
                for d in started:
                    if d.process.poll() is None:
                        d.process.kill()
                        d.process.wait()
