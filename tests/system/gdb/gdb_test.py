# SPDX-License-Identifier: MIT
"""The script for gdb, in a live process and in a core: gdb_test.py PROGRAM SCRIPT
COMMAND BUFFER ELF. Skipped where gdb is not there, has no Python, or may not
trace."""
import os
import shutil
import subprocess
import sys
import tempfile

program, script, command, buffer, elf = map(os.path.abspath, sys.argv[1:6])
wrong = 0


def gdb(*commands, files=(program,)):
    words = ["gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off"]
    for one in (*commands,):
        words += ["-ex", one]
    done = subprocess.run(words + list(files), capture_output=True, text=True, timeout=300,
                          env=dict(os.environ, PRINTFDECODE=command, LC_ALL="C.UTF-8"),
                          check=False, errors="replace")
    return done.stdout, done.stderr


def check(what, holds, *show):
    global wrong
    if not holds:
        wrong += 1
        print(what, *show, sep="\n")


def main():
    if not shutil.which("gdb"):
        print("no gdb")
        sys.exit(77)
    out, _ = gdb("python print('has', 'Python')", files=())
    if "has Python" not in out:
        print("this gdb has no Python")
        sys.exit(77)
    want = subprocess.run([command, buffer, elf], capture_output=True, text=True,
                          check=False, errors="replace").stdout
    source, start = "source " + script, "run %s >/dev/null" % buffer
    begin = (source, "break stop_here", start)
    out, err = gdb(*begin, "continue", "info gpu-printf buffer n_buffer %s" % elf)
    if "ptrace" in err or "Could not trace" in err:
        print("gdb may not trace a process here")
        sys.exit(77)
    check("live", want in out, out, err)
    shown = "info gpu-printf buffer n_buffer %s -- --limit 1" % elf
    out, err = gdb(*begin, "continue", shown)
    first, second = want.splitlines()[:2]
    check("options", first in out and second not in out, out, err)

    # What is new at each stop, and a buffer that begins anew.
    out, err = gdb(*begin, "gpu-printf follow buffer n_buffer %s" % elf, "continue", "continue",
                   "gpu-printf follow off", "continue")
    check("follow", out.count(first) == 2 and "begins anew" in out, out, err)
    check("follow: all", all(line in out for line in want.splitlines()), out, err)

    # What is wrong is said.
    for words, said in (("buffer", "needs a size"), ("nothing 7 " + elf, "not a number"),
                        ("buffer 0 " + elf, "at least one byte"),
                        ("8 64 " + elf, "Cannot access memory")):
        out, err = gdb(*begin, "info gpu-printf " + words)
        check(words, said in err, out, err)
    out, err = gdb(source, "info gpu-printf", files=())
    check("no process", "neither a process nor a core" in err, out, err)

    with tempfile.TemporaryDirectory() as folder:
        core = os.path.join(folder, "core")
        gdb(*begin, "continue", "generate-core-file " + core)
        out, err = gdb(source, "info gpu-printf buffer n_buffer " + elf, files=(program, core))
        check("core", want in out, out, err)
        # Without an address, buffers are found, as with --core.
        found = subprocess.run([command, "--core", core, elf], capture_output=True, text=True,
                               check=False, errors="replace").stdout
        out, err = gdb(source, "info gpu-printf " + elf, files=(program, core))
        check("found", found and found in out, out, err, found)
    out, err = gdb(*begin, "continue", "info gpu-printf " + elf)
    check("found live", want in out, out, err)
    print("%d wrong" % wrong)
    sys.exit(wrong > 0)


main()
