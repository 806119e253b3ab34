#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lossless.py PRINTFDECODE RUN_COMP PRINTFDECODED GLSLANG [GROUPS]: nothing is
lost in `run`, in `run --vulkan-debug-printf` and in `follow` of a daemon that
waits, whatever reads the lines slowly. GROUPS of 64 lines each: 156250 for ten
million."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM, RUN_COMP, DAEMON, GLSLANG = map(os.path.abspath, sys.argv[1:5])
GROUPS = int(sys.argv[5]) if len(sys.argv) > 5 else 3125
COUNT = 64 * GROUPS
BYTES = str(32 * COUNT + 4096)
SLEEP = 1 if GROUPS < 10000 else 5
SHADER = """#version 450
%s
layout(local_size_x = 64) in;
void main()
{
    uint i = gl_GlobalInvocationID.x;
    %s("line %%u of many\\n", i);
}
"""
CONFIG = """drain: 30d
inputs:
  - {type: listen, address: "unix:T/input.sock", settle: 10s}
outputs:
  - {type: listen, address: "unix:T/lines.sock", on_lag: wait}
"""


def sh(*words, **more):
    return subprocess.run(words, check=True, **more)


def count(out, what):
    """Every line is there once."""
    seen = bytearray(COUNT)
    n = 0
    for line in out:
        m = re.fullmatch(rb"line (\d+) of many\n", line)
        assert m, (what, line)
        assert not seen[int(m[1])], (what, line)
        seen[int(m[1])] = 1
        n += 1
    assert n == COUNT, (what, n, COUNT)


def read_slowly(words, what, says=None, **more):
    p = subprocess.Popen(words, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE if says else None, **more)
    time.sleep(SLEEP)
    count(p.stdout, what)
    err = p.stderr.read().decode() if says else ""
    assert p.wait() == 0, (what, p.returncode)
    assert not says or says in err, (what, err)


def followed(folder, program):
    """A daemon as run has it; its follower waits, and so does it."""
    with open(f"{folder}/config.yaml", "w") as f:
        f.write(CONFIG.replace("T/", folder + "/"))
    env = {**os.environ, "PRINTFDECODE_DIR": folder}
    daemon = subprocess.Popen([DAEMON, "--config", f"{folder}/config.yaml"],
                              stderr=subprocess.DEVNULL)
    while not os.path.exists(f"{folder}/lines.sock"):
        time.sleep(0.01)
    reader = subprocess.Popen([PROGRAM, "follow", f"unix:{folder}/lines.sock"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)  # it asks
    sh(*program, env=env)
    daemon.send_signal(signal.SIGTERM)
    time.sleep(SLEEP)
    count(reader.stdout, "follow")
    assert daemon.wait() == 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        os.chdir(folder)
        with open("m.comp", "w") as f:
            f.write(SHADER % ("", "PFD_PRINTF"))
        with open("d.comp", "w") as f:
            f.write(SHADER % ("#extension GL_EXT_debug_printf : require",
                              "debugPrintfEXT"))
        quiet = {"stdout": subprocess.DEVNULL}
        sh(PROGRAM, "scan", "m.comp", "-o", "w.comp", "--strings", "m.pfdb")
        sh(GLSLANG, "-V", "w.comp", "-o", "m.spv", **quiet)
        sh(GLSLANG, "-V", "--target-env", "vulkan1.1", "d.comp", "-o", "d.spv",
           **quiet)
        ours = [RUN_COMP, "m.spv", str(GROUPS), "1", "1", "--strings", "m.pfdb",
                "--buffer-bytes", BYTES]
        run = [PROGRAM, "run"]
        read_slowly([*run, "--", *ours], "run")
        read_slowly([*run, "--spool-max", "64KiB", "--", *ours],
                    "run with a small spool",
                    "--spool-max is reached: the program may"
                    if COUNT > 1000000 else None)
        followed(folder, ours)
        has_validation = subprocess.run(
            [*run, "--vulkan-debug-printf", "--", "true"],
            stderr=subprocess.PIPE).returncode == 0
        if has_validation:
            read_slowly([*run, "--vulkan-debug-printf", "--buffer-bytes",
                         str(100 * COUNT), "--", RUN_COMP, "d.spv", str(GROUPS),
                         "1", "1"], "run --vulkan-debug-printf")
        else:
            print("no validation layer: debugPrintf was left out")
        left = [f for f in os.listdir(folder) if f.startswith("printfdecode-")]
        assert not left, left


main()
