#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs of which nobody says where their buffer is: a compute shader on
lavapipe, an OpenCL kernel on PoCL, and a HIP kernel that is run by this
processor with printf as AMD's compiler lowers it. Each is held while its buffer
is full: the core that gcore makes of it gives the lines of its dump, byte for
byte, with no address given, and so does the living process at the address that
the core has told. What cannot be run is left out with a reason; 77: all is.
usage: devices.py PRINTFDECODE SOURCE_FOLDER RUNNERS"""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

PROGRAM, SOURCES, RUNNERS = map(os.path.abspath, sys.argv[1:4])
HERE = os.path.dirname(os.path.abspath(__file__))
HELLO = f'{SOURCES}/examples/device/hello'
CORE_MAX = 4 << 30


class LeftOut(Exception):
    pass


def call(*args):
    done = subprocess.run(args, capture_output=True, check=False, timeout=200)
    if done.returncode:
        raise LeftOut(f'{args[0]}: {done.stderr.decode()[-300:].strip()}')
    return done.stdout


def need(*names):
    for name in names:
        if not shutil.which(name) and not os.path.exists(name):
            raise LeftOut(f'there is no {name}')


def decode(*args):
    done = subprocess.run([PROGRAM, '--no-filename', *args], check=False,
                          capture_output=True, timeout=200)
    assert done.returncode in (0, 2), (args, done.stderr)
    return done


def spans(pid):
    with open(f'/proc/{pid}/maps') as f:
        return [int(to, 16) - int(at, 16) for at, to in
                re.findall(r'^(\w+)-(\w+) ', f.read(), re.M)]


class Held:
    """A program that writes its dump to a pipe: it cannot go on."""

    def __init__(self, *command):
        os.mkfifo('pipe')
        with open('said', 'wb') as f, open('log', 'wb') as log:
            self.p = subprocess.Popen([*command, 'pipe'], stdout=f, stderr=log)
        # Opened by both ends, or the program has ended before.
        self.pipe = os.open('pipe', os.O_RDONLY | os.O_NONBLOCK)
        self.dump = b''
        os.set_blocking(self.pipe, True)
        while not self.dump:
            self.dump = os.read(self.pipe, 1)
            if not self.dump and self.p.poll() is not None:
                with open('log', encoding='utf-8') as f:
                    raise LeftOut(f'{command[0]}: {f.read().strip()[-300:]}')

    def core(self):
        if max(spans(self.p.pid)) >= 1 << 40:
            raise LeftOut("a sanitizer's terabytes would be in the core")
        done = subprocess.run(
            ['gcore', '-o', 'core', str(self.p.pid)], check=False,
            capture_output=True, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                  (CORE_MAX, CORE_MAX)))
        if not os.path.exists(f'core.{self.p.pid}'):
            raise LeftOut(f'gcore may not trace here: {done.stderr[-200:]}')
        return f'core.{self.p.pid}'

    def end(self):
        """Lets it go on; the whole dump."""
        while more := os.read(self.pipe, 1 << 20):
            self.dump += more
        os.close(self.pipe)
        assert self.p.wait(60) == 0
        return self.dump


def compare(strings, format_name, *command):
    held = Held(*command)
    try:
        core = held.core()
        found = decode('--core', core, strings)
        address = re.search(rb'@(0x[0-9a-f]+): ' + format_name.encode(),
                            found.stderr)
        assert address, found.stderr
        live = decode('--pid', str(held.p.pid), '--address',
                      address[1].decode(), '--size', '1048576', strings)
        with open('dump', 'wb') as f:
            f.write(held.end())
    finally:
        held.p.kill()
        held.p.wait()
    want = decode('--format', format_name, '--buffer', 'dump', strings).stdout
    assert want.count(b'\n') > 100, want
    assert live.stdout == want, (live.stderr[:2000], live.stdout[:200], want[:200])
    assert found.stdout == want, (found.stderr[:2000], found.stdout[:200], want[:200])
    print(f'{command[0].rsplit("/", 1)[-1]}: {want.count(bytes([10]))} lines,'
          f' core of {os.stat(core).st_blocks >> 11} MiB')
    return want


def run_lavapipe():
    runner = f'{RUNNERS}/run_comp'
    need(runner, 'glslangValidator')
    call(PROGRAM, 'scan', f'{HELLO}/hello.comp', '-o', 'gen.comp', '--strings',
         'app.pfdb')
    call('glslangValidator', '-V', 'gen.comp', '-o', 'hello.spv')
    compare('app.pfdb', 'llpc', runner, 'hello.spv', '64', '1', '1', '--to')


def run_pocl():
    runner = f'{RUNNERS}/run_cl'
    need(runner)
    call(PROGRAM, 'scan', f'{HELLO}/hello.cl', '-o', 'gen.cl', '--strings',
         'app.pfdb')
    compare('app.pfdb', 'llpc', runner, 'gen.cl', 'hello', '256', '--to')


def retarget(text):
    """LLVM's assembly for a GPU, as one of this processor's: without address
    spaces, and the buffer is aligned to 4 bytes only."""
    for pattern, by in (
            (r'^target (datalayout|triple) = .*$', ''),
            (r' ?addrspace\(\d+\)', ''),
            (r'\b(protected|hidden|amdgpu_kernel) ', ''),
            (r'"(target-cpu|target-features|amdgpu-[a-z-]+|'
             r'uniform-work-group-size)"="[^"]*"', ''),
            (r'"amdgpu-[a-z-]+"', ''),
            (r'addrspacecast (\([^()]*\)|\S+ \S+) to ptr', r'bitcast \1 to ptr'),
            (r'range\(i32 0, 1024\) ', ''),
            (r'^(\s*store .*), align \d+', r'\1, align 1'),
            (r'@llvm\.amdgcn\.workitem\.id\.x', '@workitem')):
        text = re.sub(pattern, by, text, flags=re.M)
    return text


def run_hip():
    clang = 'clang-19'
    need(clang, 'ld.lld-19', 'cc')
    options = ['-w', '-x', 'hip', '--offload-arch=gfx906', '-nogpuinc',
               '-nogpulib', '-O1', '-mprintf-kind=buffered',
               '--offload-device-only', f'{HERE}/emulated.hip']
    call(clang, '-DFOR_GPU', '--no-gpu-bundle-output', *options, '-c', '-o',
         'app.co')
    call(clang, *options, '-S', '-emit-llvm', '-o', 'gpu.ll')
    with open('gpu.ll', encoding='latin-1') as f:
        text = retarget(f.read())
    with open('host.ll', 'w', encoding='latin-1') as f:
        f.write(text)
    call(clang, '-w', '-O1', '-c', 'host.ll', '-o', 'host.o')
    call('cc', '-O1', '-no-pie', f'{HERE}/emulate.c', 'host.o', '-o', 'emulate')
    want = compare('app.co', 'hip', os.path.abspath('emulate'))
    with open('said', 'rb') as f:
        said = f.read()
    assert want == said, (want[:300], said[:300])


def main():
    done = 0
    if not shutil.which('gcore'):
        print('left out: there is no gcore (Debian: gdb)')
        sys.exit(77)
    for test in run_lavapipe, run_pocl, run_hip:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                test()
                done += 1
            except LeftOut as why:
                print(f'{test.__name__} is left out: {why}')
            os.chdir('/')
    sys.exit(0 if done else 77)


if __name__ == '__main__':
    main()
