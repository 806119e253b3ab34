#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""table.py PRINTFDECODE: tables hold what the entries do, to the bit, in every
form; what a table leaves out is said. NumPy's files are read by NumPy."""
import csv
import io
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

import inputs

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(sys.argv[1])
ENV = dict(os.environ, ASAN_OPTIONS="exitcode=99:detect_leaks=1")
NAMES = ["u", "d", "f", "big", "wide", "neg"]


def run(folder, *words, rc=0, piped=None):
    done = subprocess.run([PROGRAM, "table", *words], cwd=folder, env=ENV,
                          capture_output=True, timeout=120, input=piped)
    if done.returncode != rc:
        sys.exit("%s: exit status %d, not %d\n%s" % (
            " ".join(words), done.returncode, rc, done.stderr.decode()))
    return done.stdout, done.stderr.decode()


def numpy():
    """A Python that has NumPy, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            if subprocess.run([python, "-c", "import numpy"],
                              capture_output=True).returncode == 0:
                return python
        except OSError:
            pass
    return None


def float_of(bits, form):
    return struct.unpack("<" + form[1],
                         struct.pack("<" + form[0], bits))[0]


def signed(value, n):
    return value - (1 << n) if value >> (n - 1) else value


def expected(row):
    u, d, f, big, wide, neg = row
    return [u, signed(d, 32), float_of(f, "If"), big, float_of(wide, "Qd"),
            signed(neg, 64)]


def same(a, b):
    if isinstance(b, float):
        a = float(a)
        return (math.isnan(a) and math.isnan(b)) or (
            a == b and math.copysign(1, a) == math.copysign(1, b))
    return int(a) == b


def check_rows(what, rows, truth):
    assert len(rows) == len(truth), (what, len(rows), len(truth))
    for got, want in zip(rows, truth):
        for name, a, b in zip(NAMES, got, expected(want)):
            if name == "f":  # the shortest text of a binary32
                a = struct.unpack("<f", struct.pack("<f", float(a)))[0]
            assert same(a, b), (what, name, a, b)


def text_forms(folder, truth):
    files = ["buffer.bin", "image.elf"]
    out, _ = run(folder, "-o", "csv", *files)
    rows = list(csv.reader(io.StringIO(out.decode(), newline="")))
    assert rows[0] == NAMES + ["index", "findings"], rows[0]
    check_rows("csv", rows[1:], truth)
    out, _ = run(folder, "-o", "tsv", *files)
    check_rows("tsv", [line.split("\t")
                       for line in out.decode().splitlines()[1:]], truth)
    out, _ = run(folder, "-o", "json", *files)
    rows = [json.loads(line) for line in out.splitlines()]
    for row in rows: # as a reader would that keeps 53 bits
        for name, value in row.items():
            if isinstance(value, int) and abs(value) > 1 << 53:
                row[name] = int(row["exact"][name])
    check_rows("json", [[row[n] for n in NAMES] for row in rows], truth)
    out, _ = run(folder, *files)
    lines = [line.split() for line in out.decode().splitlines()]
    assert lines[0] == NAMES + ["index", "findings"]
    check_rows("text", lines[1:], truth)


READ = """
import numpy, sys
a = numpy.load(sys.argv[1])
print(a.dtype.descr)
a['f'].tofile(sys.argv[2] + '.f'); a['wide'].tofile(sys.argv[2] + '.wide')
a['big'].tofile(sys.argv[2] + '.big'); a['neg'].tofile(sys.argv[2] + '.neg')
a['d'].tofile(sys.argv[2] + '.d')
"""


def npy(folder, truth, python):
    files = ["buffer.bin", "image.elf"]
    run(folder, "--to", "x.npy", *files)
    out, _ = run(folder, "-o", "npy", *files)
    with open(folder + "/x.npy", "rb") as f:
        assert f.read() == out, "a pipe has other bytes than a file"
    assert out[:8] == b"\x93NUMPY\3\0"
    n = 12 + struct.unpack("<I", out[8:12])[0]
    assert n % 64 == 0
    for row, at in zip(truth, range(n, len(out), 44)):
        assert struct.unpack("<IIIQQQ", out[at:at + 36]) == row
    if not python:
        return
    said = subprocess.run([python, "-c", READ, "x.npy", "x"], cwd=folder,
                          check=True, capture_output=True).stdout
    assert eval(said) == [
        ("u", "<u4"), ("d", "<i4"), ("f", "<f4"), ("big", "<u8"),
        ("wide", "<f8"), ("neg", "<i8"), ("index", "<u8")], said
    for name, form, i in (("f", "I", 2), ("wide", "Q", 4), ("big", "Q", 3),
                          ("neg", "Q", 5), ("d", "I", 1)):
        with open(f"{folder}/x.{name}", "rb") as f:
            values = struct.unpack(f"<{len(truth)}{form}", f.read())
        assert list(values) == [row[i] for row in truth], name


def all_tables(folder, python):
    files = ["buffer.bin", "image.elf"]
    _, err = run(folder, *files, rc=1)
    assert "3 format strings" in err and "ray %u hit t=%f" in err, err
    out, err = run(folder, "--format-string", "hit", "-o", "csv", *files)
    assert out.count(b"\n") == 1001, out[:200]
    out, err = run(folder, "--all", *files, rc=2)
    assert "200 entries of unknown ids are in no table" in err, err
    assert out.count(b"==> ") == 3 and out.count(b"\n") > 2300
    run(folder, "--all", "--to", "tables", "-o", "csv", *files, rc=2)
    names = sorted(os.listdir(folder + "/tables"))
    assert names == ["done.csv", "ray_hit_t.csv", "ray_missed.csv"], names
    out, _ = run(folder, "--all", "-o", "json", *files, rc=2)
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 2334 and rows[0]["table"] == "ray_hit_t"
    run(folder, "--all", "--to", "x.npz", *files, rc=2)
    if python:
        said = subprocess.run(
            [python, "-c", "import numpy; z = numpy.load('x.npz');"
             "print({n: len(z[n]) for n in z.files},"
             " z['ray_hit_t']['t'].sum(), z['ray_missed']['ray'].sum())"],
            cwd=folder, check=True, capture_output=True, text=True).stdout
        assert said == ("{'ray_hit_t': 1000, 'ray_missed': 1000, 'done': 334}"
                        " 124875.0 999000\n"), said
    _, err = run(folder, "--all", "-o", "csv", *files, rc=1)
    assert "need a folder" in err, err
    # A name that promises another form makes no file.
    one = ["--id", "2222", *files]
    _, err = run(folder, "--to", "x.parquet", *one, rc=1)
    assert "x.parquet: which form? Names end in one of .txt" in err, err
    assert not os.path.exists(folder + "/x.parquet")
    for name, first in (("plain", b"ray"), ("./x.d", None), (".hidden", b"ray"),
                        ("x.CSV", b"ray,"), ("x.TXT", b"ray")):
        run(folder, "--to", name, *one, rc=0 if first else 1)
        if first:
            with open(f"{folder}/{name}", "rb") as f:
                assert f.read().lstrip().startswith(first), name
    run(folder, "-o", "csv", "--to", "x.parquet", *one)
    with open(folder + "/buffer.bin", "rb") as f:
        piped = f.read()
    _, err = run(folder, "-", "image.elf", piped=piped, rc=1)
    assert "read only once" in err, err
    out, _ = run(folder, "--id", "2222", "-o", "csv", "-", "image.elf",
                 piped=piped)
    assert out.count(b"\n") == 1001


def columns(folder):
    files = ["--id", "2221", "buffer.bin", "image.elf"]
    out, _ = run(folder, "-o", "csv", "-n", "2", "--columns",
                 "t=seconds,index,ray", "--columns", "a1=again", *files)
    assert out == b"seconds,index,ray,again\n0.0,0,0,0.0\n0.25,4,1,0.25\n", out
    _, err = run(folder, "--columns", "ray,nothing", *files, rc=1)
    assert "no column is called 'nothing'" in err, err
    # Whatever somebody calls a column is made a name.
    out, _ = run(folder, "-o", "csv", "-n", "1", "--columns",
                 "t=\x1b[2J,ray=,t=RAY,t=ray,t=x\"y", *files)
    assert out.splitlines()[0] == b'_[2J,column,RAY,ray_2,"x""y"', out


def hostile(folder, python):
    files = ["buffer.bin", "image.elf"]
    out, err = run(folder, "-o", "json", *files, rc=2)
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 4 and len(set(map(str.lower, rows[0]))) == 13, rows[0]
    assert rows[0]["index_2"] == 0 and rows[3]["index"] == 4, rows
    assert rows[1]["findings_2"] == "payload_short" and rows[1]["nulls"] is None
    assert rows[2]["findings_2"] == "payload_long", rows[2]
    run(folder, "--to", "x.npy", *files, rc=2)
    if python:
        said = subprocess.run(
            [python, "-c", "import numpy; a = numpy.load('x.npy');"
             "print(a['nulls of rows'].tolist() if 'nulls of rows' in"
             " a.dtype.names else a['nulls'].tolist(), a['findings_2'].tolist(),"
             " a['select'].tolist())"], cwd=folder, check=True,
            capture_output=True, text=True).stdout
        assert "b'payload_short'" in said and "[0, 0, 0, 0]" in said, said


def many_columns(folder):
    """A header that NumPy reads only when it is asked to."""
    s = inputs.box.Str(0x401, "%u " * 700, "4" * 700)
    inputs.write({"m.elf": inputs.box.image(s),
                  "m.bin": inputs.box.buffer(s(*range(700)))}, folder)
    _, err = run(folder, "--to", "m.npy", "m.bin", "m.elf")
    told = int(err.split("max_header_size=")[1].split()[0])
    with open(f"{folder}/m.npy", "rb") as f:
        assert told == int.from_bytes(f.read(12)[8:], "little") > 10000, err
    _, err = run(folder, "--to", "f.npy", "--columns", "a0,a1", "m.bin", "m.elf")
    assert "max_header_size" not in err, err


def main():
    python = numpy()
    if not python:
        print("no python3-numpy: its files are looked at only here")
    with tempfile.TemporaryDirectory() as folder:
        files, truth = inputs.bits()
        inputs.write(files, folder)
        text_forms(folder, truth)
        npy(folder, truth, python)
    with tempfile.TemporaryDirectory() as folder:
        inputs.write(inputs.several(1000), folder)
        all_tables(folder, python)
        columns(folder)
        many_columns(folder)
    with tempfile.TemporaryDirectory() as folder:
        inputs.write(inputs.hostile(), folder)
        hostile(folder, python)
    with tempfile.TemporaryDirectory() as folder:
        inputs.write(inputs.wide(4096), folder)
        out, _ = run(folder, "-o", "csv", "buffer.bin", "image.elf")
        rows = list(csv.reader(io.StringIO(out.decode())))
        assert len(rows) == 3 and len(set(rows[0])) == 4098
        assert rows[2][:4096] == [str(i) for i in range(4096, 8192)]


if __name__ == "__main__":
    main()
