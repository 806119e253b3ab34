#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sqlite.py PRINTFDECODE: databases hold what the entries do, and the view
`messages` all of them in order; read by SQLite itself."""
import math
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile

import inputs
from table import NAMES, expected, run

FILES = ["buffer.bin", "image.elf"]


def ask(folder, sql, file="x.db"):
    with sqlite3.connect(os.path.join(folder, file)) as db:
        return db.execute(sql).fetchall()


def float_as(value, form):
    """NaN is a text that has its bits."""
    if isinstance(value, str):
        bits = int(value[6:-1], 16)
        return struct.unpack("<" + form[1], struct.pack("<" + form[0], bits))[0]
    return value


def bits(folder, truth):
    run(folder, "--force", "--to", "x.db", *FILES)
    rows = ask(folder, "SELECT %s FROM u_d_f_big_wide_neg" % ", ".join(NAMES))
    for row, want in zip(rows, truth, strict=True):
        got = [row[0], row[1], row[2], int(row[3]), row[4], row[5]]
        for k, form in ((2, "If"), (4, "Qd")):
            got[k] = float_as(got[k], form)
        for a, b in zip(got, expected(want)):
            if isinstance(b, float):
                assert (math.isnan(a) and math.isnan(b)) or (
                    a == b and math.copysign(1, a) == math.copysign(1, b)), (
                        a, b)
            else:
                assert a == b, (a, b)
        for k, n in ((2, 8), (4, 16)):
            if isinstance(row[k], str):
                assert row[k] == "nan(0x%0*x)" % (n, want[k]), row
    assert ask(folder, "SELECT typeof(big) FROM u_d_f_big_wide_neg "
               "WHERE \"index\" IN (2, 9)") == [("text",), ("integer",)]


def names(folder):
    """Format strings that name what the database has itself."""
    box = inputs.box
    texts = ("messages %u\n", "sqlite_x %u\n", "rowid %u col %u\n",
             "rowid %u oid %u _rowid_ %u\n")
    strings = [box.Str(0x300 + i, t, "4" * t.count("%"))
               for i, t in enumerate(texts)]
    entries = [s(*([7] * t.count("%"))) for s, t in zip(strings, texts)]
    inputs.write({"n.elf": box.image(*strings),
                  "n.bin": box.buffer(*entries, *entries)}, folder)
    run(folder, "--all", "--to", "n.db", "n.bin", "n.elf")
    rows = ask(folder, 'SELECT "table", "row" FROM messages', "n.db")
    tables = ["messages_2", "_sqlite_x", "rowid_col", "rowid_oid_rowid"]
    assert [row for _, row in rows] == [1] * 4 + [2] * 4, rows
    assert [t for t, _ in rows[:3]] == tables[:3], rows


def several(folder):
    run(folder, "--all", "--force", "--to", "x.db", *FILES, rc=2)
    rows = ask(folder, "SELECT \"index\", message, \"table\" FROM messages")
    assert len(rows) == 2334 and [r[0] for r in rows] == sorted(
        r[0] for r in rows)
    assert rows[0] == (0, "ray 0 hit t=0.000000", "ray_hit_t"), rows[0]
    assert ask(folder, "SELECT sum(t) FROM ray_hit_t") == [(124875.0,)]
    # What people would type.
    done = subprocess.run(["sqlite3", "x.db", "SELECT count(*), max(ray) FROM "
                           "ray_hit_t WHERE t > 100"], cwd=folder, text=True,
                          capture_output=True, check=True)
    assert done.stdout == "599|999\n", done.stdout


def many(folder):
    """More than one UNION may have."""
    box = inputs.box
    strings = [box.Str(0x10000 + i, "string %d has %%u\n" % i, "4")
               for i in range(450)]
    inputs.write({"image.elf": box.image(*strings), "buffer.bin": box.buffer(
        *(s(i) for i, s in enumerate(strings)))}, folder)
    run(folder, "--all", "--force", "--to", "x.db", *FILES)
    rows = ask(folder, "SELECT \"index\", message FROM messages")
    assert rows == [(i, "string %d has %d" % (i, i)) for i in range(450)]


def odd(folder):
    inputs.write(inputs.hostile(), folder)
    run(folder, "--force", "--to", "x.db", *FILES, rc=2)
    name = ask(folder, "SELECT \"table\" FROM messages LIMIT 1")[0][0]
    rows = ask(folder, 'SELECT "select", "SELECT_2", "index_2", "findings_2" '
               'FROM "%s"' % name)
    assert [r[3] for r in rows] == [None, "payload_short", "payload_long",
                                    None], rows
    run(folder, "--columns", "a0=x\"; DROP TABLE \"y,a1='--", "--force",
        "--to", "x.db", *FILES, rc=2)
    assert ask(folder, 'SELECT * FROM "%s"' % name)[0] == (3, 1)
    inputs.write(inputs.wide(4096), folder)
    _, err = run(folder, "--force", "--to", "x.db", *FILES, rc=1)
    assert "2000 columns" in err, err
    _, err = run(folder, "-o", "sqlite", *FILES, rc=1)
    assert "needs a file" in err, err
    run(folder, "--to", "nowhere/x.db", *FILES, rc=1)


def laid(folder):
    """What others put beside it comes into no database of ours."""
    for mode, end in ("WAL", "-wal"), ("PERSIST", "-journal"):
        path = os.path.join(folder, "trap.db")
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA journal_mode = %s" % mode)
        db.execute("CREATE TABLE secret (theirs)")
        db.execute("BEGIN")
        db.execute("CREATE TABLE other (theirs)")
        db.execute("PRAGMA cache_spill = 1")
        if mode == "WAL":
            db.execute("COMMIT")
        with open(path + end, "rb") as f, \
                open(os.path.join(folder, "x.db" + end), "wb") as to:
            to.write(f.read())
        db.close()
        run(folder, "--all", "--force", "--to", "x.db", *FILES, rc=2)
        assert not [name for name, in ask(
            folder, "SELECT name FROM sqlite_master") if name in
            ("secret", "other")], mode
        for name in "x.db", "trap.db":
            os.unlink(os.path.join(folder, name))


def main():
    with tempfile.TemporaryDirectory() as folder:
        made, truth = inputs.bits()
        inputs.write(made, folder)
        bits(folder, truth)
        inputs.write(inputs.several(1000), folder)
        several(folder)
        many(folder)
        odd(folder)
        names(folder)
        inputs.write(inputs.several(1000), folder)
        laid(folder)


main()
