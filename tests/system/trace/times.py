#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""times.py PRINTFDECODE: the time that a capture has of a buffer is shown with
its entries, to the nanosecond, by whatever shows times."""
import csv
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "table"))
import inputs  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
ENV = dict(os.environ, ASAN_OPTIONS="exitcode=99", TZ="Asia/Tokyo")
WHEN = 1234567890 * 10 ** 9 + 123456789
TEXT = "2009-02-13T23:31:30.123456789Z"


def run(folder, *words):
    done = subprocess.run([PROGRAM, *words], cwd=folder, env=ENV,
                          capture_output=True, timeout=120)
    if done.returncode:
        sys.exit("%s: exit status %d\n%s" % (" ".join(words), done.returncode,
                                             done.stderr.decode()))
    return done.stdout.decode()


def check(folder, *words):
    run(folder, "capture", "--force", "-o", "c", *words, "buffer.bin", "image.elf")
    messages = run(folder, "c").splitlines()
    shown = run(folder, "--show", "time", "c").splitlines()
    assert messages and shown == ["[%s] %s" % (TEXT, m) for m in messages]
    with_index = run(folder, "--show", "time,id", "c").splitlines()
    assert with_index[0].startswith("[%s 0x000000001111] u=0" % TEXT)
    for line in run(folder, "-o", "json", "c").splitlines():
        record = json.loads(line)
        if record["type"] == "entry":
            assert record["time"] == TEXT
            assert record["time_unix_nano"] == str(WHEN)
    # What has no time shows none.
    assert run(folder, "--show", "time", "buffer.bin",
               "image.elf").splitlines() == messages
    table = run(folder, "table", "-o", "csv", "--columns", "u,time", "c")
    rows = list(csv.DictReader(table.splitlines()))
    assert len(rows) == len(messages)
    assert {row["time"] for row in rows} == {TEXT}, rows[0]


def main():
    with tempfile.TemporaryDirectory() as folder:
        inputs.write(inputs.bits()[0], folder)
        os.utime(os.path.join(folder, "buffer.bin"), ns=(WHEN, WHEN))
        check(folder)
        check(folder, "--entries")


main()
