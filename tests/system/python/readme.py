# SPDX-License-Identifier: MIT
"""The README's blocks run, in an empty folder with a buffer and its strings."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import support

checks = support.Checks()


def main():
    with open(os.path.join(support.SOURCE, "python/README.md"), encoding="utf-8") as file:
        text = file.read()
    checks.true("at most 50 lines", len(text.splitlines()) <= 50)
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    checks.equal("blocks", len(blocks), 2)
    want = (["Output:", "64 0 4096 ()", "entries", "11"], ["ray"])
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(support.SMALL, os.path.join(folder, "dump.bin"))
        shutil.copy(support.APP, folder)
        for block, words in zip(blocks, want):
            done = subprocess.run([sys.executable, "-W", "error::DeprecationWarning", "-c", block],
                                  cwd=folder, capture_output=True, text=True, timeout=200,
                                  check=False)
            checks.equal("status", (done.returncode, done.stderr), (0, ""))
            for word in words:
                checks.true(word + " in " + done.stdout[-500:], word in done.stdout)
        with open(os.path.join(folder, "rays.png"), "rb") as file:
            checks.equal("a picture", file.read(8), b"\x89PNG\r\n\x1a\n")
    checks.end()


main()
