# SPDX-License-Identifier: MIT
"""What the tests of the Python package share."""
import gzip
import os
import struct
import subprocess
import sys

SOURCE = os.path.normpath(os.path.join(os.path.dirname(__file__), "../../.."))
DATA = os.path.join(SOURCE, "examples/data")
SMALL = os.path.join(DATA, "small.bin")
APP = os.path.join(DATA, "app.elf")
COMMAND = os.environ.get("PRINTFDECODE", "printfdecode")

sys.dont_write_bytecode = True


def many(times):
    """small.bin as if its entries had been printed so many times."""
    with open(SMALL, "rb") as file:
        data = file.read()
    used, = struct.unpack_from("<Q", data)
    body = data[16:16 + 4 * used]
    return struct.pack("<QQ", len(body) * times // 4, 0) + body * times


def command(*words, **how):
    """Runs the command, which has a sanitizer of its own where Python loads one."""
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return subprocess.run([COMMAND, *words], capture_output=True, check=False, env=env, **how)


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return file.read()


class Checks:
    """Counts what holds, and prints what does not."""

    def __init__(self):
        self.n = self.n_wrong = 0

    def equal(self, what, got, want):
        self.n += 1
        if got != want:
            self.n_wrong += 1
            print("%s: %r, not %r" % (what, got, want))

    def true(self, what, holds):
        self.equal(what, bool(holds), True)

    def raises(self, what, error, call):
        try:
            call()
        except error as caught:
            self.n += 1
            return caught
        self.n += 1
        self.n_wrong += 1
        print("%s: no %s" % (what, error.__name__))
        return None

    def end(self):
        print("%d checks, %d wrong" % (self.n, self.n_wrong))
        sys.exit(self.n_wrong > 0 or self.n == 0)
