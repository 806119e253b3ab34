# SPDX-License-Identifier: MIT
"""What the parts of layer.py and reading.py have in common.

SCRIPT PART FOLDER PRINTFDECODE LAYER_FOLDER PLAY SHADER_FOLDER NULL PRETEND

LAYER_FOLDER has the manifests; NULL and PRETEND are shared objects. A part
that lacks something says what, and exits with 77."""
import glob
import json
import os
import re
import shutil
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


def main(parts):
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
        parts[PART]()
        print(f'{PART}: {time.monotonic() - began:.1f} s')
        os.chdir('/')
