#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""debugPrintf on a GPU: how fast what shaders print comes out, that nothing is
lost, and what the layer costs a program that prints nothing.

vulkan.py FOLDER [ROUNDS]      FOLDER: as pack.sh made it

Prints medians, and exits with 1 if a line is missing or wrong, or if a bar is
missed: with `run` the program ends a second later than without layers, and
eight times as fast as with the validation layer alone; a frame costs its thread
2 % more at most."""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
BYTES = 256 << 20
GROUPS = 16384
MESSAGES = 64 * GROUPS
PAIRS = 21
LAYERS = os.path.join(HERE, 'share/vulkan/explicit_layer.d')
DRIVER = '/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json'
PROGRAM = os.path.join(HERE, 'bin/vulkan_load')
PRINTFDECODE = os.path.join(HERE, 'bin/printfdecode')
RUN = [PRINTFDECODE, 'run', '--vulkan-debug-printf', '--buffer-bytes',
       str(BYTES), '--']
PRINT = [PROGRAM, 'print', os.path.join(HERE, 'flood.comp.spv'), str(GROUPS)]
FRAMES = [PROGRAM, 'frames', os.path.join(HERE, 'frame.vert.spv'),
          os.path.join(HERE, 'frame.frag.spv'), '1000']
VALIDATION = {'VK_INSTANCE_LAYERS': 'VK_LAYER_KHRONOS_validation'}
CAPTURE = {'VK_INSTANCE_LAYERS': 'VK_LAYER_PFD_capture', 'PFD_LAYER':
           'quiet=1,to=frames.pfcap'}
BOTH = {'VK_INSTANCE_LAYERS': 'VK_LAYER_PFD_debug_printf', 'PFD_LAYER':
        'drain=1,to=frames.pfcap'}
failed = []


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith('VK_')}
    env.update(VK_ADD_LAYER_PATH=LAYERS, HOME=os.getcwd(),
               LD_LIBRARY_PATH=':'.join(
                   [os.path.join(HERE, 'lib')] +
                   [p for p in [os.environ.get('LD_LIBRARY_PATH')] if p]))
    for name in 'VK_DRIVER_FILES', 'VK_ICD_FILENAMES':
        if name in os.environ:
            env[name] = os.environ[name]
    if os.path.exists(DRIVER):
        env.setdefault('VK_DRIVER_FILES', DRIVER)
    env.update(more)
    return env


def settings(size):
    """As `run` has them; what validation prints goes to the file `log`."""
    with open('validation.txt', 'w', encoding='utf-8') as f:
        f.write('khronos_validation.enables = '
                'VK_VALIDATION_FEATURE_ENABLE_DEBUG_PRINTF_EXT\n'
                'khronos_validation.printf_enable = true\n'
                'khronos_validation.printf_only_preset = true\n'
                'khronos_validation.printf_to_stdout = false\n'
                'khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n'
                'khronos_validation.report_flags = info,warn,error\n'
                'khronos_validation.enable_message_limit = false\n'
                f'khronos_validation.log_filename = {os.getcwd()}/log\n'
                f'khronos_validation.printf_buffer_size = {size}\n')
    return {'VK_LAYER_SETTINGS_PATH': os.getcwd() + '/validation.txt'}


def fail(text):
    print('FAILED:', text)
    failed.append(text)


def timed(words, out='out', **more):
    began = time.monotonic()
    with open(out, 'wb') as f:
        done = subprocess.run(words, env=environment(**more), stdout=f,
                              stderr=subprocess.PIPE, timeout=300)
    took = time.monotonic() - began
    if done.returncode:
        fail(f'{words[:4]}: {done.returncode}: {done.stderr[-800:]}')
    return took, done.stderr.decode(errors='replace')


def check_lines(what, path):
    """Each invocation's line is there once, and right."""
    seen = bytearray(MESSAGES)
    n = 0
    with open(path, 'rb') as f:
        for line in f:
            m = re.fullmatch(rb'ray (\d+) hit t=([\d.]+) prim (-?\d+)\n', line)
            ray = int(m[1]) if m else MESSAGES
            if ray < MESSAGES and float(m[2]) == ray % 1024 * 0.25 and \
                    int(m[3]) == ray % 4096 - 1:
                seen[ray] += 1
            n += 1
    if n != MESSAGES or seen.count(1) != MESSAGES:
        fail(f'{what}: {n} lines, {seen.count(1)} of {MESSAGES} once')
    return n


def row(what, times, lines, more=''):
    print(f'{what:42} {statistics.median(times):8.3f} s '
          f'({min(times):.3f} to {max(times):.3f}), {lines} lines{more}',
          flush=True)
    return statistics.median(times)


def captured(what, more, rounds=ROUNDS, **env):
    times, err = [], ''
    for _ in range(rounds):
        took, err = timed(RUN + PRINT, PFD_LAYER=more + 'to=run.pfcap', **env)
        times.append(took)
    decode, _ = timed([PRINTFDECODE, 'run.pfcap'], out='decoded')
    row(what, times, check_lines(what, 'decoded'),
        f'; decoded in {decode:.3f} s {err.strip()[-200:]}')


def printing():
    more = settings(BYTES)
    none = row('no layer', [timed(PRINT)[0] for _ in range(ROUNDS)], 0)
    times, err = [], ''
    for _ in range(ROUNDS):
        took, err = timed(RUN + PRINT)
        times.append(took)
    ours = row('run', times, check_lines('run', 'out'), err.strip()[-400:])
    captured('run, into a capture', '')
    captured('run, into a capture, copy=cpu', 'copy=cpu,')
    row('no layer, all queues of a family',
        [timed(PRINT, VULKAN_LOAD_ALL_QUEUES='1')[0] for _ in range(ROUNDS)], 0)
    captured('run, into a capture, all queues', '', VULKAN_LOAD_ALL_QUEUES='1')
    captured('run, into a capture, drain=0', 'drain=0,', min(ROUNDS, 2))
    times, said = [], 0
    for _ in range(min(ROUNDS, 2)):
        if os.path.exists('log'):
            os.unlink('log')
        times.append(timed(PRINT, **VALIDATION, **more)[0])
        with open('log', encoding='utf-8', errors='replace') as f:
            said = sum('ray ' in line for line in f)
    alone = row('the validation layer alone', times, said)
    print(f'run: {ours - none:.3f} s more than no layer; {alone / ours:.1f} '
          'times as fast as the validation layer alone')
    if ours - none > 1:
        fail('more than a second')
    if alone / ours < 8:
        fail('less than eight times as fast')


def frames(what, n, one, other, bar):
    """The median of ratios of pairs, in turn, of n frames each."""
    ratios, firsts = [], []
    for i in range(PAIRS):
        us = []
        for more in (one, other) if i % 2 else (other, one):
            timed([*FRAMES, str(n)], out='us', **more)
            with open('us', encoding='utf-8') as f:
                us.append(float((f.read().split() or ['nan'])[-1]))
        first, second = us if i % 2 else us[::-1]
        ratios.append(second / first)
        firsts.append(first)
    ratio = statistics.median(ratios)
    print(f'frame of 1000 draws, {what}: {statistics.median(firsts):.0f} us, '
          f'with the layer {100 * ratio - 100:+.2f} % (middle half '
          f'{100 * sorted(ratios)[PAIRS // 4] - 100:+.2f} to '
          f'{100 * sorted(ratios)[-PAIRS // 4] - 100:+.2f} %)', flush=True)
    if ratio > bar:
        fail(f'{what}: more than 2 %')


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        timed(PRINT)
        if failed:
            sys.exit(1)
        printing()
        frames('no layer', 501, {}, CAPTURE, 1.02)
        more = settings(1 << 20)
        frames('the validation layer', 101, {**VALIDATION, **more},
               {**BOTH, **more}, 1.02)
        os.chdir('/')
    sys.exit(1 if failed else 0)


main()
