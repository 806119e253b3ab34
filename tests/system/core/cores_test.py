#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Buffers in cores say what they say in files, byte for byte, with no address
given: in cores made here, in those of a real process, compressed, split, and
damaged in every way.
usage: cores_test.py PRINTFDECODE CASES [MUTATIONS [SEED]]"""
import gzip
import itertools
import json
import os
import pty
import random
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'make'))
import cores  # noqa: E402

PAGE = 4096
PROGRAM, CASES = sys.argv[1:3]
MUTATIONS = int(sys.argv[3]) if len(sys.argv) > 3 else 200
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
# Of each: its folder, the file with its strings.
SOUND = [('llpc/vk_mixed', 'image.elf'), ('hip/compiled_dump', 'app.co'),
         ('opencl/compiled_dump', 'app.co'),
         ('rusticl/mesa25_k1', 'program.bin')]
DAMAGED = [('llpc/vk_midflight', 'image.elf'), ('llpc/vk_stale', 'image.elf'),
           ('llpc/vk_wrap64', 'image.elf'), ('llpc/vk_torn', 'image.elf'),
           ('llpc/corrupt_20_hole_mid_flight', 'image.elf'),
           ('hip/mixed_streams', 'app.co'), ('hip/padding_undefined', 'app.co'),
           ('opencl/compiled_overflow', 'app.co'),
           ('rusticl/mesa25_k2', 'program.bin'),
           ('rusticl/real_k3', 'program.bin')]
wrong = []


def check(condition, text):
    if not condition:
        wrong.append(text)
        print('wrong:', text)


def read(case, name):
    path = os.path.join(CASES, case, name)
    if os.path.exists(path + '.gz'):
        with gzip.open(path + '.gz') as f:
            return f.read()
    with open(path, 'rb') as f:
        return f.read()


def write(name, data):
    with open(name, 'wb') as f:
        f.write(data)
    return name


def run(*args, limit=600, folder=None):
    done = subprocess.run([PROGRAM, *args], capture_output=True, timeout=limit,
                          check=False, cwd=folder)
    if done.returncode < 0 or done.returncode > 3 or b'Sanitizer' in done.stderr:
        check(False, f'{args}: status {done.returncode}: {done.stderr[-400:]}')
    return done


def lines(*args):
    return run('decode', '--no-filename', *args).stdout


def paged(data):
    return data + bytes(-len(data) % PAGE)


def test_sound():
    """Each alone, in a core that is split within it."""
    for case, strings in SOUND + DAMAGED:
        buffer = paged(read(case, 'buffer.bin'))
        dump, elf = write('dump', read(case, 'buffer.bin')), \
            write('strings', read(case, strings))
        want = lines('--buffer', dump, elf)
        check(want, f'{case}: no lines to compare')
        head = random.Random(case).randbytes(3 * PAGE)
        whole = cores.core([(0x10000, head + buffer, len(head) + len(buffer))])
        half = len(head) + PAGE
        split = cores.core([
            (0x10000 + half, (head + buffer)[half:], len(head + buffer) - half),
            (0x10000, (head + buffer)[:half], half)])
        for name, core in ('whole', whole), ('split', split), \
                ('packed', gzip.compress(whole, mtime=0)):
            done = run('decode', '--core', write('core', core), elf)
            check(done.stdout == want, f'{case}, {name}: other lines')
            check(b'@0x13000: ' in done.stderr, f'{case}, {name}: which address?')
        done = run('decode', '--core', write('core', whole), '--address',
                   '0x13000', '--size', str(len(read(case, 'buffer.bin'))), elf)
        check(done.stdout == want, f'{case}: other lines at its address')


def all_files():
    args = []
    for i, (case, strings) in enumerate(SOUND):
        args.append(write(f'strings{i}', read(case, strings)))
    return args


def test_together():
    """Several in one, with copies and pieces of copies."""
    strings = all_files()
    buffers = [paged(read(case, 'buffer.bin')) for case, _ in SOUND]
    want = sorted(lines('--buffer', write('dump', b), *strings)
                  for b in buffers)
    copies = buffers[1] + bytes(PAGE) + buffers[0][:2 * PAGE] + buffers[2]
    segments = [(0x100000 * (i + 1), b, len(b))
                for i, b in enumerate([*buffers, copies])]
    done = run('decode', '--no-filename', '--core',
               write('core', cores.core(segments)), *strings)
    check(len(done.stdout) == sum(map(len, want)) and
          all(w in done.stdout for w in want), 'several: other lines')
    check(b'copies of it stand elsewhere' in done.stderr,
          'several: copies are not said')
    for i, want in enumerate(want):
        one = run('decode', '--no-filename', '--format',
                  SOUND[i][0].split('/')[0], '--core', 'core', *strings)
        check(one.stdout in done.stdout and one.stdout, 'one format: other lines')


def test_absent():
    """What is not in the core is not taken for zeros."""
    case, strings = SOUND[2]
    buffer = paged(read(case, 'buffer.bin'))
    elf = write('strings', read(case, strings))
    core = write('core', cores.core([(0x10000, buffer[:1024], len(buffer))]))
    done = run('decode', '--core', core, '--address', '0x10000', '--size',
               str(len(buffer)), elf)
    check(b'unreadable' in done.stderr and b'not in the core' in done.stderr,
          'absent: not said')
    check(done.returncode == 2, f'absent: status {done.returncode}')
    whole = lines('--buffer', write('dump', buffer), elf)
    got = done.stdout.splitlines()
    check(got[:20] == whole.splitlines()[:20], 'absent: other lines before it')
    for args in (['--address', '0x900000', '--size', '64'], []):
        done = run('decode', '--core',
                   write('none', cores.core([(0x1000, bytes(PAGE), PAGE)])),
                   *args, elf)
        check(done.returncode == 1 and not done.stdout, f'none {args}: status')


def symbols(elf):
    """The values of an ELF file's dynamic symbols."""
    at, count = struct.unpack_from('<Q', elf, 40)[0], \
        struct.unpack_from('<H', elf, 60)[0]
    sections = [struct.unpack_from('<IIQQQQIIQQ', elf, at + 64 * i)
                for i in range(count)]
    ret = {}
    for kind, offset, size, link in ((s[1], s[4], s[5], s[6]) for s in sections):
        for i in range(offset, offset + size if kind == 11 else offset, 24):
            name, value = struct.unpack_from('<I4xQ', elf, i)
            start = sections[link][4] + name
            ret[elf[start:elf.index(b'\0', start)].decode()] = value
    return ret


def test_dispatch():
    """A packet of a queue leads to a buffer that its header does not show: its
    first entry is not written yet. The code object comes from the core, by the
    list that AMD's note tells of."""
    case, strings = SOUND[2]
    elf = read(case, strings)
    buffer = bytearray(paged(read(case, 'buffer.bin')))
    dump = run('decode', '--buffer', write('dump', bytes(buffer)),
               write('strings', elf))
    assert dump.stdout
    write('co', elf)
    objects = json.loads(run('strings', '-v', '-o', 'json', 'co').stdout
                         .decode().splitlines()[0])
    kernel = next(k for k in objects['kernels'] if k['printf_buffer'] is not None)
    descriptor = symbols(elf)[kernel['name'] + '.kd']
    load, code, lists, ring, arguments, place = (
        0x7f0000000000, 0x100000, 0x200000, 0x300000, 0x400000, 0x500000)
    uri = f'memory://4711#offset={code:#x}&size={len(elf)}'.encode() + b'\0'
    debug = struct.pack('<iiQQiiQ', 10, 0, lists + 64, 0, 0, 0, 0).ljust(64, b'\0') + \
        struct.pack('<QQQQQ', load, lists + 128, 0, 0, 0).ljust(64, b'\0') + uri
    packets = bytearray(PAGE)
    struct.pack_into('<HHHHHHIIIIIQQ', packets, 3 * 64, 0x0b02, 1, 64, 1, 1, 0,
                     64, 1, 1, 0, 0, load + descriptor, arguments)
    given = bytearray(PAGE)
    struct.pack_into('<Q', given, kernel['printf_buffer'], place)
    notes = cores.process(4711, b'app') + cores.gpus(
        lists, [cores.agent()], [cores.queue(number=5, ring=ring, size=PAGE)])
    for first_is_written in True, False:
        if not first_is_written:
            buffer[8:12] = bytes(4)
        core = write('core', cores.core(
            [(code, elf, len(elf)), (lists, paged(debug), PAGE),
             (ring, bytes(packets), PAGE), (arguments, bytes(given), PAGE),
             (place, bytes(buffer), len(buffer))], notes))
        done = run('decode', '--core', core)
        dump = run('decode', '--buffer', write('dump', bytes(buffer)), 'strings')
        check(done.stdout == dump.stdout and done.stdout, 'dispatch: other lines')
        check(f'packet at {ring + 192:#x} of queue 5, of kernel {kernel["name"]}'
              .encode() in done.stderr, f'dispatch: not said: {done.stderr}')
        first = json.loads(run('decode', '-o', 'json', '--core', core).stdout
                           .decode().splitlines()[0])
        check(first['origin'] == {'process': 'app', 'pid': 4711, 'queue': '5',
                                  'device': 'gfx90a, gpu 4711'},
              f'dispatch: origin {first.get("origin")}')
    plain = run('decode', '--core', core, '--address', hex(place), '--size',
                str(len(buffer)))
    check(plain.stdout == dump.stdout, 'dispatch: other lines at its address')


def test_ends():
    """An entry that the buffer's end cuts looks whole in memory, with bytes of
    what lies behind: that is said."""
    for case, strings in (('llpc/corrupt_09_overflow_cuts_entry', 'image.elf'),
                          ('llpc/corrupt_10_overflow_cuts_header', 'image.elf'),
                          ('llpc/x07_overflow_straddles', 'image.elf'),
                          ('gpuav/truncated', None), ('gpuav/cut', None)):
        data = paged(read(case, 'buffer.bin'))
        files = [write('strings', read(case, strings))] if strings else []
        core = cores.core([(0x10000, data, len(data))])
        done = run('decode', '--core', write('core', core), *files)
        check(b': no_end: ' in done.stderr, f'{case}: {done.stderr}')
    case, strings = SOUND[0]
    data = paged(read(case, 'buffer.bin'))
    done = run('decode', '--core', write('core', cores.core(
        [(0x10000, data, len(data))])), write('strings', read(case, strings)))
    check(b'no_end' not in done.stderr, f'{case}: doubted {done.stderr}')


def test_foreign_end():
    """The same where the bytes behind the buffer are somebody's: the entry
    looks sound, and only that it goes over a border speaks against it."""
    case, strings = SOUND[0]
    data = read(case, 'buffer.bin')
    used = struct.unpack_from('<I', data)[0] * 4 + 16
    files = [write('strings', read(case, strings))]
    told = []
    said = run('decode', '-o', 'json', write('dump', data), *files).stdout
    last = [e for e in map(json.loads, said.splitlines())
            if e['type'] == 'entry'][-1]
    size = used - last['offset']
    for shift in range(4, size + 1, 4):
        # So that `shift` bytes of the last entry are in the next page.
        at = 0x100000 - used + shift
        filled = random.Random(shift).randbytes(at % PAGE) + data[:used]
        filled += random.Random(9).randbytes(-len(filled) % PAGE)
        done = run('decode', '--core', write('core', cores.core(
            [(at // PAGE * PAGE, filled, len(filled))])), *files)
        check(done.stdout.count(b'\n') > 0, f'{shift}: {done.stderr}')
        told.append(b': no_end: ' in done.stderr)
    # All of it in the next page: the one before it may have ended there, too.
    check(told[:-1] and all(told[:-1]), f'{told} of {size}')


STRUCTURED = [
    'hostcall/pool_new', 'hostcall/pool_old', 'hostcall/pool_old_of_1',
    'abort/alike_types', 'abort/module_types', 'abort/module_no_nul',
    'gpuav/now', 'gpuav/module', 'gpuav/module_errors', 'gpuav/capture_av_line',
    'gpuav/capture_av_vert', 'debugprintf/capture_types',
    'debugprintf/capture_exact', 'debugprintf/count_large',
    'debugprintf/capture_two_0', 'debugprintf/wrapped',
    *(f'debugprintf/layout_p{i}' for i in range(1, 7))]


def pool_address(buffer, is_new):
    """Where a pool stands: its lowest pointer leads behind its 56 bytes."""
    pointers = struct.unpack_from('<5Q', buffer)
    return (min(pointers) if is_new else pointers[0]) - 56


def test_structured():
    """Buffers that are known by their packets, records and messages."""
    for case in STRUCTURED:
        folder = os.path.join(CASES, case)
        buffer = read(case, 'buffer.bin')
        with open(os.path.join(folder, 'cmd'), encoding='utf-8') as f:
            words = [w for w in shlex.split(f.read())
                     if w not in ('decode', 'buffer.bin', '-v')]
        if '--format' in words:
            at = words.index('--format')
            del words[at:at + 2]
        want = run('decode', '--no-filename', '--format', case.split('/')[0],
                   *words, '--buffer', os.path.abspath(write('dump', buffer)),
                   folder=folder).stdout
        address = pool_address(buffer, 'new' in case) \
            if 'pool' in case else 0x10000
        before = bytes(address % PAGE)
        data = paged(before + buffer)
        core = cores.core([(address - len(before), data, len(data))])
        done = run('decode', '--no-filename', *words, '--core',
                   os.path.abspath(write('core', core)), folder=folder)
        check(done.stdout == want and want,
              f'{case}: {done.stdout[:300]} {done.stderr[:300]}')
        check(f'@{address:#x}: {case.split("/")[0]}, '.encode() in done.stderr,
              f'{case}: which address? {done.stderr[:300]}')


def test_small_numbers():
    """Tables of small numbers, which are ids and sizes as well, are no
    buffers."""
    strings = all_files()
    module = os.path.join(CASES, 'debugprintf/capture_types/types.comp.spv')
    random_ = random.Random(SEED)
    numbers = [0, 0, 1, 2, 3, 4, 8, 16, 64, 4096]
    words = [random_.choice(numbers) for _ in range(1 << 18)]
    table = struct.pack(f'<{len(words)}I', *words)
    done = run('decode', '--core', write('core', cores.core(
        [(0x10000, table, len(table))])), *strings, module)
    check(done.returncode == 1 and not done.stdout,
          f'small numbers: {done.stdout[:200]} {done.stderr[:400]}')


def test_32_bits():
    """The core of a process of 32 bits, its notes and mapped files."""
    case, strings = SOUND[0]
    buffer = paged(read(case, 'buffer.bin'))
    elf = write('strings', read(case, strings))
    dump = lines('--buffer', write('dump', buffer), elf)
    notes = cores.process_32(815, b'old app') + cores.note(
        b'CORE', 6, struct.pack('<4I', 3, 0x8048034, 0, 0)) + cores.files_32(
        [(0x8048000, 0x8049000, 0, b'/bin/old')])
    core = write('core', cores.core_32([(0xf7000000, buffer, len(buffer))],
                                       notes))
    done = run('decode', '--core', core, elf)
    check(done.stdout == dump and b'@0xf7000000: ' in done.stderr,
          f'32 bits: other lines {done.stderr[:300]}')
    first = json.loads(run('decode', '-o', 'json', '--core', core, elf).stdout
                       .decode().splitlines()[0])
    check(first['origin'] == {'process': 'old app', 'pid': 815},
          f'32 bits: {first.get("origin")}')
    info = run('info', core).stdout
    check(b'x86' in info and b'old app' in info, f'32 bits: {info}')
    data = bytearray(cores.core_32([], notes))
    data[5] = 2
    done = run('decode', '--core', write('core', bytes(data)), elf)
    check(done.returncode == 1 and b'big-endian' in done.stderr,
          f'big-endian: {done.stderr}')


def test_exceptions():
    """What the note has of waves: that one of a queue went wrong, and how many
    bytes they left."""
    area = struct.pack('<4I', 64, 16, 80, 512).ljust(PAGE, b'\0')
    status = 1 << 4 | 1 << 22 | 1 << 39
    notes = cores.process(4711, b'app') + cores.gpus(
        0, [cores.agent()], [cores.queue(save=0x20000, n_save=PAGE,
                                         status=status)])
    core = write('core', cores.core([(0x20000, area, PAGE)], notes))
    queue = json.loads(run('info', '-o', 'json', core).stdout)['queues'][0]
    check(queue['exceptions'] == 'wave: memory violation, packet: unsupported'
          ' by the vendor, code 40' and queue['wave_bytes'] == 512,
          f'exceptions: {queue}')
    done = run('info', core)
    check(b'rocgdb' in done.stderr, f'exceptions: {done.stderr}')


class Terminal:
    """A program whose standard error is a terminal; it is held for a while when
    it has run for some time."""

    def __init__(self, *args, held_after=None):
        there, end = pty.openpty()
        with subprocess.Popen([PROGRAM, *args], stdout=subprocess.DEVNULL,
                              stderr=end) as p:
            os.close(end)
            self.stderr = b''
            reader = threading.Thread(target=self.read, args=(there,))
            reader.start()
            if held_after is not None:
                time.sleep(held_after)
                p.send_signal(signal.SIGSTOP)
                time.sleep(1)
                p.send_signal(signal.SIGCONT)
            self.status = p.wait(120)
            reader.join()
        os.close(there)

    def read(self, there):
        try:
            while more := os.read(there, 1 << 16):
                self.stderr += more
        except OSError:  # the other end is closed
            pass


def test_progress():
    """On a terminal a search that takes long says how far it is, and takes that
    line away again; elsewhere none does, unless it is told to."""
    case, strings = SOUND[0]
    elf = write('strings', read(case, strings))
    small = struct.pack('<4096I', *(i % 97 for i in range(4096))) * 64
    buffer = paged(read(case, 'buffer.bin'))
    segments = [(i << 24, small, len(small)) for i in range(1, 513)]
    core = write('core', cores.core([*segments, (1 << 40, buffer, len(buffer))]))
    shown = re.compile(rb'\r\x1b\[K *\d+ % of \d+ MiB searched')
    args = ['decode', '-j', '1', '--core', core, elf]
    # The system says when it is scheduled: until it was held in its search.
    for i in range(60):
        seen = Terminal(*args, held_after=0.02 + i % 20 / 50).stderr
        if shown.search(seen):
            break
    always = run(*args, '--progress', 'always').stderr
    for text in seen, always:
        check(shown.search(text), f'progress: {text}')
        rest = shown.sub(b'', text)
        check(b'searched' not in rest and b'\r\x1b[K' in rest,
              f'progress stays: {text}')
    for text in run(*args).stderr, \
            Terminal(*args, '--progress', 'never', held_after=0.1).stderr:
        check(b'searched' not in text, f'no progress: {text}')


def test_self_pointers():
    """Objects that have the addresses of their own parts are no pools."""
    random_ = random.Random(SEED)
    memory = bytearray(1 << 20)
    for at in range(0, len(memory), 128):
        lowest = 0x10000 + at + 56
        words = [lowest, lowest + 8 * random_.randrange(1, 99),
                 random_.choice([lowest, lowest + 64]), lowest, lowest + 4096,
                 random_.choice([0, 1, 7, lowest]), random_.randrange(1, 9),
                 *(random_.randrange(1 << 40) for _ in range(9))]
        struct.pack_into('<16Q', memory, at, *words)
    core = write('core', cores.core([(0x10000, bytes(memory), len(memory))]))
    done = run('decode', '--core', core, write('strings', read(*SOUND[0])))
    check(done.returncode == 1 and not done.stdout,
          f'self pointers: {done.stdout[:200]} {done.stderr[:400]}')


def test_holes():
    """Headers that speak of gigabytes of holes: these are not read, and what is
    found does not depend on the number of threads."""
    strings = all_files()
    size = 8 << 30
    random_ = random.Random(SEED)
    with open('core', 'wb') as f:
        f.write(cores.core([(1 << 32, b'', size)]))
        f.truncate(PAGE + size)
        f.seek(64 + 56)
        f.write(struct.pack('<IIQQQQQQ', 1, 6, PAGE, 1 << 32, 0, size, size,
                            PAGE))
        for i, (case, _) in enumerate(SOUND):
            f.seek((i + 2) << 30)
            f.write(read(case, 'buffer.bin'))
        for i in range(64):
            f.seek(PAGE + (i << 24))
            for _ in range(32):
                used = random_.randrange(1 << 24, 1 << 29) * 4
                f.write(struct.pack('<IIII', used, used, 1, 7).ljust(64, b'\0'))
                f.write(struct.pack('<II', used // 2 // PAGE * PAGE,
                                    (1 << 30) - PAGE - 8))
                f.write(struct.pack('<II', 1, 7).ljust(56, b'\0'))
    assert os.stat('core').st_blocks * 512 < 1 << 27
    outputs = []
    for threads in '1', '3':
        done = run('decode', '--no-filename', '-j', threads, '--core', 'core',
                   *strings, limit=600)
        outputs.append((done.stdout, done.stderr))
    check(outputs[0] == outputs[1], 'holes: threads make a difference')
    for case, _ in SOUND:
        one = lines('--buffer', write('dump', read(case, 'buffer.bin')),
                    *strings)
        check(one in outputs[0][0], f'holes: {case} is not found')
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    check(peak < 1 << 20, f'holes: {peak} KiB of 8 GiB were in memory')


def test_real():
    """The core of a real process by the debugger, and what it was given."""
    if not shutil.which('gcore'):
        print('no gcore here (Debian: gdb): cores of real processes are left'
              ' out')
        return
    strings = all_files()
    dumps = [write(f'dump{i}', read(case, 'buffer.bin'))
             for i, (case, _) in enumerate(SOUND)]
    holder = subprocess.Popen(
        [sys.executable, os.path.join(HERE, 'holder.py'), *dumps],
        stdout=subprocess.PIPE, text=True)
    addresses = holder.stdout.readline().split()
    made = subprocess.run(['gcore', '-o', 'real', str(holder.pid)],
                          capture_output=True, text=True, check=False)
    holder.kill()
    holder.wait()
    core = f'real.{holder.pid}'
    if not os.path.exists(core):
        print('gcore may not trace here: cores of real processes are left out:',
              made.stderr.strip()[-200:])
        return
    done = run('decode', '--no-filename', '--core', core, *strings)
    want = [lines('--buffer', dump, *strings) for dump in dumps]
    check(len(done.stdout) == sum(map(len, want)) and
          all(w in done.stdout for w in want), 'real: other lines')
    for address, dump, lines_of in zip(addresses, dumps, want):
        one = run('decode', '--core', core, '--address', address, '--size',
                  str(os.path.getsize(dump)), *strings)
        check(one.stdout == lines_of, f'real, {address}: other lines')
    if shutil.which('zstd'):
        subprocess.run(['zstd', '-q', '-o', 'real.zst', core], check=True)
        again = run('decode', '--no-filename', '--core', 'real.zst', *strings)
        check(again.stdout == done.stdout, 'real, zstd: other lines')


def mutations(core, random_, number):
    for _ in range(number):
        data = bytearray(core)
        kind = random_.randrange(4)
        if kind == 0:
            del data[random_.randrange(len(data)):]
        for _ in range(random_.randrange(1, 9) if kind else 0):
            # Mostly headers and notes: the rest is only memory.
            at = random_.randrange(min(len(data), 2048) if kind < 3
                                   else len(data))
            data[at] = random_.choice([0, 1, 0x7f, 0x80, 0xff,
                                       random_.randrange(256)])
        if kind == 2:
            at = random_.randrange(0, 1024, 8)
            struct.pack_into('<Q', data, at, random_.choice(
                [0, 1, 1 << 32, 1 << 63, (1 << 64) - 1, len(data), PAGE]))
        yield kind, bytes(data)


def compress(data):
    return subprocess.run(['zstd', '-q', '-c'], input=data, check=True,
                          capture_output=True).stdout


def packed(kinds, random_, number):
    """Damaged before and after they were compressed, in turn."""
    for i in range(number):
        data = kinds[i // 2 % len(kinds)]
        if i % 2:
            yield from mutations(compress(data), random_, 1)
        else:
            for kind, damaged in mutations(data, random_, 1):
                yield kind, compress(damaged)


def test_mutated():
    random_ = random.Random(SEED)
    strings = all_files()
    segments = [(0x100000 * (i + 1), paged(read(case, 'buffer.bin'))[:65536],
                 65536 << i) for i, (case, _) in enumerate(SOUND)]
    notes = cores.process(4711, b'app') + cores.auxiliary({3: 0x1000}) + \
        cores.files([(0x100000, 0x101000, 0, b'/nowhere')]) + \
        cores.gpus(0x100010, [cores.agent()], [cores.queue(ring=0x100000)])
    core = cores.core(segments, notes)
    old = cores.core_32([(a, b[:65536], n) for a, b, n in segments],
                        cores.process_32(815, b'old') + cores.files_32(
                            [(0x100000, 0x101000, 0, b'/nowhere')]))
    kinds = [core, cores.core(segments, notes, extended=True), old]
    part = MUTATIONS // 6
    n_packed = 2 * part if shutil.which('zstd') else 0
    n_first = MUTATIONS - 2 * part - n_packed
    if not n_packed:
        print('test_mutated: without compressed ones, there is no zstd')
    all_of_them = itertools.chain(
        mutations(core, random_, n_first), mutations(kinds[1], random_, part),
        mutations(old, random_, part), packed(kinds, random_, n_packed))
    for i, (_, data) in enumerate(all_of_them):
        run('decode', '--core', write('core', data), *strings)
        if i % 8 == 0:
            run('decode', '--core', 'core', '--address', '0x100000', '--size',
                '70000', *strings)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f'{MUTATIONS} mutated cores of {len(core)} bytes (seed {SEED}):'
          f' at most {peak // 1024} MiB')


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in (test_sound, test_together, test_absent, test_dispatch,
                     test_structured, test_ends, test_foreign_end, test_small_numbers,
                     test_32_bits, test_exceptions, test_progress,
                     test_self_pointers, test_holes, test_real, test_mutated):
            test()
    sys.exit(bool(wrong))


if __name__ == '__main__':
    PROGRAM, CASES = os.path.abspath(PROGRAM), os.path.abspath(CASES)
    main()
