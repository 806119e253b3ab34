#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""terminal.py PRINTFDECODE: on a terminal pictures are drawn there, in what the
terminal says that it has. The terminal is this test."""
import base64
import fcntl
import os
import pty
import re
import select
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
PIXEL = box.Str(0x51, "pixel %d,%d: %f\n", "448")
COLUMNS, ROWS = 60, 20
KITTY = b"\x1b_Gi=31;OK\x1b\\"
WITHOUT, WITH_SIXEL = b"\x1b[?62;22c", b"\x1b[?62;4;22c"


def run(*words, answer=WITHOUT, term="xterm"):
    """What the terminal is sent, without the questions; how they are answered.
    """
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(TERM=term, ASAN_OPTIONS="exitcode=99:detect_leaks=1")
        fcntl.ioctl(1, termios.TIOCSWINSZ,
                    struct.pack("HHHH", ROWS, COLUMNS, 8 * COLUMNS, 16 * ROWS))
        os.execv(PROGRAM, [PROGRAM, "plot", *words])
    got, asked, until = b"", False, time.monotonic() + 120
    while time.monotonic() < until:
        if not select.select([fd], [], [], 1)[0]:
            continue
        try:
            more = os.read(fd, 1 << 16)
        except OSError:
            break
        if not more:
            break
        got += more
        if not asked and b"\x1b[c" in got:
            asked = True
            got = got[got.index(b"\x1b[c") + 3:]
            os.write(fd, answer)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 0, (words, status, got[-2000:])
    return got.replace(b"\r\n", b"\n"), asked


def six(data):
    """A picture of sixels as rows of (r, g, b) in percent."""
    body = re.search(rb"\x1bPq(.*?)\x1b\\", data, re.S)[1].decode()
    width, height = map(int, re.match(r'"1;1;(\d+);(\d+)', body).groups())
    rows = [[None] * width for _ in range(height)]
    palette, colour, x, y, n = {}, 0, 0, 0, 1
    body = body[re.match(r'"[\d;]*', body).end():]
    for m in re.finditer(r"#(\d+)(?:;2;(\d+);(\d+);(\d+))?|!(\d+)|([$-])|([?-~])",
                         body):
        if m[1]:
            colour = int(m[1])
            if m[2]:
                palette[colour] = tuple(map(int, m.group(2, 3, 4)))
        elif m[5]:
            n = int(m[5])
        elif m[6]:
            x, y = 0, y + (6 if m[6] == "-" else 0)
        else:
            for i in range(n):
                for bit in range(6):
                    if ord(m[7]) - 63 >> bit & 1:
                        rows[y + bit][x + i] = palette[colour]
            x, n = x + n, 1
    return rows


def kitty(data):
    pieces = re.findall(rb"\x1b_G([^;]*);([^\x1b]*)\x1b\\", data)
    assert pieces[0][0].startswith(b"a=T,f=100"), pieces[0][0]
    assert [b"m=1" in p[0] for p in pieces] == \
        [True] * (len(pieces) - 1) + [False]
    return png.read(base64.b64decode(b"".join(p[1] for p in pieces)))


def half_blocks(data):
    """The colours of both halves of each character that is one."""
    return [(tuple(map(int, m[:3])), tuple(map(int, m[3:]))) for m in
            re.findall(r"\x1b\[38;2;(\d+);(\d+);(\d+);48;2;(\d+);(\d+);(\d+)m▀",
                       data.decode())]


def main():
    points = [(x, y, float(x + y)) for y in range(16) for x in range(24)]
    for name, data in (("app.elf", box.image(PIXEL)),
                       ("dump.bin", box.buffer(
                           *(PIXEL(x, y, struct.unpack(
                               "<Q", struct.pack("<d", v))[0])
                             for x, y, v in points)))):
        with open(name, "wb") as f:
            f.write(data)
    files = ("dump.bin", "app.elf")
    heat = ("heat", "--x", "0", "--y", "1", "--value", "2")
    file = subprocess.run([PROGRAM, "plot", *heat, "--bare", "-o", "png",
                           *files], stdout=subprocess.PIPE, check=True).stdout
    cells = png.read(file)
    colours = {c for row in cells for c in row}

    got, asked = run(*heat, *files)
    assert asked
    blocks = half_blocks(got)
    across = 24 * (COLUMNS - 13 if COLUMNS - 13 < 24 else (COLUMNS - 13) // 24)
    assert len(blocks) == across * 16 // 2, len(blocks)
    wanted = [(cells[2 * j][i], cells[2 * j + 1][i])
              for j in range(8) for i in range(24)]
    assert blocks == wanted
    assert all(len(re.sub(r"\x1b\[[\d;]*m", "", line)) <= COLUMNS + 80
               for line in got.decode().split("\n"))

    got, _ = run(*heat, *files, answer=WITH_SIXEL)
    shown = six(got)
    percent = {tuple((v * 100 + 127) // 255 for v in c) for c in colours}
    seen = {c for row in shown for c in row}
    assert None not in seen
    assert len(seen & percent) > len(percent) // 3, (len(seen & percent))

    got, _ = run(*heat, *files, answer=KITTY + WITH_SIXEL)
    assert colours <= {c for row in kitty(got) for c in row}

    for term, answer in (("xterm", b""), ("dumb", WITHOUT)):
        got, asked = run(*heat, *files, answer=answer, term=term)
        assert half_blocks(got) and asked == (term != "dumb")

    got, _ = run("line", "--y", "2", *files)
    dots = [c for c in got.decode() if "⠀" <= c <= "⣿"]
    assert any(c != "⠀" for c in dots) and b"\x1b[38" not in got
    got, _ = run("line", "--y", "2", *files, "-o", "blocks")
    assert half_blocks(got)
    print("ok")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
