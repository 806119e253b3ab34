#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""group.py PRINTFDECODE: --group-by, --agg, --sort, --top and --distinct say
what the same sums over the rows of a table say."""
import collections
import fractions
import json
import math
import random
import statistics
import struct
import sys
import tempfile

import inputs
from table import run

FILES = ["buffer.bin", "image.elf"]


def rows_of(folder, *words):
    out, err = run(folder, "-o", "json", *words, *FILES)
    rows = [json.loads(line) for line in out.splitlines()]
    for row in rows:
        for name, value in row.pop("exact", {}).items():
            row[name] = int(value)
    return rows, err


def make(rng, n):
    box = inputs.box
    s = box.Str(0x7001, "wave=%u v=%f big=%lld u=%llu\n", "4488")
    values = [0.5, -1.25, 3.0, float("nan"), -0.0, 1e30]
    return {"image.elf": box.image(s), "buffer.bin": box.buffer(*(
        s(rng.randrange(20), rng.choice(values),
          rng.randrange(-1 << 63, 1 << 63), rng.randrange(1 << 64))
        for _ in range(n)))}


def narrow(value):
    """The binary32 that this is the shortest text of."""
    return struct.unpack("<f", struct.pack("<f", float(value)))[0]


def rank(values, share):
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def check_group(got, rows):
    for name in ("v", "big", "u"):
        all_of = [r[name] for r in rows]
        numbers = [narrow(v) if name == "v" else v for v in all_of
                   if v != "nan"]
        assert got["count"] == len(rows)
        own = {k: narrow(v) if name == "v" and isinstance(v, float) else v
               for k, v in got.items() if not k.endswith((".mean", ".std"))}
        assert own[name + ".min"] == min(numbers), (name, got)
        assert own[name + ".max"] == max(numbers)
        mean = sum(map(fractions.Fraction, numbers)) / len(numbers)
        assert near(got[name + ".mean"], float(mean)), (name, mean, got)
        assert near(got[name + ".std"], statistics.stdev(numbers))
        assert own[name + ".p50"] == rank(numbers, 0.5), (name, got)
        assert own[name + ".p99"] == rank(numbers, 0.99)
        assert got[name + ".first"] == all_of[0]
        assert got[name + ".last"] == all_of[-1]
    assert got["v.nan"] == sum(r["v"] == "nan" for r in rows)
    assert "big.nan" not in got


def groups(folder, plain):
    by = collections.defaultdict(list)
    for row in plain:
        by[row["wave"]].append(row)
    got, err = rows_of(folder, "--group-by", "wave", "--agg",
                       "count,min,max,mean,std,p50", "--agg",
                       "p99,nan,first,last")
    assert [g["wave"] for g in got] == list(by), "in the order they come"
    assert not err, err
    for g in got:
        check_group(g, by[g["wave"]])
    got, _ = rows_of(folder, "--group-by", "wave,v")
    keys = collections.Counter((r["wave"], str(r["v"])) for r in plain)
    assert {(g["wave"], str(g["v"])): g["count"] for g in got} == keys
    got, _ = rows_of(folder, "--agg", "count,max")
    assert len(got) == 1 and got[0]["u.max"] == max(r["u"] for r in plain)
    got, _ = rows_of(folder, "--distinct", "wave")
    counts = [g["count"] for g in got]
    assert counts == sorted(counts, reverse=True) and sum(counts) == len(plain)
    got, _ = rows_of(folder, "--group-by", "wave", "--top", "3")
    assert [g["count"] for g in got] == counts[:3]
    got, _ = rows_of(folder, "--group-by", "wave", "--agg", "mean,count",
                     "--sort", "v.mean", "--top", "5")
    means = [g["v.mean"] for g in got]
    assert len(means) == 5 and means == sorted(means, reverse=True)


def order(folder):
    """Aggregates stand in the order asked for, each once."""
    for asked in ("max,p50,min", "min,count,max", "last,nan,count", "p99,p99",
                  "mean,count"):
        got, _ = rows_of(folder, "--group-by", "wave", "--agg", asked)
        words = list(dict.fromkeys(asked.split(",")))
        own = [name for name in got[0]
               if name == "count" or name.startswith("v.")]
        assert own == [w if w == "count" else "v." + w for w in words], own


def sorted_rows(folder, plain):
    got, _ = rows_of(folder, "--sort", "big")
    assert got == sorted(plain, key=lambda r: r["big"])
    got, _ = rows_of(folder, "--sort", "-u", "--columns", "u,index")
    assert [g["u"] for g in got] == sorted((r["u"] for r in plain),
                                           reverse=True)
    got, _ = rows_of(folder, "--sort", "v", "--top", "1000")
    want = sorted((r for r in plain if r["v"] != "nan"),
                  key=lambda r: -float(r["v"]))[:1000]
    assert got == want
    got, _ = rows_of(folder, "--sort", "v")
    assert all(g["v"] == "nan" for g in got[-1:]), got[-1]


def wrong(folder):
    for words, what in (
            (["--group-by", "nothing"], "no column is called 'nothing'"),
            (["--agg", "median"], "no aggregate is called 'median'"),
            (["--top", "3"], "--sort is missing"),
            (["--sort", "nothing"], "no column is called 'nothing'"),
            (["--distinct", "wave", "--agg", "max"], "one is enough"),
            (["--group-by", "wave", "--agg", "max", "--top", "2"],
             "is missing")):
        _, err = run(folder, *words, *FILES, rc=1)
        assert what in err, err


def main():
    rng = random.Random(5)
    with tempfile.TemporaryDirectory() as folder:
        inputs.write(make(rng, 20000), folder)
        plain, _ = rows_of(folder)
        groups(folder, plain)
        order(folder)
        sorted_rows(folder, plain)
        wrong(folder)
        # All in one group: more than is kept exactly, and it is said.
        out, err = run(folder, "-o", "json", "--agg", "p50", *FILES)
        got = json.loads(out)
        assert "not exact" in err and "% of all" in err, err
        ranks = sorted(r["u"] for r in plain)
        off = abs(ranks.index(int(got["exact"]["u.p50"])) - 9999)
        assert off <= 0.002 * len(ranks), off


main()
