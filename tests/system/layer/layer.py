#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Vulkan layer, with the validation layer on lavapipe, with a driver that
does nothing, and with programs that others wrote.

layer.py PART FOLDER PRINTFDECODE LAYER_FOLDER PLAY SHADER_FOLDER NULL PRETEND

LAYER_FOLDER has the manifests; NULL and PRETEND are shared objects. A part
that lacks something says what, and exits with 77."""
import glob
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

PART = sys.argv[1]
(HERE, PRINTFDECODE, LAYERS, PLAY, SHADERS, NULL,
 PRETEND) = map(os.path.abspath, sys.argv[2:])
DATA = os.path.join(HERE, '..', '..', '..', 'examples', 'data')
BOTH = 'VK_LAYER_PFD_debug_printf'
VALIDATION = '/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json'
PRINTF = 'VK_VALIDATION_FEATURE_ENABLE_DEBUG_PRINTF_EXT'
ADDRESSES = 'VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT'
TIMEOUT_S = 300


def need(path, what):
    if not glob.glob(path) and not shutil.which(path):
        print(f'left out: there is no {what}')
        sys.exit(77)


def need_validation():
    need('/usr/share/vulkan/icd.d/lvp_icd*.json', 'lavapipe (mesa-vulkan-drivers)')
    need(VALIDATION, 'validation layer (vulkan-validationlayers)')


def validation_version():
    with open(VALIDATION, encoding='utf-8') as f:
        return [int(n) for n in
                json.load(f)['layer']['api_version'].split('.')]


def check(what, got, wanted):
    if got != wanted:
        print(f'{what}:\n  got    {got!r}\n  wanted {wanted!r}')
        sys.exit(1)


def check_that(what, holds, *facts):
    if not holds:
        print(f'{what}:', *facts, sep='\n')
        sys.exit(1)


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith('VK_')}
    lavapipe = glob.glob('/usr/share/vulkan/icd.d/lvp_icd*.json')
    env.update(VK_ADD_LAYER_PATH=LAYERS, VK_ICD_FILENAMES=':'.join(lavapipe[:1]),
               VK_INSTANCE_LAYERS=BOTH, LP_NUM_THREADS='0', HOME=os.getcwd())
    env.update(more)
    return {k: v for k, v in env.items() if v is not None}


def run(words, rc=0, **more):
    done = subprocess.run(words, env=environment(**more), capture_output=True,
                          text=True, errors='replace', timeout=TIMEOUT_S)
    check_that(f'{words}: exit status {done.returncode}, not {rc}',
               done.returncode in (rc if isinstance(rc, tuple) else (rc,)),
               done.stdout[-2000:], done.stderr[-2000:])
    return done


def shader(name):
    return os.path.join(SHADERS, name + '.spv')


def settings(enables, size):
    """What the validation layer prints goes to the file `log`."""
    with open('vk_layer_settings.txt', 'w', encoding='utf-8') as f:
        f.write(f'khronos_validation.enables = {enables}\n'
                'khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n'
                'khronos_validation.report_flags = info,warn,perf,error\n'
                'khronos_validation.enable_message_limit = false\n'
                f'khronos_validation.log_filename = {os.getcwd()}/log\n'
                f'khronos_validation.printf_buffer_size = {size}\n')
    return {'VK_LAYER_SETTINGS_PATH': os.getcwd() + '/vk_layer_settings.txt'}


def validation_said(kind):
    """The messages with this id, as the log has them: until 2023, and since."""
    if not os.path.exists('log'):
        return []
    with open('log', encoding='utf-8', errors='replace') as f:
        log = f.read()
    first = r'\[ ' + kind + r' \] '
    return (re.findall(first + r'.*?\| MessageID = 0x[0-9a-f]+ \| (.*?)'
                       r'\n    Objects: ', log, re.S) or
            re.findall(first + r'\| MessageID = 0x[0-9a-f]+\n(.*?)\n(?:\n|\Z)',
                       log, re.S))


def validation_printed():
    """What shaders print, without the words in front of it."""
    return [re.sub(r'\A[^\n]*DebugPrintf:\n', '', said)
            for said in validation_said('(?:UNASSIGNED|VVL)-DEBUG-PRINTF')]


def decode(capture, *more, rc=(0, 2)):
    done = subprocess.run([PRINTFDECODE, '-o', 'json', *more, capture],
                          capture_output=True, text=True, timeout=TIMEOUT_S)
    check_that(f'decode {capture}: {done.returncode}', done.returncode in rc,
               done.stderr)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return ([x for x in lines if x['type'] == 'entry'],
            [x for x in lines if x['type'] == 'finding'])


def messages(entries):
    return [e['message'] for e in entries]


# ---- parts ----

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
    queue of the layer's own; if that takes too long, the processor reads it.
    What comes out is the same."""
    need_validation()
    below = {'VK_INSTANCE_LAYERS': None, 'PLAY_VALIDATION': '1',
             'PLAY_LAYERS': '1', 'VK_ADD_LAYER_PATH': LAYERS + ':' + os.getcwd(),
             **settings(PRINTF, 16 << 20)}
    texts = []
    for slow, copy, n in (('1', 'gpu', 2), ('1', 'cpu', 0), ('stuck', 'gpu', 2)):
        done = run([PLAY, 'print', shader('short'), '4000'], PRETEND_SLOW=slow,
                   PFD_LAYER=f'copy={copy},to=run.pfcap', **below)
        check(f'copies, {slow}, {copy}', done.stderr, f'pretend: {n} copies\n')
        texts.append(text_of('run.pfcap'))
    check('lines', texts[0].count(b'\n'), 32 * 4000)
    check_that('all are the same', texts == texts[:1] * 3)


def copying_checked():
    """The same of a named buffer, where the validation layer is below and
    checks what the layer does: it has nothing to say."""
    need_validation()
    dumps = [f'{DATA}/small.bin'] * 3
    wanted, _ = decode(dumps[0], f'{DATA}/app.elf')
    checks = 'VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT'
    for timeline in None, '1':
        done = run([PLAY, 'named', *dumps], PRETEND_SLOW='1', PLAY_LAYERS='1',
                   PLAY_VALIDATION='1', PLAY_TIMELINE=timeline,
                   VK_INSTANCE_LAYERS='VK_LAYER_PFD_capture',
                   VK_ADD_LAYER_PATH=LAYERS + ':' + os.getcwd(),
                   PFD_LAYER=f'strings={DATA}/app.elf,to=run.pfcap',
                   **settings(checks, 1024))
        copies = re.search(r'^pretend: (\d+) copies$', done.stderr, re.M)
        check_that('copies', copies and int(copies[1]) >= 3, done.stderr)
        entries, findings = decode('run.pfcap')
        check('messages', messages(entries), messages(wanted) * 3)
        check('findings', findings, [])
        check('validation', sorted(set(validation_said('(?:VUID|SYNC)[^ ]*'))),
              [])


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
        done = run(words, PFD_LAYER=more + 'to=run.pfcap',
                   **settings(PRINTF, larger[1]))
        check('large enough', done.stderr, '')
        entries, findings = decode('run.pfcap')
        check('messages', messages(entries), wanted)
        check('findings', findings, [])
        check('validation', len(validation_printed()), n_said)
    more = settings(PRINTF, 65536)
    for drain, n_heard, n_told in (('1', 64, 1), ('always', 0, 0)):
        done = run(words, PFD_LAYER=f'drain={drain},to=run.pfcap',
                   PLAY_MESSENGER='1', **more)
        check(f'heard, {drain}', len(re.findall(r'short \d+', done.stdout)),
              n_heard)
        check('told', done.stderr.count('has a messenger for'), n_told)
        entries, _ = decode('run.pfcap')
        check('messages', messages(entries), wanted)
    if os.path.exists('log'):
        os.unlink('log')
    run(words, PFD_LAYER='drain=1,to=run.pfcap', PLAY_TWICE='1', **more)
    # Until 2023 validation waits for each submission, so that none is left.
    check('validation had its turn', len(validation_printed()) > 0,
          validation_version() >= [1, 4])
    entries, _ = decode('run.pfcap')
    check('all', sorted(set(messages(entries))), sorted(wanted))


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
    done = run([*begin, '--buffer-bytes', '96MiB', '--', PLAY, 'print',
                shader('short'), '50000'], **free)
    check('with many', (done.stdout.count('\n'), done.stderr), (1600000, ''))
    done = run([*begin, '--buffer-bytes', '1MiB', *end], rc=1,
               VK_LAYER_SETTINGS_PATH=os.getcwd(), **free)
    check_that('settings of the program', 'has its own' in done.stderr)


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
    """Four devices that are used at once, each with a stream of its own."""
    need_validation()
    more = settings(PRINTF, 65536)
    run([PLAY, 'threads', '4', shader('short'), '1'],
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
    info = ['vulkaninfo', '--summary']
    synchronization = 'VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION'
    with subprocess.Popen(['Xvfb', '-displayfd', '1', '-noreset', '-nolisten',
                           'tcp'],
                          stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as server:
        display = ':' + server.stdout.readline().strip()
        try:
            for words, enables in ((cube, synchronization), (cube, ADDRESSES),
                                   (cube, PRINTF), (info, synchronization)):
                logs = []
                for layers in ('VK_LAYER_KHRONOS_validation', BOTH):
                    more = settings(enables, 1024)
                    if os.path.exists('log'):
                        os.unlink('log')
                    done = run(words, VK_INSTANCE_LAYERS=layers, PFD_LAYER='to=run.pfcap',
                               DISPLAY=display, **more)
                    check_that('what it says', 'PFD_capture: ' not in done.stderr,
                               done.stderr)
                    logs.append(sorted(set(validation_said('VUID[^ ]*'))))
                check(f'{words}: validation', *logs[::-1])
                if words is cube:
                    check_that('something was taken of nothing',
                               os.path.getsize('run.pfcap') < 400)
        finally:
            server.terminate()


PARTS = {f.__name__: f for f in (
    printing, lines, left_out, losing, capacity, copying,
    copying_checked, draining, buffer_bytes, deaf_service, addresses, lost_validated, named, named_counted, idle,
    inline, order, unknown_errors,
    errors, service, settings_help, threads, devices, together, programs)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open('null.json', 'w', encoding='utf-8') as f:
            json.dump({'file_format_version': '1.0.0', 'ICD': {
                'library_path': NULL, 'api_version': '1.3.0'}}, f)
        with open('pretend.json', 'w', encoding='utf-8') as f:
            json.dump({'file_format_version': '1.1.2', 'layer': {
                'name': 'VK_LAYER_PFD_pretend', 'type': 'GLOBAL',
                'library_path': PRETEND, 'api_version': '1.3.239',
                'implementation_version': '1', 'description': 'for tests'}}, f)
        began = time.monotonic()
        PARTS[PART]()
        print(f'{PART}: {time.monotonic() - began:.1f} s')
        os.chdir('/')


main()
