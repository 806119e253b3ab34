#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""arrow.py PRINTFDECODE NODE: Arrow's files and streams, as apache-arrow and
polars read them, hold every value to the bit."""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

import inputs
from table import ENV, HERE, expected, run

NODE = sys.argv[2]


def read(folder, *files):
    done = subprocess.run([NODE, os.path.join(HERE, "arrow.js"), *files],
                          cwd=folder, capture_output=True, text=True,
                          timeout=120)
    if done.returncode == 77:
        print(done.stdout.strip())
        sys.exit(77)
    if done.returncode:
        sys.exit(done.stderr)
    if done.stderr:
        print(done.stderr.strip())
    return [json.loads(line) for line in done.stdout.splitlines()]


def number(text):
    return float(text) if text not in ("NaN", None) else math.nan


def check_bits(said, truth):
    assert said["names"] == ["u", "d", "f", "big", "wide", "neg", "index",
                             "findings"], said["names"]
    assert said["types"] == ["Uint32", "Int32", "Float32", "Uint64", "Float64",
                             "Int64", "Uint64", "Dictionary<Int32, Utf8>"]
    assert said["metadata"]["printfdecode.format_string"].startswith("u=%u d")
    for i, form in enumerate("IIIQQQ"):
        want = [struct.pack("<" + form, row[i]).hex() for row in truth]
        assert said["columns"][i] == want, (said["names"][i], want)
    assert said["columns"][7] == [None] * len(truth)
    polars = said.get("polars")
    if not polars:
        return
    assert polars["names"] == said["names"]
    for i, row in enumerate(truth):
        for k, want in enumerate(expected(row)):
            got = polars["columns"][k][i]
            if isinstance(want, float):
                assert number(got) == want or (
                    math.isnan(number(got)) and math.isnan(want)), (got, want)
                assert got == "NaN" or (got == "-0") == (
                    want == 0 and math.copysign(1, want) < 0), (got, want)
            elif abs(want) < 1 << 53:
                assert int(got) == want, (got, want)


def main():
    files = ["buffer.bin", "image.elf"]
    with tempfile.TemporaryDirectory() as folder:
        made, truth = inputs.bits()
        inputs.write(made, folder)
        run(folder, "--force", "--to", "x.arrow", *files)
        run(folder, "--force", "--to", "x.arrows", *files)
        out, _ = run(folder, "-o", "arrow", *files)
        with open(folder + "/x.arrows", "rb") as f:
            assert f.read() == out
        for said in read(folder, "x.arrow", "x.arrows"):
            check_bits(said, truth)
    with tempfile.TemporaryDirectory() as folder:
        # Several batches, a dictionary that grows and one that is not worth
        # it, nulls, and 300 columns.
        inputs.write(inputs.several(40000), folder)
        which = ["--id", "2221", "--columns", "ray,t,message,message=again",
                 *files]
        run(folder, "--force", "--to", "x.arrow", *which)
        run(folder, "--force", "--to", "x.arrows", *which)
        truth = ["ray %d hit t=%f" % (i, i / 4) for i in range(40000)]
        for said in read(folder, "x.arrow", "x.arrows"):
            assert said["types"][2] == "Utf8", said["types"]
            assert said["columns"][2] == truth and said["columns"][3] == truth
            assert said["columns"][0] == [struct.pack("<I", i).hex()
                                          for i in range(40000)]
            assert said.get("polars", {"height": 40000})["height"] == 40000
        inputs.write(inputs.words(60000), folder)
        run(folder, "--columns", "n,message", "--force", "--to", "x.arrow",
            *files)
        run(folder, "--columns", "n,message", "--force", "--to", "x.arrows",
            *files)
        truth = ["n=%d\t" % (i % 100 if i < 16384 else i // 2)
                 for i in range(60000)]
        for said in read(folder, "x.arrow", "x.arrows"):
            assert said["types"][1] == "Dictionary<Int32, Utf8>"
            assert said["columns"][1] == truth
            if "polars" in said:
                assert said["polars"]["columns"][1] == truth
        inputs.write(inputs.hostile(), folder)
        run(folder, "--force", "--to", "x.arrow", *files, rc=2)
        said = read(folder, "x.arrow")[0]
        assert said["columns"][12] == [None, "payload_short", "payload_long",
                                       None], said["columns"][12]
        assert said["columns"][8][1] is None and said["columns"][8][2], said
        inputs.write(inputs.wide(300), folder)
        run(folder, "--force", "--to", "x.arrow", *files)
        said = read(folder, "x.arrow")[0]
        assert said["columns"][299] == [struct.pack("<I", i).hex()
                                        for i in (299, 599)]


if __name__ == "__main__":
    main()
