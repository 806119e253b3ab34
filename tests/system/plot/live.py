#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live.py PRINTFDECODE: `plot --live` draws a file that grows again and again,
each time a whole picture, the last of all that came; on a terminal, too."""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

import png

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "make"))
import llpc_cases as box  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
ENV = dict(os.environ, ASAN_OPTIONS="exitcode=99:detect_leaks=1")
PIXEL = box.Str(0x51, "pixel %d,%d: %f\n", "448")
OTHER = box.Str(0x52, "other %d\n", "4")
SIDE = 16
PATIENCE = 120
HEAT = ["heat", "--x", "0", "--y", "1", "--value", "2", "--bare"]
FILES = ["dump.bin", "app.elf"]


def entry(i):
    value = struct.unpack("<Q", struct.pack("<d", i))[0]
    return PIXEL(i % SIDE, i // SIDE, value)


class Growing:
    """A buffer that holds more entries each time it is asked to."""

    def __init__(self, folder, *strings):
        self.name = os.path.join(folder, "dump.bin")
        self.whole = box.buffer(*map(entry, range(SIDE * SIDE)))
        with open(self.name, "wb") as f:
            f.write(box.buffer() + bytes(len(self.whole)))
        with open(os.path.join(folder, "app.elf"), "wb") as f:
            f.write(box.image(*strings or (PIXEL,)))

    def grow(self, n):
        made = box.buffer(*map(entry, range(n)))
        with open(self.name, "r+b") as f:
            f.seek(16)
            f.write(made[16:])
            f.flush()
            f.seek(0)
            f.write(made[:16])


def rows_in(path):
    try:
        with open(path, "rb") as f:
            return len(png.read(f.read()))  # whole, or it raises
    except FileNotFoundError:
        return 0


def wait_for(what, check):
    until = time.monotonic() + PATIENCE
    while not check():
        if time.monotonic() > until:
            sys.exit("in vain: " + what)
        time.sleep(0.01)


def once(folder):
    out = subprocess.run([PROGRAM, "plot", *HEAT, "-o", "png", *FILES],
                         cwd=folder, env=ENV, capture_output=True, check=True)
    return png.read(out.stdout)


def check_file(folder):
    growing = Growing(folder)
    to = os.path.join(folder, "out.png")
    p = subprocess.Popen([PROGRAM, "plot", *HEAT, "--live=50", "--to", "out.png",
                          *FILES], cwd=folder, env=ENV)
    try:
        for y in range(1, SIDE + 1):
            growing.grow(y * SIDE)
            wait_for("%d rows" % y, lambda: rows_in(to) == y)
        # Its mode is as of any file, and nothing lies beside it.
        mode = os.stat(to).st_mode & 0o777
        umask = os.umask(0)
        os.umask(umask)
        assert mode == 0o666 & ~umask, oct(mode)
        p.send_signal(signal.SIGINT)
        assert p.wait(PATIENCE) == 0, p.returncode
    finally:
        p.kill()
    assert sorted(os.listdir(folder)) == ["app.elf", "dump.bin", "out.png"]
    with open(to, "rb") as f:
        assert png.read(f.read()) == once(folder)


def check_end(folder):
    """All that came is in the last picture, however seldom they are drawn."""
    growing = Growing(folder)
    growing.grow(SIDE * SIDE)
    for words in (["--until-idle", "0.3"], ["--limit", str(SIDE * SIDE)]):
        subprocess.run([PROGRAM, "plot", *HEAT, "--live=1", "--to", "out.png",
                        *words, *FILES], cwd=folder, env=ENV, check=True,
                       timeout=PATIENCE)
        assert rows_in(os.path.join(folder, "out.png")) == SIDE
        os.unlink(os.path.join(folder, "out.png"))


def check_terminal(folder):
    growing = Growing(folder)
    pid, fd = pty.fork()
    if not pid:
        os.chdir(folder)
        os.environ.update(ENV, TERM="xterm")
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        os.execv(PROGRAM, [PROGRAM, "plot", *HEAT, "--live=20", "-o", "blocks",
                           *FILES])
    got = b""

    def frames():
        nonlocal got
        if select.select([fd], [], [], 0)[0]:
            got += os.read(fd, 1 << 16)
        return got.count(b"\x1b[?2026l")

    for y in range(1, 4):
        growing.grow(y * SIDE)
        wait_for("frame %d" % y, lambda: frames() >= y)
    os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            more = os.read(fd, 1 << 16)
        except OSError:
            break
        if not more:
            break
        got += more
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 0, (status, got[-300:])
    assert got.startswith(b"\x1b[?2026h\x1b[H\x1b[J"), got[:40]


def refused(folder, why, *words, files=FILES):
    done = subprocess.run([PROGRAM, "plot", *HEAT, *words, *files], cwd=folder,
                          env=ENV, capture_output=True, timeout=PATIENCE)
    said = done.stderr.decode()
    assert done.returncode == 1 and why in said, (words, done.returncode, said)


def check_refusals(folder):
    Growing(folder, PIXEL, OTHER)
    refused(folder, "choose by --format-string", "--live", "--to", "o.png")
    refused(folder, "draws on a terminal", "--live", "-o", "png")
    refused(folder, "1 to 100", "--live=0", "--to", "o.png")
    refused(folder, "--skip", "--live", "--skip", "3", "--to", "o.png")
    refused(folder, "are for --live", "--until-idle", "1", "--to", "o.png")
    refused(folder, "none such", "--live", "--to", "o.png", "--x", "none such",
            "--id", "51")
    refused(folder, "nothing to draw", "--live", "--to", "o.png",
            "--until-idle", "0.1", "--id", "51")
    os.mkfifo(os.path.join(folder, "pipe.png"))
    refused(folder, "is none", "--live", "--to", "pipe.png", "--id", "51")
    subprocess.run([PROGRAM, "capture", "-o", "c", *FILES], cwd=folder, env=ENV,
                   check=True)
    refused(folder, "without --live", "--live", "--to", "o.png", "--id", "51",
            files=["c"])
    assert "o.png" not in os.listdir(folder)


def main():
    for check in (check_file, check_end, check_terminal, check_refusals):
        with tempfile.TemporaryDirectory() as folder:
            check(folder)


main()
