#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""handed_over.py PRINTFDECODE RUN_COMP GLSLANG BACKWARDS: the header of the buffer
that run_comp shares is there before its entries, also where memcpy() writes its
first bytes last, as glibc's does. A reader that comes meanwhile takes entries
behind an empty header for those of an earlier run (`stale`)."""
import mmap
import os
import socket
import subprocess
import sys
import tempfile

PROGRAM, RUN_COMP, GLSLANG, BACKWARDS = map(os.path.abspath, sys.argv[1:5])
GROUPS = 4096
BYTES = GROUPS * 64 * 16
SHADER = """#version 450
layout(local_size_x = 64) in;
void main()
{
    PFD_PRINTF("line %u of many\\n", gl_GlobalInvocationID.x);
}
"""


def sh(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def first_buffer(listener):
    connection, _ = listener.accept()
    while True:
        data, fds, _, _ = socket.recv_fds(connection, 1 << 16, 8)
        for fd in fds:
            if os.fstat(fd).st_size == BYTES:
                return connection, mmap.mmap(fd, BYTES, prot=mmap.PROT_READ)
        assert data, "no buffer came"


def watch(memory):
    """Until the first entry is there. Entries are read before the header, which
    has to be there when any of them is."""
    middle = BYTES * 5 // 8
    n = 0
    while not any(memory[16:32]):
        is_begun = any(memory[middle:middle + 64])
        is_reserved = any(memory[:8])
        assert is_reserved or not is_begun, "entries behind an empty header"
        n += is_begun
    return n


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("m.comp", "w", encoding="utf-8") as f:
            f.write(SHADER)
        sh(PROGRAM, "scan", "m.comp", "-o", "w.comp", "--strings", "m.pfdb")
        sh(GLSLANG, "-V", "w.comp", "-o", "m.spv")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("input.sock")
        listener.listen()
        listener.settimeout(120)
        with subprocess.Popen(
                [RUN_COMP, "m.spv", str(GROUPS), "1", "1", "--strings",
                 "m.pfdb", "--buffer-bytes", str(BYTES)],
                env={**os.environ, "PRINTFDECODE_DIR": folder,
                     "LD_PRELOAD": BACKWARDS}) as p:
            connection, memory = first_buffer(listener)
            n = watch(memory)
            assert p.wait() == 0, p.returncode
            connection.close()
    assert n, "the copy was never met half-way"


main()
