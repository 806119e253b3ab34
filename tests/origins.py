#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is known of where a message comes from has one name everywhere: each
name that the code gives stands in the manual page and in the JSON Schema, and
those name no other.
usage: origins.py [SOURCE_FOLDER]"""
import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(HERE))


def slurp(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def words_of(text):
    return set(re.findall(r'"(\w+)"', text))


def given():
    """By the lists of the formats, and by what senders say."""
    names = set()
    for path in glob.glob('formats/*/*.c'):
        for row in re.findall(r'origin_names\[\] = \{(.*?)\};', slurp(path),
                              re.DOTALL):
            names |= words_of(row)
    macro = re.search(r'#define PFD_KHRONOS_ORIGINS((?:.*\\\n)*.*)',
                      slurp('src/core/spirv/khronos.h'))
    names |= words_of(macro.group(1))
    lines = slurp('src/core/output/lines.c')
    body = lines[lines.index('pfd_lines_set_origin('):]
    body = body[:body.index('\n}')]
    names |= set(re.findall(r'add_\w+\(out, "(\w+)"', body))
    names |= set(re.findall(r'\\"(\w+)\\":', body))
    return names | {'uuid', 'labels'}


def in_manual():
    page = slurp('cli/printfdecode.1')
    part = page[page.index('.It Cm origin\n'):]
    part = part[:part.index('.It Cm findings')]
    names = set()
    for line in re.findall(r'^\.Cm (.*)$', part, re.MULTILINE):
        names |= set(re.findall(r'\w+', line))
    return names - {'gpuav'}


def in_schema():
    text = json.loads(slurp('share/printfdecode.schema.json'))
    text = text['$defs']['origin']['description']
    return set(re.findall(r'\w+', ' '.join(
        part for part in re.findall(r': ([^.;]*)', text))))


wrong = False
for place, names in ('printfdecode.1', in_manual()), ('the schema', in_schema()):
    for name in sorted(given() - names):
        print(f'{place} does not have the origin {name}')
        wrong = True
    for name in sorted(names - given()):
        print(f'{place} has the origin {name}, which nothing gives')
        wrong = True
sys.exit(wrong)
