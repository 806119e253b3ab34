#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""no_library.py RUNNER...: where Vulkan or OpenCL cannot be loaded, a runner says
so in a sentence, and its status is that of no device."""
import os
import struct
import subprocess
import sys
import tempfile

SHADER = struct.pack("<10I", 0x07230203, 0x10000, 0, 8, 0, 5 << 16 | 15, 5, 1,
                     int.from_bytes(b"main", "little"), 0)
RUNS = {
    "run_comp": ("Vulkan", "libvulkan.so.1", ["shader.spv", "1", "1", "1"]),
    "run_cl": ("OpenCL", "libOpenCL.so.1", ["a.cl", "f", "1", "--to", "out"]),
}


def main():
    for runner in map(os.path.abspath, sys.argv[1:]):
        noun, soname, words = RUNS[os.path.basename(runner)]
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/shader.spv", "wb") as f:
                f.write(SHADER)
            # A file that is no library stands in its place.
            with open(f"{folder}/{soname}", "wb"):
                pass
            path = [folder, os.environ.get("LD_LIBRARY_PATH", "")]
            p = subprocess.run(
                [runner, *words], cwd=folder, text=True, timeout=60,
                env={**os.environ,
                     "LD_LIBRARY_PATH": ":".join(filter(None, path))},
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert p.returncode == 77, (p.returncode, p.stderr)
        assert p.stderr.startswith(f"{noun}: {soname} cannot be loaded: "), \
            p.stderr
        assert p.stderr.count("\n") == 1 and "Debian: " in p.stderr, p.stderr


main()
