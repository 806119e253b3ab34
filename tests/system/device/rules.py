#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rules.py PRINTFDECODE RUNNER [GLSLANG]: what a control block says may be
printed is printed, all else is counted, and origins say where lines come from.
With a GLSL compiler RUNNER is run_comp, else run_cl. Exit status 77: there is
no device."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM, RUNNER = (os.path.abspath(a) for a in sys.argv[1:3])
GLSLANG = sys.argv[3] if len(sys.argv) > 3 else None
NAME = 'rules.comp' if GLSLANG else 'rules.cl'
THREADS, GROUP = 256, 64
LINES = {'first': 9, 'second': 11, 'third': 12, 'evaluated': 14}
ALL = {'first': THREADS, 'second': 4 * THREADS, 'third': THREADS,
       'evaluated': 1}


def call(*args, ok=(0,)):
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True)
    if p.returncode == 77:
        print('skipped:', p.stderr.strip())
        sys.exit(77)
    assert p.returncode in ok, (args, p.returncode, p.stdout, p.stderr)
    return p


def scan(*options, defines=()):
    out = 'out.' + NAME.split('.')[1]
    call(PROGRAM, 'scan', '--force', os.path.join(HERE, NAME), '-o', out,
         '--strings', 'app.pfdb', *options)
    if GLSLANG:
        call(GLSLANG, '--target-env', 'vulkan1.1', *defines, '-V', out, '-o', 'out.spv')


def run(*rules, ok=(0,)):
    """(entries, what was withheld by line)"""
    options = ['--to', 'dump.bin', '--strings', 'app.pfdb']
    for rule in rules:
        options += ['--rule', rule]
    if GLSLANG:
        p = call(RUNNER, 'out.spv', str(THREADS // GROUP), '1', '1', *options,
                 ok=ok)
    else:
        p = call(RUNNER, 'out.cl', 'rules', str(THREADS), '--local',
                 str(GROUP), *options, ok=ok)
    if p.returncode:
        return p.stderr
    said = re.findall(r'^(.*):(\d+): (\d+) entries were withheld$', p.stderr,
                      re.M)
    assert all(os.path.basename(file) == NAME for file, _, _ in said), said
    withheld = {int(line): int(n) for _, line, n in said}
    p = call(PROGRAM, '-o', 'json', 'dump.bin', 'app.pfdb')
    entries = [json.loads(line) for line in p.stdout.splitlines()]
    return [e for e in entries if e['type'] == 'entry'], withheld


def counts(entries):
    return dict(collections.Counter(e['message'].split()[0] for e in entries))


def threads(entries, what):
    return {e['args'][0] for e in entries if e['message'].startswith(what)}


def check(rules, wanted, withheld):
    """wanted, withheld: by word."""
    entries, got = run(*rules)
    assert counts(entries) == wanted, (rules, counts(entries), wanted)
    by_line = {LINES[word]: n for word, n in withheld.items()}
    assert got == by_line, (rules, got, by_line)
    print('ok:', *rules)
    return entries


def without(*words):
    return {w: n for w, n in ALL.items() if w not in words}


def check_rules():
    check([], ALL, {})
    check(['off'], {}, {})
    check([f'off@{NAME}:9'], without('first'), {})
    e = check([f'off@*:{LINES["third"]}'], without('third'), {})
    assert next(x for x in e if x['message'] == 'evaluated 0\n')
    check(['off', f'on@{NAME}:11'], {'second': 4 * THREADS}, {})
    check([f'budget=5@*:{LINES["second"]}'], {**ALL, 'second': 5},
          {'second': 4 * THREADS - 5})
    check([f'budget=0@*:{LINES["first"]}'], without('first'),
          {'first': THREADS})
    check([f'every=10@*:{LINES["first"]}'], {**ALL, 'first': 26},
          {'first': THREADS - 26})
    e = check(['threads=70-79'],
              {'first': 10, 'second': 40, 'third': 10, 'evaluated': 1},
              {'first': THREADS - 10, 'second': 4 * (THREADS - 10),
               'third': THREADS - 10})
    assert threads(e, 'first') == set(range(70, 80))
    assert threads(e, 'second') == set(range(70, 80))
    e = check(['groups=2,0,0-3,0,0'],
              {'first': 128, 'second': 512, 'third': 128},
              {'first': 128, 'second': 512, 'third': 128, 'evaluated': 1})
    assert threads(e, 'first') == set(range(128, 256))
    # What is filtered does not use up a budget.
    check(['threads=200-255', f'budget=7@*:{LINES["first"]}'],
          {'first': 7, 'second': 224, 'third': 56},
          {'first': 249, 'second': 800, 'third': 200, 'evaluated': 1})
    check(['pixels=5-6'], ALL, {})  # nothing here is a pixel
    assert 'no site is meant' in run('off@other.comp', ok=(1,))
    assert 'is no rule' in run('of', ok=(1,))


def check_origin():
    scan('--origin', '--commit', *(['--subgroups'] if GLSLANG else []))
    entries, _ = run()
    assert counts(entries) == ALL
    for e in entries:
        word = e['message'].split()[0]
        origin = e['origin']
        assert origin['line'] == LINES[word], e
        level = {'first': 'error', 'second': 'debug'}.get(word)
        assert origin.get('level') == level, e
        assert origin['file'].endswith(NAME), e
        if word in ('first', 'second'):
            assert origin['workgroup'] == [e['args'][0] // GROUP, 0, 0], e
        assert ('lane' in origin) == bool(GLSLANG), e
        assert 'clock' not in origin, e  # nobody knows it
    if not GLSLANG:
        return
    # Each invocation of a workgroup is one lane of one wave.
    lanes = collections.Counter(
        (tuple(e['origin']['workgroup']), e['origin']['wave'],
         e['origin']['lane']) for e in entries
        if e['message'].startswith('first'))
    assert len(lanes) == THREADS and max(lanes.values()) == 1, lanes


def check_clock():
    """Where the device has a clock, and the shader asks for it: what an
    invocation says later is later."""
    scan('--origin', defines=['-DPFD_CLOCK'])
    entries, _ = run()
    assert counts(entries) == ALL
    clocks = [[] for _ in range(THREADS)]
    for e in entries:
        if e['message'].startswith('second'):
            clocks[e['args'][0]].append((e['args'][1], e['origin']['clock']))
    for mine in clocks:
        mine.sort()
        assert [i for i, _ in mine] == [0, 1, 2, 3], mine
        times = [at for _, at in mine]
        assert times == sorted(times) and times[0] < times[3], mine
    print('ok: clock')


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ['POCL_CACHE_DIR'] = folder
        scan('--control')
        check_rules()
        if GLSLANG:
            scan('--control', '--subgroups', '--commit')
            check_rules()
        check_origin()
        if GLSLANG:
            check_clock()
        p = call(PROGRAM, 'scan', os.path.join(HERE, NAME), '-o', 'x',
                 '--strings', 'y', ok=(1,))
        assert 'a level goes with --sites' in p.stderr, p.stderr
    print('ok')


main()
