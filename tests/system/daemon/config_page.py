#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""config_page.py LIST_KEYS PAGE [--write]: the tables of printfdecoded.yaml(5)
are what the rows say that read a configuration."""
import difflib
import subprocess
import sys

BEGIN = '.\\" The tables are written by config_page.py --write.\n'
END = '.\\" End of the tables.\n'

done = subprocess.run([sys.argv[1]], check=False, text=True, stdout=subprocess.PIPE)
if done.returncode:
    print('left out: some types are not in this build')
    sys.exit(77)
with open(sys.argv[2], encoding='utf-8') as f:
    page = f.read()
before, rest = page.split(BEGIN)
now = before + BEGIN + done.stdout + END + rest.split(END)[1]
if '--write' in sys.argv:
    with open(sys.argv[2], 'w', encoding='utf-8') as f:
        f.write(now)
elif now != page:
    sys.stdout.writelines(difflib.unified_diff(
        page.splitlines(True), now.splitlines(True), 'page', 'rows'))
    sys.exit('printfdecoded.yaml(5) and the rows differ: see --write')
