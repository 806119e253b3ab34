# SPDX-License-Identifier: MIT
"""An entry with message, format and arguments costs at most a twelfth of the
command's JSON and json.loads, in processor time of the same run: the least of
several rounds of each, in turns. A busy machine, whose caches others use, too, needs
more of them."""
import json
import os
import resource
import subprocess
import tempfile

import support

import printfdecode as pd

ROUNDS = 4
ROUNDS_MAX = 20
AS_FAST = 12


def seconds():
    """Of processors, by this process and its children that ended."""
    return sum(used.ru_utime + used.ru_stime for used in map(
        resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def objects(data):
    n = 0
    for e in pd.open(data, support.APP):
        _ = e.message, e.format, e.args
        n += 1
    return n


def lines(path):
    with subprocess.Popen([support.COMMAND, "--output", "json", path, support.APP],
                          stdout=subprocess.PIPE) as command:
        n = sum(json.loads(line)["type"] == "entry" for line in command.stdout)
    return n


def cost(call, *words):
    """Entries, and nanoseconds of each."""
    start = seconds()
    n = call(*words)
    return n, (seconds() - start) / n * 1e9


def measure(data, path):
    by_objects, by_lines = [], []
    for i in range(ROUNDS_MAX):
        n, ns = cost(objects, data)
        by_objects.append(ns)
        n_lines, ns = cost(lines, path)
        by_lines.append(ns)
        if i + 1 >= ROUNDS and min(by_lines) >= AS_FAST * min(by_objects):
            break
    return n, min(by_objects), n_lines, min(by_lines)


def main():
    checks = support.Checks()
    data = support.many(1000)
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        n, by_objects, n_lines, by_lines = measure(data, file.name)
    checks.equal("entries", n, n_lines)
    print("%d entries: %.0f ns each, %.0f ns by JSON: %.1f times as fast" % (
        n, by_objects, by_lines, by_lines / by_objects))
    if os.environ.get("SLOWED"):  # by a sanitizer: the figure says nothing
        checks.true("measured", by_objects > 0)
    else:
        checks.true("%d times as fast" % AS_FAST, by_lines >= AS_FAST * by_objects)
    checks.end()


main()
