# SPDX-License-Identifier: MIT
"""Buffers in the memory of a process: by address, and found. Skipped where one
process may not read another."""
import subprocess
import sys

import support

import printfdecode as pd

checks = support.Checks()
PROGRAM = """
import ctypes, mmap, sys
with open(sys.argv[1], "rb") as file:
    data = file.read()
pages = mmap.mmap(-1, 1 << 16)
pages[:len(data)] = data
place = ctypes.addressof(ctypes.c_char.from_buffer(pages))
print(place, len(data), flush=True)
sys.stdin.read()
"""


def main():
    want = [entry.message for entry in pd.open(support.SMALL, support.APP)]
    with subprocess.Popen([sys.executable, "-c", PROGRAM, support.SMALL], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        address, size = map(int, process.stdout.readline().split())
        try:
            d = pd.open(support.APP, pid=process.pid, address=address, size=size)
        except pd.Error as why:
            if "not permitted" in str(why):
                print(why)
                process.stdin.close()
                sys.exit(77)
            raise
        checks.equal("by address", [entry.message for entry in d], want)
        found = [entry.message for entry in pd.open(support.APP, pid=process.pid)]
        checks.equal("found", [message for message in want if message not in found], [])
        process.stdin.close()
    error = checks.raises("no process", pd.Error, lambda: pd.open(support.APP, pid=1 << 22))
    checks.true("it says why", "process" in str(error).lower())
    error = checks.raises("no core", pd.Error, lambda: pd.open(core=support.APP))
    checks.true("it says why not", str(error))
    checks.end()


main()
