#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collapse.py PRINTFDECODE: --collapse says of runs what their entries say:
each is counted once, ranges are exact, findings stand alone; a small window
bounds what waits; `follow` does the same."""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import inputs

PROGRAM = os.path.abspath(sys.argv[1])
ENV = dict(os.environ, ASAN_OPTIONS="exitcode=99")
FILES = ["buffer.bin", "image.elf"]


def run(folder, *words, rc=0, verb="decode"):
    done = subprocess.run([PROGRAM, verb, *words], cwd=folder, env=ENV,
                          capture_output=True, timeout=120)
    if done.returncode != rc:
        sys.exit("%s: exit status %d, not %d\n%s" % (
            " ".join(words), done.returncode, rc, done.stderr.decode()))
    return done.stdout.decode()


def records(text):
    return [json.loads(line) for line in text.splitlines()]


def entries_of(rows):
    return [r for r in rows if r["type"] == "entry"]


def values_in(span):
    return {v for a, b in span["ranges"] for v in range(int(a), int(b) + 1)}


def exact(record):
    whole = record.get("args_exact", [])
    return [int(whole[i]) if i < len(whole) and whole[i] else v
            for i, v in enumerate(record["args"])]


def check_span(span, values, where):
    """Of the values that one argument had in a run."""
    if span is None:
        assert len(set(map(repr, values))) == 1, where
    elif "ranges" in span:
        assert values_in(span) == set(values), (where, span)
    else:
        numbers = [float(v) for v in values if v != "nan"]
        assert span["nan"] == len(values) - len(numbers), (where, span)
        assert span["count"] == len(numbers), (where, span)
        if numbers:
            assert float(span["min"]) == min(numbers), (where, span)
            assert float(span["max"]) == max(numbers), (where, span)


def groups(rows, window):
    """Runs as the manual page describes them: {first index: records}."""
    runs, open_runs, n = {}, {}, 0
    for r in rows:
        key = r["id"]
        if "findings" in r:
            runs[r["index"]] = [r]
        else:
            run, last = open_runs.get(key, (None, 0))
            if run is None or n - last > window:
                run = runs[r["index"]] = []
            run.append(r)
            open_runs[key] = (run, n)
        n += 1
    return runs


def check(folder, plain, window):
    done = records(run(folder, "-o", "json", "--collapse", "--window",
                       str(window), *FILES, rc=2))
    wanted = groups(entries_of(plain), window)
    given = entries_of(done)
    assert [r["index"] for r in given] == sorted(wanted), window
    for r in given:
        members = wanted[r["index"]]
        assert r.get("collapsed", 1) == len(members), (r, len(members))
        if len(members) == 1:
            assert r == members[0]
            continue
        assert r["last_index"] == members[-1]["index"]
        assert {k: v for k, v in r.items()
                if k not in ("collapsed", "last_index", "ranges")} == members[0]
        for i, span in enumerate(r["ranges"]):
            check_span(span, [exact(m)[i] for m in members], r["format_string"])
    assert [r for r in done if r["type"] != "entry"] == [
        r for r in plain if r["type"] != "entry"]


def make(rng, n):
    box = inputs.box
    strings = [box.Str(0x5001, "i=%d u=%u\n", "44"),
               box.Str(0x5002, "big %lld %llu\n", "88"),
               box.Str(0x5003, "f=%f d=%g\n", "48"),
               box.Str(0x5004, "nothing\n")]
    floats = [0.0, -0.0, 1.5, -3.25, float("nan"), float("inf"), 2.0**-149]
    entries = []
    for i in range(n):
        s = rng.choice(strings)
        if s is strings[0]:
            entries.append(s(rng.randint(-40, 40), i % 300))
        elif s is strings[1]:
            entries.append(s(rng.choice((-1, 0, 1)) * (1 << 62) + i,
                             (1 << 64) - 1 - i % 5))
        elif s is strings[2]:
            entries.append(s(rng.choice(floats), rng.choice(floats)))
        else:
            entries.append(s())
        if rng.random() < 0.01:
            entries.append(box.entry(0xbadbad, struct.pack("<I", i)))
    return {"image.elf": box.image(*strings),
            "buffer.bin": box.buffer(*entries)}


def follow(folder):
    """A run ends when its second is over, and at the end."""
    out = run(folder, "--collapse", "--until-idle", "0.3", *FILES,
              verb="follow", rc=2)
    total = 0
    for line in out.splitlines():
        assert "×" in line or "unknown" in line, line
        total += int(line.rsplit("×", 1)[1]) if "×" in line else 0
    assert total == 3000, total


def main():
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        inputs.write(make(rng, 3000), folder)
        plain = records(run(folder, "-o", "json", *FILES, rc=2))
        # Up to the default nothing waits for longer than the window.
        for window in (1, 2, 7, 1000, 100000):
            check(folder, plain, window)
        text = run(folder, "--collapse", "--show", "unknown", *FILES, rc=2)
        counts = [int(line.rsplit("×", 1)[1]) for line in text.splitlines()
                  if "×" in line]
        unknown = sum("findings" in r for r in entries_of(plain))
        assert sum(counts) == 3000 and text.count("<unknown id") == unknown
        follow(folder)
        run(folder, "-o", "raw", "--collapse", *FILES, rc=1)
        run(folder, "--window", "3", *FILES, rc=1)
        run(folder, "--collapse=most", *FILES, rc=1)


main()
