# SPDX-License-Identifier: MIT
"""A printfdecoded for tests, with sockets in a folder of its own, what talks to
it, and buffers that it follows. Whatever a test leaves running is ended."""
import contextlib
import collections
import ctypes
import glob
import gzip
import json
import mmap
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from http import client as http_client

# Most tests' arguments begin with these; others have their own.
ARGUMENTS = [os.path.abspath(word) for word in sys.argv[1:]]
PROGRAM, DUMP, ELF, *REST = ARGUMENTS + [''] * (3 - len(ARGUMENTS))
N_ENTRIES = 64  # of DUMP
SEQUENCE = re.compile(rb'"sequence":(\d+)')
SKIP = 77  # exit status: what this needs is not here


def is_sanitized(program):
    with open(program, 'rb') as f:
        text = f.read()
    return b'__asan_init' in text or b'__tsan_init' in text


# Seconds until something that does not come is an error. Nothing that comes
# waits for it, so that it is long enough for a machine with much else to do;
# $TEST_PATIENCE times as long for one that has more.
PATIENCE = max(60 * float(os.environ.get('TEST_PATIENCE', 1)),
               240 if os.path.isfile(PROGRAM) and is_sanitized(PROGRAM) else 0)


def idle(seconds):
    """For --until-idle: as long as a busy daemon may pause."""
    return str(seconds * max(1, PATIENCE / 60))


class Lacking(SystemExit):
    """What the test needs is not here."""

    def __init__(self, why):
        print('left out:', why)
        super().__init__(SKIP)


def skip(why):
    print('skipped:', why)
    sys.exit(SKIP)


def has(feature):
    """The daemon is built with it."""
    said = subprocess.run([PROGRAM, '--version'], text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    return f' {feature} (' not in said


def need(feature):
    """Leaves the test out where the daemon is built without it."""
    if not has(feature):
        raise Lacking(f'built without {feature}')


def is_root_listed():
    """A mount that the system lists holds the root: in a chroot, often none
    does, and the daemon opens no file for others (net/read_as_peer.c)."""
    fd = os.open('/', os.O_PATH | os.O_DIRECTORY)
    with open(f'/proc/self/fdinfo/{fd}', encoding='ascii') as f:
        mount = re.search(r'mnt_id:\s*(\d+)', f.read())[1]
    os.close(fd)
    with open('/proc/self/mountinfo', 'rb') as f:
        return any(line.split()[0] == mount.encode() for line in f)


def need_listed_root():
    if not is_root_listed():
        raise Lacking('a chroot that is no mount point')


def until(what, condition, patience=PATIENCE):
    """The condition's value, as soon as it has one. Asking takes half of the
    time at most: the other half is for what is waited for."""
    end = time.monotonic() + patience
    while True:
        begin = time.monotonic()
        value = condition()
        if value:
            return value
        now = time.monotonic()
        if now > end:
            raise AssertionError('in vain: ' + what)
        time.sleep(max(0.01, now - begin))


def can_be_ended(process, number):
    """Waits until the program has a handler for the signal, or takes it when it
    likes."""
    def is_expected():
        assert process.poll() is None, process.communicate()
        with open(f'/proc/{process.pid}/status', encoding='ascii') as f:
            masks = re.findall(r'Sig(?:Cgt|Blk):\s*(\w+)', f.read())
        return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)
    until('a handler for the signal', is_expected)


def die_with_us():
    """In the child: no program outlives its test."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Daemon:
    """$T in a configuration is the folder, $E the code object."""

    def __init__(self, temp, config, env=None, pass_fds=(), program=PROGRAM):
        self.temp = temp
        self.program = program
        self.path = f'{temp}/config.yaml'
        self.log_path = f'{temp}/log'
        self.write_config(config)
        self.start(env, pass_fds)

    def write_config(self, config):
        text = config.replace('$T', self.temp).replace('$E', ELF)
        self.config = text
        with open(self.path, 'w') as f:
            f.write(text)

    process = None
    is_killed = False
    is_ended = False # was told to

    def check_alive(self):
        """Who has ended by himself has failed, whatever his status."""
        status = self.process.poll() if self.process else None
        assert self.is_killed or status is None or (self.is_ended and not status), (
            f'the daemon ended by itself, status {status}', self.log()[-4000:])

    def start(self, env=None, pass_fds=(), wait=True):
        self.check_alive()
        self.is_killed = self.is_ended = False
        before = len(self.log())
        with open(self.log_path, 'a') as log:
            self.process = subprocess.Popen(
                [self.program, '-c', self.path], stdin=subprocess.DEVNULL,
                stderr=log, pass_fds=pass_fds, preexec_fn=die_with_us,
                env={**os.environ, **(env or {})})
        if wait:
            until('ready', lambda: self.process.poll() is not None
                  or ': ready' in self.log()[before:]
                  or 'log_level: warning' in self.config and self.is_up())
        lacking = re.search('is built without [^:]*', self.log())
        if lacking and self.process.poll() is not None:
            raise Lacking(lacking[0])
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
        if number in (signal.SIGTERM, signal.SIGINT):
            self.check_alive()
            self.is_ended = True
        self.process.send_signal(number)

    def reload(self, config):
        self.write_config(config)
        before = self.log().count('reloaded') + self.log().count('stays')
        self.signal(signal.SIGHUP)
        until('reload', lambda: self.log().count('reloaded') +
              self.log().count('stays') > before)

    def kill(self):
        self.check_alive()
        self.signal(signal.SIGKILL)
        status = self.process.wait()
        assert status in (0, -signal.SIGKILL), (status, self.log()[-4000:])
        self.is_killed = True

    def stop(self):
        self.signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        assert status == 0, (status, self.log())

    def http(self, path='/metrics'):
        """Of its socket http.sock, likewise metric()."""
        return http(f'{self.temp}/http.sock', path)

    def metric(self, name):
        return metric(f'{self.temp}/http.sock', name)

    def looks_again(self):
        """Of the one buffer that it follows: a look has begun and another has
        ended by now."""
        before = self.metric('polls_total')
        until('two looks', lambda: self.metric('polls_total') >= before + 3)

    def cpu_seconds(self):
        """Of all threads, to the nanosecond: idle ones run for less than a
        tick of the clock that stat counts in."""
        seconds = 0
        for path in glob.glob(f'/proc/{self.process.pid}/task/*/schedstat'):
            with open(path) as f:
                seconds += int(f.read().split()[0]) / 1e9
        return seconds

    def memory_kib(self):
        with open(f'/proc/{self.process.pid}/status') as f:
            return int(re.search(r'VmRSS:\s+(\d+)', f.read()).group(1))


class Lines:
    """Lines from a socket, read as JSON unless they cannot be."""

    def __init__(self, sock, request=None):
        self.sock = sock
        self.sock.settimeout(PATIENCE)
        self.whole = collections.deque()  # lines
        self.rest = b''
        if request is not None:
            self.send(request)

    def send(self, request):
        self.sock.sendall(json.dumps(request).encode() + b'\n')

    def next(self):
        while not self.whole:
            more = self.sock.recv(65536)
            if not more:
                return None
            *whole, self.rest = (self.rest + more).split(b'\n')
            self.whole += whole
        line = self.whole.popleft()
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
            return not (self.whole or self.rest) and self.sock.recv(1, socket.MSG_PEEK) and False
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


claims = []


def free_port():
    """One where nobody listens, and that no outgoing connection is given: such
    a one, of whoever calls a peer that is away, would keep the peer out. Until
    this process ends, no other test is given it, though its server may start
    late or be restarted: a name of a unix socket is the claim, in the same
    network namespace as the port."""
    with open('/proc/sys/net/ipv4/ip_local_port_range') as f:
        first = int(f.read().split()[0])
    for port in random.sample(range(first // 2, first), 100):
        claim = socket.socket(socket.AF_UNIX)
        with socket.socket() as s, contextlib.suppress(OSError):
            claim.bind(f'\0printfdecode tests port {port}')
            s.bind(('127.0.0.1', port))
            claims.append(claim)
            return port
        claim.close()
    raise AssertionError('no port is free')


class UnixConnection(http_client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.host)


def http(place, path):
    """Status and body, of a port or a unix socket."""
    connection = (http_client.HTTPConnection('127.0.0.1', place, PATIENCE)
                  if isinstance(place, int)
                  else UnixConnection(place, timeout=PATIENCE))
    try:
        connection.request('GET', path, headers={'Host': 'localhost',
                                                 'Connection': 'close'})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def metric(place, name):
    """The sum of all samples of a metric; of outputs those to services, others
    by their type in braces: output_sent_total{type="file"."""
    if '{' not in name and name.startswith('output_'):
        name += '{type="(?!file|listen|stdout)'
    name = name.replace('{', r'\{', 1) + '.*' if '{' in name else name + r'(?:\{.*)?'
    samples = re.findall(rf'(?m)^printfdecode_{name} (\S+)$',
                         http(place, '/metrics')[1])
    assert samples, name
    return sum(map(float, samples))


class Subscriber(threading.Thread):
    """Reads JSON lines: counts entries, keeps them if asked, and checks that
    sequence numbers follow one another but for gap records."""

    def __init__(self, path, request=None, keep=False):
        super().__init__(daemon=True)
        self.socket = dial(path, request or {'output': 'json', 'from': 'oldest'}).sock
        self.socket.settimeout(None)
        self.entries = self.missed = self.bytes = 0
        self.lines = [] if keep else None
        self.failures = []
        self.gaps = {}
        self.last = None

    def take(self, line):
        if line.startswith(b'{"type":"gap","missed"'):
            gap = json.loads(line)
            self.missed += gap['missed']
            self.last = gap['next_sequence'] - 1
            self.gaps[gap['reason']] = self.gaps.get(gap['reason'], 0) + 1
            return
        found = SEQUENCE.search(line, 0, 100)
        if not found:
            self.failures.append(f'no sequence number: {line[:200]}')
            return
        number = int(found.group(1))
        if self.last is not None and number != self.last + 1:
            self.failures.append(f'{number} behind {self.last}')
        self.last = number
        if line.startswith(b'{"type":"gap"'):
            reason = json.loads(line)['reason']
            self.gaps[reason] = self.gaps.get(reason, 0) + 1
        if line.startswith(b'{"type":"entry"'):
            self.entries += 1
        if self.lines is not None:
            self.lines.append(line)

    def run(self):
        rest = b''
        while True:
            try:
                got = self.socket.recv(1 << 18)
            except OSError:
                break
            if not got:
                break
            self.bytes += len(got)
            lines = (rest + got).split(b'\n')
            rest = lines.pop()
            for line in lines:
                self.take(line)

    def records(self, kind='entry'):
        """Parsed lines of a type so far."""
        start = b'{"type":"%s"' % kind.encode()
        return [json.loads(line) for line in list(self.lines)
                if line.startswith(start)]


# ---- frames: CRC-32C and the little of MessagePack that they need ----

TABLE = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0x82f63b78 if i & 1 else 0)
    TABLE.append(i)


def crc_of(data, crc=0):
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xff] ^ crc >> 8
    return crc


def product(number, by):
    """Of two polynomials over bits, the higher powers in the lower bits; `by`
    has 32."""
    result = 0
    for bit in range(32):
        if by >> bit & 1:
            result ^= number << bit
    return result << 1


def squared(remainder):
    both = product(remainder, remainder).to_bytes(8, 'little')
    return crc_of(both[:4]) ^ int.from_bytes(both[4:], 'little')


# The remainders of x to the power of 8, 16, 32, ...: 2**i bytes.
POWERS = [1 << 23]
while len(POWERS) < 30:
    POWERS.append(squared(POWERS[-1]))


def folded(data):
    """A few bytes of the same remainder. Byte by byte, a MiB takes Python a
    second; so numbers as long as half of the data are multiplied at once."""
    while len(data) > 64:
        power = (len(data) - 1).bit_length() - 1
        n_tail = 1 << power
        n_head = len(data) - n_tail
        head = product(int.from_bytes(data[:n_head], 'little'), POWERS[power])
        tail = int.from_bytes(data[n_head:], 'little')
        n = max(n_head + 4, n_tail)
        head <<= 8 * (n - n_head - 4)
        tail <<= 8 * (n - n_tail)
        data = (head ^ tail).to_bytes(n, 'little')
    return data


def crc32c(data):
    first = int.from_bytes(data[:4], 'little') ^ 0xffffffff
    return crc_of(folded(first.to_bytes(4, 'little') + data[4:])) ^ 0xffffffff


def pack(value):
    if isinstance(value, int):
        return b'\xcf' + struct.pack('>Q', value)
    if isinstance(value, str):
        text = value.encode(errors='surrogateescape')
        return (b'\xd9' + bytes([len(text)]) if len(text) < 256 else
                b'\xdb' + struct.pack('>I', len(text))) + text
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
    """The bytes of a file that may be compressed."""
    if not os.path.exists(path):
        path += '.gz'
    with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as f:
        return f.read()


def written(path):
    """A file's bytes, if it is there by now, and has not been renamed."""
    try:
        return slurp(path)
    except FileNotFoundError:
        return b''


def unzstd(path):
    """The bytes of a file that zstd has compressed."""
    zstd = ctypes.CDLL('libzstd.so.1')
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    data = slurp(path)
    room = ctypes.create_string_buffer(64 << 20)
    n = zstd.ZSTD_decompress(room, ctypes.c_size_t(len(room)), data,
                             ctypes.c_size_t(len(data)))
    assert n <= len(room), f'{path} is no whole zstd file'
    return room.raw[:n]


def producer(path, *frames):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(path)
    sock.sendall(START + b''.join(frames))
    return sock


def send_behind(sock, data):
    """Whoever comes at the cap waits in front of the door, as long as it takes."""
    def send():
        with contextlib.suppress(OSError):  # it may be refused, or we close it
            sock.sendall(data)
    threading.Thread(target=send, daemon=True).start()


@contextlib.contextmanager
def sent_from(path, make, before=None):
    """Another process: make() says its frames, and it lives until all is done.
    before(): what it does first, such as becoming another user."""
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if before:
                before()
            die_with_us()
            # PR_SET_PTRACER, PR_SET_PTRACER_ANY
            ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1))
            sock = producer(path, *make())
            os.write(tell, b'1')
            signal.pause()
            sock.close()
        finally:
            os._exit(1)
    os.close(tell)
    assert os.read(ready, 1) == b'1', 'it could not send'
    os.close(ready)
    try:
        yield child
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def dump_frames(buffer=1, name='b', data=None):
    """A buffer that is complete."""
    data = slurp(DUMP) if data is None else data
    return [frame('buffer', buffer=buffer, name=name, size=len(data)),
            frame('data', buffer=buffer, bytes=data),
            frame('done', buffer=buffer)]


def known(entries):
    """None of them lacks its string."""
    return all(e['message'] is not None for e in entries)


def elf_frame(number=1):
    return frame('code_object', code_object=number, name='app.elf',
                 bytes=slurp(ELF))


# ---- buffers of LLPC, and dumps of them ----

def used_bytes(dump):
    return 16 + 4 * struct.unpack_from('<Q', dump)[0]


def entry_ends(dump, start=16, end=None):
    """Where each entry of a whole dump ends, from the sizes in the headers."""
    at = start
    end = end or used_bytes(dump)
    ends = []
    while at < end:
        at += 4 * (struct.unpack_from('<Q', dump, at)[0] & 0xffff)
        ends.append(at)
    return ends


class Buffer:
    """A file that is mapped and written as a device would."""

    def __init__(self, path, size):
        self.path = path
        with open(path, 'w+b') as f:
            f.truncate(size)
            self.memory = mmap.mmap(f.fileno(), size)

    def put(self, data, begin=16, end=None):
        """Bytes of a dump, then its header: all below `end` is used."""
        end = end or len(data)
        self.memory[begin:end] = data[begin:end]
        used = min(end, used_bytes(data)) if end != len(data) else None
        self.memory[0:8] = (data[0:8] if used is None else
                            struct.pack('<Q', (used - 16) // 4))

    def snapshot(self, data):
        self.memory[16:len(data)] = data[16:]
        self.memory[0:16] = data[0:16]

    def clear_header(self):
        self.memory[0:16] = bytes(16)


def run(*tests):
    """Each test with a folder of its own."""
    left_out = 0
    for test in tests:
        with tempfile.TemporaryDirectory(prefix='pfdd-') as temp:
            started = []
            real = Daemon.start

            def start(self, *args, **kwargs):
                started.append(self)
                return real(self, *args, **kwargs)
            Daemon.start = start
            begun = time.monotonic()
            try:
                test(temp)
                for d in started:
                    d.check_alive()
                print(f'ok: {test.__name__} ({time.monotonic() - begun:.1f} s)')
            except Lacking:
                left_out += 1
                print('left out:', test.__name__)
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
    if left_out == len(tests):
        sys.exit(SKIP)
