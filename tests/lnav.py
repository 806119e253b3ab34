#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lnav.py FORMAT [LNAV]: lnav opens what a daemon sends: times, levels, and
fields that it hides; left out where lnav is not installed. FORMAT `-`: lnav has
found the format itself, as a package installs it.

lnav 0.12 takes a level only from a field that the format defines, and of two formats
the one that shows more fields of a line: our entries look like packets to it otherwise,
and lines before the one that it takes for ours are not shown."""
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

FORMAT, LNAV = (sys.argv[1:] + ["lnav"])[:2]
STAMP = {"time_unix_nano": "1790000000000000001"}
ENTRY = {"type": "entry", "message": "one 7\n", "format": "llpc", "id": "0x01",
         "format_string": "one %d\n", "args": [7], "offset": 16, "source": "b"}
RECORDS = [
    (ENTRY, "info"),
    ({"type": "finding", "kind": "unwritten", "text": "zero entry", "offset": 28,
      "source": "b"}, "warning"),
    ({"type": "gap", "missed": 5, "reason": "sender_lost"}, "error"),
    (dict(ENTRY, origin={"level": "error", "file": "a.cu", "line": 7}), "error"),
    (dict(ENTRY, origin={"level": "debug"}), "debug"),
    (dict(ENTRY, stream="stderr"), "error"),
    (dict(ENTRY, stream="stdout"), "info"),
]


def lnav(folder, *words):
    env = dict(os.environ, HOME=folder, XDG_CONFIG_HOME=f"{folder}/.config",
               TERM="xterm")
    done = subprocess.run([LNAV, *words], env=env, timeout=120,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode or "error" in done.stderr:
        sys.exit(f"{words}: {done.returncode}\n{done.stderr}")
    return done.stdout


def main():
    if not shutil.which(LNAV):
        print(f"left out: {LNAV} is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        if FORMAT != "-":
            lnav(folder, "-i", os.path.abspath(FORMAT))
        path = f"{folder}/lines.json"
        with open(path, "w") as f:
            for i, (record, _) in enumerate(RECORDS):
                head = {"type": record["type"], "sequence": i + 1,
                        "time": f"2026-09-21T14:13:2{i}.000000001Z", **STAMP}
                f.write(json.dumps({**head, **record}) + "\n")
        rows = list(csv.DictReader(io.StringIO(lnav(
            folder, "-n", "-c", ";SELECT log_time, log_level, source, kind, missed, id,"
            " sequence, format_string, text FROM printfdecode_log",
            "-c", ":write-csv-to -", path))))
        assert [r["log_level"] for r in rows] == [r[1] for r in RECORDS], rows
        for i, (row, (record, _)) in enumerate(zip(rows, RECORDS)):
            assert row["log_time"] == f"2026-09-21 14:13:2{i}.000", row
            assert row["sequence"] == str(i + 1), row
            for name in "source", "kind", "id", "missed", "text":
                assert row[name] == str(record.get(name, "<NULL>")), (name, row)
        shown = lnav(folder, "-n", path)
        assert "one 7" in shown and "unwritten zero entry" in shown, shown
        assert "sender_lost" in shown and "0x01" not in shown, shown
        # With a filter of its own it finds what we call an error.
        hits = lnav(folder, "-n", "-c", ":set-min-log-level error", path)
        assert hits.count("one 7") == 2, hits


main()
