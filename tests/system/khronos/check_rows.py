#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_rows.py PROGRAM FOLDER: the tables of what the validation layer prints
and refuses, one row after another.

FOLDER holds conformance.json and quirks.json (format string, operand types,
value dwords, masks and the text that the layer's own formatter makes of them)
and misformat.json (what its checker says: E nothing is ever printed, E* an
error, yet it prints, W a warning). `own` is what we print by default, where
that is something else.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "make"))
import spirv_module  # noqa: E402

SHADER = 7


def load(folder, name):
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as f:
        return json.load(f)


class Runner:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.n = self.failures = 0

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], cwd=self.folder,
                              capture_output=True, timeout=60)
        if done.returncode not in (0, 2):
            self.wrong("exit status %d: %s" % (done.returncode,
                                               done.stderr.decode()))
        return done.stdout.decode()

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as f:
            f.write(data)

    def wrong(self, text):
        self.failures += 1
        print(text)

    def compare(self, row, what, want, got):
        self.n += 1
        if want != got:
            self.wrong("%s %r, %s:\n  expected %r\n  given    %r" % (
                row.get("test", ""), row["format"], what, want, got))

    def decode(self, row, layout, *more):
        module = spirv_module.Module()
        call = module.call(module.string(row["format"]), row["types"])
        self.write("row.spv", module.bytes())
        record = spirv_module.record(
            layout, SHADER, module, call, [int(w, 16) for w in row["words"]],
            masks=row.get("masks", (0, 0, 0)))
        self.write("row.bin", spirv_module.printf_buffer(layout, [record]))
        return self.run("decode", "--format", "debugprintf", "--layout", layout,
                        "--output", "raw", "--shader", "%d=row.spv" % SHADER,
                        *more, "--buffer", "row.bin")

    def check_text(self, row):
        if row.get("text") is None:
            return
        # The values are the same in both; so is the layer's text.
        for layout in ("p6", "p5"):
            self.compare(row, "--compat khronos, " + layout, row["text"],
                         self.decode(row, layout, "--compat", "khronos"))
        self.compare(row, "default", row.get("own", row["text"]),
                     self.decode(row, "p6"))

    def check_verdict(self, row):
        module = spirv_module.Module()
        module.call(module.string(row["format"]), row["types"])
        self.write("row.spv", module.bytes())
        lines = self.run("spirv-check", "row.spv").splitlines()
        got = "-"
        if any("; no record is ever written" in x for x in lines):
            got = "E"
        elif any("; records are written all the same" in x for x in lines):
            got = "E*"
        elif any(": warning: " in x for x in lines):
            got = "W"
        self.compare(row, "verdict", row["verdict"], got)


def main():
    program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(program, scratch)
        for name in ("conformance", "quirks", "misformat"):
            for row in load(folder, name):
                if "words" in row:
                    runner.check_text(row)
                if "verdict" in row:
                    runner.check_verdict(row)
    print("%d checks, %d failed" % (runner.n, runner.failures))
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(main())
