#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""options.py PRINTFDECODE: every verb and option that --help has is in the
manual page and in the completions of bash and zsh. Help that can't be written is
an error."""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.abspath(sys.argv[1])


def slurp(path):
    with open(f'{ROOT}/{path}') as f:
        return f.read()


def said(*args):
    return subprocess.run([PROGRAM, *args], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def options_of(verb):
    """{name: takes a value}"""
    return {m[1]: bool(m[2]) for m in re.finditer(
        r'^ +(?:-., )?--([a-z-]+)( [A-Z][A-Z=]*)? ',
        said(*verb.split(), '--help'),
        re.M)}


def complete(*words):
    """What bash offers for the last word."""
    script = (f'PATH={os.path.dirname(PROGRAM)}:$PATH\n'
              f'. {ROOT}/share/completions/printfdecode.bash\n'
              f'COMP_WORDS=(printfdecode {" ".join(words)})\n'
              'COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n'
              '_printfdecode 2>/dev/null\n'
              'printf "%s\\n" "${COMPREPLY[@]}"\n')
    p = subprocess.run(['bash', '-c', script], check=True, text=True,
                       stdout=subprocess.PIPE, cwd='/')
    return {word.strip() for word in p.stdout.splitlines()}


def zsh_offers(verb):
    """What zsh is told of a verb: {option: values}."""
    script = ('_arguments() { print -l -- "$@" }\n'
              f'words=(printfdecode {verb} x) CURRENT=3\n'
              f'. {ROOT}/share/completions/_printfdecode\n')
    p = subprocess.run(['zsh', '-f', '-c', script], check=True, text=True,
                       stdout=subprocess.PIPE)
    return {m[1]: set((m[2] or '').split()) for m in re.finditer(
        r'^(?:\([^)]*\))?[*]?--([a-z-]+)[^\n\[]*\[.*?(?:\(([^()]*)\))?$',
        p.stdout, re.M)}


verbs = re.findall(r'^  ([a-z-]+) ', re.search(
    r'^Verbs:\n(.*?)\n\n', said('--help'), re.M | re.S)[1], re.M)
options = {verb: options_of(verb) for verb in verbs}
man = slurp('cli/printfdecode.1').replace('\\-', '-')
zsh = slurp('share/completions/_printfdecode')
wrong = []

assert len(verbs) >= 10 and all(len(o) >= 2 for o in options.values()), options
synopsis = man[man.index('.Sh SYNOPSIS'):man.index('.Sh DESCRIPTION')]
usual = options_of('')
if not 5 <= len(usual) <= 10 or len(set(usual) - set(options['decode'])):
    wrong.append(f'--help without a verb has {sorted(usual)}')
for verb in verbs:
    if not re.search(rf'\bCm {verb}$', synopsis, re.M):
        wrong.append(f'the manual page has no synopsis of {verb}')
    if not re.search(rf'^\.It Cm {verb}\b', man, re.M):
        wrong.append(f'the manual page has no verb {verb}')
    if not re.search(rf"^ +'{verb}:", zsh, re.M):
        wrong.append(f'zsh has no verb {verb}')
    wanted = {f'--{o}=' if value else f'--{o}'
              for o, value in options[verb].items()}
    offered = complete(verb, '--')
    if offered != wanted:
        wrong.append(f'bash, {verb}: {sorted(offered ^ wanted)}')
    if not shutil.which('zsh'):
        continue
    offered = zsh_offers(verb)
    if set(offered) != set(options[verb]):
        wrong.append(f'zsh, {verb}: {sorted(set(offered) ^ set(options[verb]))}')
    forms = offered.get('output')
    if forms and forms != complete(verb, '-o', "''"):
        wrong.append(f'zsh, {verb} -o: {sorted(forms)}')
for verb in set(verbs) - complete("''"):
    wrong.append(f'bash has no verb {verb}')
for words, some in (
        (('help', "''"), {'decode', 'table'}), (('plot', "''"), {'heat', 'line'}),
        (('plot', 'h'), {'heat', 'hist'}), (('decode', '-o', 'p'), {'perfetto'}),
        (('decode', '--show', 'time,l'), {'time,line', 'time,lane'}),
        (('table', '--agg', 'p'), {'p50', 'p99'}),
        (('run', '--', 'bas'), {'bash'})):
    if not some <= complete(*words):
        wrong.append(f'bash: {words} gives {sorted(complete(*words))[:9]}')
for word in ('heat hist scatter line', '_command_names', 'words[2] == help'):
    if word not in zsh:
        wrong.append(f'zsh has no {word}')
for option in sorted({o for all_of in options.values() for o in all_of}):
    if not re.search(rf'Fl -{option}\b', man):
        wrong.append(f'the manual page has no --{option}')
    if not re.search(rf"--{option}[=\[}},']", zsh):
        wrong.append(f'zsh has no --{option}')
for words in [['--help'], ['--version'], ['help', 'decode'],
              *([verb, '--help'] for verb in verbs)]:
    with open('/dev/full', 'w') as full:
        p = subprocess.run([PROGRAM, *words], stdout=full, text=True,
                           stderr=subprocess.PIPE, check=False)
    if p.returncode != (2 if words[0] == 'diff' else 1) or \
            'standard output' not in p.stderr:
        wrong.append(f'{words} into a full disk: {p.returncode} {p.stderr}')
if not shutil.which('zsh'):
    print('zsh is not installed: its options are not compared verb by verb')
print('\n'.join(wrong) or f'{len(verbs)} verbs')
sys.exit(bool(wrong))
