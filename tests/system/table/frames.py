#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""frames.py PRINTFDECODE: pandas opens what `table` writes and has the same
values, to the bit; left out where no Python has pandas. (pandas 1.5 of Debian
reads Arrow through pyarrow only, which Debian has not.)"""
import os
import subprocess
import sys
import tempfile

import inputs
from table import run

FILES = ["buffer.bin", "image.elf"]
READ = r"""
import math, sqlite3, sys
import numpy, pandas
names = ["u", "d", "f", "big", "wide", "neg"]
want = eval(sys.stdin.read())

def bits_of(frame):
    columns = [frame[n] for n in names]
    kinds = ["<u4", "<i4", "<f4", "<u8", "<f8", "<i8"]
    raw = [c.to_numpy().astype(k).view("<u%s" % k[2]).tolist()
           for c, k in zip(columns, kinds)]
    return [list(row) for row in zip(*raw)]

exact = pandas.DataFrame(numpy.load("x.npy"))
assert [str(t) for t in exact.dtypes[:6]] == [
    "uint32", "int32", "float32", "uint64", "float64", "int64"], exact.dtypes
assert bits_of(exact) == want, exact

def about(frame, what):
    # Text has no payloads of NaN; all the rest is the same.
    for got, row in zip(bits_of(frame), want):
        for k, (a, b) in enumerate(zip(got, row)):
            nan = {2: 0x7f800000, 4: 0x7ff0000000000000}.get(k)
            if nan and b & nan == nan and b & (nan & -nan) - 1:
                assert a & nan == nan and a & (nan & -nan) - 1, (what, k)
            else:
                assert a == b, (what, k, hex(a), hex(b))

types = {"u": "uint32", "d": "int32", "big": "uint64", "neg": "int64"}
for file, comma in ("x.csv", ","), ("x.tsv", "\t"):
    about(pandas.read_csv(file, sep=comma, dtype=types,
                          float_precision="round_trip",
                          converters={"f": numpy.float32}), file)
lines = pandas.read_json("x.ndjson", lines=True, dtype=False)
assert lines["u"].tolist() == [row[0] for row in want]
with sqlite3.connect("x.db") as db:
    frame = pandas.read_sql("SELECT * FROM messages", db)
assert frame["index"].tolist() == list(range(len(want)))
sums = pandas.read_csv("g.csv")
assert sums["count"].sum() == len(want), sums
print(pandas.__version__)
"""


def pandas():
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            if subprocess.run([python, "-c", "import numpy, pandas"],
                              capture_output=True).returncode == 0:
                return python
        except OSError:
            pass
    return None


def main():
    python = pandas()
    if not python:
        print("left out: no Python here has pandas (python3-pandas)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        files, truth = inputs.bits()
        inputs.write(files, folder)
        for name in "npy", "csv", "tsv", "db":
            run(folder, "--to", f"x.{name}", *FILES)
        run(folder, "-o", "json", "--to", "x.ndjson", *FILES)
        run(folder, "--agg", "count", "--to", "g.csv", *FILES)
        done = subprocess.run([python, "-c", READ], cwd=folder,
                              input=repr([list(row) for row in truth]),
                              capture_output=True, text=True, timeout=240,
                              env={k: v for k, v in os.environ.items()
                                   if k != "LD_LIBRARY_PATH"})
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        print("pandas", done.stdout.strip())


main()
