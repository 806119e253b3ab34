# SPDX-License-Identifier: MIT
"""Lines of JSON that programs wrote, for validate.js, and a rule about numbers
that no schema can tell."""
import json
import os
import subprocess

BEYOND = 1 << 53


def exact(number):
    return str(number) if abs(number) > BEYOND else None


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def numbers_are_exact(value):
    """Whether what a reader of 53 bits rounds, and only that, is there once
    more as a text."""
    if isinstance(value, list):
        return all(map(numbers_are_exact, value))
    if not isinstance(value, dict):
        return True
    if 'args' in value:
        texts = [exact(v) if is_integer(v) else None for v in value['args']]
        if value.get('args_exact') != (texts if any(texts) else None):
            return False
    if 'fields' in value:
        texts = {k: exact(v) for k, v in value['fields'].items()
                 if is_integer(v) and exact(v)}
        if value.get('fields_exact') != (texts or None):
            return False
    for name, v in value.items():
        beside = 'exact' if name == 'value' else name + '_exact'
        if is_integer(v) and value.get(beside) != exact(v):
            return False
    return all(numbers_are_exact(v) for name, v in value.items()
               if name not in ('args', 'args_exact', 'fields',
                               'fields_exact'))


class Lines:
    """In a folder as the golden cases have it."""

    def __init__(self, folder):
        self.folder = folder
        self.n = 0

    def add(self, words, data, n_ends=1 << 20):
        """What a command wrote; its first word is the verb. n_ends: lines from
        either end that are looked at."""
        if not data:
            return
        assert data.endswith(b'\n'), (words, data[-80:])
        lines = data.splitlines(True)
        if len(lines) > 2 * n_ends:
            lines[n_ends:-n_ends] = []
        for line in lines:
            assert numbers_are_exact(json.loads(line)), (words, line[:2000])
        self.n += 1
        path = os.path.join(self.folder, str(self.n))
        os.mkdir(path)
        with open(os.path.join(path, 'cmd'), 'w') as f:
            f.write(' '.join(words) + '\n')
        with open(os.path.join(path, 'expect.json'), 'wb') as f:
            f.writelines(lines)

    def validate(self, command, records):
        """The exit status; records: the schema's names of those that have to
        be among the lines."""
        return subprocess.run([*command, self.folder, *records],
                              check=False).returncode
