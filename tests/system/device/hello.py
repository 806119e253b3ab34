#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hello.py ROOT PRINTFDECODE RUNNERS: the commands of docs/shaders.md
print what stands below them, in whatever order; and the hello example
is built by meson and CMake. Without a device or a tool for some: 77 at the end,
with a reason, once the others are done."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, PROGRAM, RUNNERS = (os.path.abspath(a) for a in sys.argv[1:4])
os.environ['PATH'] = ':'.join([os.path.dirname(PROGRAM), RUNNERS,
                               os.environ['PATH']])
os.environ['PKG_CONFIG_PATH'] = os.path.join(os.path.dirname(PROGRAM), '..',
                                             'meson-uninstalled')
VALIDATION = '/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json'
skipped = []


def sections():
    with open(f'{ROOT}/docs/shaders.md') as f:
        text = f.read()
    inside = r'((?:(?!^```).)*)'
    found = re.findall(rf'^```sh\n{inside}^```\n\n```\n{inside}^```\n', text,
                       re.M | re.S)
    assert len(found) == 3, found
    return found


def has(*tools):
    missing = [t for t in tools if not shutil.which(t)]
    skipped.extend(f'no {t}' for t in missing)
    return not missing


def run(commands):
    return subprocess.run(['sh', '-e', '-c', commands], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def check_commands(commands, wanted):
    if not has(*(t for t in ('glslangValidator', 'run_comp', 'run_cl')
                 if t in commands)):
        return
    if 'vulkan-debug-printf' in commands and not os.path.exists(VALIDATION):
        skipped.append('no validation layer')
        return
    p = run(commands)
    if p.returncode == 77:
        skipped.append(p.stdout.strip())
        return
    lines = p.stdout.splitlines()[-4:]
    assert p.returncode == 0 and sorted(lines) == wanted.splitlines(), p.stdout
    print('ok:', commands.splitlines()[0])


def check_cuda():
    """What CUDA's commands make has its string; to run it takes a GPU, which
    tests/system/device/measure.sh is for."""
    with open(f'{ROOT}/docs/shaders.md') as f:
        commands = re.search(r'^(nvcc .* hello\.cu .*)$', f.read(), re.M)[1]
    if not has('nvcc', 'pkg-config'):
        return
    shutil.copy(f'{ROOT}/examples/device/cuda/hello.cu', '.')
    for more in ('', ' --compress-mode=size', ' --compress-mode=none'):
        p = run(commands + more)
        assert p.returncode == 0, p.stdout
        listed = run('printfdecode strings hello').stdout
        assert 'ray %u t=%f' in listed, (more, listed)
        print('ok:', commands + more)


def check_build(tool, commands):
    if not has(tool, 'glslangValidator'):
        return
    p = run(commands)
    assert p.returncode == 0, p.stdout
    listed = run('printfdecode strings out/shaders.pfdb').stdout
    assert 'of GLSL' in listed and 'of OpenCL' in listed, listed
    assert os.path.getsize('out/hello.spv') > 0
    shutil.rmtree('out')
    print('ok:', tool)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ['POCL_CACHE_DIR'] = folder
        os.chdir(shutil.copytree(f'{ROOT}/examples/device/hello',
                                 f'{folder}/a hello'))
        for commands, wanted in sections():
            check_commands(commands, wanted)
        check_cuda()
        check_build('meson', 'meson setup out && ninja -C out')
        check_build('cmake', 'cmake -B out && cmake --build out')
    print('\n'.join(f'skipped: {why}' for why in skipped))
    sys.exit(77 if skipped else 0)


main()
