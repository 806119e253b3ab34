#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds files in memory of its own, says where, and waits.
usage: holder.py FILE..."""
import ctypes
import mmap
import os
import sys
import time

PAGE = 4096
kept = []
for path in sys.argv[1:]:
    size = os.path.getsize(path)
    # With a page that nobody touches around each, so that they stand apart.
    memory = mmap.mmap(-1, -(-size // PAGE) * PAGE + 2 * PAGE,
                       flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with open(path, 'rb', buffering=0) as f:
        assert f.readinto(memoryview(memory)[PAGE:PAGE + size]) == size
    kept.append(memory)
print(*(hex(ctypes.addressof(ctypes.c_char.from_buffer(m)) + PAGE)
        for m in kept), flush=True)
time.sleep(600)
