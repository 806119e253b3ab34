#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page.py DAEMON DUMP ELF PROGRAM NODE SCRIPT SHOTS [LIVE GLSLANG]: the live
page in a real browser. page.js drives it, and asks for what is to be printed
meanwhile; its screenshots go into the folder SHOTS. LIVE: vulkan_live, which
runs shaders."""
import json
import math
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'daemon'))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'make'))
sys.path.insert(0, os.path.join(HERE, '..', 'plot'))
import llpc_cases as box  # noqa: E402
import png  # noqa: E402
import spirv_module as spv  # noqa: E402
from harness import (REST, SKIP, Buffer, Daemon, Lacking, dump_frames, frame,  # noqa: E402
                     free_port, need, producer, run)

PROGRAM, NODE, SCRIPT, SHOTS = REST[:4]
VULKAN = REST[4:]
CONFIG = '''log_level: info
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
  - {type: buffer, path: $T/steady, name: steady}
outputs:
  - {type: http, address: "tcp:127.0.0.1:%d"}
'''

SUBMITS = 4
SHADER = '''#version 450
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint submit; };
void main()
{
    uint x = gl_GlobalInvocationID.x & 63u;
    uint y = (gl_GlobalInvocationID.x >> 6) + 16u * submit;
    float value = float((x * 7u + y * 13u) & 255u) * 0.25;
    if (x == y)
        value = uintBitsToFloat(0x7fc00000u);
    if (x == y + 5u)
        value = uintBitsToFloat(0x7f800000u);
    if (x == y + 7u)
        value = uintBitsToFloat(0xff800000u);
    if (x != y + 9u)
        PFD_PRINTF("shaded %u,%u: %f\\n", x, y, value);
}
'''
PIXEL = box.Str(0x1000000000a1, 'pixel %u,%u: %f\n', '448')
LANE = box.Str(0x1000000000a2, 'lane %u says hello\n', '4')
ODD = box.Str(0x1000000000a3, 'nan %f\n', '8')
STEADY = box.Str(0x1000000000a4, 'step %u\n', '4')
LOST = box.Str(0x1000000000a5, 'never loaded %u\n', '4')
HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
EVIL = [box.Str(0x1000000000b1 + i, text) for i, text in enumerate((
    HOSTILE, '"><svg/onload=alert(1)>\n', '\x1b[31m\u202egnp.exe\u0007\n',
    '${alert(1)} {{7*7}} `x` javascript:alert(1)\n', '=cmd|\' /C calc\'!A0\n'))]
LONG = box.Str(0x1000000000a6, 'long %u ' + 'of many words ' * 30 + 'end\n', '4')
STRINGS = [PIXEL, LANE, ODD, STEADY, LONG, *EVIL]
N_STEADY = 8 << 20


class Feeder:
    """What page.js may ask for; each answers when it has been sent."""

    def __init__(self, temp, home):
        self.temp = temp
        self.home = home
        self.socket = f'{temp}/in.sock'
        self.steady = None
        self.path = f'{temp}/steady'
        self.stop = threading.Event()

    def send(self, *frames):
        with producer(self.socket, *frames):
            pass

    def strings(self):
        self.send(frame('code_object', code_object=1, name='page.elf',
                        bytes=box.image(*STRINGS)))

    def buffer(self, name, *entries, used=None):
        data = box.buffer(*entries, used=used)
        self.send(*dump_frames(1, name, data))

    def lanes(self, name, n, first=0):
        self.buffer(name, *(LANE(first + i) for i in range(n)))

    def machines(self):
        """A buffer of one name on two machines, and one on this one."""
        for host, name, n in (('node1', 'farm', 3), ('node2', 'farm', 4),
                              (socket.gethostname(), 'own', 5)):
            data = box.buffer(*(LANE(i) for i in range(n)))
            self.send(frame('hello', host=host), *dump_frames(1, name, data))

    def many(self, n):
        self.buffer('many', *(STEADY(i) for i in range(n)))

    def long(self, n, first=0):
        self.buffer('long', *(LONG(first + i) for i in range(n)))

    def huge(self, size):
        """One message of so many letters."""
        huge = box.Str(0x1000000000a7, 'x' * size + '\n')
        self.send(frame('code_object', code_object=1, name='huge.elf',
                        bytes=box.image(huge)),
                  *dump_frames(1, 'huge', box.buffer(huge())))

    def hostile(self):
        self.buffer(HOSTILE, *(text() for text in EVIL))

    def unknown(self):
        self.buffer('unknown', *(LOST(i) for i in range(3)))

    def empty(self, name):
        """A buffer that nobody has written yet stays open."""
        self.open = producer(self.socket, frame('buffer', buffer=1, name=name,
                                                size=4096),
                             frame('data', buffer=1, bytes=bytes(4096)))

    def small(self):
        """512 bytes too small for what was to be printed."""
        entries = [LANE(i) for i in range(40)]
        body = b''.join(entries)
        self.buffer('small', body, used=len(body) // 4 + 128)

    def picture(self, side=16, shift=0.0, name='picture'):
        self.buffer(name, *(
            PIXEL(x, y, math.sin((x + shift) / 3) * math.cos(y / 3))
            for y in range(side) for x in range(side)))

    def odd(self):
        self.buffer('odd', *(ODD(value) for value in (
            1.0, 2.0, math.nan, math.inf, -math.inf, 2.5)))

    def shader(self):
        """A module that has the source of one file: a record of its line 7, and
        one of the other file."""
        module = spv.Module()
        name = module.string('shaders/reduce.comp')
        lines = [f'// line {i}' for i in range(1, 31)]
        lines[6] = '    debugPrintfEXT("sum %u", sum);'
        module.source(name, '\n'.join(lines) + '\n')
        text = module.string('sum %u')
        module.line(name, 7, 5)
        call = module.call(text, ['u32'])
        bare = module.string('bare %u')
        module.line(module.string('shaders/bare.comp'), 3, 1)
        other = module.call(bare, ['u32'])
        binary = module.bytes()
        data = spv.printf_buffer('p4', [spv.record('p4', 0, module, call, [42]),
                                        spv.record('p4', 0, module, other, [43])])
        self.send(frame('code_object', code_object=7, name='reduce.spv', bytes=binary),
                  frame('shader', shader=0, code_object=7),
                  *dump_frames(1, 'shader', data))

    def shade(self):
        """A compute shader that prints x, y and a value in several submits,
        the first when it is asked to. None: no device, and why."""
        if not VULKAN:
            return 'no Vulkan device, or nothing that compiles shaders'
        at = f'{self.temp}/shaded'
        with open(f'{at}.comp', 'w', encoding='ascii') as f:
            f.write(SHADER)
        for words in ([PROGRAM, 'scan', f'{at}.comp', '-o', f'{at}.gen.comp',
                       '--strings', f'{at}.pfdb', '--set', '0', '--binding',
                       '0'],
                      [VULKAN[1], '-V', f'{at}.gen.comp', '-o', f'{at}.spv']):
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        self.shader_runs = subprocess.Popen(
            [VULKAN[0], self.socket, f'{at}.pfdb', f'{at}.spv', str(SUBMITS)],
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return ''

    def submit(self):
        child = self.shader_runs
        print('', file=child.stdin, flush=True)
        said = child.stdout.readline()
        if said != 'done\n':
            child.stdin.close()
            return said + child.stdout.read()
        return ''

    def shaded(self):
        """It ends; what one command makes of the entries, row by row."""
        with self.shader_runs as child:
            child.stdin.close()
        to = f'{self.temp}/shaded.png'
        subprocess.run(
            [PROGRAM, 'plot', 'heat', '--x', '0', '--y', '1', '--value', '2',
             '--bare', '--live', '--to', to, '--from', 'oldest',
             '--format-string', '^shaded', '--findings', 'no', '--until-idle',
             '1', self.home],
            check=True)
        with open(to, 'rb') as f:
            return [[channel for pixel in row for channel in pixel]
                    for row in png.read(f.read())]

    def run_steady(self, rate, seconds):
        """So many entries a second, a hundredth of a second's at a time."""
        size = len(STEADY(0))
        if not self.steady:
            self.steady = Buffer(self.path, 16 + N_STEADY * size)
            self.written = 0
        end = time.monotonic() + seconds
        batch = max(1, rate // 100)
        while time.monotonic() < end and not self.stop.is_set() and \
                self.written + batch <= N_STEADY:
            begin = time.monotonic()
            entries = b''.join(STEADY(self.written + i) for i in range(batch)) \
                if batch < 1000 else STEADY(self.written) * batch
            at = 16 + self.written * size
            self.steady.memory[at:at + len(entries)] = entries
            self.written += batch
            self.steady.memory[0:8] = struct.pack('<Q', self.written * size // 4)
            time.sleep(max(0.0, begin + 0.01 - time.monotonic()))

    def run(self, rate, seconds):
        self.runs = threading.Thread(target=self.run_steady,
                                     args=(rate, seconds), daemon=True)
        self.runs.start()

    def wait(self):
        self.runs.join()


def check_notes():
    """The page knows the kinds of findings that are notes."""
    root = os.path.join(HERE, '..', '..', '..')
    with open(f'{root}/include/printfdecode/common.h', encoding='utf-8') as f:
        notes = set(re.findall(r' X\((\w+), 1\)', f.read()))
    with open(f'{root}/daemon/web/record.js', encoding='utf-8') as f:
        said = re.search(r'NOTES = new Set\(\[([^]]*)\]', f.read())[1]
    assert notes and set(re.findall(r"'(\w+)'", said)) == notes, notes


def serve(feeder, child):
    for line in child.stdout:
        asked = line.strip()
        if not asked.startswith('{'):
            print(asked, flush=True)
            continue
        what = json.loads(asked)
        answer = getattr(feeder, what.pop('do'))(**what)
        child.stdin.write(json.dumps({'answer': answer}) + '\n')
        child.stdin.flush()


def in_a_browser(temp):
    need('http')
    port = free_port()
    d = Daemon(temp, CONFIG % port)
    feeder = Feeder(temp, f'http://127.0.0.1:{port}/')
    os.makedirs(SHOTS, exist_ok=True)
    check_notes()
    with subprocess.Popen([NODE, SCRIPT, str(port), SHOTS], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        try:
            serve(feeder, child)
            status = child.wait()
        finally:
            feeder.stop.set()
            child.kill()
    if status == SKIP:
        raise Lacking('what a browser takes')
    assert status == 0, status
    d.stop()


run(in_a_browser)
