#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Vulkan layer, with the validation layer on lavapipe, with a driver that
does nothing, and with programs that others wrote."""
import glob
import os
import re
import shutil
import struct
import subprocess
import sys

from common import (ADDRESSES, BOTH, DATA, HERE, LAYERS, PLAY, PRETEND, PRINTF,
                    PRINTFDECODE, TIMEOUT_S, VALIDATION, check, check_that,
                    decode, main, messages, need, need_validation, run,
                    settings, shader, validation_printed, validation_said,
                    validation_version)


def printing():
    """What the validation layer prints, we print; and who printed it."""
    need_validation()
    more = settings(PRINTF, 65536)
    run([PLAY, 'print', shader('values'), '3', shader('short'), '1'],
        PLAY_IDLE='device', PFD_LAYER='to=run.pfcap', **more)
    said = validation_printed()
    entries, findings = decode('run.pfcap', '--compat', 'khronos')
    check('messages', messages(entries), said)
    check('how many', len(said), 3 * 4 * 11 + 1 + 32)
    check('findings', [f['kind'] for f in findings], [])
    entries, findings = decode('run.pfcap')
    check('messages in our words', messages(entries), said)
    origin = entries[0]['origin']
    check('names', [origin['labels'][k] for k in ('pipeline', 'command_buffer')],
          ['values.spv', 'frame'])
    check('origin', [origin[k] for k in ('pipeline_type', 'stage')],
          ['compute', 'compute'])
    check('the last one', entries[-1]['origin']['labels']['pipeline'],
          'short.spv')


def lines():
    """What the validation layer made of a module has lost the lines of calls;
    the module itself, given to the layer or to who decodes, has them."""
    need_validation()
    more = settings(PRINTF, 65536)
    with open(os.path.join(HERE, 'lines.comp'), encoding='utf-8') as f:
        wanted = {text: number for number, line in enumerate(f, 1)
                  for text in re.findall(r'debugPrintfEXT\("([^"]*)', line)}
    for name in 'lines_g', 'lines_gVS':
        module = shader(name)
        for given, decoded in (f'strings={module},', []), ('', [module]):
            run([PLAY, 'print', module, '1'], PFD_LAYER=given + 'to=run.pfcap',
                **more)
            entries, findings = decode('run.pfcap', *decoded)
            check('findings', findings, [])
            check('how many', len(entries), 9)
            for e in entries:
                check(f'line of {e["message"]}', e['origin'].get('line'),
                      wanted[e['format_string']])
                check_that('file', e['origin']['file'].endswith('lines.comp'), e)


def left_out():
    """A call that validation leaves out is said once, with its line; all others
    print."""
    need_validation()
    if validation_version() < [1, 3, 296]:
        print('left out: this validation layer checks no formats, and some of '
              'these end it')
        sys.exit(77)
    more = settings(PRINTF, 65536)
    with open(os.path.join(HERE, 'left_out.comp'), encoding='utf-8') as f:
        calls = {number: text for number, line in enumerate(f, 1)
                 for text in re.findall(r'debugPrintfEXT\("([^"]*)', line)}
    module = shader('left_out')
    done = run([PLAY, 'print', module, '1', module, '1'], PLAY_IDLE='device',
               PFD_LAYER='to=run.pfcap', **more)
    entries, _ = decode('run.pfcap')
    printed = [e['format_string'] for e in entries]
    check('each twice', {printed.count(text) for text in printed}, {2})
    said = re.findall(r'^\S*left_out\.comp:(\d+): validation prints nothing of '
                      r'"(.*)": .+$', done.stderr, re.M)
    check('said', [(int(number), text) for number, text in said],
          [call for call in calls.items() if call[1] not in printed])
    check_that('the first and the last', 'first %u' in printed and
               'last %u' in printed, printed)


def losing():
    """What the validation layer loses, we have: until 2023 it clears as much as
    shaders wanted to write, and that is the buffers behind as well."""
    need_validation()
    more = settings(PRINTF, 1024)
    run([PLAY, 'print', shader('short'), '8', shader('short'), '1',
         shader('short'), '1'], PLAY_IDLE='device', PFD_LAYER='to=run.pfcap',
        **more)
    said = [m for m in validation_printed() if m.startswith('short ')]
    entries, findings = decode('run.pfcap')
    check_that('it prints no more', len(said) <= len(entries), said)
    check('the first of ours', messages(entries)[:len(said)], said)
    begin, second = (e['offset'] for e in entries[:2])
    check('how many', len(entries), 3 * ((1024 - begin) // (second - begin)))
    check('what shaders lost', [f['kind'] for f in findings], ['overflow'] * 3)


def addresses():
    """An error of GPU-assisted validation; with its line where validation hands
    down the module as the program has it."""
    need_validation()
    more = settings(ADDRESSES, 1024)
    run([PLAY, 'print', shader('address'), '1'], PLAY_IDLE='device',
        PFD_LAYER='to=run.pfcap', **more)
    said = validation_said('UNASSIGNED-Device address out of bounds')
    entries, _ = decode('run.pfcap')
    check('how many', (len(said), len(entries)), (1, 1))
    for message in said[0], messages(entries)[0]:
        check_that('the message', 'device address' in message.lower(), message)
    origin = entries[0]['origin']
    check('origin', [origin['labels'].get('pipeline'), origin['stage']],
          ['address.spv', 'compute'])
    done = run([PRINTFDECODE, 'info', 'run.pfcap'])
    n_modules = done.stdout.count('object: name module ')
    check_that('modules', n_modules in (1, 2), done.stdout)
    check('the newer ones hand it down', n_modules == 2,
          validation_version() >= [1, 4])
    if n_modules == 2:
        check('place', [os.path.basename(origin['file']), origin['line']],
              ['address.comp', 12])


def lost_validated():
    """The device is lost and nothing can be mapped: what was printed comes
    out, of buffers that the validation layer had not mapped. (Validation layers
    of 2025 abort programs that end without destroying their device.)"""
    need_validation()
    more = settings(PRINTF, 65536)
    run([PLAY, 'print', shader('short'), '2'], rc=(3, -6), PRETEND_LOST='1',
        VK_INSTANCE_LAYERS=None, PLAY_VALIDATION='1', PLAY_LAYERS='1',
        VK_ADD_LAYER_PATH=LAYERS + ':' + os.getcwd(),
        PFD_LAYER='to=run.pfcap', **more)
    entries, _ = decode('run.pfcap')
    check('messages', messages(entries), [f'short {i}' for i in range(64)])
    check('label', entries[0]['origin']['labels']['device'], 'lost')


def named():
    """A named buffer, which is filled thrice; the host maps it meanwhile. On a
    driver that does nothing else, and lost after the second."""
    dumps = [f'{DATA}/{n}.bin' for n in ('small', 'small', 'h200_cut')]
    wanted = []
    for dump in dumps:
        entries, _ = decode(dump, f'{DATA}/app.elf')
        wanted.append(messages(entries))
    null = {'VK_ICD_FILENAMES': os.getcwd() + '/null.json',
            'VK_INSTANCE_LAYERS': 'VK_LAYER_PFD_capture'}
    done = run([PLAY, 'named', *dumps], PFD_LAYER='to=run.pfcap', **null)
    check_that('no word about validation', 'validation layer is not there' in
               done.stderr, done.stderr)
    info = subprocess.run([PRINTFDECODE, 'info', '-o', 'json', 'run.pfcap'],
                          capture_output=True, text=True, timeout=TIMEOUT_S)
    check('info', info.returncode, 0)
    entries, _ = decode('run.pfcap', f'{DATA}/app.elf')
    # In a buffer that is larger than the dump, what was cut is missing.
    check('messages', messages(entries)[:len(wanted[0]) * 2],
          wanted[0] + wanted[1])
    done = run([PLAY, 'named', *dumps], rc=3, NULL_LOST='2',
               PFD_LAYER='to=lost.pfcap', **null)
    check_that('no word about the loss', 'the device is lost' in done.stderr,
               done.stderr)
    entries, findings = decode('lost.pfcap', f'{DATA}/app.elf')
    check('messages of the lost', messages(entries), wanted[0] + wanted[1])
    check('findings of the lost', findings, [])


def idle():
    """The same where nothing but an idle queue or device says that the GPU has
    finished, and where that is what says that it is lost."""
    dumps = [f'{DATA}/small.bin'] * 3
    entries, _ = decode(dumps[0], f'{DATA}/app.elf')
    null = {'VK_ICD_FILENAMES': os.getcwd() + '/null.json',
            'VK_INSTANCE_LAYERS': 'VK_LAYER_PFD_capture',
            'PFD_LAYER': f'strings={DATA}/app.elf,to=run.pfcap'}
    for what in 'queue', 'device':
        run([PLAY, 'named', *dumps], PLAY_IDLE=what, **null)
        got, findings = decode('run.pfcap')
        check(f'messages, {what}', messages(got), messages(entries) * 3)
        check('findings', findings, [])
        run([PLAY, 'named', *dumps], rc=3, PLAY_IDLE=what, NULL_LOST='2', **null)
        got, findings = decode('run.pfcap')
        check(f'lost, {what}', messages(got), messages(entries) * 2)


def unknown_errors():
    """Validation has changed a module so that it looks for errors, and no
    buffer that these are written to is seen: it is said."""
    shutil.copy(PRETEND, 'libVkLayer_khronos_validation.so')
    name = b'inst_check\0\0'
    words = [0x07230203, 0x10300, 0, 5, 0, (2 + len(name) // 4) << 16 | 5, 1]
    for path, changed in ('changed.spv', name), ('own.spv', b'main_check\0\0'):
        with open(path, 'wb') as f:
            f.write(struct.pack('<7I', *words) + changed)
    null = {'VK_ICD_FILENAMES': os.getcwd() + '/null.json',
            'VK_INSTANCE_LAYERS': 'VK_LAYER_PFD_capture',
            'LD_PRELOAD': os.getcwd() + '/libVkLayer_khronos_validation.so'}
    for path, take, times in (('changed.spv', '', 1), ('own.spv', '', 0),
                              ('changed.spv', 'take=debugprintf,', 0)):
        done = run([PLAY, 'print', path, '1', path, '1'],
                   PFD_LAYER=take + 'to=run.pfcap', **null)
        check(f'said of {path} {take}',
              done.stderr.count('GPU-assisted validation is on'), times)


def inline():
    """Shaders that never are a module go along: those of a pipeline itself, and
    shader objects."""
    null = {'VK_ICD_FILENAMES': os.getcwd() + '/null.json',
            'VK_INSTANCE_LAYERS': 'VK_LAYER_PFD_capture',
            'PFD_LAYER': 'to=run.pfcap'}
    for as_object in None, '1':
        run([PLAY, 'named', f'{DATA}/small.bin'], PLAY_OBJECT=as_object,
            PLAY_SHADER=shader('values'), **null)
        done = subprocess.run([PRINTFDECODE, 'strings', 'run.pfcap'],
                              capture_output=True, text=True, timeout=TIMEOUT_S)
        check_that('the strings of the shader', 'iv %v3d uv %v2u' in done.stdout,
                   as_object, done.stdout, done.stderr)


def shader_objects():
    """VVL#12597: validation has not changed a shader object that prints: it is
    said, unless it is a pipeline's, or prints nothing, or debugPrintf is not
    asked for."""
    shutil.copy(PRETEND, 'libVkLayer_khronos_validation.so')
    null = {'VK_ICD_FILENAMES': os.getcwd() + '/null.json',
            'VK_INSTANCE_LAYERS': 'VK_LAYER_PFD_capture',
            'LD_PRELOAD': os.getcwd() + '/libVkLayer_khronos_validation.so'}
    with open(shader('values'), 'rb') as f:
        code = f.read()
    name = b'inst_printf\0'
    words = struct.pack('<2I', (2 + len(name) // 4) << 16 | 5, 1) + name
    with open('changed.spv', 'wb') as f:
        f.write(code[:20] + words + code[20:])
    with open('quiet.spv', 'wb') as f:
        f.write(code[:20])
    for path, as_object, take, times in (
            (shader('values'), '1', '', 1), (shader('values'), None, '', 0),
            ('changed.spv', '1', '', 0), ('quiet.spv', '1', '', 0),
            (shader('values'), '1', 'take=gpuav,', 0)):
        done = run([PLAY, 'named', f'{DATA}/small.bin'], PLAY_OBJECT=as_object,
                   PLAY_SHADER=path, PFD_LAYER=take + 'to=run.pfcap', **null)
        check(f'said of {path} {as_object} {take}',
              done.stderr.count('shader objects (vkCreateShadersEXT)'), times)


def named_counted():
    """The same on lavapipe, waiting for timeline semaphores, with the format
    strings in the capture, and with the daemon."""
    need_validation()
    dumps = [f'{DATA}/small.bin'] * 3
    entries, _ = decode(dumps[0], f'{DATA}/app.elf')
    wanted = messages(entries) * 3
    strings = f'strings={DATA}/app.elf'
    for timeline in '1', None:
        run([PLAY, 'named', *dumps], PLAY_TIMELINE=timeline,
            PFD_LAYER=f'{strings},to=run.pfcap')
        entries, findings = decode('run.pfcap')
        check('messages', messages(entries), wanted)
        check('findings', findings, [])
        done = run([PRINTFDECODE, 'run', '--vulkan-debug-printf', '--', PLAY,
                    'named', *dumps], PLAY_TIMELINE=timeline, PFD_LAYER=strings,
                   VK_INSTANCE_LAYERS=None, VK_ADD_LAYER_PATH=None)
        check('lines', done.stdout, ''.join(wanted))


def order():
    """A wrong order is said, also where the program enables validation."""
    need_validation()
    wrong = {'VK_INSTANCE_LAYERS': 'VK_LAYER_PFD_capture',
             'PLAY_VALIDATION': '1', 'PFD_LAYER': 'to=run.pfcap'}
    done = run([PLAY, 'print', shader('short'), '1'], **wrong)
    check('said once', done.stderr.count('wrong order'), 1)
    done = run([PLAY, 'print', shader('short'), '1'], **{
        **wrong, 'VK_INSTANCE_LAYERS': BOTH}, **settings(PRINTF, 4096))
    check('right order', done.stderr, '')
    entries, _ = decode('run.pfcap')
    check('how many', len(entries), 32)
    done = run([PLAY, 'print', shader('short'), '1'],
               **{**wrong, 'PFD_LAYER': 'quiet=1,to=run.pfcap'})
    check('quiet', done.stderr, '')


def service():
    """Nobody listens: it is said once, and the program goes on. Then somebody
    does: `run` shows the lines."""
    need_validation()
    more = settings(PRINTF, 65536)
    done = run([PLAY, 'print', shader('short'), '1', shader('short'), '1'],
               PRINTFDECODE_DIR=os.getcwd(), **more)
    check('said once', done.stderr.count('nobody listens at'), 1)
    done = run([PRINTFDECODE, 'run', '--vulkan-debug-printf', '--', PLAY, 'print',
                shader('short'), '2'], VK_INSTANCE_LAYERS=None,
               VK_ADD_LAYER_PATH=None)
    check('lines', done.stdout.splitlines(), [f'short {i}' for i in range(64)])
    check('errors', done.stderr, '')
    os.mkdir('vulkan')
    done = run([PRINTFDECODE, 'run', '--vulkan-debug-printf', '--', PLAY, 'print',
                shader('short'), '2'], rc=1, VK_INSTANCE_LAYERS=None,
               VK_ADD_LAYER_PATH=None, VK_LAYER_PATH=os.getcwd() + '/vulkan')
    check_that('what is missing', 'no validation layer where VK_LAYER_PATH' in
               done.stderr, done.stderr)
    shutil.copy(VALIDATION, 'vulkan')
    done = run([PRINTFDECODE, 'run', '--vulkan-debug-printf', '--', PLAY, 'print',
                shader('short'), '2'], VK_INSTANCE_LAYERS=None,
               VK_ADD_LAYER_PATH=None, VK_LAYER_PATH=os.getcwd() + '/vulkan')
    check('lines of that', done.stdout.splitlines(),
          [f'short {i}' for i in range(64)])


def errors():
    """`run` tells validation's errors on standard error, and nothing else: the
    program's folder and its standard output stay as they are."""
    need_validation()
    with open('stderr', 'w', encoding='utf-8') as f:
        f.write('mine')
    folder = sorted(glob.glob('*'))
    free = {'VK_INSTANCE_LAYERS': None, 'VK_ADD_LAYER_PATH': None}
    done = run([PRINTFDECODE, 'run', '--vulkan-debug-printf', '--', PLAY, 'print',
                shader('short'), '1'], **free)
    check('lines', done.stdout, ''.join(f'short {i}\n' for i in range(32)))
    check('no error', done.stderr, '')
    done = run([PRINTFDECODE, 'run', '--vulkan-gpu-validation', '--', PLAY, 'print',
                shader('address'), '1'], PLAY_IDLE='device', **free)
    check_that('decoded', re.fullmatch(r'.*address.*\n', done.stdout), done.stdout)
    check_that('told', done.stderr.startswith('validation: ') and
               '0x123450' in done.stderr, done.stderr)
    done = run([PRINTFDECODE, 'run', '--vulkan-gpu-validation', '--', PLAY, 'print',
                shader('address'), '1'], PLAY_IDLE='device',
               PFD_LAYER='errors=0', **free)
    check('not told', done.stderr, '')
    done = run([PRINTFDECODE, 'run', '--vulkan-debug-printf',
                '--vulkan-gpu-validation', '--', PLAY, 'print', shader('short'),
                '1'], **free)
    check_that('both, or it is told that not',
               done.stdout.startswith('short 0\n') or
               'Debug Printf' in done.stderr, done.stdout, done.stderr)
    check('folder', sorted(glob.glob('*')), folder)
    with open('stderr', encoding='utf-8') as f:
        check('file', f.read(), 'mine')


def settings_help():
    """PFD_LAYER=help says what there is; what is not there is said."""
    null = {'VK_ICD_FILENAMES': os.getcwd() + '/null.json',
            'VK_INSTANCE_LAYERS': 'VK_LAYER_PFD_capture'}
    dump = f'{DATA}/small.bin'
    done = run([PLAY, 'named', dump], PFD_LAYER='help,to=x.pfcap', **null)
    keys = re.findall(r'^  ([a-z_]+) *=', done.stderr, re.M)
    check_that('keys', len(keys) >= 8 and 'to' in keys, done.stderr)
    with open(os.path.join(HERE, '../../../src/layer/printfdecode-layer.7'),
              encoding='utf-8') as f:
        manual = f.read()
    for key in keys:
        check_that(f'the manual page has no {key}',
                   f'.It Cm {key}' in manual)
    done = run([PLAY, 'named', dump], PFD_LAYER='wait=x,nothing,to=y.pfcap', **null)
    check_that('complaints', "'x' cannot be wait" in done.stderr and
               "there is no 'nothing'" in done.stderr, done.stderr)
    done = run([PLAY, 'named', dump], PFD_LAYER='to=/nowhere/x.pfcap', **null)
    check_that('no file', '/nowhere/x.pfcap: No such file' in done.stderr,
               done.stderr)
    run([PLAY, 'named', dump], PFD_LAYER='take=debugprintf,to=z.pfcap', **null)
    entries, _ = decode('z.pfcap', rc=(0, 1, 2))
    check('nothing taken', entries, [])


def threads():
    """Four devices that are used at once, each with a stream of its own. The
    program waits for the device before it records again: where validation 1.4
    is late, it clears what the next submission has printed."""
    need_validation()
    more = settings(PRINTF, 65536)
    run([PLAY, 'threads', '4', shader('short'), '1'], PLAY_SETTLE='1',
        PFD_LAYER='to=run.%n.pfcap', **more)
    for n in range(1, 5):
        entries, findings = decode(f'run.{n}.pfcap')
        check(f'device {n}', (len(entries), findings), (5 * 32, []))


def devices():
    """Threads that make, use and end devices, without regard to each other. (On
    the driver that does nothing, without the validation layer, which does not
    survive that.)"""
    run([PLAY, 'devices', '4'], VK_ICD_FILENAMES=os.getcwd() + '/null.json',
        VK_INSTANCE_LAYERS='VK_LAYER_PFD_capture', PFD_LAYER='to=run.%n.pfcap')
    check('captures', sorted(glob.glob('run.*.pfcap')),
          sorted(f'run.{n}.pfcap' for n in range(1, 4 * 5 + 1)))
    check_that('said who writes',
               all(os.path.getsize(f) > 32 for f in glob.glob('run.*.pfcap')))


def together():
    """Four threads on one device. (Without the validation layer, which does
    not survive that.)"""
    need('/usr/share/vulkan/icd.d/lvp_icd*.json', 'lavapipe (mesa-vulkan-drivers)')
    wanted, _ = decode(f'{DATA}/small.bin', f'{DATA}/app.elf')
    run([PLAY, 'together', '4', f'{DATA}/small.bin'],
        VK_INSTANCE_LAYERS='VK_LAYER_PFD_capture',
        PFD_LAYER=f'strings={DATA}/app.elf,to=run.pfcap')
    entries, findings = decode('run.pfcap')
    check('together', (messages(entries), findings),
          (messages(wanted) * 20, []))


def programs():
    """Programs that know nothing of it: unharmed, and nothing that validation
    has to say comes from us."""
    need_validation()
    need('vkcube', 'vkcube (vulkan-tools)')
    need('Xvfb', 'Xvfb (xvfb)')
    cube = ['vkcube', '--c', '20']
    mark = ['vkmark', '--winsys', 'xcb', '-s', '160x120', '-b',
            'vertex:duration=0.2', '-b', 'effect2d:duration=0.2']
    info = ['vulkaninfo', '--summary']
    synchronization = 'VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION'
    with subprocess.Popen(['Xvfb', '-displayfd', '1', '-noreset', '-nolisten',
                           'tcp'],
                          stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as server:
        display = ':' + server.stdout.readline().strip()
        try:
            for words, enables in ((cube, synchronization), (cube, ADDRESSES),
                                   (cube, PRINTF), (info, synchronization),
                                   (mark, synchronization), (mark, PRINTF)):
                if not shutil.which(words[0]):
                    print(f'left out: there is no {words[0]}')
                    continue
                logs = []
                for layers in ('VK_LAYER_KHRONOS_validation', BOTH):
                    more = settings(enables, 1024)
                    if os.path.exists('log'):
                        os.unlink('log')
                    done = run(words, VK_INSTANCE_LAYERS=layers, PFD_LAYER='to=run.pfcap',
                               DISPLAY=display, **more)
                    check_that('what it says', 'PFD_capture: ' not in done.stderr,
                               done.stderr)
                    # vkmark acquires images as it likes, on some runs.
                    logs.append(sorted(
                        {said for said in validation_said('VUID[^ ]*')
                         if words is not mark or
                         'vkAcquireNextImageKHR-semaphore-01779' not in said}))
                check(f'{words}: validation', *logs[::-1])
                if words is not info:
                    check_that('something was taken of nothing',
                               os.path.getsize('run.pfcap') < 400)
        finally:
            server.terminate()


main({f.__name__: f for f in (
    printing, lines, left_out, losing, addresses, lost_validated, named,
    named_counted, idle, inline, shader_objects, order, unknown_errors, errors, service,
    settings_help, threads, devices, together, programs)})
