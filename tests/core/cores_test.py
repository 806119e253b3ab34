#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Buffers in cores say what they say in files, byte for byte, with no address
given: in cores made here, in those of a real process, compressed, split, and
damaged in every way.
usage: cores_test.py PRINTFDECODE CASES [MUTATIONS [SEED]]"""
import gzip
import json
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'make'))
import cores  # noqa: E402

PAGE = 4096
PROGRAM, CASES = sys.argv[1:3]
MUTATIONS = int(sys.argv[3]) if len(sys.argv) > 3 else 200
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
# Of each: its folder, the file with its strings.
SOUND = [('llpc/vk_mixed', 'image.elf'), ('hip/compiled_dump', 'app.co'),
         ('opencl/compiled_dump', 'app.co')]
DAMAGED = [('llpc/vk_midflight', 'image.elf'), ('llpc/vk_stale', 'image.elf'),
           ('llpc/vk_wrap64', 'image.elf'), ('llpc/vk_torn', 'image.elf'),
           ('llpc/corrupt_20_hole_mid_flight', 'image.elf'),
           ('hip/mixed_streams', 'app.co'), ('hip/padding_undefined', 'app.co'),
           ('opencl/compiled_overflow', 'app.co')]
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


def run(*args, limit=60):
    done = subprocess.run([PROGRAM, *args], capture_output=True, timeout=limit,
                          check=False)
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
        packed = run('decode', '--no-filename', '--core', 'real.zst', *strings)
        check(packed.stdout == done.stdout, 'real, zstd: other lines')


def mutations(core, random_):
    for _ in range(MUTATIONS):
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


def test_mutated():
    random_ = random.Random(SEED)
    strings = all_files()
    segments = [(0x100000 * (i + 1), paged(read(case, 'buffer.bin'))[:65536],
                 65536) for i, (case, _) in enumerate(SOUND)]
    notes = cores.process(4711, b'app') + cores.auxiliary({3: 0x1000}) + \
        cores.files([(0x100000, 0x101000, 0, b'/nowhere')]) + \
        cores.gpus(0x100010, [cores.agent()], [cores.queue(ring=0x100000)])
    core = cores.core(segments, notes)
    for i, (kind, data) in enumerate(mutations(core, random_)):
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
                     test_real, test_mutated):
            test()
    sys.exit(bool(wrong))


if __name__ == '__main__':
    PROGRAM, CASES = os.path.abspath(PROGRAM), os.path.abspath(CASES)
    main()
