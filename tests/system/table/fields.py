#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fields.py PRINTFDECODE: --fields has each argument once, by a name of its own,
with the value that `args` has; without it not a byte is another one."""
import json
import os
import subprocess
import sys
import tempfile

import inputs

PROGRAM = os.path.abspath(sys.argv[1])
box = inputs.box
TEXTS = (  # format string, layout, names
    ("ray %u hit t=%f\n", "44", ["ray", "t"]),
    ("a1=%u . %u\n", "44", ["a1", "a1_2"]),
    ("x %u x %u . %u\n", "444", ["x", "a1", "a2"]),
    ("a300=%u a0=%u\n", "44", ["a0_2", "a0"]),
    ("at %u,%u\n", "44", ["at.x", "at.y"]),
    ("gr\u00f6\u00dfe %u \u6e29\u5ea6=%u\n", "44",
     ["gr\u00f6\u00dfe", "\u6e29\u5ea6"]),
    ("big %llu less %lld\n", "88", ["big", "less"]),
    ("none\n", "", []),
    (" ".join(300 * ["%u"]), 300 * "4", [f"a{i}" for i in range(300)]),
)
VALUES = [7, (1 << 53) + 1, 3]


def once(pairs):
    assert len({name for name, _ in pairs}) == len(pairs), pairs
    return dict(pairs)


def run(folder, *words):
    return subprocess.run([PROGRAM, "-o", "json", *words, "b.bin", "e.elf"],
                          cwd=folder, stdout=subprocess.PIPE, check=True,
                          stderr=subprocess.DEVNULL).stdout.decode()


def main():
    strings = [box.Str(0x100 + i, text.encode(), layout)
               for i, (text, layout, _) in enumerate(TEXTS)]
    entries = [s(*(VALUES[k % 3] for k in range(len(TEXTS[i][1]))))
               for i, s in enumerate(strings)]
    with tempfile.TemporaryDirectory() as folder:
        inputs.write({"e.elf": box.image(*strings),
                      "b.bin": box.buffer(*entries, *entries)}, folder)
        rows = [json.loads(line, object_pairs_hook=once) for line
                in run(folder, "--fields").splitlines()]
        plain = run(folder)
        assert plain == run(folder, "--fields=never") == run(folder,
                                                            "--fields=auto")
        rows = [row for row in rows if row["type"] == "entry"]
        assert len(rows) == 2 * len(TEXTS)
        for row, (_, _, names) in zip(rows, TEXTS + TEXTS):
            assert list(row["fields"]) == names, (row, names)
            assert list(row["fields"].values()) == row["args"], row
            exact = dict(zip(names, row.get("args_exact", [])))
            assert row.pop("fields_exact", {}) == {
                name: text for name, text in exact.items() if text}, row
            row.pop("fields")
        assert rows == [row for row in map(json.loads, plain.splitlines())
                        if row["type"] == "entry"]


main()
