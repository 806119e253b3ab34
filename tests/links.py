#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each relative link of a page names a file or folder of the project, each
room has a README, and the
glossary has 30 words at most.
usage: links.py [SOURCE_FOLDER]"""

import glob
import os
import re
import sys

LINK = re.compile(r'\]\(([^)#\s]+)(?:#[^)]*)?\)')
# Rooms: each has a README.md.
ROOMS = '''
src/core src/memory src/stream src/analysis src/writer src/layer formats cli
cli/verbs cli/doctor cli/input cli/options cli/show cli/net daemon daemon/base daemon/config daemon/net
daemon/ring daemon/spool daemon/nats daemon/ingest daemon/inputs daemon/outputs
daemon/web runners
'''.split()
WORDS_MAX = 30

wrong = []


def read(file):
    with open(file, encoding='utf-8') as text:
        return text.read()


def pages():
    for file in glob.glob('**/*.md', recursive=True):
        if 'node_modules' not in file and not file.startswith(
                ('build', 'tests/cases/')):
            yield file


def check_links():
    n = 0
    for page in pages():
        text = re.sub(r'```.*?```', '', read(page), flags=re.DOTALL)
        for link in LINK.findall(text):
            if re.match(r'[a-z]+:', link):
                continue
            n += 1
            path = os.path.normpath(os.path.join(os.path.dirname(page), link))
            if not os.path.exists(path):
                wrong.append(f'{page}: {link}: there is no {path}')
    if not n:
        wrong.append('no page has a link')


def check_rooms():
    for room in ROOMS:
        if not os.path.isfile(f'{room}/README.md'):
            wrong.append(f'{room} has no README.md')


def check_glossary():
    n = len(re.findall(r'^\| [^-]', read('docs/glossary.md'), re.MULTILINE)) - 1
    if not 0 < n <= WORDS_MAX:
        wrong.append(f'docs/glossary.md has {n} words, {WORDS_MAX} at most')


def main():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else here)
    check_links()
    check_rooms()
    check_glossary()
    for each in wrong:
        print(each)
    sys.exit(bool(wrong))


main()
