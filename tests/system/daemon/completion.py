#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""completion.py DAEMON COMMAND: bash, zsh and fish offer what --help of the daemon
has; fish offers what --help of the command has, as options.py says of the others.
zsh and fish run where they are installed. Help that can't be written is an error."""
import os
import re
import shutil
import subprocess
import sys

DAEMON, COMMAND = map(os.path.abspath, sys.argv[1:3])
SHARE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     '../../../share/completions')
ENV = {**os.environ, 'PATH': ':'.join([
    os.path.dirname(DAEMON), os.path.dirname(COMMAND), os.environ['PATH']])}


def said(*words):
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE,
                          env=ENV, cwd='/').stdout


def bash(*words):
    return set(said('bash', '-c', f'''. {SHARE}/printfdecoded.bash
        COMP_WORDS=(printfdecoded {" ".join(words)})
        COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _printfdecoded 2>/dev/null
        printf "%s\\n" "${{COMPREPLY[@]}}"''').split())


def fish(program, line):
    text = said('fish', '-N', '-c',
                f'source {SHARE}/{program}.fish; complete -C "{program} {line}"')
    return {row.split('\t')[0] for row in text.splitlines()}


def options_of(*words):
    return set(re.findall(r'^ +(?:-., )?(--[a-z-]+)', said(*words, '--help'), re.M))


for word in '--help', '--version':
    with open('/dev/full', 'w') as full:
        p = subprocess.run([DAEMON, word], stdout=full, text=True,
                           stderr=subprocess.PIPE, check=False)
    assert p.returncode == 1 and 'standard output' in p.stderr, p
usage = said(DAEMON, '--help')
options = options_of(DAEMON)
verbs = set(re.findall(r'^ +printfdecoded ([a-z-]+) FILE$', usage, re.M))
assert len(verbs) >= 2 and len(options) >= 4, usage
assert bash("''") == verbs, bash("''")
assert bash('--') == options, bash('--')
for before in ['-c'], ['--config'], ['check-config']:
    assert 'etc' in bash(*before, 'et'), before
with open(f'{SHARE}/_printfdecoded', encoding='utf-8') as f:
    zsh = f.read()
for word in options | verbs:
    assert word in zsh, word
if shutil.which('zsh'):
    said('zsh', '-n', f'{SHARE}/_printfdecoded')
else:
    print('zsh is not installed: its syntax is not looked at')
if shutil.which('fish'):
    assert verbs <= fish('printfdecoded', ''), fish('printfdecoded', '')
    assert options <= fish('printfdecoded', '--'), fish('printfdecoded', '--')
    assert 'etc/' in fish('printfdecoded', 'check-config et')
    assert {'decode', 'table', 'run'} <= fish('printfdecode', '')
    for verb in 'decode', 'table', 'scan':
        assert options_of(COMMAND, verb) <= fish('printfdecode', f'{verb} --'), verb
else:
    print('fish is not installed: its offers are not looked at')
