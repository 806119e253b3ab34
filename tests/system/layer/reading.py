#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How the layer reads buffers: by the device or the processor, as far as they
are used; and what it leaves for the validation layer, and for the service."""
import os
import re
import socket
import struct
import subprocess

from common import (DATA, LAYERS, PLAY, PRINTF, PRINTFDECODE, SHADERS, TIMEOUT_S,
                    check, check_that, decode, main, messages, need,
                    need_validation, run, settings, shader,
                    validation_printed, validation_said, validation_version)


def capacity():
    """A buffer may be larger than what is taken of it: what shaders have
    written counts, and where that is more, it is said."""
    need_validation()
    more = settings(PRINTF, 96 << 20)
    done = run([PLAY, 'print', shader('short'), '2'], PFD_LAYER='to=run.pfcap',
               **more)
    entries, findings = decode('run.pfcap')
    check('messages', messages(entries), [f'short {i}' for i in range(64)])
    check('findings', findings, [])
    check('said', done.stderr, '')
    done = run([PLAY, 'print', shader('short'), '2'],
               PFD_LAYER='buffer_bytes=1024,to=run.pfcap', **more)
    entries, _ = decode('run.pfcap')
    check_that('the first of them', 0 < len(entries) < 64 and
               messages(entries) == [f'short {i}' for i in range(len(entries))],
               entries)
    check_that('no word of it', 'only the first 1024' in done.stderr,
               done.stderr)


def text_of(capture):
    done = subprocess.run([PRINTFDECODE, capture], capture_output=True,
                          timeout=TIMEOUT_S)
    check_that(f'decode {capture}: {done.returncode}', done.returncode == 0,
               done.stderr[-2000:])
    return done.stdout


def copying():
    """Where the device's memory is slow to read, the device copies it, on a
    queue of the layer's own, or of the program if that has all; if that takes
    too long, the processor reads it. What comes out is the same."""
    need_validation()
    below = {'VK_INSTANCE_LAYERS': None, 'PLAY_VALIDATION': '1',
             'PLAY_LAYERS': '1', 'VK_ADD_LAYER_PATH': LAYERS + ':' + os.getcwd(),
             **settings(PRINTF, 16 << 20)}
    texts = []
    for slow, copy, n in (('1', 'gpu', 2), ('1', 'cpu', 0), ('stuck', 'gpu', 2),
                          ('one', 'gpu', 2), ('one', 'cpu', 0)):
        # The program's queue has to be free soon: on a busy machine it is not.
        for _ in range(10):
            done = run([PLAY, 'print', shader('short'), '4000'],
                       PRETEND_SLOW=slow, **below,
                       PFD_LAYER=f'copy={copy},drain=always,to=run.pfcap')
            if slow != 'one' or done.stderr.startswith(f'pretend: {n} copies, '):
                break
        check_that(f'copies, {slow}, {copy}',
                   done.stderr.startswith(f'pretend: {n} copies, '), done.stderr)
        texts.append(text_of('run.pfcap'))
    check('lines', texts[0].count(b'\n'), 32 * 4000)
    check_that('all are the same', texts == texts[:1] * 5)


def repeat(dump, n, behind=0):
    """A file with the dump's entries n times, and bytes behind them."""
    with open(dump, 'rb') as f:
        n_dwords, *rest = struct.unpack('<Q2I', f.read(16))
        entries = f.read(4 * n_dwords)
    with open('dump.bin', 'wb') as f:
        f.write(struct.pack('<Q2I', n_dwords * n, *rest) + entries * n +
                bytes(1024) + b'\xff' * behind)
    return ['dump.bin']


def named_capacity():
    """A named buffer is read as far as its header counts, however large it is;
    if something else is behind that, it goes along."""
    need_validation()
    wanted, _ = decode(f'{DATA}/small.bin', f'{DATA}/app.elf')
    slow = {'PRETEND_SLOW': '1', 'PLAY_BYTES': str(80 << 20),
            'VK_INSTANCE_LAYERS': 'VK_LAYER_PFD_capture:VK_LAYER_PFD_pretend',
            'VK_ADD_LAYER_PATH': LAYERS + ':' + os.getcwd()}
    to = f'quiet=1,strings={DATA}/app.elf,to=run.pfcap'
    n_bytes = []
    for behind in 0, 256:
        dumps = repeat(f'{DATA}/small.bin', 80, behind) * 2
        done = run([PLAY, 'named', *dumps], PFD_LAYER=to, **slow)
        copied = re.search(r'^pretend: \d+ copies, (\d+) bytes$', done.stderr,
                           re.M)
        check_that('copied', copied, done.stderr)
        n_bytes.append(int(copied[1]))
        entries, findings = decode('run.pfcap')
        check('messages', messages(entries), messages(wanted) * 160)
        check('findings', findings, [])
    size = os.path.getsize('dump.bin')
    check_that('as far as it counts', size < n_bytes[0] < 4 * size, n_bytes, size)
    check_that('all where there is more', n_bytes[1] > 64 << 20, n_bytes)
    dumps = repeat(f'{DATA}/small.bin', 80)
    done = run([PLAY, 'named', *dumps], PFD_LAYER='buffer_bytes=4096,' + to[8:],
               **slow)
    check_that('no word of it', 'only the first 4096' in done.stderr, done.stderr)
    entries, _ = decode('run.pfcap')
    check_that('the first of them', 0 < len(entries) < len(wanted) * 80,
               len(entries))


def copying_checked():
    """The same of a named buffer, where the validation layer is below and
    checks what the layer does: it has nothing to say."""
    need_validation()
    wanted, _ = decode(f'{DATA}/small.bin', f'{DATA}/app.elf')
    dumps = repeat(f'{DATA}/small.bin', 80) * 3
    checks = 'VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT'
    for slow, more in (('1', {}), ('1', {'PLAY_TIMELINE': '1'}), ('one', {}),
                       ('one', {'PLAY_TIMELINE': '1'}),
                       ('one', {'PLAY_IDLE': 'queue'}),
                       ('one', {'PLAY_IDLE': 'device'})):
        done = run([PLAY, 'named', *dumps], PRETEND_SLOW=slow, PLAY_LAYERS='1',
                   PLAY_VALIDATION='1', **more, PLAY_BYTES=str(1 << 20),
                   VK_INSTANCE_LAYERS='VK_LAYER_PFD_capture',
                   VK_ADD_LAYER_PATH=LAYERS + ':' + os.getcwd(),
                   PFD_LAYER=f'strings={DATA}/app.elf,to=run.pfcap',
                   **settings(checks, 1024))
        copies = re.search(r'^pretend: (\d+) copies', done.stderr, re.M)
        check_that('copies', copies and int(copies[1]) >= 3, done.stderr)
        entries, findings = decode('run.pfcap')
        check('messages', messages(entries), messages(wanted) * 240)
        check('findings', findings, [])
        check('validation', sorted(set(validation_said('(?:VUID|SYNC)[^ ]*'))),
              [])


def copying_together():
    """Threads share the only queue: no copy comes between their calls, or waits
    for their work."""
    need_validation()
    wanted, _ = decode(f'{DATA}/small.bin', f'{DATA}/app.elf')
    dumps = repeat(f'{DATA}/small.bin', 80)
    n_copies = 0
    for n_threads in 3, 1:
        done = run([PLAY, 'together', str(n_threads), *dumps], PRETEND_SLOW='one',
                   PLAY_BYTES=str(1 << 20), PLAY_LABEL='1',
                   VK_INSTANCE_LAYERS='VK_LAYER_PFD_capture:VK_LAYER_PFD_pretend',
                   VK_ADD_LAYER_PATH=LAYERS + ':' + os.getcwd(),
                   PFD_LAYER=f'quiet=1,strings={DATA}/app.elf,to=run.pfcap')
        copies = re.fullmatch(r'pretend: (\d+) copies, \d+ bytes\n', done.stderr)
        check_that('said', copies, done.stderr)
        n_copies += int(copies[1])
        entries, findings = decode('run.pfcap')
        check('messages', (messages(entries), findings),
              (messages(wanted) * 80 * 5 * n_threads, []))
    check_that('copies', n_copies >= 5, n_copies)


def draining():
    """With drain=1 validation finds nothing in a buffer that was taken; but
    where the program has a messenger for it, or other work that writes the
    buffer runs, it does. Where a buffer is too small, it is said how large one
    has to be."""
    need_validation()
    words = [PLAY, 'print', shader('short'), '2']
    wanted = [f'short {i}' for i in range(64)]
    done = run(words, PFD_LAYER='drain=1,to=run.pfcap', **settings(PRINTF, 1024))
    larger = re.search(r'printf_buffer_size = (\d+) nothing', done.stderr)
    check_that('too small', larger, done.stderr)
    for more, n_said in (('drain=1,', 0), ('', 64)):
        if os.path.exists('log'):
            os.unlink('log')
        done = run(words, PFD_LAYER=more + 'to=run.pfcap', PLAY_SETTLE='1',
                   **settings(PRINTF, larger[1]))
        check('large enough', done.stderr, '')
        entries, findings = decode('run.pfcap')
        check('messages', messages(entries), wanted)
        check('findings', findings, [])
        check('validation', len(validation_printed()), n_said)
    more = settings(PRINTF, 65536)
    for drain, n_heard, n_told in (('1', 64, 1), ('always', 0, 0)):
        done = run(words, PFD_LAYER=f'drain={drain},to=run.pfcap',
                   PLAY_MESSENGER='1', PLAY_SETTLE='1', **more)
        check(f'heard, {drain}', len(re.findall(r'short \d+', done.stdout)),
              n_heard)
        check('told', done.stderr.count('has a messenger for'), n_told)
        entries, _ = decode('run.pfcap')
        check('messages', messages(entries), wanted)
    # The second submission is there, and does not run, when the first is taken.
    # Validation 1.4 reads that on a thread, which may take a while; until 2023
    # it waits for each submission, which none may hold up.
    reads = validation_version() >= [1, 4]
    for ms in ('10', '1000', '10000') if reads else (None,):
        if os.path.exists('log'):
            os.unlink('log')
        run(words, PFD_LAYER='drain=1,to=run.pfcap', PLAY_TWICE='1',
            PLAY_SETTLE=ms, **more)
        entries, _ = decode('run.pfcap')
        check('all', sorted(set(messages(entries))), sorted(wanted))
        if validation_printed():
            break
    check('validation had its turn', validation_printed() != [], reads)


def deaf_service():
    """A service that takes nothing does not hold the program: what does not fit
    into its socket is dropped, after a while that is waited once."""
    need_validation()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind('deaf.sock')
        listener.listen()
        done = run([PLAY, 'print', shader('short'), '2000'],
                   PFD_LAYER='drain=always,wait=50,socket=deaf.sock',
                   **settings(PRINTF, 16 << 20))
        check('said', done.stderr, '')
        connection, _ = listener.accept()
        with connection:
            got = 0
            while part := connection.recv(1 << 20):
                got += len(part)
    check_that('some came', 0 < got < 32 * 2000 * 36, got)


def buffer_bytes():
    """`run` names the size that would have held everything, and takes it."""
    need_validation()
    free = {'VK_INSTANCE_LAYERS': None, 'VK_ADD_LAYER_PATH': None}
    begin = [PRINTFDECODE, 'run', '--vulkan-debug-printf']
    end = ['--', PLAY, 'print', shader('short'), '100']
    wanted = ''.join(f'short {i}\n' for i in range(3200))
    done = run([*begin, *end], **free)
    check('by default', (done.stdout, done.stderr), (wanted, ''))
    done = run([*begin, '--buffer-bytes', '64KiB', *end], **free)
    check_that('fewer', len(done.stdout.splitlines()) < 3200)
    told = re.search(r'with --buffer-bytes (\d+) [^\n]*\n\Z', done.stderr)
    check_that('the last line', told, done.stderr)
    done = run([*begin, '--buffer-bytes', told[1], *end], **free)
    check('with as many', (done.stdout, done.stderr), (wanted, ''))
    done = run([*begin, '--buffer-bytes', '96MiB', *end], **free)
    check('with more', (done.stdout, done.stderr), (wanted, ''))
    # A sanitizer's daemon would not have written all in time when it stops.
    with open(PRINTFDECODE, 'rb') as f:
        n = 5000 if b'__asan_init' in f.read() else 50000
    done = run([*begin, '--buffer-bytes', '96MiB', '--', PLAY, 'print',
                shader('short'), str(n)], **free)
    check('with many', (done.stdout.count('\n'), done.stderr), (32 * n, ''))
    done = run([*begin, '--buffer-bytes', '1MiB', *end], rc=1,
               VK_LAYER_SETTINGS_PATH=os.getcwd(), **free)
    check_that('settings of the program', 'has its own' in done.stderr)


def buffer_bytes_draws():
    """The same of draws, in a program that ends without destroying its
    device."""
    need_validation()
    device = os.path.join(SHADERS, '..', 'device')
    need(f'{device}/vulkan_load', 'program that draws (tests/system/device)')
    free = {'VK_INSTANCE_LAYERS': None, 'VK_ADD_LAYER_PATH': None}

    def draw(n_draws, *options):
        done = run([PRINTFDECODE, 'run', '--vulkan-debug-printf', *options, '--',
                    f'{device}/vulkan_load', 'frames', f'{device}/frame.vert.spv',
                    shader('pixel'), str(n_draws), '1'], **free)
        return sorted(re.findall(r'^pixel.*$', done.stdout, re.M)), done.stderr

    wanted, said = draw(3)
    check('by default', said, '')
    check_that('pixels', len(wanted) >= 3 * 50, len(wanted))
    some, said = draw(3, '--buffer-bytes', '4096')
    check_that('fewer', len(some) < len(wanted), len(some))
    told = re.search(r'with --buffer-bytes (\d+) [^\n]*\n\Z', said)
    check_that('the last line', told, said)
    # The program ends by _Exit(), after its last frame at once: where the machine
    # is busy, the layer's thread has not sent that yet.
    for _ in range(10):
        got = draw(3, '--buffer-bytes', told[1])
        if len(got[0]) == len(wanted):
            break
    check('with as many', got, (wanted, ''))


main({f.__name__: f for f in (
    capacity, named_capacity, copying, copying_checked,
    copying_together, draining, deaf_service,
    buffer_bytes, buffer_bytes_draws)})
