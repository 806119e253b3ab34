#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot.py PRINTFDECODE: pictures are what the values say, pixel by pixel, with
each reducer and scale, in whatever order and range the values come; what is
not drawn is said."""
import fractions
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import png

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "make"))
import llpc_cases as box  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
ENV = dict(os.environ, ASAN_OPTIONS="exitcode=99:detect_leaks=1")
NAN, PLUS, MINUS = (255, 0, 255), (255, 40, 0), (80, 0, 255)
EMPTY = (255, 255, 255)
PIXEL = box.Str(0x51, "pixel %d,%d: %f\n", "448")
WIDE = box.Str(0x52, "at=%llu y=%lld v=%lld\n", "888")
SHORT = box.Str(0x54, "pixel %d,%d: %f\n", "444")
WHOLE = box.Str(0x55, "whole %d,%d: %d\n", "444")
OTHER = box.Str(0x56, "other %d\n", "4")
FLOATS = box.Str(0x53, "x=%f y=%f v=%f\n", "888")


def bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def low(value, n):
    return value & (1 << n) - 1


def pixels_of(points):
    return [PIXEL(low(x, 32), low(y, 32), bits(v)) for x, y, v in points]


def run(folder, *words, rc=0, piped=None):
    done = subprocess.run([PROGRAM, "plot", *words], cwd=folder, env=ENV,
                          capture_output=True, timeout=240, input=piped)
    if done.returncode != rc:
        sys.exit("%s: exit status %d, not %d\n%s" % (
            " ".join(words), done.returncode, rc, done.stderr.decode()))
    return done.stdout, done.stderr.decode()


def write(folder, entries, *strings):
    for name, data in (("app.elf", box.image(*strings)),
                       ("dump.bin", box.buffer(*entries))):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)


def heat(folder, *words, columns=("0", "1", "2")):
    x, y, value = columns
    out, said = run(folder, "heat", "--x", x, "--y", y, "--value", value,
                    "--bare", "-o", "png", *words, "dump.bin", "app.elf")
    return png.read(out), said


def expect(what, wanted, got):
    if wanted != got:
        sys.exit("%s: expected %r, found %r" % (what, wanted, got))


def expect_said(what, said):
    if what not in said:
        sys.exit("nothing says %r: %s" % (what, said))


def colours(folder):
    """The colour map, by a picture of all of it."""
    write(folder, pixels_of((i, 0, i) for i in range(256)), PIXEL)
    rows, _ = heat(folder)
    expect("colours", True, len(set(rows[0])) > 250)
    for special in (NAN, PLUS, MINUS, EMPTY):
        expect("a colour of no number in the map", False, special in rows[0])
    return rows[0]


def share(scale, numbers, v):
    least, most = min(numbers), max(numbers)
    if scale == "log":
        least = min(n for n in numbers if n > 0)
        if v <= 0:
            return 0
        return math.log(v / least) / math.log(most / least)
    if scale == "equal":
        below = sum(n < v for n in numbers)
        upto = sum(n <= v for n in numbers)
        return (0 if not below else len(numbers) if upto == len(numbers)
                else (below + upto) / 2) / len(numbers)
    return (v - least) / (most - least)


def reduce(how, values):
    numbers = [v for v in values if not math.isnan(v)]
    if how in ("min", "max"):
        return (min if how == "min" else max)(numbers) if numbers else math.nan
    return {"last": lambda: values[-1], "first": lambda: values[0],
            "count": lambda: len(values), "sum": lambda: sum(values),
            "mean": lambda: sum(values) / len(values),
            "nan": lambda: len(values) - len(numbers)}[how]()


def expected(cells, width, height, scale, colours):
    numbers = [v for v in cells.values() if math.isfinite(v)]
    rows = []
    for y in range(height):
        rows.append([])
        for x in range(width):
            v = cells.get((x, y))
            rows[-1].append(
                EMPTY if v is None else NAN if math.isnan(v)
                else PLUS if v == math.inf else MINUS if v == -math.inf
                else share(scale, numbers, v))
    return [[c if isinstance(c, tuple) else colours[int(min(max(c, 0), 1)
                                                        * 255 + 0.5)]
             for c in row] for row in rows]


def near(wanted, got, colours):
    """The same, but for a rounding to the next colour, of which some are the
    same as their neighbours."""
    place = {c: i for i, c in enumerate(colours)}
    return wanted == got or (wanted in place and got in place and
                             abs(place[wanted] - place[got]) <= 2)


def compare(what, wanted, got, colours):
    expect(what + ": size", (len(wanted), len(wanted[0])),
           (len(got), len(got[0])))
    for y, (a, b) in enumerate(zip(wanted, got)):
        for x, (p, q) in enumerate(zip(a, b)):
            if not near(p, q, colours):
                sys.exit("%s: pixel %d,%d is %r and not %r" % (what, x, y, q,
                                                               p))


def check_reducers(folder, colours):
    random.seed(5)
    points = []
    for _ in range(3000):
        x, y = random.randrange(40), random.randrange(25)
        v = random.choice([random.uniform(-9, 9), random.uniform(0, 1), 3.0])
        v = math.nan if (x + y) % 11 == 0 and random.random() < .5 else v
        v = math.inf if (x, y) == (3, 3) else v
        v = -math.inf if (x, y) == (4, 3) else v
        if (x, y) not in ((7, 7), (8, 7)):
            points.append((x, y, v))
    points += [(0, 0, 1.0), (39, 24, 2.0)]
    write(folder, pixels_of(points), PIXEL)
    by_cell = {}
    for x, y, v in points:
        by_cell.setdefault((x, y), []).append(v)
    several = sum(len(v) > 1 for v in by_cell.values())
    for how in "last first count sum min max mean nan".split():
        cells = {at: reduce(how, v) for at, v in by_cell.items()}
        for scale in "linear", "log", "equal":
            rows, said = heat(folder, "--reduce", how, "--scale", scale)
            compare(how + " " + scale, expected(cells, 40, 25, scale, colours),
                    rows, colours)
            expect_said("%d cells got more than one value" % several, said)
    once = heat(folder, "-j", "1")
    expect("threads", once, heat(folder, "-j", "4"))
    rows, said = heat(folder, "--x-range", "10:19", "--y-range", "5:9")
    cells = {(x - 10, y - 5): v[-1] for (x, y), v in by_cell.items()
             if 10 <= x <= 19 and 5 <= y <= 9}
    compare("ranges", expected(cells, 10, 5, "linear", colours), rows, colours)
    expect_said("are outside of the ranges", said)
    rows, _ = heat(folder, "--pixel", "3")
    expect("pixels", (75, 120), (len(rows), len(rows[0])))
    expect("a cell of 3", [[c for c in row for _ in range(3)]
                           for row in once[0] for _ in range(3)], rows)


def check_order(folder):
    """Whatever comes first: the picture does not depend on it."""
    at = [(x, y) for x in range(-30, 30) for y in range(-20, 50)]
    pictures = []
    for key in (None, lambda p: (p[1], p[0]), lambda p: (-p[0], -p[1]),
                lambda p: p[0] ** 2 + p[1] ** 2, lambda p: hash(p)):
        order = sorted(at, key=key)
        write(folder, pixels_of((x, y, x * y) for x, y in order), PIXEL)
        pictures.append(heat(folder)[0])
    for other in pictures[1:]:
        expect("another order", True, other == pictures[0])


def check_shares(folder):
    """Each thread reduces what it reads by itself, where nobody else's points
    matter: the same as all in their order, which --limit asks for. Most cells
    get several values; the picture grows, and cells become coarser."""
    random.seed(9)
    specials = [math.nan, math.inf, -math.inf, 0.0, -0.0]
    for string, value in ((SHORT, lambda: random.choice(
            specials + [random.uniform(-3, 3)] * 9)),
            (PIXEL, lambda: random.choice(specials + [random.random()] * 9)),
            (WHOLE, lambda: random.randrange(-99, 99))):
        points = [(random.randrange(-40, 60 + i // 2000),
                   random.randrange(50 + i // 900), value())
                  for i in range(100000)]
        points[80000] = (900, -700, value())
        write(folder, [string(low(x, 32), low(y, 32),
                              v if isinstance(v, float) else low(v, 32))
                       for x, y, v in points] +
              [OTHER(i) for i in range(3000)], string, OTHER)
        name = "^" + string.text[:5]
        words = ["--format-string", name, "--cells", "512"]
        for how in "last first count sum min max mean nan".split():
            wanted = heat(folder, *words, "--reduce", how, "-n", "9999999")
            for threads in "1", "5":
                expect("%s of %s, %s threads" % (how, string.text, threads),
                       True, wanted == heat(folder, *words, "--reduce", how,
                                            "-j", threads))
        for kind in (("line", "--y", "2"), ("line", "--x", "0", "--y", "2"),
                     ("hist", "--x", "2"), ("scatter", "--x", "0", "--y", "1"),
                     ("heat", "--x", "index", "--y", "0", "--value", "2",
                      "--cells", "99")):
            words = [*kind, "--format-string", name, "-o", "svg"]
            wanted = run(folder, *words, "-n", "9999999", "dump.bin",
                         "app.elf")
            for threads in "1", "8":
                expect(" ".join(kind), True, wanted == run(
                    folder, *words, "-j", threads, "dump.bin", "app.elf"))


def check_float_sums(folder, colours):
    """Sums of floats of all sizes and signs are those of fractions; pairs of
    powers of two, whose low bits are 0, leave nothing."""
    random.seed(12)
    points = []
    for i in range(150000):
        x, y = random.randrange(48), random.randrange(32)
        power = random.randrange(-149, 104) if i % 9000 > 8990 else \
            random.randrange(-60, -10)
        value = math.ldexp(random.getrandbits(24), power)
        if x < 12:
            points += [(x, y, -4096.0), (x, y, 4096.0)]
        else:
            points.append((x, y, random.choice((-1, 1)) * value))
    sums = {}
    for x, y, value in points:
        sums[x, y] = sums.get((x, y), 0) + fractions.Fraction(value)
    write(folder, [SHORT(x, y, value) for x, y, value in points], SHORT)
    cells = {at: float(value) for at, value in sums.items()}
    wanted = expected(cells, 48, 32, "equal", colours)
    for threads in "1", "3":
        rows, _ = heat(folder, "--reduce", "sum", "--scale", "equal", "-j",
                       threads)
        compare("sums of floats", wanted, rows, colours)


def check_several(folder):
    """What is first and last, over the buffers in their order."""
    at = [(i % 64, i // 64 % 64) for i in range(90000)]
    write(folder, [SHORT(x, y, float(i // 4096))
                   for i, (x, y) in enumerate(at[:20000])], SHORT)
    os.rename(os.path.join(folder, "dump.bin"), os.path.join(folder, "b.bin"))
    write(folder, [SHORT(x, y, float(x)) for x, y in at], SHORT)
    pictures = set()
    for how in "first", "last":
        for files in ("dump.bin", "b.bin"), ("b.bin", "dump.bin"):
            pair = [run(folder, "heat", "--x", "0", "--y", "1", "--value", "2",
                        "--bare", "-o", "png", "--reduce", how, *words, *files,
                        "app.elf") for words in (["-j", "3"],
                                                 ["-n", "9999999"])]
            expect("%s of %s" % (how, files), True, pair[0] == pair[1])
            pictures.add(pair[0][0])
    expect("different pictures", True, len(pictures) > 1)


def check_exact(folder, colours):
    """Integers of 64 bits that doubles cannot tell apart."""
    top = 1 << 64
    points = [(top - 256 + i, -(1 << 63) + i % 16, (1 << 62) + i)
              for i in range(256)]
    write(folder, [WIDE(x, low(y, 64), v) for x, y, v in points], WIDE)
    rows, said = heat(folder, columns=("at", "y", "v"))
    cells = {(i, i % 16): i for i in range(256)}
    compare("64 bits", expected(cells, 256, 16, "linear", colours), rows,
            colours)
    expect("nothing to say", "", said)
    rows, _ = heat(folder, "--x-range", "%d:%d" % (top - 10, top - 1),
                   columns=("at", "y", "v"))
    expect("ten columns", 10, len(rows[0]))


def check_coarse(folder):
    """Too many cells for what is allowed: two become one, and nothing is
    lost."""
    random.seed(7)
    points = [(random.randrange(1000), random.randrange(300), 1.0)
              for _ in range(20000)]
    write(folder, pixels_of(points), PIXEL)
    counted = {}
    for x, y, _ in points:
        counted[x >> 4, y >> 3] = counted.get((x >> 4, y >> 3), 0) + 1
    rows, said = heat(folder, "--cells", "64", "--reduce", "sum")
    expect("64 cells", (38, 63), (len(rows), len(rows[0])))
    expect_said("2^4 wide and 2^3 high", said)
    empty = {(x, y) for x in range(63) for y in range(38)} - set(counted)
    expect("empty ones", empty, {(x, y) for x in range(63) for y in range(38)
                                 if rows[y][x] == EMPTY})


def check_hostile(folder):
    """Coordinates and values that nobody expects end in a picture, or in words
    that say why not."""
    tiny, huge = 5e-324, 1.7976931348623157e308
    inside = [(0.0, 0.0), (huge, -huge), (-huge, huge), (tiny, -tiny),
              (1e-300, 1e300), (1.5, -2.5)]
    outside = [(math.nan, 0.0), (0.0, math.inf), (-math.inf, 1.0)]
    values = [0.0, -0.0, tiny, huge, -huge, math.inf, -math.inf, math.nan, 1.0]
    entries = [FLOATS(bits(x), bits(y), bits(v)) for (x, y), v in
               zip(inside + outside, values)]
    write(folder, entries, FLOATS)
    for scale in "linear", "log", "equal":
        for form in "png", "svg":
            out, said = run(folder, "heat", "--x", "x", "--y", "y", "--value",
                            "v", "--scale", scale, "-o", form, "--cells", "50",
                            "dump.bin", "app.elf")
            expect_said("3 entries have coordinates that are NaN", said)
            (png.read if form == "png" else xml.fromstring)(out)
    for kind, words in (("hist", ("--x", "v")), ("line", ("--y", "v")),
                        ("line", ("--x", "x", "--y", "v")),
                        ("scatter", ("--x", "x", "--y", "y"))):
        for scale in "linear", "log":
            xml.fromstring(run(folder, kind, *words, "--scale", scale, "-o",
                               "svg", "dump.bin", "app.elf")[0])
    write(folder, [FLOATS(bits(i * tiny), 0, bits(1.0)) for i in range(9)],
          FLOATS)
    rows, _ = heat(folder, columns=("x", "y", "v"))
    expect("denormals", True, 9 <= len(rows[0]) <= 16384)


def check_kinds(folder):
    """What bars and dots are, by the numbers of the SVG."""
    points = [(i % 4, i % 3, float(i % 2)) for i in range(40)]
    points += [(2, 0, 0.0)] * 10
    write(folder, pixels_of(points), PIXEL)
    out, _ = run(folder, "hist", "--x", "0", "-o", "svg", "dump.bin",
                 "app.elf")
    space = "{http://www.w3.org/2000/svg}"
    rects = xml.fromstring(out).findall(space + "rect")[1:]
    heights = [int(r.get("height")) for r in rects]
    expect("bars", [161, 161, 320, 161], heights)
    out, _ = run(folder, "scatter", "--x", "0", "--y", "1", "-o", "svg",
                 "dump.bin", "app.elf")
    expect("dots", 1 + len({p[:2] for p in points}),
           len(xml.fromstring(out).findall(space + "rect")))
    out, _ = run(folder, "line", "--y", "2", "--by", "0", "-o", "svg",
                 "dump.bin", "app.elf")
    texts = [t.text for t in xml.fromstring(out).findall(space + "text")]
    expect("panels", ["pixel.x %d" % i for i in range(4)],
           sorted(t for t in texts if t.startswith("pixel.x ") and
                  len(t) == 9))


def check_words(folder):
    write(folder, pixels_of([(1, 2, 3.0)]), PIXEL)
    for words, why in (
            (("heat", "--x", "foo", "--y", "1"), "there are: pixel.x (0), pixel.y (1)"),
            (("heat", "--y", "1"), "which column is x?"),
            (("pie",), "which picture?"),
            (("hist", "--x", "0", "--bare"), "only heat pictures"),
            (("heat", "--x", "0", "--y", "1", "--map", "x"), "there are: tide"),
            (("heat", "--x", "0", "--y", "1", "--x-range", "3:1"),
             "ends before it begins"),
            (("heat", "--x", "0", "--y", "1", "--x-range", "a:1"),
             "not a range"),
            (("heat", "--x", "lane", "--y", "1"), "nothing to draw"),
            (("heat", "--x", "0", "--y", "1", "--x-range", "5:9"),
             "leave all points out")):
        _, said = run(folder, *words, "-o", "svg", "dump.bin", "app.elf", rc=1)
        expect_said(why, said)
    _, said = run(folder, "hist", "--x", "0", "--to", "a.jpg", "dump.bin",
                  "app.elf", rc=1)
    expect_said(".svg", said)
    _, said = run(folder, "hist", "--x", "0", "dump.bin", "app.elf", rc=1)
    expect_said("no terminal", said)
    run(folder, "hist", "--x", "0", "--to", "a.SVG", "dump.bin", "app.elf")
    xml.parse(os.path.join(folder, "a.SVG"))
    with open(os.path.join(folder, "dump.bin"), "rb") as f:
        piped = f.read()
    out, _ = run(folder, "heat", "--x", "0", "--y", "1", "-o", "png", "--bare",
                 "-", "app.elf", piped=piped)
    expect("of a pipe", 1, len(png.read(out)))


def check_closed(folder):
    """Whoever reads may go, and has what it wanted; a disk that is full is
    said."""
    write(folder, pixels_of([(1, 2, 3.0)]), PIXEL)
    words = [PROGRAM, "plot", "heat", "--x", "0", "--y", "1", "-o", "png",
             "dump.bin", "app.elf"]
    to, gone = os.pipe()
    os.close(to)
    done = subprocess.run(words, cwd=folder, env=ENV, stdout=gone,
                          stderr=subprocess.PIPE, timeout=240)
    os.close(gone)
    expect("of who went", (0, b""), (done.returncode, done.stderr))
    with open("/dev/full", "wb") as full:
        done = subprocess.run(words, cwd=folder, env=ENV, stdout=full,
                              stderr=subprocess.PIPE, timeout=240)
    expect("of a full disk", 1, done.returncode)
    expect_said("No space left", done.stderr.decode())


def main():
    with tempfile.TemporaryDirectory() as folder:
        colour_map = colours(folder)
        check_reducers(folder, colour_map)
        check_order(folder)
        check_shares(folder)
        check_float_sums(folder, colour_map)
        check_several(folder)
        check_exact(folder, colour_map)
        check_coarse(folder)
        check_hostile(folder)
        check_kinds(folder)
        check_words(folder)
        check_closed(folder)


main()
