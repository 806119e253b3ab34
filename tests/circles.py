#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No source file calls another one that calls it back, by any way round: what
object files define and need is read with nm. (layers.py looks at includes, and
two files that share a header show no circle there.) Tables that are generated
name what stands above them on purpose, and are left out; so are the tests.
usage: circles.py BUILD_FOLDER"""

import collections
import pathlib
import subprocess
import sys

DEFINED = 'BCDRTVW'  # nm's letters of what other files may use


def read(objects):
    """Names that each object file defines, and those that it needs."""
    defined = collections.defaultdict(set)
    needed = collections.defaultdict(set)
    output = subprocess.run(['nm', '-A', '-P', *objects], check=True,
                            capture_output=True, text=True).stdout
    for line in output.splitlines():
        file, name, kind = line.split()[:3]
        file = file.rstrip(':')
        if kind == 'U':
            needed[file].add(name)
        elif kind in DEFINED:
            defined[name].add(file)
    return defined, needed


def edges(defined, needed):
    """Which files each file uses. A name that programs define each for
    themselves is that of the file's own program."""
    ret = {file: set() for names in defined.values() for file in names}
    for file, names in needed.items():
        folder = pathlib.Path(file).parent
        for name in names:
            all_of = defined.get(name, set())
            own = {o for o in all_of if pathlib.Path(o).parent == folder}
            ret.setdefault(file, set()).update((own or all_of) - {file})
    return ret


def reached(uses, start):
    found, left = set(), list(uses[start])
    while left:
        file = left.pop()
        if file not in found:
            found.add(file)
            left.extend(uses.get(file, ()))
    return found


def circles(uses):
    ways = {file: reached(uses, file) for file in uses}
    left = sorted(file for file in uses if file in ways[file])
    while left:
        first = left[0]
        circle = [file for file in left
                  if file in ways[first] and first in ways[file]]
        yield circle
        left = [file for file in left if file not in circle]


def source_name(file):
    return pathlib.Path(file).name.removesuffix('.o').removeprefix('.._')


def main():
    build = pathlib.Path(sys.argv[1])
    objects = [str(file) for file in build.glob('*/**/*.c.o')
               if file.relative_to(build).parts[0] != 'tests'
               and 'meson-generated' not in file.name]
    if len(objects) < 100:
        sys.exit(f'only {len(objects)} object files in {build}')
    uses = edges(*read(objects))
    found = list(circles(uses))
    for circle in found:
        print('a circle of files:', ' '.join(map(source_name, circle)))
        for file in circle:
            print('  ', source_name(file), 'uses', ' '.join(
                source_name(o) for o in sorted(uses[file]) if o in circle))
    print(f'{len(objects)} object files, {len(found)} circles')
    sys.exit(bool(found))


main()
